//! Operations: the nodes of the graph, as emitted.
//!
//! The driver calls, the text dump and the DOT picture are all made from this list, so the picture shows the real
//! graph.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::index::{Index, Vector, wide};
use crate::ir::{BufferId, Device, DimId, Program, StatementId, StatementKind, Text};
use crate::kind::{NodeCounts, NodeStage};
use crate::launches::{Batch, Chain};
use crate::plan;
use crate::reach::Node;
use crate::scopes::{ScopeId, Scopes};

pub use crate::ids::{AccessTargetId, BatchId, ChainId, MemoryId, OperationId};

/// One node of the graph to build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Its kind.
    pub kind: OperationKind,
    /// Its dependencies, sorted, without duplicates.
    pub after: Vec<OperationId>,
    /// The dependency with a programmatic edge: the operation may start before that dependency has ended.
    pub programmatic: Option<OperationId>,
    /// True if the programmatic edge leaves by the launch-order port: the operation may start once all blocks of
    /// the dependency have started. Otherwise all blocks must have ended.
    pub launch_order: bool,
    /// The source statements, ascending. Empty if the compiler added the node; several for a batch or for fused
    /// launches.
    pub sources: Vec<StatementId>,
    /// Its name in errors and pictures.
    pub name: Text,
    /// The device that it runs on, or that owns its memory.
    pub device: Device,
}

/// The kinds of operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperationKind {
    /// A memory alloc node.
    Alloc {
        /// The memory.
        memory: MemoryId,
    },
    /// A memory free node.
    Free {
        /// The memory.
        memory: MemoryId,
    },
    /// The free node of an argument that the graph takes over.
    FreeTaken {
        /// The argument.
        buffer: BufferId,
    },
    /// The node of its only source statement, or one launch for all its sources (a batch or fused launches).
    Statement(StatementKind<NodeStage>),
    /// A no-op kernel that joins many predecessors with many successors.
    Hub,
}

impl OperationKind {
    /// A launch of a user's kernel.
    pub const KERNEL: OperationKind = OperationKind::Statement(StatementKind::Launch(()));

    /// Returns true for memory nodes, which the compiler adds for buffers and which run no code.
    pub fn is_memory(&self) -> bool {
        matches!(
            self,
            OperationKind::Alloc { .. } | OperationKind::Free { .. } | OperationKind::FreeTaken { .. }
        )
    }

    /// Returns the name of the node in pictures.
    pub fn name(&self) -> &'static str {
        match self {
            OperationKind::Alloc { .. } => "alloc",
            OperationKind::Free { .. } | OperationKind::FreeTaken { .. } => "free",
            OperationKind::Statement(kind) => kind.node(),
            OperationKind::Hub => "hub",
        }
    }

    /// Returns the X11 name of the colour of the node in pictures.
    pub fn colour(&self) -> &'static str {
        match self {
            OperationKind::Alloc { .. } => "palegreen",
            OperationKind::Free { .. } | OperationKind::FreeTaken { .. } => "lightsalmon",
            OperationKind::Statement(kind) => kind.colour(),
            OperationKind::Hub => "lightgrey",
        }
    }
}

/// A block of memory allocated by the graph or by its exec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryBlock {
    /// Size in bytes.
    pub bytes: u64,
    /// The buffer's name, or `arena`.
    pub name: Text,
    /// True if an alloc node allocates it; otherwise the exec owns it.
    pub node: bool,
    /// The device that owns it.
    pub device: Device,
}

/// Where a buffer is in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferPlacement {
    /// At `offset` bytes into a memory block of the graph.
    Inside {
        /// The memory.
        memory: MemoryId,
        /// Offset in bytes.
        offset: u64,
    },
    /// The caller's operand.
    Bound,
    /// The buffer is unused and has no memory.
    Nowhere,
}

/// The size of a plan of the temporaries, and lower bounds on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryBounds {
    /// The bytes needed by the statement that needs most: a lower bound under every order of the statements.
    pub floor: u64,
    /// The statement that needs them.
    pub floor_statement: Option<StatementId>,
    /// The weight in bytes of the heaviest antichain of live ranges: a lower bound for every plan under this order.
    pub antichain: u64,
    /// The buffers of the antichain.
    pub antichain_buffers: Vec<BufferId>,
    /// The planned bytes.
    pub planned: u64,
    /// The planned bytes of each device that has temporaries, ascending.
    pub devices: Vec<(Device, u64)>,
    /// True if `planned` equals `antichain`.
    pub optimal: bool,
}

impl MemoryBounds {
    /// Returns the planned bytes on a device.
    #[must_use]
    pub fn of(&self, device: Device) -> u64 {
        let own = self.devices.iter().filter(|&&(other, _)| other == device);
        own.map(|&(_, bytes)| bytes).sum()
    }

    /// Returns the device with the most planned bytes, and those bytes.
    #[must_use]
    pub fn most(&self) -> (Device, u64) {
        let most = self.devices.iter().max_by_key(|&&(device, bytes)| (bytes, Reverse(device)));
        most.copied().unwrap_or((Device::FIRST, 0))
    }

    /// Adds the bounds of a plan for another device.
    #[must_use]
    pub fn and(self, other: MemoryBounds) -> MemoryBounds {
        MemoryBounds {
            floor: self.floor.saturating_add(other.floor),
            floor_statement: if self.floor >= other.floor {
                self.floor_statement
            } else {
                other.floor_statement
            },
            antichain: self.antichain.saturating_add(other.antichain),
            antichain_buffers: [self.antichain_buffers, other.antichain_buffers].concat(),
            planned: self.planned.saturating_add(other.planned),
            devices: [self.devices, other.devices].concat(),
            optimal: self.optimal && other.optimal,
        }
    }
}

/// The effects of a budget on the order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BudgetEffects {
    /// The budget in bytes, for each device.
    pub budget: u64,
    /// The edges that were added.
    pub edges: Vec<(StatementId, StatementId)>,
    /// The decisions that added them.
    pub steps: Vec<BudgetStep>,
    /// The length of the longest chain of statements without the added edges.
    pub path_before: u64,
    /// The length of the longest chain of statements with them.
    pub path_after: u64,
}

/// A decision to order the live ranges of two buffers one after the other, so that they can share memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BudgetStep {
    /// The buffer whose live range ends first.
    pub donor: String,
    /// The buffer whose live range begins after that.
    pub receiver: String,
    /// The edges between their statements.
    pub edges: Vec<(StatementId, StatementId)>,
    /// The reduction of the lower bound, in bytes.
    pub saves: u64,
    /// The growth of the longest chain, in statements.
    pub costs: u64,
}

/// The memory that an access of a statement refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessTarget {
    /// The buffer.
    pub buffer: BufferId,
    /// Offset from the start of the buffer, in bytes.
    pub offset: u64,
}

/// The memory that each access of a program refers to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccessTargets {
    /// One target for each access, statement by statement.
    pub list: Vector<AccessTargetId, AccessTarget>,
    /// The index in `list` of each statement's first access.
    pub first_of: Vector<StatementId, AccessTargetId>,
}

impl AccessTargets {
    /// Computes the targets for these values of the lengths and bounds.
    #[must_use]
    pub fn new(program: &Program, dims: &Vector<DimId, u64>) -> AccessTargets {
        let mut list = Vector::new();
        let mut first_of = Vector::with_capacity(program.statements.len());
        for statement in program.statements.iter() {
            first_of.push(AccessTargetId::new(list.len()));
            list.extend(statement.accesses.iter().map(|access| {
                let element = u64::from(program.buffers[access.buffer].element);
                // The build has checked that the range lies in its buffer.
                AccessTarget { buffer: access.buffer, offset: dims[access.lo].wrapping_mul(element) }
            }));
        }
        AccessTargets { list, first_of }
    }
}

/// Why fewer launches are fused than possible. A chain keeps the buffers of all its members alive at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChainCut {
    /// Whole chains would take more memory than allowed.
    Pages {
        /// Bytes of the plan with whole chains.
        whole: u64,
        /// Limit in bytes: the plan without chains, rounded up to pages.
        most: u64,
    },
    /// The buffers of the chains exceed the budget.
    Budget,
}

/// The emitted nodes of a plan, with the memory and launch decisions that they come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operations {
    /// The operations, in topological order.
    pub list: Vector<OperationId, Operation>,
    /// Memory blocks, in the order of their first use.
    pub memories: Vector<MemoryId, MemoryBlock>,
    /// Where each buffer of the program is in memory.
    pub places: Vector<BufferId, BufferPlacement>,
    /// The size and lower bounds of the plan of the temporaries, if there is one.
    pub bounds: Option<MemoryBounds>,
    /// A lower bound in bytes for the driver's placement of memory nodes. `None` if the compiler places the
    /// buffers.
    pub at_least: Option<u64>,
    /// The effects of the budget, if there is one.
    pub budget: Option<BudgetEffects>,
    /// Number of edges before transitive reduction, for the report.
    pub edges_before_reduction: usize,
    /// The length of the longest path of kernels, copies and fills.
    pub depth: usize,
    /// The operation of each statement that has one.
    pub operation_of: Vector<StatementId, Option<OperationId>>,
    /// The targets of the accesses.
    pub targets: AccessTargets,
    /// Batched launches.
    pub batches: Vector<BatchId, Batch>,
    /// Fused launches.
    pub chains: Vector<ChainId, Chain>,
    /// The elided temporaries: they stay in registers of one chain and have no memory.
    pub elided: BTreeSet<BufferId>,
    /// Why chains were cut, if they were.
    pub cut: Option<ChainCut>,
    /// The number of branches that are serialised after another one in its lane, with those of `narrowed`.
    pub serialized: usize,
    /// The last statement of a branch and the first one of the next branch in its lane, where the lanes keep the width
    /// within its bound.
    pub narrowed: Vec<(StatementId, StatementId)>,
    /// The number of programmatic edges.
    pub overlapped: usize,
}

impl Operations {
    /// Returns the bytes that an operation allocates: 0 unless it is an alloc node.
    pub fn allocated_by(&self, operation: &Operation) -> u64 {
        match operation.kind {
            OperationKind::Alloc { memory } => self.memories[memory].bytes,
            _ => 0,
        }
    }

    /// Counts the nodes of each kind.
    pub fn counts(&self) -> NodeCounts {
        let mut counts = NodeCounts::default();
        for operation in &self.list {
            let count = match operation.kind {
                OperationKind::Statement(kind) => kind.count(&mut counts),
                OperationKind::Hub => Some(&mut counts.hubs),
                OperationKind::Alloc { .. } => Some(&mut counts.allocs),
                OperationKind::Free { .. } | OperationKind::FreeTaken { .. } => Some(&mut counts.frees),
            };
            count.into_iter().for_each(|count| *count += 1);
        }
        counts
    }

    /// Computes `operation_of`. Must be called after each change of the list.
    pub fn index(&mut self, statements: usize) {
        self.operation_of = Vector::filled(None, statements);
        for (at, operation) in self.list.enumerate() {
            for &source in &operation.sources {
                self.operation_of[source] = Some(at);
            }
        }
    }

    /// Returns the chain of an operation that stands for fused launches.
    #[must_use]
    pub fn chain_of(&self, operation: &Operation) -> Option<ChainId> {
        Chain::at(self.chains.as_slice(), operation.sources.first()).map(ChainId::new)
    }

    /// Replaces the operations of these statements by hubs, which do nothing.
    pub fn leave_out(&mut self, statements: &BTreeSet<StatementId>) {
        for operation in &mut self.list {
            if operation.sources.iter().any(|statement| statements.contains(statement)) {
                operation.kind = OperationKind::Hub;
            }
        }
    }

    /// Returns the conditional body that contains an operation. A hub is in the same body as its predecessors.
    pub fn body_of(&self, scopes: &Scopes, operation: &Operation) -> Option<ScopeId> {
        match (operation.sources.first(), &operation.kind) {
            (Some(&source), _) => scopes.around(source),
            (None, OperationKind::Hub) => {
                let mut before = operation.after.iter().map(|&before| &self.list[before]);
                self.body_of(scopes, before.find(|before| !before.kind.is_memory())?)
            }
            (None, _) => None,
        }
    }

    /// Returns the number of devices with operations.
    pub fn devices(&self) -> usize {
        let mut devices: Vec<Device> = self.list.iter().map(|operation| operation.device).collect();
        devices.sort_unstable();
        devices.dedup();
        devices.len()
    }

    /// Returns the number of edges between operations on different devices.
    pub fn crossings(&self) -> usize {
        let crosses = |operation: &Operation| {
            let elsewhere = |before: &&OperationId| self.list[**before].device != operation.device;
            operation.after.iter().filter(elsewhere).count()
        };
        self.list.iter().map(crosses).sum()
    }

    /// Returns the number of edges.
    pub fn edges(&self) -> usize {
        self.list.iter().map(|operation| operation.after.len()).sum()
    }

    /// Returns the largest number of operations that no path orders. A library call counts as one operation, and all
    /// arms of a conditional count as side by side. See [`plan::width`].
    #[must_use]
    pub fn width(&self) -> usize {
        let before = |operation: &Operation| operation.after.iter().map(|at| Node::new(at.index())).collect();
        plan::width(&self.list.iter().map(before).collect())
    }
}

/// The numbers that the device memory of an instantiated graph depends on.
#[derive(Clone, Copy, Debug, Default)]
struct ExecShape {
    /// The kernels, copies and other nodes that run, with those of library calls and bodies.
    nodes: usize,
    fills: usize,
    /// The number of paths: each node continues the path of its first predecessor that no other node continues. Each
    /// body of a conditional node has one of its own.
    paths: usize,
    /// The edges beyond one into each node.
    joins: usize,
}

impl ExecShape {
    /// Returns the estimated bytes.
    fn bytes(self) -> u64 {
        let parts = [(self.nodes, 2_377), (self.fills, 800), (self.paths, 110_000), (self.joins, 5_000)];
        parts.into_iter().fold(0, |sum, (count, each)| wide(count).saturating_mul(each).saturating_add(sum))
    }
}

impl Operations {
    /// Estimates the bytes of device memory that the driver takes when it instantiates a graph of `nodes` nodes, with
    /// `bodies` bodies of conditional nodes: 2.3 KiB for each node that runs, 107 KiB for each path, and 5 KB for each
    /// edge that joins paths. A node begins a path if other nodes continue those of its predecessors; so a fork and a
    /// join of 16 nodes take 15 new paths. Memory nodes take nothing.
    ///
    /// Fitted to 59 shapes of graphs on one H200 (driver 580.159, benches/results/h200-2026-11-29/README.md); other
    /// devices and drivers may take more or less.
    ///
    /// # Complexity
    ///
    /// O(nodes + edges).
    #[must_use]
    pub fn estimated_exec_bytes(&self, nodes: usize, bodies: usize) -> u64 {
        if nodes == 0 {
            return 0;
        }
        let is_memory = |at: &OperationId| self.list[*at].kind.is_memory();
        let mut continued: Vector<OperationId, bool> = Vector::filled(false, self.list.len());
        let (mut memory, mut shape) = (0, ExecShape { paths: bodies, ..ExecShape::default() });
        for operation in &self.list {
            match operation.after.iter().find(|&&before| !continued[before]) {
                Some(&before) => continued[before] = true,
                None => shape.paths += 1,
            }
            if operation.kind.is_memory() {
                memory += 1;
                continue;
            }
            shape.fills += usize::from(operation.kind == OperationKind::Statement(StatementKind::Fill(())));
            let joined = operation.after.iter().filter(|before| !is_memory(before)).count();
            shape.joins += joined.saturating_sub(1);
        }
        shape.nodes = nodes.saturating_sub(memory + shape.fills);
        shape.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::ExecShape;

    /// The estimate is within a quarter of what was measured, in bytes.
    #[test]
    fn estimates_are_near_the_measurements() {
        let measured = [
            (1_000, 0, 1, 0, 2_446_677),
            (100, 0, 1, 0, 335_544),
            (10_000, 0, 1, 0, 23_767_722),
            (992, 0, 16, 0, 3_844_778),
            (960, 0, 64, 0, 9_087_658),
            (1_000, 0, 1_000, 0, 115_343_360),
            (1_020, 0, 901, 900, 105_556_650),
            (992, 0, 16, 976, 7_340_032),
            (1_000, 0, 100, 900, 17_825_792),
            (1_000, 0, 237, 878, 41_593_514),
            (330, 0, 45, 87, 5_976_883),
            (667, 333, 40, 0, 6_291_456),
            (256, 0, 129, 0, 15_518_924),
        ];
        for (nodes, fills, paths, joins, bytes) in measured {
            let estimate = ExecShape { nodes, fills, paths, joins }.bytes();
            let apart = estimate.abs_diff(bytes);
            assert!(4 * apart <= bytes, "{nodes} nodes, {paths} paths: {estimate}, measured {bytes}");
        }
    }
}
