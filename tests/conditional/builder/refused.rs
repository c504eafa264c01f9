//! Conditionals that a builder refuses: the code, the location and the text of each error.

use cuweave::Error;
use cuweave::builder::{Builder, Handle, Order};
use cuweave::prelude::*;
use cuweave_testkit::device::{Device, alone};

use crate::decide::{mix, mixed, modulo};

/// A builder with a flag and a buffer of 8.
fn start(device: &Device) -> (Builder<'static>, Handle, Handle) {
    let mut b = Builder::with_name(&device.ctx, "program");
    let go = b.exclusive("go", 1, device.upload(&[1u32]));
    let x = b.exclusive("x", 8, device.upload(&[1u32; 8]));
    (b, go, x)
}

/// Checks the code and the texts of an error about a builder. Its line must be between that of the check and
/// `last`.
#[track_caller]
fn says<T: std::fmt::Debug>(result: cuweave::Result<T>, last: u32, texts: &[&str]) {
    let error = result.expect_err("it is refused");
    let shown = error.to_string();
    println!("{shown}\n");
    let Error::Refused(refusals) = error else { panic!("{shown}") };
    assert_eq!(refusals.len(), 1, "{shown}");
    let first = std::panic::Location::caller().line();
    assert!((first..=last).contains(&refusals[0].at.line), "{shown}");
    assert!(refusals[0].at.file.ends_with("refused.rs"), "{shown}");
    assert!(texts.iter().all(|text| shown.contains(text)), "{shown}");
    assert!(!shown.contains("#[") && !shown.contains("alloc::<"), "{shown}");
}

#[test]
fn operands_are_one_u32_of_the_device() {
    let device = alone();
    let (mut b, go, x) = start(&device);
    let real = b.exclusive("real", 1, device.upload(&[1.0f32]));
    let fill = |b: &mut Builder<'_>| b.fill(x.write(), 2);
    says(
        b.if_(&x, fill),
        line!(),
        &["CW001", "`if` needs a buffer of one element, and `x` is not known to be one", "x.range(i, i + 1)"],
    );
    says(
        b.while_(!real, fill),
        line!(),
        &["CW001", "`while` decides by a `u32`, `i32`, `u8` or `bool`, and `real` is a buffer of `f32`"],
    );
    let (mut other, there, _) = start(&device);
    says(b.if_(&there, fill), line!(), &["CW402", "another builder", "`if`"]);
    other.if_(&there, |_| Ok(())).expect("an empty body is left out");
    says(b.match_(!go).arm(0, fill).otherwise(fill), line!(), &["CW001", "`match` takes a buffer"]);
    b.if_(&x.range(3, 4), fill).expect("a part of one element");
    b.while_(&go, |b| b.fill(go.write(), 0)).expect("a loop");
    b.build().expect("it builds").instantiate().map(drop).expect("an exec");
}

#[test]
fn names_of_a_body_are_not_known_outside() {
    let device = alone();
    let (mut b, go, x) = start(&device);
    let (mut made, mut filled) = (None, None);
    b.if_(&go, |b| {
        let t = *made.insert(b.named("t").alloc::<u32>(8));
        b.launch(mixed {}, per_item(8), (&x, t.write(), 1, 8))?;
        filled = Some(b.named("second").launch(mixed {}, per_item(8), (&t, x.write(), 2, 8))?);
        Ok(())
    })
    .expect("a body");
    let (t, second) = (made.expect("called"), filled.expect("called"));
    let text = "`t`, an allocation of the only arm of an `if`, is used outside of it";
    says(b.copy(&t, x.write()), line!(), &["CW001", text, "make it before the condition"]);
    says(b.output(t), line!(), &["CW001", text]);
    says(b.while_(&go, |b| b.copy(&t, x.write())), line!(), &["CW001", text]);
    says(
        b.after(second).fill(x.write(), 1),
        line!(),
        &["CW001", "`second`, a statement of the only arm of an `if`"],
    );
    says(b.if_else(&go, |b| b.fill(x.write(), 1), |b| b.fill(t.write(), 1)), line!(), &["CW001", text]);
}

#[test]
fn outer_names_keep_their_memory() {
    let device = alone();
    let (mut b, go, x) = start(&device);
    let h = b.named("h").alloc::<u32>(8);
    b.fill(h.write(), 1).expect("a fill");
    let text = "`h` is from outside of this body, which the device may skip or repeat";
    says(
        b.if_(&go, |b| b.free(h)),
        line!(),
        &["CW001", text, "write both half-steps in one iteration, or `copy`"],
    );
    says(
        b.while_(&go, |b| b.call(super::results::taken::taken {}, (h, x.write()))),
        line!(),
        &["CW001", text],
    );
    b.if_(&go, |b| {
        let own = b.alloc::<u32>(8);
        b.copy(&h, own.write())?;
        b.copy(&own, x.write())?;
        b.free(own)
    })
    .expect("its own are its own");
}

#[test]
fn loops_end() {
    let device = alone();
    let (mut b, go, x) = start(&device);
    says(b.while_(&go, |_| Ok(())), line!(), &["CW001", "the body of this `while` is empty"]);
    let (mut b, go, x2) = start(&device);
    let _ = x;
    says(
        b.while_at_most(&go, 0, |b| b.fill(x2.write(), 1)),
        line!(),
        &["CW001", "takes a number of turns, from 1 on"],
    );
    let line = line!() + 1;
    b.while_(&go, |b| b.fill(x2.write(), 1)).expect("a body");
    let error = b.build().expect_err("it has no end").to_string();
    println!("{error}\n");
    assert!(error.contains("CW001") && error.contains(&format!("refused.rs:{line}:")), "{error}");
    assert!(error.contains("no statement of this body writes the operand of its `while`"), "{error}");
    assert!(error.contains("`while_at_most`") && !error.contains("#["), "{error}");
}

#[test]
fn a_match_takes_all_values() {
    let device = alone();
    let (mut b, go, x) = start(&device);
    let fill = |b: &mut Builder<'_>| b.fill(x.write(), 2);
    says(b.match_(&go).otherwise(fill), line!(), &["CW001", "a `match` of `_` alone decides nothing"]);
    let many: Vec<u32> = (0..9).collect();
    says(b.match_(&go).arm(many, fill).otherwise(fill), line!(), &["CW001", "up to 8 values apart"]);
    says(
        b.match_(&go).arm([1, 2], fill).arm(2, fill).otherwise(fill),
        line!(),
        &["CW001", "no value is left for this arm"],
    );
    let mut called = 0;
    says(
        b.match_(&go)
            .arm(0, |b| b.fill(&x, 1))
            .arm(1, |_| {
                called += 1;
                Ok(())
            })
            .otherwise(fill),
        line!(),
        &["CW001", "`fill` writes `&x`"],
    );
    assert_eq!(called, 0, "arms behind an error are not called");
    let line = line!() + 1;
    let _ = b.match_(&go).arm(0, fill);
    let error = b.build().expect_err("it has no end").to_string();
    assert!(
        error.contains("a `match` on a buffer takes all values")
            && error.contains(&format!("refused.rs:{line}:")),
        "{error}"
    );
}

#[test]
fn the_build_checks_bodies() {
    let device = alone();
    // Elements that only one arm writes do not count as written after it.
    let (mut b, go, x) = start(&device);
    let h = b.named("h").alloc::<u32>(8);
    b.if_(&go, |b| b.fill(h.write(), 1)).expect("a body");
    let line = line!() + 1;
    b.copy(&h, x.write()).expect("a copy");
    let error = b.build().expect_err("`h` may be unwritten").to_string();
    println!("{error}\n");
    assert!(
        error.contains("CW101") && error.contains("`h`") && error.contains(&format!("refused.rs:{line}:")),
        "{error}"
    );

    let (mut b, go, x) = start(&device);
    b.order(Order::Explicit);
    b.if_(&go, |b| b.fill(x.write(), 1)).expect("a body");
    let error = b.build().expect_err("explicit order").to_string();
    println!("{error}\n");
    assert!(error.contains("explicit order") && !error.contains("order = "), "{error}");

    let (mut b, go, x) = start(&device);
    // SAFETY: never read.
    #[allow(unsafe_code)]
    let pinned = unsafe { device.ctx.alloc_pinned::<u32>(8) }.expect("pinned memory");
    let p = b.pinned_mut("p", 8, pinned);
    b.if_(&go, |b| b.copy(&x, p.write())).expect("a body");
    let error = b.build().expect_err("a copy to the host").to_string();
    println!("{error}\n");
    assert!(error.contains("CW001") && error.contains("is not allowed in a body"), "{error}");
}

#[test]
fn a_flag_is_written_before() {
    let device = alone();
    let (mut b, _, x) = start(&device);
    let flag = b.named("flag").alloc::<u32>(1);
    let line = line!() + 1;
    b.if_(&flag, |b| b.launch(mix {}, per_item(8), (x.write(), 1, 8))).expect("a body");
    let error = b.build().expect_err("`flag` is unwritten").to_string();
    println!("{error}\n");
    assert!(
        error.contains("CW101") && error.contains("`flag`") && error.contains(&format!("refused.rs:{line}:")),
        "{error}"
    );
    let _ = modulo {};
}
