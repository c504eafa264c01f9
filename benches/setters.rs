//! Sets an argument that k nodes use, and launches the graph, compared with k node updates by hand. Then sets a
//! scalar that moves the ranges of 22 nodes, like the position in a cache.

mod common;
#[path = "graphs/users.rs"]
mod graphs;

use common::hand::{self, Node};
use common::table::Table;
use common::{Race, Result, Setup, Until};

fn main() -> Result<()> {
    let setup = Setup::new()?;
    let (ctx, stream) = (&setup.ctx, &setup.stream);
    let module = hand::Module::load(ctx)?;
    let kernel = module.single(c"after_all")?;
    let mut table = Table::of_races(&setup, "setters")?;
    let inputs = &[stream.alloc_zeros::<u32>(1)?, stream.alloc_zeros::<u32>(1)?];
    let addresses = [hand::address(&inputs[0]), hand::address(&inputs[1])];
    let own = stream.alloc_zeros::<u32>(1)?;
    stream.synchronize()?;

    macro_rules! users {
        ($($name:ident $k:literal)*) => {$(
            for (what, until) in
                [("set, launch and sync", Until::Synchronized), ("set and launch, on the host", Until::Returned)]
            {
                let graph = graphs::$name(ctx, &inputs[0], stream.alloc_zeros::<u32>(1)?)?;
                let report = graph.report();
                let mut ours = graph.instantiate()?;
                let (by_hand, nodes) = hand_users(kernel, $k, addresses[0], hand::address(&own))?;
                let sizes = [format!("{} / {}", report.nodes(), report.edges), by_hand.size()];
                let by_hand = by_hand.instantiate()?;

                let mut race = Race::new(until, 50);
                let mut turn = 0;
                race.ours("cuweave", move |stream| {
                    turn = 1 - turn;
                    ours.set_x(&inputs[turn])?;
                    Ok(ours.launch(stream)?)
                });
                let (mut turn, own) = (0, hand::address(&own));
                race.by_hand("by hand", move |stream| {
                    turn = 1 - turn;
                    for &node in &nodes {
                        by_hand.set(node, kernel, &[addresses[turn], own, 1])?;
                    }
                    by_hand.launch(stream)
                });
                let goal = if until == Until::Synchronized { "<= 1.2" } else { "" };
                table.race(&format!("{} users: {what}", $k), goal, &race.run(&setup)?, &sizes)?;
            }
        )*};
    }
    users!(users_1 1 users_10 10 users_100 100 users_1000 1_000);
    for (what, until) in
        [("set and launch, on the host", Until::Returned), ("set alone, on the host", Until::Returned)]
    {
        let launched = what.contains("launch");
        let row = 64;
        let cache = stream.alloc_zeros::<u32>(ROWS * row)?;
        let own = stream.alloc_zeros::<u32>(ROWS * row)?;
        let (x, base) = (addresses[0], hand::address(&own));
        let graph = graphs::moved(ctx, row as u32, 0, &inputs[0], cache)?;
        let report = graph.report();
        let mut ours = graph.instantiate()?;
        let (by_hand, nodes) = hand_moved(kernel, x, base, row as u64)?;
        let sizes = [format!("{} / {}", report.nodes(), report.edges), by_hand.size()];
        let by_hand = by_hand.instantiate()?;
        let mut race = Race::new(until, 50);
        let mut turn = 0;
        race.ours("cuweave", move |stream| {
            turn = 1 - turn;
            ours.set_pos(turn)?;
            if launched { Ok(ours.launch(stream)?) } else { Ok(()) }
        });
        let mut turn = 0;
        race.by_hand("by hand", move |stream| {
            turn = 1 - turn;
            for (at, &node) in nodes.iter().enumerate() {
                by_hand.set(node, kernel, &moved_arguments(at, x, base, (row as u64, turn)))?;
            }
            if launched { by_hand.launch(stream) } else { Ok(()) }
        });
        table.race(&format!("a range of {ROWS} nodes: {what}"), "", &race.run(&setup)?, &sizes)?;
    }
    table.finish()
}

/// The rows of the cache in `graphs::moved`, which is also its number of nodes.
const ROWS: usize = 22;

/// Returns the arguments of a node of `graphs::moved`, whose cache has rows of `row` elements.
fn moved_arguments(at: usize, x: u64, cache: u64, (row, pos): (u64, u64)) -> [u64; 3] {
    let element = |at: usize| cache + 4 * (at as u64 * row + pos);
    [at.checked_sub(1).map_or(x, element), element(at), 1]
}

fn hand_moved(kernel: hand::Kernel, x: u64, cache: u64, row: u64) -> Result<(hand::Graph, Vec<Node>)> {
    let mut graph = hand::Graph::new()?;
    let mut nodes: Vec<Node> = Vec::with_capacity(ROWS);
    for at in 0..ROWS {
        let last = nodes.last().copied();
        nodes.push(graph.add(kernel, &moved_arguments(at, x, cache, (row, 0)), last.as_slice())?);
    }
    Ok((graph, nodes))
}

fn hand_users(kernel: hand::Kernel, k: usize, x: u64, own: u64) -> Result<(hand::Graph, Vec<Node>)> {
    let mut graph = hand::Graph::new()?;
    let mut nodes: Vec<Node> = Vec::with_capacity(k);
    for _ in 0..k {
        let last = nodes.last().copied();
        nodes.push(graph.add(kernel, &[x, own, 1], last.as_slice())?);
    }
    Ok((graph, nodes))
}
