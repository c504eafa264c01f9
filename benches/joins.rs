//! Layers of W kernels, each of which depends on the whole previous layer. Compares the compiler's graph with
//! hand-written ones that use direct edges, empty nodes, or empty kernels as hubs.

mod common;
#[path = "graphs/joins.rs"]
mod graphs;

use std::time::Instant;

use common::hand::{self, Node};
use common::table::Table;
use common::{Race, Result, Setup, Until};

/// The nodes between two layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Join {
    Direct,
    Empty,
    Hub,
}

fn main() -> Result<()> {
    let setup = Setup::new()?;
    let (ctx, stream) = (&setup.ctx, &setup.stream);
    let module = hand::Module::load(ctx)?;
    let mut table = Table::of_races(&setup, "joins")?;
    let mut instantiated = Vec::new();

    macro_rules! widths {
        ($($name:ident $w:literal)*) => {$(
            let buffer = || stream.alloc_zeros::<u32>($w);
            let (a, b) = (buffer()?, buffer()?);
            let mut race = Race::new(Until::Synchronized, 50);
            let mut sizes = Vec::new();
            let mut times = vec![format!("W = {}:", $w)];

            let graph = graphs::$name(ctx, buffer()?, buffer()?)?;
            let report = graph.report();
            sizes.push(format!("{} / {}", report.nodes(), report.edges));
            let start = Instant::now();
            let mut exec = graph.instantiate()?;
            times.push(format!("cuweave {:.2} ms ({} hubs)", start.elapsed().as_secs_f64() * 1e3, report.hubs));
            race.ours("cuweave", move |stream| Ok(exec.launch(stream)?));

            for (name, join) in [("direct", Join::Direct), ("empty", Join::Empty), ("hub", Join::Hub)] {
                let graph = layers(&module, $w, [hand::address(&a), hand::address(&b)], join)?;
                sizes.push(graph.size());
                let start = Instant::now();
                let exec = graph.instantiate()?;
                times.push(format!("{name} {:.2} ms", start.elapsed().as_secs_f64() * 1e3));
                race.by_hand(&format!("by hand, {name}"), move |stream| exec.launch(stream));
            }
            table.race(concat!("W = ", $w), "<= 1.00", &race.run(&setup)?, &sizes)?;
            instantiated.push(times.join(" "));
        )*};
    }
    widths!(w8 8 w16 16 w32 32 w64 64 w128 128);
    table.note(&format!("to instantiate, once each: {}", instantiated.join("; ")))?;
    table.finish()
}

fn layers(module: &hand::Module, width: usize, buffers: [u64; 2], join: Join) -> Result<hand::Graph> {
    let (kernel, hub) = (module.single(c"after_all")?, module.single(c"hub")?);
    let mut graph = hand::Graph::new()?;
    let mut before: Vec<Node> = Vec::new();
    for layer in 0..8 {
        let (from, to) = (buffers[layer % 2], buffers[(layer + 1) % 2]);
        let after = match join {
            _ if layer == 0 => Vec::new(),
            Join::Direct => before,
            Join::Empty => vec![graph.add_empty(&before)?],
            Join::Hub => vec![graph.add(hub, &[], &before)?],
        };
        before = Vec::with_capacity(width);
        for i in 0..width {
            before.push(graph.add(kernel, &[from, to + 4 * i as u64, width as u64], &after)?);
        }
    }
    Ok(graph)
}
