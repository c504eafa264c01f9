//! One argument that k nodes use is set, and the graph launched: against k updates of nodes by hand.

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
    table.finish()
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
