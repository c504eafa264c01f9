//! Kernels, short graph functions, and a comparison, for the tests of calls and loops.

use cuweave::prelude::*;

pub use crate::kernels::*;

/// Runs a graph on several schedules and compares an output with plain Rust.
macro_rules! launched {
    ($device:ident, $build:expr, $out:ident, $want:expr) => {
        for seed in 0..6u64 {
            $device.schedule(seed);
            let mut exec = $build.expect("builds").instantiate().expect("instantiates");
            exec.launch(&$device.stream).expect("launches");
            $device.stream.synchronize().unwrap();
            drop(exec);
            assert_eq!($device.download(&$out), $want, "seed {seed}");
        }
        $device.schedule(0);
    };
}

#[cuweave::graph]
pub fn step(n: u32, a: f32, x: &[f32; n], y: &mut [f32; n]) {
    axpy[per_item(n)](a, &x, &mut y, n);
    scale[per_item(n)](&mut y, 2.0, n);
}

#[cuweave::graph]
pub fn copied(n: u32, x: &[f32; n]) -> [f32; n] {
    let h = alloc::<f32>(n);
    copy_to[per_item(n)](&x, &mut h, n);
    h
}

#[cuweave::graph]
pub fn doubled(n: u32, x: &[f32; n]) -> [f32; n] {
    let h = alloc::<f32>(n);
    add[per_item(n)](&x, &x, &mut h, n);
    h
}
