//! The backward slice of a kernel: the integer arithmetic and the branches that its accesses depend on.
//!
//! `analysis::slice` builds it, `interpreter` runs it, and `encoding` encodes it for the constant data of a kernel.

use std::collections::BTreeSet;

/// A value of a slice, or a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SliceArg {
    /// The number of a value.
    Value(u32),
    /// A constant.
    Constant(i64),
}

/// An integer type: width and signedness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntType {
    /// The width in bits: 8, 16, 32 or 64.
    pub bits: u8,
    /// True if comparisons and extensions are signed.
    pub signed: bool,
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The operations of a slice.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum SliceOpcode { $($(#[$doc])* $name,)* }

        impl SliceOpcode {
            pub(super) const ALL: &'static [SliceOpcode] = &[$(SliceOpcode::$name,)*];
        }
    };
}

codes! {
    /// An opaque value. The argument is the note that gives the reason.
    Opaque,
    /// A special register, by number: 0 to 2 `%tid`, 3 to 5 `%ntid`, 6 to 8 `%ctaid`, 9 to 11 `%nctaid`.
    Special,
    /// `%laneid`.
    Lane,
    /// A scalar parameter, by index.
    Scalar,
    /// A pointer parameter, by index.
    Pointer,
    /// A move.
    Copy,
    /// Extends the low bits to a value of the type.
    Extend,
    /// `a + b`
    Add,
    /// `a - b`
    Sub,
    /// The low half of `a * b`.
    Mul,
    /// `a * b`, twice as wide as the factors.
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
    /// `a & b`, also on predicates.
    And,
    /// `a | b`, also on predicates.
    Or,
    /// `a ^ b`, also on predicates.
    Xor,
    /// `!a`, also on a predicate.
    Not,
    /// `-a`
    Neg,
    /// `|a|`
    Abs,
    /// The smaller operand.
    Min,
    /// The larger operand.
    Max,
    /// `b` if the predicate `a` holds, else `c`.
    Select,
    /// `a == b`
    Equal,
    /// `a < b`
    Less,
    /// A store. Arguments: parameter, address, offset, size in bytes, and the guard predicate, if any.
    Store,
    /// The thread may end here, in an unmodelled instruction.
    MayEnd,
    /// A load, with the same arguments as [`SliceOpcode::Store`].
    Load,
}

/// An operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SliceOp {
    /// The operation.
    pub code: SliceOpcode,
    /// The type of its operands.
    pub int: IntType,
    /// The value that it defines; for an access, the note that names it.
    pub target: u32,
    /// The arguments. For [`SliceOpcode::Opaque`] and [`SliceOpcode::MayEnd`], the note that gives the reason.
    pub args: Vec<SliceArg>,
}

/// A value that depends on the edge through which its block is entered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phi {
    /// The value that it defines.
    pub target: u32,
    /// The argument for each predecessor.
    pub sources: Vec<(u32, SliceArg)>,
}

/// The terminator of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SliceTerminator {
    /// The thread ends.
    Exit,
    /// Jumps to a block.
    Jump(u32),
    /// Jumps to one of two blocks. A target may be [`EXIT_BLOCK`], the end of the thread.
    Branch {
        /// The predicate.
        on: SliceArg,
        /// The successor if the predicate holds.
        taken: u32,
        /// The successor if it does not hold.
        other: u32,
        /// The immediate post-dominator.
        join: u32,
    },
}

/// The end of the thread, as a block number.
pub const EXIT_BLOCK: u32 = u32::MAX;

/// A block of a slice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SliceBlock {
    /// The values that depend on the edge through which the block is entered.
    pub phis: Vec<Phi>,
    /// The operations, in order.
    pub ops: Vec<SliceOp>,
    /// The terminator.
    pub end: SliceTerminator,
}

/// The part of a kernel that determines its accesses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BackwardSlice {
    /// The number of values.
    pub values: u32,
    /// The blocks; the first one is the entry.
    pub blocks: Vec<SliceBlock>,
    /// Texts of PTX instructions, for messages.
    pub notes: Vec<String>,
    /// The parameters whose accesses are followed.
    pub parameters: Vec<SlicedParameter>,
    /// The loads and stores among its operations. Not encoded.
    pub instructions: Vec<MemoryInstruction>,
    /// True if a block of the kernel may be entered again. Not encoded.
    pub loops: bool,
}

/// A load or store of a slice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryInstruction {
    /// The note that names it.
    pub note: u32,
    /// The byte offset of the instruction in the file.
    pub at: u32,
    /// The kernel parameter that it accesses memory through.
    pub parameter: u32,
    /// True for a store.
    pub stores: bool,
    /// The size of an element in bytes, if a register holds each element exactly; otherwise `None`.
    pub element: Option<u32>,
    /// The size of all elements in bytes.
    pub bytes: u32,
}

/// A parameter whose accesses are followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlicedParameter {
    /// Its index among the kernel's parameters.
    pub parameter: u32,
    /// An access through it that is not an operation of this slice, as text; `None` if there cannot be one.
    pub foreign: Option<String>,
}

impl BackwardSlice {
    /// Returns the number of loads through a parameter.
    #[must_use]
    pub fn loads(&self, parameter: usize) -> usize {
        let through = |op: &&SliceOp| {
            let of = op.args.first();
            op.code == SliceOpcode::Load
                && matches!(of, Some(SliceArg::Constant(at)) if usize::try_from(*at) == Ok(parameter))
        };
        self.blocks.iter().flat_map(|block| &block.ops).filter(through).count()
    }

    /// Returns the slice without its stores.
    #[must_use]
    pub fn loads_alone(&self) -> BackwardSlice {
        let mut slice = self.clone();
        slice.blocks.iter_mut().for_each(|block| block.ops.retain(|op| op.code != SliceOpcode::Store));
        slice
    }

    /// Makes pointers null.
    pub fn set_null(&mut self, is_null: &dyn Fn(u32) -> bool) {
        let is_null = |parameter: Option<&SliceArg>| match parameter {
            Some(&SliceArg::Constant(parameter)) => u32::try_from(parameter).is_ok_and(is_null),
            _ => false,
        };
        for op in self.blocks.iter_mut().flat_map(|block| &mut block.ops) {
            if op.code == SliceOpcode::Pointer && is_null(op.args.first()) {
                (op.code, op.args) = (SliceOpcode::Copy, vec![SliceArg::Constant(0)]);
            }
        }
    }

    /// Returns the indices of the scalar parameters that the slice reads. Sorted.
    pub fn scalars(&self) -> Vec<u32> {
        let ops = self.blocks.iter().flat_map(|block| &block.ops);
        let mut scalars: Vec<u32> = ops
            .filter(|op| op.code == SliceOpcode::Scalar)
            .filter_map(|op| match op.args.first() {
                Some(SliceArg::Constant(parameter)) => u32::try_from(*parameter).ok(),
                _ => None,
            })
            .collect();
        scalars.sort_unstable();
        scalars.dedup();
        scalars
    }

    /// Returns the possible successors of a block, including the join of a branch.
    pub(super) fn successors(&self, block: u32) -> Vec<u32> {
        match self.blocks.get(block as usize).map(|block| block.end) {
            Some(SliceTerminator::Jump(to)) => vec![to],
            Some(SliceTerminator::Branch { taken, other, join, .. }) => vec![taken, other, join],
            Some(SliceTerminator::Exit) | None => Vec::new(),
        }
    }

    /// Returns the blocks reachable from these without passing through `join`.
    pub(super) fn region(&self, from: &[u32], join: u32) -> Vec<u32> {
        let mut seen = BTreeSet::new();
        let mut stack = from.to_vec();
        while let Some(block) = stack.pop() {
            let Some(found) = self.blocks.get(block as usize) else { continue };
            if block == join || !seen.insert(block) {
                continue;
            }
            match found.end {
                SliceTerminator::Exit => {}
                SliceTerminator::Jump(to) => stack.push(to),
                SliceTerminator::Branch { taken, other, .. } => stack.extend([taken, other]),
            }
        }
        seen.into_iter().collect()
    }
}
