//! The pipeline from bound arguments to a graph: expand, evaluate, check, plan, add the nodes.
//!
//! All faults of the input are found before the first node is added. After an error, drops destroy everything
//! that was created, and the caller's buffers are unchanged.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use cudarc::driver::CudaContext;
use cuweave_core::expand::{ArgumentDescription, ExpansionPoint, Expressions, StatementOrigin};
use cuweave_core::flattened::{Flattened, SizedProgram};
use cuweave_core::index::{Index, Vector};
use cuweave_core::ir::{BufferId, Device, DimId, Program, StatementId, StatementKind};
use cuweave_core::launches::Allowed;
use cuweave_core::table::Table;

use crate::bind::{HintVisitor, Operand, Operands, Owners, RangedHint, Visitor};
use crate::build::{
    Aliases, Body, BodyEvaluator, BuiltGraph, Contexts, Definition, Peers, PlanOptions, apply_hints,
    apply_hook, check_devices, check_host_statements, check_mappings, check_operands, check_overlap,
    check_pinned_launches, check_recursion, flattened, plan,
};
use crate::context;
use crate::cuda::{self, Context, Driver};
use crate::error::{Error, PlanFault, Result};
use crate::kernels::{DeviceLimits, Modules, programmatic};
use crate::ranges;
use crate::statements::{Evaluation, StatementValues};
use crate::token::Token;

use super::boxed_core::BoxedCore;
use super::core::Core;
use super::graph::{Generated, Graph, GraphFn};
use super::size_ranges::{SizeRange, check_sizes, size_ranges};
use super::times::BuildTimes;

/// The bound arguments of a graph function of any type. As a trait object it lets the build be compiled once
/// instead of once per function.
trait BuildArguments {
    /// Returns the table of the function; `None` for the graph of a builder.
    fn table(&self) -> Option<&'static Table>;

    /// Returns the records and lists among the arguments.
    fn described(&self) -> Result<Vec<ArgumentDescription>>;

    /// Visits the bound buffers.
    fn operands(&mut self, visitor: &mut Visitor<'_>);

    /// Returns the hints of the bound buffers, each with the buffer's index.
    fn hints(&self) -> Vec<(usize, Vec<RangedHint>)>;

    /// Gives the sizes their largest values.
    fn enlarge(&mut self, sizes: &[SizeRange]) -> Result<()>;

    /// Calls `with` with the values of its scalars and the code of its expressions.
    fn with_body(&self, with: &mut dyn FnMut(&dyn Body) -> Result<()>) -> Result<()>;
}

impl<A: GraphFn> BuildArguments for A {
    fn table(&self) -> Option<&'static Table> {
        A::table(Token)
    }

    fn described(&self) -> Result<Vec<ArgumentDescription>> {
        A::described(self, Token)
    }

    fn operands(&mut self, visitor: &mut Visitor<'_>) {
        Generated::operands(self, visitor, Token);
    }

    fn hints(&self) -> Vec<(usize, Vec<RangedHint>)> {
        hints_of(self)
    }

    fn enlarge(&mut self, sizes: &[SizeRange]) -> Result<()> {
        enlarge(self, sizes)
    }

    fn with_body(&self, with: &mut dyn FnMut(&dyn Body) -> Result<()>) -> Result<()> {
        with(&self.values(Token))
    }
}

/// Gives the sizes their largest values.
fn enlarge<A: GraphFn>(args: &mut A, sizes: &[SizeRange]) -> Result<()> {
    for size in sizes {
        let slot = args.size(size.scalar.index(), Token).ok_or(PlanFault::OtherVersion)?;
        if !slot.replace(size.most) {
            // The largest value does not fit into the type of the argument.
            return Err(size.out_of_range(size.given));
        }
    }
    Ok(())
}

/// Returns the hints of bound buffers, each with the buffer's index.
pub(super) fn hints_of<A: GraphFn>(args: &A) -> Vec<(usize, Vec<RangedHint>)> {
    let mut visitor = HintVisitor::default();
    args.hints(&mut visitor, Token);
    visitor.finish()
}

/// Builds a graph function's graph.
pub fn build<A: GraphFn>(ctx: &Arc<CudaContext>, args: A) -> Result<Graph<A>> {
    build_on(std::slice::from_ref(ctx), args)
}

/// Builds a graph function's graph over the devices of `contexts`. The statements number devices in this order.
pub fn build_on<A: GraphFn>(contexts: &[Arc<CudaContext>], mut args: A) -> Result<Graph<A>> {
    let core = build_core(contexts, &mut args)?;
    Ok(Graph::new(core, args))
}

/// Builds the graph of a function from its bound arguments.
fn build_core(contexts: &[Arc<CudaContext>], args: &mut dyn BuildArguments) -> Result<BoxedCore> {
    let began = Instant::now();
    let driver = cuda::driver()?;
    let contexts: Contexts = contexts.to_vec().into();
    let Some(ctx) = contexts.get(Device::FIRST) else { return Err(Error::NoContext) };
    ranges::unmap_retired();
    for ctx in contexts.as_slice().iter().rev() {
        context::enter(driver, ctx)?;
    }
    cuda::mark_log(driver);
    let mut sizes = Vec::new();
    args.with_body(&mut |body| {
        sizes = size_ranges(body)?;
        Ok(())
    })?;
    args.enlarge(&sizes)?;
    let mut expanded = expand(driver, ctx, &*args)?;
    check_sizes(&expanded.flat, &sizes)?;
    plan_scratch(&mut expanded, args, &sizes)?;
    let SizedProgram { flat, dims, symbols } = expanded;
    let program = flat.checked.program();

    check_devices(program, &dims, contexts.len())?;
    let mut owners = Owners::default();
    let operands = operands(&flat, &dims, &contexts, args, &mut owners)?;
    let aliases = Aliases::new(program, &dims, &operands.iter().collect::<Vec<_>>());
    aliases.check_statements(&flat)?;
    let mapped = program.buffers.ids().zip(&operands).filter(|(_, operand)| operand.is_mapping());
    let mappings: Vec<BufferId> = mapped.map(|(buffer, _)| buffer).collect();
    let peers = Peers::find(program, driver, &contexts, &operands)?;
    driver.enter(Context::from_cudarc(ctx))?;
    check_pinned_launches(driver, Context::from_cudarc(ctx), program, 0, &operands)?;

    let limits: Result<Vector<Device, DeviceLimits>> =
        contexts.iter().map(|ctx| DeviceLimits::query(driver, ctx)).collect();
    let limits = limits?;
    let allowed = Allowed::of(program, flat.checked.functions());
    let modules = |programmatic| Modules::new(driver, contexts.clone(), programmatic);
    let evaluate = |programmatic| evaluate(&flat, &dims, &*args, &limits, modules(programmatic));
    let programmatic = contexts.iter().try_for_each(|ctx| programmatic(driver, ctx, allowed));
    let (mut modules, values) = match programmatic {
        Err(_) => evaluate(programmatic)?,
        // A kernel with a wait inserted at its start may support fewer threads than the kernel as written.
        Ok(()) => evaluate(programmatic)
            .or_else(|error| evaluate(Err(format!("with the wait in front, {error}"))))?,
    };

    let StatementValues { records, words, unproved, works } = values;
    let records = Vector::from(records);

    driver.enter(Context::from_cudarc(ctx))?;
    let evaluated = Instant::now();
    let options = PlanOptions {
        memory: None,
        allowed,
        as_written: BTreeSet::new(),
        aliases: &aliases,
        mappings: &mappings,
    };
    let mut planned = plan(&flat, driver, &contexts, &records, &words, &mut modules, options)?;
    driver.enter(Context::from_cudarc(ctx))?;
    planned.decided.changed = apply_hook(program, &mut planned.operations)?;
    let definition = Definition {
        flat: flat.clone(),
        dims,
        symbols,
        driver,
        ctx: ctx.clone(),
        context: Context::from_cudarc(ctx),
        contexts,
        peers,
        aliases,
        mappings,
        limits,
        modules,
    };
    let mut built = BuiltGraph::new(&definition, planned, records, words, unproved);
    built.state.hosts.adopt(works, std::iter::empty());
    let hinted = operands.iter().enumerate().map(|(at, operand)| (at, operand, operand.hints.as_slice()));
    let prologues =
        apply_hints(definition.program(), definition.dims(), driver, &definition.contexts, hinted)?;
    let mut core = Core::new(definition, built, Operands::new(operands, owners))?;
    core.sizes = sizes;
    let count = core.operands.list.len();
    core.operands.prologues.replace(driver, 0, count, prologues)?;
    let planned = Instant::now();
    args.with_body(&mut |body| {
        core.add_nodes(body).or_else(|error| core.retry_as_written(error, |core| core.add_nodes(body)))
    })?;
    core.check_certificate()?;
    core.times = BuildTimes {
        evaluated: evaluated - began,
        planned: planned - evaluated,
        allocated: core.times.allocated,
        added: planned.elapsed().saturating_sub(core.times.allocated),
    };
    Ok(BoxedCore::new(core))
}

/// Returns the checked operands of the arguments, and collects their owning streams.
fn operands(
    flat: &Flattened,
    dims: &Vector<DimId, u64>,
    contexts: &Contexts,
    args: &mut dyn BuildArguments,
    owners: &mut Owners,
) -> Result<Vec<Operand>> {
    let program = flat.checked.program();
    let mut visitor = Visitor::new(contexts, owners);
    args.operands(&mut visitor);
    let mut operands = visitor.finish()?;
    for (at, hints) in args.hints() {
        if let Some(operand) = operands.get_mut(at) {
            operand.hints = hints;
        }
    }
    check_operands(program, dims, 0, &operands)?;
    check_overlap(program, dims, &operands)?;
    check_host_statements(program, 0, &operands)?;
    check_mappings(flat, &operands)?;
    Ok(operands)
}

/// Expands a function's table with the values of its arguments, and checks the flat program.
fn expand(driver: &Driver, ctx: &CudaContext, args: &dyn BuildArguments) -> Result<SizedProgram> {
    if let Some(table) = args.table() {
        check_recursion(table)?;
    }
    let mut built = None;
    let expanded = args.with_body(&mut |body| {
        let table = body.table(Token).ok_or_else(|| Error::from(PlanFault::OtherVersion))?;
        built = Some(flattened(&table, &args.described()?, &mut BodyEvaluator::new(body))?);
        Ok(())
    });
    // The user's expressions may have changed the current context.
    driver.enter(Context::from_cudarc(ctx))?;
    expanded?;
    built.ok_or_else(|| PlanFault::NoBody.into())
}

/// Plans the workspaces of library calls that sizes reach: each for the largest of its lengths for the powers of two
/// and the largest values of these sizes.
fn plan_scratch(
    SizedProgram { flat, dims, .. }: &mut SizedProgram,
    args: &mut dyn BuildArguments,
    sizes: &[SizeRange],
) -> Result<()> {
    let (mut lengths, mut reaching) = (Vec::new(), BTreeSet::new());
    for call in flat.instances.ids().filter(|&id| !sizes.is_empty() && flat.is_captured(id)) {
        let of = flat.sizes_of_call(call);
        if !of.is_empty() {
            lengths.extend(flat.scratch_lengths(call).into_iter().map(|lengths| (call, lengths)));
            reaching.extend(of);
        }
    }
    if lengths.is_empty() {
        return Ok(());
    }
    let mut samples = vec![Vec::new()];
    for size in sizes {
        let values = if reaching.contains(&size.scalar) { size.samples() } else { vec![size.clone()] };
        let with = |before: &Vec<SizeRange>| {
            let before = before.clone();
            values.iter().map(move |value| [&before[..], std::slice::from_ref(value)].concat())
        };
        samples = samples.iter().flat_map(with).collect();
    }
    let mut largest: Vec<u64> = lengths.iter().map(|&(_, (planned, _))| dims[planned]).collect();
    for sample in samples {
        args.enlarge(&sample)?;
        args.with_body(&mut |body| {
            let mut evaluator = BodyEvaluator::new(body);
            for ((call, (_, declared)), largest) in lengths.iter().zip(&mut largest) {
                let StatementOrigin { frame, loop_values, .. } = &flat.instances[*call];
                let at = ExpansionPoint { frames: &flat.frames, frame: *frame, loop_values };
                *largest = evaluator.value(at, *declared, &mut |_| None)?.max(*largest);
            }
            Ok(())
        })?;
    }
    args.enlarge(sizes)?;
    for ((_, (planned, _)), largest) in lengths.into_iter().zip(largest) {
        if dims[planned] != largest {
            dims[planned] = largest;
            Arc::make_mut(flat).sizes[planned] = largest;
        }
    }
    Ok(())
}

/// Returns the kernel names of a program's launches: sorted, unique, without the functions around them.
fn launched_kernels(program: &Program) -> Vec<String> {
    let launches =
        program.statements.iter().filter(|statement| matches!(statement.kind, StatementKind::Launch(_)));
    let names = launches.filter_map(|launch| launch.name.rsplit(['.', ':', ' ']).next());
    let names: BTreeSet<&str> = names.collect();
    names.into_iter().map(str::to_owned).collect()
}

/// Evaluates all statements. Returns the modules of the kernels and the values of the statements.
fn evaluate(
    flat: &Flattened,
    dims: &Vector<DimId, u64>,
    args: &dyn BuildArguments,
    limits: &Vector<Device, DeviceLimits>,
    mut modules: Modules,
) -> Result<(Modules, StatementValues)> {
    let program = flat.checked.program();
    modules.expect(launched_kernels(program));
    let statements: Vec<StatementId> = program.statements.ids().collect();
    let mut evaluation = Evaluation::new(program, dims, limits, &mut modules, statements.len(), Vec::new());
    args.with_body(&mut |body| evaluation.statements(flat, body, &statements))?;
    let values = evaluation.finish();
    Ok((modules, values))
}
