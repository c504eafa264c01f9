//! Uses of a graph's buffers by other work, on streams of several contexts; also setters, library calls and
//! profiles.

#![allow(unsafe_code)]

use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaFunction, DriverError, LaunchConfig, PushKernelArg};
use cudarc::nvrtc::Ptx;
use cuweave::Buffer;
use cuweave::prelude::*;

use crate::programs::kernels::{axpy, scale};
use crate::support::{N, contexts, ramp, silent, streams, with_devices};

/// y += a · x on device 1; then x is scaled on device 0.
#[cuweave::graph(devices = 2)]
fn both(n: u32, a: f32, x: &mut [f32; n], y: &mut [f32; n]) {
    #[on(1)]
    axpy[per_item(n)](a, &x, &mut y, n);
    scale[per_item(n)](&mut x, 2.0, n);
}

/// Returns the values of x and y after launches with these factors.
fn after(factors: &[f32]) -> [Vec<f32>; 2] {
    let mut x: Vec<f32> = (0..N).map(|at| at as f32).collect();
    let mut y: Vec<f32> = (0..N).map(|at| 1.0 + at as f32).collect();
    for a in factors {
        y.iter_mut().zip(&x).for_each(|(y, x)| *y += a * x);
        x.iter_mut().for_each(|x| *x *= 2.0);
    }
    [x, y]
}

#[test]
fn buffers_of_the_default_streams_of_two_contexts_are_ordered() {
    with_devices("uses::default_streams", 2, &[]);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn default_streams() {
    let contexts = contexts();
    // Both default streams have the null handle, and so has the stream of the launches.
    let streams = [contexts[0].default_stream(), contexts[1].default_stream()];
    let (mut x, mut y) = (ramp(&streams[0], N, 0.0), ramp(&streams[1], N, 1.0));
    let mut exec =
        both(&contexts, N, 1.0, &mut x, &mut y).expect("it builds").instantiate().expect("an exec");
    let count =
        |call: &str| -> u64 { cuweave_sim::call_counts().expect("counts").get(call).copied().unwrap_or(0) };
    let before = ["cuEventRecord", "cuStreamWaitEvent"].map(count);
    exec.launch(&streams[0]).expect("it launches");
    let after_one = ["cuEventRecord", "cuStreamWaitEvent"].map(count);
    // The stream of device 1 waits and is waited for. The event of `y` is recorded there.
    assert!(after_one[1] >= before[1] + 2, "{before:?} {after_one:?}");
    exec.set_a(3.0).expect("it is set");
    exec.launch(&streams[0]).expect("it launches");
    drop(exec);
    let [xs, ys] = after(&[1.0, 3.0]);
    assert_eq!(streams[0].clone_dtoh(&x).expect("a download"), xs);
    assert_eq!(streams[1].clone_dtoh(&y).expect("a download"), ys);
    contexts.iter().for_each(|ctx| ctx.check_err().expect("no error is kept"));
    silent();
}

#[test]
fn shared_buffers_of_two_devices_are_ordered() {
    with_devices("uses::shared", 2, &[]);
}

#[cuweave::graph]
fn doubled(n: u32, y: &mut [f32; n]) {
    scale[per_item(n)](&mut y, 2.0, n);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn shared() {
    let contexts = contexts();
    let streams = streams(&contexts);
    let x = Buffer::new(ramp(&streams[0], N, 0.0)).expect("a buffer");
    let y = Buffer::new(ramp(&streams[1], N, 1.0)).expect("a buffer");
    let mut exec = both(&contexts, N, 1.0, &x, &y).expect("it builds").instantiate().expect("an exec");
    let mut other = doubled(&contexts[1], N, &y).expect("it builds").instantiate().expect("an exec");
    exec.launch(&streams[0]).expect("it launches");
    other.launch(&streams[1]).expect("it launches");
    exec.launch(&streams[0]).expect("it launches");
    drop((exec, other));
    let mut ys = after(&[1.0])[1].clone();
    let x_now = after(&[1.0])[0].clone();
    ys.iter_mut().zip(&x_now).for_each(|(y, x)| *y = 2.0 * *y + x);
    let found = y.with(&streams[1], |view| streams[1].clone_dtoh(&view)).expect("lent").expect("a download");
    assert_eq!(found, ys);
    contexts.iter().for_each(|ctx| ctx.check_err().expect("no error is kept"));
    silent();
}

/// The kernels of a library, in the context of a device.
struct Library {
    scale: CudaFunction,
}

impl Library {
    fn new(ctx: &Arc<CudaContext>) -> Library {
        let ptx = Ptx::from_src(include_str!("../kernels/common.ptx"));
        let scale = ctx.load_module(ptx).expect("a module").load_function("scale").expect("a function");
        Library { scale }
    }
}

/// x *= a
#[cuweave::call]
unsafe fn scaled(
    stream: &CallStream,
    library: &Library,
    x: &mut [f32; n],
    a: f32,
    n: u32,
) -> Result<(), DriverError> {
    let config = LaunchConfig::for_num_elems(n);
    unsafe { stream.launch_builder(&library.scale).arg(x).arg(&a).arg(&n).launch(config) }.map(drop)
}

#[cuweave::graph(devices = 2)]
fn calls(n: u32, here: &Library, there: &Library, x: &mut [f32; n], y: &mut [f32; n]) {
    scaled(&here, &mut x, 3.0, n);
    #[on(1)]
    {
        scaled(&there, &mut y, 5.0, n);
        axpy[per_item(n)](1.0, &x, &mut y, n);
    }
}

#[test]
fn library_calls_are_captured_on_the_device_of_their_statement() {
    with_devices("uses::captured", 2, &[]);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn captured() {
    let contexts = contexts();
    let streams = streams(&contexts);
    let libraries = [Library::new(&contexts[0]), Library::new(&contexts[1])];
    let (mut x, mut y) = (ramp(&streams[0], N, 0.0), ramp(&streams[1], N, 1.0));
    let graph = calls(&contexts, N, &libraries[0], &libraries[1], &mut x, &mut y).expect("it builds");
    let mut exec = graph.instantiate().expect("an exec");
    exec.launch(&streams[0]).expect("it launches");
    let profile = exec.profile(&streams[0], 1).expect("a profile");
    assert_eq!(profile.entries.len(), 3);
    drop(exec);
    // The profile launches both graphs once more.
    let (mut xs, mut ys): (Vec<f32>, Vec<f32>) = (0..N).map(|at| (at as f32, 1.0 + at as f32)).unzip();
    for _ in 0..3 {
        xs.iter_mut().for_each(|x| *x *= 3.0);
        ys.iter_mut().zip(&xs).for_each(|(y, x)| *y = 5.0 * *y + x);
    }
    assert_eq!(streams[1].clone_dtoh(&y).expect("a download"), ys);
    silent();
}
