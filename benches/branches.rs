//! 16 independent branches of 20 small kernels. Compares the compiler's graph with graphs made by hand, with
//! captures of one stream (all that stream capture offers without extra work) and of 16 streams, and with launches
//! without a graph.

mod common;
#[path = "graphs/branches.rs"]
mod graphs;

use std::sync::Arc;

use cudarc::driver::{CudaSlice, CudaStream};

use common::hand::{self, Event, Kernel, Node};
use common::table::Table;
use common::{Race, Result, Setup, Until, agree};

const N: u32 = 1_024;

fn main() -> Result<()> {
    let setup = Setup::new()?;
    let (ctx, stream) = (&setup.ctx, &setup.stream);
    let module = hand::Module::load(ctx)?;
    let kernel = module.per_item(c"tiny", N)?;
    let mut table = Table::of_races(&setup, "branches")?;
    let buffers = || -> Result<[CudaSlice<f32>; 16]> {
        let buffers: std::result::Result<Vec<_>, _> =
            (0..16).map(|_| stream.alloc_zeros::<f32>(N as usize)).collect();
        buffers?.try_into().map_err(|_| "16 buffers".into())
    };
    let xs = buffers()?;
    let addresses: Vec<u64> = xs.iter().map(hand::address).collect();
    let streams = (0..16).map(|_| ctx.new_stream()).collect::<std::result::Result<Vec<_>, _>>()?;
    let events = (0..32).map(|_| Event::new()).collect::<Result<Vec<_>>>()?;
    stream.synchronize()?;

    let by_hand = hand_branches(kernel, &addresses)?;
    let one = hand::capture(stream, || one_stream(kernel, &addresses, stream))?;
    let several = hand::capture(stream, || many_streams(kernel, &addresses, stream, &streams, &events))?;
    let graph = graphs::branches(ctx, N, buffers()?)?;
    let report = graph.report();
    let sizes = [
        format!("{} / {}", report.nodes(), report.edges),
        by_hand.size(),
        format!("{} / -", several.nodes),
        format!("{} / -", one.nodes),
    ];
    let (by_hand, one, several) = (by_hand.instantiate()?, one.instantiate()?, several.instantiate()?);
    let mut ours = graph.instantiate()?;

    by_hand.launch(stream)?;
    ours.launch(stream)?;
    agree("branches", &stream.clone_dtoh(&ours.args().xs[15])?, &stream.clone_dtoh(&xs[15])?)?;

    let mut race = Race::new(Until::Synchronized, 50);
    race.ours("cuweave", move |stream| Ok(ours.launch(stream)?));
    race.by_hand("by hand", move |stream| by_hand.launch(stream));
    race.by_hand("16 streams, captured", move |stream| several.launch(stream));
    race.by_hand("1 stream, captured", move |stream| one.launch(stream));
    race.by_hand("1 stream, launched", |stream| one_stream(kernel, &addresses, stream));
    race.by_hand("16 streams, launched", |stream| {
        many_streams(kernel, &addresses, stream, &streams, &events)
    });
    let goal = "<= 1.01, and <= 0.2 of 1 stream, captured";
    table.race("16 branches x 20", goal, &race.run(&setup)?, &sizes)?;
    table.finish()
}

fn hand_branches(kernel: Kernel, xs: &[u64]) -> Result<hand::Graph> {
    let mut graph = hand::Graph::new()?;
    for &x in xs {
        let mut last: Option<Node> = None;
        for _ in 0..20 {
            last = Some(graph.add(kernel, &[x, u64::from(N)], last.as_slice())?);
        }
    }
    Ok(graph)
}

fn one_stream(kernel: Kernel, xs: &[u64], stream: &CudaStream) -> Result<()> {
    for &x in xs {
        for _ in 0..20 {
            hand::launch(kernel, &[x, u64::from(N)], stream)?;
        }
    }
    Ok(())
}

/// Forks a stream for each branch from `stream`, and joins them again.
fn many_streams(
    kernel: Kernel,
    xs: &[u64],
    stream: &CudaStream,
    streams: &[Arc<CudaStream>],
    events: &[Event],
) -> Result<()> {
    let (forks, joins) = events.split_at(events.len() / 2);
    for (other, fork) in streams.iter().zip(forks) {
        fork.order(stream, other)?;
    }
    for _ in 0..20 {
        for (&x, other) in xs.iter().zip(streams) {
            hand::launch(kernel, &[x, u64::from(N)], other)?;
        }
    }
    for (other, join) in streams.iter().zip(joins) {
        join.order(other, stream)?;
    }
    Ok(())
}
