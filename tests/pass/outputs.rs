//! Output buffers, and buffers that a graph takes over.

use cuweave::prelude::*;

use crate::support::{device, ramp};

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn iota(out: &mut [MaybeUninit<f32>; n], first: f32, n: u32);
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn parts(x: &[f32; n], pos: &mut [MaybeUninit<f32>; n], neg: &mut [MaybeUninit<f32>; n], n: u32);
    fn reduce_sum(x: &[f32; n], out: &mut [MaybeUninit<f32>; 1], n: u32);
}

#[cuweave::graph]
fn one(n: u32, first: f32) -> [f32; n] {
    let h = alloc::<f32>(n);
    iota[per_item(n)](&mut h, first, n);
    h
}

#[test]
fn one_output_again_and_again() {
    let device = device();
    let mut exec = one(&device.ctx, 30, 1.0).expect("it builds").instantiate().expect("it instantiates");
    for _ in 0..3 {
        let out = exec.launch(&device.stream).expect("it launches");
        assert_eq!(device.download(&out), ramp(31)[1..]);
    }
}

#[test]
fn a_forgotten_output_is_freed_by_the_next_launch() {
    let device = device();
    let mut exec = one(&device.ctx, 30, 1.0).expect("it builds").instantiate().expect("it instantiates");
    std::mem::forget(exec.launch(&device.stream).expect("it launches"));
    let out = exec.launch(&device.stream).expect("it launches again");
    assert_eq!(device.download(&out), ramp(31)[1..]);
}

#[cuweave::graph]
fn two(n: u32, x: &[f32; n]) -> ([f32; n], [f32; 1]) {
    let pos = alloc::<f32>(n);
    let neg = alloc::<f32>(n);
    parts[per_item(n)](&x, &mut pos, &mut neg, n);
    scale[per_item(n)](&mut neg, -1.0, n);
    let total = alloc::<f32>(1);
    reduce_sum[(1, 64)](&neg, &mut total, n);
    (pos, total)
}

#[test]
fn a_tuple_of_outputs() {
    let device = device();
    let x = device.upload(&[1.0_f32, -2.0, 3.0, -4.0]);
    let mut exec = two(&device.ctx, 4, &x).expect("it builds").instantiate().expect("it instantiates");
    for _ in 0..2 {
        let (pos, total) = exec.launch(&device.stream).expect("it launches");
        assert_eq!(device.download(&pos), [1.0, 0.0, 3.0, 0.0]);
        assert_eq!(device.download(&total), [6.0]);
    }
}

/// Takes a buffer over and lets the compiler free it.
#[cuweave::graph]
fn sum_of(n: u32, h: [f32; n], out: &mut [f32; 1]) {
    scale[per_item(n)](&mut h, 2.0, n);
    reduce_sum[(1, 64)](&h, &mut out, n);
}

#[test]
fn an_output_taken_over_by_another_graph() {
    let device = device();
    let mut out = device.zeros::<f32>(1);
    let mut producer = one(&device.ctx, 10, 1.0).expect("it builds").instantiate().expect("it instantiates");
    {
        let graph = sum_of(&device.ctx, 10, producer.output(), &mut out).expect("it builds");
        let mut consumer = graph.instantiate().expect("it instantiates");
        for _ in 0..3 {
            let h = producer.launch(&device.stream).expect("it launches");
            consumer.launch(&device.stream, (h,)).expect("it takes over");
        }
    }
    assert_eq!(device.download(&out), [110.0]);
}
