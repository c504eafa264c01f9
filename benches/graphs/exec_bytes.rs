//! Graphs of many shapes, for the device memory that an exec takes: each is made of nodes of some kinds and has an
//! order of its own.

use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaFunction, CudaStream, DriverError, LaunchConfig, PushKernelArg};
use cudarc::nvrtc::Ptx;
use cuweave::builder::{Args, Builder, Handle, Launches, Memory, Statement};
use cuweave::prelude::*;
use cuweave::{Buffer, Graph};

use super::Result;

#[cuweave::kernels("benches/kernels/bench.ptx")]
unsafe extern "ptx-kernel" {
    fn tiny(x: &mut [f32; n], n: u32);
    fn produce(x: &[f32; n], t: &mut [MaybeUninit<f32>; n], n: u32);
    fn join(
        t0: &[f32; n],
        t1: &[f32; n],
        t2: &[f32; n],
        t3: &[f32; n],
        t4: &[f32; n],
        t5: &[f32; n],
        t6: &[f32; n],
        t7: &[f32; n],
        t8: &[f32; n],
        t9: &[f32; n],
        t10: &[f32; n],
        t11: &[f32; n],
        t12: &[f32; n],
        t13: &[f32; n],
        t14: &[f32; n],
        t15: &[f32; n],
        x: &mut [f32; n],
        n: u32,
    );
}

#[cuweave::kernels("benches/kernels/waves.ptx")]
unsafe extern "ptx-kernel" {
    fn brief(x: &[f32; 1], t: &mut [f32; n], n: u32);
    fn gathered(ts: &[f32; m * n], x: &mut [f32; 1], m: u32, n: u32);
}

macro_rules! different {
    ($($kernel:ident $at:literal)*) => {
        #[cuweave::kernels("benches/kernels/different.ptx")]
        unsafe extern "ptx-kernel" {
            $(fn $kernel(x: &mut [f32; n], n: u32);)*
        }

        /// Launches one of 96 kernels of different code.
        fn different(b: &mut Builder<'_>, at: u32, t: &Handle, own: [u32; 2]) -> Result<Statement> {
            let t = t.range(own[0], own[1]).write();
            Ok(match at % 96 {
                $($at => b.launch($kernel {}, (1, 256), (t, N))?,)*
                _ => return Err("there are 96 kernels".into()),
            })
        }
    };
}
each_different!(different 96);

/// The elements that a node accesses: those of one block.
pub const N: u32 = 256;

/// A library that launches a kernel many times.
#[derive(Debug)]
pub struct Library(CudaFunction);

impl Library {
    fn new(ctx: &Arc<CudaContext>) -> Result<Library> {
        let module = ctx.load_module(Ptx::from_src(include_str!("../kernels/bench.ptx")))?;
        Ok(Library(module.load_function("tiny")?))
    }

    fn launch(&self, stream: &CudaStream, x: &mut cudarc::driver::CudaViewMut<'_, f32>) -> Outcome {
        let config = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (N, 1, 1), shared_mem_bytes: 0 };
        // SAFETY: the kernel accesses `N` elements, and `x` has as many.
        unsafe { stream.launch_builder(&self.0).arg(x).arg(&N).launch(config) }.map(drop)
    }
}

type Outcome = std::result::Result<(), DriverError>;

/// Launches `count` kernels one after the other.
#[cuweave::call]
pub unsafe fn repeated(
    stream: &CallStream,
    library: &Library,
    x: &mut [f32; n],
    count: u32,
    n: u32,
) -> std::result::Result<(), DriverError> {
    (0..count).try_for_each(|_| library.launch(stream, x))
}

/// Calls of `each` kernels: `width` side by side, each followed by `steps - 1` others.
#[cuweave::graph]
fn calls(n: u32, width: u32, steps: u32, each: u32, library: &Library, x: &mut [f32; width * n]) {
    for _ in 0..steps {
        for i in 0..width {
            repeated(&library, &mut x[i * n..(i + 1) * n], each, n);
        }
    }
}

/// The kinds of nodes of a shape.
#[derive(Clone, Copy, Debug)]
pub enum Nodes {
    /// Launches of one kernel with two parameters.
    Kernels,
    /// Launches of one kernel with 18 parameters.
    WideKernels,
    /// Launches of 96 kernels.
    DifferentKernels,
    Copies,
    PitchedCopies,
    Fills,
    /// A kernel, a copy and a fill in turn.
    Mixed,
    /// Launches into a temporary each.
    Temporaries,
}

/// The order of the nodes of a shape.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// `width` chains of `steps` nodes.
    Chains { width: u32, steps: u32 },
    /// A node, and `width` nodes after it.
    Fan { width: u32 },
    /// `rounds` of a fork into `width` kernels and their join.
    Rounds { width: u32, rounds: u32 },
    /// `layers` of `width` nodes, each of which comes after two nodes of the previous layer.
    Layers { width: u32, layers: u32 },
    /// Node `i` comes after node `(i - 1) / 2`.
    Tree { nodes: u32 },
    /// Node `i` comes after up to two of the `window` nodes before it.
    Random { nodes: u32, window: u32 },
    /// `width` conditionals side by side, `steps` times; in each arm a chain of `body` nodes.
    Conditionals { width: u32, steps: u32, body: u32, arms: u32 },
    /// `width` library calls side by side, `steps` times, each of which captures `each` kernels.
    Calls { width: u32, steps: u32, each: u32 },
    /// Steps of a decoder: per layer five products, three of which are side by side, and seven small kernels.
    Decoder { layers: u32 },
}

/// A graph to instantiate.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    pub shape: Shape,
    pub nodes: Nodes,
    /// The launch transformations. `None` for all.
    pub launches: Option<Launches>,
    /// The number of execs.
    pub execs: usize,
}

/// A graph with the facts that it does not tell.
pub struct Built {
    pub graph: Graph<Args<'static>>,
    /// The total size of the parameters of its launches, in bytes.
    pub parameters: u64,
    /// The memory that it works on.
    pub memory: Buffer<f32>,
}

impl Sample {
    pub fn name(&self) -> String {
        let launches = self.launches.map_or("everything".to_owned(), |launches| format!("{launches:?}"));
        format!("{:?}, {:?}, {launches}", self.shape, self.nodes).replace('|', "/")
    }

    /// Builds the graph.
    pub fn build(&self, ctx: &Arc<CudaContext>, stream: &Arc<CudaStream>) -> Result<Built> {
        let mut b = Builder::with_name(ctx, "sample");
        if let Some(launches) = self.launches {
            b.launches(launches);
        }
        b.width(u32::MAX);
        if matches!(self.nodes, Nodes::Temporaries) {
            b.memory(Memory::Nodes);
        }
        let count = self.shape.columns();
        let memory = Buffer::<f32>::zeros(stream, (count * N) as usize)?;
        let x = b.exclusive("x", count * N, memory.clone());
        let single = b.exclusive("single", 1, Buffer::<f32>::zeros(stream, 1)?);
        let mut writer = Writer { b, nodes: self.nodes, x, single, made: 0, parameters: 0 };
        writer.shape(self.shape, ctx, stream)?;
        Ok(Built { graph: writer.b.build()?, parameters: writer.parameters, memory })
    }
}

impl Shape {
    /// Returns the number of parts of the buffer. Each node uses one of them.
    fn columns(self) -> u32 {
        match self {
            Shape::Chains { width, .. } | Shape::Rounds { width, .. } => width,
            Shape::Conditionals { width, .. } | Shape::Calls { width, .. } => width,
            Shape::Fan { width } => width + 1,
            Shape::Layers { width, layers } => width * layers,
            Shape::Tree { nodes } | Shape::Random { nodes, .. } => nodes,
            Shape::Decoder { .. } => 8,
        }
        // Copies and wide kernels read some more.
        .max(18)
    }
}

/// Adds the statements of a sample.
struct Writer {
    b: Builder<'static>,
    nodes: Nodes,
    x: Handle,
    single: Handle,
    /// The number of nodes so far.
    made: u32,
    /// The size of the parameters so far, in bytes.
    parameters: u64,
}

impl Writer {
    fn shape(&mut self, shape: Shape, ctx: &Arc<CudaContext>, stream: &Arc<CudaStream>) -> Result<()> {
        match shape {
            Shape::Chains { width, steps } => {
                (0..steps).try_for_each(|_| (0..width).try_for_each(|i| self.node(i, &[]).map(drop)))
            }
            Shape::Fan { width } => {
                let first = self.node(width, &[])?;
                (0..width).try_for_each(|i| self.node(i, &[first]).map(drop))
            }
            Shape::Rounds { width, rounds } => (0..rounds).try_for_each(|_| {
                for i in 0..width {
                    let own = self.x.range(i * N, (i + 1) * N).write();
                    self.b.launch(brief {}, (1, N), (self.single.read(), own, N))?;
                }
                let all = self.x.range(0, width * N).read();
                self.b.launch(gathered {}, (1, 32), (all, self.single.write(), width, N))?;
                self.parameters += u64::from(width) * 20 + 24;
                Ok(())
            }),
            Shape::Layers { width, layers } => {
                let mut before: Vec<Statement> = Vec::new();
                for layer in 0..layers {
                    let mut made = Vec::new();
                    for i in 0..width as usize {
                        let near = before.get(i).into_iter().chain(before.get((i + 1) % width as usize));
                        let near: Vec<Statement> = near.copied().collect();
                        made.push(self.node(layer * width + i as u32, &near)?);
                    }
                    before = made;
                }
                Ok(())
            }
            Shape::Tree { nodes } => {
                let mut made: Vec<Statement> = Vec::new();
                for i in 0..nodes {
                    let parent = (i as usize).checked_sub(1).and_then(|at| made.get(at / 2)).copied();
                    made.push(self.node(i, parent.as_slice())?);
                }
                Ok(())
            }
            Shape::Random { nodes, window } => {
                let mut made: Vec<Statement> = Vec::new();
                let mut state = 1u64;
                for i in 0..nodes {
                    let mut before = Vec::new();
                    for _ in 0..2 {
                        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                        let back = 1 + (state >> 33) as usize % window as usize;
                        before.extend(made.len().checked_sub(back).and_then(|at| made.get(at)).copied());
                    }
                    made.push(self.node(i, &before)?);
                }
                Ok(())
            }
            Shape::Conditionals { width, steps, body, arms } => {
                let index = Buffer::new(stream.clone_htod(&vec![0_u32; width as usize])?)?;
                let index = self.b.exclusive("index", width, index);
                for _ in 0..steps {
                    for i in 0..width {
                        let which = index.range(i, i + 1);
                        let own = self.x.range(i * N, (i + 1) * N);
                        let chain = |b: &mut Builder<'static>| -> cuweave::Result<()> {
                            (0..body).try_for_each(|_| b.launch(tiny {}, (1, N), (own.write(), N)).map(drop))
                        };
                        let mut choice = self.b.match_(&which);
                        for arm in 0..arms - 1 {
                            choice = choice.arm(arm, chain);
                        }
                        choice.otherwise(chain)?;
                        self.parameters += u64::from(body * arms) * 12;
                    }
                }
                Ok(())
            }
            Shape::Calls { width, steps, each } => {
                let all = self.x.range(0, width * N).write();
                let library = Arc::new(Library::new(ctx)?);
                self.b.call(calls::calls {}, (N, width, steps, each, library, all))?;
                self.parameters += u64::from(width * steps * each) * 12;
                Ok(())
            }
            Shape::Decoder { layers } => {
                let part = |i: u32| self.x.range(i * N, (i + 1) * N);
                let b = &mut self.b;
                for _ in 0..layers {
                    // The norm, three products, the rotation, the cache, attention, a product, the sum; the second
                    // norm, two products, the activation, a product, the sum.
                    let steps = [(0, 1), (1, 2), (1, 3), (1, 4), (2, 5), (3, 6), (5, 7), (7, 2), (2, 0)];
                    let second = [(0, 1), (1, 2), (1, 3), (2, 4), (4, 5), (5, 0)];
                    for (from, to) in steps.into_iter().chain(second) {
                        b.launch(produce {}, (1, N), (part(from).read(), part(to).write(), N))?;
                    }
                }
                self.parameters += u64::from(layers) * 15 * 20;
                Ok(())
            }
        }
    }

    /// Adds a node that writes one part of the buffer, after other nodes.
    fn node(&mut self, i: u32, before: &[Statement]) -> Result<Statement> {
        let (at, own) = (self.made, [i * N, (i + 1) * N]);
        self.made += 1;
        for &before in before {
            self.b.after(before);
        }
        let (lo, half, hi) = (own[0], own[0] + N / 2, own[1]);
        let nodes = match (self.nodes, at % 3) {
            (Nodes::Mixed, 0) => Nodes::Kernels,
            (Nodes::Mixed, 1) => Nodes::Copies,
            (Nodes::Mixed, _) => Nodes::Fills,
            (nodes, _) => nodes,
        };
        Ok(match nodes {
            Nodes::Kernels | Nodes::Mixed => {
                self.parameters += 12;
                self.b.launch(tiny {}, (1, N), (self.x.range(lo, hi).write(), N))?
            }
            Nodes::WideKernels => {
                // It reads parts of its own column only, so that columns stay independent.
                let n = N / 32;
                let part = |k: u32| self.x.range(lo + k * n, lo + (k + 1) * n);
                let mut arguments: Vec<cuweave::builder::Argument> =
                    (0..16).map(|k| part(k).read()).collect();
                arguments.push(part(16).write());
                arguments.push(cuweave::builder::Argument::value(n));
                self.parameters += 17 * 8 + 4;
                self.b.launch(join {}, (1, 32), arguments)?
            }
            Nodes::DifferentKernels => {
                self.parameters += 12;
                different(&mut self.b, at, &self.x, own)?
            }
            Nodes::Copies => self.b.copy(self.x.range(lo, half).read(), self.x.range(half, hi).write())?,
            Nodes::PitchedCopies => {
                let from = self.x.range(lo, hi).rows(8, 8, 32).read();
                self.b.copy(from, self.x.range(lo + 16, hi).rows(8, 8, 32).write())?
            }
            Nodes::Fills => self.b.fill(self.x.range(lo, hi).write(), 1.0_f32)?,
            Nodes::Temporaries => {
                self.parameters += 40;
                let t = self.b.alloc::<f32>(N);
                self.b.launch(produce {}, (1, N), (self.x.range(lo, hi).read(), t.write(), N))?;
                self.b.launch(produce {}, (1, N), (t.read(), self.x.range(lo, hi).write(), N))?
            }
        })
    }
}
