//! A chain of 32 growing temporaries, which measures bytes; and a pipeline of 1,000 temporaries, which measures
//! time and bytes.

mod common;
#[path = "graphs/temporaries.rs"]
mod graphs;

use cudarc::driver::CudaSlice;

use common::hand::{self, Node};
use common::table::Table;
use common::{Race, Result, Setup, Until, agree};

fn main() -> Result<()> {
    let setup = Setup::new()?;
    growing(&setup)?;
    pipeline(&setup)
}

/// The sum of the two largest temporaries.
const BOUND: u64 = 8_419_840;

fn growing(setup: &Setup) -> Result<()> {
    let (ctx, stream) = (&setup.ctx, &setup.stream);
    let columns = ["chain of 32", "nodes / edges", "planned bytes", "used by the driver, at most", "goal"];
    let mut table = Table::new(setup, "growing", &columns)?;
    let n = 256;
    let x = stream.alloc_zeros::<f32>(n as usize)?;
    macro_rules! lowerings {
        ($($name:ident $lowering:literal)*) => {$(
            let graph = graphs::$name(ctx, n, &x, stream.alloc_zeros::<f32>(n as usize)?)?;
            let report = graph.report();
            let mut exec = graph.instantiate()?;
            cuweave::memory::trim_graph_pool(ctx)?;
            cuweave::memory::reset_graph_pool_high(ctx)?;
            exec.launch(stream)?;
            stream.synchronize()?;
            let y = stream.clone_dtoh(&exec.args().y)?;
            drop(exec);
            agree($lowering, &y, &vec![33.0; n as usize])?;
            table.row(&[
                $lowering.to_owned(),
                format!("{} / {}", report.nodes(), report.edges),
                report.planned_bytes.to_string(),
                cuweave::memory::graph_pool(ctx)?.used_high.to_string(),
                format!("{BOUND} (the bound)"),
            ])?;
        )*};
    }
    lowerings!(growing_nodes "nodes" growing_arena "arena" growing_owned "owned");
    table.finish()
}

fn pipeline(setup: &Setup) -> Result<()> {
    let (ctx, stream) = (&setup.ctx, &setup.stream);
    let module = hand::Module::load(ctx)?;
    let mut table = Table::of_races(setup, "pipeline")?;
    // 1 MiB each.
    let n: u32 = setup.scaled(1 << 18, 256);
    let zeros = |_: usize| stream.alloc_zeros::<f32>(n as usize);

    let mut race = Race::new(Until::Synchronized, 20);
    let mut sizes = Vec::new();
    let mut wanted = Vec::new();
    let buffers: Vec<CudaSlice<f32>> = (0..1_000).map(zeros).collect::<std::result::Result<_, _>>()?;
    for count in [2, 32, 1_000] {
        let x = zeros(0)?;
        let graph = hand_pipeline(&module, n, &x, &buffers[..count])?;
        sizes.push(graph.size());
        let exec = graph.instantiate()?;
        exec.launch(stream)?;
        wanted = stream.clone_dtoh(&x)?;
        race.by_hand(&format!("by hand, {count} buffers outside"), move |stream| {
            let _alive = &x;
            exec.launch(stream)
        });
    }
    let mut memory = Vec::new();
    macro_rules! lowerings {
        ($($name:ident $lowering:literal)*) => {$(
            let graph = graphs::$name(ctx, n, zeros(0)?)?;
            let report = graph.report();
            sizes.push(format!("{} / {}", report.nodes(), report.edges));
            let mut exec = graph.instantiate()?;
            cuweave::memory::trim_graph_pool(ctx)?;
            let before = cuweave::memory::graph_pool(ctx)?.reserved;
            exec.launch(stream)?;
            stream.synchronize()?;
            let reserved = cuweave::memory::graph_pool(ctx)?.reserved.saturating_sub(before);
            memory.push(format!("{}: planned {}, reserved by the pool {reserved}", $lowering, report.planned_bytes));
            agree($lowering, &stream.clone_dtoh(&exec.args().x)?, &wanted)?;
            race.ours(concat!("cuweave, ", $lowering), move |stream| Ok(exec.launch(stream)?));
        )*};
    }
    lowerings!(pipeline_nodes "nodes" pipeline_arena "arena" pipeline_owned "owned");
    table.race("1,000 temporaries of 1 MiB", "<= 1.02, in 32 MiB", &race.run(setup)?, &sizes)?;
    table.note(&format!("bytes: {}", memory.join("; ")))?;
    table.finish()
}

/// The same kernels. The temporaries alternate between these buffers.
fn hand_pipeline(
    module: &hand::Module,
    n: u32,
    x: &CudaSlice<f32>,
    buffers: &[CudaSlice<f32>],
) -> Result<hand::Graph> {
    let kernel = module.per_item(c"produce", n)?;
    let x = hand::address(x);
    let mut buffers = buffers.iter().map(hand::address).cycle();
    let mut graph = hand::Graph::new()?;
    let mut last: Option<Node> = None;
    for _ in 0..100 {
        let mut from = x;
        for to in buffers.by_ref().take(10).chain([x]) {
            last = Some(graph.add(kernel, &[from, to, u64::from(n)], last.as_slice())?);
            from = to;
        }
    }
    Ok(graph)
}
