//! Decoded code.
//!
//! Every operand is a slot: a register, a constant, the address of a variable, or a special register. Slots other
//! than registers are filled once, when a thread enters the function. One PTX instruction becomes one or more
//! [`Inst`]s, and the first of them counts towards the instruction limit.

use super::number::{ConvertSpec, FloatSpec};
use cuweave_ptx::Type;

/// A register of a function. In a warp it is a row of 32 values.
pub type Slot = u32;

/// No slot: an unused result or an absent operand.
pub const NONE: Slot = u32::MAX;

/// A function of one value.
pub type Map1 = fn(u64) -> u64;
/// A function of two values.
pub type Map2 = fn(u64, u64) -> u64;
/// A function of three values.
pub type Map3 = fn(u64, u64, u64) -> u64;

/// The code of all functions of a module, with the source line of each instruction.
#[derive(Debug, Default)]
pub struct Code {
    pub insts: Vec<Inst>,
    /// The path of each number that `.file` defines.
    pub files: Vec<(u32, String)>,
}

/// A decoded instruction.
#[derive(Debug)]
pub struct Inst {
    pub op: Op,
    /// The predicate of the guard; [`NONE`] if there is no guard.
    pub guard: Slot,
    /// True if the guard is negated.
    pub negated: bool,
    /// True for the first operation of a PTX instruction.
    pub counts: bool,
    /// The line in the PTX.
    pub line: u32,
    /// The file number and line from `.loc`; zeros if there is no `.loc`.
    pub source: (u32, u32),
}

/// A function.
#[derive(Debug, Default)]
pub struct Function {
    pub name: String,
    /// The first instruction. The next field is one past the last.
    pub start: u32,
    pub end: u32,
    /// The number of rows that it needs.
    pub slots: u32,
    /// The rows that are filled at entry, with their values.
    pub inits: Vec<(Slot, InitialValue)>,
    /// The size of its frame in local memory: variables and parameters.
    pub frame: u32,
    pub parameters: Vec<ParameterPlace>,
    pub returns: Vec<ParameterPlace>,
    /// The shared variables that it names, by number.
    pub shared: Vec<u32>,
    /// The functions that it calls by name.
    pub callees: Vec<u32>,
    /// The reason if it cannot be run.
    pub error: Option<String>,
    /// True if every driver refuses the file because of the error.
    pub invalid: bool,
}

/// The value of a row at entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InitialValue {
    Const(u64),
    SpecialRegister(SpecialRegister),
    /// The address of a variable in global or constant memory: its number and an offset.
    Global(u32, i64),
    /// The address of a shared variable: its number and an offset.
    Shared(u32, i64),
    /// An offset in the frame.
    Local(i64),
}

/// Special registers that are constant while a thread runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpecialRegister {
    Thread(u8),
    Block(u8),
    ThreadCount(u8),
    BlockCount(u8),
    Lane,
    Warp,
    WarpCount,
    /// The lane masks, in this order: equal, less or equal, less, greater or equal, greater.
    Mask(u8),
    DynamicShared,
    TotalShared,
    /// The start of the shared memory reserved for CUDA's own code, or its end if true.
    Reserved(bool),
    /// Half of the address of a cooperative launch's workspace, which is split over `%envreg1` (high) and
    /// `%envreg2` (low).
    Workspace(u8),
    /// The number of the multiprocessor.
    Multiprocessor,
    Grid,
}

/// The location of a function's parameter.
#[derive(Clone, Copy, Debug)]
pub enum ParameterPlace {
    /// The offset and size in the frame.
    Frame(u32, u32),
    /// A register.
    Register(Slot),
}

/// The state space of an access. The address is relative to the space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    Generic,
    Shared,
    Local,
}

/// An address operand: a state space, a base row, and an offset.
#[derive(Clone, Copy, Debug)]
pub struct AddressOperand {
    pub space: Space,
    pub base: Slot,
    pub offset: i64,
    /// True for `.volatile`, `.relaxed`, `.acquire` and the like, which are never part of a conflict.
    pub strong: bool,
}

/// The function of an atomic update: returns the new value for the old value and the operands.
#[derive(Clone, Copy, Debug)]
pub enum AtomicFunction {
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

/// The reduction of predicates by `bar.red`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    And,
    Or,
    Count,
}

/// Counters whose value changes between reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    Clock,
    Time,
}

/// The target of a call.
#[derive(Clone, Copy, Debug)]
pub enum Callee {
    Function(u32),
    Address(Slot),
    /// `vprintf`
    Print,
    /// `__assertfail`
    Assert,
    /// `malloc`, which always returns null, as if the heap were full.
    Malloc,
    /// `free`
    Free,
    /// `cudaGraphSetConditional`
    SetCondition,
}

/// The dimensions and element types of a matrix operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatrixShape {
    pub m: u8,
    pub n: u8,
    pub k: u8,
}

/// A matrix operation.
#[derive(Debug)]
pub struct Mma {
    pub shape: MatrixShape,
    pub a_type: Type,
    pub b_type: Type,
    /// The types of `c` and `d`.
    pub types: (Type, Type),
    pub saturate: bool,
    pub d: Box<[Slot]>,
    pub a: Box<[Slot]>,
    pub b: Box<[Slot]>,
    pub c: Box<[Slot]>,
    /// True for `wmma`, whose fragments have a layout of our own. Whether `a` and `b` are stored by columns
    /// matters only for loads.
    pub warp: bool,
}

/// The operation of an instruction.
#[derive(Debug)]
pub enum Op {
    Map1(Map1, Slot, Slot),
    Map2(Map2, Slot, Slot, Slot),
    Map3(Map3, Slot, Slot, Slot, Slot),
    Float(Box<FloatSpec>, Slot, [Slot; 3]),
    Convert(Box<ConvertSpec>, Slot, Slot),
    /// `cvt` of two floats to a pair of halves, the first operand to the upper half.
    ConvertPair(Box<ConvertSpec>, Slot, Slot, Slot),
    Pack(Type, Type, Slot, [Slot; 3]),
    /// The truth table, the result, and the operands.
    Lop3(u8, Slot, [Slot; 3]),
    Counter(Counter, Slot),
    ActiveMask(Slot),
    Nop,
    /// Ends the warp's time slice.
    Yield,
    /// Waits until the prerequisite grids have ended (`griddepcontrol.wait`).
    GridWait,
    Fence,
    Branch(u32),
    /// A jump through a table: the index and the targets.
    BranchTable(Slot, Box<[u32]>),
    Call(Box<CallSite>),
    Return,
    Exit,
    Trap,
    /// Loads from the kernel's parameters: type, offset, and destinations.
    LoadParameter(Type, u32, Box<[Slot]>),
    Load(ElementAccess),
    Store(ElementAccess),
    Atomic(Atomic),
    Multimem(Box<Multimem>),
    /// `cp.async`
    Copy(AsyncCopy),
    /// `cp.async.bulk`
    BulkCopy(Box<BulkCopy>),
    /// An operation on an address window: its kind, the base of the window, the result, and the operand.
    Window(WindowOp, u64, Slot, Slot),
    Barrier(BlockBarrier),
    SyncWarp(Slot),
    Shuffle(Shuffle, Slot, Slot, [Slot; 3], Slot),
    Vote(Vote, Slot, Slot, Slot),
    /// `match.any`, or `match.all` with its predicate if true. The last operand masks the bits of the value.
    Match(bool, Slot, Slot, Slot, Slot, u64),
    Reduce(Map2, Slot, Slot, Slot),
    Elect(Slot, Slot, Slot),
    /// `ldmatrix`: loads 8x8 matrices of 16-bit elements, one into each register.
    LoadMatrix {
        transposed: bool,
        at: AddressOperand,
        to: Box<[Slot]>,
    },
    StoreMatrix {
        transposed: bool,
        at: AddressOperand,
        from: Box<[Slot]>,
    },
    Mma(Box<Mma>),
    /// A load or store of a `wmma` fragment.
    LoadFragment(Box<MatrixFragment>),
    StoreFragment(Box<MatrixFragment>),
    Mbarrier(Mbarrier),
}

/// A load or a store of one or more elements.
#[derive(Debug)]
pub struct ElementAccess {
    pub ty: Type,
    pub at: AddressOperand,
    pub slots: Box<[Slot]>,
}

/// An atomic update.
#[derive(Debug)]
pub struct Atomic {
    pub update: AtomicFunction,
    pub ty: Type,
    pub at: AddressOperand,
    pub d: Slot,
    pub operands: [Slot; 2],
}

/// An access to the memory of all devices of a multicast object.
#[derive(Debug)]
pub struct Multimem {
    pub function: MultimemFunction,
    pub ty: Type,
    pub at: AddressOperand,
    pub slots: Box<[Slot]>,
}

/// The function of a `multimem` instruction.
#[derive(Clone, Copy, Debug)]
pub enum MultimemFunction {
    /// `multimem.ld_reduce`: reduces the values of all devices.
    LoadReduce(DeviceReduction),
    /// `multimem.st`: stores to all devices.
    Store,
    /// `multimem.red`: updates the memory of each device.
    Update(AtomicFunction),
}

/// The reduction of the values of all devices.
#[derive(Clone, Copy, Debug)]
pub struct DeviceReduction {
    pub update: AtomicFunction,
    /// True for `.acc::f32`: accumulates in single precision, and rounds once at the end.
    pub single: bool,
}

/// An asynchronous copy of 4, 8 or 16 bytes.
#[derive(Debug)]
pub struct AsyncCopy {
    pub to: AddressOperand,
    pub from: AddressOperand,
    pub bytes: Slot,
    /// The number of bytes to read. The rest of the destination is zeroed.
    pub read: Slot,
}

/// An asynchronous bulk copy.
#[derive(Debug)]
pub struct BulkCopy {
    pub to: AddressOperand,
    pub from: AddressOperand,
    pub bytes: Slot,
    /// The `mbarrier` object that the copy signals.
    pub barrier: Option<AddressOperand>,
    pub reduction: Option<ElementUpdate>,
}

/// The reduction that a bulk copy applies to each element.
#[derive(Clone, Copy, Debug)]
pub struct ElementUpdate {
    pub update: AtomicFunction,
    pub ty: Type,
}

/// An arrival at a named barrier of the block, with or without a wait.
#[derive(Debug)]
pub struct BlockBarrier {
    pub id: Slot,
    /// The number of threads; [`NONE`] for all.
    pub count: Slot,
    pub wait: bool,
    pub reduction: Option<PredicateReduction>,
}

/// The reduction of a predicate over the threads at a barrier.
#[derive(Clone, Copy, Debug)]
pub struct PredicateReduction {
    pub kind: Reduction,
    pub d: Slot,
    pub p: Slot,
}

/// An operation on an `mbarrier` object.
#[derive(Debug)]
pub struct Mbarrier {
    pub op: MbarrierOp,
    pub at: AddressOperand,
    pub d: Slot,
    pub value: Slot,
}

/// An operation on an address window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowOp {
    ToGeneric,
    FromGeneric,
    Contains,
    /// True for addresses outside all windows.
    IsGlobal,
}

/// The operation on an `mbarrier` object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MbarrierOp {
    Init,
    Invalidate,
    /// Returns the state; the operand is the count.
    Arrive {
        drop: bool,
    },
    /// Returns the state; the operand is the number of expected bytes.
    ArriveExpect,
    Expect,
    Complete,
    /// Tests the phase of a state.
    Test,
    /// Tests a phase parity.
    TestParity,
    Pending,
}

/// A `wmma` fragment in memory.
#[derive(Debug)]
pub struct MatrixFragment {
    /// `b'a'`, `b'b'` or `b'c'`.
    pub which: u8,
    pub shape: MatrixShape,
    pub by_columns: bool,
    pub ty: Type,
    pub at: AddressOperand,
    /// The distance in elements from one row or column to the next; [`NONE`] if dense.
    pub stride: Slot,
    pub registers: Box<[Slot]>,
}

/// A call.
#[derive(Debug)]
pub struct CallSite {
    pub callee: Callee,
    pub arguments: Vec<ParameterPlace>,
    pub returns: Vec<ParameterPlace>,
}
