//! Compares the memory lowerings (memory nodes, an arena, and memory that the exec owns) on the shapes of real
//! graphs, on one big buffer together with many tiny ones, and on two graphs that share the driver's pool.

mod common;
#[path = "graphs/shapes.rs"]
mod graphs;

use std::sync::Arc;
use std::time::{Duration, Instant};

use cudarc::driver::{CudaContext, CudaSlice, CudaStream};
use cuweave::report::Report;
use cuweave::{Exec, Graph, GraphFn};

use common::table::Table;
use common::{Race, Result, Setup, Times, Until, agree, median, us};

const LOWERINGS: [&str; 3] = ["nodes", "arena", "owned"];

fn main() -> Result<()> {
    let setup = Setup::new()?;
    let columns = [
        "graph",
        "memory",
        "nodes / edges",
        "planned bytes",
        "the bound",
        "graph pool used, at most",
        "graph pool reserved, at most",
        "device memory",
        "build us",
        "instantiate us",
        "launch us",
        "events us",
        "spread",
    ];
    let mut table = Table::new(&setup, "default_memory", &columns)?;
    // Keep the kernels loaded for all builds.
    let _kernels = graphs::matmul::load(&setup.ctx)?;
    shapes(&setup, &mut table)?;
    together(&setup, &mut table)?;
    table.note(
        "Bytes: after the first launch, over what was in use before the graph was built; the pool trimmed before each. \
         Build: with a plan that is kept, the median of 9. Launch: to the end of the work, the three in turns.",
    )?;
    table.finish()
}

/// The buffers that the shapes read.
struct Inputs {
    stream: Arc<CudaStream>,
}

impl Inputs {
    /// Returns numbers between -1 and 1, which are the same in every run.
    fn numbers(&self, len: u32) -> Result<CudaSlice<f32>> {
        let value = |i: u32| (i.wrapping_mul(2_654_435_761) >> 8) as f32 / (1 << 23) as f32 - 1.0;
        let values: Vec<f32> = (0..len).map(value).collect();
        Ok(self.stream.clone_htod(&values)?)
    }
}

fn shapes(setup: &Setup, table: &mut Table) -> Result<()> {
    let ctx = &setup.ctx;
    let inputs = Inputs { stream: setup.stream.clone() };
    macro_rules! shape {
        ($title:expr, $nodes:ident $arena:ident $owned:ident, ($($argument:expr),*), $len:expr) => {{
            let mut race = Race::new(Until::Synchronized, 20);
            let mut measured = Vec::new();
            let mut results: Vec<Vec<f32>> = Vec::new();
            shape!(@each race measured results $nodes ($($argument),*) $len);
            shape!(@each race measured results $arena ($($argument),*) $len);
            shape!(@each race measured results $owned ($($argument),*) $len);
            for (lowering, result) in LOWERINGS.iter().zip(&results) {
                agree(&format!("{}, {lowering}", $title), result, &results[0])?;
            }
            rows(table, $title, &measured, &race.run(setup)?)?;
        }};
        (@each $race:ident $measured:ident $results:ident $graph:ident ($($argument:expr),*) $len:expr) => {{
            let x = inputs.numbers($len)?;
            let before = Usage::before(ctx)?;
            let builds = repeat(setup, || Ok(drop(graphs::$graph(ctx, $($argument,)* inputs.numbers($len)?)?)))?;
            let (numbers, built) = (repeat(setup, || Ok(drop(inputs.numbers($len)?)))?, builds);
            let graph = graphs::$graph(ctx, $($argument,)* x)?;
            let (mut exec, report, instantiated) = instantiate(graph)?;
            exec.launch(&setup.stream)?;
            let usage = before.after(ctx)?;
            let result = setup.stream.clone_dtoh(&exec.args().x)?;
            $results.push(result);
            $measured.push(Measured { report, usage, build: built.saturating_sub(numbers), instantiate: instantiated });
            $race.ours(stringify!($graph), move |stream| Ok(exec.launch(stream)?));
        }};
    }

    let (b, d, t) = setup.scaled((64, 1024, 1024), (2, 8, 4));
    let (square, wide) = (inputs.numbers(d * d)?, inputs.numbers(4 * d * d)?);
    let (g, keys, values) = (inputs.numbers(d)?, inputs.numbers(t * d)?, inputs.numbers(t * d)?);
    shape!(
        "decode step, 8 layers",
        decode_nodes decode_arena decode_owned,
        (b, d, t, &square, &wide, &g, &keys, &values),
        b * d
    );
    let (c, s) = setup.scaled((16, 64), (2, 2));
    let w = inputs.numbers(18 * c * c)?;
    shape!("U-Net, 3 levels", unet_nodes unet_arena unet_owned, (c, s, &w), 16 * c * s * s);
    let w = inputs.numbers(100 * c * c)?;
    shape!(
        "inception, 4 blocks",
        inception_nodes inception_arena inception_owned,
        (c, s, &w),
        16 * c * s * s
    );
    let (n, k) = setup.scaled((1 << 20, 1 << 12), (32, 4));
    let right = inputs.numbers(n)?;
    shape!(
        "conjugate gradient, 32 iterations",
        gradient_nodes gradient_arena gradient_owned,
        (n, k, &right),
        n
    );
    let block = setup.scaled(1 << 20, 16);
    shape!(
        "butterflies, 8 blocks, 6 layers",
        butterflies_nodes butterflies_arena butterflies_owned,
        (block),
        8 * block
    );
    let (n, m) = setup.scaled((1 << 24, 256), (64, 8));
    let right = inputs.numbers(n)?;
    shape!("one of 64 MiB, 200 of 1 KiB", one_big_nodes one_big_arena one_big_owned, (n, m, &right), n);
    Ok(())
}

/// A U-Net and a solver, launched one after the other. The second can use the memory that the first returns to the
/// pool.
fn together(setup: &Setup, table: &mut Table) -> Result<()> {
    let ctx = &setup.ctx;
    let inputs = Inputs { stream: setup.stream.clone() };
    let (c, s) = setup.scaled((16, 64), (2, 2));
    let (n, k) = setup.scaled((1 << 20, 1 << 12), (32, 4));
    let (w, right) = (inputs.numbers(18 * c * c)?, inputs.numbers(n)?);
    let mut race = Race::new(Until::Synchronized, 20);
    let mut measured = Vec::new();
    macro_rules! lowering {
        ($unet:ident $gradient:ident) => {{
            let (image, x) = (inputs.numbers(16 * c * s * s)?, inputs.numbers(n)?);
            let before = Usage::before(ctx)?;
            let start = Instant::now();
            let first = graphs::$unet(ctx, c, s, &w, image)?;
            let second = graphs::$gradient(ctx, n, k, &right, x)?;
            let build = start.elapsed();
            let (mut first, mut report, one) = instantiate(first)?;
            let (mut second, other, two) = instantiate(second)?;
            first.launch(&setup.stream)?;
            second.launch(&setup.stream)?;
            let usage = before.after(ctx)?;
            report = sum(report, &other);
            measured.push(Measured { report, usage, build, instantiate: one + two });
            race.ours(stringify!($unet), move |stream| {
                first.launch(stream)?;
                Ok(second.launch(stream)?)
            });
        }};
    }
    lowering!(unet_nodes gradient_nodes);
    lowering!(unet_arena gradient_arena);
    lowering!(unet_owned gradient_owned);
    rows(table, "U-Net, then conjugate gradient", &measured, &race.run(setup)?)
}

/// The measurements of a graph without its launch time.
struct Measured {
    report: Report,
    usage: Usage,
    build: Duration,
    instantiate: Duration,
}

/// Returns the sum of the reports of two graphs. Bounds cannot be added, so it has no plan.
fn sum(mut one: Report, other: &Report) -> Report {
    one.kernels += other.kernels;
    one.fills += other.fills;
    one.copies += other.copies;
    one.hubs += other.hubs;
    one.allocs += other.allocs;
    one.frees += other.frees;
    one.edges += other.edges;
    one.planned_bytes += other.planned_bytes;
    one.plan = None;
    one
}

fn instantiate<A: GraphFn>(graph: Graph<A>) -> Result<(Exec<A>, Report, Duration)> {
    let report = graph.report();
    let start = Instant::now();
    let exec = graph.instantiate()?;
    Ok((exec, report, start.elapsed()))
}

/// Returns the median time of several runs, after a warm-up run.
fn repeat(setup: &Setup, mut what: impl FnMut() -> Result<()>) -> Result<Duration> {
    what()?;
    let mut times = Vec::new();
    for _ in 0..setup.scaled(9, 1) {
        let start = Instant::now();
        what()?;
        times.push(start.elapsed());
    }
    Ok(median(&mut times))
}

/// Memory in use, in bytes.
#[derive(Clone, Copy, Default)]
struct Usage {
    used_high: u64,
    reserved_high: u64,
    device: u64,
}

impl Usage {
    fn before(ctx: &Arc<CudaContext>) -> Result<Usage> {
        ctx.synchronize()?;
        cuweave::memory::trim_graph_pool(ctx)?;
        cuweave::memory::reset_graph_pool_high(ctx)?;
        let memory = cuweave::memory::graph_pool(ctx)?;
        Ok(Usage { used_high: memory.used, reserved_high: memory.reserved, device: device(ctx)? })
    }

    fn after(self, ctx: &Arc<CudaContext>) -> Result<Usage> {
        ctx.synchronize()?;
        let memory = cuweave::memory::graph_pool(ctx)?;
        Ok(Usage {
            used_high: memory.used_high.saturating_sub(self.used_high),
            reserved_high: memory.reserved_high.saturating_sub(self.reserved_high),
            device: device(ctx)?.saturating_sub(self.device),
        })
    }
}

fn device(ctx: &Arc<CudaContext>) -> Result<u64> {
    let (free, total) = ctx.mem_get_info()?;
    Ok((total - free) as u64)
}

fn rows(table: &mut Table, title: &str, measured: &[Measured], times: &[Times]) -> Result<()> {
    for ((lowering, Measured { report, usage, build, instantiate }), times) in
        LOWERINGS.iter().zip(measured).zip(times)
    {
        let bound = report.plan.as_ref().map_or("-".to_owned(), |plan| plan.antichain.to_string());
        table.row(&[
            title.to_owned(),
            (*lowering).to_owned(),
            format!("{} / {}", report.nodes(), report.edges),
            match *lowering {
                "nodes" => "by the driver".to_owned(),
                _ => report.planned_bytes.to_string(),
            },
            bound,
            usage.used_high.to_string(),
            usage.reserved_high.to_string(),
            usage.device.to_string(),
            us(*build),
            us(*instantiate),
            us(times.host),
            us(times.device),
            format!("{:.2}", times.spread),
        ])?;
    }
    Ok(())
}
