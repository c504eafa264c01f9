//! Runs a random program as a graph function, with code like that which the macro generates.

use std::cell::Cell;
use std::ops::Deref;

use cudarc::driver::CudaSlice;
use cuweave::__private::{
    Arguments, BindMut, BindShared, Body, Bound, BoundExclusive, BoundShared, Dim, ElementLayout, Evaluation,
    ExecCore, Generated, GraphFn, Loaded, Table, TableHandle, ToView, Token, ViewContext, Visitor, build,
    dim, load, mark, operations,
};
use cuweave::bind::DeviceView;
use cuweave::report::Report;
use cuweave::{ArenaPool, Exec, Graph};
use cuweave_core::index::Index;
use cuweave_core::ir::{BufferId, Program, StatementId};
use cuweave_core::structure::Structure;
use cuweave_core::table::{BoundOp, Parameter, PrintedFunction, encode};
use cuweave_testkit::device;
use cuweave_testkit::random::Random;

use super::kernels::{Affine, KERNELS, Launched, MODULE, Takes};
use super::program::{Does, Function, LONGEST, Launch, Number, SCALARS, X, Z, len_of};

/// A program in a table that is never freed.
#[derive(Clone, Copy)]
pub struct Printable {
    table: &'static Table,
    does: &'static [Does],
    /// If set, every launch uses this kernel.
    kernel: Option<&'static Launched>,
    program: &'static Program,
}

impl Printable {
    pub fn new(function: &Function) -> Printable {
        let function = Box::leak(Box::new(function.clone()));
        let program = &function.program;
        let value = |text: &str| text.parse().expect("lengths are numbers");
        let dims: Vec<Vec<BoundOp>> =
            program.dims.iter().map(|text| vec![BoundOp::Constant(value(text))]).collect();
        let steps: Vec<u32> = (0..program.statements.len() as u32).collect();
        let parameters: Vec<(String, Parameter)> = (0..3)
            .zip(["x", "y", "z"])
            .map(|(at, name)| (name.to_owned(), Parameter::Buffer(BufferId::from_u32(at))))
            .collect();
        let bytes = encode(&PrintedFunction {
            program,
            layouts: &vec![0; program.buffers.len()],
            dims: &dims,
            steps: &steps,
            scalars: &function.scalars(),
            parameters: &parameters,
            structure: &Structure::default(),
        });
        const LAYOUTS: &[ElementLayout] = &[ElementLayout::of::<u32>()];
        let table = Box::leak(Box::new(Table::new(bytes.leak(), LAYOUTS)));
        Printable { table, does: &function.does, kernel: None, program }
    }

    /// Returns the program with all launches replaced by launches of a kernel with the same parameters.
    pub fn launching(self, kernel: &'static Launched) -> Printable {
        Printable { kernel: Some(kernel), ..self }
    }
}

thread_local! {
    /// The program that [`Args`] stands for. It is read at the start of a build and at instantiation.
    static BUILT: Cell<Option<&'static Table>> = const { Cell::new(None) };
}

/// The arguments of any random program.
pub struct Args<'a> {
    printable: Printable,
    pub x: BoundExclusive<'a, u32>,
    pub y: BoundShared<'a, u32>,
    pub z: BoundExclusive<'a, u32>,
    pub scalars: [u32; SCALARS],
}

/// The exec and the number of its outputs.
#[derive(Debug)]
pub struct Methods<'a> {
    pub core: ExecCore<Args<'a>>,
    outputs: usize,
}

impl GraphFn for Args<'_> {
    fn table(_: Token) -> Option<&'static Table> {
        BUILT.get()
    }

    type Values<'v>
        = &'v Self
    where
        Self: 'v;

    fn values(&self, _: Token) -> &Self {
        self
    }
}

impl Body for &Args<'_> {
    fn table(&self, _: Token) -> Option<TableHandle> {
        self.printable.table.handle()
    }

    fn leaf(&self, _: u32, _: &[i64], _: Token) -> Dim {
        unreachable!("all lengths are numbers")
    }

    fn arm(&self, _: u32, _: &[i64], _: Token) -> u32 {
        unreachable!("the program is flat")
    }

    fn enter(&self, _: u32, _: &[i64], _: &mut dyn FnMut(&dyn Body), _: Token) {
        unreachable!("the program is flat")
    }

    fn evaluate(
        &self,
        step: u32,
        _: &[i64],
        evaluation: &mut Evaluation<'_>,
        _: Token,
    ) -> cuweave::Result<()> {
        match &self.printable.does[step as usize] {
            Does::Nothing => Ok(()),
            Does::Copy => evaluation.copy(),
            &Does::Fill(value) => evaluation.fill(value),
            Does::Launch(launch) => self.launch(step, launch, evaluation),
        }
    }
}

impl<'a> Generated for Args<'a> {
    type Exec = Methods<'a>;
    type Views<'v>
        = [DeviceView<'v, u32>; 2]
    where
        Self: 'v;
    type ViewsMut<'v>
        = ()
    where
        Self: 'v;

    fn operands(&mut self, visitor: &mut Visitor<'_>, _: Token) {
        self.x.visit(visitor);
        self.y.visit(visitor);
        self.z.visit(visitor);
    }

    fn views<'v>(&'v self, lender: &ViewContext<'v>, _: Token) -> [DeviceView<'v, u32>; 2] {
        [self.x.to_view(lender, X.as_u32()), self.z.to_view(lender, Z.as_u32())]
    }

    fn views_mut<'v>(&'v mut self, _: &ViewContext<'v>, _: Token) {}

    fn exec(core: ExecCore<Self>, _: Token) -> Methods<'a> {
        let outputs = BUILT.get().and_then(Table::get).map_or(0, |table| table.program.outputs.len());
        Methods { core, outputs }
    }

    fn core<'m>(methods: &'m Methods<'a>, _: Token) -> &'m ExecCore<Self> {
        &methods.core
    }

    fn core_mut<'m>(methods: &'m mut Methods<'a>, _: Token) -> &'m mut ExecCore<Self> {
        &mut methods.core
    }

    fn into_core(methods: Methods<'a>, _: Token) -> ExecCore<Self> {
        methods.core
    }
}

impl Args<'_> {
    fn launch(&self, step: u32, launch: &Launch, evaluation: &mut Evaluation<'_>) -> cuweave::Result<()> {
        let launched = self.printable.kernel.unwrap_or(&KERNELS[launch.kernel]);
        let accesses = &self.printable.program.statements[StatementId::from_u32(step)].accesses;
        let number = match launch.number {
            Number::Fixed(value) => value,
            Number::Argument(scalar) => self.scalars[scalar],
        };
        let mut arguments = Arguments::new(launched.kernel.words, accesses.len());
        let mut buffer = 0;
        for takes in launched.takes {
            match *takes {
                Takes::Buffer(_) => {
                    let extent = dim(len_of(accesses, buffer as usize));
                    arguments.buffer(mark::Unique::<u32>::at(buffer), extent);
                    buffer += 1;
                }
                Takes::Len(buffer) => arguments.scalar(len_of(accesses, buffer)),
                Takes::Number => arguments.scalar(number),
                Takes::Affine => {
                    let b = u64::from(number) << 33 | u64::from(step);
                    arguments.scalar(Affine { a: number as u8 | 1, b, c: number ^ 0x5a });
                }
            }
        }
        let (mut grid, mut block) = (launch.grid, launch.block);
        if let Some(scalar) = launch.blocks_by {
            grid[0] = 1 + self.scalars[scalar] % 5;
        }
        if let Some(scalar) = launch.threads_by {
            block[0] = 4 << (self.scalars[scalar] % 3);
        }
        let shared_mem_bytes = if launched.stages { 4 * block.iter().product::<u32>() } else { 0 };
        let triple = |[x, y, z]: [u32; 3]| (x, y, z);
        let config = cudarc::driver::LaunchConfig {
            grid_dim: triple(grid),
            block_dim: triple(block),
            shared_mem_bytes,
        };
        evaluation.run(&launched.kernel, config, arguments)
    }
}

/// A device that this test holds exclusively.
pub struct Device {
    /// Keeps the kernels loaded, so that files and variants are loaded once. Devices older than Volta refuse the
    /// file.
    _loaded: Option<Loaded>,
    alone: device::ExclusiveDevice,
}

impl Deref for Device {
    type Target = device::Device;

    fn deref(&self) -> &device::Device {
        &self.alone
    }
}

pub fn device() -> Device {
    let alone = device::alone();
    Device { _loaded: load(&MODULE, &alone.ctx).ok(), alone }
}

/// The initial contents of the arguments, and the values that setters set before each later launch.
#[derive(Clone)]
pub struct Inputs {
    pub x: Vec<u32>,
    pub y: [Vec<u32>; 2],
    pub z: Vec<u32>,
    /// A list for each launch. Launches with odd numbers use the second `y`.
    pub scalars: Vec<[u32; SCALARS]>,
}

impl Inputs {
    pub fn random(seed: u64, program: &Function, launches: usize) -> Inputs {
        let mut random = Random::new(!seed);
        let mut numbers = |len: u32| (0..len).map(|_| random.below(1 << 30)).collect::<Vec<u32>>();
        let z = program.program.buffers[Z].len.index() * 8;
        let (x, y, z) = (numbers(LONGEST), [numbers(LONGEST), numbers(LONGEST)], numbers(z as u32));
        let scalars = (0..launches).map(|_| std::array::from_fn(|_| random.below(7))).collect();
        Inputs { x, y, z, scalars }
    }
}

/// The contents of `x`, `z` and the outputs after a launch.
pub type Left = Vec<Vec<u32>>;

impl Device {
    /// Returns the arguments that a program is first bound to.
    pub fn args(&self, function: Printable, inputs: &Inputs) -> Args<'static> {
        Args {
            printable: function,
            x: self.upload(&inputs.x).bind_mut(),
            y: self.upload(&inputs.y[0]).bind_shared(),
            z: self.upload(&inputs.z).bind_mut(),
            scalars: inputs.scalars[0],
        }
    }

    pub fn build(&self, args: Args<'static>) -> cuweave::Result<Graph<Args<'static>>> {
        BUILT.set(Some(args.printable.table));
        build(&self.ctx, args)
    }

    /// Launches once per input, and calls all setters between launches. The error is a message.
    pub fn launches(&self, exec: &mut Exec<Args<'static>>, inputs: &Inputs) -> Result<Vec<Left>, String> {
        let mut all = Vec::new();
        for (at, scalars) in inputs.scalars.iter().enumerate() {
            if at > 0 {
                let y = self.upload(&inputs.y[at % 2]);
                set(exec, y, scalars).map_err(|error| error.to_string())?;
            }
            all.push(self.launch(exec)?);
        }
        Ok(all)
    }

    pub fn launch(&self, exec: &mut Exec<Args<'static>>) -> Result<Left, String> {
        exec.core.launch(&self.stream, ()).map_err(|error| error.to_string())?;
        let mut left = Vec::new();
        for output in 0..exec.outputs {
            let output = exec.core.output::<u32>(output).map_err(|error| error.to_string())?;
            left.push(self.stream.clone_dtoh(&*output).map_err(|error| error.to_string())?);
        }
        for view in exec.core.views() {
            left.push(self.stream.clone_dtoh(&view).map_err(|error| error.to_string())?);
        }
        Ok(left)
    }

    /// Builds and launches. Returns the contents after each launch, the report, and the number of batches with
    /// unequal grids.
    pub fn run(&self, function: Printable, inputs: &Inputs) -> Result<(Vec<Left>, Report, usize), String> {
        self.run_in(None, function, inputs)
    }

    /// Like `run`, but uses the arena of a pool if one is given.
    pub fn run_in(
        &self,
        pool: Option<&ArenaPool>,
        function: Printable,
        inputs: &Inputs,
    ) -> Result<(Vec<Left>, Report, usize), String> {
        let graph = self.build(self.args(function, inputs)).map_err(|error| error.to_string())?;
        let flat = operations(&graph).batches.iter().filter(|batch| batch.axis.is_none()).count();
        let exec = match pool {
            Some(pool) => graph.instantiate_in(pool),
            None => graph.instantiate(),
        };
        let mut exec = exec.map_err(|error| error.to_string())?;
        let left = self.launches(&mut exec, inputs)?;
        Ok((left, exec.core.report(), flat))
    }

    /// Returns the expected contents after each launch: those of a sequential graph, built anew for each launch.
    pub fn meaning(&self, one_by_one: Printable, inputs: &Inputs) -> Vec<Left> {
        let mut inputs = inputs.clone();
        let all = inputs.scalars.clone();
        let mut meaning = Vec::new();
        for scalars in all {
            inputs.scalars = vec![scalars];
            let (mut left, ..) = self.run(one_by_one, &inputs).expect("it runs as it is written");
            let left = left.remove(0);
            let [.., x, z] = left.as_slice() else { panic!("there are `x` and `z`") };
            (inputs.x, inputs.z) = (x.clone(), z.clone());
            inputs.y.swap(0, 1);
            meaning.push(left);
        }
        meaning
    }
}

/// Sets `y` and all scalars.
pub fn set(
    exec: &mut Exec<Args<'static>>,
    y: CudaSlice<u32>,
    scalars: &[u32; SCALARS],
) -> cuweave::Result<()> {
    exec.core.set_buffer(1, y.bind_shared(), |args| &mut args.y)?;
    for (scalar, &value) in scalars.iter().enumerate() {
        exec.core.set_scalar(scalar, value, move |args| &mut args.scalars[scalar])?;
    }
    Ok(())
}
