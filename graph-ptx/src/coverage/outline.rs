//! The outline of a kernel: the integer arithmetic and the branches that its stores depend on.

use std::collections::BTreeSet;

/// A value of an outline, or a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arg {
    /// A value.
    Value(u32),
    /// A constant.
    Constant(i64),
}

/// An integer type: its width in bits and its signedness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Int {
    /// The width: 8, 16, 32 or 64.
    pub bits: u8,
    /// True if comparisons and extensions take it as signed.
    pub signed: bool,
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Operations of an outline.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Code { $($(#[$doc])* $name,)* }

        impl Code {
            pub(super) const ALL: &'static [Code] = &[$(Code::$name,)*];
        }
    };
}

codes! {
    /// A value that is not followed.
    Opaque,
    /// A special register: 0 to 2 `%tid`, 3 to 5 `%ntid`, 6 to 8 `%ctaid`, 9 to 11 `%nctaid`.
    Special,
    /// `%laneid`.
    Lane,
    /// A scalar parameter, by its index.
    Scalar,
    /// A pointer parameter, by its index.
    Pointer,
    /// A move.
    Copy,
    /// The low bits as a value of the type.
    Extend,
    /// `a + b`
    Add,
    /// `a - b`
    Sub,
    /// The low half of `a * b`.
    Mul,
    /// `a * b`, twice as wide as its factors.
    MulWide,
    /// The high half of `a * b`.
    MulHigh,
    /// `a << b`
    Shl,
    /// `a >> b`
    Shr,
    /// `a / b`
    Div,
    /// `a % b`
    Rem,
    /// `a & b`, also of predicates.
    And,
    /// `a | b`, also of predicates.
    Or,
    /// `a ^ b`, also of predicates.
    Xor,
    /// `!a`, also of a predicate.
    Not,
    /// `-a`
    Neg,
    /// `|a|`
    Abs,
    /// The smaller operand.
    Min,
    /// The larger operand.
    Max,
    /// `b` where the predicate `a` holds, else `c`.
    Select,
    /// `a == b`
    Equal,
    /// `a < b`
    Less,
    /// A store: parameter, address, offset, bytes, and the predicate that guards it, if any.
    Store,
    /// The thread may end here, by an instruction that is not followed.
    MayEnd,
    /// A load, with the arguments of [`Code::Store`].
    Load,
}

/// An operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Op {
    /// The operation.
    pub code: Code,
    /// The type of its operands.
    pub int: Int,
    /// The value that it defines; for a store, the note that names it.
    pub target: u32,
    /// The arguments. For [`Code::Opaque`] and [`Code::MayEnd`] the note that says why.
    pub args: Vec<Arg>,
}

/// A value that depends on the edge by which its block is entered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phi {
    /// The value that it defines.
    pub target: u32,
    /// The argument for each predecessor block.
    pub sources: Vec<(u32, Arg)>,
}

/// The successor of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The thread ends.
    Exit,
    /// Control goes to a block.
    Jump(u32),
    /// Control goes to one of two blocks, or to [`LEAVE`], the end of the thread.
    Branch {
        /// The predicate.
        on: Arg,
        /// The successor if the predicate holds.
        taken: u32,
        /// The successor if it does not hold.
        other: u32,
        /// The immediate post-dominator.
        join: u32,
    },
}

/// The end of the thread, in place of a block.
pub const LEAVE: u32 = u32::MAX;

/// A block of an outline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The values that depend on the edge by which the block is entered.
    pub phis: Vec<Phi>,
    /// The operations, in order.
    pub ops: Vec<Op>,
    /// The successor.
    pub end: End,
}

/// The part of a kernel that decides on its writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// The number of values.
    pub values: u32,
    /// The blocks; the first one is the entry.
    pub blocks: Vec<Block>,
    /// Texts of PTX instructions, for messages.
    pub notes: Vec<String>,
    /// The parameters that are followed.
    pub parameters: Vec<Followed>,
    /// The loads and stores among its operations. They are not encoded.
    pub instructions: Vec<Access>,
    /// True if a block of the kernel may be entered again. It is not encoded.
    pub loops: bool,
}

/// A load or a store of an outline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// The note that names it.
    pub note: u32,
    /// The first byte of the instruction in the file.
    pub at: u32,
    /// The kernel's parameter that it goes through.
    pub parameter: u32,
    /// True for a store.
    pub stores: bool,
    /// The size of an element in bytes, if each element is held in a register of that size; else `None`.
    pub element: Option<u32>,
    /// The bytes of all elements.
    pub bytes: u32,
}

/// A parameter whose writes are followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Followed {
    /// Its index among the kernel's parameters.
    pub parameter: u32,
    /// A write through it that is not a store of this outline, if there may be one.
    pub foreign: Option<String>,
}

impl Outline {
    /// Returns the indices of the scalar parameters that the outline reads, sorted.
    pub fn scalars(&self) -> Vec<u32> {
        let ops = self.blocks.iter().flat_map(|block| &block.ops);
        let mut scalars: Vec<u32> = ops
            .filter(|op| op.code == Code::Scalar)
            .filter_map(|op| match op.args.first() {
                Some(Arg::Constant(parameter)) => u32::try_from(*parameter).ok(),
                _ => None,
            })
            .collect();
        scalars.sort_unstable();
        scalars.dedup();
        scalars
    }

    /// Returns the blocks that control may go to from a block.
    pub(super) fn after(&self, block: u32) -> Vec<u32> {
        match self.blocks.get(block as usize).map(|block| block.end) {
            Some(End::Jump(to)) => vec![to],
            Some(End::Branch { taken, other, join, .. }) => vec![taken, other, join],
            Some(End::Exit) | None => Vec::new(),
        }
    }

    /// Returns the blocks that control may reach from these without going through `join`.
    pub(super) fn region(&self, from: &[u32], join: u32) -> Vec<u32> {
        let mut seen = BTreeSet::new();
        let mut stack = from.to_vec();
        while let Some(block) = stack.pop() {
            let Some(found) = self.blocks.get(block as usize) else { continue };
            if block == join || !seen.insert(block) {
                continue;
            }
            match found.end {
                End::Exit => {}
                End::Jump(to) => stack.push(to),
                End::Branch { taken, other, .. } => stack.extend([taken, other]),
            }
        }
        seen.into_iter().collect()
    }
}
