//! Elements and scalars of the crate `half`, in kernels that NVRTC has compiled with `cuda_fp16.h` and
//! `cuda_bf16.h`.

use cuweave::Buffer;
use cuweave::prelude::*;
use cuweave_testkit::device::alone as device;
use half::{bf16, f16};

#[cuweave::kernels("tests/ptx-corpus/nvrtc/tensor.ptx")]
unsafe extern "ptx-kernel" {
    fn half_axpy(a: half::f16, x: &[half::f16; 2 * pairs], y: &mut [half::f16; 2 * pairs], pairs: u32);
    fn bf16_to_float(x: &[bf16; n], out: &mut [MaybeUninit<f32>; n], n: u32);
    fn dequantise_int4(packed: &[u32; n], scales: &[f16; n], out: &mut [MaybeUninit<f16>; 8 * n], n: u32);
}

/// y += a · x twice. A copy of the result is an output.
#[cuweave::graph]
fn axpy(pairs: u32, a: half::f16, x: &[f16; 2 * pairs], y: &mut [half::f16; 2 * pairs]) -> [f16; 2 * pairs] {
    half_axpy[per_item(pairs)](a, &x, &mut y, pairs);
    half_axpy[per_item(pairs)](a, &x, &mut y, pairs);
    let out = alloc::<f16>(2 * pairs);
    copy(&y, &mut out);
    out
}

#[cuweave::graph]
fn widened(n: u32, value: bf16, out: &mut [f32; n]) {
    let x = alloc::<bf16>(n);
    fill(&mut x, value);
    bf16_to_float[per_item(n)](&x, &mut out, n);
}

#[cuweave::graph]
fn unpacked(n: u32, packed: &[u32; n], scales: &[f16; n], out: &mut [f16; 8 * n]) {
    dequantise_int4[per_item(n)](&packed, &scales, &mut out, n);
}

fn halves(values: impl IntoIterator<Item = f32>) -> Vec<f16> {
    values.into_iter().map(f16::from_f32).collect()
}

#[test]
fn half_elements_and_scalars() {
    let device = device();
    let x = device.stream.clone_htod(&halves((0..128).map(|i| i as f32 / 4.0))).unwrap();
    let mut y = device.stream.clone_htod(&halves([1.0; 128])).unwrap();
    let mut exec = axpy(&device.ctx, 64, f16::from_f32(0.5), &x, &mut y).unwrap().instantiate().unwrap();
    let out = exec.launch(&device.stream).unwrap();
    let expected = |factor: f32, offset: f32| halves((0..128).map(|i| offset + factor * i as f32 / 4.0));
    assert_eq!(device.stream.clone_dtoh(&out).unwrap(), expected(1.0, 1.0));
    drop(out);
    exec.set_a(f16::from_f32(-0.5)).unwrap();
    let out = exec.launch(&device.stream).unwrap();
    assert_eq!(device.stream.clone_dtoh(&out).unwrap(), expected(0.0, 1.0));
}

#[test]
fn half_fills_and_buffers() {
    let device = device();
    let out = Buffer::<f32>::zeros(&device.stream, 100).unwrap();
    let value = bf16::from_f32(-2.75);
    let mut exec = widened(&device.ctx, 100, value, &out).unwrap().instantiate().unwrap();
    exec.launch(&device.stream).unwrap();
    assert_eq!(out.to_host(&device.stream).unwrap(), [-2.75; 100]);
    let packed = Buffer::from_host(&device.stream, &[0x7654_3210_u32; 16]).unwrap();
    let scales = Buffer::from_host(&device.stream, &halves([2.0; 16])).unwrap();
    let values = Buffer::<f16>::zeros(&device.stream, 128).unwrap();
    let mut exec = unpacked(&device.ctx, 16, &packed, &scales, &values).unwrap().instantiate().unwrap();
    exec.launch(&device.stream).unwrap();
    let one = halves((0..8).map(|i| (i as f32 - 8.0) * 2.0));
    assert_eq!(values.to_host(&device.stream).unwrap(), one.repeat(16));
}

/// The PTX confirms two-byte elements, so no element type is only assumed from the declaration.
#[test]
fn half_elements_are_confirmed() {
    let device = device();
    let x = device.stream.alloc_zeros::<f16>(128).unwrap();
    let mut y = device.stream.alloc_zeros::<f16>(128).unwrap();
    let report = axpy(&device.ctx, 64, f16::ONE, &x, &mut y).unwrap().report();
    let elements = report
        .assumed_declarations
        .iter()
        .filter(|entry| entry.what == cuweave::report::DeclaredPart::Elements);
    assert_eq!(elements.count(), 0, "{report}");
}
