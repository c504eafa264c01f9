//! Operations: the emitted nodes. The driver calls, the text dump and the DOT picture are made from this list, so the
//! picture shows the graph.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::index::{Index, Vector};
use crate::ir::{BufferId, Device, DimId, Kind, Program, StatementId, Text};
use crate::kind::{Counts, Runs};
use crate::launches::{Batch, Chain};
use crate::scopes::{ScopeId, Scopes};

pub use crate::ids::{BatchId, ChainId, MemoryId, OperationId, PointedId};

/// One node of the graph to be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Its kind.
    pub what: What,
    /// Its dependencies: sorted, no duplicates.
    pub after: Vec<OperationId>,
    /// The dependency with a programmatic edge: the operation may start before it has ended.
    pub programmatic: Option<OperationId>,
    /// True if the programmatic edge leaves by the launch-order port: the operation may start when all blocks of the
    /// dependency have begun, else when all have ended.
    pub launch_order: bool,
    /// The statements that it comes from, ascending: none if the compiler placed it, several for a batch or for fused launches.
    pub sources: Vec<StatementId>,
    /// Its name in errors and pictures.
    pub name: Text,
    /// The device that it runs on, or whose memory it is.
    pub device: Device,
}

/// The kinds of operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// A memory alloc node; `memory` is its index in [`Operations::memories`].
    Alloc {
        /// The memory.
        memory: MemoryId,
    },
    /// A memory free node.
    Free {
        /// The memory.
        memory: MemoryId,
    },
    /// The free node of a taken-over argument.
    FreeTaken {
        /// The argument.
        buffer: BufferId,
    },
    /// The node of its only source statement, or one launch for all of them as a batch or fused.
    Statement(Kind<Runs>),
    /// A kernel that does nothing, in the middle of a wide join.
    Hub,
}

impl What {
    /// A launch of a kernel of the user's.
    pub const KERNEL: What = What::Statement(Kind::Launch(()));

    /// Returns true for nodes that the compiler places with buffers: nothing runs in them.
    pub fn is_memory(&self) -> bool {
        matches!(self, What::Alloc { .. } | What::Free { .. } | What::FreeTaken { .. })
    }

    /// Returns the name of the node in pictures.
    pub fn name(&self) -> &'static str {
        match self {
            What::Alloc { .. } => "alloc",
            What::Free { .. } | What::FreeTaken { .. } => "free",
            What::Statement(kind) => kind.node(),
            What::Hub => "hub",
        }
    }

    /// Returns the colour of the node in pictures, by the names of X11.
    pub fn colour(&self) -> &'static str {
        match self {
            What::Alloc { .. } => "palegreen",
            What::Free { .. } | What::FreeTaken { .. } => "lightsalmon",
            What::Statement(kind) => kind.colour(),
            What::Hub => "lightgrey",
        }
    }
}

/// A piece of memory that the graph, or its exec, allocates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryBlock {
    /// Bytes.
    pub bytes: u64,
    /// The buffer's name, or `arena`.
    pub name: Text,
    /// True if an alloc node allocates it; otherwise the exec owns it.
    pub node: bool,
    /// The device that has it.
    pub device: Device,
}

/// The place of a buffer in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At `offset` bytes into a memory of the graph.
    Inside {
        /// The memory.
        memory: MemoryId,
        /// Bytes from its start.
        offset: u64,
    },
    /// The caller's operand.
    Bound,
    /// The buffer has no memory, since nothing uses it.
    Nowhere,
}

/// The bytes of a plan of the temporaries, and the bounds on them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryBounds {
    /// The most bytes that one statement needs at once: a lower bound under every order of the statements.
    pub floor: u64,
    /// The statement that needs them.
    pub floor_statement: Option<StatementId>,
    /// The bytes of the heaviest antichain of lifetimes: a lower bound for every plan under this order.
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
    /// Returns the planned bytes of a device.
    #[must_use]
    pub fn of(&self, device: Device) -> u64 {
        let own = self.devices.iter().filter(|&&(other, _)| other == device);
        own.map(|&(_, bytes)| bytes).sum()
    }

    /// Returns the device with the most planned bytes, and these.
    #[must_use]
    pub fn most(&self) -> (Device, u64) {
        let most = self.devices.iter().max_by_key(|&&(device, bytes)| (bytes, Reverse(device)));
        most.copied().unwrap_or((Device::FIRST, 0))
    }

    /// Returns the bounds of this plan and of one for another device: the sums.
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
pub struct Budgeted {
    /// The budget: bytes of each device.
    pub budget: u64,
    /// The edges that were added.
    pub edges: Vec<(StatementId, StatementId)>,
    /// The decisions that they come from.
    pub steps: Vec<BudgetStep>,
    /// The length of the longest chain of statements without those edges.
    pub path_before: u64,
    /// The length of the longest chain of statements with them.
    pub path_after: u64,
}

/// Two buffers that were put one after the other, so that they can share memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BudgetStep {
    /// The buffer whose lifetime ends first.
    pub donor: String,
    /// The buffer whose lifetime begins then.
    pub receiver: String,
    /// The edges between their statements.
    pub edges: Vec<(StatementId, StatementId)>,
    /// The bytes by which the bound fell.
    pub saves: u64,
    /// The statements by which the longest chain grew.
    pub costs: u64,
}

/// The target of a statement's buffer argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointed {
    /// The buffer.
    pub buffer: BufferId,
    /// Bytes from its start.
    pub offset: u64,
}

/// The targets of the accesses of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccessTargets {
    /// The target of every access, statement by statement.
    pub list: Vector<PointedId, Pointed>,
    /// The index in `list` of each statement's first access.
    pub first_of: Vector<StatementId, PointedId>,
}

impl AccessTargets {
    /// Computes the targets for these values of lengths and bounds.
    #[must_use]
    pub fn new(program: &Program, dims: &Vector<DimId, u64>) -> AccessTargets {
        let mut list = Vector::new();
        let mut first_of = Vector::with_capacity(program.statements.len());
        for statement in program.statements.iter() {
            first_of.push(PointedId::new(list.len()));
            list.extend(statement.accesses.iter().map(|access| {
                let element = u64::from(program.buffers[access.buffer].element);
                // The build has checked that the range lies in its buffer.
                Pointed { buffer: access.buffer, offset: dims[access.lo].wrapping_mul(element) }
            }));
        }
        AccessTargets { list, first_of }
    }
}

/// A reason that fewer launches are fused than could be: a chain holds the buffers of all its members at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Whole chains would take more memory.
    Pages {
        /// The bytes of the plan with whole chains.
        whole: u64,
        /// The most bytes that it may take: those of the plan without chains, in pages.
        most: u64,
    },
    /// A budget does not hold the buffers of the chains.
    Budget,
}

/// A plan as emitted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operations {
    /// In an order in which they can be added.
    pub list: Vector<OperationId, Operation>,
    /// Memories, in the order of their first use.
    pub memories: Vector<MemoryId, MemoryBlock>,
    /// The place of each buffer of the program.
    pub places: Vector<BufferId, Place>,
    /// The bounds of the plan of the temporaries, if there is one.
    pub bounds: Option<MemoryBounds>,
    /// The least bytes in which the driver can place the buffers of memory nodes; `None` if the compiler places them.
    pub at_least: Option<u64>,
    /// The effects of the budget, if there is one.
    pub budget: Option<Budgeted>,
    /// Edges before transitive reduction, for the report.
    pub edges_before_reduction: usize,
    /// The longest chain of kernels, copies and fills.
    pub depth: usize,
    /// The operation of each statement that has one.
    pub of_statement: Vector<StatementId, Option<OperationId>>,
    /// The targets of the accesses.
    pub targets: AccessTargets,
    /// Batched launches.
    pub batches: Vector<BatchId, Batch>,
    /// Fused launches.
    pub chains: Vector<ChainId, Chain>,
    /// The temporaries without memory, which stay in registers of one chain.
    pub left_out: BTreeSet<BufferId>,
    /// The reason that chains were cut, if they were.
    pub cut: Option<Cut>,
    /// The number of branches that come after another one in its lane.
    pub serialized: usize,
    /// The number of programmatic edges.
    pub overlapped: usize,
}

impl Operations {
    /// Counts the nodes of each kind.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for operation in &self.list {
            let count = match operation.what {
                What::Statement(kind) => kind.count(&mut counts),
                What::Hub => Some(&mut counts.hubs),
                What::Alloc { .. } => Some(&mut counts.allocs),
                What::Free { .. } | What::FreeTaken { .. } => Some(&mut counts.frees),
            };
            count.into_iter().for_each(|count| *count += 1);
        }
        counts
    }

    /// Computes the operation of each statement. Must be called after the list has changed.
    pub fn index(&mut self, statements: usize) {
        self.of_statement = Vector::filled(None, statements);
        for (at, operation) in self.list.enumerate() {
            for &source in &operation.sources {
                self.of_statement[source] = Some(at);
            }
        }
    }

    /// Returns the chain of an operation, if it is one of fused launches.
    #[must_use]
    pub fn chain_of(&self, operation: &Operation) -> Option<ChainId> {
        Chain::at(self.chains.as_slice(), operation.sources.first()).map(ChainId::new)
    }

    /// Returns the body that an operation stands in. A hub stands where those before it do.
    pub fn body_of(&self, scopes: &Scopes, operation: &Operation) -> Option<ScopeId> {
        match (operation.sources.first(), &operation.what) {
            (Some(&source), _) => scopes.around(source),
            (None, What::Hub) => {
                let mut before = operation.after.iter().map(|&before| &self.list[before]);
                self.body_of(scopes, before.find(|before| !before.what.is_memory())?)
            }
            (None, _) => None,
        }
    }

    /// Returns the number of devices that operations are on.
    pub fn devices(&self) -> usize {
        let mut devices: Vec<Device> = self.list.iter().map(|operation| operation.device).collect();
        devices.sort_unstable();
        devices.dedup();
        devices.len()
    }

    /// Returns the number of edges between operations of two devices.
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
}
