//! Graphs with conditionals of a builder: nested bodies, calls, setters, and loop iterations.

use cuweave::builder::{Builder, Handle};
use cuweave::prelude::*;
use cuweave_testkit::device::alone;

use crate::decide::{count_down, mix, mixed, step};

#[cuweave::graph]
pub fn taken(x: [u32; 8], out: &mut [u32; 8]) {
    copy(&x, &mut out);
}

/// A loop with its own limit, in a called function.
#[cuweave::graph]
fn counted(n: u32, x: &mut [u32; n], go: &mut [u32; 1]) {
    #[at_most(3)]
    'inner: while go {
        mix[per_item(n)](&mut x, 2, n);
        count_down[(1, 1)](&mut go);
    }
}

/// A description of a program, as a framework may have it.
enum Layer {
    Mix(u32),
    Gated(Vec<Layer>, Vec<Layer>),
    Repeated(u32, Vec<Layer>),
}

fn build(b: &mut Builder<'_>, gate: Handle, x: Handle, layers: &[Layer]) -> cuweave::Result<()> {
    for layer in layers {
        match layer {
            Layer::Mix(by) => drop(b.launch(mix {}, per_item(8), (x.write(), *by, 8))?),
            Layer::Gated(then, otherwise) => {
                b.if_else(&gate, |b| build(b, gate, x, then), |b| build(b, gate, x, otherwise))?;
            }
            Layer::Repeated(turns, body) => {
                let count = b.alloc::<u32>(1);
                b.fill(count.write(), *turns)?;
                b.while_(&count, |b| {
                    build(b, gate, x, body)?;
                    b.launch(count_down {}, (1, 1), (count.write(),))
                })?;
            }
        }
    }
    Ok(())
}

fn plain(gate: bool, mut x: u32, layers: &[Layer]) -> u32 {
    for layer in layers {
        x = match layer {
            Layer::Mix(by) => step(x, *by),
            Layer::Gated(then, otherwise) => plain(gate, x, if gate { then } else { otherwise }),
            Layer::Repeated(turns, body) => (0..*turns).fold(x, |x, _| plain(gate, x, body)),
        };
    }
    x
}

#[test]
fn a_description_becomes_nested_bodies() {
    use Layer::{Gated, Mix, Repeated};
    let layers = [
        Mix(1),
        Gated(
            vec![Repeated(2, vec![Mix(2), Gated(vec![Mix(3)], vec![])])],
            vec![Mix(4), Repeated(0, vec![Mix(5)])],
        ),
        Repeated(3, vec![Gated(vec![], vec![Mix(6)]), Mix(7)]),
    ];
    let device = alone();
    for gate in [0u32, 1, 9] {
        for seed in 0..4 {
            device.schedule(seed);
            let (mut x, gated) = (device.upload(&[5u32; 8]), device.upload(&[gate]));
            let mut b = Builder::new(&device.ctx);
            let (of, to) = (b.shared("gate", 1, &gated), b.exclusive("x", 8, &mut x));
            build(&mut b, of, to, &layers).expect("a program");
            let mut exec = b.build().expect("a graph").instantiate().expect("an exec");
            let _ = exec.launch(&device.stream).expect("a launch");
            drop(exec);
            assert_eq!(device.download(&x), [plain(gate != 0, 5, &layers); 8], "{gate}, {seed}");
            device.nothing_reported();
        }
    }
}

#[test]
fn setters_reach_bodies_and_turns_are_read() {
    let device = alone();
    let (mut x, mut go) = (device.upload(&[5u32; 8]), device.upload(&[9u32]));
    let mut b = Builder::new(&device.ctx);
    let by = b.scalar("by", 2u32);
    let (to, flag) = (b.exclusive("x", 8, &mut x), b.exclusive("go", 1, &mut go));
    let body = |b: &mut Builder<'_>| {
        b.launch(mix {}, per_item(8), (to.write(), by, 8))?;
        b.launch(count_down {}, (1, 1), (flag.write(),))
    };
    let first = b.while_at_most(&flag, 4, body).expect("a loop");
    let second = b.named("second").while_at_most(&flag, 2, body).expect("a loop");
    b.named("call").call(counted::counted {}, (8, to.write(), flag.write())).expect("a call");
    let fill = b.if_(!flag, |b| b.fill(to.write(), 0));
    fill.expect("a body");
    let t = b.alloc::<u32>(8);
    let other = b.launch(mixed {}, per_item(8), (to.read(), t.write(), 1, 8)).expect("a launch");
    b.copy(&t, to.write()).expect("a copy");
    let mut exec = b.build().expect("a graph").instantiate().expect("an exec");
    let none = exec.iterations("second").expect("a loop");
    assert_eq!((none.entries, none.iterations, none.at_most, none.limit_hit()), (0, 0, 2, false));
    let _ = exec.launch(&device.stream).expect("a launch");
    let [one, two] = [first, second].map(|loops| exec.iterations_of(loops).expect("a loop"));
    assert_eq!((one.entries, one.iterations, one.limited, one.limit_hit()), (1, 4, 1, true));
    assert_eq!((two.entries, two.iterations, two.limited, two.limit_hit()), (1, 2, 1, true));
    assert_eq!(exec.iterations("second").expect("a loop"), two);
    let inner = exec.iterations("counted.inner").expect("a loop of a call");
    assert_eq!(
        (inner.entries, inner.iterations, inner.limited),
        (1, 3, 0),
        "9 turns are over after 4, 2 and 3"
    );
    let error = exec.iterations("third").expect_err("no such loop").to_string();
    assert!(
        error.contains(
            "no bounded loop is called `third`: those with a limit are `counted.inner`, \
        `second`, `while`"
        ),
        "{error}"
    );
    let error = exec.iterations_of(other).expect_err("a launch").to_string();
    assert!(error.contains("CW001") && error.contains("no loop with a limit"), "{error}");
    // The counter starts anew: the next launch enters the loops but runs no iteration.
    exec.set_scalar(&by, 3).expect("a setter");
    let _ = exec.launch(&device.stream).expect("a launch");
    let again = exec.iterations_of(first).expect("a loop");
    assert_eq!((again.entries, again.iterations, again.limit_hit()), (1, 0, false));
    drop(exec);
    device.nothing_reported();
}
