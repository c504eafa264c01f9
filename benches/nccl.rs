//! Collectives of two devices in one graph, compared with the same by hand in streams, with and without a graph:
//! all-reduces of 4 KiB, parallel chains, a data-parallel training step, and a decoder whose layers are distributed
//! over the devices.
//!
//! Arguments name the parts to run: `reduces`, `chains`, `training`, `tensor`; without any, all run.
//! `--by-hand-last` creates the communicator made by hand after cuweave's. On the simulated driver, with
//! `CUWEAVE_SIM_DEVICES=2` and the stand-in for NCCL, it shows that our sides work, and those by hand if they need
//! no cuBLAS.

mod common;
#[path = "graphs/nccl.rs"]
mod graphs;
#[path = "nccl/library.rs"]
mod library;
#[path = "products/matmul.rs"]
mod matmul;
#[path = "nccl/products.rs"]
mod products;
#[path = "nccl/race.rs"]
mod race;
#[path = "models/reference.rs"]
mod reference;
#[path = "graphs/tensor.rs"]
mod spread;
#[path = "nccl/tensor.rs"]
mod tensor;
#[path = "nccl/training.rs"]
mod training;

use std::sync::Arc;

use common::hand::{self, Event};
use common::{Result, Setup};
use cudarc::driver::{CudaContext, CudaSlice, CudaStream};
use cuweave::nccl::Communicator;
use library::{F32, Nccl, SUM};
use race::{Race, Side};

/// Two devices: contexts, a stream for each, and both kinds of ranks.
pub struct Pair {
    /// The machine, and the stream of all graph launches.
    pub setup: Setup,
    /// A context for each device.
    pub contexts: [Arc<CudaContext>; 2],
    /// A stream for each device. The first is that of all launches.
    pub streams: [Arc<CudaStream>; 2],
    /// The ranks of cuweave.
    pub comm: Communicator,
    /// The ranks made by hand.
    pub nccl: Nccl,
}

impl Pair {
    /// Creates the communicators. `first` says if that made by hand comes first.
    fn new(setup: Setup, first: bool) -> Result<Pair> {
        let contexts = [setup.ctx.clone(), cuweave::context(1)?];
        let streams = [setup.stream.clone(), contexts[1].new_stream()?];
        let by_hand = || Nccl::new(&contexts, setup.driver.is_simulated());
        let early = if first { Some(by_hand()?) } else { None };
        let comm = Communicator::of_all(&contexts)?;
        let nccl = early.map_or_else(by_hand, Ok)?;
        Ok(Pair { setup, contexts, streams, comm, nccl })
    }

    /// Waits for all work on both devices.
    pub fn wait(&self) -> Result<()> {
        self.contexts.iter().rev().try_for_each(|ctx| Ok(ctx.synchronize()?))
    }

    /// Captures work that begins and ends in the stream of the first device. The second stream is forked from it
    /// and joined.
    pub fn capture(&self, work: impl FnOnce([&CudaStream; 2]) -> Result<()>) -> Result<(String, hand::Exec)> {
        let sides = [self.contexts[0].new_stream()?, self.contexts[1].new_stream()?];
        self.contexts[0].bind_to_thread()?;
        let graph = hand::capture(&sides[0], || {
            Event::new()?.order(&sides[0], &sides[1])?;
            work([&sides[0], &sides[1]])?;
            self.contexts[1].bind_to_thread()?;
            Event::new()?.order(&sides[1], &sides[0])?;
            Ok(self.contexts[0].bind_to_thread()?)
        })?;
        Ok((graph.size(), graph.instantiate()?))
    }
}

fn main() -> Result<()> {
    let setup = Setup::new()?;
    if CudaContext::device_count()? < 2 {
        println!("not run: it needs two devices");
        return Ok(());
    }
    let named: Vec<String> = std::env::args().skip(1).filter(|name| !name.starts_with("--")).collect();
    let runs = |name: &str| named.is_empty() || named.iter().any(|one| one == name);
    let first = !std::env::args().any(|argument| argument == "--by-hand-last");
    let pair = Pair::new(setup, first)?;
    let mut table = race::table(&pair.setup)?;
    if runs("reduces") {
        reduces(&pair, &mut table)?;
    }
    if runs("chains") {
        chains(&pair, &mut table)?;
    }
    if runs("tensor") {
        tensor::run(&pair, &mut table)?;
    }
    if runs("training") {
        training::run(&pair, &mut table)?;
    }
    table.note(&format!("NCCL {}.", pair.comm.version()))?;
    table.finish()
}

/// Five sequential all-reduces.
fn reduces(pair: &Pair, table: &mut common::table::Table) -> Result<()> {
    const TIMES: u32 = 5;
    for bytes in [4 << 10, 1 << 20, 64 << 20] {
        let bytes = pair.setup.scaled(bytes, 64);
        let n = bytes / 4;
        let on = |values: [f32; 2]| -> Result<[CudaSlice<f32>; 2]> {
            let send = |at: usize| pair.streams[at].clone_htod(&vec![values[at]; n as usize]);
            Ok([send(0)?, send(1)?])
        };
        // The sum of both is 0 and stays 0.
        let (mut ours, captured, streamed) = (on([1.0, 2.0])?, on([1.0, 2.0])?, on([1.0, -1.0])?);
        pair.wait()?;
        let enqueue = |of: &[CudaSlice<f32>; 2], streams: [&CudaStream; 2]| {
            let of = [0, 1].map(|at| (hand::address(&of[at]), streams[at]));
            pair.nccl.all_reduce(&of, n as usize, F32, SUM)
        };
        let (_, graph) = pair.capture(|streams| (0..TIMES).try_for_each(|_| enqueue(&captured, streams)))?;
        let made =
            graphs::reduces(&pair.contexts, 2, TIMES, n, &pair.comm, ours.iter_mut().collect::<Vec<_>>())?;
        let size = race::size(&made.report());
        let mut exec = made.instantiate()?;
        exec.launch(&pair.streams[0])?;
        graph.launch(&pair.streams[0])?;
        pair.wait()?;
        drop(exec);
        for at in [0, 1] {
            for of in [&ours[at], &captured[at]] {
                let found = pair.streams[at].clone_dtoh(of)?;
                if found.iter().any(|&x| x != 3.0 * 16.0) {
                    return Err(format!("{bytes} B on device {at}: {:?}, not 48", found.first()).into());
                }
            }
        }
        // Infinite sums might be slower or faster than finite ones.
        let zeros = on([0.0, 0.0])?;
        let mut ours = on([0.0, 0.0])?;
        drop(graph);
        let (hand_size, graph) =
            pair.capture(|streams| (0..TIMES).try_for_each(|_| enqueue(&zeros, streams)))?;
        let made =
            graphs::reduces(&pair.contexts, 2, TIMES, n, &pair.comm, ours.iter_mut().collect::<Vec<_>>())?;
        let mut exec = made.instantiate()?;
        let mut race = Race::new(&pair.setup);
        race.add(Side::ours(
            "cuweave",
            size,
            || Ok(exec.launch(&pair.streams[0])?),
            || Ok(pair.streams[0].synchronize()?),
        ));
        race.add(Side::by_hand(
            "by hand, one graph",
            hand_size,
            || graph.launch(&pair.streams[0]),
            || Ok(pair.streams[0].synchronize()?),
        ));
        let [first, second] = [&*pair.streams[0], &*pair.streams[1]];
        race.add(Side::by_hand(
            "by hand, without a graph",
            String::new(),
            || (0..TIMES).try_for_each(|_| enqueue(&streamed, [first, second])),
            || pair.wait(),
        ));
        race.run(table, &format!("all-reduce x {TIMES} of {bytes} B"), "<= 1.02")?;
    }
    Ok(())
}

/// A chain of 20 kernels on each device, concurrently, compared with a single chain.
fn chains(pair: &Pair, table: &mut common::table::Table) -> Result<()> {
    let length = pair.setup.scaled(20, 3);
    let n = pair.setup.scaled(1 << 15, 32);
    for (label, count) in [("5 us", 2_000), ("20 us", 8_700), ("100 us", 44_500)] {
        let count = pair.setup.scaled(count, 2);
        let zeros = |at: usize| pair.streams[at].alloc_zeros::<f32>(n as usize);
        let (mut both, mut alone, by_hand) = ([zeros(0)?, zeros(1)?], [zeros(0)?], [zeros(0)?, zeros(1)?]);
        pair.wait()?;
        let one =
            graphs::chains(&pair.contexts[..1], 1, length, count, n, alone.iter_mut().collect::<Vec<_>>())?;
        let two = graphs::chains(&pair.contexts, 2, length, count, n, both.iter_mut().collect::<Vec<_>>())?;
        let sizes = [race::size(&one.report()), race::size(&two.report())];
        let (mut one, mut two) = (one.instantiate()?, two.instantiate()?);
        one.launch(&pair.streams[0])?;
        two.launch(&pair.streams[0])?;
        let (args, others) = (one.args(), two.args());
        let wanted = pair.streams[0].clone_dtoh(&args.parts[0])?;
        for at in [0, 1] {
            let found = pair.streams[at].clone_dtoh(&others.parts[at])?;
            common::agree(&format!("chain on device {at}"), &found, &wanted)?;
        }
        drop((args, others));
        let modules =
            [0, 1].map(|at| hand::Module::of(&pair.contexts[at], include_str!("kernels/launches.ptx")));
        let [first, second] = modules;
        let (first, second) = (first?, second?);
        let kernels = [first.per_item(c"turns", n)?, second.per_item(c"turns", n)?];
        pair.contexts[0].bind_to_thread()?;
        let mut graph = hand::Graph::new()?;
        let mut last = [None; 2];
        for _ in 0..length {
            for at in [0, 1] {
                let arguments = [hand::address(&by_hand[at]), count.into(), n.into()];
                last[at] = Some(graph.add(kernels[at], &arguments, last[at].as_slice())?);
            }
        }
        let hand_size = graph.size();
        let graph = graph.instantiate()?;
        let finish = || Ok(pair.streams[0].synchronize()?);
        let mut race = Race::new(&pair.setup);
        race.add(Side::ours(
            "cuweave, each device",
            sizes[1].clone(),
            || Ok(two.launch(&pair.streams[0])?),
            finish,
        ));
        race.add(Side::by_hand("by hand, each device", hand_size, || graph.launch(&pair.streams[0]), finish));
        race.add(Side::alone(
            "cuweave, one device alone",
            sizes[0].clone(),
            || Ok(one.launch(&pair.streams[0])?),
            finish,
        ));
        race.run(table, &format!("chain of {length} kernels of {label}"), "<= 1.05 of one")?;
    }
    Ok(())
}
