//! The host's time to build a graph of a loop that is unrolled at build time, in addition to the driver calls that
//! add its nodes.
//!
//! Both sides alternately add the same nodes. A *first* build has a length that no earlier build had, so nothing
//! can be reused; a *second* one has the length of the previous build. Modules are loaded on both sides. Drops are
//! not timed, and neither is the allocation of buffers for the side made by hand.
//!
//! `cargo bench --bench unrolled -- [WORK..]`; benches/results/unrolled.md says what is expected.

mod common;
#[path = "graphs/unrolled.rs"]
mod unrolled;

use std::time::{Duration, Instant};

use cudarc::driver::CudaSlice;

use common::hand::{self, Kernel, Node};
use common::table::Table;
use common::{Result, Setup, median};

/// The number of elements of a row in the first build; each further build has one more.
const LEAST: u32 = 32;
/// The numbers of launches.
const COUNTS: [u32; 3] = [100, 1_000, 10_000];
/// The maximum milliseconds for a build of the largest graph, in addition to its adds.
const GOAL: &str = "< 20";

/// The times of a build: all of it, and its adds; also its numbers of nodes and edges.
#[derive(Clone, Copy)]
struct Built {
    all: Duration,
    adds: Duration,
    size: (usize, usize),
}

impl Built {
    fn beyond(&self) -> Duration {
        self.all.saturating_sub(self.adds)
    }
}

/// The kernels and buffers of the side made by hand.
struct Hand {
    produce: Kernel,
    consume: Kernel,
    x: u64,
    y: u64,
    n: u32,
    count: u32,
}

/// Builds a graph and measures the time. The drop of the graph is not timed.
macro_rules! timed {
    ($build:expr) => {{
        let start = Instant::now();
        let graph = $build;
        let all = start.elapsed();
        let report = graph.report();
        Built { all, adds: graph.times().added, size: (report.nodes(), report.edges) }
    }};
}

fn main() -> Result<()> {
    let setup = Setup::new()?;
    let (ctx, stream) = (&setup.ctx, &setup.stream);
    let module = hand::Module::load(ctx)?;
    let columns = [
        "work",
        "nodes / edges",
        "by hand: nodes / edges",
        "ms",
        "first build: adds ms",
        "beyond ms",
        "least",
        "second build: adds ms",
        "beyond ms",
        "least",
        "goal",
    ];
    let mut table = Table::new(&setup, "unrolled", &columns)?;
    // Keep the module loaded.
    let _loaded = unrolled::produce::load(ctx)?;
    let picked: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let turns = setup.scaled(21, 5);
    let most = LEAST + turns;
    for count in COUNTS {
        let x = stream.alloc_zeros::<f32>(most as usize)?;
        let mut y = stream.alloc_zeros::<f32>((count * most) as usize)?;
        let (x_address, y_address) = (hand::address(&x), hand::address(&y));
        macro_rules! works {
            ($($name:ident by $by_hand:ident;)*) => {$(
                if picked.is_empty() || picked.iter().any(|picked| picked == stringify!($name)) {
                    let ours = |n: u32, x: &CudaSlice<f32>, y: &mut CudaSlice<f32>| -> Result<Built> {
                        Ok(timed!(unrolled::$name(ctx, count, n, x, y)?))
                    };
                    let by_hand = |n: u32| {
                        let (produce, consume) = (module.per_item(c"produce", n)?, module.per_item(c"consume", n)?);
                        $by_hand(&Hand { produce, consume, x: x_address, y: y_address, n, count })
                    };
                    let work = format!("{}, {count}", stringify!($name));
                    let goal = if count == COUNTS[2] { GOAL } else { "" };
                    race(&mut table, (work, goal), turns, |n| ours(n, &x, &mut y), by_hand)?;
                }
            )*};
        }
        works! {
            chain by chain;
            rows by rows;
            temporaries by temporaries;
            scratch by scratch;
            batched by rows;
        }
    }
    table.note(
        "Medians and least times of builds in turn, each first build with another length. `batched` adds fewer nodes \
         than the side by hand, which adds the launches as written; the memory of `temporaries` and `scratch` is one \
         alloc and one free node on both sides.",
    )?;
    table.finish()
}

/// Builds with both sides alternately.
fn race(
    table: &mut Table,
    (work, goal): (String, &str),
    turns: u32,
    mut ours: impl FnMut(u32) -> Result<Built>,
    by_hand: impl Fn(u32) -> Result<hand::Graph>,
) -> Result<()> {
    let (mut hands, mut firsts, mut seconds) = (Vec::new(), Vec::new(), Vec::new());
    let mut size = (0, 0);
    for turn in 0..turns {
        let n = LEAST + turn;
        let (first, second) = (ours(n)?, ours(n)?);
        let start = Instant::now();
        let graph = by_hand(n)?;
        let hand = start.elapsed();
        size = (graph.nodes, graph.edges);
        drop(graph);
        // The first round is a warm-up.
        if turn > 0 {
            hands.push(hand);
            firsts.push(first);
            seconds.push(second);
        }
    }
    let ms = |time: Duration| format!("{:.3}", time.as_secs_f64() * 1e3);
    let cells = |builds: &[Built]| {
        let of = |part: fn(&Built) -> Duration| builds.iter().map(part).collect::<Vec<_>>();
        let least = of(Built::beyond).into_iter().min().unwrap_or_default();
        [ms(median(&mut of(|built| built.adds))), ms(median(&mut of(Built::beyond))), ms(least)]
    };
    let ours = seconds.first().map_or((0, 0), |built| built.size);
    let mut row = vec![
        work,
        format!("{} / {}", ours.0, ours.1),
        format!("{} / {}", size.0, size.1),
        ms(median(&mut hands)),
    ];
    row.extend(cells(&firsts));
    row.extend(cells(&seconds));
    row.push(goal.to_owned());
    table.row(&row)
}

fn chain(hand: &Hand) -> Result<hand::Graph> {
    let mut graph = hand::Graph::new()?;
    let mut last: Option<Node> = None;
    for _ in 0..hand.count {
        last = Some(graph.add(hand.produce, &[hand.x, hand.y, u64::from(hand.n)], last.as_slice())?);
    }
    Ok(graph)
}

fn rows(hand: &Hand) -> Result<hand::Graph> {
    let mut graph = hand::Graph::new()?;
    for i in 0..hand.count {
        graph.add(hand.produce, &[hand.x, row(hand.y, hand.n, i), u64::from(hand.n)], &[])?;
    }
    Ok(graph)
}

fn temporaries(hand: &Hand) -> Result<hand::Graph> {
    let mut graph = hand::Graph::new()?;
    let (alloc, t) = graph.add_alloc(4 * u64::from(hand.n), &[])?;
    let mut last = alloc;
    for _ in 0..hand.count / 2 {
        last = graph.add(hand.produce, &[hand.y, t, u64::from(hand.n)], &[last])?;
        last = graph.add(hand.consume, &[t, hand.y, u64::from(hand.n)], &[last])?;
    }
    graph.add_free(t, &[last])?;
    Ok(graph)
}

fn scratch(hand: &Hand) -> Result<hand::Graph> {
    let (rows, n) = (hand.count / 2, u64::from(hand.n));
    let mut graph = hand::Graph::new()?;
    let (alloc, t) = graph.add_alloc(4 * n * u64::from(rows), &[])?;
    let mut produced = Vec::new();
    for i in 0..rows {
        produced.push(graph.add(hand.produce, &[hand.x, row(t, hand.n, i), n], &[alloc])?);
    }
    let mut consumed = Vec::new();
    for (i, &produced) in (0..rows).zip(&produced) {
        consumed.push(graph.add(
            hand.consume,
            &[row(t, hand.n, i), row(hand.y, hand.n, i), n],
            &[produced],
        )?);
    }
    graph.add_free(t, &consumed)?;
    Ok(graph)
}

/// Returns the address of a row of `n` elements.
fn row(buffer: u64, n: u32, row: u32) -> u64 {
    buffer + 4 * u64::from(n) * u64::from(row)
}
