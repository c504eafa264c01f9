//! The certificate of a graph, as plain values: the program in [`Source`], the graph that was made of it in [`Plan`].
//!
//! Ids are indices into the lists. Bytes are counted from the start of a memory, ranges exclude their end.

/// The program and the graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Certificate {
    /// The program.
    pub source: Source,
    /// The graph.
    pub plan: Plan,
}

/// The program: the statements in the order in which they are written, with loops unrolled and calls expanded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// The memories that statements access.
    pub memories: Vec<Memory>,
    /// The graph itself, and the bodies that the device decides about. The first one is the graph.
    pub bodies: Vec<Body>,
    /// The functions that statements come from. The first one is that of the graph.
    pub regions: Vec<Region>,
    /// The statements.
    pub statements: Vec<Statement>,
    /// Pairs of statements that the user orders, the earlier one first.
    pub after: Vec<(usize, usize)>,
}

/// A memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Its name.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// Its origin.
    pub origin: Origin,
    /// True if it leaves the graph: the graph does not free it.
    pub returned: bool,
}

/// The origin of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The graph allocates it in this body, anew each time that the body runs. Nothing is written in it.
    Temporary(usize),
    /// The caller's, at this address.
    Operand(u64),
    /// The caller's, at this address; the graph frees it.
    Taken(u64),
    /// State without an address, such as a variable of a module.
    State,
}

/// The graph, or a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    /// The body around it; of the graph the graph.
    pub parent: usize,
    /// The statement that decides whether it runs; of the graph 0.
    pub decided_by: usize,
    /// True for the body of a loop.
    pub repeats: bool,
    /// True if one of the bodies that the same statement decides about always runs.
    pub total: bool,
}

/// A function that statements come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// The function that calls it; of the first one itself.
    pub caller: usize,
    /// True if the user orders its statements, false if the program does.
    pub explicit: bool,
}

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Its name.
    pub name: String,
    /// Its line.
    pub line: u32,
    /// The body that it stands in.
    pub body: usize,
    /// The function that it comes from.
    pub region: usize,
    /// The device that runs it.
    pub device: u32,
    /// True for a launch of more than one block.
    pub wide: bool,
    /// Its kind.
    pub kind: Kind,
    /// Its accesses.
    pub accesses: Vec<Access>,
    /// The numbers that it is run with: of a launch the grid, the block, the dynamic shared memory and its scalars.
    pub numbers: Vec<u64>,
}

/// A kind of statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A launch: one node runs it, alone or with others.
    Kernel,
    /// A fill: one node runs it.
    Fill,
    /// A copy: one node runs it, of a device that need not reach the memory.
    Copy,
    /// A library call: any number of nodes run it.
    Call,
    /// Decides whether bodies run: at least one node runs it.
    Decision,
    /// Decides, at the end of the body of a loop, whether it runs again: one node runs it.
    Again,
    /// One node runs it, after all that is written before it.
    AfterAll,
    /// One node runs it, before all that is written after it.
    BeforeAll,
    /// The host runs it: one node, after and before what its accesses say.
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

/// The effect of an access on the bytes of its range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It reads.
    Read,
    /// It writes every byte, and reads none that it has not written.
    Write,
    /// It may write, and reads nothing that it has not written.
    MayWrite,
    /// It reads, and may write.
    Modify,
    /// It reads and writes by atomic operations of this class: two of one class give the same bytes in either order.
    Update(String),
}

impl Effect {
    /// Returns true if it may read what was there before.
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
    /// Pieces of memory that hold temporaries.
    pub blocks: Vec<Block>,
    /// The place of each memory.
    pub places: Vec<Place>,
    /// The nodes.
    pub nodes: Vec<Node>,
    /// The edges.
    pub edges: Vec<Edge>,
}

/// A piece of memory that holds temporaries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its address; 0 if it is not known.
    pub address: u64,
    /// Its size.
    pub bytes: u64,
    /// True if a node of the graph allocates it.
    pub node: bool,
}

/// The place of a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its bytes.
    pub at: Bytes,
    /// The devices that reach it; none if all do.
    pub devices: Vec<u32>,
}

/// The bytes of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bytes {
    /// From an offset in a block on.
    In {
        /// The block.
        block: usize,
        /// The offset.
        offset: u64,
    },
    /// Those of the source.
    Own,
    /// None: its elements stay in registers of this node.
    Registers(usize),
    /// None: nothing accesses it.
    Unused,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// The body that it stands in.
    pub body: usize,
    /// The device that runs it.
    pub device: u32,
    /// True for a kernel that has no effect before all kernels in front of it have ended.
    pub waits: bool,
    /// Its work.
    pub work: Work,
}

/// The work of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// It allocates a block.
    Alloc(usize),
    /// It frees a block.
    Free(usize),
    /// It frees a memory that the graph takes over, at this address; 0 if it is not known.
    FreeTaken(usize, u64),
    /// It runs bodies, or skips them.
    Branch(Vec<usize>),
    /// It runs statements. None, if it is there for its edges.
    Run {
        /// The statements.
        members: Vec<Member>,
        /// The reads that are served from registers.
        forwards: Vec<Forward>,
    },
}

/// A statement of a node. The statements of a lane run one after another in each block of the grid; other lanes have
/// other blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Member {
    /// The statement.
    pub statement: usize,
    /// Its lane.
    pub lane: usize,
    /// The addresses that it is given for its accesses, in their order; none if they are not known. Those of memory that
    /// a table of pointers points to are in the table.
    pub addresses: Vec<u64>,
    /// The numbers that it is run with; none if they are not known.
    pub numbers: Vec<u64>,
    /// The accesses whose stores are left out: what they write stays in registers.
    pub left_out: Vec<usize>,
    /// The bytes that each block touches, for each access; none if they are not known.
    pub touches: Vec<Touches>,
}

/// The bytes that the blocks of a launch touch through one access.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Touches {
    /// Bytes that may be read; `None` for any.
    pub reads: Option<Vec<Span>>,
    /// Bytes that may be written; `None` for any.
    pub writes: Option<Vec<Span>>,
}

/// `bytes` bytes from `start` + Σ stride · block + Σ step · i on, with i below its count: for the blocks of these axes
/// of the grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first byte in the memory, where all indices are 0.
    pub start: i128,
    /// The number of bytes.
    pub bytes: u64,
    /// The axes of the grid.
    pub axes: [Axis; 3],
    /// The steps and counts of the indices within a block.
    pub within: Vec<(i128, u64)>,
}

/// The blocks `first..first + count` along an axis of the grid. The stride of a single block is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    /// The first block.
    pub first: u64,
    /// The number of blocks.
    pub count: u64,
    /// The distance in bytes from block to block.
    pub stride: i128,
}

/// A read that a thread serves from a register, which the same thread has set where it would have written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forward {
    /// The access of the statement that reads.
    pub access: usize,
    /// The statement that reads.
    pub reader: usize,
    /// A statement that has set the register: of several, the last one that accesses these bytes.
    pub writer: usize,
}

/// An edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The node that comes first.
    pub from: usize,
    /// The node behind it.
    pub to: usize,
    /// When the second node may begin.
    pub port: Port,
}

/// The moment at which the second node of an edge may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Port {
    /// When the first one has ended.
    End,
    /// Earlier: a programmatic edge.
    Early,
}
