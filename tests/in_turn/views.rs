//! The views of `args()` and `args_mut()`, read and written on several streams. The next launch, and the free of
//! the buffer, come after all of these uses, as the driver calls show.

use std::sync::Arc;

use cudarc::driver::sys::{CUgraphInstantiate_flags_enum, CUresult, CUstreamCaptureMode};
use cudarc::driver::{CudaSlice, CudaStream, DevicePtr, DriverError};
use cuweave::prelude::*;

use cuweave_testkit::device::{Device, simulated_alone as simulated};
use cuweave_testkit::timeline::{OrderedWork, named, trace};

#[cuweave::graph]
fn step(n: u32, x: &[i32; n], out: &mut [i32; n]) {
    copy(&x, &mut out);
}

#[cuweave::graph]
fn made(n: u32, x: &[i32; n]) -> [i32; n] {
    let h = alloc::<i32>(n);
    copy(&x, &mut h);
    h
}

const N: u32 = 8;

fn streams<const COUNT: usize>(device: &Device) -> [Arc<CudaStream>; COUNT] {
    [(); COUNT].map(|()| device.ctx.new_stream().expect("a stream"))
}

fn data(stream: &Arc<CudaStream>, value: i32) -> CudaSlice<i32> {
    stream.clone_htod(&[value; N as usize]).expect("an upload")
}

fn address<T>(buffer: &impl DevicePtr<T>) -> u64 {
    let (address, _guard) = buffer.device_ptr(buffer.stream());
    address
}

fn assert_after(later: &OrderedWork, earlier: &OrderedWork, case: &str) {
    assert!(later.is_after(earlier), "{case}: {later:#?}\nis not behind\n{earlier:#?}");
}

/// Returns the work that reads from an address by device-side copies.
fn reads(work: &[OrderedWork], address: u64) -> Vec<&OrderedWork> {
    named(work, "cuMemcpyDtoDAsync_v2").into_iter().filter(|work| work.arguments[1] == address).collect()
}

fn free(work: &[OrderedWork], address: u64) -> &OrderedWork {
    named(work, "cuMemFreeAsync").into_iter().find(|work| work.arguments[0] == address).expect("a free")
}

/// The end of the exec.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Drop,
    Forget,
    IntoArgs,
    Set,
}

/// Asserts that the two reads of a buffer through views come after the first launch if it writes the buffer, before
/// the second launch if there is one, and before the free if the buffer is freed.
fn assert_reads_in_order(
    case: &str,
    work: &[OrderedWork],
    at: u64,
    (is_written, launched, freed): (bool, bool, bool),
) {
    let launches = named(work, "cuGraphLaunch");
    let uses = reads(work, at);
    assert_eq!(uses.len(), 2, "{case}");
    for read in uses {
        if is_written {
            assert_after(read, launches[0], case);
        }
        if launched && is_written {
            assert_after(launches[1], read, case);
        }
        if freed {
            assert_after(free(work, at), read, case);
        }
    }
}

/// `out` is passed by value or borrowed; `x` is passed by value, in an `Arc`, or borrowed. Both are read on two
/// streams through views, before and after a second launch.
#[test]
fn a_buffer_is_freed_after_all_reads_of_its_views() {
    let Some(device) = simulated() else { return };
    for (x_kind, out_kind) in [(0, 0), (1, 1), (2, 0), (0, 1), (2, 1)] {
        for end in [End::Drop, End::Forget, End::IntoArgs, End::Set] {
            for launched in [false, true] {
                let [a, b, c, d] = streams(&device);
                let (x, out, mut other) = (data(&a, 1), data(&a, 0), data(&a, 9));
                let mut targets = [data(&b, 0), data(&c, 0), data(&b, 0), data(&c, 0)];
                let case = format!("{x_kind}, {out_kind}, {end:?}, {launched}");
                device.ctx.synchronize().expect("all is well");
                let [x_at, out_at] = [address(&x), address(&out)];
                let (mut kept_x, mut kept_out) = (None, None);
                let (_, work) = trace(|| {
                    let shared: cuweave::bind::BoundShared<'_, i32> = match x_kind {
                        0 => cuweave::bind::BindShared::bind_shared(x),
                        1 => cuweave::bind::BindShared::bind_shared(Arc::new(x)),
                        _ => cuweave::bind::BindShared::bind_shared(&*kept_x.insert(x)),
                    };
                    let written: cuweave::bind::BoundExclusive<'_, i32> = match out_kind {
                        0 => cuweave::bind::BindMut::bind_mut(out),
                        _ => cuweave::bind::BindMut::bind_mut(kept_out.insert(out)),
                    };
                    let graph = step(&device.ctx, N, shared, written).expect("it builds");
                    let mut exec = graph.instantiate().expect("it instantiates");
                    exec.launch(&d).expect("it launches");
                    let views = exec.args();
                    for (stream, target) in [&b, &c].into_iter().zip(&mut targets) {
                        stream.memcpy_dtod(&views.x, target).expect("a copy");
                        stream.memcpy_dtod(&views.out, target).expect("a copy");
                    }
                    if launched {
                        exec.launch(&a).expect("it launches");
                    }
                    match end {
                        End::Drop => drop(exec),
                        End::Forget => std::mem::forget(exec),
                        End::IntoArgs => drop(exec.into_args()),
                        End::Set => {
                            exec.set_out(&mut other).expect("it is set");
                            exec.launch(&b).expect("it launches");
                            drop(exec);
                        }
                    }
                    drop((kept_x, kept_out));
                });
                for (at, kind) in [(x_at, x_kind), (out_at, out_kind)] {
                    let is_written = at == out_at;
                    // A forgotten exec keeps the buffers that it owns.
                    let freed = end != End::Forget || kind == if is_written { 1 } else { 2 };
                    assert_reads_in_order(&case, &work, at, (is_written, launched, freed));
                }
                assert!(device.ctx.check_err().is_ok(), "{case}");
            }
        }
    }
}

/// Two streams read one view at the same time, with both guards held.
#[test]
fn guards_of_two_streams_are_held_at_once() {
    let Some(device) = simulated() else { return };
    for borrowed in [false, true] {
        let [a, b, c] = streams(&device);
        let (x, mut out) = (data(&a, 1), data(&a, 0));
        let mut targets = [data(&b, 0), data(&c, 0)];
        device.ctx.synchronize().expect("all is well");
        let at = address(&out);
        let (_, work) = trace(|| {
            let written: cuweave::bind::BoundExclusive<'_, i32> = if borrowed {
                cuweave::bind::BindMut::bind_mut(&mut out)
            } else {
                cuweave::bind::BindMut::bind_mut(out.clone())
            };
            let mut exec =
                step(&device.ctx, N, &x, written).expect("it builds").instantiate().expect("an exec");
            exec.launch(&a).expect("it launches");
            {
                let views = exec.args();
                let early = views.out.device_ptr(&b);
                c.memcpy_dtod(&views.out, &mut targets[1]).expect("a copy");
                b.memcpy_dtod(&views.out, &mut targets[0]).expect("a copy");
                drop(early);
            }
            exec.launch(&a).expect("it launches");
        });
        let launches = named(&work, "cuGraphLaunch");
        let copies = named(&work, "cuMemcpyDtoDAsync_v2");
        let copies: Vec<_> = copies.iter().filter(|copy| !borrowed || copy.arguments[1] == at).collect();
        assert!(copies.len() >= 2);
        for copy in copies.iter().rev().take(2) {
            assert_after(launches[1], copy, &format!("borrowed: {borrowed}"));
        }
    }
}

/// Writes through a view, and through parts of it, are ordered with the launches and with reads on other streams.
#[test]
fn views_are_written_between_launches() {
    let Some(device) = simulated() else { return };
    for by_value in [false, true] {
        for forgotten in [false, true] {
            let [a, b, c, d] = streams(&device);
            let (x, mut out) = (data(&a, 1), data(&a, 0));
            let mut target = data(&d, 0);
            device.ctx.synchronize().expect("all is well");
            let at = address(&out);
            let mut kept = None;
            let case = format!("by value: {by_value}, forgotten: {forgotten}");
            let (_, work) = trace(|| {
                // Before the first launch, after a use that nothing else has recorded.
                c.memset_zeros(&mut out).expect("a fill");
                let written: cuweave::bind::BoundExclusive<'_, i32> = if by_value {
                    cuweave::bind::BindMut::bind_mut(out)
                } else {
                    cuweave::bind::BindMut::bind_mut(kept.insert(out))
                };
                let mut exec =
                    step(&device.ctx, N, &x, written).expect("it builds").instantiate().expect("an exec");
                b.memset_zeros(&mut exec.args_mut().out).expect("a fill");
                exec.launch(&a).expect("it launches");
                {
                    let mut views = exec.args_mut();
                    b.memset_zeros(&mut views.out).expect("a fill");
                    let half = views.out.as_view();
                    let half = half.try_slice(..4).expect("a part");
                    d.memcpy_dtod(&half, &mut target.slice_mut(..4)).expect("a copy");
                    c.memset_zeros(&mut views.out.try_slice_mut(..4).expect("a part")).expect("a fill");
                }
                exec.launch(&a).expect("it launches");
                b.memset_zeros(&mut exec.args_mut().out).expect("a fill");
                if forgotten {
                    std::mem::forget(exec)
                } else {
                    drop(exec)
                }
                drop(kept);
            });
            let uses: Vec<_> = work
                .iter()
                .filter(|work| {
                    work.name == "cuGraphLaunch" || work.touches(at) && work.name != "cuMemAllocAsync"
                })
                .collect();
            assert!(uses.len() >= 8, "{case}: {uses:#?}");
            for (position, later) in uses.iter().enumerate() {
                for earlier in &uses[..position] {
                    assert_after(later, earlier, &case);
                }
            }
        }
    }
}

/// A graph reads the buffer of a view on another stream, and is forgotten.
#[test]
fn a_view_is_bound_to_another_graph() {
    let Some(device) = simulated() else { return };
    for forgotten in [false, true] {
        let [a, b, c, d] = streams(&device);
        let (x, out, copy) = (data(&a, 1), data(&a, 0), data(&b, 0));
        let mut target = data(&d, 0);
        device.ctx.synchronize().expect("all is well");
        let at = address(&out);
        let (_, work) = trace(|| {
            let mut exec = step(&device.ctx, N, &x, out).expect("it builds").instantiate().expect("an exec");
            exec.launch(&a).expect("it launches");
            {
                let views = exec.args();
                d.memcpy_dtod(&views.out, &mut target).expect("a copy");
                let graph = step(&device.ctx, N, views.out, copy).expect("it builds");
                let mut reader = graph.instantiate().expect("it instantiates");
                reader.launch(&b).expect("it launches");
                if forgotten { std::mem::forget(reader) } else { drop(reader) }
            }
            c.memset_zeros(&mut exec.args_mut().out).expect("a fill");
            exec.launch(&d).expect("it launches");
            drop(exec);
        });
        let launches = named(&work, "cuGraphLaunch");
        let filled = work.iter().find(|work| work.name == "cuMemsetD8Async" && work.touches(at));
        let filled = filled.expect("a fill");
        let case = format!("forgotten: {forgotten}");
        assert_after(launches[1], launches[0], &case);
        for work in [launches[0], launches[1], reads(&work, at)[0]] {
            assert_after(filled, work, &case);
        }
        for launch in launches {
            assert_after(free(&work, at), launch, &case);
        }
        assert_after(launches_of(&work, 2), filled, &case);
    }
}

fn launches_of(work: &[OrderedWork], at: usize) -> &OrderedWork {
    named(work, "cuGraphLaunch")[at]
}

/// Views of an output do not block the host.
#[test]
fn views_of_an_output_do_not_block_the_host() {
    let Some(device) = simulated() else { return };
    let [a, b, c, d] = streams(&device);
    let x = data(&a, 1);
    let mut exec = made(&device.ctx, N, &x).expect("it builds").instantiate().expect("it instantiates");
    let (out, mut first, mut second) = (data(&b, 0), data(&b, 0), data(&c, 0));
    device.ctx.synchronize().expect("all is well");
    let count = |name: &str| cuweave_sim::call_counts().expect("counts").get(name).copied().unwrap_or(0);
    let before = count("cuCtxSynchronize");
    let (_, work) = trace(|| {
        let output = exec.launch(&a).expect("it launches");
        let mut reader =
            step(&device.ctx, N, &output, out).expect("it builds").instantiate().expect("an exec");
        reader.launch(&d).expect("it launches");
        let views = reader.args();
        b.memcpy_dtod(&views.x, &mut first).expect("a copy");
        c.memcpy_dtod(&views.x, &mut second).expect("a copy");
        drop(reader);
        drop(output);
    });
    assert_eq!(count("cuCtxSynchronize"), before);
    let copies = named(&work, "cuMemcpyDtoDAsync_v2");
    assert_eq!(copies.len(), 2);
    for copy in copies {
        assert_after(free(&work, copy.arguments[1]), copy, "the free of an output");
        assert_after(copy, launches_of(&work, 0), "a read of an output");
    }
}

/// Each call fails in turn, and the context keeps errors: work is either ordered or not done.
#[test]
fn every_call_of_a_use_fails() {
    let Some(device) = simulated() else { return };
    let calls = [
        "cuCtxGetCurrent",
        "cuStreamIsCapturing",
        "cuStreamGetId",
        "cuStreamWaitEvent",
        "cuEventCreate",
        "cuEventRecord",
        "cuEventQuery",
        "cuThreadExchangeStreamCaptureMode",
    ];
    let mut struck = 0;
    for call in calls {
        for borrowed in [false, true] {
            for nth in 1..40 {
                let [a, b, c, d] = streams(&device);
                let (x, out) = (data(&a, 1), data(&a, 0));
                let mut targets = [data(&b, 0), data(&c, 0)];
                device.ctx.synchronize().expect("all is well");
                let at = address(&out);
                let mut kept = None;
                let case = format!("{call} {nth}, borrowed: {borrowed}");
                let mut hit = false;
                let (_, work) = trace(|| {
                    let written: cuweave::bind::BoundExclusive<'_, i32> = if borrowed {
                        cuweave::bind::BindMut::bind_mut(kept.insert(out))
                    } else {
                        cuweave::bind::BindMut::bind_mut(out)
                    };
                    let graph = step(&device.ctx, N, &x, written).expect("it builds");
                    let mut exec = graph.instantiate().expect("it instantiates");
                    exec.launch(&d).expect("it launches");
                    if nth == 1 {
                        let error = DriverError(CUresult::CUDA_ERROR_NOT_SUPPORTED);
                        device.ctx.record_err::<()>(Err(error));
                    }
                    cuweave_sim::inject_fault(call, nth, 801).expect("a fault");
                    {
                        let views = exec.args();
                        let _ = device.ctx.check_err();
                        let _ = b.memcpy_dtod(&views.out, &mut targets[0]);
                        let _ = device.ctx.check_err();
                        let _ = c.memcpy_dtod(&views.out, &mut targets[1]);
                        let _ = device.ctx.check_err();
                    }
                    let _ = c.memset_zeros(&mut exec.args_mut().out);
                    let _ = device.ctx.check_err();
                    if exec.launch(&a).is_err() {
                        let _ = device.ctx.check_err();
                        exec.launch(&a).expect("it launches the second time");
                    }
                    drop(exec);
                    hit = cuweave_sim::clear_faults().expect("faults") == 0;
                    let _ = device.ctx.check_err();
                    drop(kept);
                });
                let launches = named(&work, "cuGraphLaunch");
                let uses: Vec<_> = work.iter().filter(|work| work.touches(at)).collect();
                let frees = free(&work, at);
                for used in uses.iter().filter(|work| work.name != "cuMemFreeAsync") {
                    assert_after(used, launches[0], &case);
                    assert_after(launches[1], used, &case);
                    assert_after(frees, used, &case);
                }
                assert_after(frees, launches[1], &case);
                let _ = device.ctx.check_err();
                if !hit {
                    break;
                }
                struck += 1;
            }
        }
    }
    assert!(struck > 40, "only {struck} faults struck");
}

#[test]
fn views_go_to_other_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<cuweave::bind::DeviceView<'static, f32>>();
    shared::<cuweave::bind::DeviceViewMut<'static, f32>>();
}

/// If neither the device nor the host can wait for the last launch, its buffers have no views until one of them
/// can.
#[test]
fn nothing_is_lent_that_cannot_be_waited_for() {
    let Some(device) = simulated() else { return };
    let [a, b] = streams(&device);
    let (x, mut out) = (data(&a, 1), data(&a, 0));
    let mut exec = step(&device.ctx, N, &x, &mut out).expect("it builds").instantiate().expect("an exec");
    for call in ["cuEventRecord", "cuStreamSynchronize", "cuCtxSynchronize"] {
        cuweave_sim::inject_fault(call, 1, 801).expect("a fault");
    }
    let (_, work) = trace(|| {
        assert!(exec.launch(&a).is_err(), "a launch that nothing records");
        cuweave_sim::clear_faults().expect("faults");
        cuweave_sim::inject_fault("cuCtxSynchronize", 1, 801).expect("a fault");
        {
            let views = exec.args();
            assert!(b.clone_dtoh(&views.out).is_err());
        }
        cuweave_sim::clear_faults().expect("faults");
        let _ = device.ctx.check_err();
        assert_eq!(b.clone_dtoh(&exec.args().out).expect("a download"), [1; N as usize]);
        drop(exec);
    });
    let launch = launches_of(&work, 0);
    let mut reads = named(&work, "cuMemcpyDtoHAsync_v2");
    assert_after(reads.pop().expect("a download"), launch, "the download");
    assert!(reads.is_empty(), "{reads:#?}");
    let _ = device.ctx.check_err();
}

/// A view is used on a capturing stream: the capture contains only the user's work.
#[test]
fn views_in_a_capture() {
    let Some(device) = simulated() else { return };
    let [a, b] = streams(&device);
    let (x, mut out) = (data(&a, 1), data(&a, 0));
    for borrowed in [false, true] {
        let written: cuweave::bind::BoundExclusive<'_, i32> = if borrowed {
            cuweave::bind::BindMut::bind_mut(&mut out)
        } else {
            cuweave::bind::BindMut::bind_mut(data(&a, 0))
        };
        let mut exec = step(&device.ctx, N, &x, written).expect("it builds").instantiate().expect("an exec");
        exec.launch(&a).expect("it launches");
        device.ctx.synchronize().expect("all is well");
        let before = cuweave_sim::live_objects().expect("counts").nodes;
        b.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL).expect("a capture");
        b.memset_zeros(&mut exec.args_mut().out).expect("a fill");
        assert_eq!(cuweave_sim::live_objects().expect("counts").nodes, before + 1);
        exec.launch(&a).expect("it launches");
        let flags = CUgraphInstantiate_flags_enum::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
        drop(b.end_capture(flags).expect("a capture that ends"));
        exec.launch(&b).expect("it launches");
        drop(exec);
        device.ctx.synchronize().expect("all is well");
        let kept = device.ctx.check_err();
        assert!(kept.is_ok(), "{kept:?}");
    }
}
