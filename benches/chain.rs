//! Chains of 1,000 empty kernels: the time from launch to synchronization of the compiler's graph, compared with
//! graphs made by hand. In the second chain, each kernel also reads what the previous 8 wrote, which adds edges
//! that the transitive reduction removes.

mod common;
#[path = "graphs/chain.rs"]
mod graphs;

use common::hand::{self, Node};
use common::table::Table;
use common::{Race, Result, Setup, Until};

fn main() -> Result<()> {
    let setup = Setup::new()?;
    let (ctx, stream) = (&setup.ctx, &setup.stream);
    let module = hand::Module::load(ctx)?;
    let mut table = Table::of_races(&setup, "chain")?;

    let mut x = stream.alloc_zeros::<u32>(1)?;
    let by_hand = hand_chain(module.single(c"touch")?, hand::address(&x))?;
    let graph = graphs::chain(ctx, &mut x)?;
    let sizes = [size(&graph.report()), by_hand.size()];
    let (mut ours, by_hand) = (graph.instantiate()?, by_hand.instantiate()?);
    let mut race = Race::new(Until::Synchronized, 30);
    race.ours("cuweave", move |stream| Ok(ours.launch(stream)?));
    race.by_hand("by hand", move |stream| by_hand.launch(stream));
    table.race("chain of 1,000", "<= 1.01", &race.run(&setup)?, &sizes)?;

    let mut x = stream.alloc_zeros::<u32>(1_008)?;
    let kernel = module.single(c"after_all")?;
    let reduced = hand_window(kernel, hand::address(&x), 1)?;
    let direct = hand_window(kernel, hand::address(&x), 8)?;
    let graph = graphs::window(ctx, &mut x)?;
    let sizes = [size(&graph.report()), reduced.size(), direct.size()];
    let (mut ours, reduced, direct) = (graph.instantiate()?, reduced.instantiate()?, direct.instantiate()?);
    let mut race = Race::new(Until::Synchronized, 30);
    race.ours("cuweave", move |stream| Ok(ours.launch(stream)?));
    race.by_hand("by hand, reduced", move |stream| reduced.launch(stream));
    race.by_hand("by hand, 8 edges each", move |stream| direct.launch(stream));
    table.race(
        "chain of 1,000, each reading what the 8 before it wrote",
        "<= 1.01",
        &race.run(&setup)?,
        &sizes,
    )?;
    table.finish()
}

fn size(report: &cuweave::report::Report) -> String {
    format!("{} / {}", report.nodes(), report.edges)
}

fn hand_chain(kernel: hand::Kernel, x: u64) -> Result<hand::Graph> {
    let mut graph = hand::Graph::new()?;
    let mut last: Option<Node> = None;
    for _ in 0..1_000 {
        last = Some(graph.add(kernel, &[x], last.as_slice())?);
    }
    Ok(graph)
}

fn hand_window(kernel: hand::Kernel, x: u64, edges: usize) -> Result<hand::Graph> {
    let mut graph = hand::Graph::new()?;
    let mut nodes: Vec<Node> = Vec::new();
    for i in 0..1_000 {
        let after = &nodes[nodes.len().saturating_sub(edges)..];
        let node = graph.add(kernel, &[x + 4 * i, x + 4 * (i + 8), 8], after)?;
        nodes.push(node);
    }
    Ok(graph)
}
