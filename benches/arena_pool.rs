//! Eight graphs, launched one after the other on one stream and concurrently on eight streams. The temporaries are
//! memory nodes in the driver's graph pool, in an arena for each graph, or in one arena for all graphs of a stream.
//! Measures bytes, and the time of launches and builds, once with temporaries of megabytes and once with small
//! ones.

mod common;
#[path = "graphs/fork_join.rs"]
mod graphs;

use std::sync::Arc;
use std::time::{Duration, Instant};

use cudarc::driver::{CudaContext, CudaEvent, CudaStream};
use cuweave::ArenaPool;

use common::table::Table;
use common::{Race, Result, Setup, Until, agree, median, us};

/// The elements of each buffer that the kernels access.
const N: u32 = 1_024;
const GRAPHS: usize = 8;

type Launch<'a> = Box<dyn FnMut(&Arc<CudaStream>) -> Result<()> + 'a>;

/// The memory lowering of the graphs' temporaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lowering {
    Nodes,
    Arena,
    Owned,
    Pool,
}

/// Memory in use, in bytes.
struct Memory {
    /// Reserved by the device's graph pool.
    pool: u64,
    /// In use on the whole device.
    device: u64,
}

fn main() -> Result<()> {
    let setup = Setup::new()?;
    let columns = [
        "work",
        "temporaries",
        "planned, largest / sum",
        "graph pool reserved",
        "graph pool used, at most",
        "device memory",
        "build us, a graph",
        "host us",
        "events us",
        "spread",
    ];
    let mut table = Table::new(&setup, "arena_pool", &columns)?;
    let sizes = [("4 MiB", setup.scaled(1 << 16, 1 << 8)), ("64 KiB", 1 << 10)];
    // Keep the modules loaded.
    let _loaded = (graphs::fork::load(&setup.ctx)?, graphs::join::load(&setup.ctx)?);
    for (size, step) in sizes {
        for streams in [1, GRAPHS] {
            measure(&setup, &mut table, streams, (size, step))?;
        }
    }
    table.note(
        "Fork-join graphs of 16 x 20 kernels. The temporaries of the first graph have the size that stands in the \
         row, those of the last 9/16 of it. Bytes are what one round of all launches leaves in use, over what was in \
         use before the graphs were built. A build is that of the graph and its exec: the median of the last seven, \
         whose plans are new and whose modules are loaded.",
    )?;
    table.finish()
}

fn measure(setup: &Setup, table: &mut Table, streams: usize, (size, step): (&str, u32)) -> Result<()> {
    let streams: Vec<_> =
        (0..streams).map(|_| setup.ctx.new_stream()).collect::<std::result::Result<_, _>>()?;
    let mut race = Race::new(Until::Synchronized, 20);
    let mut rows = Vec::new();
    let mut wanted: Vec<f32> = Vec::new();
    for lowering in [Lowering::Nodes, Lowering::Arena, Lowering::Owned, Lowering::Pool] {
        let before = in_use(&setup.ctx, &streams)?;
        let (planned, built, mut launches) = build(setup, lowering, &streams, step)?;
        cuweave::memory::reset_graph_pool_high(&setup.ctx)?;
        let forked = Forked::new(&setup.ctx, &streams)?;
        forked.run(&setup.stream, &mut launches)?;
        setup.stream.synchronize()?;
        let (after, high) = (used(&setup.ctx)?, cuweave::memory::graph_pool(&setup.ctx)?.used_high);
        rows.push((
            lowering,
            planned,
            built,
            [after.pool.saturating_sub(before.pool), high, after.device.saturating_sub(before.device)],
        ));
        // Each round computes the same from the same data, wherever the temporaries are.
        let values: Vec<f32> = launches.iter_mut().map(|(_, value)| value()).collect::<Result<_>>()?;
        if wanted.is_empty() {
            wanted = values;
        } else {
            agree(&format!("{lowering:?}"), &values, &wanted)?;
        }
        race.ours(&format!("{lowering:?}"), move |stream| forked.run(stream, &mut launches));
    }
    let work = match streams.len() {
        1 => format!("{GRAPHS} graphs of {size}, one stream"),
        count => format!("{GRAPHS} graphs of {size}, {count} streams"),
    };
    for (times, (lowering, (largest, sum), built, [pool, high, device])) in race.run(setup)?.iter().zip(rows)
    {
        table.row(&[
            work.clone(),
            name(lowering).to_owned(),
            if sum == 0 { "by the driver".to_owned() } else { format!("{largest} / {sum}") },
            pool.to_string(),
            high.to_string(),
            device.to_string(),
            us(built),
            us(times.host),
            us(times.device),
            format!("{:.2}", times.spread),
        ])?;
    }
    Ok(())
}

fn name(lowering: Lowering) -> &'static str {
    match lowering {
        Lowering::Nodes => "memory nodes",
        Lowering::Arena => "an arena a graph, alloc nodes",
        Lowering::Owned => "an arena a graph, owned",
        Lowering::Pool => "`ArenaPool`, one a stream",
    }
}

/// A graph's launch, and a read of the first element of its result.
type Member<'a> = (Launch<'a>, Box<dyn FnMut() -> Result<f32> + 'a>);

/// Returns the bytes of the largest graph and of all graphs, the time to build one, and the graphs. Graph i is for
/// stream i, or for the only stream.
fn build<'a>(
    setup: &'a Setup,
    lowering: Lowering,
    streams: &[Arc<CudaStream>],
    step: u32,
) -> Result<((u64, u64), Duration, Vec<Member<'a>>)> {
    let ctx = &setup.ctx;
    let pools: Vec<ArenaPool> = streams.iter().map(ArenaPool::new).collect::<cuweave::Result<_>>()?;
    let (mut largest, mut sum) = (0, 0);
    let mut members: Vec<Member<'a>> = Vec::new();
    let mut builds = Vec::new();
    for at in 0..GRAPHS {
        let len = step * (16 - at as u32);
        let x = setup.stream.clone_htod(&vec![at as f32; N as usize])?;
        setup.stream.synchronize()?;
        macro_rules! member {
            ($graph:expr, $($instantiate:tt)*) => {{
                let start = Instant::now();
                let graph = $graph;
                let mut built = start.elapsed();
                let planned = match lowering {
                    Lowering::Nodes => 0,
                    _ => graph.report().planned_bytes,
                };
                largest = largest.max(planned);
                sum += planned;
                let start = Instant::now();
                let exec = graph.$($instantiate)*?;
                built += start.elapsed();
                builds.push(built);
                let exec = Arc::new(std::sync::Mutex::new(exec));
                let reader = exec.clone();
                let launch: Launch<'a> = Box::new(move |stream| {
                    Ok(exec.lock().map_err(|_| "a launch panicked")?.launch(stream)?)
                });
                let stream = setup.stream.clone();
                let value = Box::new(move || {
                    let exec = reader.lock().map_err(|_| "a launch panicked")?;
                    Ok(stream.clone_dtoh(&exec.args().x)?[0])
                });
                members.push((launch, value));
            }};
        }
        match lowering {
            Lowering::Nodes => member!(graphs::nodes(ctx, N, len, x)?, instantiate()),
            Lowering::Arena => member!(graphs::arena(ctx, N, len, x)?, instantiate()),
            Lowering::Owned => member!(graphs::owned(ctx, N, len, x)?, instantiate()),
            Lowering::Pool => {
                member!(graphs::owned(ctx, N, len, x)?, instantiate_in(&pools[at % pools.len()]));
            }
        }
    }
    Ok(((largest, sum), median(&mut builds[1..]), members))
}

/// Streams that are forked from one stream and joined to it again.
struct Forked {
    streams: Vec<Arc<CudaStream>>,
    begin: CudaEvent,
    ends: Vec<CudaEvent>,
}

impl Forked {
    fn new(ctx: &Arc<CudaContext>, streams: &[Arc<CudaStream>]) -> Result<Forked> {
        let ends = streams.iter().map(|_| ctx.new_event(None)).collect::<std::result::Result<_, _>>()?;
        Ok(Forked { streams: streams.to_vec(), begin: ctx.new_event(None)?, ends })
    }

    fn run(&self, stream: &Arc<CudaStream>, members: &mut [Member<'_>]) -> Result<()> {
        self.begin.record(stream)?;
        for own in &self.streams {
            own.wait(&self.begin)?;
        }
        for (at, (launch, _)) in members.iter_mut().enumerate() {
            launch(&self.streams[at % self.streams.len()])?;
        }
        for (own, end) in self.streams.iter().zip(&self.ends) {
            end.record(own)?;
            stream.wait(end)?;
        }
        Ok(())
    }
}

/// Returns the memory in use after the device's graph pool is trimmed.
fn in_use(ctx: &Arc<CudaContext>, streams: &[Arc<CudaStream>]) -> Result<Memory> {
    for stream in streams {
        stream.synchronize()?;
    }
    ctx.synchronize()?;
    cuweave::memory::trim_graph_pool(ctx)?;
    used(ctx)
}

fn used(ctx: &Arc<CudaContext>) -> Result<Memory> {
    ctx.synchronize()?;
    let (free, total) = ctx.mem_get_info()?;
    Ok(Memory { pool: cuweave::memory::graph_pool(ctx)?.reserved, device: (total - free) as u64 })
}
