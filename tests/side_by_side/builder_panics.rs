//! Panics in the arms of a builder's conditionals that the caller catches. The build reports that an arm panicked,
//! and the rest of the builder is unaffected.

use std::panic::{AssertUnwindSafe, catch_unwind};

use cuweave::Error;
use cuweave::builder::{Builder, Handle};
use cuweave::prelude::*;
use cuweave_testkit::device::{Device, device};

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

type Body = fn(&mut Builder<'_>, Handle, Handle) -> cuweave::Result<()>;

/// Calls `add` with a builder, a flag and a buffer, and catches its panic.
fn caught(b: &mut Builder<'_>, flag: Handle, x: Handle, add: Body) {
    let panicked = catch_unwind(AssertUnwindSafe(|| add(b, flag, x).map(drop)));
    let text = panicked.expect_err("it panics");
    assert_eq!(text.downcast_ref::<&str>(), Some(&"on purpose"));
}

fn begun<'a>(device: &Device) -> (Builder<'a>, Handle, Handle) {
    let mut b = Builder::new(&device.ctx);
    let (flag, x) = (b.named("flag").alloc::<u32>(1), b.named("x").alloc::<f32>(8));
    b.fill(flag.write(), 1).expect("a fill");
    b.fill(x.write(), 1.0).expect("a fill");
    (b, flag, x)
}

fn panics(b: &mut Builder<'_>, x: Handle) -> cuweave::Result<()> {
    b.fill(x.write(), 2.0)?;
    let t = b.named("t").alloc::<f32>(8);
    let fill = b.fill(t.write(), 1.0)?;
    // Options for the next statement inside do not apply to the next statement outside.
    b.named("inner").after(fill).on(7);
    panic!("on purpose");
}

const ARMS: [(&str, Body); 13] = [
    ("if", |b, flag, x| b.if_(&flag, |b| panics(b, x))),
    ("if", |b, flag, _| b.if_(&flag, |_| -> cuweave::Result<()> { panic!("on purpose") })),
    ("if", |b, flag, x| b.if_else(!&flag, |b| panics(b, x), |b| b.fill(x.write(), 3.0))),
    ("if", |b, flag, x| b.if_else(&flag, |b| b.fill(x.write(), 3.0), |b| panics(b, x))),
    ("while", |b, flag, x| b.while_(&flag, |b| b.fill(flag.write(), 0).and_then(|_| panics(b, x))).map(drop)),
    ("while", |b, flag, x| b.while_(&flag, |b| panics(b, x)).map(drop)),
    ("while", |b, flag, x| b.while_at_most(&flag, 3, |b| panics(b, x)).map(drop)),
    ("match", |b, flag, x| b.match_(&flag).arm(0, |b| panics(b, x)).otherwise(|b| b.fill(x.write(), 3.0))),
    ("match", |b, flag, x| b.match_(&flag).arm(0, |b| b.fill(x.write(), 3.0)).otherwise(|b| panics(b, x))),
    ("match", |b, flag, x| {
        let first = b.match_(&flag).arm(0, |b| b.fill(x.write(), 3.0));
        first.arm([1, 2], |b| panics(b, x)).otherwise(|b| b.fill(x.write(), 3.0))
    }),
    // The arms around it panic, too.
    ("if", |b, flag, x| b.while_(&flag, |b| b.if_(&flag, |b| panics(b, x))).map(drop)),
    ("match", |b, flag, x| b.if_(&flag, |b| b.match_(&flag).arm(0, |b| panics(b, x)).otherwise(|_| Ok(())))),
    ("while", |b, flag, x| {
        b.match_(&flag).arm(1, |b| b.while_(&flag, |b| panics(b, x))).otherwise(|_| Ok(()))
    }),
];

/// Checks that `error` only reports that an arm panicked.
fn says(error: Error, word: &str) {
    let Error::Refused(refusals) = &error else { panic!("{error}") };
    let text = error.to_string();
    assert!(refusals[0].text.contains(&format!("an arm of this `{word}` panicked")), "{text}");
    assert!(refusals.iter().all(|refusal| refusal.text.contains("panicked")), "{text}");
    assert!(refusals.iter().all(|refusal| refusal.at.file.ends_with("builder_panics.rs")), "{text}");
    assert!(
        !text.contains("CW204") && !text.contains("inner") && !text.contains("takes all values"),
        "{text}"
    );
}

#[test]
fn the_build_says_that_an_arm_panicked() {
    let device = device();
    for (at, (word, add)) in ARMS.into_iter().enumerate() {
        println!("{at}: {word}");
        let (mut b, flag, x) = begun(&device);
        caught(&mut b, flag, x, add);
        says(b.check().expect_err("an arm panicked"), word);
        // Later uses are checked as in a program without the arm.
        let t = b.alloc::<f32>(8);
        b.copy(&x, t.write()).expect("a copy");
        b.launch(scale {}, per_item(8), (t.write(), 2.0, 8)).expect("a launch");
        b.if_else(&flag, |b| b.fill(t.write(), 3.0), |b| b.fill(x.write(), 3.0)).expect("a condition");
        b.output(t).expect("an allocation outside of the arm");
        says(b.build().map(drop).expect_err("an arm panicked"), word);
    }
}

/// An arm that catches the panic of an arm inside it ends normally.
#[test]
fn an_arm_that_catches_a_panic_goes_on() {
    let device = device();
    for (word, add) in ARMS {
        let (mut b, flag, x) = begun(&device);
        b.if_(&flag, |b| {
            caught(b, flag, x, add);
            b.fill(x.write(), 4.0)
        })
        .expect("the arm returns");
        b.output(x).expect("an allocation");
        says(b.build().map(drop).expect_err("an arm panicked"), word);
    }
}

/// An arm that fails affects neither the options of later statements nor the completeness of the body.
#[test]
fn an_arm_that_fails_asks_nothing_of_the_next_statement() {
    let device = device();
    let (mut b, flag, x) = begun(&device);
    let failed = b.if_(&flag, |b| -> cuweave::Result<()> {
        let fill = b.fill(x.write(), 2.0)?;
        b.named("inner").after(fill);
        Err(Error::NoContext)
    });
    assert!(matches!(failed, Err(Error::NoContext)), "{failed:?}");
    b.fill(x.write(), 3.0).expect("it is after nothing of the arm");
    b.output(x).expect("an allocation");
    assert!(!b.build().expect("a graph").dot().contains("inner"));
}

/// A panic between the arms of a `match` leaves the `match` unfinished.
#[test]
fn a_match_that_a_panic_ends_is_told() {
    let device = device();
    let (mut b, flag, x) = begun(&device);
    caught(&mut b, flag, x, |b, flag, x| {
        let arms = b.match_(&flag).arm(0, |b| b.fill(x.write(), 2.0));
        let value = || -> u32 { panic!("on purpose") };
        arms.arm(value(), |b| b.fill(x.write(), 2.0)).otherwise(|_| Ok(()))
    });
    b.output(x).expect("an allocation");
    let text = b.build().map(drop).expect_err("it has no last arm").to_string();
    assert!(text.contains("a `match` on a buffer takes all values"), "{text}");
}

/// A program is only checked outside of arms, since it is incomplete inside of them.
#[test]
fn a_program_is_not_checked_in_an_arm() {
    let device = device();
    let (mut b, flag, x) = begun(&device);
    b.output(x).expect("an allocation");
    let told = |b: &Builder<'_>, word: &str| {
        let text = b.check().expect_err("an arm has not ended").to_string();
        assert!(
            text.contains(&format!("an arm of this `{word}` has not ended")) && !text.contains("CW204"),
            "{text}"
        );
    };
    b.while_at_most(&flag, 3, |b| {
        told(b, "while");
        b.fill(flag.write(), 0)?;
        let otherwise = |b: &mut Builder<'_>| {
            told(b, "if");
            b.fill(x.write(), 3.0)
        };
        b.if_else(&flag, |b| b.fill(x.write(), 2.0), otherwise)?;
        told(b, "while");
        Ok(())
    })
    .expect("a condition");
    b.check().expect("nothing is wrong");
    assert!(b.build().expect("a graph").dot().contains("while"));
}

/// A `match` that is forgotten before its last arm runs nothing for other values.
#[test]
fn a_match_that_is_forgotten_has_the_arms_so_far() {
    let device = device();
    for value in 0..3_u32 {
        let (mut b, flag, x) = begun(&device);
        b.fill(flag.write(), value).expect("a fill");
        let arms = b.match_(&flag).arm(0, |b| b.fill(x.write(), 2.0)).arm(1, |b| b.fill(x.write(), 3.0));
        std::mem::forget(arms);
        b.output(x).expect("an allocation");
        let mut exec = b.build().expect("a graph").instantiate().expect("an exec");
        let launched = exec.launch(&device.stream).expect("a launch");
        let x = launched.output::<f32>(x).expect("an output");
        assert_eq!(device.download(&x), [[2.0, 3.0, 1.0][value as usize]; 8]);
    }
}

/// A way to leave an arm. A builder that leaves the arm that it is adding is refused; the builder that replaces it
/// is unaffected.
type Leave =
    fn(&mut Builder<'static>, Handle, Handle, &mut dyn FnMut(&mut Builder<'static>)) -> cuweave::Result<()>;

#[test]
fn a_builder_that_leaves_an_arm_is_refused() {
    let device = device();
    let leaves: [Leave; 4] = [
        |b, flag, x, leave| {
            b.if_(&flag, |b| {
                b.fill(x.write(), 2.0)?;
                leave(b);
                Ok(())
            })
        },
        |b, flag, _, leave| {
            b.while_(&flag, |b| {
                leave(b);
                Ok(())
            })
            .map(drop)
        },
        |b, flag, x, leave| {
            let first = b.match_(&flag).arm(0, |b| b.fill(x.write(), 2.0));
            let left = |b: &mut Builder<'static>| {
                leave(b);
                Ok(())
            };
            first.arm(1, left).otherwise(|b| b.fill(x.write(), 2.0))
        },
        |b, flag, x, leave| {
            b.if_(&flag, |b| {
                b.if_(&flag, |b| {
                    leave(b);
                    Ok(())
                })?;
                b.fill(x.write(), 2.0)
            })
        },
    ];
    for leave in leaves {
        let (mut b, flag, x) = begun(&device);
        let (mut other, _, y) = begun(&device);
        let error =
            leave(&mut b, flag, x, &mut |b| std::mem::swap(b, &mut other)).expect_err("it left").to_string();
        assert!(error.contains("another builder took the place"), "{error}");
        b.output(y).expect("`b` is the other one");
        assert!(b.build().is_ok());
        let text = other.build().map(drop).expect_err("its arm has not ended").to_string();
        assert!(text.contains("has not ended") && !text.contains("CW204"), "{text}");
    }
    // It returns to an arm around the one that it left.
    let (mut b, flag, x) = begun(&device);
    let (mut other, ..) = begun(&device);
    let done = b.if_(&flag, |b| {
        b.if_(&flag, |b| {
            std::mem::swap(b, &mut other);
            Ok(())
        })
        .expect_err("it left");
        std::mem::swap(b, &mut other);
        b.fill(x.write(), 2.0)
    });
    done.expect_err("the inner arm has not ended");
    let text = b.build().map(drop).expect_err("its arm has not ended").to_string();
    assert!(text.contains("has not ended") && !text.contains("CW204"), "{text}");
    // It panics if it is a different builder.
    let (mut b, flag, _) = begun(&device);
    let (mut other, _, y) = begun(&device);
    let left = catch_unwind(AssertUnwindSafe(|| {
        b.if_(&flag, |b| -> cuweave::Result<()> {
            std::mem::swap(b, &mut other);
            panic!("on purpose")
        })
    }));
    assert!(left.is_err());
    b.output(y).expect("`b` is the other one");
    assert!(b.build().is_ok());
    let text = other.build().map(drop).expect_err("its arm has not ended").to_string();
    assert!(text.contains("has not ended"), "{text}");
}
