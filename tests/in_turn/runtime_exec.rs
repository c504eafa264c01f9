//! Execs: their reports and pictures, setters, the modules that they keep loaded, and their annotations for the
//! simulated driver.

use cudarc::driver::sys;
use cuweave::Error;
use cuweave::prelude::*;
use cuweave_testkit::device::{alone, ramp, simulated_alone};
use cuweave_testkit::process::apart;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn nothing();
    fn iota(out: &mut [MaybeUninit<f32>; n], first: f32, n: u32);
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn add(a: &[f32; n], b: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
}

mod apart {
    #[cuweave::kernels("tests/kernels/state.ptx")]
    unsafe extern "ptx-kernel" {
        pub fn odd_numbers(out: &mut [MaybeUninit<u32>; n], n: u32);
    }
}

#[cuweave::graph(memory = "nodes", launches = "as-written")]
fn diamond(n: u32, x: &[f32; n], out: &mut [f32; n]) {
    let a = alloc::<f32>(n);
    let b = alloc::<f32>(n);
    copy(&x, &mut a);
    fill(&mut b, 2.0);
    scale[per_item(n)](&mut a, 3.0, n);
    add[per_item(n)](&a, &b, &mut out, n);
}

#[test]
fn a_report_and_a_picture() {
    let device = alone();
    let (x, mut out) = (device.upload(&ramp(8)), device.zeros::<f32>(8));
    let graph = diamond(&device.ctx, 8, &x, &mut out).expect("it builds");
    let report = graph.report();
    assert_eq!((report.kernels, report.fills, report.copies, report.hubs), (2, 1, 1, 0));
    assert_eq!((report.allocs, report.frees, report.nodes()), (2, 2, 8));
    assert_eq!((report.edges_before_reduction, report.edges, report.depth), (3, 7, 3));
    assert_eq!((report.planned_bytes, report.reserved_bytes), (64, 32 << 20));
    assert!(
        report
            .to_string()
            .starts_with("nodes        8: 2 kernels, 1 fill, 1 copy, 2 allocs, 2 frees\nedges ")
    );

    let picture = graph.dot();
    assert!(picture.starts_with("digraph \"diamond\" {\n"));
    assert_eq!(picture.matches(" -> ").count(), report.edges);
    assert_eq!(picture.matches("fillcolor=").count(), report.nodes());
    assert!(picture.contains("runtime_exec.rs:"), "{picture}");

    let mut exec = graph.instantiate().expect("it instantiates");
    assert_eq!(exec.report(), report);
    assert_eq!(exec.dot(), picture);
    exec.launch(&device.stream).expect("it launches");
    assert_eq!(device.download(&exec.args().out), ramp(8).iter().map(|x| x * 3.0 + 2.0).collect::<Vec<_>>());
}

#[test]
fn the_graph_pool() {
    let device = alone();
    let (x, mut out) = (device.upload(&ramp(8)), device.zeros::<f32>(8));
    let mut exec =
        diamond(&device.ctx, 8, &x, &mut out).expect("it builds").instantiate().expect("it instantiates");
    exec.launch(&device.stream).expect("it launches");
    device.stream.synchronize().expect("all is well");
    let memory = cuweave::memory::graph_pool(&device.ctx).expect("it tells");
    assert!(memory.used_high >= 64 && memory.reserved_high >= memory.used_high, "{memory:?}");
    drop(exec);
    cuweave::memory::trim_graph_pool(&device.ctx).expect("it trims");
    cuweave::memory::reset_graph_pool_high(&device.ctx).expect("it resets");
    let memory = cuweave::memory::graph_pool(&device.ctx).expect("it tells");
    assert!(memory.reserved <= memory.reserved_high && memory.used <= memory.used_high, "{memory:?}");
}

#[cuweave::graph]
fn widths(
    a: u8,
    b: u16,
    c: u32,
    d: u64,
    e: f64,
    bytes: &mut [u8; 5],
    shorts: &mut [u16; 5],
    words: &mut [u32; 5],
    longs: &mut [u64; 5],
    doubles: &mut [f64; 5],
    fixed: &mut [u64; 3],
) {
    fill(&mut bytes, a);
    fill(&mut shorts, b);
    fill(&mut words[1..4], c);
    fill(&mut longs[1..], d);
    fill(&mut doubles, e);
    fill(&mut fixed[..2], 0x0123_4567_89ab_cdef);
    fill(&mut fixed[2..], 0x0707_0707_0707_0707);
}

#[test]
fn fills_of_every_width_and_their_setters() {
    let device = alone();
    let mut buffers = (
        device.zeros::<u8>(5),
        device.zeros::<u16>(5),
        device.zeros::<u32>(5),
        device.zeros::<u64>(5),
        device.zeros::<f64>(5),
        device.zeros::<u64>(3),
    );
    let (bytes, shorts, words, longs, doubles, fixed) = &mut buffers;
    // At first, both halves of the 8-byte values are the same; later they differ.
    let graph =
        widths(&device.ctx, 1, 2, 3, 0, 0.0, bytes, shorts, words, longs, doubles, fixed).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&device.stream).expect("it launches");
    assert_eq!(device.download(&exec.args().bytes), [1; 5]);
    assert_eq!(device.download(&exec.args().longs), [0; 5]);
    exec.set_a(0xff).expect("a value");
    exec.set_b(0xfffe).expect("a value");
    exec.set_c(0xffff_fffd).expect("a value");
    exec.set_d(0x1234_5678_9abc_def0).expect("a value");
    exec.set_e(-1.25).expect("a value");
    exec.launch(&device.stream).expect("it launches");
    drop(exec);
    let (bytes, shorts, words, longs, doubles, fixed) = &buffers;
    assert_eq!(device.download(bytes), [0xff; 5]);
    assert_eq!(device.download(shorts), [0xfffe; 5]);
    assert_eq!(device.download(words), [0, 0xffff_fffd, 0xffff_fffd, 0xffff_fffd, 0]);
    let long = 0x1234_5678_9abc_def0;
    assert_eq!(device.download(longs), [0, long, long, long, long]);
    assert_eq!(device.download(doubles), [-1.25; 5]);
    assert_eq!(device.download(fixed), [0x0123_4567_89ab_cdef, 0x0123_4567_89ab_cdef, 0x0707_0707_0707_0707]);
}

#[cuweave::graph]
fn counted(n: u32, count: u32, first: f32, out: &mut [f32; n], other: &mut [f32; n]) {
    iota[per_item(count)](&mut out, first, count);
    scale[(1, 64)](&mut other, 2.0, n);
}

#[test]
fn setters_evaluate_configurations_and_extents_again() {
    let device = alone();
    let (mut out, mut other, mut fresh) =
        (device.zeros::<f32>(600), device.upload(&ramp(600)), device.zeros::<f32>(600));
    let small = device.zeros::<f32>(599);
    let graph = counted(&device.ctx, 600, 10, 1.0, &mut out, &mut other).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.set_count(600).expect("a longer grid");
    exec.set_first(5.0).expect("a value");
    exec.launch(&device.stream).expect("it launches");
    let want: Vec<f32> = (0..600).map(|i| i as f32 + 5.0).collect();
    assert_eq!(device.download(&exec.args().out), want);

    let error = exec.set_count(601).expect_err("more than there is");
    assert!(matches!(error, Error::Extent { extent: 601, len: 600, .. }), "{error:?}");
    for _ in 0..2 {
        let error = exec.set_count(0).expect_err("no items");
        assert!(matches!(error, Error::Config { .. }), "{error:?}");
    }
    let error = exec.set_out(small).expect_err("too short");
    assert!(matches!(&error, Error::TooShort { at, .. } if at.name == "out"), "{error:?}");
    assert_eq!(exec.args().count, 600);

    exec.set_out(&mut fresh).expect("another buffer");
    exec.launch(&device.stream).expect("the exec is as it was");
    assert_eq!(device.download(&exec.args().out), want);
    drop(exec);
    assert_eq!(device.download(&fresh), want);
    assert_eq!(device.download(&out), want);
}

#[cuweave::graph]
fn gridded(grid: u32, x: &mut [f32; 8]) {
    scale[(1, grid)](&mut x, 2.0, 8);
}

#[test]
fn a_refused_configuration_is_refused_again() {
    let device = alone();
    let mut x = device.upload(&ramp(8));
    let mut exec =
        gridded(&device.ctx, 8, &mut x).expect("it builds").instantiate().expect("it instantiates");
    for _ in 0..2 {
        let error = exec.set_grid(1025).expect_err("too many threads");
        assert!(matches!(error, Error::Config { .. }), "{error:?}");
    }
    exec.launch(&device.stream).expect("the exec is as it was");
    drop(exec);
    assert_eq!(device.download(&x)[7], 14.0);
}

#[cuweave::graph]
fn odd(n: u32, out: &mut [u32; n]) {
    apart::odd_numbers[per_item(n)](&mut out, n);
}

#[test]
fn a_module_is_loaded_once_and_as_long_as_it_is_used() {
    let Some(device) = simulated_alone() else { return };
    let modules = || cuweave_sim::live_objects().expect("counts").modules;
    let before = modules();
    let (mut out, mut more) = (device.zeros::<u32>(4), device.zeros::<u32>(4));
    let first = odd(&device.ctx, 4, &mut out).expect("it builds");
    assert_eq!(modules(), before + 1);
    let second = odd(&device.ctx, 4, &mut more).expect("it builds");
    let kept = apart::odd_numbers::load(&device.ctx).expect("it is loaded");
    assert_eq!(modules(), before + 1);
    let mut exec = first.instantiate().expect("it instantiates");
    exec.launch(&device.stream).expect("it launches");
    drop((exec, second));
    assert_eq!(modules(), before + 1);
    drop(kept);
    assert_eq!(modules(), before);
    assert_eq!(device.download(&out), [1, 3, 5, 7]);
}

/// A buffer's stream may be capturing: the capture is not disturbed, and the launch is refused or ordered by a
/// wait.
#[test]
fn the_owner_of_a_buffer_is_capturing() {
    let device = alone();
    let owner = device.ctx.new_stream().expect("a stream");
    let x = owner.clone_htod(&ramp(8)).expect("an upload");
    owner.synchronize().expect("all is well");
    let mut out = device.zeros::<f32>(8);
    let mut exec =
        diamond(&device.ctx, 8, &x, &mut out).expect("it builds").instantiate().expect("it instantiates");
    let capture = || {
        owner.begin_capture(sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED).expect("it captures");
    };
    let end = || {
        let flags = sys::CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
        owner.end_capture(flags).expect("the capture is as it was");
    };
    capture();
    let error = exec.launch(&device.stream).expect_err("its buffer may still be written there");
    assert!(matches!(error, Error::StreamCapturing { .. }), "{error:?}");
    end();
    exec.launch(&device.stream).expect("it launches");
    capture();
    exec.launch(&device.stream).expect("all that is pending was waited for");
    end();
    drop(exec);
    assert_eq!(device.download(&out)[2], 8.0);
}

/// The simulated driver reports the effects of a wrong plan with the user's names. The report breaks the context,
/// as a fault on a GPU does, so this runs in a separate process.
#[test]
fn a_broken_plan_is_found() {
    apart("runtime_exec::with_a_broken_plan", &[]);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn with_a_broken_plan() {
    use cuweave::__private::change_next_plan;

    let Some(device) = simulated_alone() else { return };
    let (x, mut out) = (device.upload(&ramp(8)), device.zeros::<f32>(8));
    let sound = diamond(&device.ctx, 8, &x, &mut out).expect("it builds");
    assert_eq!(cuweave_sim::take_reports().expect("reports"), []);
    drop(sound);
    // Without the edge from the copy, `scale` and the copy race.
    change_next_plan(|_, operations| {
        let copy = operations.list.position(|operation| operation.name == "copy").expect("there is one");
        for operation in operations.list.iter_mut().filter(|operation| operation.name == "scale") {
            operation.after.retain(|&before| before != copy);
        }
    });
    let mut exec =
        diamond(&device.ctx, 8, &x, &mut out).expect("it builds").instantiate().expect("it instantiates");
    let result = exec.launch(&device.stream).and_then(|()| Ok(device.stream.synchronize()?));
    let reports = cuweave_sim::take_reports().expect("reports");
    println!("{reports:#?}");
    assert!(result.is_err());
    assert!(
        reports.iter().any(|report| report.text.contains("`a`") && report.text.contains("runtime_exec.rs"))
    );
    std::mem::forget(exec);
}
