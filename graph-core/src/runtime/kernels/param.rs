//! The parameters of a kernel's declaration.

use cuweave_ptx::declare::Open;

use crate::runtime::cuda::WordCount;

/// What a kernel's declaration says of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamKind {
    /// `&[T; len]`.
    Read,
    /// `&mut [T; len]`.
    ReadWrite,
    /// `&mut [MaybeUninit<T>; len]`.
    Write,
    /// `&[Atomic<T>; len]`.
    Atomic,
    /// A scalar.
    Scalar,
}

/// What a kernel does to a buffer that launches update by atomics, as far as their order matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Updates {
    /// Something whose result depends on the order, or that is not known.
    Ordered,
    /// Nothing.
    Nothing,
    /// It is only read.
    Reads,
    /// Reductions of one operation and type (`add.u32`) whose results are not used: they commute with their like.
    Reduction(&'static str),
}

/// A parameter of a kernel's declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub kind: ParamKind,
    /// Its size as a parameter, in bytes.
    pub size: u32,
    /// For [`ParamKind::Atomic`]: which launches it commutes with.
    pub updates: Updates,
    /// The size of an element of a buffer, in bytes.
    pub element: u32,
    /// Set where any bits are a value of an element, as far as that was asked.
    pub any_bits: bool,
    /// Set where it was asked.
    pub checks_bits: bool,
    /// Set where an element is known to have no padding.
    pub dense: bool,
    /// The parts of the declaration that the PTX does not prove, and the reasons: the user vouches for them.
    pub unproved: &'static [(Open, &'static str)],
}

impl Param {
    /// A buffer of elements `T`.
    pub const fn fixed<T>(name: &'static str, kind: ParamKind) -> Param {
        Param { size: 8, element: size_of::<T>() as u32, ..Param::bytes(name, 8) }.of(kind)
    }

    const fn of(mut self, kind: ParamKind) -> Param {
        self.kind = kind;
        self
    }

    /// The 8-byte words that its value takes.
    #[inline]
    pub(crate) const fn words(&self) -> usize {
        let words = (self.size as usize).div_ceil(8);
        if words == 0 { 1 } else { words }
    }

    /// Whether it is a scalar.
    pub(crate) const fn is_scalar(&self) -> bool {
        matches!(self.kind, ParamKind::Scalar)
    }

    /// So many bytes of a kernel that is not declared.
    pub(crate) const fn bytes(name: &'static str, size: u32) -> Param {
        Param {
            name,
            kind: ParamKind::Scalar,
            size,
            updates: Updates::Ordered,
            element: 0,
            any_bits: false,
            checks_bits: false,
            dense: false,
            unproved: &[],
        }
    }

    /// A scalar.
    pub const fn scalar<T>(name: &'static str) -> Param {
        Param::bytes(name, size_of::<T>() as u32)
    }

    /// Updated like this by every launch.
    pub const fn updates(mut self, updates: Updates) -> Param {
        self.updates = updates;
        self
    }

    /// Of elements that are written: whether any bits are a value of them, and whether they have no padding.
    pub const fn written(mut self, any_bits: bool, dense: bool) -> Param {
        self.any_bits = any_bits;
        self.checks_bits = true;
        self.dense = dense;
        self
    }

    /// With what of the declaration is not proved.
    pub const fn unproved(mut self, unproved: &'static [(Open, &'static str)]) -> Param {
        self.unproved = unproved;
        self
    }
}

impl WordCount for Param {
    #[inline]
    fn word_count(&self) -> usize {
        self.words()
    }
}
