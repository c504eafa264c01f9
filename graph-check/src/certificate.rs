//! The data of a certificate: the program in [`Source`], and the graph that was made from it in [`Plan`].
//!
//! Ids are indices into the lists. Byte offsets count from the start of a memory. Ranges exclude their end.

/// The program and the graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Certificate {
    /// The program.
    pub source: Source,
    /// The graph.
    pub plan: Plan,
}

/// The program: its statements in source order, with loops unrolled and calls expanded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// The memories that statements access.
    pub memories: Vec<Memory>,
    /// The bodies of conditionals. The first entry is the graph itself.
    pub bodies: Vec<Body>,
    /// The functions that statements come from. The first entry is the graph function.
    pub regions: Vec<CallRegion>,
    /// The statements.
    pub statements: Vec<Statement>,
    /// Pairs of statements that the user orders explicitly, with the earlier one first.
    pub after: Vec<(usize, usize)>,
}

/// A memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Its name.
    pub name: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its origin.
    pub origin: Origin,
    /// True if it outlives the graph, so that the graph does not free it.
    pub returned: bool,
}

/// The origin of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The graph allocates it for each run of this body. At first, its bytes are uninitialized.
    Temporary(usize),
    /// It belongs to the caller and is at this address.
    Operand(u64),
    /// It belonged to the caller and is at this address. The graph frees it.
    Taken(u64),
    /// State without an address, such as a module variable.
    State,
}

/// The body of a conditional, or the graph itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    /// The enclosing body. For the graph, the graph itself.
    pub parent: usize,
    /// The statement that decides whether it runs. For the graph, 0.
    pub decided_by: usize,
    /// True for the body of a loop.
    pub repeats: bool,
    /// True if the statement that decides about it always runs one of its bodies.
    pub exhaustive: bool,
}

/// A function that statements come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallRegion {
    /// The function that calls it. For the graph function, itself.
    pub caller: usize,
    /// True if the user orders its statements, false if their order in the program counts.
    pub explicit: bool,
}

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Its name.
    pub name: String,
    /// Its line.
    pub line: u32,
    /// The body that contains it.
    pub body: usize,
    /// The function that it comes from.
    pub region: usize,
    /// The device that runs it.
    pub device: u32,
    /// True for a launch of more than one block.
    pub multi_block: bool,
    /// Its kind.
    pub kind: StatementKind,
    /// Its accesses.
    pub accesses: Vec<Access>,
    /// The numbers that it runs with. For a launch: the grid, the block, the dynamic shared memory and the scalars. For
    /// a copy or fill: see `docs/trust.md`.
    pub numbers: Vec<u64>,
}

/// A kind of statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatementKind {
    /// A kernel launch. One node runs it, alone or together with others.
    Kernel,
    /// A fill. One node runs it.
    Fill,
    /// A copy. One node runs it, and the node's device need not reach the memory.
    Copy,
    /// A library call. Any number of nodes run it.
    Call,
    /// Decides whether bodies run. At least one node runs it.
    Decision,
    /// Decides whether bodies run, by a condition that kernels have set. The node that runs the bodies reads it, also
    /// before each iteration.
    KernelDecision,
    /// Decides at the end of a loop body whether the body runs again. One node runs it.
    LoopDecision,
    /// One node runs it, after everything that precedes it in the program.
    AfterAll,
    /// One node runs it, before everything that follows it in the program.
    BeforeAll,
    /// One node runs it on the host. Only its accesses order it.
    Host,
}

/// An access of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// The memory.
    pub memory: usize,
    /// The first byte.
    pub lo: u64,
    /// One past the last byte.
    pub hi: u64,
    /// Its effect on these bytes.
    pub effect: Effect,
}

/// The effect of an access on the bytes in its range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It reads.
    Read,
    /// It writes every byte, and reads only bytes that it has already written.
    Write,
    /// It may write, and reads only bytes that it has already written.
    MayWrite,
    /// It reads, and may write.
    Modify,
    /// It reads and writes with atomic operations of this class. Two updates of the same class commute.
    Update(String),
}

impl Effect {
    /// Returns true if it may read earlier contents.
    pub fn reads(&self) -> bool {
        matches!(self, Effect::Read | Effect::Modify | Effect::Update(_))
    }

    /// Returns true if it may write.
    pub fn writes(&self) -> bool {
        *self != Effect::Read
    }
}

/// The graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The allocations that hold temporaries.
    pub blocks: Vec<Block>,
    /// The place of each memory.
    pub places: Vec<MemoryPlacement>,
    /// The nodes.
    pub nodes: Vec<Node>,
    /// The edges.
    pub edges: Vec<Edge>,
}

/// An allocation that holds temporaries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its address; 0 if unknown.
    pub address: u64,
    /// Its size.
    pub bytes: u64,
    /// True if a node of the graph allocates it.
    pub node: bool,
}

/// The place of a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryPlacement {
    /// The bytes that it occupies.
    pub at: Storage,
    /// The devices that can access it. Empty if all devices can.
    pub devices: Vec<u32>,
}

/// The bytes of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// A range of a block.
    In {
        /// The block.
        block: usize,
        /// The offset in the block, in bytes.
        offset: u64,
    },
    /// The bytes of the memory in the source, which has an address of its own.
    Own,
    /// No bytes: its elements stay in registers of this node.
    Registers(usize),
    /// No bytes: nothing accesses it.
    Unused,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// The body that contains it.
    pub body: usize,
    /// The device that runs it.
    pub device: u32,
    /// True for a kernel whose effects only begin after all preceding kernels have ended (`griddepcontrol.wait`).
    pub waits: bool,
    /// Its work.
    pub work: NodeWork,
}

/// The work of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeWork {
    /// It allocates a block.
    Alloc(usize),
    /// It frees a block.
    Free(usize),
    /// It frees a memory that the graph has taken over, at this address; 0 if unknown.
    FreeTaken(usize, u64),
    /// It runs or skips bodies.
    Branch(Vec<usize>),
    /// It runs statements. Without members, it only carries edges.
    Run {
        /// The statements.
        members: Vec<Member>,
        /// The reads that are served from registers.
        forwards: Vec<ForwardedRead>,
    },
}

/// A statement of a node. Within each block of the grid, the statements of a lane run one after another. Different
/// lanes have different blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Member {
    /// The statement.
    pub statement: usize,
    /// Its lane.
    pub lane: usize,
    /// The addresses that are passed for its accesses, in their order. Empty if unknown. An access through a table
    /// of pointers has the address from the table.
    pub addresses: Vec<u64>,
    /// The numbers that it runs with. Empty if unknown.
    pub numbers: Vec<u64>,
    /// The accesses whose stores are elided, because the values stay in registers.
    pub elided: Vec<usize>,
    /// For each access, the bytes that each block touches. Empty if unknown.
    pub touches: Vec<TouchedBytes>,
}

/// The bytes that the blocks of a launch touch through an access.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TouchedBytes {
    /// The bytes that may be read. `None` if they are unknown.
    pub reads: Option<Vec<Span>>,
    /// The bytes that may be written. `None` if they are unknown.
    pub writes: Option<Vec<Span>>,
}

/// A regular set of byte ranges, for the blocks within `axes`.
///
/// Each range has `bytes` bytes and starts at `start` + Σ stride · block + Σ step · i, where each i is below its
/// count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The offset of the first byte when all indices are 0.
    pub start: i128,
    /// The number of bytes.
    pub bytes: u64,
    /// The axes of the grid.
    pub axes: [Axis; 3],
    /// The step and the count of each index within a block.
    pub within: Vec<(i128, u64)>,
}

/// The blocks `first..first + count` along an axis of the grid. If there is one block, the stride is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    /// The first block.
    pub first: u64,
    /// The number of blocks.
    pub count: u64,
    /// The distance between adjacent blocks, in bytes.
    pub stride: i128,
}

/// A read that a thread serves from a register. The same thread has set the register in place of a write to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForwardedRead {
    /// The index of the access among those of the reader.
    pub access: usize,
    /// The statement that reads.
    pub reader: usize,
    /// A statement that has set the register. If there are several, the last one that accessed the bytes counts.
    pub writer: usize,
}

/// An edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The predecessor.
    pub from: usize,
    /// The successor.
    pub to: usize,
    /// The event after which the successor may begin.
    pub port: Port,
}

/// The event after which the successor of an edge may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Port {
    /// The end of the predecessor.
    End,
    /// The early trigger of the predecessor: a programmatic edge.
    Early,
}
