//! Programs of cudarc alone, captured by cudarc and by [`cuweave::Captured`]: the captured graph and the lifted one.
//!
//! - a fork and join of 16 streams, 20 rounds; the same work in one stream; chains of kernels, copies and fills;
//! - all kernels kept, because no PTX is given;
//! - the time to lift 1,000 nodes, to build their graph and to instantiate it.

mod common;

use std::sync::Arc;
use std::time::{Duration, Instant};

use cudarc::driver::{
    CudaContext, CudaFunction, CudaModule, CudaSlice, CudaStream, LaunchConfig, PushKernelArg, sys,
};
use cudarc::nvrtc::Ptx;
use cuweave::{Captured, Finding, Findings};

use common::table::Table;
use common::{Race, Result, Setup, Until, agree, median, us};

const PTX: &str = include_str!("kernels/bench.ptx");
const BRANCHES: usize = 16;

/// A program's kernels and buffers.
struct Program {
    module: Arc<CudaModule>,
    x: CudaSlice<f32>,
    temporaries: Vec<CudaSlice<f32>>,
    n: u32,
}

impl Program {
    fn new(ctx: &Arc<CudaContext>, stream: &Arc<CudaStream>, n: u32) -> Result<Program> {
        let module = ctx.load_module(Ptx::from_src(PTX))?;
        let zeros = || stream.alloc_zeros::<f32>(n as usize);
        let temporaries = (0..BRANCHES).map(|_| zeros()).collect::<std::result::Result<_, _>>()?;
        Ok(Program { module, x: zeros()?, temporaries, n })
    }

    fn function(&self, name: &str) -> Result<CudaFunction> {
        Ok(self.module.load_function(name)?)
    }

    fn config(&self) -> LaunchConfig {
        LaunchConfig { grid_dim: (self.n.div_ceil(256), 1, 1), block_dim: (256, 1, 1), shared_mem_bytes: 0 }
    }

    /// Enqueues rounds of a fork into branches and their join. Branches take the streams by turns.
    fn fork_join(&mut self, streams: &[Arc<CudaStream>], rounds: usize) -> Result<()> {
        let (fork, join, config) = (self.function("fork")?, self.function("join")?, self.config());
        let Program { x, temporaries, n, .. } = self;
        let (first, others) = streams.split_first().ok_or("no stream")?;
        for _ in 0..rounds {
            for other in others {
                other.join(first)?;
            }
            for (at, t) in temporaries.iter_mut().enumerate() {
                let a = 0.05 * (at + 1) as f32;
                let stream = &streams[at % streams.len()];
                unsafe { stream.launch_builder(&fork).arg(&*x).arg(t).arg(&a).arg(&*n).launch(config) }?;
            }
            for other in others {
                first.join(other)?;
            }
            let mut launch = first.launch_builder(&join);
            temporaries.iter().for_each(|t| _ = launch.arg(t));
            unsafe { launch.arg(&mut *x).arg(&*n).launch(config) }?;
        }
        Ok(())
    }

    /// Enqueues a chain: two kernels on x and one temporary, for each of several temporaries.
    fn chain(&mut self, stream: &Arc<CudaStream>, steps: usize) -> Result<()> {
        let (produce, consume, config) =
            (self.function("produce")?, self.function("consume")?, self.config());
        let Program { x, temporaries, n, .. } = self;
        for step in 0..steps {
            let t = &mut temporaries[step % BRANCHES];
            unsafe {
                stream.launch_builder(&produce).arg(&*x).arg(&mut *t).arg(&*n).launch(config)?;
                stream.launch_builder(&consume).arg(&*t).arg(&mut *x).arg(&*n).launch(config)?;
            }
        }
        Ok(())
    }
}

/// The work that a row captures.
type Enqueue<'e> = &'e dyn Fn(&mut Program) -> Result<()>;

fn main() -> Result<()> {
    let setup = Setup::new()?;
    // A capture cannot wait for events that cudarc's buffers recorded before it.
    unsafe { setup.ctx.disable_event_tracking() };
    let streams: Vec<Arc<CudaStream>> =
        (0..BRANCHES).map(|_| setup.ctx.new_stream()).collect::<std::result::Result<_, _>>()?;
    let mut table = Table::of_races(&setup, "lift")?;
    let rounds = setup.scaled(20, 2);
    let one = &streams[..1];
    let rows: [(&str, &str, u32, &[&str], Enqueue<'_>); 5] = [
        ("fork-join 16 x 20 of 16 streams", "<= 0.4", 1_024, &[PTX], &|p| p.fork_join(&streams, rounds)),
        ("fork-join 16 x 20 of one stream", "<= 0.4", 1_024, &[PTX], &|p| p.fork_join(one, rounds)),
        ("chain of 400 small kernels", "<= 1.01", 1_024, &[PTX], &|p| p.chain(&one[0], 10 * rounds)),
        ("chain of 400 large kernels", "<= 1.01", setup.scaled(1 << 24, 1 << 12), &[PTX], &|p| {
            p.chain(&one[0], 10 * rounds)
        }),
        ("fork-join 16 x 20 of 16 streams, all kept", "<= 1.01", 1_024, &[], &|p| {
            p.fork_join(&streams, rounds)
        }),
    ];
    for (name, goal, n, texts, enqueue) in rows {
        let mut program = Program::new(&setup.ctx, &setup.stream, n)?;
        let stream = &streams[0];
        stream.begin_capture(sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
        let enqueued = enqueue(&mut program);
        let flags = sys::CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
        let by_cudarc = stream.end_capture(flags)?.ok_or("no graph")?;
        enqueued?;
        let captured = Captured::try_of(stream, || enqueue(&mut program).map_err(|error| error.to_string()))?;
        let lifted = unsafe { cuweave::lift(&setup.ctx, &captured, texts) }?;
        let graph = lifted.graph()?;
        let report = graph.report();
        let sizes = [format!("{} nodes", lifted.nodes()), format!("{} / {}", report.nodes(), report.edges)];
        let mut exec = graph.instantiate()?;
        // What kept nodes write is not known.
        if !lifted.findings().list().iter().any(Finding::is_kept) {
            let verification = exec.verify(&setup.stream)?;
            if !verification.is_equal() {
                return Err(format!("{name}: {verification}").into());
            }
        }
        let mut results = Vec::new();
        for ours in [false, true] {
            setup.stream.memset_zeros(&mut program.x)?;
            setup.stream.synchronize()?;
            if ours {
                exec.launch(stream)?;
            } else {
                by_cudarc.launch()?;
            }
            stream.synchronize()?;
            results.push(setup.stream.clone_dtoh(&program.x)?);
        }
        agree(name, &results[1], &results[0])?;
        let mut race = Race::new(Until::Synchronized, 50);
        let raw = by_cudarc.cu_graph_exec();
        race.by_hand("captured", move |stream| {
            Ok(unsafe { cudarc::driver::result::graph::launch(raw, stream.cu_stream()) }?)
        });
        race.ours("lifted", move |stream| {
            exec.launch(stream)?;
            Ok(())
        });
        table.race(name, goal, &race.run(&setup)?, &sizes)?;
        told(&mut table, name, lifted.findings())?;
    }
    times(&setup, &streams[0], &mut table)?;
    table.finish()
}

/// Notes the findings of a row that do not say only that a node is kept.
fn told(table: &mut Table, name: &str, findings: &Findings) -> Result<()> {
    let kept = findings.list().iter().filter(|finding| finding.is_kept()).count();
    table.note(&format!("{name}: {} findings, {kept} nodes kept", findings.list().len() - kept))
}

/// Notes the times to lift 1,000 nodes.
fn times(setup: &Setup, stream: &Arc<CudaStream>, table: &mut Table) -> Result<()> {
    let mut program = Program::new(&setup.ctx, &setup.stream, 1_024)?;
    let captured =
        Captured::try_of(stream, || program.chain(stream, 500).map_err(|error| error.to_string()))?;
    let mut all: [Vec<Duration>; 3] = Default::default();
    for _ in 0..7 {
        let begun = Instant::now();
        let lifted = unsafe { cuweave::lift(&setup.ctx, &captured, &[PTX]) }?;
        let found = Instant::now();
        let graph = lifted.graph()?;
        let built = Instant::now();
        let exec = graph.instantiate()?;
        let instantiated = Instant::now();
        drop(exec);
        for (times, time) in all.iter_mut().zip([found - begun, built - found, instantiated - built]) {
            times.push(time);
        }
    }
    let first = all[0][0];
    let [lift, graph, instantiate] = all.map(|mut times| median(&mut times));
    table.note(&format!(
        "1,000 nodes: lifted in {} us (goal 50,000; first {}), the graph built in {} us, instantiated in {} us",
        us(lift),
        us(first),
        us(graph),
        us(instantiate)
    ))
}
