//! The pipeline from bound arguments to a graph: expand, evaluate, check, plan, add the nodes.
//!
//! All faults of the input are found before the first node is added. After an error, drops destroy everything
//! that was created, and the caller's buffers are unchanged.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

use cudarc::driver::CudaContext;
use cuweave_core::expand::{ArgumentDescription, ExpansionPoint, Expressions, StatementOrigin};
use cuweave_core::flattened::{Flattened, SizedProgram};
use cuweave_core::ids::ScalarId;
use cuweave_core::index::{Index, Vector};
use cuweave_core::ir::{BufferId, Device, DimId, Program, StatementId, StatementKind};
use cuweave_core::launches::Allowed;
use cuweave_core::table::{Scalar, Setting, Table};

use crate::bind::{HintVisitor, Operand, Operands, Owners, RangedHint, Visitor};
use crate::build::{
    Aliases, Body, BodyEvaluator, BuiltGraph, Contexts, Definition, EmptyAtZero, Peers, PlanOptions,
    SizeSample, apply_hints, apply_hook, check_devices, check_host_statements, check_limits, check_mappings,
    check_moved_ranges, check_operands, check_overlap, check_pinned_launches, check_recursion, flattened,
    limited_frames, plan, ranged_launches, sized_launches,
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
use super::size_ranges::{
    SizePoint, SizeRange, after_steps, check_sizes, size_points, size_ranges, steps_between,
};
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

    /// Gives the sizes new values.
    fn give_sizes(&mut self, sizes: &[SizeRange], values: &[u64]) -> Result<()>;

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

    fn give_sizes(&mut self, sizes: &[SizeRange], values: &[u64]) -> Result<()> {
        give_sizes(self, sizes, values)
    }

    fn with_body(&self, with: &mut dyn FnMut(&dyn Body) -> Result<()>) -> Result<()> {
        with(&self.values(Token))
    }
}

/// Gives the sizes new values.
fn give_sizes<A: GraphFn>(args: &mut A, sizes: &[SizeRange], values: &[u64]) -> Result<()> {
    for (size, &value) in sizes.iter().zip(values) {
        let slot = args.size(size.scalar.index(), Token).ok_or(PlanFault::OtherVersion)?;
        if !slot.replace(value) {
            // The value does not fit into the type of the argument.
            return Err(size.out_of_range(size.value));
        }
    }
    Ok(())
}

/// Returns the largest values of sizes.
fn largest_of(sizes: &[SizeRange]) -> Vec<u64> {
    sizes.iter().map(|size| size.most).collect()
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
    args.give_sizes(&sizes, &largest_of(&sizes))?;
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
    let mut evaluator =
        SizeEvaluator { flat: &flat, args, limits: &limits, modules: &mut modules, sizes: &sizes };
    let empty_at_zero = evaluator.empty_at_zero()?;
    evaluator.check_smallest(&empty_at_zero)?;
    let samples = match allowed.batches || allowed.fuse {
        true => evaluator.samples(&empty_at_zero)?,
        false => Vec::new(),
    };
    let ranged = ranged_launches(&flat, &records, &words, &samples);

    driver.enter(Context::from_cudarc(ctx))?;
    let evaluated = Instant::now();
    let options = PlanOptions {
        memory: None,
        unlimited: false,
        allowed,
        as_written: BTreeSet::new(),
        emptied: &empty_at_zero.statements,
        aliases: &aliases,
        mappings: &mappings,
        ranged: &ranged,
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
        ranged,
        limits,
        empty_at_zero,
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
        args.give_sizes(&sample, &largest_of(&sample))?;
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
    args.give_sizes(sizes, &largest_of(sizes))?;
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
    let may_be_empty = BTreeSet::new();
    let (modules_of, count) = (&mut modules, statements.len());
    let mut evaluation = Evaluation::new(program, dims, limits, modules_of, &may_be_empty, count, Vec::new());
    args.with_body(&mut |body| evaluation.statements(flat, body, &statements))?;
    let values = evaluation.finish();
    Ok((modules, values))
}

/// The maximum number of values beside which grids change, since all launches are evaluated for each.
const MAX_BORDERS: usize = 100;

/// Evaluates statements for values of the sizes. Before and after each method, the sizes have their largest values.
struct SizeEvaluator<'b> {
    flat: &'b Flattened,
    args: &'b mut dyn BuildArguments,
    limits: &'b Vector<Device, DeviceLimits>,
    modules: &'b mut Modules,
    sizes: &'b [SizeRange],
}

impl SizeEvaluator<'_> {
    /// Returns what is empty if the sizes with `#[at_least(0)]` are 0.
    fn empty_at_zero(&mut self) -> Result<EmptyAtZero> {
        let SizeEvaluator { flat, args, limits, modules, sizes } = self;
        let mut found = EmptyAtZero::default();
        let zero = || sizes.iter().filter(|size| size.least == 0);
        if zero().next().is_none() {
            return Ok(found);
        }
        let scalars: Vec<ScalarId> = zero().map(|size| size.scalar).collect();
        let mut evaluate = |others: fn(&SizeRange) -> u64| {
            let values = sizes.iter().map(|size| if size.least == 0 { 0 } else { others(size) });
            args.give_sizes(sizes, &values.collect::<Vec<u64>>())?;
            args.with_body(&mut |body| {
                found = EmptyAtZero::new(flat, body, &scalars, limits, modules)?;
                Ok(())
            })
        };
        // A range may be valid for 0 only if other sizes are small too.
        match evaluate(|size| size.most) {
            Err(Error::Range { .. } | Error::ViewRange { .. }) => evaluate(|size| size.least)?,
            other => other?,
        }
        args.give_sizes(sizes, &largest_of(sizes))?;
        Ok(found)
    }

    /// Checks the launches that sizes reach also with the smallest values, so that a launch that would not write all
    /// that it must is an error of the build. What other scalars with setters reach, too, is left to the sets: an edit
    /// may change both. A value of 0 disables nodes.
    fn check_smallest(&mut self, empty: &EmptyAtZero) -> Result<()> {
        let SizeEvaluator { flat, args, limits, modules, sizes } = self;
        if sizes.is_empty() {
            return Ok(());
        }
        let scalars: Vec<ScalarId> = sizes.iter().map(|size| size.scalar).collect();
        let is_other = |scalar: &Scalar| matches!(scalar.setting, Setting::Free);
        let others: BTreeSet<StatementId> =
            flat.scalars.iter().filter(|one| is_other(one)).flat_map(|one| one.statements.clone()).collect();
        let moves = |id: &ScalarId| flat.moves.of.get(*id).is_some_and(|moved| !moved.is_empty());
        let moving = flat.scalars.enumerate().filter(|(_, scalar)| is_other(scalar)).map(|(id, _)| id);
        let moving: Vec<ScalarId> = moving.filter(moves).collect();
        let by_others = flat.moves.union(&flat.scalars, &moving);
        let effects = flat.moves.union(&flat.scalars, &scalars).without(&by_others);
        let program = flat.checked.program();
        let is_launch = |id: &&StatementId| {
            program.statements[**id].kind == StatementKind::Launch(()) && !others.contains(id)
        };
        let launches: Vec<StatementId> = effects.evaluated.iter().filter(is_launch).copied().collect();
        let mut limited = limited_frames(flat);
        limited.retain(|&frame| others.iter().all(|&statement| flat.instances[statement].frame != frame));
        let least: Vec<u64> = sizes.iter().map(|size| size.least.max(1)).collect();
        args.give_sizes(sizes, &least)?;
        let checked = args.with_body(&mut |body| {
            let dims = match flat.moves.values(&mut BodyEvaluator::new(body), &flat.frames, &flat.sizes) {
                Ok(bounds) => bounds.dims,
                Err(_) if !moving.is_empty() => return Ok(()),
                Err(error) => return Err(error),
            };
            check_limits(flat, body, &limited)?;
            check_moved_ranges(&effects, flat, &dims, &empty.buffers)?;
            let (empty, count) = (&empty.statements, launches.len());
            let mut evaluation = Evaluation::new(program, &dims, limits, modules, empty, count, Vec::new());
            evaluation.statements(flat, body, &launches)
        });
        args.give_sizes(sizes, &largest_of(sizes))?;
        checked.map_err(|error| {
            let value = |size: &SizeRange| format!("`{}` = {}", size.at.name, size.least.max(1));
            let values: Vec<String> = sizes.iter().map(value).collect();
            Error::SmallestSizes(values.join(" and "), Box::new(error))
        })
    }

    /// Evaluates the launches that sizes move for some values of the sizes. Values for which the program has an error
    /// are left out.
    fn samples(&mut self, empty: &EmptyAtZero) -> Result<Vec<SizeSample>> {
        let (statements, mut samples) = (sized_launches(self.flat), Vec::new());
        if statements.is_empty() {
            return Ok(samples);
        }
        let mut points = Vec::new();
        for point in size_points(self.sizes) {
            if let Some(sample) = self.at(&point, &statements, empty)? {
                samples.push(sample);
                points.push(point);
            }
        }
        let most = SizePoint { values: largest_of(self.sizes), rises: false };
        let largest = self.at(&most, &statements, empty)?;
        let compared: Vec<(&SizePoint, &SizeSample)> =
            points.iter().chain([&most]).zip(samples.iter().chain(&largest)).collect();
        for values in self.borders(&statements, &compared, empty)? {
            samples.extend(self.at(&SizePoint { values, rises: false }, &statements, empty)?);
        }
        self.args.give_sizes(self.sizes, &largest_of(self.sizes))?;
        Ok(samples)
    }

    /// Returns values beside which grids change. Grids that agree in the samples may differ there.
    fn borders(
        &mut self,
        statements: &[StatementId],
        samples: &[(&SizePoint, &SizeSample)],
        empty: &EmptyAtZero,
    ) -> Result<BTreeSet<Vec<u64>>> {
        let mut alike: BTreeMap<Vec<Option<[u32; 3]>>, Vec<StatementId>> = BTreeMap::new();
        for &id in statements {
            alike.entry(samples.iter().map(|(_, sample)| sample.grid(id)).collect()).or_default().push(id);
        }
        let mut borders = BTreeSet::new();
        for (grids, members) in alike.iter().filter(|(_, members)| members.len() > 1) {
            for (pair, grids) in samples.windows(2).zip(grids.windows(2)) {
                let ([(from, _), (to, _)], [grid, next]) = (pair, grids) else { continue };
                if grid == next || borders.len() >= MAX_BORDERS {
                    continue;
                }
                let (mut before, mut after) = (0, steps_between(&from.values, &to.values));
                while after - before > 1 {
                    let middle = before + (after - before) / 2;
                    let values = after_steps(&from.values, &to.values, middle);
                    let sample = self.at(&SizePoint { values, rises: false }, &members[..1], empty)?;
                    let is_before = sample.and_then(|sample| sample.grid(members[0])) == *grid;
                    *(if is_before { &mut before } else { &mut after }) = middle;
                }
                borders.extend([before, after].map(|steps| after_steps(&from.values, &to.values, steps)));
            }
        }
        Ok(borders)
    }

    /// Evaluates launches. `None` if the program has an error for these values.
    fn at(
        &mut self,
        point: &SizePoint,
        statements: &[StatementId],
        empty: &EmptyAtZero,
    ) -> Result<Option<SizeSample>> {
        let SizeEvaluator { flat, args, limits, modules, sizes } = self;
        args.give_sizes(sizes, &point.values)?;
        let mut evaluated = None;
        let done = args.with_body(&mut |body| {
            let bounds = flat.moves.values(&mut BodyEvaluator::new(body), &flat.frames, &flat.sizes)?;
            let (program, count) = (flat.checked.program(), statements.len());
            let mut evaluation =
                Evaluation::new(program, &bounds.dims, limits, modules, &empty.statements, count, Vec::new());
            // Other scalars may fit the sizes only after they are set.
            evaluation.skip_access_checks();
            evaluation.statements(flat, body, statements)?;
            evaluated = Some(evaluation.finish());
            Ok(())
        });
        Ok(evaluated.filter(|_| done.is_ok()).map(|StatementValues { records, words, .. }| {
            let records = statements.iter().copied().zip(records).collect();
            SizeSample { rises: point.rises, records, words }
        }))
    }
}
