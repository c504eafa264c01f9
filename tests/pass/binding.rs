//! The types that bind to an argument: borrows, views, shared and owned buffers.

use std::sync::Arc;

use cuweave::prelude::*;

use crate::support::{device, ramp, run};

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
}

#[cuweave::graph]
fn accumulate(n: u32, a: f32, x: &[f32; n], y: &mut [f32; n]) {
    axpy[per_item(n)](a, &x, &mut y, n);
}

#[test]
fn borrowed_buffers() {
    let device = device();
    let x = device.upload(&ramp(10));
    let mut y = device.zeros::<f32>(10);
    run!(device, accumulate(&device.ctx, 10, 2.0, &x, &mut y));
    assert_eq!(device.download(&y)[9], 18.0);
}

#[test]
fn views() {
    let device = device();
    let x = device.upload(&ramp(20));
    let mut y = device.zeros::<f32>(20);
    {
        let mut part = y.slice_mut(10..20);
        run!(device, accumulate(&device.ctx, 10, 1.0, x.slice(5..15), part.slice_mut(..)));
    }
    let got = device.download(&y);
    assert_eq!(got[..10], [0.0; 10]);
    assert_eq!(got[10..], ramp(20)[5..15]);
}

#[test]
fn shared_and_owned_buffers() {
    let device = device();
    let x = Arc::new(device.upload(&ramp(10)));
    let y = device.zeros::<f32>(10);
    let graph = accumulate(&device.ctx, 10, 1.0, x.clone(), y).expect("the graph builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&device.stream).expect("it launches");
    let args = exec.into_args();
    assert_eq!(device.download(&args.y.view()), ramp(10));
    drop(args);
    assert_eq!(Arc::strong_count(&x), 1);
}

/// The exec owns everything and borrows nothing, so it can be kept in a structure and moved to another thread.
struct Kept {
    exec: cuweave::Exec<accumulate::Args<'static>>,
}

#[test]
fn an_exec_that_owns_everything() {
    let device = device();
    let (x, y) = (device.upload(&ramp(10)), device.zeros::<f32>(10));
    let graph = accumulate(&device.ctx, 10, 1.0, x, y).expect("the graph builds");
    let mut kept = Kept { exec: graph.instantiate().expect("it instantiates") };
    let stream = device.stream.clone();
    let kept = std::thread::spawn(move || {
        kept.exec.launch(&stream).expect("it launches");
        kept
    })
    .join()
    .expect("no panic");
    let args = kept.exec.into_args();
    assert_eq!(device.download(&args.y.view()), ramp(10));
    assert_eq!(device.download(&args.x.view()), ramp(10));
}

/// Arrays: each element is bound on its own.
#[cuweave::graph]
fn all_three(n: u32, xs: [&[f32; n]; 3], y: &mut [f32; n]) {
    for i in 0..3 {
        axpy[per_item(n)](1.0, &xs[i], &mut y, n);
    }
}

#[test]
fn arrays_of_borrows_and_of_views() {
    let device = device();
    let xs = device.upload(&ramp(30));
    let whole = device.upload(&ramp(10));
    let mut y = device.zeros::<f32>(10);
    let views = [xs.slice(0..10), xs.slice(10..20), xs.slice(20..30)];
    run!(device, all_three(&device.ctx, 10, views, &mut y));
    run!(device, all_three(&device.ctx, 10, [&whole, &whole, &whole], &mut y));
    let want: Vec<f32> = (0..10).map(|i| (6 * i + 30) as f32).collect();
    assert_eq!(device.download(&y), want);
}

#[test]
fn one_buffer_for_two_shared_arguments() {
    let device = device();
    let x = device.upload(&ramp(10));
    let mut y = device.zeros::<f32>(10);
    run!(device, all_three(&device.ctx, 10, [&x, &x, &x], &mut y));
    assert_eq!(device.download(&y), ramp(10).iter().map(|x| x * 3.0).collect::<Vec<_>>());
}
