//! The host's time per node to build a graph: evaluation of lengths and launches, and `cuGraphAdd*` calls. Two
//! sides by hand make the same adds: one measures only the adds, and one the whole build, which also computes and
//! checks every length, configuration and argument. Modules are loaded on both sides, and the plan is kept from the
//! first build of that size; planning is measured separately.

#[allow(dead_code)]
#[path = "graphs/chain.rs"]
mod chain;
#[path = "graphs/chains.rs"]
mod chains;
mod common;
#[allow(dead_code)]
#[path = "graphs/joins.rs"]
mod joins;

use std::time::{Duration, Instant};

use cudarc::driver::CudaSlice;
use cuweave::GraphFn;
use cuweave_core::compile::{self, BackendOptions};
use cuweave_core::index::Vector;
use cuweave_core::ir::{DimId, Program};
use cuweave_core::order::{Functions, LoweredProgram};

use common::hand::{self, Node};
use common::table::Table;
use common::{Result, Setup, median, ratio, us};

const N: u32 = 1_024;
const LEN: u32 = 1 << 20;

/// The number of nodes and of edges.
type Size = (usize, usize);

/// Measures a build, the part of it in calls that add nodes, and the size of the graph. Drops are not timed.
macro_rules! timed {
    ($build:expr) => {{
        let start = Instant::now();
        let graph = $build;
        let time = start.elapsed();
        let report = graph.report();
        Ok(([time, graph.times().added], (report.nodes(), report.edges)))
    }};
}

fn main() -> Result<()> {
    let setup = Setup::new()?;
    let (ctx, stream) = (&setup.ctx, &setup.stream);
    let module = hand::Module::load(ctx)?;
    let columns = ["work", "side", "nodes / edges", "us", "a node us", "ratio a node", "planning us", "goal"];
    let mut table = Table::new(&setup, "build_time", &columns)?;
    // Keep the modules loaded.
    let _loaded = (chain::touch::load(ctx)?, chains::produce::load(ctx)?, joins::after_all::load(ctx)?);

    let mut x = stream.alloc_zeros::<u32>(1)?;
    let address = hand::address(&x);
    let by_hand = || chain_by_hand(&module, address);
    let ours = || timed!(chain::chain(ctx, &mut x)?);
    race::<chain::chain::Args<'_>>(&setup, &mut table, "chain of 1,000", &[], by_hand, ours)?;

    let (mut a, mut b) = (stream.alloc_zeros::<u32>(32)?, stream.alloc_zeros::<u32>(32)?);
    let addresses = [hand::address(&a), hand::address(&b)];
    // Also keep the runtime's own module loaded, which has the kernel of hubs.
    let by_hand = || layers_by_hand(&module, addresses);
    let ours = || timed!(joins::w32(ctx, &mut a, &mut b)?);
    race::<joins::w32::Args<'_>>(&setup, &mut table, "8 layers of 32", &[], by_hand, ours)?;

    let buffers = || -> Result<[CudaSlice<f32>; 8]> {
        let buffers: std::result::Result<Vec<_>, _> =
            (0..8).map(|_| stream.alloc_zeros::<f32>(N as usize)).collect();
        buffers?.try_into().map_err(|_| "8 buffers".into())
    };
    let (mut xs, ts) = (buffers()?, buffers()?);
    let addresses: Vec<[u64; 2]> =
        xs.iter().zip(&ts).map(|(x, t)| [hand::address(x), hand::address(t)]).collect();
    let names = [("n", u64::from(N)), ("len", u64::from(LEN))];
    macro_rules! lowerings {
        ($($name:ident: $memory:expr,)*) => {$(
            let by_hand = || chains_by_hand(&module, &addresses, $memory);
            let work = concat!("8 chains x 32, ", stringify!($name));
            let ours = || timed!(chains::$name(ctx, N, LEN, xs.each_mut())?);
            race::<chains::$name::Args<'_>>(&setup, &mut table, work, &names, by_hand, ours)?;
        )*};
    }
    lowerings!(nodes: ByHand::Nodes, arena: ByHand::Arena, owned: ByHand::Outside,);
    table.note(
        "By hand memory is as in each lowering: an alloc and a free node for each temporary, or for all, or outside of \
         the graph. The plan is kept from the first build; planning is what it took that one. Medians.",
    )?;
    table.finish()
}

/// Builds with both sides alternately. Drops are not timed.
fn race<A: GraphFn>(
    setup: &Setup,
    table: &mut Table,
    work: &str,
    names: &[(&str, u64)],
    by_hand: impl Fn() -> Result<hand::Graph>,
    mut ours: impl FnMut() -> Result<([Duration; 2], Size)>,
) -> Result<()> {
    let program = &A::table(cuweave::__private::Token)
        .and_then(cuweave::__private::Table::get)
        .ok_or("no table")?
        .program;
    let dims = dims(program, names)?;
    let (checked, _) =
        compile::front(LoweredProgram::with_values(program.clone(), Functions::default(), &dims));
    let checked = checked.ok_or("it was checked when it was compiled")?;
    let (mut of_ours, mut of_adds) = (Vec::new(), Vec::new());
    let (mut of_hand, mut of_planning) = (Vec::new(), Vec::new());
    let (mut our_size, mut hand_size) = ((0, 0), (0, 0));
    for turn in 0..setup.scaled(103, 2) {
        let (our_time, hand_time);
        (our_time, our_size) = ours()?;
        let start = Instant::now();
        let graph = by_hand()?;
        hand_time = start.elapsed();
        hand_size = (graph.nodes, graph.edges);
        drop(graph);

        let start = Instant::now();
        let operations = compile::back(&checked, &dims, &BackendOptions::default())?;
        let planning_time = start.elapsed();
        if operations.edges() != our_size.1 {
            return Err(format!("{work}: a plan of {} edges, not {}", operations.edges(), our_size.1).into());
        }
        // The first rounds are a warm-up.
        if turn >= setup.scaled(3, 1) {
            of_ours.push(our_time[0]);
            of_adds.push(our_time[1]);
            of_hand.push(hand_time);
            of_planning.push(planning_time);
        }
    }
    let (ours, adds) = (median(&mut of_ours), median(&mut of_adds));
    let (hand, planning) = (median(&mut of_hand), median(&mut of_planning));
    let mut row = |side: &str, time: Duration, size: Size, planning: String, goal: &str| {
        let ratio = ratio(a_node(time, size.0), a_node(hand, hand_size.0));
        table.row(&[
            work.to_owned(),
            side.to_owned(),
            format!("{} / {}", size.0, size.1),
            us(time),
            format!("{:.3}", a_node(time, size.0).as_secs_f64() * 1e6),
            format!("{ratio:.2}"),
            planning,
            goal.to_owned(),
        ])
    };
    row("cuweave, adds", adds, our_size, String::new(), "<= 1.10")?;
    row("cuweave, all of the build", ours, our_size, us(planning), "")?;
    row("by hand", hand, hand_size, String::new(), "")
}

fn a_node(time: Duration, nodes: usize) -> Duration {
    Duration::from_secs_f64(time.as_secs_f64() / nodes.max(1) as f64)
}

/// Returns the values of a program's lengths and bounds, which are sums of numbers and names.
fn dims(program: &Program, names: &[(&str, u64)]) -> Result<Vector<DimId, u64>> {
    let term = |text: &str| {
        let text = text.trim();
        let named = names.iter().find(|(name, _)| *name == text).map(|(_, value)| *value);
        named.map_or_else(|| text.replace('_', "").parse(), Ok)
    };
    let value = |text: &str| {
        let terms = text.split('+').map(term).sum::<std::result::Result<u64, _>>();
        terms.map_err(|_| format!("the benchmark does not know the value of `{text}`"))
    };
    Ok(program.dims.iter().map(|text| value(text)).collect::<std::result::Result<_, String>>()?)
}

fn chain_by_hand(module: &hand::Module, x: u64) -> Result<hand::Graph> {
    let kernel = module.single(c"touch")?;
    let mut graph = hand::Graph::new()?;
    let mut last: Option<Node> = None;
    for _ in 0..1_000 {
        last = Some(graph.add(kernel, &[x], last.as_slice())?);
    }
    Ok(graph)
}

/// Uses hubs, the fastest of the hand-written forms.
fn layers_by_hand(module: &hand::Module, buffers: [u64; 2]) -> Result<hand::Graph> {
    let (kernel, hub) = (module.single(c"after_all")?, module.single(c"hub")?);
    let mut graph = hand::Graph::new()?;
    let mut before: Vec<Node> = Vec::new();
    for layer in 0..8 {
        let (from, to) = (buffers[layer % 2], buffers[(layer + 1) % 2]);
        let after = if layer == 0 { None } else { Some(graph.add(hub, &[], &before)?) };
        before.clear();
        for i in 0..32 {
            before.push(graph.add(kernel, &[from, to + 4 * i, 32], after.as_slice())?);
        }
    }
    Ok(graph)
}

/// The memory of the temporaries of the chains made by hand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ByHand {
    Nodes,
    Arena,
    Outside,
}

fn chains_by_hand(module: &hand::Module, addresses: &[[u64; 2]], memory: ByHand) -> Result<hand::Graph> {
    const BYTES: u64 = 4 * LEN as u64;
    let (produce, consume) = (module.per_item(c"produce", N)?, module.per_item(c"consume", N)?);
    let mut graph = hand::Graph::new()?;
    let arena = match memory {
        ByHand::Arena => Some(graph.add_alloc(BYTES * addresses.len() as u64, &[])?),
        ByHand::Nodes | ByHand::Outside => None,
    };
    let mut lasts = Vec::new();
    for (chain, &[x, t]) in (0..).zip(addresses) {
        let mut t = arena.map_or(t, |(_, arena)| arena + BYTES * chain);
        let mut last: Vec<Node> = arena.iter().map(|(node, _)| *node).collect();
        let mut freed: Vec<Node> = Vec::new();
        for _ in 0..32 {
            if memory == ByHand::Nodes {
                let (alloc, address) = graph.add_alloc(BYTES, &freed)?;
                t = address;
                last.push(alloc);
            }
            let produced = graph.add(produce, &[x, t, u64::from(N)], &last)?;
            let consumed = graph.add(consume, &[t, x, u64::from(N)], &[produced])?;
            last = vec![consumed];
            if memory == ByHand::Nodes {
                freed = vec![graph.add_free(t, &last)?];
            }
        }
        lasts.extend(last);
    }
    if let Some((_, arena)) = arena {
        graph.add_free(arena, &lasts)?;
    }
    Ok(graph)
}
