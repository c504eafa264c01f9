//! What a launch uses is ordered with everything else that uses it, on whatever streams: seen from the driver calls, each
//! of which fails in turn, with an error kept in the context before each step, and while the user's streams capture.

use std::sync::{Arc, OnceLock};

use cudarc::driver::sys::{CUgraphInstantiate_flags_enum, CUresult, CUstreamCaptureMode};
use cudarc::driver::{CudaContext, CudaSlice, CudaStream, DevicePtr, DriverError};
use cuweave::prelude::*;

use alone::{Device, device};
use process::apart;
use timeline::{Work, named, trace};

#[path = "common/alone.rs"]
mod alone;
#[path = "common/process.rs"]
mod process;
#[path = "common/timeline.rs"]
mod timeline;

#[cuweave::kernels("tests/kernels/state.ptx")]
unsafe extern "ptx-kernel" {
    fn state_set(value: u32);
    fn state_step();
    fn state_get(out: &mut [MaybeUninit<u32>; 1]);
}

#[cuweave::kernels("examples/kernels/memory.ptx")]
unsafe extern "ptx-kernel" {
    fn shift(x: &mut [i32; n], by: i32, n: u32);
}

/// A borrowed and an owned buffer are read, and two others are written.
#[cuweave::graph]
fn both(n: u32, x: &[i32; n], y: &[i32; n], out: &mut [i32; n], sum: &mut [i32; n]) {
    copy(&x, &mut out);
    copy(&y, &mut sum);
    shift[per_item(n)](&mut sum, 1, n);
}

#[cuweave::graph(memory = "owned")]
fn through(n: u32, x: &[i32; n], out: &mut [i32; n]) {
    let h = alloc::<i32>(n);
    copy(&x, &mut h);
    shift[per_item(n)](&mut h, 1, n);
    copy(&h, &mut out);
}

#[cuweave::graph]
fn made(n: u32, x: &[i32; n]) -> [i32; n] {
    let h = alloc::<i32>(n);
    copy(&x, &mut h);
    h
}

#[cuweave::graph]
fn read(n: u32, x: &[i32; n], out: &mut [i32; n]) {
    copy(&x, &mut out);
}

#[cuweave::graph]
fn down(n: u32, x: &[i32; n], out: &mut Pinned<[i32; n]>) {
    copy(&x, &mut out);
}

#[cuweave::graph]
fn taken(n: u32, h: [i32; n], out: &mut [i32; n]) {
    copy(&h, &mut out);
}

#[cuweave::graph]
fn set(value: u32) {
    state_set[(1, 1)](value);
}

#[cuweave::graph]
fn step() {
    state_step[(1, 1)]();
}

#[cuweave::graph]
fn get(out: &mut [u32; 1]) {
    state_get[(1, 1)](&mut out);
}

const N: u32 = 8;

/// The device, or nothing where driver calls cannot be looked at.
fn simulated() -> Option<Device> {
    let device = device();
    if !device.simulated {
        println!("not run: only the simulated driver tells what it was asked for");
        return None;
    }
    let _ = device.ctx.check_err();
    Some(device)
}

fn stream(device: &Device) -> Arc<CudaStream> {
    device.ctx.new_stream().expect("a stream")
}

fn data(stream: &Arc<CudaStream>, value: i32) -> CudaSlice<i32> {
    stream.clone_htod(&[value; N as usize]).expect("an upload")
}

fn address<T>(buffer: &impl DevicePtr<T>) -> u64 {
    let (address, _guard) = buffer.device_ptr(buffer.stream());
    address
}

fn assert_after(later: &Work, earlier: &Work, case: &str) {
    assert!(later.is_after(earlier), "{case}: {later:#?}\nis not behind\n{earlier:#?}");
}

#[test]
fn owned_memory_is_there_before_the_launch_and_until_it_is_over() {
    let Some(device) = simulated() else { return };
    let [a, b, c] = [stream(&device), stream(&device), device.ctx.per_thread_stream()];
    for (first, second) in [(&a, &b), (&b, &a), (&a, &c), (&c, &b)] {
        let (x, mut out) = (data(&a, 1), data(&b, 0));
        device.ctx.synchronize().expect("all is well");
        let (_, work) = trace(|| {
            for stream in [first, second] {
                let graph = through(&device.ctx, N, &x, &mut out).expect("it builds");
                let mut exec = graph.instantiate().expect("it instantiates");
                exec.launch(stream).expect("it launches");
                exec.launch(first).expect("it launches");
            }
        });
        let (made, freed) = (named(&work, "cuMemAllocAsync"), named(&work, "cuMemFreeAsync"));
        let launches = named(&work, "cuGraphLaunch");
        assert_eq!((made.len(), freed.len(), launches.len()), (2, 2, 4));
        for at in 0..2 {
            for launch in &launches[2 * at..2 * at + 2] {
                assert_after(launch, made[at], "the memory of a launch");
                assert_after(freed[at], launch, "the free of a launch's memory");
            }
        }
    }
}

/// What ends the scenario's exec.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Drop,
    Forget,
    IntoArgs,
}

/// What goes wrong, and before which step.
#[derive(Clone, Copy, Debug)]
enum Trouble<'c> {
    None,
    /// The nth of these calls fails.
    Fault(usize, &'c str, u64),
    /// The context keeps an earlier error.
    Kept(usize),
}

struct Steps<'t> {
    ctx: &'t CudaContext,
    trouble: Trouble<'t>,
    at: usize,
    struck: bool,
}

impl Steps<'_> {
    /// Does a step, again where it fails.
    fn step<T>(&mut self, mut work: impl FnMut() -> cuweave::Result<T>) -> T {
        let result = self.armed(&mut work);
        result.or_else(|_| work()).expect("a step that nothing hinders")
    }

    fn armed<T>(&mut self, work: impl FnOnce() -> T) -> T {
        match self.trouble {
            Trouble::Fault(at, call, nth) if at == self.at => {
                cuweave_sim::fail(call, nth, 801).expect("a fault")
            }
            Trouble::Kept(at) if at == self.at => {
                let error = DriverError(CUresult::CUDA_ERROR_NOT_SUPPORTED);
                self.ctx.record_err::<()>(Err(error));
            }
            _ => {}
        }
        let result = work();
        if let Trouble::Fault(at, ..) = self.trouble
            && at == self.at
        {
            self.struck = cuweave_sim::clear_faults().expect("faults") == 0;
        }
        self.at += 1;
        result
    }
}

const STEPS: usize = 9;

/// Binds, launches, looks, sets, launches elsewhere and ends. Returns whether a fault struck, and checks the order of
/// all of it.
fn scenario(device: &Device, end: End, trouble: Trouble<'_>) -> bool {
    let ctx = &device.ctx;
    let [a, b, c] = [stream(device), stream(device), stream(device)];
    let case = format!("{end:?}, {trouble:?}");
    let (mut x, mut other, mut out) = (data(&a, 1), data(&a, 5), data(&b, 0));
    let (y, sum, late) = (data(&c, 2), data(&a, 0), [7; N as usize]);
    let addresses = [address(&x), address(&y), address(&out), address(&sum), address(&other)];
    ctx.synchronize().expect("all is well");
    let mut steps = Steps { ctx, trouble, at: 0, struck: false };
    let (_, work) = trace(|| {
        // Written on streams that do not own them, right before they are bound.
        b.memcpy_htod(&late, &mut x).expect("an upload");
        c.memcpy_htod(&late, &mut other).expect("an upload");
        let mut owned = Some((y, sum));
        let graph = {
            let built = steps.armed(|| {
                let (y, sum) = owned.take().expect("buffers");
                both(ctx, N, &x, y, &mut out, sum)
            });
            match built {
                Ok(graph) => graph,
                // What was given is gone with it.
                Err(_) => return,
            }
        };
        let mut exec = match steps.armed(|| graph.instantiate()) {
            Ok(exec) => exec,
            Err(_) => return,
        };
        steps.step(|| exec.launch(&a));
        {
            let mut views = steps.armed(|| exec.args_mut());
            let _ = ctx.check_err();
            c.memcpy_htod(&late, &mut views.sum).expect("an upload");
        }
        steps.step(|| exec.launch(&b));
        steps.step(|| exec.set_x(&other));
        steps.step(|| exec.launch(&c));
        steps.step(|| exec.launch(&device.stream));
        steps.armed(|| match end {
            End::Drop => drop(exec),
            End::Forget => std::mem::forget(exec),
            End::IntoArgs => drop(exec.into_args()),
        });
        let _ = ctx.check_err();
        let mut read = [0; N as usize];
        c.memcpy_dtoh(&out, &mut read).expect("a download");
        if end != End::Forget {
            c.memcpy_htod(&late, &mut x).expect("an upload");
            b.memcpy_htod(&late, &mut other).expect("an upload");
        }
        drop((x, other, out));
    });
    check(&work, addresses, &case);
    let _ = ctx.check_err();
    ctx.synchronize().expect("all is well");
    steps.struck
}

/// Whatever touches what a launch uses, in conflict, is ordered with it.
fn check(work: &[Work], [x, y, out, sum, other]: [u64; 5], case: &str) {
    for (at, launch) in work.iter().enumerate().filter(|(_, work)| work.name == "cuGraphLaunch") {
        let conflicts = |work: &Work| {
            [x, y, other].iter().any(|&address| work.changes(address))
                || [out, sum].iter().any(|&address| work.touches(address))
                || work.name == "cuModuleUnload"
        };
        for earlier in work[..at].iter().filter(|work| conflicts(work) && work.name != "cuModuleUnload") {
            assert_after(launch, earlier, case);
        }
        for later in work[at + 1..].iter().filter(|work| conflicts(work)) {
            assert_after(later, launch, case);
        }
    }
}

/// The calls that orders are made of.
const CALLS: &[&str] = &[
    "cuCtxGetCurrent",
    "cuCtxSetCurrent",
    "cuThreadExchangeStreamCaptureMode",
    "cuStreamIsCapturing",
    "cuStreamWaitEvent",
    "cuStreamSynchronize",
    "cuEventCreate",
    "cuEventRecord",
    "cuEventQuery",
    "cuEventSynchronize",
    "cuGraphLaunch",
    "cuMemFreeAsync",
    "cuModuleUnload",
    "cuGraphExecMemcpyNodeSetParams",
];

#[test]
fn every_call_fails_in_every_step() {
    let Some(device) = simulated() else { return };
    let mut struck = 0;
    for end in [End::Drop, End::Forget, End::IntoArgs] {
        scenario(&device, end, Trouble::None);
        for step in 0..STEPS {
            scenario(&device, end, Trouble::Kept(step));
            for call in CALLS {
                let mut nth = 1;
                while scenario(&device, end, Trouble::Fault(step, call, nth)) {
                    nth += 1;
                    struck += 1;
                }
            }
        }
    }
    assert!(struck > 200, "only {struck} faults struck");
}

#[test]
fn a_third_stream_reads_what_a_forgotten_exec_writes() {
    let Some(device) = simulated() else { return };
    let [a, b, c] = [stream(&device), stream(&device), stream(&device)];
    let (x, mut out) = (data(&a, 1), data(&a, 0));
    device.ctx.synchronize().expect("all is well");
    let (_, work) = trace(|| {
        let graph = both(&device.ctx, N, &x, data(&a, 3), &mut out, data(&a, 0)).expect("it builds");
        let mut exec = graph.instantiate().expect("it instantiates");
        exec.launch(&b).expect("it launches");
        exec.launch(&a).expect("it launches");
        exec.launch(&b).expect("it launches");
        std::mem::forget(exec);
        c.clone_dtoh(&out).expect("a download")
    });
    let read = named(&work, "cuMemcpyDtoHAsync_v2");
    for launch in named(&work, "cuGraphLaunch") {
        assert_after(read[0], launch, "the read of a third stream");
    }
}

#[test]
fn hidden_state_is_ordered_between_execs() {
    let Some(device) = simulated() else { return };
    let [a, b] = [stream(&device), stream(&device)];
    let mut setter = set(&device.ctx, 1).expect("it builds").instantiate().expect("it instantiates");
    setter.launch(&a).expect("it launches");
    for fate in [End::Drop, End::Forget] {
        let out = device.stream.alloc_zeros::<u32>(1).expect("an allocation");
        device.ctx.synchronize().expect("all is well");
        let build = || step(&device.ctx).expect("it builds").instantiate().expect("it instantiates");
        let (mut first, mut second, mut reader) =
            (build(), build(), get(&device.ctx, out).expect("it builds").instantiate().expect("an exec"));
        let (_, work) = trace(|| {
            for _ in 0..2 {
                first.launch(&a).expect("it launches");
                second.launch(&b).expect("it launches");
                reader.launch(&a).expect("it launches");
            }
            match fate {
                End::Forget => std::mem::forget(first),
                _ => drop(first),
            }
            second.launch(&b).expect("it launches");
            let ctx = device.ctx.clone();
            std::thread::scope(|scope| {
                scope.spawn(|| second.launch(&ctx.per_thread_stream()).expect("it launches"));
            });
            reader.launch(&device.ctx.per_thread_stream()).expect("it launches");
            second.launch(&device.ctx.per_thread_stream()).expect("it launches");
        });
        let launches = named(&work, "cuGraphLaunch");
        assert_eq!(launches.len(), 10);
        for (at, launch) in launches.iter().enumerate() {
            for earlier in &launches[..at] {
                assert_after(launch, earlier, "a launch that shares a variable");
            }
        }
    }
    // On one stream nothing is asked.
    let mut execs =
        [(); 3].map(|()| step(&device.ctx).expect("it builds").instantiate().expect("it instantiates"));
    let waits = || cuweave_sim::calls().expect("counts").get("cuStreamWaitEvent").copied().unwrap_or(0);
    execs[0].launch(&a).expect("it launches");
    let before = waits();
    for exec in &mut execs {
        exec.launch(&a).expect("it launches");
    }
    assert_eq!(waits(), before);
}

#[test]
fn an_output_is_freed_after_all_of_its_readers() {
    let Some(device) = simulated() else { return };
    let [a, b, c] = [stream(&device), stream(&device), stream(&device)];
    let x = data(&a, 4);
    let mut exec = made(&device.ctx, N, &x).expect("it builds").instantiate().expect("it instantiates");
    for kept in [false, true] {
        for forgotten in [false, true] {
            device.ctx.synchronize().expect("all is well");
            let (_, work) = trace(|| {
                let mut output = exec.launch(&a).expect("it launches");
                if kept {
                    device.ctx.record_err::<()>(Err(DriverError(CUresult::CUDA_ERROR_NOT_SUPPORTED)));
                    let _ = device.ctx.check_err();
                }
                let mut target = data(&b, 0);
                for stream in [&c, &device.ctx.per_thread_stream(), &b, &b] {
                    // One of its own for each, by which nothing is ordered.
                    let mut target = data(stream, 0);
                    stream.memcpy_dtod(&output, &mut target).expect("a copy");
                    let (from, mut to) = (output.slice(2..4), target.slice_mut(2..4));
                    stream.memcpy_dtod(&from, &mut to).expect("a copy");
                }
                c.memset_zeros(&mut output).expect("a fill");
                b.memcpy_dtod(&output, &mut target).expect("a copy");
                if kept {
                    device.ctx.record_err::<()>(Err(DriverError(CUresult::CUDA_ERROR_NOT_SUPPORTED)));
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

/// Each record of a use fails: the free waits all the same.
#[test]
fn a_use_whose_record_fails_is_waited_for() {
    let Some(device) = simulated() else { return };
    let [a, b, c] = [stream(&device), stream(&device), stream(&device)];
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
                cuweave_sim::fail(call, nth, 801).expect("a fault");
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

const MODES: [CUstreamCaptureMode; 3] = [
    CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL,
    CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
    CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED,
];

/// Nodes in all graphs of the process.
fn nodes() -> u64 {
    cuweave_sim::live().expect("counts").nodes
}

/// Whatever ends or is looked at while a stream captures, the capture holds the user's work and nothing else.
#[test]
fn captures_are_left_alone() {
    let Some(device) = simulated() else { return };
    let ctx = &device.ctx;
    for mode in MODES {
        for what in 0..8 {
            let [a, b] = [stream(&device), stream(&device)];
            let x = data(&a, 1);
            let (mut out, mut host) = (data(&a, 0), [0; N as usize]);
            let graph = made(ctx, N, &x).expect("it builds");
            let mut producer = graph.instantiate().expect("it instantiates");
            let graph = taken(ctx, N, producer.output(), data(&b, 0)).expect("it builds");
            let mut consumer = graph.instantiate().expect("it instantiates");
            let pool = cuweave::ArenaPool::with_capacity(&a, 4096).expect("a pool");
            let graph = both(ctx, N, &x, data(&a, 1), &mut out, data(&a, 0)).expect("it builds");
            let mut exec = graph.instantiate().expect("it instantiates");
            exec.launch(&b).expect("it launches");
            let output = producer.launch(&a).expect("it launches");
            let before = nodes();
            a.begin_capture(mode).expect("a capture");
            let case = format!("{mode:?}, {what}");
            match what {
                0 => drop(output),
                1 => {
                    consumer.launch(&b, (output,)).expect("it takes over");
                    assert_eq!(nodes(), before, "{case}");
                }
                2 => {
                    let _ = exec.args_mut();
                    drop(output);
                }
                3 => {
                    drop(exec);
                    drop(output);
                }
                4 => {
                    drop(pool);
                    drop(output);
                }
                5 => {
                    // Either it is refused or nothing of the capture is touched.
                    let _ = exec.set_y(data(&b, 3));
                    drop(exec.into_args());
                    drop(output);
                }
                6 => {
                    std::mem::forget(output);
                    drop(producer.launch(&b).expect("it launches"));
                }
                _ => {
                    let read = b.clone_dtoh(&output).expect("a download");
                    assert_eq!(read, [1; N as usize]);
                    drop(output);
                    drop(producer);
                }
            }
            // The status of a capture that was broken is told by its end.
            let flags = CUgraphInstantiate_flags_enum::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
            let ended = a.end_capture(flags);
            assert!(ended.is_ok(), "{case}: {:?}", ended.err());
            drop(ended);
            let _ = b.memcpy_dtoh(&x, &mut host);
            ctx.synchronize().expect("all is well");
            let kept = ctx.check_err();
            assert!(kept.is_ok(), "{case}: {kept:?}");
        }
    }
}

/// Two graphs read one output on two streams and are forgotten: one event of the output's cannot stand for both.
#[test]
fn forgotten_readers_of_an_output_are_waited_for() {
    let Some(device) = simulated() else { return };
    let ctx = &device.ctx;
    for captured in [false, true] {
        let [a, b, c, d] = [stream(&device), stream(&device), stream(&device), stream(&device)];
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
                a.begin_capture(MODES[0]).expect("a capture");
                drop(output);
                let flags = CUgraphInstantiate_flags_enum::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
                drop(a.end_capture(flags).expect("a capture that ends"));
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

/// An output is freed after all reads of it through views that an exec which has bound it hands out.
#[test]
fn an_output_is_freed_after_all_reads_of_its_views() {
    let Some(device) = simulated() else { return };
    let ctx = &device.ctx;
    let [a, b, c, d] = [stream(&device), stream(&device), stream(&device), stream(&device)];
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

/// Borrowed pinned memory is freed behind the launch where the context holds an error, over which cudarc skips its wait.
#[test]
fn pinned_memory_outlives_the_launch_with_an_error_kept() {
    let Some(device) = simulated() else { return };
    let [a, b] = [stream(&device), stream(&device)];
    let x = data(&a, 1);
    for replaced in [false, true] {
        // SAFETY: it is written before it is read.
        #[allow(unsafe_code)]
        let [mut first, mut second] =
            [(); 2].map(|()| unsafe { device.ctx.alloc_pinned::<i32>(N as usize) }.expect("pinned memory"));
        device.ctx.synchronize().expect("all is well");
        let (_, work) = trace(|| {
            let graph = down(&device.ctx, N, &x, &mut first).expect("it builds");
            let mut exec = graph.instantiate().expect("it instantiates");
            exec.launch(&b).expect("it launches");
            if replaced {
                exec.set_out(&mut second).expect("it is set");
            }
            drop(exec);
            device.ctx.record_err::<()>(Err(DriverError(CUresult::CUDA_ERROR_NOT_SUPPORTED)));
            drop(first);
            let _ = device.ctx.check_err();
        });
        let freed = named(&work, "cuMemFreeHost");
        assert_after(freed[0], named(&work, "cuGraphLaunch")[0], "the free of pinned memory");
    }
}

/// Makes the context of another device current, once there is one.
fn elsewhere(value: u32) -> u32 {
    if let Some(other) = OTHER.get() {
        other.bind_to_thread().expect("a context");
    }
    value
}

static OTHER: OnceLock<Arc<CudaContext>> = OnceLock::new();

#[cuweave::graph(memory = "owned")]
fn switched(n: u32, by: i32, x: &[i32; elsewhere(n)], out: &mut [i32; n]) {
    let h = alloc::<i32>(elsewhere(n));
    copy(&x, &mut h);
    shift[(elsewhere(1), 32)](&mut h, by, n);
    state_set[(elsewhere(1), 1)](3);
    copy(&h, &mut out);
}

/// Expressions of the user's make another context current between the runtime's calls.
#[test]
fn expressions_may_switch_contexts() {
    if simulated().is_some() {
        apart("with_two_contexts", &[("CUWEAVE_SIM_DEVICES", "2")]);
    }
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn with_two_contexts() {
    let Some(device) = simulated() else { return };
    let other = CudaContext::new(1).expect("a second device");
    let _ = OTHER.set(other);
    let stream = stream(&device);
    let (x, mut out) = (data(&stream, 1), data(&stream, 0));
    let graph = switched(&device.ctx, N, 4, &x, &mut out).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&stream).expect("it launches");
    exec.set_by(7).expect("it is set");
    exec.launch(&stream).expect("it launches");
    drop(exec);
    assert_eq!(stream.clone_dtoh(&out).expect("a download"), [8; N as usize]);
    assert!(cuweave_sim::take_reports().expect("reports").is_empty());
}
