//! Verifications of graphs with library calls: the calls are captured once more, into the statements as written.

use std::sync::atomic::{AtomicU32, Ordering};

use cudarc::driver::{DriverError, PushKernelArg};
use cuweave::prelude::*;
use cuweave_testkit::device::alone;

use crate::library::{Library, forked, scale, scaled, sum, threads};

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

/// The number of captures of [`fragile`] after which it panics.
static CAPTURES: AtomicU32 = AtomicU32::new(0);

#[cuweave::call]
unsafe fn fragile(
    stream: &CallStream,
    library: &Library,
    x: &mut [f32; n],
    n: u32,
) -> Result<(), DriverError> {
    assert!(CAPTURES.fetch_sub(1, Ordering::Relaxed) > 0, "the library is out of order");
    let scale = library.function("scale")?;
    unsafe { stream.launch_builder(&scale).arg(x).arg(&2.0_f32).arg(&n).launch(threads(n)) }.map(drop)
}

#[cuweave::graph]
fn breaking(n: u32, library: &Library, x: &mut [f32; n]) {
    scale[per_item(n)](&mut x, 3.0, n);
    fragile(&library, &mut x, n);
    scale[per_item(n)](&mut x, 5.0, n);
}

/// A panic of a call while the statements as written are built leaves the exec and its arguments as they are.
#[test]
fn a_panic_half_way_changes_nothing() {
    const N: usize = 100;
    let device = alone();
    let library = Library::new(&device.ctx);
    let mut x = device.upload(&[1.0f32; N]);
    CAPTURES.store(1, Ordering::Relaxed);
    let graph = breaking(&device.ctx, N as u32, &library, &mut x).expect("a graph");
    let mut exec = graph.instantiate().expect("an exec");
    for launches in 0..2 {
        CAPTURES.store(0, Ordering::Relaxed);
        let error = exec.verify(&device.stream).expect_err("the call panics");
        assert!(error.to_string().contains("the library is out of order"), "{error}");
        CAPTURES.store(1, Ordering::Relaxed);
        let verification = exec.verify(&device.stream).expect("a verification");
        assert!(verification.is_equal(), "{verification}");
        assert_eq!(exec.launches(), launches);
        exec.launch(&device.stream).expect("a launch");
    }
    drop(exec);
    assert_eq!(device.download(&x), [900.0; N]);
    device.nothing_reported();
}
