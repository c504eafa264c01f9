//! The parameters of a kernel's declaration.

use cuweave_core::index::{narrow, size};
use cuweave_ptx::declare::DeclaredPart;

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

/// The updates that a kernel makes to a buffer of atomics, classified by their dependence on order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomicUpdates {
    /// The result depends on the order, or the updates are unknown.
    Ordered,
    /// No updates.
    Nothing,
    /// Only reads.
    Reads,
    /// Reductions of a single operation and type (`add.u32`) whose results are not used. They commute with each
    /// other.
    Reduction(&'static str),
}

/// A parameter of a kernel's declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param {
    /// The name.
    pub name: &'static str,
    /// The kind that is declared.
    pub kind: ParamKind,
    /// The size as a parameter, in bytes.
    pub size: u32,
    /// For [`ParamKind::Atomic`]: the updates, which determine the launches that it commutes with.
    pub updates: AtomicUpdates,
    /// The size of a buffer's element, in bytes.
    pub element: u32,
    /// True if every bit pattern is known to be a valid element.
    pub any_bits: bool,
    /// True if `any_bits` was determined.
    pub checks_bits: bool,
    /// True if the element or scalar is known to have no padding.
    pub dense: bool,
    /// True if a launch may pass `None`.
    pub optional: bool,
    /// True for a table of pointers. A launch passes it as a list of buffers.
    pub table: bool,
    /// The parts of the declaration that the PTX does not prove, with the reasons. They are assumed.
    pub unproved: &'static [(DeclaredPart, &'static str)],
}

impl Param {
    /// Returns a buffer parameter with elements of type `T`.
    pub const fn fixed<T>(name: &'static str, kind: ParamKind) -> Param {
        Param { size: 8, element: narrow(size_of::<T>()), ..Param::bytes(name, 8) }.of(kind)
    }

    const fn of(mut self, kind: ParamKind) -> Param {
        self.kind = kind;
        self
    }

    /// Returns the number of 8-byte words of its value. At least 1.
    #[inline]
    pub(crate) const fn words(&self) -> usize {
        let words = size(self.size).div_ceil(8);
        if words == 0 { 1 } else { words }
    }

    pub(crate) const fn is_scalar(&self) -> bool {
        matches!(self.kind, ParamKind::Scalar)
    }

    /// Returns a parameter of `size` bytes without a declared type.
    pub(crate) const fn bytes(name: &'static str, size: u32) -> Param {
        Param {
            name,
            kind: ParamKind::Scalar,
            size,
            updates: AtomicUpdates::Ordered,
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
    pub const fn updates(mut self, updates: AtomicUpdates) -> Param {
        self.updates = updates;
        self
    }

    /// Sets the properties of written elements: `any_bits` if all bit patterns are valid, `dense` if they have
    /// no padding.
    pub const fn written(mut self, any_bits: bool, dense: bool) -> Param {
        self.any_bits = any_bits;
        self.checks_bits = true;
        self.dense = dense;
        self
    }

    /// Sets that all of its bytes are known.
    pub(crate) const fn without_padding(mut self) -> Param {
        self.dense = true;
        self
    }

    /// Allows launches to pass `None`.
    pub const fn optional(mut self) -> Param {
        self.optional = true;
        self
    }

    /// Marks it as a table of pointers.
    pub const fn table(mut self) -> Param {
        self.table = true;
        self
    }

    /// Returns the null pointer that replaces it in launches that pass `None`.
    pub(super) const fn absent(&self) -> Param {
        Param { kind: ParamKind::Scalar, dense: true, unproved: &[], ..*self }
    }

    /// Sets the parts of the declaration that are not proved.
    pub const fn unproved(mut self, unproved: &'static [(DeclaredPart, &'static str)]) -> Param {
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
