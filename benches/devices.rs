//! Two devices in one graph: chains of 100 kernels on one device, on both concurrently, and across both, compared
//! with graphs made by hand; and copies between the devices.

mod common;
#[path = "graphs/devices.rs"]
mod devices;
#[path = "graphs/chain.rs"]
mod graphs;

use std::sync::Arc;

use common::hand::{self, Kernel, Node};
use common::table::Table;
use common::{Race, Result, Setup, Until, us};
use cudarc::driver::{CudaContext, CudaSlice};
use cuweave::report::Report;

fn main() -> Result<()> {
    let setup = Setup::new()?;
    if CudaContext::device_count()? < 2 {
        println!("not run: it needs two devices");
        return Ok(());
    }
    let contexts = [setup.ctx.clone(), cuweave::context(1)?];
    let modules = [hand::Module::load(&contexts[0])?, hand::Module::load(&contexts[1])?];
    let kernels = [modules[0].single(c"touch")?, modules[1].single(c"touch")?];
    setup.ctx.bind_to_thread()?;
    let mut table = Table::of_races(&setup, "devices")?;
    access(&setup, &contexts, &mut table)?;
    chains(&setup, &contexts, kernels, &mut table)?;
    copies(&setup, &contexts, &mut table)?;
    table.finish()
}

/// Reads the memory of peers and checks the values.
fn access(setup: &Setup, contexts: &[Arc<CudaContext>; 2], table: &mut Table) -> Result<()> {
    let n = 1u32 << 16;
    let other = contexts[1].new_stream()?;
    let values: Vec<f32> = (0..n).map(|at| (at % 1000) as f32).collect();
    let x = setup.stream.clone_htod(&values)?;
    let mut y = other.clone_htod(&values)?;
    let expected: Vec<f32> = values.iter().map(|x| x + 2.0 * x + 2.0 * (1.0 + x)).collect();
    let mut out = setup.stream.alloc_zeros::<f32>(n as usize)?;
    let mut exec = devices::through_nodes(contexts, n, &x, &mut y, &mut out)?.instantiate()?;
    exec.launch(&setup.stream)?;
    drop(exec);
    common::agree("memory nodes", &setup.stream.clone_dtoh(&out)?, &expected)?;
    let mut out = other.alloc_zeros::<f32>(n as usize)?;
    let mut exec = devices::through_owned(contexts, n, &x, &mut y, &mut out)?.instantiate()?;
    exec.launch(&setup.stream)?;
    drop(exec);
    common::agree("owned memory", &other.clone_dtoh(&out)?, &expected)?;
    table.note("operands of pools, memory nodes and mapped memory read through the peer: right")
}

fn chains(
    setup: &Setup,
    contexts: &[Arc<CudaContext>; 2],
    kernels: [Kernel; 2],
    table: &mut Table,
) -> Result<()> {
    let other = contexts[1].new_stream()?;
    let zero = || -> Result<CudaSlice<u32>> { Ok(setup.stream.alloc_zeros(1)?) };
    let (mut a, mut b, mut c, mut d) = (zero()?, zero()?, zero()?, zero()?);
    let mut y: CudaSlice<u32> = other.alloc_zeros(1)?;
    setup.stream.synchronize()?;
    other.synchronize()?;
    let graphs = [
        ("one device", "", devices::one(contexts, &mut a).map(Made::One)?),
        (
            "each device, side by side",
            "<= 1.02, and 1.05 of one",
            devices::each(contexts, &mut b, &mut y).map(Made::Each)?,
        ),
        ("alternating", "<= 1.02", devices::alternating(contexts, &mut c).map(Made::Alternating)?),
        ("50 on one, then 50 on the other", "<= 1.02", devices::halves(contexts, &mut d).map(Made::Halves)?),
    ];
    for (at, (work, goal, graph)) in graphs.into_iter().enumerate() {
        let by_hand = by_hand(at, kernels, hand_address(setup)?)?;
        let sizes = [size(&graph.report()), by_hand.size()];
        let by_hand = by_hand.instantiate()?;
        let mut race = Race::new(Until::Synchronized, 30);
        let mut launch = graph.instantiate()?;
        race.ours("cuweave", move |stream| launch(stream));
        race.by_hand("by hand", move |stream| by_hand.launch(stream));
        table.race(work, goal, &race.run(setup)?, &sizes)?;
    }
    Ok(())
}

/// The graphs of the chains, which have different types.
enum Made<'a> {
    One(cuweave::Graph<devices::one::Args<'a>>),
    Each(cuweave::Graph<devices::each::Args<'a>>),
    Alternating(cuweave::Graph<devices::alternating::Args<'a>>),
    Halves(cuweave::Graph<devices::halves::Args<'a>>),
}

type Launch<'a> = Box<dyn FnMut(&Arc<cudarc::driver::CudaStream>) -> Result<()> + 'a>;

impl<'a> Made<'a> {
    fn report(&self) -> Report {
        match self {
            Made::One(graph) => graph.report(),
            Made::Each(graph) => graph.report(),
            Made::Alternating(graph) => graph.report(),
            Made::Halves(graph) => graph.report(),
        }
    }

    fn instantiate(self) -> Result<Launch<'a>> {
        Ok(match self {
            Made::One(graph) => {
                let mut exec = graph.instantiate()?;
                Box::new(move |stream| Ok(exec.launch(stream)?))
            }
            Made::Each(graph) => {
                let mut exec = graph.instantiate()?;
                Box::new(move |stream| Ok(exec.launch(stream)?))
            }
            Made::Alternating(graph) => {
                let mut exec = graph.instantiate()?;
                Box::new(move |stream| Ok(exec.launch(stream)?))
            }
            Made::Halves(graph) => {
                let mut exec = graph.instantiate()?;
                Box::new(move |stream| Ok(exec.launch(stream)?))
            }
        })
    }
}

/// Returns an address that stays valid as long as the process. The kernels do not access it.
fn hand_address(setup: &Setup) -> Result<u64> {
    let kept: CudaSlice<u32> = setup.stream.alloc_zeros(1)?;
    Ok(kept.leak())
}

/// Returns the graph of a row, made by hand.
fn by_hand(row: usize, kernels: [Kernel; 2], x: u64) -> Result<hand::Graph> {
    let mut graph = hand::Graph::new()?;
    let mut last: [Option<Node>; 2] = [None; 2];
    for step in 0..devices::LENGTH as usize {
        match row {
            0 => last[0] = Some(graph.add(kernels[0], &[x], last[0].as_slice())?),
            1 => {
                for device in 0..2 {
                    last[device] = Some(graph.add(kernels[device], &[x], last[device].as_slice())?);
                }
            }
            2 => last[0] = Some(graph.add(kernels[step % 2], &[x], last[0].as_slice())?),
            _ => last[0] = Some(graph.add(kernels[step / 50], &[x], last[0].as_slice())?),
        }
    }
    Ok(graph)
}

/// Copies 64 MiB to the other device and back.
fn copies(setup: &Setup, contexts: &[Arc<CudaContext>; 2], table: &mut Table) -> Result<()> {
    let n: u32 = setup.scaled(16 << 20, 1 << 10);
    let values: Vec<u32> = (0..n).collect();
    let mut x = setup.stream.clone_htod(&values)?;
    let graph = devices::there_and_back(contexts, n, &mut x)?;
    let sizes = [size(&graph.report())];
    let mut exec = graph.instantiate()?;
    let mut race = Race::new(Until::Synchronized, 10);
    race.ours("cuweave", |stream| Ok(exec.launch(stream)?));
    let times = race.run(setup)?;
    table.race("64 MiB to the other device and back", "", &times, &sizes)?;
    let bytes = 2.0 * 4.0 * f64::from(n);
    let rate = bytes / times[0].device.as_secs_f64().max(1e-9) / 1e9;
    table.note(&format!("copies: {rate:.0} GB/s, {} us for both", us(times[0].device)))?;
    drop(exec);
    if setup.stream.clone_dtoh(&x)? != values {
        return Err("the bytes that came back are others".into());
    }
    Ok(())
}

fn size(report: &Report) -> String {
    format!("{} / {}", report.nodes(), report.edges)
}
