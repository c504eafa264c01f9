//! Invalid input, at build or launch, is an error that names the argument or the node and its line. No object
//! leaks, and an exec is unchanged.

use cudarc::driver::sys;
use cuweave::Error;
use cuweave::error::SourceLocation;
use cuweave::prelude::*;
use cuweave_testkit::device::alone;
use cuweave_testkit::process::apart;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn iota(out: &mut [MaybeUninit<f32>; n], first: f32, n: u32);
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn add(a: &[f32; n], b: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
    fn narrow(x: &mut [f32; n], a: f32, n: u32);
}

fn refused<T>(result: cuweave::Result<T>) -> Error {
    match result {
        Ok(_) => panic!("this is refused"),
        Err(error) => {
            println!("{error}");
            error
        }
    }
}

/// Checks the name and the line, in this file, that an error points at.
fn points_at(at: &SourceLocation, name: &str, line: u32) {
    assert_eq!((at.name.as_str(), at.line), (name, line));
    assert!(at.file.ends_with("runtime_bad_input.rs"), "{}", at.file);
}

const SUM: u32 = line!() + 2;
#[cuweave::graph]
fn sum(n: u32, m: u32, a: &[f32; n * m], b: &[f32; n * m - 1], out: &mut [f32; n * m]) {
    let t = alloc::<f32>(n * m);
    copy(&a, &mut t);
    scale[per_item(n * m - 1)](&mut t[1..n * m], 2.0, n * m - 1);
    add[per_item(n * m - 1)](&t[..n * m - 1], &b, &mut out[..n * m - 1], n * m - 1);
}

#[test]
fn a_buffer_that_is_too_short() {
    let device = alone();
    let (a, b, mut out) = (device.zeros::<f32>(12), device.zeros::<f32>(10), device.zeros::<f32>(12));
    let built = device.live();
    let error = refused(sum(&device.ctx, 3, 4, &a, &b, &mut out));
    let Error::TooShort { at, len: 10, needed: 11, text, .. } = &error else { panic!("{error:?}") };
    points_at(at, "b", SUM);
    assert_eq!(text, "n * m - 1");
    assert_eq!(device.live(), built);
    // A longer buffer is accepted.
    let long = device.zeros::<f32>(40);
    drop(sum(&device.ctx, 3, 4, &a, &long, &mut out).expect("at least as long"));
    assert_eq!(device.live().map(|live| live.graphs), built.map(|live| live.graphs));
}

#[test]
fn lengths_without_a_value() {
    let device = alone();
    let (a, b, mut out) = (device.zeros::<f32>(4), device.zeros::<f32>(4), device.zeros::<f32>(4));
    // 0 * m - 1 is negative. n * m with the largest values does not overflow u64, but is too long.
    let error = refused(sum(&device.ctx, 0, 4, &a, &b, &mut out));
    let Error::Size { at, text, .. } = &error else { panic!("{error:?}") };
    points_at(at, "b", SUM);
    assert_eq!(text, "n * m - 1");
    let error = refused(sum(&device.ctx, u32::MAX, u32::MAX, &a, &b, &mut out));
    assert!(matches!(error, Error::TooShort { .. }), "{error:?}");
}

const WIDE: u32 = line!() + 2;
#[cuweave::graph]
fn wide(n: u64, out: &mut [f32; 1]) {
    let t = alloc::<f32>(n * n);
    fill(&mut t, 1.0);
    copy(&t[..1], &mut out);
}

#[test]
fn sizes_that_overflow_and_memory_that_does_not_suffice() {
    let device = alone();
    let mut out = device.zeros::<f32>(1);
    let built = device.live();
    for (n, in_bytes) in [(1 << 32, false), (1 << 31, true)] {
        let error = refused(wide(&device.ctx, n, &mut out));
        let Error::Size { at, .. } = &error else { panic!("{error:?}") };
        points_at(at, "t", WIDE + 1);
        assert_eq!(error.to_string().contains("bytes"), in_bytes, "{error}");
    }
    let error = refused(wide(&device.ctx, 1 << 21, &mut out));
    let Error::Driver(failure) = &error else { panic!("{error:?}") };
    points_at(failure.at.as_ref().expect("a place"), "t", WIDE + 1);
    assert_eq!(
        (failure.call.to_string().as_str(), failure.name.as_str()),
        ("`cuGraphAddMemAllocNode`", "CUDA_ERROR_OUT_OF_MEMORY")
    );
    assert_eq!(device.live(), built);
}

const EMPTY: u32 = line!() + 2;
#[cuweave::graph]
fn empty(n: u32, k: u32, x: &[f32; n], out: &mut [f32; n]) {
    let t = alloc::<f32>(k);
    fill(&mut t, 1.0);
    scale[per_item(k)](&mut t, 1.0, k);
    copy(&x[..k], &mut out[..k]);
}

#[test]
fn zero_lengths() {
    let device = alone();
    let (x, mut out) = (device.zeros::<f32>(4), device.zeros::<f32>(4));
    let error = refused(empty(&device.ctx, 0, 1, &x, &mut out));
    let Error::ZeroLength { at, .. } = &error else { panic!("{error:?}") };
    points_at(at, "x", EMPTY);
    let error = refused(empty(&device.ctx, 4, 0, &x, &mut out));
    let Error::ZeroLength { at, .. } = &error else { panic!("{error:?}") };
    points_at(at, "t", EMPTY + 1);
}

const RANGED: u32 = line!() + 2;
#[cuweave::graph]
fn ranged(lo: u32, hi: u32, cut: u32, x: &mut [f32; 8]) {
    fill(&mut x[lo..hi], 0.0);
    let (a, b) = x.split_at_mut(cut);
    fill(&mut a, 1.0);
    fill(&mut b, 2.0);
}

#[test]
fn ranges_outside_their_buffers() {
    let device = alone();
    let mut x = device.zeros::<f32>(8);
    for (lo, hi, cut, line) in [(5, 4, 2, 1), (0, 9, 2, 1), (9, 9, 2, 1), (0, 8, 9, 3)] {
        let error = refused(ranged(&device.ctx, lo, hi, cut, &mut x));
        let Error::Range { at, buffer, len: 8, .. } = &error else { panic!("{error:?}") };
        points_at(at, "fill", RANGED + line);
        assert_eq!(buffer, "x");
    }
    for (lo, hi, cut, line) in [(3, 3, 2, 1), (0, 8, 0, 3), (0, 8, 8, 4)] {
        let error = refused(ranged(&device.ctx, lo, hi, cut, &mut x));
        let Error::ZeroLength { at, .. } = &error else { panic!("{error:?}") };
        points_at(at, "fill", RANGED + line);
    }
    drop(ranged(&device.ctx, 0, 8, 7, &mut x).expect("all in range"));
}

const NESTED: u32 = line!() + 2;
#[cuweave::graph]
fn nested(k: u32, j: u32, x: &mut [f32; 8]) {
    let (a, b) = x.split_at_mut(4);
    fill(&mut a[..k], 1.0);
    let (c, d) = b.split_at_mut(j);
    fill(&mut c, 2.0);
    fill(&mut d, 3.0);
}

#[test]
fn parts_that_leave_what_they_are_parts_of() {
    let device = alone();
    let mut x = device.zeros::<f32>(8);
    for (k, j, line, found, whole) in [(5, 2, 2, (0, 5), (0, 4)), (8, 2, 2, (0, 8), (0, 4))] {
        let error = refused(nested(&device.ctx, k, j, &mut x));
        let &Error::ViewRange { ref at, lo, hi, from, to, .. } = &error else { panic!("{error:?}") };
        points_at(at, "x", NESTED + line);
        assert_eq!(((lo, hi), (from, to)), (found, whole));
    }
    // 4 + 5 is also outside of the buffer, and that error comes first.
    assert!(matches!(refused(nested(&device.ctx, 4, 5, &mut x)), Error::Range { hi: 9, len: 8, .. }));
    let graph = nested(&device.ctx, 4, 3, &mut x).expect("all within");
    graph.instantiate().expect("it instantiates").launch(&device.stream).expect("it launches");
    assert_eq!(device.stream.clone_dtoh(&x).expect("a copy"), [1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 3.0]);
}

const SHAPED: u32 = line!() + 2;
#[cuweave::graph]
fn shaped(grid: u32, block: u32, shared: u32, items: u32, x: &mut [f32; 8]) {
    scale[(grid, block)](&mut x, 1.0, 8);
    narrow[LaunchConfig { grid_dim: (1, 1, 1), block_dim: (32, 1, 1), shared_mem_bytes: shared }](
        &mut x, 1.0, 8,
    );
    narrow[(1, 8 * items)](&mut x, 1.0, 8);
    narrow[per_item(items)](&mut x, 1.0, 8);
}

#[test]
fn configurations_that_the_device_or_the_kernel_refuses() {
    let device = alone();
    let mut x = device.zeros::<f32>(8);
    let cases = [
        (0, 32, 0, 8, 1, "the grid's x is 0"),
        (1, 0, 0, 8, 1, "the block's x is 0"),
        (1, 1025, 0, 8, 1, "the block's x is 1025"),
        (1, 32, 1 << 20, 8, 2, "1048576 bytes of dynamic"),
        (1, 32, 0, 9, 5, "a block of 72 threads"),
        (1, 32, 0, 0, 5, "the block's x is 0"),
    ];
    for (grid, block, shared, items, line, says) in cases {
        let error = refused(shaped(&device.ctx, grid, block, shared, items, &mut x));
        let Error::Config { at, reason, .. } = &error else { panic!("{error:?}") };
        assert_eq!(at.line, SHAPED + line, "{error}");
        assert!(reason.to_string().contains(says), "{reason}");
    }
    // More than 48 KiB of shared memory only have to be requested.
    drop(shaped(&device.ctx, 1, 32, 64 << 10, 8, &mut x).expect("a configuration that fits"));
}

const TAKES: u32 = line!() + 2;
#[cuweave::graph]
fn takes(n: u32, a: &[f32; 2 * n], out: &mut [f32; n]) {
    add[per_item(n)](&a[..n], &a[n + 1..], &mut out, n);
}

const COPIES: u32 = line!() + 2;
#[cuweave::graph]
fn copies(n: u32, m: u32, a: &[f32; n], out: &mut [f32; m]) {
    copy(&a, &mut out);
}

const PARTLY: u32 = line!() + 2;
#[cuweave::graph]
fn partly(n: u32, k: u32, out: &mut [f32; n]) {
    let t = alloc::<f32>(n);
    iota[per_item(k)](&mut t, 0.0, k);
    copy(&t, &mut out);
}

#[test]
fn kernels_and_copies_that_are_given_too_little() {
    let device = alone();
    let (a, mut out) = (device.zeros::<f32>(8), device.zeros::<f32>(8));
    let error = refused(takes(&device.ctx, 4, &a, &mut out));
    let Error::Extent { at, kernel, parameter, extent: 4, len: 3, .. } = &error else { panic!("{error:?}") };
    points_at(at, "add", TAKES + 1);
    assert_eq!((kernel.as_str(), parameter.as_str()), ("add", "b"));

    let error = refused(copies(&device.ctx, 8, 4, &a, &mut out));
    let Error::CopyLength { at, from: 8, to: 4, .. } = &error else { panic!("{error:?}") };
    points_at(at, "copy", COPIES + 1);

    let error = refused(partly(&device.ctx, 8, 4, &mut out));
    let Error::PartlyWritten { at, buffer, extent: 4, len: 8, .. } = &error else { panic!("{error:?}") };
    points_at(at, "iota", PARTLY + 2);
    assert_eq!(buffer, "t");
    drop(partly(&device.ctx, 8, 8, &mut out).expect("wholly written"));
}

#[cuweave::graph]
fn make(n: u32) -> [f32; n] {
    let h = alloc::<f32>(n);
    fill(&mut h, 3.0);
    h
}

const TAKE_TWO: u32 = line!() + 2;
#[cuweave::graph]
fn take_two(n: u32, a: [f32; n], b: [f32; n], out: &mut [f32; n]) {
    add[per_item(n)](&a, &b, &mut out, n);
}

const TAKE: u32 = line!() + 2;
#[cuweave::graph]
fn take(n: u32, h: [f32; n], out: &mut [f32; n]) {
    copy(&h, &mut out);
}

#[test]
fn arguments_that_overlap() {
    let device = alone();
    let mut out = device.zeros::<f32>(4);
    let producer = make(&device.ctx, 4).expect("it builds").instantiate().expect("it instantiates");
    let error = refused(take_two(&device.ctx, 4, producer.output(), producer.output(), &mut out));
    let Error::Overlap { first, second, .. } = &error else { panic!("{error:?}") };
    points_at(first, "a", TAKE_TWO);
    points_at(second, "b", TAKE_TWO);
}

#[test]
fn outputs_that_are_not_the_expected_ones() {
    let device = alone();
    let built = device.live();
    {
        let mut out = device.zeros::<f32>(4);
        let mut first = make(&device.ctx, 4).expect("it builds").instantiate().expect("it instantiates");
        let mut other = make(&device.ctx, 4).expect("it builds").instantiate().expect("it instantiates");
        let graph = take(&device.ctx, 4, first.output(), &mut out).expect("it builds");
        let mut consumer = graph.instantiate().expect("it instantiates");
        let wrong = other.launch(&device.stream).expect("it launches");
        let error = refused(consumer.launch(&device.stream, (wrong,)));
        let Error::WrongOutput { at, .. } = &error else { panic!("{error:?}") };
        points_at(at, "h", TAKE);
        // The exec is unchanged, and so is the other producer, whose output was freed.
        let right = first.launch(&device.stream).expect("it launches");
        consumer.launch(&device.stream, (right,)).expect("it takes over");
        drop(other.launch(&device.stream).expect("it launches again"));
        assert_eq!(device.stream.clone_dtoh(&consumer.args().out).expect("a copy"), [3.0; 4]);

        // Too short for the consumer, and of a dropped graph.
        let short = make(&device.ctx, 3).expect("it builds").instantiate().expect("it instantiates");
        let mut more = device.zeros::<f32>(4);
        let error = refused(take(&device.ctx, 4, short.output(), &mut more));
        assert!(matches!(error, Error::TooShort { len: 3, needed: 4, .. }), "{error:?}");
        let gone = short.output();
        drop(short);
        let error = refused(take(&device.ctx, 3, gone, &mut more));
        assert!(matches!(error, Error::WrongOutput { .. }), "{error:?}");
    }
    device.stream.synchronize().expect("all is well");
    assert_eq!(device.live(), built);
}

#[test]
fn a_stream_that_is_capturing() {
    let device = alone();
    let mut x = device.zeros::<f32>(8);
    let mut exec =
        ranged(&device.ctx, 0, 8, 4, &mut x).expect("it builds").instantiate().expect("it instantiates");
    let capturing = device.ctx.new_stream().expect("a stream");
    let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
    capturing.begin_capture(mode).expect("it captures");
    for error in [refused(exec.launch(&capturing)), refused(exec.upload(&capturing))] {
        assert!(matches!(error, Error::StreamCapturing { .. }), "{error:?}");
    }
    let flags = sys::CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    let _ = capturing.end_capture(flags);
    exec.launch(&device.stream).expect("the exec is as it was");
    drop(exec);
    assert_eq!(device.stream.clone_dtoh(&x).expect("a copy"), [1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0]);
}

/// The error comes before any call that such a driver lacks.
#[test]
fn a_driver_that_is_too_old() {
    let settings = |version| [("CUWEAVE_DRIVER", "sim"), ("CUWEAVE_SIM_VERSION", version)];
    for version in ["12.0", "12.3"] {
        let text = apart("runtime_bad_input::with_an_old_driver", &settings(version));
        let said = format!("the CUDA driver is too old: it has CUDA {version}, and 12.4 is needed");
        assert!(text.contains(&said), "{text}");
    }
    assert!(apart("runtime_bad_input::with_an_old_driver", &settings("12.4")).contains("there is a context"));
}

#[test]
#[ignore = "run by the test above, with drivers of several versions"]
fn with_an_old_driver() {
    let driver = cuweave_sim::load().expect("the simulated driver");
    match cuweave::context(0) {
        Ok(_) => println!("there is a context"),
        Err(error) => {
            println!("{error}");
            assert!(
                matches!(error, Error::DriverTooOld { found, .. } if found == driver.version()),
                "{error}"
            );
        }
    }
}

/// Needs two devices. The simulated driver has them if its setting is made before it is loaded.
#[test]
fn buffers_and_streams_of_another_context() {
    apart("runtime_bad_input::with_two_devices", &[("CUWEAVE_SIM_DEVICES", "2")]);
}

#[test]
#[ignore = "run by the test above, with two devices"]
fn with_two_devices() {
    let device = alone();
    let other = match cuweave::context(1) {
        Ok(other) => other,
        Err(error) => return println!("not run: there is no second device ({error})"),
    };
    let there = other.new_stream().expect("a stream");
    let (a, mut far) = (device.zeros::<f32>(4), there.alloc_zeros::<f32>(4).expect("an allocation"));
    let error = refused(copies(&device.ctx, 4, 4, &a, &mut far));
    let Error::OtherContext { at, .. } = &error else { panic!("{error:?}") };
    points_at(at, "out", COPIES);
    let wrong = there.alloc_zeros::<f32>(4).expect("an allocation");
    let mut out = device.zeros::<f32>(4);
    let mut exec =
        copies(&device.ctx, 4, 4, &a, &mut out).expect("it builds").instantiate().expect("it instantiates");
    for error in [refused(exec.launch(&there)), refused(exec.upload(&there))] {
        assert!(matches!(error, Error::StreamOfOtherContext { .. }), "{error:?}");
    }
    let error = refused(exec.set_a(&wrong));
    assert!(matches!(error, Error::OtherContext { .. }), "{error:?}");
    exec.launch(&device.stream).expect("the exec is as it was");
    assert!(matches!(refused(cuweave::context(7)), Error::NoDevice { ordinal: 7, count: 2, .. }));
}

#[test]
fn nothing_is_left_behind() {
    let device = alone();
    let before = device.live();
    {
        let (a, b, mut out) = (device.zeros::<f32>(12), device.zeros::<f32>(11), device.zeros::<f32>(12));
        let mut exec = sum(&device.ctx, 3, 4, &a, &b, &mut out)
            .expect("it builds")
            .instantiate()
            .expect("it instantiates");
        exec.launch(&device.stream).expect("it launches");
    }
    device.stream.synchronize().expect("all is well");
    assert_eq!(device.live(), before, "something was left behind");
}
