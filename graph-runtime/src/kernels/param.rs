//! The parameters of a kernel's declaration.

use cuweave_core::index::{narrow, size};
use cuweave_ptx::declare::Open;

use crate::cuda::WordCount;

/// The declared kind of a parameter.
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

/// The updates that a kernel makes to a buffer of atomics, by the effect of their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Updates {
    /// Updates whose result depends on the order, or unknown ones.
    Ordered,
    /// No updates.
    Nothing,
    /// Only reads.
    Reads,
    /// Reductions of one operation and type (`add.u32`) with unused results, which commute with each other.
    Reduction(&'static str),
}

/// A parameter of a kernel's declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param {
    /// Its name.
    pub name: &'static str,
    /// Its declared kind.
    pub kind: ParamKind,
    /// Its size as a parameter, in bytes.
    pub size: u32,
    /// For [`ParamKind::Atomic`]: the updates, which decide the launches that it commutes with.
    pub updates: Updates,
    /// The size of an element of a buffer, in bytes.
    pub element: u32,
    /// True if every bit pattern is known to be a valid element.
    pub any_bits: bool,
    /// True if `any_bits` was determined.
    pub checks_bits: bool,
    /// True if an element, or a scalar's value, is known to have no padding.
    pub dense: bool,
    /// True if a launch may give none.
    pub optional: bool,
    /// True for a table of pointers, which a launch gives as a list of buffers.
    pub table: bool,
    /// The parts of the declaration that the PTX does not prove, and the reasons. The user vouches for them.
    pub unproved: &'static [(Open, &'static str)],
}

impl Param {
    /// Returns a parameter that is a buffer of elements `T`.
    pub const fn fixed<T>(name: &'static str, kind: ParamKind) -> Param {
        Param { size: 8, element: narrow(size_of::<T>()), ..Param::bytes(name, 8) }.of(kind)
    }

    const fn of(mut self, kind: ParamKind) -> Param {
        self.kind = kind;
        self
    }

    /// Returns the number of 8-byte words that its value takes.
    #[inline]
    pub(crate) const fn words(&self) -> usize {
        let words = size(self.size).div_ceil(8);
        if words == 0 { 1 } else { words }
    }

    /// Returns true for a scalar.
    pub(crate) const fn is_scalar(&self) -> bool {
        matches!(self.kind, ParamKind::Scalar)
    }

    /// Returns a parameter of `size` bytes without a declared type.
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
            optional: false,
            table: false,
            unproved: &[],
        }
    }

    /// Returns a scalar without padding, such as a number.
    pub const fn scalar<T>(name: &'static str) -> Param {
        Param { dense: true, ..Param::structure::<T>(name) }
    }

    /// Returns a scalar that may have padding.
    pub const fn structure<T>(name: &'static str) -> Param {
        Param::bytes(name, narrow(size_of::<T>()))
    }

    /// Sets the updates that every launch makes.
    pub const fn updates(mut self, updates: Updates) -> Param {
        self.updates = updates;
        self
    }

    /// Sets the properties of written elements: all bit patterns are valid, and there is no padding.
    pub const fn written(mut self, any_bits: bool, dense: bool) -> Param {
        self.any_bits = any_bits;
        self.checks_bits = true;
        self.dense = dense;
        self
    }

    /// Makes it one for which a launch may give none.
    pub const fn optional(mut self) -> Param {
        self.optional = true;
        self
    }

    /// Makes it a table of pointers.
    pub const fn table(mut self) -> Param {
        self.table = true;
        self
    }

    /// Returns it as the null pointer of a launch that gives none.
    pub(super) const fn absent(&self) -> Param {
        Param { kind: ParamKind::Scalar, dense: true, unproved: &[], ..*self }
    }

    /// Sets the parts of the declaration that are not proved.
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
