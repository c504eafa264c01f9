//! The stages that run when a graph is built: launch decisions, live ranges, budget, layout, emission and
//! programmatic edges.
//!
//! [`back`] makes a plan, and retries with fewer merged launches if the plan exceeds the budget or closes a cycle.
//! If fused chains take too much memory, it cuts them. [`super::planning`] calls it until the device accepts the
//! plan.

use std::collections::BTreeSet;
use std::fmt;

use crate::check::Checked;
use crate::emit;
use crate::index::{Index, Vector, narrow};
use crate::ir::{BufferId, Device, DimId, Memory, Origin, Program, StatementId, StatementKind};
use crate::launches::{
    self, Allowed, Chain, Decision, Explanation, Launch, LaunchProblem, MergedNodes, NodeLaunch, Tuning,
    fusion,
};
use crate::layout::{self, LayoutError};
use crate::operation::{
    AccessTargets, BudgetEffects, BudgetStep, ChainCut, ChainId, Operation, OperationKind, Operations,
};
use crate::overlap;
use crate::place::{self, Liveness};
use crate::plan;
use crate::plan::BufferIndex;
use crate::plan::budget::{BudgetError, CurvePoint, MemoryBuffers};
use crate::reach::Cycle;
use crate::scopes::Scopes;

use super::width::{self, WidthBound, WidthProblem};

/// The default lowering of allocations.
///
/// For every graph measured (`default_memory` in benches/results), the arena is at least as good as memory nodes:
/// in bytes (at most those of the driver's packing), in launch time (0.74 to 1.02 of theirs), in nodes (two in all
/// instead of two for each temporary) and in build time. Other graphs can share its memory through the pool, as
/// with single buffers. [`Memory::Owned`] launches equally fast, but shares its memory with no other graph.
const DEFAULT_MEMORY: Memory = Memory::Arena;

/// The page size of device memory. Plans with the same number of pages take the same memory.
const PAGE: u64 = 2 << 20;

/// The maximum number of attempts to cut chains until the plan is small enough.
const MAX_CHAIN_CUTS: u32 = 5;

/// The options of a build: facts and choices that the macro does not know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BackendOptions {
    /// The lowering of allocations, if the build overrides it.
    pub memory: Option<Memory>,
    /// Edges that the kernels require: between uses of hidden state, and between atomics that do not commute.
    pub edges: Vec<(StatementId, StatementId)>,
    /// The allowed launch transformations.
    pub allowed: Allowed,
    /// The facts about each launch, indexed by statement. Empty if no transformation is allowed.
    pub launches: Vector<StatementId, Option<Launch>>,
    /// The conditions and joins whose kernels set conditions and begin with `griddepcontrol.wait`.
    pub setters: BTreeSet<StatementId>,
    /// Duration classes of statements that are not launches. Statements of one class are assumed to take equally
    /// long.
    pub duration_classes: Vector<StatementId, u32>,
    /// The device constants for launch decisions.
    pub tuning: Tuning,
    /// The temporaries that can stay in registers. One that only members of one chain access gets no memory.
    pub elided: BTreeSet<BufferId>,
    /// True if chains are never cut, whatever memory they take.
    pub whole: bool,
    /// True if order is added to meet the program's budget, unless `whole` is set.
    pub budgeted: bool,
    /// True if the program's budget is no limit.
    pub unlimited: bool,
    /// The fills that a size of 0 leaves without bytes. Their nodes are disabled then.
    pub emptied_fills: BTreeSet<StatementId>,
}

impl BackendOptions {
    /// Returns the input of the launch decisions.
    fn problem<'a>(
        &'a self,
        program: &'a Program,
        edges: &'a [(StatementId, StatementId)],
    ) -> LaunchProblem<'a> {
        LaunchProblem {
            program,
            edges,
            launches: &self.launches,
            duration_classes: &self.duration_classes,
            allowed: self.allowed,
            max_members: usize::MAX,
            tuning: &self.tuning,
        }
    }
}

/// Why a checked program cannot be emitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BackError {
    /// Added edges contradict the order of the program.
    Cycle(Cycle),
    /// The sizes of the buffers cannot be laid out.
    Layout(LayoutError),
    /// The buffers do not fit into the budget.
    Budget(BudgetFault),
}

/// Why the temporaries of a graph do not fit into its budget.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BudgetFault {
    /// A single statement needs more than the budget.
    #[non_exhaustive]
    BelowFloor {
        /// The budget in bytes.
        budget: u64,
        /// The device, in a program with several.
        device: Option<u32>,
        /// The bytes that the statement needs.
        floor: u64,
        /// The statement.
        statement: String,
        /// Its line.
        line: u32,
        /// The buffers that it needs the memory for.
        buffers: Vec<String>,
    },
    /// No order was found in which the buffers fit.
    #[non_exhaustive]
    OverBudget {
        /// The budget in bytes.
        budget: u64,
        /// The device with the most bytes in the best plan, in a program with several.
        device: Option<u32>,
        /// The bytes of the best plan on that device.
        best: u64,
    },
}

impl fmt::Display for BackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BackError::Cycle(cycle) => cycle.fmt(f),
            BackError::Layout(error) => error.fmt(f),
            BackError::Budget(fault) => fault.fmt(f),
        }
    }
}

impl fmt::Display for BudgetFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BudgetFault::BelowFloor { budget, device, floor, statement, line, buffers } => {
                let (budget, floor) = (Budget(*budget, *device), BytesOnDevice(*floor, *device));
                let buffers: Vec<String> = buffers.iter().map(|buffer| format!("`{buffer}`")).collect();
                write!(
                    f,
                    "the {budget} is below the floor: `{statement}` (line {line}) needs {floor} at once, for {}",
                    buffers.join(", ")
                )
            }
            BudgetFault::OverBudget { budget, device, best } => {
                let (budget, best) = (Budget(*budget, *device), BytesOnDevice(*best, *device));
                write!(f, "no order was found that fits into the {budget}; the best one takes {best}")
            }
        }
    }
}

/// Displays a budget, for each device if the program has several.
struct Budget(u64, Option<u32>);

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let each = if self.1.is_some() { " for each device" } else { "" };
        write!(f, "budget of {} bytes{each}", self.0)
    }
}

/// Displays bytes of memory, with the device if the program has several.
struct BytesOnDevice(u64, Option<u32>);

impl fmt::Display for BytesOnDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.1 {
            Some(device) => write!(f, "{} bytes of device {device}", self.0),
            None => write!(f, "{} bytes", self.0),
        }
    }
}

impl std::error::Error for BackError {}

impl std::error::Error for BudgetFault {}

impl From<Cycle> for BackError {
    fn from(cycle: Cycle) -> BackError {
        BackError::Cycle(cycle)
    }
}

impl From<LayoutError> for BackError {
    fn from(error: LayoutError) -> BackError {
        BackError::Layout(error)
    }
}

impl From<BudgetFault> for BackError {
    fn from(fault: BudgetFault) -> BackError {
        BackError::Budget(fault)
    }
}

/// Plans and emits a checked program whose `dims` have these values.
///
/// If no plan with the chains and batches meets the budget, it drops the chains, then halves the batches until a
/// plan meets it, then keeps all launches as written.
///
/// # Errors
///
/// [`BackError`].
pub fn back(
    checked: &Checked,
    dims: &Vector<DimId, u64>,
    backend_options: &BackendOptions,
) -> Result<Operations, BackError> {
    let edges = edges_of(checked, backend_options);
    let mut problem = backend_options.problem(checked.program(), &edges);
    let mut decision = launches::decide(problem)?;
    let mut cut = None;
    loop {
        let (most, serialized) = (decision.largest(), decision.lanes.len());
        let is_fused = !decision.chains.is_empty();
        let done = plan_decision(checked, dims, backend_options, &edges, decision);
        let error = match done {
            Ok(done) if backend_options.whole || !can_split_chains(&done) => {
                return Ok(Operations { cut, ..done });
            }
            Ok(done) => return split_chains_to_save_memory(checked, dims, backend_options, &edges, done),
            Err(error) => error,
        };
        if !is_of_order(&error) {
            return Err(error);
        }
        decision = match (is_fused, most) {
            // A chain keeps the buffers of all its members alive at once. Launches reserved for fusion are batched
            // instead.
            (true, _) => {
                (problem.allowed.fuse, cut) = (false, Some(ChainCut::Budget));
                launches::decide(problem)?
            }
            // A cycle: an edge added for the budget passes through a batch.
            (false, 4..) => {
                problem.max_members = most / 2;
                launches::decide(problem)?
            }
            (false, _) if most > 1 || serialized > 0 => Decision::default(),
            _ => return Err(error),
        };
    }
}

/// Returns true if other launch decisions may avoid the error.
fn is_of_order(error: &BackError) -> bool {
    matches!(error, BackError::Budget(_) | BackError::Cycle(_))
}

/// Returns the order of a program with the edges of the options.
fn edges_of(checked: &Checked, backend_options: &BackendOptions) -> Vec<(StatementId, StatementId)> {
    let scopes = Scopes::new(checked.program());
    let added = backend_options.edges.iter().map(|&(from, to)| scopes.lifted(from, to));
    checked.edges().iter().copied().chain(added).collect()
}

/// Explains the launch decisions of a plan. Must be called with the inputs that [`back`] made the plan from.
pub fn explain(checked: &Checked, backend_options: &BackendOptions, operations: &Operations) -> Explanation {
    let edges = edges_of(checked, backend_options);
    let emitted =
        MergedNodes { batches: operations.batches.as_slice(), chains: operations.chains.as_slice() };
    let problem = backend_options.problem(checked.program(), &edges);
    // The order of an existing plan has no cycle.
    let serialized = operations.serialized - operations.narrowed.len();
    launches::explain(problem, emitted, serialized).unwrap_or_default()
}

/// Returns the planned bytes of the temporaries.
fn planned(operations: &Operations) -> u64 {
    operations.bounds.as_ref().map_or(0, |bounds| bounds.planned)
}

/// Returns true if [`back`] may cut the chains of this plan.
pub fn can_split_chains(operations: &Operations) -> bool {
    !operations.chains.is_empty() && planned(operations) > PAGE
}

/// Cuts chains until the plan takes no more pages than a plan without chains, since a chain keeps the buffers of
/// all its members alive at once. A piece has members of its chain in their order, so everything that holds for a
/// chain holds for its pieces. Launches reserved for fusion but left out of every piece are batched.
fn split_chains_to_save_memory(
    checked: &Checked,
    dims: &Vector<DimId, u64>,
    backend_options: &BackendOptions,
    edges: &[(StatementId, StatementId)],
    fused: Operations,
) -> Result<Operations, BackError> {
    let program = checked.program();
    let problem = backend_options.problem(program, edges);
    let single = LaunchProblem { allowed: Allowed { fuse: false, ..problem.allowed }, ..problem };
    let without = launches::decide_cut(single, &|chains| chains)?;
    let plain = match plan_decision(checked, dims, backend_options, edges, without) {
        Err(error) if is_of_order(&error) => return Ok(fused),
        plain => plain?,
    };
    let most = planned(&plain).next_multiple_of(PAGE);
    if planned(&fused) <= most {
        return Ok(fused);
    }
    let cut = Some(ChainCut::Pages { whole: planned(&fused), most });
    let bytes = |buffer: BufferId| match program.buffers[buffer].origin {
        Origin::Alloc(_) => layout::bytes(program, dims, buffer).unwrap_or(u64::MAX),
        _ => 0,
    };
    let bytes: Vec<u64> = program.buffers.ids().map(bytes).collect();
    let held = fusion::PieceMemory::new(program, bytes.into(), &backend_options.elided);
    for halved in 0..MAX_CHAIN_CUTS {
        let pieces = |chains: Vec<Chain>| fusion::pieces(&chains, most >> halved, &held);
        let decision = launches::decide_cut(problem, &pieces)?;
        if decision.chains.is_empty() {
            break;
        }
        match plan_decision(checked, dims, backend_options, edges, decision) {
            Ok(done) if planned(&done) <= most => return Ok(Operations { cut, ..done }),
            Err(error) if !is_of_order(&error) => return Err(error),
            _ => {}
        }
    }
    Ok(Operations { cut, ..plain })
}

/// Runs the stages after the launch decisions.
fn plan_decision(
    checked: &Checked,
    dims: &Vector<DimId, u64>,
    backend_options: &BackendOptions,
    edges: &[(StatementId, StatementId)],
    decision: Decision,
) -> Result<Operations, BackError> {
    let program = checked.program();
    let all = [edges, decision.edges.as_slice()].concat();
    let mut edges = fusion::contracted(program, &decision.chains, all);
    let elided = ElidedBuffers { buffers: &backend_options.elided, chains: &decision.chains };
    let (mut placed, mut without) = elided.place(program, &edges)?;
    let narrowed = match width_bound(program, dims, backend_options) {
        None => Vec::new(),
        Some(bound) => width::serialized(&WidthProblem {
            program,
            reach: &placed.reach,
            decision: &decision,
            launches: &backend_options.launches,
            tuning: &backend_options.tuning,
            bound,
        }),
    };
    if !narrowed.is_empty() {
        edges = with_order(program, &decision, edges, &narrowed);
        (placed, without) = elided.place(program, &edges)?;
    }
    let keeps = backend_options.budgeted && !backend_options.whole;
    let budgeted = match program.options.budget {
        Some(budget) if keeps => Some(within_budget(program, dims, &placed, dims[budget])?),
        Some(budget) => Some(without_order(program, &placed, dims[budget])),
        None => None,
    };
    if let Some(added) = budgeted.as_ref().filter(|budgeted| !budgeted.edges.is_empty()) {
        edges = with_order(program, &decision, edges, &added.edges);
        (placed, without) = elided.place(program, &edges)?;
    }
    let memory = backend_options.memory.or(program.options.memory).unwrap_or(DEFAULT_MEMORY);
    if memory == Memory::Nodes {
        placed.hoist(&Scopes::new(program));
    }
    let nodes = decision.nodes();
    // Only memory nodes can be between the two kernels of a programmatic edge.
    let overlapping = match (backend_options.allowed.overlap, memory) {
        (true, Memory::Nodes) => {
            overlap::programmatic_dependents(program, &placed.reach, &nodes, &backend_options.launches)
        }
        _ => Vector::new(),
    };
    let layout = layout::lay_out(program, dims, &placed, &overlapping, memory)?;
    if let (Some(budgeted), Some(bounds)) = (budgeted.as_ref().filter(|_| keeps), &layout.bounds) {
        let (device, best) = bounds.most();
        if best > budgeted.budget {
            let device = (program.devices() > 1).then_some(device.as_u32());
            return Err(BudgetFault::OverBudget { budget: budgeted.budget, device, best }.into());
        }
    }
    let before_reduction = checked.edges_before_reduction() + backend_options.edges.len();
    let BackendOptions { tuning, emptied_fills, .. } = backend_options;
    let mut operations =
        emit::emit(program, &placed, layout, &nodes, before_reduction, tuning, emptied_fills)?;
    operations.batches = decision.batches.into();
    operations.chains = decision.chains.into();
    operations.targets = AccessTargets::new(program, dims);
    operations.budget = budgeted;
    operations.elided = without;
    operations.serialized = decision.lanes.len() + narrowed.len();
    operations.narrowed = narrowed;
    if backend_options.allowed.overlap {
        let launch = |id: StatementId| backend_options.launches.get(id).and_then(Option::as_ref);
        let chains = std::mem::take(&mut operations.chains);
        let sets =
            |operation: &Operation| operation.sources.iter().any(|id| backend_options.setters.contains(id));
        let run = |operation: &Operation| match Chain::at(chains.as_slice(), operation.sources.first()) {
            _ if operation.kind != OperationKind::KERNEL => sets(operation).then_some(NodeLaunch::SINGLE),
            Some(chain) => NodeLaunch::of_chain(&chains[ChainId::new(chain)], launch),
            None => NodeLaunch::of(operation.sources.iter().map(|&id| launch(id))),
        };
        operations.overlapped =
            overlap::mark_programmatic_edges(&mut operations.list, &backend_options.tuning, run);
        operations.chains = chains;
    }
    Ok(operations)
}

/// Returns the bound of the width of a program. `None` if any width is allowed.
fn width_bound(
    program: &Program,
    dims: &Vector<DimId, u64>,
    backend_options: &BackendOptions,
) -> Option<WidthBound> {
    let several = program.devices() > 1;
    let calls = || program.statements.iter().any(|statement| statement.kind == StatementKind::Capture(()));
    match program.options.width {
        // Collectives of several devices wait for each other, which the order does not show.
        Some(_) if several && calls() => None,
        Some(width) => Some(WidthBound::Given(usize::try_from(dims[width]).unwrap_or(usize::MAX).max(1))),
        // Other devices would wait longer for the branches.
        None => (backend_options.allowed.lanes && !several).then_some(WidthBound::WithoutGain),
    }
}

/// Adds edges to an order, between all members of the nodes that they join.
fn with_order(
    program: &Program,
    decision: &Decision,
    mut edges: Vec<(StatementId, StatementId)>,
    added: &[(StatementId, StatementId)],
) -> Vec<(StatementId, StatementId)> {
    edges.extend(launches::batch::completed(&decision.batches, added));
    fusion::contracted(program, &decision.chains, edges)
}

/// Returns the cost of each statement for the critical path of a budget: 0 for memory statements, else 1.
fn statement_costs(program: &Program) -> Vector<StatementId, u64> {
    program.statements.iter().map(|statement| u64::from(!statement.kind.is_memory())).collect()
}

/// Elides temporaries that stay in registers of a chain.
struct ElidedBuffers<'a> {
    buffers: &'a BTreeSet<BufferId>,
    chains: &'a [Chain],
}

impl ElidedBuffers<'_> {
    /// Computes the live ranges of the buffers with memory, and the set of elided buffers.
    fn place(
        &self,
        program: &Program,
        edges: &[(StatementId, StatementId)],
    ) -> Result<(Liveness, BTreeSet<BufferId>), Cycle> {
        let mut placed = place::place(program, edges)?;
        let mut without = BTreeSet::new();
        for &buffer in self.buffers {
            let range = &mut placed.live_ranges[buffer];
            let stays_in = |chain: &Chain| {
                range
                    .as_ref()
                    .is_some_and(|range| range.users.iter().all(|user| chain.members.contains(user)))
            };
            if self.chains.iter().any(stays_in) {
                *range = None;
                without.insert(buffer);
            }
        }
        Ok((placed, without))
    }
}

/// Returns true if a plan that ignores the budget meets it anyway. False if the driver packs the temporaries.
pub fn is_within_budget(checked: &Checked, dims: &Vector<DimId, u64>, operations: &Operations) -> bool {
    match (checked.program().options.budget, &operations.bounds) {
        (None, _) => true,
        (Some(budget), Some(bounds)) => bounds.most().1 <= dims[budget],
        (Some(_), None) => operations.memories.is_empty(),
    }
}

/// Returns the report of a budget that adds no order.
fn without_order(program: &Program, placed: &Liveness, budget: u64) -> BudgetEffects {
    let path = plan::budget::critical_path(&placed.reach, &statement_costs(program));
    BudgetEffects { budget, edges: Vec::new(), steps: Vec::new(), path_before: path, path_after: path }
}

/// The buffer of the program for each of the planner's buffers of a device.
type Ids = Vector<BufferIndex, BufferId>;

/// Returns the planner's buffers of each device, and the buffers of the program that they stand for.
fn memories(
    program: &Program,
    dims: &Vector<DimId, u64>,
    placed: &Liveness,
) -> Result<(Vec<MemoryBuffers>, Vec<Ids>), LayoutError> {
    let mut devices = layout::by_device(program, layout::temporaries(program, dims, placed)?);
    let of = |device| devices.remove(&Device::new(device)).unwrap_or_default();
    Ok((0..program.devices()).map(of).map(|of_device| (of_device.list, of_device.ids)).unzip())
}

/// Adds order until the temporaries of each device fit into the budget.
fn within_budget(
    program: &Program,
    dims: &Vector<DimId, u64>,
    placed: &Liveness,
    budget: u64,
) -> Result<BudgetEffects, BackError> {
    let (memories, ids) = memories(program, dims, placed)?;
    let name = |memory: usize, buffer: BufferIndex| program.buffers[ids[memory][buffer]].name.to_string();
    let device = |memory: usize| (program.devices() > 1).then(|| narrow(memory));
    let fit = plan::budget::fit(
        &placed.reach,
        &Scopes::new(program),
        &memories,
        &statement_costs(program),
        budget,
        plan::Effort::Default,
    );
    match fit {
        Ok(fit) => Ok(BudgetEffects {
            budget,
            steps: fit
                .steps
                .iter()
                .map(|step| BudgetStep {
                    donor: name(step.memory, step.donor),
                    receiver: name(step.memory, step.receiver),
                    edges: step.edges.clone(),
                    saves: step.saves,
                    costs: step.costs,
                })
                .collect(),
            edges: fit.edges,
            path_before: fit.path_before,
            path_after: fit.path_after,
        }),
        Err(BudgetError::BelowFloor { budget, memory, floor }) => {
            let statement = &program.statements[floor.node.unwrap_or(StatementId::from_u32(0))];
            Err(BudgetFault::BelowFloor {
                budget,
                device: device(memory),
                floor: floor.bytes,
                statement: statement.name.to_string(),
                line: statement.line,
                buffers: floor.buffers.iter().map(|&buffer| name(memory, buffer)).collect(),
            }
            .into())
        }
        Err(BudgetError::NotFound { budget, memory, best }) => {
            Err(BudgetFault::OverBudget { budget, device: device(memory), best }.into())
        }
        Err(BudgetError::Plan { memory, error }) => {
            Err(layout::plan_error(program, &ids[memory], error).into())
        }
    }
}

/// Returns the critical path for `points` budgets, from the plan without a budget down to the floor. Launches are
/// as written.
///
/// # Errors
///
/// [`BackError`].
pub fn budget_curve(
    checked: &Checked,
    dims: &Vector<DimId, u64>,
    points: u64,
) -> Result<Vec<CurvePoint>, BackError> {
    let program = checked.program();
    let placed = place::place(program, checked.edges())?;
    let (memories, ids) = memories(program, dims, &placed)?;
    plan::budget::budget_curve(
        &placed.reach,
        &Scopes::new(program),
        &memories,
        &statement_costs(program),
        points,
    )
    .map_err(|(memory, error)| layout::plan_error(program, &ids[memory], error).into())
}
