//! Module variables that the host sets and reads, of a file that NVRTC has compiled.

use std::sync::Arc;

use cudarc::driver::CudaStream;
use cudarc::driver::sys::{CUgraphInstantiate_flags_enum, CUstreamCaptureMode};
use cuweave::Error;
use cuweave::builder::Builder;
use cuweave::prelude::*;
use cuweave_testkit::device::{Device, alone as device};

#[cuweave::kernels("tests/ptx-corpus/nvrtc/state.ptx")]
unsafe extern "ptx-kernel" {
    /// The number that the next block draws.
    static tickets: u32;
    pub static sums: [f32; 32];
    static levels: [[i32; 4]; 2];
    #[link_name = "offsets"]
    static OFFSETS: [f32; 8];
    static factors: [f64; 4];

    fn draw(out: &mut [u32; 1]);
    fn accumulate(x: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
    fn level(out: &mut [MaybeUninit<i32>; n], row: i32, n: u32);
    fn factor(x: &[f64; n], out: &mut [MaybeUninit<f64>; n], n: u32);
}

/// The same file as a module of its own, whose variables the host does not set.
mod unset {
    use super::MaybeUninit;

    #[cuweave::kernels("tests/ptx-corpus/nvrtc/state.ptx")]
    unsafe extern "ptx-kernel" {
        pub fn factor(x: &[f64; n], out: &mut [MaybeUninit<f64>; n], n: u32);
    }
}

#[cuweave::graph]
fn scaled(n: u32, x: &[f64; n], out: &mut [f64; n]) {
    factor[per_item(n)](&x, &mut out, n);
}

/// Four launches that nothing orders.
#[cuweave::graph]
fn scaled_apart(n: u32, x: &[f64; n], out: &mut [f64; 4 * n]) {
    for i in 0..4 {
        factor[per_item(n)](&x, &mut out[i * n..i * n + n], n);
    }
}

#[cuweave::graph]
fn unset_apart(n: u32, x: &[f64; n], out: &mut [f64; 4 * n]) {
    for i in 0..4 {
        unset::factor[per_item(n)](&x, &mut out[i * n..i * n + n], n);
    }
}

/// x scaled twice, the second time without the first result's bytes in the way.
#[cuweave::graph(launches = "overlapped")]
fn scaled_twice(n: u32, x: &[f64; n], out: &mut [f64; n]) {
    let once = alloc::<f64>(n);
    factor[per_item(n)](&x, &mut once, n);
    factor[per_item(n)](&once, &mut out, n);
}

#[cuweave::graph(order = "explicit")]
fn scaled_explicitly(n: u32, x: &[f64; n], first: &mut [f64; n], second: &mut [f64; n]) {
    factor[per_item(n)](&x, &mut first, n);
    factor[per_item(n)](&x, &mut second, n);
}

#[cuweave::graph]
fn added(n: u32, x: &[f32; n], out: &mut [f32; n]) {
    accumulate[per_item(n)](&x, &mut out, n);
}

#[cuweave::graph]
fn drawn(out: &mut [u32; 1]) {
    draw[(1, 32)](&mut out);
}

#[cuweave::graph]
fn first_level(out: &mut [i32; 4]) {
    level[per_item(4)](&mut out, 0, 4);
}

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn stream(device: &Device) -> Arc<CudaStream> {
    device.ctx.new_stream().expect("a stream")
}

/// Sets all variables to the values of the file.
fn reset(device: &Device) -> Outcome {
    tickets.set(&device.stream, &0)?;
    sums.set(&device.stream, &[0.0; 32])?;
    levels.set(&device.stream, &[[1, 2, 0, 0], [3, 0, 0, 0]])?;
    OFFSETS.set(&device.stream, &[0.0; 8])?;
    factors.set(&device.stream, &[2.0, 0.0, 0.0, 0.0])?;
    Ok(())
}

#[test]
fn a_value_holds_from_before_the_first_graph_to_after_the_last() -> Outcome {
    let device = device();
    factors.set(&device.stream, &[1.0, 2.0, 3.0, 4.0])?;
    let x = device.upload(&[10.0; 8]);
    for _ in 0..2 {
        let mut out = device.zeros::<f64>(8);
        let mut exec = scaled(&device.ctx, 8, &x, &mut out)?.instantiate()?;
        exec.launch(&device.stream)?;
        drop(exec);
        assert_eq!(device.download(&out), [10.0, 20.0, 30.0, 40.0, 10.0, 20.0, 30.0, 40.0]);
    }
    assert_eq!(factors.get(&device.stream)?, [1.0, 2.0, 3.0, 4.0]);
    reset(&device)
}

#[test]
fn a_graph_that_is_built_sees_each_value_in_the_order_of_the_program() -> Outcome {
    let device = device();
    let (x, mut out) = (device.upload(&[1.0f32; 8]), device.zeros::<f32>(8));
    let other = stream(&device);
    let mut exec = added(&device.ctx, 8, &x, &mut out)?.instantiate()?;
    // Each launch is in another stream than the set before it and the set after it.
    for round in 0..20 {
        OFFSETS.set(if round % 2 == 0 { &other } else { &device.stream }, &[round as f32; 8])?;
        exec.launch(if round % 2 == 0 { &device.stream } else { &other })?;
    }
    OFFSETS.set(&stream(&device), &[-1.0; 8])?;
    drop(exec);
    device.stream.synchronize()?;
    // The sum before the last launch is 19, and its offset is 19.
    assert_eq!(device.download(&out), [38.0; 8]);
    let mut expected = [0.0; 32];
    expected[..8].fill(20.0);
    assert_eq!(sums.get(&device.stream)?, expected);
    reset(&device)
}

#[test]
fn what_kernels_write_is_read_and_set() -> Outcome {
    let device = device();
    reset(&device)?;
    let mut out = device.zeros::<u32>(1);
    let mut exec = drawn(&device.ctx, &mut out)?.instantiate()?;
    for _ in 0..3 {
        exec.launch(&device.stream)?;
    }
    // In another stream, without a wait on the host.
    assert_eq!(tickets.get(&stream(&device))?, 3);
    tickets.set(&stream(&device), &40)?;
    exec.launch(&device.stream)?;
    assert_eq!(tickets.get(&device.stream)?, 41);
    drop(exec);
    // Kept from one graph to the next.
    assert_eq!(tickets.get(&device.stream)?, 41);
    drawn(&device.ctx, &mut out)?.instantiate()?.launch(&device.stream)?;
    assert_eq!(tickets.get(&device.stream)?, 42);
    assert_eq!(device.download(&out), [41]);
    reset(&device)
}

#[test]
fn a_variable_that_no_graph_uses_has_the_values_of_the_file() -> Outcome {
    let device = device();
    assert_eq!(levels.get(&device.stream)?, [[1, 2, 0, 0], [3, 0, 0, 0]]);
    levels.set(&device.stream, &[[5, 6, 7, 8], [9; 4]])?;
    let mut out = device.zeros::<i32>(4);
    first_level(&device.ctx, &mut out)?.instantiate()?.launch(&device.stream)?;
    assert_eq!(device.download(&out), [5, 6, 7, 8]);
    reset(&device)
}

#[test]
fn launches_that_read_one_are_not_ordered_and_not_copied_into_a_batch() -> Outcome {
    let device = device();
    let x = device.upload(&[1.0; 4]);
    let mut out = device.zeros::<f64>(16);
    let graph = scaled_apart(&device.ctx, 4, &x, &mut out)?;
    let report = graph.report();
    assert_eq!((report.kernels, report.edges, report.depth), (4, 0, 1), "{report}");
    assert!(report.to_string().contains("or the host, writes"), "{report}");
    let mut exec = graph.instantiate()?;
    factors.set(&device.stream, &[7.0; 4])?;
    exec.launch(&device.stream)?;
    drop(exec);
    assert_eq!(device.download(&out), [7.0; 16]);

    let graph = unset_apart(&device.ctx, 4, &x, &mut out)?;
    assert_eq!(graph.report().kernels, 1, "{}", graph.report());
    graph.instantiate()?.launch(&device.stream)?;
    assert_eq!(device.download(&out)[..4], [2.0, 0.0, 0.0, 0.0]);

    let (mut first, mut second) = (device.zeros::<f64>(4), device.zeros::<f64>(4));
    let graph = scaled_explicitly(&device.ctx, 4, &x, &mut first, &mut second)?;
    assert_eq!(graph.report().edges, 0);
    graph.instantiate()?.launch(&device.stream)?;
    assert_eq!((device.download(&first), device.download(&second)), (vec![7.0; 4], vec![7.0; 4]));
    reset(&device)
}

#[test]
fn launches_that_read_one_start_early() -> Outcome {
    let device = device();
    let x = device.upload(&[1.0; 4]);
    let mut out = device.zeros::<f64>(4);
    let graph = scaled_twice(&device.ctx, 4, &x, &mut out)?;
    let report = graph.report();
    if device.simulated {
        assert_eq!(report.overlapped, 1, "{report}");
    }
    let mut exec = graph.instantiate()?;
    for value in [3.0, 5.0] {
        factors.set(&device.stream, &[value; 4])?;
        exec.launch(&device.stream)?;
        assert_eq!(factors.get(&device.stream)?, [value; 4]);
    }
    drop(exec);
    assert_eq!(device.download(&out), [25.0; 4]);
    reset(&device)
}

#[test]
fn graphs_of_the_builder_see_it() -> Outcome {
    let device = device();
    let x = device.upload(&[1.0; 4]);
    let mut out = device.zeros::<f64>(4);
    let mut b = Builder::with_name(&device.ctx, "scaled");
    let (x, y) = (b.shared("x", 4, &x), b.exclusive("out", 4, &mut out));
    b.launch(factor {}, (1, 4), (x.read(), y.write(), 4u32))?;
    let mut exec = b.build()?.instantiate()?;
    factors.set(&stream(&device), &[3.0; 4])?;
    exec.launch(&device.stream)?;
    drop(exec);
    assert_eq!(device.download(&out), [3.0; 4]);
    reset(&device)
}

#[test]
fn a_capturing_stream_is_refused() -> Outcome {
    let device = device();
    let capturing = stream(&device);
    capturing.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED)?;
    assert!(matches!(tickets.set(&capturing, &1), Err(Error::BufferCapturing)));
    let error = tickets.get(&capturing).expect_err("it captures");
    assert!(error.to_string().contains("a module variable"), "{error}");
    // Other streams are free to set it, and a module may be loaded meanwhile.
    tickets.set(&device.stream, &7)?;
    assert_eq!(tickets.get(&stream(&device))?, 7);
    capturing.end_capture(CUgraphInstantiate_flags_enum::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH)?;
    reset(&device)
}
