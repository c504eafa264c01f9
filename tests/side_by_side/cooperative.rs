//! Kernels whose blocks wait for each other.

use cuweave::prelude::*;
use cuweave_testkit::device::{device, ramp};

#[cuweave::kernels("tests/kernels/grid.ptx")]
unsafe extern "ptx-kernel" {
    fn shifted(x: &mut [f32; n], steps: u32, n: u32);
}

const THREADS: u32 = 64;

/// Parallel and sequential launches: none of them is batched or fused.
#[cuweave::graph]
fn waits(blocks: u32, steps: u32, n: u32, x: &mut [f32; n], y: &mut [f32; n]) {
    shifted[(blocks, THREADS)](&mut x, steps, n);
    shifted[(blocks, THREADS)](&mut y, steps, n);
    shifted[(blocks, THREADS)](&mut x, steps, n);
}

fn on_the_host(x: &[f32], steps: u32) -> Vec<f32> {
    let at = |i: usize| x[(i + steps as usize * THREADS as usize) % x.len()] + steps as f32;
    (0..x.len()).map(at).collect()
}

#[test]
fn all_blocks_of_a_grid_run_at_one_time() {
    let d = device();
    let n = 8 * THREADS;
    let (mut x, mut y) = (d.upload(&ramp(n as usize)), d.upload(&ramp(n as usize)));
    let graph = waits(&d.ctx, 8, 3, n, &mut x, &mut y).expect("it builds");
    assert_eq!(graph.report().kernels, 3);
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&d.stream).expect("it is launched");
    exec.set_steps(1).expect("it is set");
    exec.launch(&d.stream).expect("it is launched");
    drop(exec);
    assert_eq!(d.download(&x), on_the_host(&ramp(n as usize), 8));
    assert_eq!(d.download(&y), on_the_host(&ramp(n as usize), 4));
}

#[test]
fn more_blocks_than_the_device_holds_are_an_error_of_the_build() {
    let d = device();
    let n = 8 * THREADS;
    let (mut x, mut y) = (d.upload(&ramp(n as usize)), d.upload(&ramp(n as usize)));
    let error = waits(&d.ctx, 1 << 20, 1, n, &mut x, &mut y).map(|_| ()).expect_err("they are too many");
    assert!(error.to_string().contains("resident at once"), "{error}");
}
