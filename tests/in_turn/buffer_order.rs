//! Conflicting uses of a `Buffer` are ordered, as the driver calls show: random programs on random streams compared
//! with a sequential evaluation, several threads, failing calls, and forgotten execs.

use std::sync::Arc;

use cudarc::driver::sys::CUresult;
use cudarc::driver::{CudaSlice, CudaStream, DriverError};
use cuweave::Buffer;
use cuweave::prelude::*;

use cuweave_testkit::device::{Device, simulated_alone as simulated};
use cuweave_testkit::timeline::{OrderedWork, named, trace};

#[cuweave::kernels("examples/kernels/memory.ptx")]
unsafe extern "ptx-kernel" {
    fn shift(x: &mut [i32; n], by: i32, n: u32);
}

/// out = x + by
#[cuweave::graph]
fn step(n: u32, by: i32, x: &[i32; n], out: &mut [i32; n]) {
    copy(&x, &mut out);
    shift[per_item(n)](&mut out, by, n);
}

const N: usize = 8;
const BUFFERS: usize = 5;

fn streams(device: &Device) -> Vec<Arc<CudaStream>> {
    let made = (0..3).map(|_| device.ctx.new_stream().expect("a stream"));
    made.chain([device.ctx.default_stream(), device.ctx.per_thread_stream()]).collect()
}

/// A linear congruential generator.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

/// The buffers that a piece of work reads, and the buffer that it writes.
type Uses = (Vec<usize>, Option<usize>);

fn is_use(work: &OrderedWork) -> bool {
    matches!(work.name.as_str(), "cuGraphLaunch" | "cuMemcpyDtoHAsync_v2" | "cuMemcpyHtoDAsync_v2")
}

fn conflict(first: &Uses, second: &Uses) -> bool {
    let written =
        |one: &Uses, other: &Uses| one.1.is_some_and(|at| other.0.contains(&at) || other.1 == Some(at));
    written(first, second) || written(second, first)
}

/// Returns the address of each buffer.
fn addresses(buffers: &[Buffer<i32>], stream: &Arc<CudaStream>) -> Vec<u64> {
    use cudarc::driver::DevicePtr;
    let address = |buffer: &Buffer<i32>| buffer.with(stream, |view| view.device_ptr(stream).0);
    buffers.iter().map(|buffer| address(buffer).expect("an address")).collect()
}

/// Asserts that conflicting uses have the order in which they were made, and that buffers are freed after their
/// uses.
fn check_order(seed: u64, work: &[OrderedWork], done: &[Uses], at: &[u64]) {
    let uses: Vec<&OrderedWork> = work.iter().filter(|work| is_use(work)).collect();
    assert_eq!(uses.len(), done.len());
    for later in 0..uses.len() {
        for earlier in 0..later {
            if conflict(&done[earlier], &done[later]) {
                assert!(
                    uses[later].is_after(uses[earlier]),
                    "seed {seed}: {:#?}\nis not behind\n{:#?}",
                    uses[later],
                    uses[earlier]
                );
            }
        }
    }
    for free in named(work, "cuMemFreeAsync") {
        let Some(freed) = at.iter().position(|&at| at == free.arguments[0]) else { continue };
        for (used, uses) in
            uses.iter().zip(done).filter(|(_, uses)| uses.0.contains(&freed) || uses.1 == Some(freed))
        {
            assert!(free.is_after(used), "seed {seed}: the free of {freed} is not behind {uses:?}");
        }
    }
}

#[test]
fn random_programs() {
    let Some(device) = simulated() else { return };
    for seed in 0..60 {
        let mut random = Random(seed);
        let streams = streams(&device);
        let few = 1 + random.below(streams.len());
        let streams = &streams[..few];
        let buffers: Vec<Buffer<i32>> = (0..BUFFERS)
            .map(|at| Buffer::from_host(&streams[at % few], &[at as i32; N]).expect("a buffer"))
            .collect();
        let at = addresses(&buffers, &streams[0]);
        device.ctx.synchronize().expect("all is well");
        let mut values: Vec<i32> = (0..BUFFERS as i32).collect();
        let mut done: Vec<Uses> = Vec::new();
        let pair = |random: &mut Random| {
            let x = random.below(BUFFERS);
            (x, (x + 1 + random.below(BUFFERS - 1)) % BUFFERS)
        };
        let (_, work) = trace(|| {
            let mut execs = Vec::new();
            for _ in 0..80 {
                let stream = &streams[random.below(few)];
                match random.below(12) {
                    0 => {
                        let (x, out) = pair(&mut random);
                        let by = random.below(5) as i32;
                        let graph =
                            step(&device.ctx, N as u32, by, &buffers[x], &buffers[out]).expect("it builds");
                        execs.push((graph.instantiate().expect("it instantiates"), by, x, out));
                    }
                    1 if !execs.is_empty() => {
                        let gone = execs.swap_remove(random.below(execs.len()));
                        if random.below(2) == 0 { drop(gone) } else { std::mem::forget(gone) }
                    }
                    2 if !execs.is_empty() => {
                        let index = random.below(execs.len());
                        let (exec, _, x, out) = &mut execs[index];
                        (*x, *out) = pair(&mut random);
                        exec.set_x(&buffers[*x]).expect("it is set");
                        exec.set_out(&buffers[*out]).expect("it is set");
                    }
                    3 => {
                        let read = random.below(BUFFERS);
                        let elements = buffers[read].to_host(stream).expect("a download");
                        assert_eq!(elements, [values[read]; N], "seed {seed}");
                        done.push((vec![read], None));
                    }
                    4 => {
                        let (written, value) = (random.below(BUFFERS), random.below(100) as i32);
                        buffers[written].copy_from_host(stream, &[value; N]).expect("an upload");
                        values[written] = value;
                        done.push((Vec::new(), Some(written)));
                    }
                    5 => {
                        // Use a stream other than the one passed to `with`.
                        let (read, other) = (random.below(BUFFERS), &streams[random.below(few)]);
                        let elements = buffers[read].with(stream, |view| other.clone_dtoh(&view));
                        let elements = elements.expect("it is lent").expect("a download");
                        assert_eq!(elements, [values[read]; N], "seed {seed}");
                        done.push((vec![read], None));
                    }
                    _ if !execs.is_empty() => {
                        let index = random.below(execs.len());
                        let (exec, by, x, out) = &mut execs[index];
                        exec.launch(stream).expect("it launches");
                        values[*out] = values[*x] + *by;
                        done.push((vec![*x], Some(*out)));
                    }
                    _ => {}
                }
            }
            for (buffer, value) in buffers.iter().zip(&values) {
                assert_eq!(buffer.to_host(&streams[0]).expect("a download"), [*value; N], "seed {seed}");
            }
            drop(execs);
            drop(buffers);
        });
        done.extend((0..BUFFERS).map(|read| (vec![read], None)));
        check_order(seed, &work, &done, &at);
        device.ctx.synchronize().expect("all is well");
        assert!(device.ctx.check_err().is_ok());
    }
    let reports = cuweave_sim::take_reports().expect("reports");
    assert!(reports.is_empty(), "{reports:#?}");
}

/// Work that does not conflict is not ordered.
#[test]
fn readers_run_side_by_side() {
    let Some(device) = simulated() else { return };
    let streams = streams(&device);
    let [a, b] = [&streams[0], &streams[1]];
    let (w, first, second) =
        (Buffer::from_host(a, &[1; N]), Buffer::from_host(a, &[0; N]), Buffer::from_host(b, &[0; N]));
    let (w, first, second) = (w.expect("a buffer"), first.expect("a buffer"), second.expect("a buffer"));
    let build = |out| step(&device.ctx, N as u32, 1, &w, out).expect("it builds").instantiate();
    let mut one = build(&first).expect("it instantiates");
    let mut other = build(&second).expect("it instantiates");
    device.ctx.synchronize().expect("all is well");
    let (_, work) = trace(|| {
        for _ in 0..3 {
            one.launch(a).expect("it launches");
            other.launch(b).expect("it launches");
        }
    });
    let launches = named(&work, "cuGraphLaunch");
    for (later, earlier) in [(1, 0), (3, 2), (4, 3)] {
        assert!(!launches[later].is_after(launches[earlier]), "{later} and {earlier}");
    }
}

/// An exec is launched again, after a conflicting launch on another stream and an unrelated launch on its own
/// stream.
#[test]
fn a_stream_is_come_back_to() {
    let Some(device) = simulated() else { return };
    let streams = streams(&device);
    let [a, b] = [&streams[0], &streams[1]];
    let buffers = [(); 5].map(|()| Buffer::from_host(a, &[0; N]).expect("a buffer"));
    let build = |from: usize, to: usize| {
        let graph = step(&device.ctx, N as u32, 1, &buffers[from], &buffers[to]).expect("it builds");
        graph.instantiate().expect("it instantiates")
    };
    let (mut reader, mut writer, mut other) = (build(0, 1), build(2, 0), build(3, 4));
    for exec in [&mut reader, &mut writer, &mut other] {
        exec.launch(a).expect("it launches");
    }
    device.ctx.synchronize().expect("all is well");
    let (_, work) = trace(|| {
        reader.launch(a).expect("it launches");
        writer.launch(b).expect("it launches");
        other.launch(a).expect("it launches");
        reader.launch(a).expect("it launches");
    });
    let launches = named(&work, "cuGraphLaunch");
    assert!(launches[1].is_after(launches[0]) && launches[3].is_after(launches[1]));
    assert!(!launches[2].is_after(launches[1]));
}

/// A buffer is freed after all uses of its views, on all streams, even if the context keeps an error.
#[test]
fn a_buffer_is_freed_after_its_views() {
    let Some(device) = simulated() else { return };
    for kept in [false, true] {
        let streams = streams(&device);
        let x = Buffer::from_host(&streams[0], &[0; N]).expect("a buffer");
        let mut targets = [1, 2].map(|at| streams[at].alloc_zeros::<i32>(N).expect("an allocation"));
        let at = addresses(std::slice::from_ref(&x), &streams[0])[0];
        device.ctx.synchronize().expect("all is well");
        let (_, work) = trace(|| {
            let [first, second] = &mut targets;
            x.with(&streams[1], |view| {
                streams[1].memcpy_dtod(&view, first).expect("a copy");
                streams[2].memcpy_dtod(&view, second).expect("a copy");
            })
            .expect("it is lent");
            if kept {
                device.ctx.record_err::<()>(Err(DriverError(CUresult::CUDA_ERROR_NOT_SUPPORTED)));
            }
            drop(x);
        });
        let frees = named(&work, "cuMemFreeAsync");
        let free = frees.iter().find(|free| free.arguments[0] == at).expect("a free");
        let copies = named(&work, "cuMemcpyDtoDAsync_v2");
        assert!(copies.len() == 2 && copies.iter().all(|copy| free.is_after(copy)), "{kept}");
        let _ = device.ctx.check_err();
    }
}

/// The per-thread default streams of two threads are different streams. The buffer is used on one of them.
#[test]
fn per_thread_streams_are_told_apart() {
    let Some(device) = simulated() else { return };
    let x = Buffer::from_host(&device.stream, &[0; N]).expect("a buffer");
    let out = Buffer::from_host(&device.stream, &[0; N]).expect("a buffer");
    let graph = step(&device.ctx, N as u32, 1, &x, &out).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    let mine = device.ctx.per_thread_stream();
    exec.launch(&mine).expect("it launches");
    exec.launch(&mine).expect("it launches");
    device.ctx.synchronize().expect("all is well");
    let (_, work) = trace(|| {
        exec.launch(&mine).expect("it launches");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                device.ctx.bind_to_thread().expect("a context");
                let theirs = device.ctx.per_thread_stream();
                let filled = x.with_mut(&theirs, |mut view| theirs.memset_zeros(&mut view));
                filled.expect("it is lent").expect("a fill");
            });
        });
        exec.launch(&mine).expect("it launches");
    });
    let launches = named(&work, "cuGraphLaunch");
    let filled = named(&work, "cuMemsetD8Async")[0];
    assert!(filled.is_after(launches[0]) && launches[1].is_after(filled));
}

#[test]
fn two_threads() {
    let Some(device) = simulated() else { return };
    let x = Buffer::from_host(&device.stream, &[0; N]).expect("a buffer");
    let scratch = [(); 3].map(|()| Buffer::from_host(&device.stream, &[0; N]).expect("a buffer"));
    device.ctx.synchronize().expect("all is well");
    let mut ends = Vec::new();
    let (_, work) = trace(|| {
        std::thread::scope(|scope| {
            for scratch in &scratch {
                let (ctx, x) = (&device.ctx, &x);
                scope.spawn(move || {
                    let streams = [ctx.new_stream().expect("a stream"), ctx.per_thread_stream()];
                    // Both write x.
                    let build = |by, x, out| {
                        step(ctx, N as u32, by, x, out).expect("it builds").instantiate().expect("an exec")
                    };
                    let (mut to, mut from) = (build(0, scratch, x), build(1, scratch, x));
                    for turn in 0..60 {
                        let stream = &streams[turn % 3 / 2];
                        to.launch(stream).expect("it launches");
                        from.launch(stream).expect("it launches");
                        if turn % 16 == 7 {
                            x.to_host(stream).expect("a download");
                        }
                    }
                    std::mem::forget(from);
                });
            }
        });
        ends.push(x.to_host(&device.stream).expect("a download"));
    });
    let uses: Vec<&OrderedWork> = work.iter().filter(|work| is_use(work)).collect();
    let launches = named(&work, "cuGraphLaunch");
    assert_eq!(launches.len(), 3 * 2 * 60);
    assert_eq!(uses.len(), launches.len() + 1 + 3 * 4);
    for later in 0..uses.len() {
        for earlier in (0..later).filter(|&at| launches_at(&uses, at) || launches_at(&uses, later)) {
            assert!(uses[later].is_after(uses[earlier]), "{:#?}\n{:#?}", uses[later], uses[earlier]);
        }
    }
}

fn launches_at(uses: &[&OrderedWork], at: usize) -> bool {
    uses[at].name == "cuGraphLaunch"
}

/// Each call fails in turn: the work that is done is ordered, and no object leaks.
#[test]
fn every_call_fails() {
    let Some(device) = simulated() else { return };
    let calls = [
        "cuCtxGetCurrent",
        "cuCtxSetCurrent",
        "cuStreamIsCapturing",
        "cuStreamGetId",
        "cuStreamWaitEvent",
        "cuEventCreate",
        "cuEventRecord",
        "cuEventQuery",
        "cuEventSynchronize",
        "cuThreadExchangeStreamCaptureMode",
        "cuGraphLaunch",
        "cuMemFreeAsync",
        "cuMemsetD8Async",
    ];
    let mut struck = 0;
    for call in calls {
        for nth in 1.. {
            let streams = streams(&device);
            device.ctx.synchronize().expect("all is well");
            let before = cuweave_sim::live_objects().expect("counts");
            let made = [0, 1].map(|at| streams[at].clone_htod(&[0; N]).expect("an upload"));
            let (hit, work) = trace(|| {
                cuweave_sim::inject_fault(call, nth, 801).expect("a fault");
                scenario(&device, &streams, made);
                let hit = cuweave_sim::clear_faults().expect("faults") == 0;
                let _ = device.ctx.check_err();
                hit
            });
            assert_in_turn(&format!("{call} {nth}"), &work);
            device.ctx.synchronize().expect("all is well");
            let after = cuweave_sim::live_objects().expect("counts");
            if call != "cuMemFreeAsync" {
                assert_eq!((after.nodes, after.bytes), (before.nodes, before.bytes), "{call} {nth}");
            }
            if !hit {
                break;
            }
            struck += 1;
        }
    }
    assert!(struck > 60, "only {struck} faults struck");
}

/// Asserts that each launch and each memset comes after all previous ones, which conflict with it, and that frees
/// come after launches.
fn assert_in_turn(case: &str, work: &[OrderedWork]) {
    let uses: Vec<&OrderedWork> =
        work.iter().filter(|work| work.name == "cuGraphLaunch" || work.name == "cuMemsetD8Async").collect();
    for later in 0..uses.len() {
        for earlier in 0..later {
            assert!(
                uses[later].is_after(uses[earlier]),
                "{case}: {:#?}\nis not behind\n{:#?}",
                uses[later],
                uses[earlier]
            );
        }
    }
    for (at, free) in work.iter().enumerate().filter(|(_, work)| work.name == "cuMemFreeAsync") {
        for launch in named(&work[..at], "cuGraphLaunch") {
            assert!(free.is_after(launch), "{case}: {free:#?}\nis not behind\n{launch:#?}");
        }
    }
}

/// Two execs and the host alternately write two buffers, on several streams.
fn scenario(device: &Device, streams: &[Arc<CudaStream>], [x, out]: [CudaSlice<i32>; 2]) {
    let Ok(x) = Buffer::new(x) else { return };
    let Ok(out) = Buffer::new(out) else { return };
    let build = |x, out| {
        let built = || step(&device.ctx, N as u32, 1, x, out)?.instantiate();
        built().or_else(|_| {
            let _ = device.ctx.check_err();
            built()
        })
    };
    let (Ok(mut there), Ok(mut back)) = (build(&x, &out), build(&out, &x)) else { return };
    for stream in [&streams[0], &streams[1], &streams[1], &streams[4], &streams[3]] {
        let _ = there.launch(stream);
        let _ = device.ctx.check_err();
        let _ = back.launch(&streams[0]);
        let _ = device.ctx.check_err();
        let _ = x.with_mut(&streams[2], |mut view| streams[2].memset_zeros(&mut view));
        let _ = device.ctx.check_err();
    }
    drop(there);
    let _ = back.launch(&streams[2]);
}
