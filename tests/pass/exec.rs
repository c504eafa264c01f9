//! The methods of an exec: setters, views of bound buffers, upload, and pictures.

use cuweave::prelude::*;

use crate::support::{device, ramp};

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
}

#[cuweave::graph]
fn step(n: u32, count: u32, a: f32, x: &[f32; n], y: &mut [f32; n]) {
    scale[per_item(n)](&mut y, 0.5, n);
    axpy[per_item(count)](a, &x, &mut y, count);
}

#[cuweave::graph]
fn from(n: u32, first: u32, x: &[f32; n], y: &mut [f32; n]) {
    copy(&x[first..], &mut y[first..]);
}

#[test]
fn setters_and_views() {
    let device = device();
    let inputs = [device.upload(&ramp(16)), device.upload(&[1.0_f32; 16])];
    let y = device.zeros::<f32>(16);
    let graph = step(&device.ctx, 16, 16, 1.0, &inputs[0], y).expect("it builds");
    assert!(!graph.dot().is_empty());
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.upload(&device.stream).expect("it uploads");
    exec.launch(&device.stream).expect("it launches");
    assert_eq!(device.download(&exec.args().y), ramp(16));

    exec.set_a(4.0).expect("a scalar");
    exec.set_x(&inputs[1]).expect("a buffer");
    exec.launch(&device.stream).expect("it launches");
    assert_eq!(device.download(&exec.args().y), ramp(16).iter().map(|y| y * 0.5 + 4.0).collect::<Vec<_>>());

    device.stream.memcpy_htod(&[8.0_f32; 16], &mut exec.args_mut().y).expect("contents can change");
    exec.launch(&device.stream).expect("it launches");
    assert_eq!(device.download(&exec.args().y), [8.0; 16]);
}

#[test]
fn a_range_can_be_set() {
    let device = device();
    let x = device.upload(&ramp(16));
    let mut y = device.zeros::<f32>(16);
    let graph = from(&device.ctx, 16, 0, &x, &mut y).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.set_first(8).expect("a range");
    let error = exec.set_first(17).expect_err("behind the end");
    assert!(error.to_string().contains("[17..16]"), "{error}");
    exec.launch(&device.stream).expect("the exec is as it was");
    drop(exec);
    assert_eq!(device.download(&y)[..9], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 8.0]);
}
