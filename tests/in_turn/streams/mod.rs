//! A launch is ordered with all other users of its memory, its kernels and their variables, on all streams. The
//! driver calls show the order: without faults, with each call failing in turn, with an error in the context before
//! each step, and while the user's streams capture.

mod captures;
mod contexts;
mod faults;
mod outputs;

use std::sync::Arc;

use cudarc::driver::sys::{CUgraphInstantiate_flags_enum, CUresult};
use cudarc::driver::{CudaContext, CudaGraph, CudaSlice, CudaStream, DevicePtr, DriverError};
use cuweave::prelude::*;
use cuweave_testkit::device::simulated_alone;
use cuweave_testkit::timeline::{OrderedWork, named, trace};

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

/// Reads a borrowed and an owned buffer, and writes two others.
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

fn data(stream: &Arc<CudaStream>, value: i32) -> CudaSlice<i32> {
    stream.clone_htod(&[value; N as usize]).expect("an upload")
}

fn address<T>(buffer: &impl DevicePtr<T>) -> u64 {
    let (address, _guard) = buffer.device_ptr(buffer.stream());
    address
}

/// The end of an exec.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Drop,
    Forget,
    IntoArgs,
}

/// Makes the context keep an error, as a failed call in a drop does.
fn keep_an_error(ctx: &CudaContext) {
    ctx.record_err::<()>(Err(DriverError(CUresult::CUDA_ERROR_NOT_SUPPORTED)));
}

fn end_capture(stream: &Arc<CudaStream>) -> Result<Option<CudaGraph>, DriverError> {
    stream.end_capture(CUgraphInstantiate_flags_enum::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH)
}

fn assert_after(later: &OrderedWork, earlier: &OrderedWork, case: &str) {
    assert!(later.is_after(earlier), "{case}: {later:#?}\nis not behind\n{earlier:#?}");
}

#[test]
fn owned_memory_is_there_before_the_launch_and_until_it_is_over() {
    let Some(device) = simulated_alone() else { return };
    let [a, b, c] = [device.new_stream(), device.new_stream(), device.ctx.per_thread_stream()];
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
        let calls = ["cuMemMap", "cuGraphLaunch", "cuGraphLaunch", "cuMemUnmap"];
        let used: Vec<&OrderedWork> =
            work.iter().filter(|work| calls.contains(&work.name.as_str())).collect();
        let names: Vec<&str> = used.iter().map(|work| work.name.as_str()).collect();
        assert_eq!(names, [calls, calls].concat());
        for used in used.chunks(calls.len()) {
            used[1..3]
                .iter()
                .for_each(|launch| assert_after(used[3], launch, "the end of a launch's memory"));
        }
    }
}

#[test]
fn a_third_stream_reads_what_a_forgotten_exec_writes() {
    let Some(device) = simulated_alone() else { return };
    let [a, b, c] = [device.new_stream(), device.new_stream(), device.new_stream()];
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
    let Some(device) = simulated_alone() else { return };
    let [a, b] = [device.new_stream(), device.new_stream()];
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
    // On a single stream, there are no such calls.
    let mut execs =
        [(); 3].map(|()| step(&device.ctx).expect("it builds").instantiate().expect("it instantiates"));
    let waits = || cuweave_sim::call_counts().expect("counts").get("cuStreamWaitEvent").copied().unwrap_or(0);
    execs[0].launch(&a).expect("it launches");
    let before = waits();
    for exec in &mut execs {
        exec.launch(&a).expect("it launches");
    }
    assert_eq!(waits(), before);
}

/// cudarc frees a buffer of a per-thread default stream in the default stream of the thread that drops it. A real
/// driver may not let a thread end while such a free waits for running work. So the exec that owns the buffer waits
/// first.
#[test]
fn owned_buffers_of_a_per_thread_stream_are_freed_after_the_work() {
    let Some(device) = simulated_alone() else { return };
    let waits =
        || cuweave_sim::call_counts().expect("counts").get("cuEventSynchronize").copied().unwrap_or(0);
    for (per_thread, expected) in [(false, 0), (true, 1)] {
        let owner = if per_thread { device.ctx.per_thread_stream() } else { device.new_stream() };
        let x = owner.clone_htod(&[1, 2, 3]).expect("an upload");
        let out = device.upload(&[0; 3]);
        let mut exec = read(&device.ctx, 3, x, out).expect("it builds").instantiate().expect("an exec");
        exec.launch(&device.stream).expect("it launches");
        let before = waits();
        std::thread::scope(|scope| scope.spawn(move || drop(exec)).join()).expect("no panic");
        assert_eq!(waits() - before, expected, "of a per-thread stream: {per_thread}");
    }
}
