//! Operations: what is emitted. Data that the driver, the text dump and the DOT picture all read, so that the
//! picture is the graph.

use crate::ir::{BufferId, Program, StatementId, Text};
use crate::launches::Batch;

/// Index of an operation; operations stand in an order in which each may be added to a graph: what it comes
/// after stands before it.
pub type OperationId = u32;

/// One node of the graph to be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// What it is.
    pub what: What,
    /// Its dependencies: sorted, no duplicates.
    pub after: Vec<OperationId>,
    /// The one of its dependencies before whose end it may start: the edge is programmatic.
    pub early: Option<OperationId>,
    /// Whether it may start even when all blocks of that one have begun; else when these have ended.
    pub at_once: bool,
    /// The statements that it came from: none for what the compiler placed, several for a batch, rising.
    pub sources: Vec<StatementId>,
    /// Its name in errors and pictures.
    pub name: Text,
}

/// The kinds of operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// A memory alloc node; `memory` is its index in [`Operations::memories`].
    Alloc {
        /// Which memory.
        memory: u32,
    },
    /// A memory free node.
    Free {
        /// Which memory.
        memory: u32,
    },
    /// The free node of a taken-over argument.
    FreeTaken {
        /// The argument.
        buffer: BufferId,
    },
    /// A launch: of its only source statement, or of all of them as one batch.
    Kernel,
    /// A memset.
    Fill,
    /// A memcpy.
    Copy,
    /// A kernel that does nothing, in the middle of a wide join.
    Hub,
}

/// A piece of memory that the graph, or its exec, allocates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryBlock {
    /// Bytes.
    pub bytes: u64,
    /// The buffer's name, or `arena`.
    pub name: Text,
    /// Whether an alloc node makes it (else the exec owns it).
    pub node: bool,
}

/// Where a buffer lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At `offset` bytes into a memory of the graph.
    Inside {
        /// Which memory.
        memory: u32,
        /// Bytes from its start.
        offset: u64,
    },
    /// Where the caller's operand lies.
    Bound,
    /// Nowhere: nothing uses it.
    Nowhere,
}

/// How good a plan of the temporaries is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Bytes that one statement needs at once: no order of the statements gets below.
    pub floor: u64,
    /// That statement.
    pub floor_statement: Option<StatementId>,
    /// Bytes of the heaviest set of buffers of which none is over before another begins: no plan gets below without
    /// more order.
    pub antichain: u64,
    /// That set.
    pub antichain_buffers: Vec<BufferId>,
    /// Bytes as planned.
    pub planned: u64,
    /// Whether `planned` is `antichain`.
    pub optimal: bool,
}

/// What a budget did to the order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budgeted {
    /// The budget, in bytes.
    pub budget: u64,
    /// The edges that were added.
    pub edges: Vec<(StatementId, StatementId)>,
    /// How they came about.
    pub steps: Vec<BudgetStep>,
    /// The longest chain of statements before.
    pub path_before: u64,
    /// And now.
    pub path_after: u64,
}

/// Two buffers that were put one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BudgetStep {
    /// The buffer that is over first.
    pub donor: String,
    /// The buffer that begins then.
    pub receiver: String,
    /// The edges between their statements.
    pub edges: Vec<(StatementId, StatementId)>,
    /// The bytes by which the bound fell.
    pub saves: u64,
    /// The statements by which the longest chain grew.
    pub costs: u64,
}

/// What a statement's buffer argument points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointed {
    /// The buffer.
    pub buffer: BufferId,
    /// Bytes from its start.
    pub offset: u64,
}

/// A plan as emitted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operations {
    /// In an order in which they can be added.
    pub list: Vec<Operation>,
    /// Memories, in the order of their first use.
    pub memories: Vec<MemoryBlock>,
    /// One place a buffer of the program.
    pub places: Vec<Place>,
    /// How good the plan of the temporaries is, where there is one.
    pub bounds: Option<Bounds>,
    /// What the budget did, where there is one.
    pub budget: Option<Budgeted>,
    /// Edges before transitive reduction, for the report.
    pub edges_before_reduction: usize,
    /// The longest chain of kernels, copies and fills.
    pub depth: usize,
    /// The operation of each statement that has one.
    pub of_statement: Vec<Option<OperationId>>,
    /// What every access of every statement points to, one statement's behind the other's.
    pub pointed: Vec<Pointed>,
    /// Where each statement's begin there.
    pub pointed_of: Vec<u32>,
    /// Launches that became one.
    pub batches: Vec<Batch>,
    /// How many branches were put in line behind others.
    pub lined_up: usize,
    /// How many edges are programmatic.
    pub overlapped: usize,
}

impl Operations {
    /// Finds what the accesses point to, for lengths and bounds of these values.
    pub fn point(&mut self, program: &Program, dims: &[u64]) {
        self.pointed_of = Vec::with_capacity(program.statements.len());
        self.pointed.clear();
        for statement in program.statements.iter() {
            self.pointed_of.push(self.pointed.len() as u32);
            self.pointed.extend(statement.accesses.iter().map(|access| {
                let element = u64::from(program.buffers[access.buffer as usize].element);
                // The build has checked that the range lies in its buffer.
                Pointed { buffer: access.buffer, offset: dims[access.lo as usize].wrapping_mul(element) }
            }));
        }
    }

    /// Finds the operation of each statement again, once the list has changed.
    pub fn index(&mut self, statements: usize) {
        self.of_statement = vec![None; statements];
        for (at, operation) in (0..).zip(&self.list) {
            for &source in &operation.sources {
                self.of_statement[source as usize] = Some(at);
            }
        }
    }

    /// The number of edges.
    pub fn edges(&self) -> usize {
        self.list.iter().map(|operation| operation.after.len()).sum()
    }
}
