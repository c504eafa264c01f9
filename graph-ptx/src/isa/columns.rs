//! The columns of the table of opcodes.

/// Classes of instructions, by their effect on memory and control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// From registers to registers.
    Compute,
    /// `ld`, also of parameters and local memory.
    Load,
    /// `st`; its asynchronous and bulk forms are [`Effect::Memory`].
    Store,
    /// Accesses memory through addresses in other ways.
    Memory,
    /// `wmma`: [`Effect::Compute`] for `wmma.mma`, else [`Effect::Memory`].
    Wmma,
    /// `fence`: [`Effect::Memory`] for the fence of a tensor map, else [`Effect::Control`].
    Fence,
    /// Reads a texture or surface through a handle.
    TextureRead,
    /// Writes a surface through a handle.
    TextureWrite,
    /// Calls a function.
    Call,
    /// Jumps, barriers, hints.
    Control,
    /// Allocates memory in the frame.
    Alloca,
    /// May read and write through every address operand, and keep every register.
    Unknown,
}

/// The accesses through the address operands of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addresses {
    /// It has none.
    None,
    /// The one address is read; the modifiers tell the size.
    Load,
    /// The one address is written; the modifiers tell the size.
    Store,
    /// The one address is read and written in one; the modifiers tell the size.
    Update,
    /// All are read.
    Read,
    /// All are written.
    Write,
    /// No access happens.
    Hint,
    /// `multimem`: by its form.
    Multimem,
    /// `cp`: source and destination, by its form.
    Copy,
    /// `tensormap`: destination, then source.
    Tensormap,
    /// `wmma`: by its form.
    Wmma,
    /// Not known.
    Unknown,
}

/// The state space of the address operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateSpace {
    /// There are no addresses.
    None,
    /// The space among the modifiers; generic without one.
    Named,
    /// As [`StateSpace::Named`]; shared memory for the asynchronous and bulk forms that do not release.
    NamedUnlessAsync,
    /// Shared memory.
    Shared,
    /// Each address has its own, by the form.
    ByForm,
}

/// The definitions of an instruction. Registers in all other operands, in addresses and in the guard are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defines {
    /// The first operand.
    First,
    /// The first operand, for instructions with this modifier.
    FirstIf(&'static str),
    /// The first operand, which is read too.
    Accumulates,
    /// Nothing.
    Never,
}

/// The function that computes the result from the source operands, as far as analyses follow it. Operations that most
/// analyses treat alike are one class: an analysis names those that it follows, and its answer for the rest of the class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// No function of the operands alone.
    None,
    /// `mov`
    Move,
    /// `cvt`
    Convert,
    /// `cvta`: the same address in another space.
    Address,
    /// `mapa`: an address of shared memory.
    SharedAddress,
    /// Arithmetic of integers or floating-point numbers.
    Arithmetic(Arithmetic),
    /// Arithmetic of floating-point numbers alone.
    Float(Float),
    /// A function of the bits of integers.
    Bitwise(Bitwise),
    /// One of the first two operands.
    Selection(Selection),
    /// A fact about the operands, which keeps none of their bits.
    Comparison(Comparison),
    /// A function that analyses seldom follow.
    Opaque(Opaque),
}

/// The operations that most analyses do not follow, for the last arm of a match that names them all.
macro_rules! unfollowed {
    () => {
        Operation::None
            | Operation::Address
            | Operation::SharedAddress
            | Operation::Arithmetic(_)
            | Operation::Float(_)
            | Operation::Bitwise(_)
            | Operation::Selection(_)
            | Operation::Comparison(_)
            | Operation::Opaque(_)
    };
}
pub(crate) use unfollowed;

/// The operations of [`Operation::Arithmetic`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// `add`
    Add,
    /// `sub`
    Sub,
    /// `mul`
    Mul,
    /// `mad`
    Mad,
    /// `div`
    Div,
    /// `rem`
    Rem,
    /// `neg`
    Neg,
    /// `abs`
    Abs,
    /// `min`
    Min,
    /// `max`
    Max,
}

/// The operations of [`Operation::Float`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Float {
    /// `fma`
    Fma,
    /// `copysign`
    Copysign,
    /// A function of one floating-point number.
    Transcendental,
}

/// The operations of [`Operation::Bitwise`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bitwise {
    /// `shl`
    Shl,
    /// `shr`
    Shr,
    /// `and`
    And,
    /// `or`
    Or,
    /// `xor`
    Xor,
    /// `not`
    Not,
    /// `bfe`
    ExtractField,
    /// `bfi`
    InsertField,
    /// `prmt`
    Permute,
    /// `lop3`
    Logic3,
    /// `shf`: a shift of two registers as one.
    FunnelShift,
}

/// The operations of [`Operation::Selection`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// `selp`
    ByPredicate,
    /// `slct`
    BySign,
}

/// The operations of [`Operation::Comparison`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `setp`
    ToPredicate,
    /// `set`: a comparison as a number.
    ToNumber,
    /// A predicate or a mask of lanes, of any other form.
    Test,
}

/// The operations of [`Operation::Opaque`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opaque {
    /// `shfl`: the operand of another lane.
    Shuffle,
    /// Integer arithmetic of any other form: with a carry, of 24 bits, of three numbers, of all lanes.
    Integer,
    /// A product of matrices.
    MatrixProduct,
    /// Any other function of the operands.
    Other,
}

/// The origin of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Yields {
    /// There is no result.
    Nothing,
    /// Computed from the operands.
    Computed,
    /// The contents of memory. Orders nothing unless the modifiers say so.
    Loaded,
    /// The contents of memory that writes of other threads need not show in.
    Fixed,
    /// The contents of memory at one point of the order of all updates of an address: a thread that uses them sees that
    /// order. An update whose result is unused commutes with its like.
    Observed,
    /// The operand of another lane.
    Exchanged,
    /// A fact about the lanes of a warp or the threads of a block.
    Voted,
    /// The state of a barrier in memory.
    Phase,
    /// The results of a function.
    Returned,
    /// Not known.
    Unknown,
}

/// The effect on control flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlFlow {
    /// Control goes to the next instruction. It does so too after each of the others where they are guarded.
    Next,
    /// Control goes to a label.
    Branch,
    /// Control goes to one of a list of labels.
    Table,
    /// Control leaves the function.
    Return,
    /// The thread ends.
    Exit,
    /// The launch ends with an error.
    Trap,
}

/// The visibility of other threads' writes after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Synchronises {
    /// Unchanged.
    Never,
    /// Writes may become visible: it orders the accesses around it.
    Fence,
    /// Writes may become visible: it waits for other threads, or takes part in an order with them.
    Always,
    /// Writes may become visible by a load that is volatile, relaxed, acquire or of memory-mapped I/O.
    IfOrdered,
    /// Writes may become visible by a copy that waits.
    IfWaits,
}

/// An effect that no operand shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hidden {
    /// There is none.
    None,
    /// Sets the carry flag, for instructions with `.cc`.
    SetsCarry,
    /// Reads the carry flag, and sets it for instructions with `.cc`.
    ReadsCarry,
    /// The thread pauses.
    Sleeps,
    /// Orders the grid against other grids.
    Grids,
    /// Depends on the cluster of the block.
    Cluster,
    /// Depends on the cluster of the block, for instructions with this modifier.
    ClusterIf(&'static str),
    /// Reads or writes memory behind a handle, through caches of its own.
    Texture,
    /// With `.to.const`: makes an address of constant memory, which may be set from outside of the file.
    ConstantWindow,
    /// Not known.
    Unknown,
}
