//! Stress tests with streams that share memory, hidden state and outputs. Missing order shows as wrong results.
//!
//! Each launch begins with a slow kernel, so that on a GPU, work that does not wait for it comes too early. The
//! simulated driver runs work when it is enqueued; there, the same programs show that nothing is refused, freed
//! twice or leaked.
//!
//! `STREAM_STRESS=small` repeats each pattern only twice, with short kernels, for tools that slow kernels down,
//! such as `compute-sanitizer --tool racecheck`.

use std::sync::{Arc, OnceLock};

use cudarc::driver::{CudaContext, CudaSlice, CudaStream};
use cuweave::Buffer;
use cuweave::prelude::*;
use cuweave_testkit::device::{Device, alone};

use crate::slow::{late, late_out, spin};

mod state {
    #[cuweave::kernels("tests/kernels/state.ptx")]
    unsafe extern "ptx-kernel" {
        pub fn state_set(value: u32);
        pub fn state_step();
        pub fn state_get(out: &mut [MaybeUninit<u32>; 1]);
    }
}

/// out = x, delayed, by way of memory that the exec owns.
#[cuweave::graph(memory = "owned")]
fn owned(n: u32, rounds: u32, x: &[f32; n], ticket: &mut [u32; 1], out: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    copy(&x, &mut h);
    let wait = spin[(1, 1)](&mut ticket, rounds);
    #[after(wait)]
    copy(&h, &mut out);
}

#[cuweave::graph]
fn set(value: u32) {
    state::state_set[(1, 1)](value);
}

/// counter = counter * 3 + 1, ten times
#[cuweave::graph]
fn ten_steps() {
    for _ in 0..10 {
        state::state_step[(1, 1)]();
    }
}

#[cuweave::graph]
fn get(out: &mut [u32; 1]) {
    state::state_get[(1, 1)](&mut out);
}

const N: u32 = 64 << 10;

fn ramp(seed: usize) -> Vec<f32> {
    (0..N as usize).map(|i| (i + seed) as f32).collect()
}

/// Returns true if the environment requests short runs.
fn small() -> bool {
    match std::env::var("STREAM_STRESS") {
        Ok(size) => {
            assert_eq!(size, "small", "`STREAM_STRESS` is `small` or not set");
            true
        }
        Err(_) => false,
    }
}

/// Returns the rounds of the slow kernel: about two milliseconds on a GPU, and 10 us in short runs.
fn rounds(device: &Device) -> u32 {
    device.scaled(if small() { 2_000 } else { 400_000 }, 3)
}

/// Returns the number of times that each pattern is repeated.
fn turns(device: &Device) -> usize {
    if small() { 2 } else { device.scaled(60, 3) }
}

struct Streams {
    all: Vec<Arc<CudaStream>>,
    ctx: Arc<CudaContext>,
}

impl Streams {
    fn new(device: &Device) -> Streams {
        static KEPT: OnceLock<(cuweave::Loaded, cuweave::Loaded)> = OnceLock::new();
        if !device.simulated {
            // The driver compiles a file at each load, which takes longer than everything else.
            KEPT.get_or_init(|| {
                (
                    spin::load(&device.ctx).expect("the kernels"),
                    state::state_set::load(&device.ctx).expect("the kernels"),
                )
            });
        }
        let made = (0..3).map(|_| device.ctx.new_stream().expect("a stream"));
        let all = made.chain([device.ctx.default_stream(), device.ctx.per_thread_stream()]).collect();
        Streams { all, ctx: device.ctx.clone() }
    }

    fn at(&self, at: usize) -> &Arc<CudaStream> {
        &self.all[at % self.all.len()]
    }

    fn data(&self, at: usize, seed: usize) -> CudaSlice<f32> {
        self.at(at).clone_htod(&ramp(seed)).expect("an upload")
    }

    fn ticket(&self) -> CudaSlice<u32> {
        self.at(0).alloc_zeros::<u32>(1).expect("an allocation")
    }
}

/// Execs with their own memory come and go on many streams, and the driver reuses the memory.
#[test]
fn owned_memory_comes_and_goes() {
    let device = alone();
    let streams = Streams::new(&device);
    let rounds = rounds(&device);
    for turn in 0..turns(&device) {
        let mut outs = Vec::new();
        for at in 0..4 {
            let (x, mut out) = (streams.data(turn + at, turn + at), streams.data(at, 0));
            let graph = owned(&streams.ctx, N, rounds, x, streams.ticket(), &mut out).expect("it builds");
            let mut exec = graph.instantiate().expect("it instantiates");
            exec.launch(streams.at(turn * 2 + at)).expect("it launches");
            exec.launch(streams.at(turn + 3 * at)).expect("it launches");
            drop(exec);
            outs.push(out);
        }
        for (at, out) in outs.iter().enumerate() {
            let read = streams.at(at + 1).clone_dtoh(out).expect("a download");
            assert_eq!(read, ramp(turn + at), "turn {turn}, exec {at}");
        }
    }
}

/// Several execs update one variable, each on different streams. Some are dropped and some are forgotten.
#[test]
fn hidden_state_is_stepped_by_many() {
    let device = alone();
    let streams = Streams::new(&device);
    let build = || ten_steps(&streams.ctx).expect("it builds").instantiate().expect("it instantiates");
    let mut setter = set(&streams.ctx, 1).expect("it builds").instantiate().expect("it instantiates");
    for turn in 0..turns(&device) {
        setter.launch(streams.at(turn)).expect("it launches");
        let mut execs = [build(), build(), build()];
        for at in 0..20 {
            execs[at % 3].launch(streams.at(turn + at)).expect("it launches");
        }
        let [first, second, third] = execs;
        drop(first);
        std::mem::forget(second);
        let mut out = streams.ticket();
        let graph = get(&streams.ctx, &mut out).expect("it builds");
        let mut reader = graph.instantiate().expect("it instantiates");
        reader.launch(streams.at(turn + 2)).expect("it launches");
        drop((reader, third));
        let expected = (0..200).fold(1_u32, |value, _| value.wrapping_mul(3).wrapping_add(1));
        assert_eq!(streams.at(turn + 1).clone_dtoh(&out).expect("a download"), [expected], "turn {turn}");
    }
}

/// A third stream reads and writes a buffer that a forgotten exec writes.
#[test]
fn forgotten_execs_are_waited_for() {
    let device = alone();
    let streams = Streams::new(&device);
    let rounds = rounds(&device);
    for turn in 0..turns(&device) {
        let x = streams.data(turn, turn);
        let (mut out, mut ticket) = (streams.data(turn + 1, 0), streams.ticket());
        let graph = late(&streams.ctx, N, rounds, &x, &mut ticket, &mut out).expect("it builds");
        let mut exec = graph.instantiate().expect("it instantiates");
        exec.launch(streams.at(turn)).expect("it launches");
        exec.launch(streams.at(turn + 2)).expect("it launches");
        std::mem::forget(exec);
        let (reader, writer) = (streams.at(turn % 3 + 3), &streams.all[(turn + 1) % 3]);
        let copy = writer.clone_dtod(&out).expect("a copy");
        writer.memcpy_htod(&ramp(9), &mut out).expect("an upload");
        assert_eq!(reader.clone_dtoh(&copy).expect("a download"), ramp(turn), "turn {turn}");
        assert_eq!(reader.clone_dtoh(&out).expect("a download"), ramp(9), "turn {turn}");
    }
}

/// Two execs move elements from buffer to buffer, delayed, with each launch on another stream. The host writes the
/// first buffer and reads the last.
#[test]
fn buffers_are_passed_on() {
    let device = alone();
    let streams = Streams::new(&device);
    let rounds = rounds(&device);
    let pipeline = |first: usize| {
        let made = |at| Buffer::new(streams.data(at, 0)).expect("a buffer");
        let buffers = [made(first), made(first + 1), made(first + 2)];
        let build = |from: &Buffer<f32>, to: &Buffer<f32>| {
            let graph = late(&streams.ctx, N, rounds, from, streams.ticket(), to).expect("it builds");
            graph.instantiate().expect("it instantiates")
        };
        let mut execs = [build(&buffers[0], &buffers[1]), build(&buffers[1], &buffers[2])];
        for turn in 0..turns(&device) {
            let at = first + turn;
            buffers[0].copy_from_host(streams.at(at), &ramp(at)).expect("an upload");
            execs[0].launch(streams.at(at + 1)).expect("it launches");
            execs[1].launch(streams.at(2 * at + 2)).expect("it launches");
            if turn % 5 == 2 {
                let gone = std::mem::replace(
                    &mut execs[turn % 2],
                    build(&buffers[turn % 2], &buffers[turn % 2 + 1]),
                );
                if turn % 2 == 0 { drop(gone) } else { std::mem::forget(gone) }
            }
            let read = buffers[2].to_host(streams.at(at + 3)).expect("a download");
            assert_eq!(read, ramp(at), "turn {turn}");
        }
    };
    std::thread::scope(|scope| {
        let pipeline = &pipeline;
        scope.spawn(move || pipeline(0));
        scope.spawn(move || pipeline(100));
    });
}

/// An output is read on two streams, with a delay on the first. Its memory is reused only after both reads.
#[test]
fn outputs_are_read_on_two_streams() {
    let device = alone();
    let streams = Streams::new(&device);
    let rounds = rounds(&device);
    let mut exec = late_out(&streams.ctx, N, rounds, streams.data(0, 1), streams.ticket())
        .expect("it builds")
        .instantiate()
        .expect("it instantiates");
    let delay = |stream: &Arc<CudaStream>| {
        let (x, out) = (streams.data(0, 0), streams.data(0, 0));
        let graph = late(&streams.ctx, N, rounds, x, streams.ticket(), out).expect("it builds");
        let mut exec = graph.instantiate().expect("it instantiates");
        exec.launch(stream).expect("it launches");
        exec
    };
    for turn in 0..turns(&device) {
        let (slow, fast) = (streams.at(turn % 2), streams.at(2 + turn % 3));
        let output = exec.launch(streams.at(turn)).expect("it launches");
        let busy = delay(slow);
        let first = slow.clone_dtod(&output.slice(..)).expect("a copy");
        let second = fast.clone_dtod(&output).expect("a copy");
        drop(output);
        let next = turn + 2;
        streams.at(0).memcpy_htod(&ramp(next), &mut exec.args_mut().x.expect("owned")).expect("an upload");
        let again = exec.launch(streams.at(turn + 1)).expect("it launches again");
        drop(busy);
        for read in [&first, &second] {
            assert_eq!(fast.clone_dtoh(read).expect("a download"), ramp(turn + 1), "turn {turn}");
        }
        drop(again);
    }
}
