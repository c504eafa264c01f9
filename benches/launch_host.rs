//! The host's time for a launch of a graph with 300 bound buffers, against `cuGraphLaunch`.

mod common;
#[path = "graphs/bound.rs"]
mod graphs;

use cudarc::driver::CudaSlice;
use cuweave::Buffer;

use common::hand::{self, Node};
use common::table::Table;
use common::{Race, Result, Setup, Until};

fn main() -> Result<()> {
    let setup = Setup::new()?;
    let (ctx, stream) = (&setup.ctx, &setup.stream);
    let module = hand::Module::load(ctx)?;
    let kernel = module.single(c"after_all")?;
    let mut table = Table::of_races(&setup, "launch_host")?;
    let other = ctx.new_stream()?;
    let mine: Vec<CudaSlice<u32>> =
        (0..300).map(|_| stream.alloc_zeros(1)).collect::<std::result::Result<_, _>>()?;
    let others: Vec<CudaSlice<u32>> =
        (0..300).map(|_| other.alloc_zeros(1)).collect::<std::result::Result<_, _>>()?;
    let own = stream.alloc_zeros::<u32>(1)?;
    ctx.synchronize()?;

    let by_hand = hand_bound(kernel, &mine, hand::address(&own))?;
    let mut sizes = vec![by_hand.size()];
    let by_hand = by_hand.instantiate()?;
    let mut race = Race::new(Until::Returned, 200);
    race.by_hand("cuGraphLaunch", move |stream| by_hand.launch(stream));
    for (name, buffers) in [("of the stream", &mine), ("of another stream", &others)] {
        let buffers: [&CudaSlice<u32>; 300] = std::array::from_fn(|i| &buffers[i]);
        let graph = graphs::bound_300(ctx, buffers, stream.alloc_zeros::<u32>(1)?)?;
        let report = graph.report();
        sizes.push(format!("{} / {}", report.nodes(), report.edges));
        let mut ours = graph.instantiate()?;
        race.ours(&format!("cuweave, buffers {name}"), move |stream| Ok(ours.launch(stream)?));
    }
    let shared = mine.iter().map(|slice| Ok(Buffer::new(slice.try_clone()?)?)).collect::<Result<Vec<_>>>()?;
    let shared: [&Buffer<u32>; 300] = std::array::from_fn(|i| &shared[i]);
    let graph = graphs::bound_300(ctx, shared, stream.alloc_zeros::<u32>(1)?)?;
    let report = graph.report();
    sizes.push(format!("{} / {}", report.nodes(), report.edges));
    let mut ours = graph.instantiate()?;
    race.ours("cuweave, shared `Buffer`s", move |stream| Ok(ours.launch(stream)?));
    let times = race.run(&setup)?;
    table.race("launch() returns, 300 bound buffers", "<= cuGraphLaunch + 2 us", &times, &sizes)?;
    for ours in &times[1..] {
        let more = (ours.host.as_secs_f64() - times[0].host.as_secs_f64()) * 1e6;
        table.note(&format!("{}: cuGraphLaunch {more:+.2} us", ours.name))?;
    }
    table.finish()
}

fn hand_bound(kernel: hand::Kernel, buffers: &[CudaSlice<u32>], own: u64) -> Result<hand::Graph> {
    let mut graph = hand::Graph::new()?;
    let mut last: Option<Node> = None;
    for buffer in buffers {
        last = Some(graph.add(kernel, &[hand::address(buffer), own, 1], last.as_slice())?);
    }
    Ok(graph)
}
