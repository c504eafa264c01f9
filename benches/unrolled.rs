//! The host's time to build a graph of a loop that the build unrolls, beyond the driver calls that add its nodes.
//!
//! Both sides add the same nodes in turn. A *first* build has a length that no build before it had, so that nothing is
//! kept of it; a *second* has the length of the one before. The goal holds for a build of 10,000 launches: less than
//! 20 ms beyond its adds. Modules are loaded on both sides; drops are not timed.

#[path = "graphs/unrolled.rs"]
mod unrolled;

mod common;

use std::time::{Duration, Instant};

use cudarc::driver::CudaSlice;

use common::hand::{self, Node};
use common::table::Table;
use common::{Result, Setup, median};

/// The least number of elements of a row.
const LEAST: u32 = 32;

/// The times of a build: all of it, and its adds.
#[derive(Clone, Copy)]
struct Built {
    all: Duration,
    adds: Duration,
}

/// Builds a graph, times the build, and keeps the parts of it.
macro_rules! timed {
    ($build:expr) => {{
        let start = Instant::now();
        let graph = $build;
        let all = start.elapsed();
        if std::env::var_os("STAGES").is_some() {
            eprintln!("{:?} {all:?}", graph.times());
        }
        (Built { all, adds: graph.times().added }, (graph.report().nodes(), graph.report().edges))
    }};
}

type Built2 = (Built, (usize, usize));

fn main() -> Result<()> {
    let setup = Setup::new()?;
    let (ctx, stream) = (&setup.ctx, &setup.stream);
    let module = hand::Module::load(ctx)?;
    let columns = [
        "work", "nodes / edges", "by hand ms", "first ms", "its adds ms", "beyond ms", "second ms", "its adds ms",
        "beyond ms", "goal ms",
    ];
    let mut table = Table::new(&setup, "unrolled", &columns)?;
    let _loaded = unrolled::produce::load(ctx)?;
    let turns = std::env::var("TURNS").ok().and_then(|t| t.parse().ok()).unwrap_or(setup.scaled(21, 3));
    let most = LEAST + 4 * turns + 4;
    let sizes: Vec<u32> = match std::env::var("COUNT") { Ok(c) => vec![c.parse()?], _ => vec![100, 1000, 10000] };
    let only = std::env::var("ONLY").unwrap_or_default();
    for count in sizes {
        let x = stream.alloc_zeros::<f32>(most as usize)?;
        let mut y = stream.alloc_zeros::<f32>((count * most) as usize)?;
        let addresses = [hand::address(&x), hand::address(&y)];
        macro_rules! work {
            ($($name:ident: $by_hand:expr;)*) => {$(
                if only.is_empty() || only == stringify!($name) {
                let ours = |n: u32, x: &CudaSlice<f32>, y: &mut CudaSlice<f32>| -> Result<Built2> {
                    Ok(timed!(unrolled::$name(ctx, count, n, x, y)?))
                };
                race(&mut table, stringify!($name), count, turns, |n| ours(n, &x, &mut y), &|n| $by_hand(&module, addresses, count, n))?;
                }
            )*};
        }
        work! {
            chain: chain_by_hand;
            rows: rows_by_hand;
            temporaries: chain_by_hand;
            scratch: rows_by_hand;
            batched: rows_by_hand;
        }
    }
    table.finish()
}

fn race(
    table: &mut Table,
    work: &str,
    count: u32,
    turns: u32,
    mut ours: impl FnMut(u32) -> Result<Built2>,
    by_hand: &dyn Fn(u32) -> Result<hand::Graph>,
) -> Result<()> {
    let (mut hands, mut builds) = (Vec::new(), [Vec::new(), Vec::new()]);
    let mut size = (0, 0);
    for turn in 0..=turns {
        let n = LEAST + turn;
        let first = ours(n)?;
        let second = ours(n)?;
        size = first.1;
        let start = Instant::now();
        let graph = by_hand(n)?;
        let hand = start.elapsed();
        drop(graph);
        // The first turn warms up.
        if turn > 0 {
            hands.push(hand);
            builds[0].push(first.0);
            builds[1].push(second.0);
        }
    }
    let ms = |time: Duration| format!("{:.3}", time.as_secs_f64() * 1e3);
    let part = |builds: &[Built], part: &dyn Fn(&Built) -> Duration| {
        ms(median(&mut builds.iter().map(part).collect::<Vec<_>>()))
    };
    let cells = |builds: &[Built]| {
        [
            part(builds, &|built| built.all),
            part(builds, &|built| built.adds),
            part(builds, &|built| built.all - built.adds),
        ]
    };
    let [a, b, c] = cells(&builds[0]);
    let [d, e, f] = cells(&builds[1]);
    table.row(&[
        format!("{work}, {count}"),
        format!("{} / {}", size.0, size.1),
        ms(median(&mut hands)),
        a, b, c, d, e, f,
        if count == 10000 { "< 20".to_owned() } else { String::new() },
    ])
}

fn chain_by_hand(module: &hand::Module, [x, y]: [u64; 2], count: u32, n: u32) -> Result<hand::Graph> {
    let kernel = module.per_item(c"produce", n)?;
    let mut graph = hand::Graph::new()?;
    let mut last: Option<Node> = None;
    for _ in 0..count {
        last = Some(graph.add(kernel, &[x, y, u64::from(n)], last.as_slice())?);
    }
    Ok(graph)
}

fn rows_by_hand(module: &hand::Module, [x, y]: [u64; 2], count: u32, n: u32) -> Result<hand::Graph> {
    let kernel = module.per_item(c"produce", n)?;
    let mut graph = hand::Graph::new()?;
    for i in 0..count {
        graph.add(kernel, &[x, y + 4 * u64::from(i * n), u64::from(n)], &[])?;
    }
    Ok(graph)
}
