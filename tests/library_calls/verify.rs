//! Verifications of graphs with library calls: the calls are captured once more, into the statements as written.

use cuweave::prelude::*;
use cuweave_testkit::device::alone;

use crate::library::{Library, forked, scaled, sum};

#[cuweave::graph]
fn calling(n: u32, library: &Library, flag: &mut [u32; 1], x: &mut [f32; n]) {
    let one = alloc::<f32>(n);
    let two = alloc::<f32>(n);
    let twice = alloc::<f32>(n);
    forked(&library, &x, &mut one, &mut two, n);
    sum(&library, &one, &two, &mut twice, n);
    copy(&twice, &mut x);
    if flag {
        let three = alloc::<f32>(n);
        scaled(&library, &x, &mut three, 3.0, n);
        copy(&three, &mut x);
    }
}

#[test]
fn calls_are_equal() {
    const N: usize = 100;
    let device = alone();
    let library = Library::new(&device.ctx);
    let (mut x, mut flag) = (device.upload(&[1.0f32; N]), device.upload(&[1u32]));
    let graph = calling(&device.ctx, N as u32, &library, &mut flag, &mut x).expect("a graph");
    let mut exec = graph.instantiate().expect("an exec");
    for _ in 0..2 {
        let verification = exec.verify(&device.stream).expect("a verification");
        assert!(verification.is_equal(), "{verification}");
        assert_eq!(verification.compared(), 4 * N as u64, "{verification}");
        exec.launch(&device.stream).expect("a launch");
    }
    drop(exec);
    // Two launches: x = 3 (x + x).
    assert_eq!(device.download(&x), [36.0; N]);
    device.nothing_reported();
}
