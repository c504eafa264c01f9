//! Graphs of functions, lifted without their declarations: with `CUWEAVE_VERIFY=lift`, the first launch compares the
//! statements as written with what lifting makes of them.

use cuweave::Buffer;
use cuweave::prelude::*;
use cuweave_testkit::device::{Device, alone, ramp};
use cuweave_testkit::process;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
    fn copy_to(x: &[f32; n], y: &mut [MaybeUninit<f32>; n], n: u32);
}

#[cuweave::graph]
fn step(n: u32, a: f32, x: &[f32; n], y: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    copy_to[per_item(n)](&x, &mut h, n);
    scale[per_item(n)](&mut h, a, n);
    axpy[per_item(n)](1.0, &h, &mut y, n);
}

/// Calls side by side and in a loop, fills, copies of ranges, an output.
#[cuweave::graph]
fn steps(n: u32, count: u32, x: &[f32; n], y: &mut [f32; 2 * n], z: &mut [f32; n]) -> [f32; n] {
    let out = alloc::<f32>(n);
    fill(&mut out, 1.0);
    for i in 0..count {
        step(n, i as f32, &x, &mut y[..n]);
        step(n, 0.5, &x, &mut y[n..]);
    }
    copy(&y[n / 2..n / 2 + n], &mut z);
    axpy[per_item(n)](2.0, &y[..n], &mut out, n);
    axpy[per_item(n)](3.0, &y[n..], &mut out, n);
    out
}

/// A size, at a value below the largest.
#[cuweave::graph]
fn sized(#[at_most(1000)] n: u32, x: &[f32; n], y: &mut [f32; n]) {
    step(n, 2.0, &x, &mut y);
    scale[per_item(n)](&mut y, 0.5, n);
}

fn run(device: &Device) -> cuweave::Result<()> {
    let x = device.upload(&ramp(1000));
    let (y, z) = (Buffer::<f32>::zeros(&device.stream, 2000)?, Buffer::<f32>::zeros(&device.stream, 1000)?);
    let _ = steps(&device.ctx, 1000, 4, &x, &y, &z)?.instantiate()?.launch(&device.stream)?;
    assert_eq!(y.to_host(&device.stream)?[..2], [0.0, 6.0]);
    sized(&device.ctx, 77, &x, &z)?.instantiate()?.launch(&device.stream)?;
    Ok(())
}

#[test]
#[ignore = "it runs in a process of its own, with CUWEAVE_VERIFY=lift"]
fn as_declared() {
    run(&alone()).expect("the inference agrees with the declarations");
}

#[test]
fn the_inference_agrees_with_declarations() {
    let text = process::apart("own::as_declared", &[("CUWEAVE_VERIFY", "lift")]);
    for function in ["steps", "sized"] {
        assert!(text.contains(&format!("`{function}` is lifted")), "{function}");
    }
}
