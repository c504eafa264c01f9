//! The columns of the opcode table.
//!
//! Each column is an enum. Together they say what an opcode defines, reads, accesses and orders; modifiers refine
//! some of them (see `analysis::effect`).

/// The class of an instruction by its effect on memory and control flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffectClass {
    /// Computes registers from registers.
    Compute,
    /// `ld`, including loads of parameters and of local memory.
    Load,
    /// `st`. Its asynchronous and bulk forms are [`EffectClass::Memory`].
    Store,
    /// Any other access of memory through address operands.
    Memory,
    /// `wmma`: [`EffectClass::Compute`] for `wmma.mma`, [`EffectClass::Memory`] otherwise.
    Wmma,
    /// `fence`: [`EffectClass::Memory`] for a fence of a tensor map, [`EffectClass::Control`] otherwise.
    Fence,
    /// Reads a texture or surface through a handle.
    TextureRead,
    /// Writes a surface through a handle.
    TextureWrite,
    /// Calls a function.
    Call,
    /// Jumps, barriers and hints.
    Control,
    /// Allocates memory in the stack frame.
    Alloca,
    /// Unknown: may read and write through every address operand, and may keep the value of every register.
    Unknown,
}

/// The accesses that an instruction makes through its address operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addresses {
    /// No address operands.
    None,
    /// Reads its only address. The modifiers tell the size.
    Load,
    /// Writes its only address. The modifiers tell the size.
    Store,
    /// Reads and writes its only address atomically. The modifiers tell the size.
    Update,
    /// Reads all addresses.
    Read,
    /// Writes all addresses.
    Write,
    /// Accesses nothing: the address is a hint.
    Hint,
    /// `multimem`: reads, writes or updates the memory of several devices at its only address, depending on the form.
    /// The modifiers tell the size.
    Multimem,
    /// `cp`: one source and one destination, depending on the form.
    Copy,
    /// `tensormap`: the destination, then the source.
    Tensormap,
    /// `wmma`: depends on the form.
    Wmma,
    /// Unknown.
    Unknown,
}

/// The state space of the address operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpaceSource {
    /// No address operands.
    None,
    /// The space that the modifiers name; generic if they name none.
    Named,
    /// Same as [`SpaceSource::Named`], but shared memory for the asynchronous and bulk forms without `.release`.
    NamedUnlessAsync,
    /// Shared memory.
    Shared,
    /// Depends on the form; the addresses may have different spaces.
    ByForm,
}

/// The registers that an instruction defines. All registers in other operands, in addresses and in the guard are
/// read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defines {
    /// The first operand.
    First,
    /// The first operand, if the instruction has this modifier.
    FirstIf(&'static str),
    /// The first operand, which is also read.
    Accumulates,
    /// Nothing.
    Never,
}

/// The function that computes the result from the source operands. Operations that most analyses treat alike form one
/// class: an analysis matches the members that it follows and has one default per class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// The result is not a function of the operands alone.
    None,
    /// `mov`
    Move,
    /// `cvt`
    Convert,
    /// `cvta`: the same address in another space.
    Address,
    /// `mapa`: an address of shared memory.
    SharedAddress,
    /// Arithmetic on integers or floating-point numbers.
    Arithmetic(Arithmetic),
    /// Arithmetic on floating-point numbers only.
    Float(Float),
    /// A bitwise function of integers.
    Bitwise(Bitwise),
    /// Selects one of the first two operands.
    Selection(Selection),
    /// A predicate of the operands. The result contains no bits of them.
    Comparison(Comparison),
    /// A function that few analyses follow.
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
    /// A unary floating-point function.
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
    /// `shf`: shifts two concatenated registers.
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
    /// `set`: a comparison with a numeric result.
    ToNumber,
    /// Any other predicate, or a mask of lanes.
    Test,
}

/// The operations of [`Operation::Opaque`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opaque {
    /// `shfl`: the operand of another lane.
    Shuffle,
    /// Other integer arithmetic: with carry, on 24 bits, of three operands, or across all lanes.
    Integer,
    /// A product of matrices.
    MatrixProduct,
    /// Any other function of the operands.
    Other,
}

/// The source of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Yields {
    /// The instruction has no result.
    Nothing,
    /// Computed from the operands.
    Computed,
    /// The contents of memory. Not an ordering operation unless the modifiers say so.
    Loaded,
    /// The contents of memory; writes of other threads may stay invisible to it.
    Fixed,
    /// The contents of memory at one point in the modification order of an address. A thread that uses the result
    /// observes that order. If the result is unused, the update commutes with updates of the same kind.
    Observed,
    /// The operand of another lane.
    Exchanged,
    /// A property of the warp's lanes or of the block's threads.
    Voted,
    /// The state of a barrier in memory.
    Phase,
    /// The return values of a function.
    Returned,
    /// Unknown.
    Unknown,
}

/// The effect on control flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlFlow {
    /// Control continues with the next instruction. A guarded instruction of any other kind may also fall through.
    Next,
    /// Jumps to a label.
    Branch,
    /// Jumps to one of a list of labels.
    Table,
    /// Returns from the function.
    Return,
    /// The thread ends.
    Exit,
    /// The launch aborts with an error.
    Trap,
}

/// The effect on the visibility of other threads' writes after the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Synchronises {
    /// No effect.
    Never,
    /// Writes may become visible: a fence orders the accesses around it.
    Fence,
    /// Writes may become visible: the instruction waits for other threads or takes part in an order with them.
    Always,
    /// Writes may become visible if the access is volatile, relaxed, acquire or memory-mapped I/O.
    IfOrdered,
    /// Writes may become visible if the instruction is a copy that waits.
    IfWaits,
}

/// An effect that no operand shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HiddenEffect {
    /// No hidden effect.
    None,
    /// Sets the carry flag, if the instruction has `.cc`.
    SetsCarry,
    /// Reads the carry flag, and sets it if the instruction has `.cc`.
    ReadsCarry,
    /// The thread pauses.
    Sleeps,
    /// Orders this grid with respect to other grids.
    Grids,
    /// Depends on the block's cluster.
    Cluster,
    /// Depends on the block's cluster, if the instruction has this modifier.
    ClusterIf(&'static str),
    /// Reads or writes memory through a handle and a separate cache.
    Texture,
    /// With `.to.const`: makes an address of constant memory, which may be set from outside of the file.
    ConstantWindow,
    /// Unknown.
    Unknown,
}
