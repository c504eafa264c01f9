//! Random programs over one to four devices, with and without peer access, compared with a sequential evaluation.

use std::sync::Arc;

use cudarc::driver::CudaStream;
use cuweave::builder::{Builder, Handle, Memory};
use cuweave::prelude::*;
use cuweave::report::Report;
use cuweave_testkit::random::Random;

use crate::programs::kernels::{add, axpy, scale};
use crate::support::{contexts, silent, streams, with_devices};

/// The number of programs per process.
const PROGRAMS: u64 = 60;
/// The number of elements of a buffer, which has two chunks.
const LEN: usize = 96;
const CHUNK: usize = LEN / 2;

#[test]
fn random_programs_give_what_their_statements_give() {
    for (devices, seed) in [(1, "0"), (2, "0"), (2, "5"), (3, "11"), (4, "3"), (4, "8")] {
        with_devices("random::programs_run", devices, &[("CUWEAVE_SIM_SEED", seed)]);
    }
}

#[test]
fn random_programs_copy_between_devices_that_are_no_peers() {
    with_devices("random::programs_run", 3, &[("CUWEAVE_SIM_PEERS", "none"), ("CUWEAVE_SIM_SEED", "2")]);
    with_devices("random::programs_run", 4, &[("CUWEAVE_SIM_PEERS", "0-1,2-3"), ("CUWEAVE_SIM_SEED", "4")]);
}

/// A buffer: its device, its handle, and its contents in the sequential evaluation.
struct Buffer {
    device: usize,
    handle: Handle,
    values: Vec<f32>,
}

/// A part of a buffer: all of it, or a chunk.
#[derive(Clone, Copy)]
struct Part {
    buffer: usize,
    lo: usize,
    len: usize,
}

#[test]
#[ignore = "run by the tests above, in a process of its own"]
fn programs_run() {
    let contexts = contexts();
    let streams = streams(&contexts);
    let mut crossings = 0;
    for seed in 0..PROGRAMS {
        let mut random = Random::new(seed + 1000 * contexts.len() as u64);
        crossings += run(&mut random, &contexts, &streams, seed).crossings;
    }
    assert!(contexts.len() == 1 || crossings > 0, "no program crosses");
    silent();
}

/// Returns true if a device can access another device's memory, according to the simulated driver's setting.
fn are_peers(one: usize, other: usize) -> bool {
    match std::env::var("CUWEAVE_SIM_PEERS").as_deref() {
        Ok("none") => one == other,
        Ok("0-1,2-3") => one / 2 == other / 2,
        _ => true,
    }
}

fn run(
    random: &mut Random,
    contexts: &[Arc<cudarc::driver::CudaContext>],
    streams: &[Arc<CudaStream>],
    seed: u64,
) -> Report {
    let devices = contexts.len();
    let count = 2 + random.below(3usize);
    let mut arguments = Vec::new();
    for _ in 0..count {
        let device = random.below(devices);
        let values = random.floats(LEN);
        arguments.push((device, streams[device].clone_htod(&values).expect("an upload"), values));
    }
    let mut b = Builder::over(contexts, "random");
    b.memory(random.choose(&[Memory::Nodes, Memory::Arena, Memory::Owned]));
    let mut buffers: Vec<Buffer> = Vec::new();
    for (at, (device, bound, values)) in arguments.iter_mut().enumerate() {
        let handle = b.exclusive(&format!("a{at}"), LEN as u64, bound);
        buffers.push(Buffer { device: *device, handle, values: values.clone() });
    }
    for _ in 0..6 + random.below(14usize) {
        statement(random, &mut b, &mut buffers, devices);
    }
    // Every allocation must be read.
    for at in count..buffers.len() {
        let to = Part { buffer: random.below(count), lo: 0, len: LEN };
        let from = Part { buffer: at, ..to };
        copy(&mut b, &mut buffers, random.below(devices), from, to);
    }
    let graph = b.build().unwrap_or_else(|error| panic!("program {seed}: {error}"));
    let mut exec = graph.instantiate().unwrap_or_else(|error| panic!("program {seed}: {error}"));
    exec.launch(&streams[0]).unwrap_or_else(|error| panic!("program {seed}: {error}"));
    let report = exec.report();
    drop(exec);
    for (at, (device, bound, _)) in arguments.iter().enumerate() {
        let found = streams[*device].clone_dtoh(bound).expect("a download");
        assert_eq!(found, buffers[at].values, "program {seed}, argument {at}, on device {device}");
    }
    report
}

fn view(buffers: &[Buffer], part: Part) -> cuweave::builder::View {
    let handle = buffers[part.buffer].handle;
    handle.range(part.lo as u64, (part.lo + part.len) as u64)
}

fn values(buffers: &[Buffer], part: Part) -> Vec<f32> {
    buffers[part.buffer].values[part.lo..part.lo + part.len].to_vec()
}

fn set(buffers: &mut [Buffer], part: Part, new: &[f32]) {
    buffers[part.buffer].values[part.lo..part.lo + part.len].copy_from_slice(new);
}

fn copy(b: &mut Builder<'_>, buffers: &mut [Buffer], device: usize, from: Part, to: Part) {
    b.on(device as u32).copy(view(buffers, from).read(), view(buffers, to).write()).expect("a copy");
    let new = values(buffers, from);
    set(buffers, to, &new);
}

/// Adds a random statement and evaluates it.
fn statement(random: &mut Random, b: &mut Builder<'_>, buffers: &mut Vec<Buffer>, devices: usize) {
    let device = random.below(devices);
    let len = random.choose(&[LEN, CHUNK]);
    let lo = |random: &mut Random| if len == LEN { 0 } else { random.choose(&[0, CHUNK]) };
    let any = |random: &mut Random, buffers: &[Buffer]| {
        let buffer = random.below(buffers.len());
        Part { buffer, lo: lo(random), len }
    };
    let near: Vec<usize> = (0..buffers.len()).filter(|&at| are_peers(device, buffers[at].device)).collect();
    let one = |random: &mut Random| {
        let lo = lo(random);
        (!near.is_empty()).then(|| Part { buffer: random.choose(&near), lo, len })
    };
    let (n, grid) = (len as u32, per_item(len as u32));
    match random.below(6u32) {
        0 => {
            let handle = b.on(device as u32).alloc::<f32>(LEN as u64);
            let value = random.float();
            b.on(device as u32).fill(handle.write(), value).expect("a fill");
            buffers.push(Buffer { device, handle, values: vec![value; LEN] });
        }
        1 => {
            let Some(to) = one(random) else { return };
            let value = random.float();
            b.on(device as u32).fill(view(buffers, to).write(), value).expect("a fill");
            set(buffers, to, &vec![value; len]);
        }
        2 => {
            let (from, to) = (any(random, buffers), any(random, buffers));
            if from.buffer != to.buffer {
                copy(b, buffers, device, from, to);
            }
        }
        3 => {
            let Some(to) = one(random) else { return };
            let a = random.float();
            b.on(device as u32).launch(scale {}, grid, (view(buffers, to).write(), a, n)).expect("a launch");
            let new: Vec<f32> = values(buffers, to).iter().map(|x| x * a).collect();
            set(buffers, to, &new);
        }
        4 => {
            let (Some(from), Some(to)) = (one(random), one(random)) else { return };
            if from.buffer == to.buffer {
                return;
            }
            let arguments = (2.0f32, view(buffers, from).read(), view(buffers, to).write(), n);
            b.on(device as u32).launch(axpy {}, grid, arguments).expect("a launch");
            let x = values(buffers, from);
            let new: Vec<f32> = values(buffers, to).iter().zip(x).map(|(y, x)| y + 2.0 * x).collect();
            set(buffers, to, &new);
        }
        _ => {
            let (Some(x), Some(y), Some(to)) = (one(random), one(random), one(random)) else { return };
            if to.buffer == x.buffer || to.buffer == y.buffer {
                return;
            }
            let (x, y) = (Part { lo: x.lo, ..x }, Part { lo: y.lo, ..y });
            let arguments = (view(buffers, x).read(), view(buffers, y).read(), view(buffers, to).write(), n);
            b.on(device as u32).launch(add {}, grid, arguments).expect("a launch");
            let (x, y) = (values(buffers, x), values(buffers, y));
            let new: Vec<f32> = x.iter().zip(y).map(|(x, y)| x + y).collect();
            set(buffers, to, &new);
        }
    }
}
