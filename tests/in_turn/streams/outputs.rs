//! Outputs are freed, and passed to the next launch, after all of their readers.

use cudarc::driver::sys::CUstreamCaptureMode;
use cuweave_testkit::device::simulated_alone;
use cuweave_testkit::faults::NOT_SUPPORTED;
use cuweave_testkit::timeline::{named, trace};

use super::{N, assert_after, data, end_capture, keep_an_error, made, read};

#[test]
fn an_output_is_freed_after_all_of_its_readers() {
    let Some(device) = simulated_alone() else { return };
    let [a, b, c] = [device.new_stream(), device.new_stream(), device.new_stream()];
    let x = data(&a, 4);
    let mut exec = made(&device.ctx, N, &x).expect("it builds").instantiate().expect("it instantiates");
    for kept in [false, true] {
        for forgotten in [false, true] {
            device.ctx.synchronize().expect("all is well");
            let (_, work) = trace(|| {
                let mut output = exec.launch(&a).expect("it launches");
                if kept {
                    keep_an_error(&device.ctx);
                    let _ = device.ctx.check_err();
                }
                let mut target = data(&b, 0);
                for stream in [&c, &device.ctx.per_thread_stream(), &b, &b] {
                    // Each read has its own target, so that targets do not order anything.
                    let mut target = data(stream, 0);
                    stream.memcpy_dtod(&output, &mut target).expect("a copy");
                    let (from, mut to) = (output.slice(2..4), target.slice_mut(2..4));
                    stream.memcpy_dtod(&from, &mut to).expect("a copy");
                }
                c.memset_zeros(&mut output).expect("a fill");
                b.memcpy_dtod(&output, &mut target).expect("a copy");
                if kept {
                    keep_an_error(&device.ctx);
                }
                if forgotten {
                    std::mem::forget(output);
                } else {
                    drop(output);
                }
                let _ = device.ctx.check_err();
                drop(exec.launch(&b).expect("it launches again"));
            });
            let launches = named(&work, "cuGraphLaunch");
            let copies = named(&work, "cuMemcpyDtoDAsync_v2");
            let from = copies[0].arguments[1];
            let freed: Vec<_> = named(&work, "cuMemFreeAsync");
            let freed = freed.iter().find(|free| free.arguments[0] == from).expect("a free");
            let filled = named(&work, "cuMemsetD8Async");
            let filled = filled.iter().find(|fill| fill.arguments[0] == from).expect("a fill");
            let uses = copies.iter().filter(|copy| (from..from + 32).contains(&copy.arguments[1]));
            assert_eq!(uses.clone().count(), 9);
            for (at, copy) in uses.enumerate() {
                assert_after(copy, launches[0], "a reader");
                assert_after(freed, copy, "the free of what is read");
                let (first, then) = if at < 8 { (*copy, *filled) } else { (*filled, *copy) };
                assert_after(then, first, "the fill and the copy");
            }
            assert_after(freed, filled, "the free of what is filled");
            assert_after(launches[1], freed, "the next launch");
        }
    }
}

/// Each record of a use fails: the free still waits.
#[test]
fn a_use_whose_record_fails_is_waited_for() {
    let Some(device) = simulated_alone() else { return };
    let [a, b, c] = [device.new_stream(), device.new_stream(), device.new_stream()];
    let x = data(&a, 4);
    let mut exec = made(&device.ctx, N, &x).expect("it builds").instantiate().expect("it instantiates");
    for call in
        ["cuEventRecord", "cuCtxGetCurrent", "cuStreamWaitEvent", "cuEventCreate", "cuStreamIsCapturing"]
    {
        for nth in 1..12 {
            let mut targets = [data(&b, 0), data(&c, 0), data(&b, 0)];
            device.ctx.synchronize().expect("all is well");
            let (_, work) = trace(|| {
                let output = exec.launch(&a).expect("it launches");
                cuweave_sim::inject_fault(call, nth, NOT_SUPPORTED).expect("a fault");
                let _ = b.memcpy_dtod(&output, &mut targets[0]);
                let _ = c.memcpy_dtod(&output.slice(..), &mut targets[1]);
                let _ = b.memcpy_dtod(&output, &mut targets[2]);
                drop(output);
                cuweave_sim::clear_faults().expect("faults");
                let _ = device.ctx.check_err();
                drop(exec.launch(&b).expect("it launches again"));
            });
            let copies = named(&work, "cuMemcpyDtoDAsync_v2");
            let launches = named(&work, "cuGraphLaunch");
            let freed = named(&work, "cuMemFreeAsync");
            for copy in copies {
                assert_after(copy, launches[0], call);
                assert_after(freed[0], copy, call);
            }
        }
    }
}

/// Two graphs read one output on two streams and are forgotten. A single event of the output cannot represent both
/// reads.
#[test]
fn forgotten_readers_of_an_output_are_waited_for() {
    let Some(device) = simulated_alone() else { return };
    let ctx = &device.ctx;
    for captured in [false, true] {
        let [a, b, c, d] =
            [device.new_stream(), device.new_stream(), device.new_stream(), device.new_stream()];
        let x = data(&a, 1);
        let mut exec = made(ctx, N, &x).expect("it builds").instantiate().expect("it instantiates");
        let (first, second) = (data(&b, 0), data(&c, 0));
        ctx.synchronize().expect("all is well");
        let (_, work) = trace(|| {
            let mut output = exec.launch(&a).expect("it launches");
            let mut readers = [first, second].map(|out| {
                read(ctx, N, &output, out).expect("it builds").instantiate().expect("it instantiates")
            });
            for _ in 0..2 {
                for (reader, stream) in readers.iter_mut().zip([&b, &c]) {
                    reader.launch(stream).expect("it launches");
                }
            }
            std::mem::forget(readers);
            if captured {
                a.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL).expect("a capture");
                drop(output);
                drop(end_capture(&a).expect("a capture that ends"));
            } else {
                d.memset_zeros(&mut output).expect("a fill");
            }
        });
        let conflict = if captured { "cuMemFreeAsync" } else { "cuMemsetD8Async" };
        let conflicts = named(&work, conflict);
        for launch in named(&work, "cuGraphLaunch") {
            assert_after(conflicts[0], launch, conflict);
        }
    }
}

/// An output is freed after all reads through views that come from an exec to which it is bound.
#[test]
fn an_output_is_freed_after_all_reads_of_its_views() {
    let Some(device) = simulated_alone() else { return };
    let ctx = &device.ctx;
    let [a, b, c, d] = [device.new_stream(), device.new_stream(), device.new_stream(), device.new_stream()];
    let x = data(&a, 1);
    let mut exec = made(ctx, N, &x).expect("it builds").instantiate().expect("it instantiates");
    let (out, mut first, mut second) = (data(&b, 0), data(&b, 0), data(&c, 0));
    ctx.synchronize().expect("all is well");
    let (_, work) = trace(|| {
        let output = exec.launch(&a).expect("it launches");
        let mut reader =
            read(ctx, N, &output, out).expect("it builds").instantiate().expect("it instantiates");
        reader.launch(&d).expect("it launches");
        {
            let views = reader.args();
            b.memcpy_dtod(&views.x, &mut first).expect("a copy");
            c.memcpy_dtod(&views.x, &mut second).expect("a copy");
        }
        drop(reader);
        drop(output);
    });
    let copies = named(&work, "cuMemcpyDtoDAsync_v2");
    let frees = named(&work, "cuMemFreeAsync");
    let freed = frees.iter().find(|free| free.arguments[0] == copies[0].arguments[1]).expect("a free");
    assert_eq!(copies.len(), 2);
    for copy in copies {
        assert_after(freed, copy, "cuMemFreeAsync");
    }
}
