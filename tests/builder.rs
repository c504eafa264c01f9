//! Graphs of a builder: results, setters, outputs, and what it shares with graph functions.

use std::sync::Arc;

use cudarc::driver::CudaSlice;
use cuweave::Buffer;
use cuweave::builder::{Argument, Builder, Handle, Launches, Memory, Order};
use cuweave::prelude::*;
use cuweave_testkit::device::{Device, device};

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn set(out: &mut [MaybeUninit<f32>; n], value: f32, n: u32);
    fn copy_to(src: &[f32; n], dst: &mut [MaybeUninit<f32>; n], n: u32);
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
}

/// y = a · x + y
#[cuweave::graph]
fn step(n: u32, a: f32, x: &[f32; n], y: &mut [f32; n]) {
    axpy[per_item(n)](a, &x, &mut y, n);
}

#[test]
fn a_chain_computes_and_its_scalars_can_be_set() {
    let Device { ctx, stream, .. } = &device();
    let x = stream.clone_htod(&[1.0_f32, 2.0, 3.0]).expect("a buffer");
    let mut y = stream.alloc_zeros::<f32>(3).expect("a buffer");
    let mut b = Builder::with_name(ctx, "chain");
    let (n, a) = (b.scalar("n", 3), b.scalar("a", 2.0_f32));
    let x = b.shared("x", n, &x);
    let mut out = b.exclusive("y", n, &mut y);
    let mut h = b.named("h").alloc::<f32>(n);
    b.copy(&x, &mut h).expect("a copy");
    b.launch(scale {}, per_item(n), (&mut h, a, n)).expect("a launch");
    b.copy(&h, &mut out).expect("a copy");
    let mut exec = b.build().expect("a graph").instantiate().expect("an exec");
    exec.launch(stream).expect("a launch");
    exec.set_scalar(&a, 10.0).expect("a setter");
    exec.launch(stream).expect("a launch");
    drop(exec);
    assert_eq!(stream.clone_dtoh(&y).expect("a copy"), [10.0, 20.0, 30.0]);
}
