//! Decoded code.
//!
//! Every operand is a slot: registers, and also constants, addresses of variables and special registers, which are
//! filled in once when a thread enters the function. One PTX instruction becomes one or more [`Inst`]s; the first of
//! them counts.

use super::number::{ConvertSpec, FloatSpec};
use cuweave_ptx::Type;

/// A register of a function: a row of 32 values in a warp.
pub type Slot = u32;

/// No slot: an unused result or an absent operand.
pub const NONE: Slot = u32::MAX;

/// One value from another.
pub type Map1 = fn(u64) -> u64;
/// One value from two.
pub type Map2 = fn(u64, u64) -> u64;
/// One value from three.
pub type Map3 = fn(u64, u64, u64) -> u64;

/// The code of all functions of a module, with the place of each instruction in the text.
#[derive(Debug, Default)]
pub struct Code {
    pub insts: Vec<Inst>,
    /// Paths by the number of `.file`.
    pub files: Vec<(u32, String)>,
}

/// A decoded instruction.
#[derive(Debug)]
pub struct Inst {
    pub op: Op,
    /// The guard's predicate, or [`NONE`].
    pub guard: Slot,
    /// True if the guard is negated.
    pub negated: bool,
    /// True for the first operation of a PTX instruction.
    pub counts: bool,
    /// Line of the PTX.
    pub line: u32,
    /// File and line of `.loc`, or zeros.
    pub source: (u32, u32),
}

/// A function.
#[derive(Debug, Default)]
pub struct Function {
    pub name: String,
    /// First instruction, and one past the last.
    pub start: u32,
    pub end: u32,
    /// Rows that it needs.
    pub slots: u32,
    /// The rows that are filled at entry, with their values.
    pub inits: Vec<(Slot, Init)>,
    /// Bytes of its local memory: variables and parameters.
    pub frame: u32,
    pub parameters: Vec<Place>,
    pub returns: Vec<Place>,
    /// Numbers of the shared variables that it names.
    pub shared: Vec<u32>,
    /// Functions that it calls by name.
    pub callees: Vec<u32>,
    /// The reason why it cannot be run.
    pub error: Option<String>,
    /// True if the error is one for which every driver refuses the file.
    pub invalid: bool,
}

/// The value that a row has at entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Init {
    Const(u64),
    Special(Special),
    /// Address of a variable in global or constant memory.
    Global(u32, i64),
    /// Address of a shared variable.
    Shared(u32, i64),
    /// Address in the frame.
    Local(i64),
}

/// Special registers that do not change while a thread runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Special {
    Thread(u8),
    Block(u8),
    ThreadCount(u8),
    BlockCount(u8),
    Lane,
    Warp,
    WarpCount,
    /// Lanes equal, less or equal, less, greater or equal, greater.
    Mask(u8),
    DynamicShared,
    TotalShared,
    /// Start, or end, of the shared memory reserved for CUDA's own code.
    Reserved(bool),
    /// Halves of the address of a cooperative launch's workspace, the high one first: `%envreg1`, `%envreg2`.
    Workspace(u8),
    /// The number of a multiprocessor.
    Multiprocessor,
    Grid,
}

/// The location of a function's parameter.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// Offset and size in the frame.
    Frame(u32, u32),
    /// A register.
    Register(Slot),
}

/// State space of an access; the address is that space's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    Generic,
    Shared,
    Local,
}

/// A place in memory.
#[derive(Clone, Copy, Debug)]
pub struct At {
    pub space: Space,
    pub base: Slot,
    pub offset: i64,
    /// `.volatile`, `.relaxed`, `.acquire` and the like: never part of a conflict.
    pub strong: bool,
}

/// Returns the new value for the old value and the operands.
#[derive(Clone, Copy, Debug)]
pub enum Update {
    Map(Map3),
    Float(FloatSpec),
}

/// The mode of `shfl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shuffle {
    Up,
    Down,
    Butterfly,
    Index,
}

/// The mode of `vote`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vote {
    All,
    Any,
    Uniform,
    Ballot,
}

/// The reduction of `bar.red` over predicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    And,
    Or,
    Count,
}

/// Counters that change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    Clock,
    Time,
}

/// The callee.
#[derive(Clone, Copy, Debug)]
pub enum Callee {
    Function(u32),
    Address(Slot),
    /// `vprintf`
    Print,
    /// `__assertfail`
    Assert,
    /// `malloc`: always null, as when the heap is full.
    Malloc,
    /// `free`
    Free,
    /// `cudaGraphSetConditional`
    SetCondition,
}

/// Element types of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub m: u8,
    pub n: u8,
    pub k: u8,
}

/// A matrix operation.
#[derive(Debug)]
pub struct Mma {
    pub shape: Shape,
    pub a_type: Type,
    pub b_type: Type,
    /// The type of `c` and `d`.
    pub types: (Type, Type),
    pub saturate: bool,
    pub d: Box<[Slot]>,
    pub a: Box<[Slot]>,
    pub b: Box<[Slot]>,
    pub c: Box<[Slot]>,
    /// `wmma`: fragments of our own layout, and whether `a` and `b` are by columns (of no consequence once loaded).
    pub warp: bool,
}

/// Operations.
#[derive(Debug)]
pub enum Op {
    Map1(Map1, Slot, Slot),
    Map2(Map2, Slot, Slot, Slot),
    Map3(Map3, Slot, Slot, Slot, Slot),
    Float(Box<FloatSpec>, Slot, [Slot; 3]),
    Convert(Box<ConvertSpec>, Slot, Slot),
    /// `cvt` of two floats into halves: the first above.
    ConvertPair(Box<ConvertSpec>, Slot, Slot, Slot),
    Pack(Type, Type, Slot, [Slot; 3]),
    /// The truth table, result, operands.
    Lop3(u8, Slot, [Slot; 3]),
    Counter(Counter, Slot),
    ActiveMask(Slot),
    Nop,
    /// Ends the warp's turn.
    Rest,
    /// Waits for the grids that the launch depends on.
    GridWait,
    Fence,
    Branch(u32),
    /// Targets by an index.
    BranchTable(Slot, Box<[u32]>),
    Call(Box<Call>),
    Return,
    Exit,
    Trap,
    /// Bytes of the kernel's parameters, from an offset.
    LoadParameter(Type, u32, Box<[Slot]>),
    Load(Transfer),
    Store(Transfer),
    Atomic(Atomic),
    /// `cp.async`
    Copy(AsyncCopy),
    /// `cp.async.bulk`
    BulkCopy(Box<BulkCopy>),
    /// To the generic address, from it, and the test of the window.
    Window(Window, u64, Slot, Slot),
    Barrier(BlockBarrier),
    SyncWarp(Slot),
    Shuffle(Shuffle, Slot, Slot, [Slot; 3], Slot),
    Vote(Vote, Slot, Slot, Slot),
    /// `match.any`, or `.all` with its predicate; bits of the value.
    Match(bool, Slot, Slot, Slot, Slot, u64),
    Reduce(Map2, Slot, Slot, Slot),
    Elect(Slot, Slot, Slot),
    /// Element bits, matrices, transposed, registers.
    LoadMatrix {
        transposed: bool,
        at: At,
        to: Box<[Slot]>,
    },
    StoreMatrix {
        transposed: bool,
        at: At,
        from: Box<[Slot]>,
    },
    Mma(Box<Mma>),
    /// A fragment of `wmma`: which (a, b, c), shape, by columns, type, place, stride.
    LoadFragment(Box<Fragment>),
    StoreFragment(Box<Fragment>),
    Mbarrier(Mbarrier),
}

/// A load or a store of some elements.
#[derive(Debug)]
pub struct Transfer {
    pub ty: Type,
    pub at: At,
    pub slots: Box<[Slot]>,
}

/// An atomic update.
#[derive(Debug)]
pub struct Atomic {
    pub update: Update,
    pub ty: Type,
    pub at: At,
    pub d: Slot,
    pub operands: [Slot; 2],
}

/// An asynchronous copy of a few bytes.
#[derive(Debug)]
pub struct AsyncCopy {
    pub to: At,
    pub from: At,
    pub bytes: Slot,
    /// Bytes that are read; the rest is zeroed.
    pub read: Slot,
}

/// An asynchronous copy of any number of bytes.
#[derive(Debug)]
pub struct BulkCopy {
    pub to: At,
    pub from: At,
    pub bytes: Slot,
    /// The barrier that is signalled.
    pub barrier: Option<At>,
    pub reduction: Option<ElementUpdate>,
}

/// The reduction of each element of a copy.
#[derive(Clone, Copy, Debug)]
pub struct ElementUpdate {
    pub update: Update,
    pub ty: Type,
}

/// An arrival at a barrier of the block, or a wait there.
#[derive(Debug)]
pub struct BlockBarrier {
    pub id: Slot,
    /// Threads; [`NONE`] for all.
    pub count: Slot,
    pub wait: bool,
    pub reduction: Option<PredicateReduction>,
}

/// The reduction of a predicate.
#[derive(Clone, Copy, Debug)]
pub struct PredicateReduction {
    pub kind: Reduction,
    pub d: Slot,
    pub p: Slot,
}

/// An operation on a barrier object.
#[derive(Debug)]
pub struct Mbarrier {
    pub op: MbarrierOp,
    pub at: At,
    pub d: Slot,
    pub value: Slot,
}

/// An operation on the address windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    ToGeneric,
    FromGeneric,
    Contains,
    /// Addresses in no window.
    IsGlobal,
}

/// Operations on a barrier object in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MbarrierOp {
    Init,
    Invalidate,
    /// State, count.
    Arrive {
        drop: bool,
    },
    /// State, bytes expected.
    ArriveExpect,
    Expect,
    Complete,
    /// Predicate from state.
    Test,
    /// Predicate from parity.
    TestParity,
    Pending,
}

/// A `wmma` fragment in memory.
#[derive(Debug)]
pub struct Fragment {
    /// `b'a'`, `b'b'` or `b'c'`.
    pub which: u8,
    pub shape: Shape,
    pub by_columns: bool,
    pub ty: Type,
    pub at: At,
    /// Elements from a row (or column) to the next; [`NONE`] for dense.
    pub stride: Slot,
    pub registers: Box<[Slot]>,
}

/// A call.
#[derive(Debug)]
pub struct Call {
    pub callee: Callee,
    pub arguments: Vec<Place>,
    pub returns: Vec<Place>,
}
