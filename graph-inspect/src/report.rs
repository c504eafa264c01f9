//! The report of a graph: nodes, memory, launch decisions, and unproved declarations.
//!
//! `lists` builds it, and `text` prints it.

use std::collections::BTreeSet;

use cuweave_core::condition::ConditionKeyword;
use cuweave_core::index::Index;
use cuweave_core::ir::{Device, Origin, Program, StatementId};
use cuweave_core::kind::NodeCounts;
use cuweave_core::launches::LeftAlone;
use cuweave_core::location::{SourceLocation, at_buffer, at_statement};
use cuweave_core::operation::{BudgetEffects, MemoryBounds};
use cuweave_core::scopes::{ScopeId, Scopes};
use cuweave_ptx::declare::DeclaredPart;

use super::explainer::{DecisionExplainer, UnmergedEntries};
use super::subject::{MemoryHint, ReportInput, SizeState, SwitchState};
use super::unbatched::{FullEdge, SerializedBranch, UnbatchedLaunches};
use super::unfused::UnfusedPair;

/// The granularity of the graph memory pool.
const POOL_GRANULARITY: u64 = 32 << 20;

/// The lists of a report that follow directly from the kernels and decisions of a graph.
pub(super) struct ReportLists {
    pub forwarded: Vec<ForwardedElements>,
    pub assumed_registers: Vec<AssumedRegisters>,
    pub assumed_declarations: Vec<AssumedDeclaration>,
    pub unwritten_outputs: Vec<UnwrittenOutput>,
}

/// The report of a graph: nodes, memory, launch decisions, and unproved declarations.
///
/// Its `Display` omits what is 0, and prints entries that repeat in loops once, with a count. The fields hold
/// everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// The number of kernel launches in the source.
    pub launches: usize,
    /// The number of kernel nodes without hubs. Less than `launches` if launches are batched or fused.
    pub kernels: usize,
    /// The number of fills.
    pub fills: usize,
    /// The number of copies.
    pub copies: usize,
    /// The number of library calls.
    pub calls: usize,
    /// The number of nodes that the library calls captured.
    pub captured: usize,
    /// The number of conditional nodes: one for each `if`, `while` and `match`. A driver before CUDA 13.0 needs one
    /// for each non-empty arm of an `if`, and one before 12.8 also needs one for each arm of a `match`.
    pub conditions: usize,
    /// The number of kernels that set the conditions of these nodes or fill empty bodies.
    pub setters: usize,
    /// The number of host statements.
    pub hosts: usize,
    /// The number of event records and event waits.
    pub events: usize,
    /// The number of operations on values and semaphores: waits, writes and signals.
    pub syncs: usize,
    /// The number of hubs: no-op kernels inside wide joins.
    pub hubs: usize,
    /// The number of alloc nodes.
    pub allocs: usize,
    /// The number of free nodes.
    pub frees: usize,
    /// The number of dependencies between launches, fills and copies before the transitive reduction.
    pub edges_before_reduction: usize,
    /// The number of edges of the graph, including those of memory nodes. A library call counts as one node.
    pub edges: usize,
    /// The length of the longest path, in launches, fills and copies.
    pub depth: usize,
    /// The number of devices that have nodes.
    pub devices: usize,
    /// The number of edges between nodes of different devices. Each takes about 5.5 us on an H200.
    pub crossings: usize,
    /// The bytes of memory that the graph needs. With `memory = "nodes"` this is a minimum, because the driver
    /// places the buffers.
    pub planned_bytes: u64,
    /// The total bytes of all allocations of the graph. More than `planned_bytes` with `memory = "nodes"`, where
    /// the driver reuses memory for later buffers.
    pub allocated_bytes: u64,
    /// The bytes that the device's graph pool reserves, in steps of 32 MiB.
    pub reserved_bytes: u64,
    /// An estimate of the bytes that instantiating the graph takes on the device, in addition to its temporaries:
    /// 2.3 KiB a node, 107 KiB for each path, and 5 KB for each edge that joins paths. Fitted to 59 shapes of graphs
    /// on one H200 (driver 580.159). The driver keeps these bytes when an exec is destroyed, and reuses them.
    pub exec_bytes: u64,
    /// The largest number of nodes that no path orders. A library call counts as one node, and the arms of a
    /// conditional count as side by side. Above 10,000 nodes and edges it is a lower bound.
    pub width: usize,
    /// The memory plan of the temporaries, if the compiler assigns their offsets and there are any.
    pub plan: Option<MemoryPlan>,
    /// The hints about the managed memory of arguments, in the order of the arguments.
    pub hints: Vec<MemoryHint>,
    /// The statements that `enable` switches, in the order of the program.
    pub switches: Vec<SwitchState>,
    /// The sizes, in the order of the arguments, each with the statements that it moves.
    pub sizes: Vec<SizeState>,
    /// The effect of the budget, if there is one.
    pub budget: Option<Budget>,
    /// The members of each batch.
    pub batches: Vec<Vec<SourceLocation>>,
    /// The members of each chain of launches that were fused into one kernel, in launch order. If several chains
    /// are stacked in one launch, the members of the first chain come first.
    pub fused: Vec<Vec<SourceLocation>>,
    /// For each entry of `fused`, the number of stacked chains. 1 for a single chain.
    pub stacked: Vec<usize>,
    /// For each chain in `fused`, the elements that stay in registers between its launches.
    pub forwarded: Vec<ForwardedElements>,
    /// The number of programmatic edges, whose consumer may start before the producer has ended.
    pub overlapped: usize,
    /// The number of branches that were serialized after others of their lane, because running all of them
    /// concurrently is slower, or because of the width.
    pub serialized: usize,
    /// The launch changes that are allowed but were not possible, with the reasons. Sorted by text.
    pub left_alone: Vec<LeftAlone>,
    /// The launches of one kernel that are not ordered but run as several nodes. A launch is in at most one group.
    /// Empty if the graph function does not allow batches.
    pub unbatched: Vec<UnbatchedLaunches>,
    /// The consecutive launches that are not one kernel. Empty if the graph function does not allow fused kernels.
    pub unfused: Vec<UnfusedPair>,
    /// The full edges between kernels whose consumer could start early. Empty if the graph function does not allow
    /// programmatic edges.
    pub full_edges: Vec<FullEdge>,
    /// The branches that come after others in their lanes. The counts add up to `serialized`.
    pub serialized_branches: Vec<SerializedBranch>,
    /// The registers that the simulator assumes for the launched kernels, grouped by number, if batches or overlaps
    /// depend on them. Empty on a real device.
    pub assumed_registers: Vec<AssumedRegisters>,
    /// The parts of the launched kernels' declarations that are not proved, so that the user is responsible for
    /// them. Sorted, without duplicates.
    pub assumed_declarations: Vec<AssumedDeclaration>,
    /// The launches whose threads do not write all elements of a write-only parameter. This is not an error if all
    /// elements were written before, and no proof depends on it.
    pub unwritten_outputs: Vec<UnwrittenOutput>,
}

/// The registers per thread that the simulator assumes for kernels. On a real device, fewer of their blocks may fit
/// on a multiprocessor, and then other launches are merged.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct AssumedRegisters {
    /// The registers per thread.
    pub registers: u32,
    /// The names of the kernels, sorted.
    pub kernels: Vec<String>,
}

/// The elements that stay in registers between the launches of a chain, because a single thread accesses them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ForwardedElements {
    /// The number of load instructions that read registers instead of memory.
    pub loads: usize,
    /// The number of store instructions that were removed, because their values are never read from memory.
    pub stores: usize,
    /// The number of barriers between the launches. One less than the number of launches if each waits for the
    /// previous one.
    pub barriers: usize,
    /// The temporaries that need no memory, because all of their elements stay in registers.
    pub elided: Vec<SourceLocation>,
}

/// An unproved part of a kernel's declaration.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct AssumedDeclaration {
    /// The kernel.
    pub kernel: String,
    /// Its parameter.
    pub parameter: String,
    /// The part.
    pub what: DeclaredPart,
    /// The reason why it is not proved.
    pub reason: String,
}

/// A launch whose threads do not write all elements of a write-only parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnwrittenOutput {
    /// The launch.
    pub at: SourceLocation,
    /// The kernel.
    pub kernel: String,
    /// Its parameter.
    pub parameter: String,
    /// The number of elements that are written.
    pub written: u64,
    /// The first element that is not written.
    pub missing: u64,
}

/// The size of the memory plan of the temporaries, and its lower bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryPlan {
    /// The bytes of the plan. For several devices, the sum.
    pub planned: u64,
    /// The bytes of the plan on each device, in the order of the contexts. A budget applies to each of them.
    pub devices: Vec<u64>,
    /// The weight of the heaviest antichain of live ranges: a lower bound for all plans with this order.
    pub antichain: u64,
    /// The buffers of that antichain.
    pub antichain_buffers: Vec<SourceLocation>,
    /// The arms of `if` and `match` that hold buffers of that antichain, as `if flag` or `match which: _`. Of
    /// mutually exclusive arms, only the one that needs most is listed.
    pub antichain_arms: Vec<String>,
    /// The maximum number of bytes that a single statement needs: a lower bound for all orders.
    pub floor: u64,
    /// The statement that needs `floor` bytes.
    pub floor_statement: Option<SourceLocation>,
    /// True if `planned` equals `antichain`: no plan with this order is smaller.
    pub optimal: bool,
}

impl MemoryPlan {
    fn new(program: &Program, bounds: &MemoryBounds) -> MemoryPlan {
        let scopes = Scopes::new(program);
        let born = bounds.antichain_buffers.iter().filter_map(|&id| match program.buffers[id].origin {
            Origin::Alloc(at) => Some(at),
            _ => None,
        });
        let around: BTreeSet<ScopeId> = born.flat_map(|at| scopes.all_around(at)).collect();
        let arms = around.into_iter().filter(|&body| scopes.list[body].body.word != ConditionKeyword::While);
        MemoryPlan {
            planned: bounds.planned,
            devices: (0..program.devices()).map(|device| bounds.of(Device::new(device))).collect(),
            antichain: bounds.antichain,
            antichain_buffers: bounds.antichain_buffers.iter().map(|&id| *at_buffer(program, id)).collect(),
            antichain_arms: arms.map(|arm| scopes.name(program, arm)).collect(),
            floor: bounds.floor,
            floor_statement: bounds.floor_statement.map(|id| *at_statement(program, id)),
            optimal: bounds.optimal,
        }
    }
}

/// The effect of a budget: the edges that it added.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Budget {
    /// The budget in bytes. For several devices, that of each device.
    pub bytes: u64,
    /// The added edges, between statements.
    pub edges: Vec<(SourceLocation, SourceLocation)>,
    /// The pairs of buffers that were ordered.
    pub steps: Vec<BudgetStep>,
    /// The length of the longest path without the added edges, in statements.
    pub path_before: u64,
    /// The length of the longest path with the added edges, in statements.
    pub path_after: u64,
}

/// A pair of buffers that was ordered so that they can share memory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BudgetStep {
    /// The buffer whose live range ends first.
    pub donor: String,
    /// The buffer whose live range begins after that.
    pub receiver: String,
    /// The edges between their statements.
    pub edges: Vec<(SourceLocation, SourceLocation)>,
    /// The reduction of the lower bound, in bytes.
    pub saves: u64,
    /// The increase of the longest path, in statements.
    pub costs: u64,
}

impl Budget {
    fn new(program: &Program, budgeted: &BudgetEffects) -> Budget {
        let edges = |edges: &[(StatementId, StatementId)]| {
            let at = |id| *at_statement(program, id);
            edges.iter().map(|&(from, to)| (at(from), at(to))).collect()
        };
        let step = |step: &cuweave_core::operation::BudgetStep| BudgetStep {
            donor: step.donor.clone(),
            receiver: step.receiver.clone(),
            edges: edges(&step.edges),
            saves: step.saves,
            costs: step.costs,
        };
        Budget {
            bytes: budgeted.budget,
            edges: edges(&budgeted.edges),
            steps: budgeted.steps.iter().map(step).collect(),
            path_before: budgeted.path_before,
            path_after: budgeted.path_after,
        }
    }
}

impl Report {
    pub(super) fn new(graph: &ReportInput<'_>, lists: ReportLists) -> Report {
        let operations = graph.operations;
        let counts = operations.counts();
        let NodeCounts {
            kernels,
            fills,
            copies,
            calls,
            conditions: _,
            hosts,
            events,
            syncs,
            hubs,
            allocs,
            frees,
        } = counts;
        let nodes = operations.memories.iter().filter(|memory| memory.node);
        let in_nodes: u64 = nodes.map(|memory| memory.bytes).sum();
        let placed = operations.at_least.map_or(in_nodes, |least| least.min(in_nodes));
        let allocated: u64 = operations.memories.iter().map(|memory| memory.bytes).sum();
        let statement = |&id: &StatementId| *at_statement(graph.program, id);
        let mut left_alone = graph.left_alone.to_vec();
        left_alone.sort_by_cached_key(ToString::to_string);
        let width = operations.width();
        let explainer = DecisionExplainer { graph, left_alone: &left_alone };
        let UnmergedEntries { unbatched, full_edges, serialized_branches, unfused } = explainer.entries();
        let changed = !operations.batches.is_empty() || operations.overlapped > 0 || !unbatched.is_empty();
        let assumed_registers = if changed { lists.assumed_registers } else { Vec::new() };
        Report {
            launches: graph.written,
            batches: operations
                .batches
                .iter()
                .map(|batch| batch.members.iter().map(statement).collect())
                .collect(),
            fused: operations
                .chains
                .iter()
                .map(|chain| chain.members.iter().map(statement).collect())
                .collect(),
            stacked: operations.chains.iter().map(|chain| chain.chains().len()).collect(),
            forwarded: lists.forwarded,
            overlapped: operations.overlapped,
            serialized: operations.serialized,
            left_alone,
            unbatched,
            unfused,
            full_edges,
            serialized_branches,
            assumed_registers,
            kernels,
            fills,
            copies,
            calls,
            captured: graph.captured,
            conditions: graph.conditions,
            setters: graph.setters,
            hosts,
            events,
            syncs,
            hubs,
            allocs,
            frees,
            edges_before_reduction: operations.edges_before_reduction,
            edges: operations.edges(),
            depth: operations.depth,
            devices: operations.devices(),
            crossings: operations.crossings(),
            planned_bytes: allocated - in_nodes + placed,
            allocated_bytes: allocated,
            reserved_bytes: placed.div_ceil(POOL_GRANULARITY).saturating_mul(POOL_GRANULARITY),
            exec_bytes: operations.estimated_exec_bytes(graph.nodes, Scopes::new(graph.program).list.len()),
            width,
            plan: operations.bounds.as_ref().map(|bounds| MemoryPlan::new(graph.program, bounds)),
            hints: graph.hints.to_vec(),
            switches: switches(graph),
            sizes: graph.sizes.to_vec(),
            budget: operations.budget.as_ref().map(|budget| Budget::new(graph.program, budget)),
            assumed_declarations: lists.assumed_declarations,
            unwritten_outputs: lists.unwritten_outputs,
        }
    }

    /// Returns the number of nodes.
    #[must_use]
    pub fn nodes(&self) -> usize {
        let bodies = self.conditions + self.setters;
        self.kernels
            + self.fills
            + self.copies
            + self.captured
            + bodies
            + self.hosts
            + self.events
            + self.syncs
            + self.hubs
            + self.allocs
            + self.frees
    }
}

fn switches(graph: &ReportInput<'_>) -> Vec<SwitchState> {
    let statements = graph.program.statements.enumerate();
    let switched = statements.filter(|(id, one)| one.switchable || graph.disabled.contains(id));
    switched
        .map(|(id, _)| SwitchState {
            at: *at_statement(graph.program, id),
            enabled: !graph.disabled.contains(&id),
        })
        .collect()
}
