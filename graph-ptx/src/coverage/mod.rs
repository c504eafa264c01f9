//! Which elements the threads of a launch write: the part of a kernel that decides it, run over all threads at once.
//!
//! The PTX reader cuts an [`Outline`] out of a kernel: the integer arithmetic and the branches that the addresses and
//! guards of its stores depend on. [`Outline::judge`] runs it for one configuration and one set of scalars. Threads that
//! take the same way are one group: a box of thread and block indices, every value an affine form over them. Where threads
//! part, or arithmetic wraps, the box is cut. So results are exact in machine width; what cannot be followed (loaded
//! data, calls) is opaque, and what depends on it is not counted as written.

mod cut;
mod form;
mod ops;
mod run;
mod tiles;
mod turns;
mod words;

/// A value of an outline, or a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arg {
    /// A value.
    Value(u32),
    /// A constant.
    Constant(i64),
}

/// An integer type: its width in bits, and whether it has a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Int {
    /// 8, 16, 32 or 64.
    pub bits: u8,
    /// Set where comparisons and extensions take it as signed.
    pub signed: bool,
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Operations of an outline.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Code { $($(#[$doc])* $name,)* }

        impl Code {
            const ALL: &'static [Code] = &[$(Code::$name,)*];
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
    /// The value of that type that the low bits are.
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
    /// The smaller one.
    Min,
    /// The larger one.
    Max,
    /// `b` where the predicate `a` holds, else `c`.
    Select,
    /// `a == b`
    Equal,
    /// `a < b`
    Less,
    /// A store: parameter, address, offset, bytes, and the predicate under which it is done, if any.
    Store,
    /// The thread may end here, by an instruction that is not followed.
    MayEnd,
}

/// An operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Op {
    /// The operation.
    pub code: Code,
    /// Of which type.
    pub int: Int,
    /// The value that it defines; for a store, the note that names it.
    pub target: u32,
    /// The arguments. For [`Code::Opaque`] and [`Code::MayEnd`] the note that says why.
    pub args: Vec<Arg>,
}

/// A value that depends on where its block is entered from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phi {
    /// The value that it defines.
    pub target: u32,
    /// By block.
    pub sources: Vec<(u32, Arg)>,
}

/// Where control goes at the end of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The thread ends.
    Exit,
    /// To a block.
    Jump(u32),
    /// To one of two, [`LEAVE`] for the end of the thread.
    Branch {
        /// The predicate.
        on: Arg,
        /// Where it holds.
        taken: u32,
        /// Where it does not.
        other: u32,
        /// Where both meet again.
        join: u32,
    },
}

/// No block: the thread ends.
pub const LEAVE: u32 = u32::MAX;

/// A block of an outline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Values that depend on where it is entered from.
    pub phis: Vec<Phi>,
    /// In order.
    pub ops: Vec<Op>,
    /// Where control goes.
    pub end: End,
}

/// The part of a kernel that decides where it writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// The number of values.
    pub values: u32,
    /// The first one is entered first.
    pub blocks: Vec<Block>,
    /// Instructions of the PTX, to name.
    pub notes: Vec<String>,
    /// The parameters that are followed.
    pub parameters: Vec<Followed>,
}

/// A parameter whose writes are followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Followed {
    /// Its index among the kernel's parameters.
    pub parameter: u32,
    /// A write through it that is no store of this outline, if there may be one.
    pub foreign: Option<String>,
}

/// A launch to judge.
#[derive(Clone, Copy)]
pub struct Launch<'l> {
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads a block.
    pub block: [u32; 3],
    /// The bits of a scalar parameter, by its index.
    pub scalar: &'l dyn Fn(u32) -> Option<u64>,
}

/// The elements of a parameter that have to be written.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// Their number.
    pub elements: u64,
    /// The bytes of one.
    pub size: u32,
    /// Set where an element has no padding: a byte of it that nothing writes is missing then.
    pub dense: bool,
}

/// The part of a parameter that a launch writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every element.
    Covered,
    /// Not every element.
    Short {
        /// The number of those that are written.
        written: u64,
        /// The first one that is not.
        missing: u64,
    },
    /// Not known, and why.
    Unknown(String),
}

impl Outline {
    /// Which elements a launch writes through each of [`Outline::parameters`], whose extents are given in that order.
    /// Time is bounded by a count of steps; beyond it the verdict is [`Verdict::Unknown`].
    pub fn judge(&self, launch: &Launch<'_>, extents: &[Extent]) -> Vec<Verdict> {
        let found = run::Runner::new(self, launch).run();
        found
            .into_iter()
            .zip(extents)
            .map(|(found, extent)| {
                let verdict = tiles::verdict(found.tiles, extent);
                match (verdict, found.inexact) {
                    (Verdict::Covered, _) => Verdict::Covered,
                    (Verdict::Short { .. }, Some(why)) => Verdict::Unknown(why),
                    (verdict, _) => verdict,
                }
            })
            .collect()
    }

    /// Returns the reason that no launch can be proved to cover a followed parameter: each of its stores depends on what is
    /// not followed. `None` where some launch may be proved.
    pub fn hopeless(&self, followed: usize) -> Option<String> {
        words::hopeless(self, followed)
    }

    /// The scalar parameters that it looks at, by index, sorted.
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
}

#[cfg(test)]
mod tests;
