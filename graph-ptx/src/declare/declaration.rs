//! Declarations of kernels, the faults found in them, and their proofs, as types.

use super::limits::BlockRule;
use crate::analysis::hidden::Hidden;
use crate::analysis::update::Update;
use crate::coverage::Outline;
use crate::poly::Poly;
use crate::syntax::FloatFormat;
use std::fmt;

/// The accesses that a declared buffer allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// `&[T; len]`
    Read,
    /// `&mut [T; len]`
    ReadWrite,
    /// `&mut [MaybeUninit<T>; len]`
    Write,
    /// `&[Atomic<T>; len]`
    Atomic,
}

/// A primitive type of Rust.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Primitive {
    /// Its size, which is also its alignment.
    pub size: u32,
    /// Its format, if it is a float.
    pub float: Option<FloatFormat>,
    /// The bits that are a value of it.
    pub values: Values,
}

/// The bits that are a value of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// All bits.
    Any,
    /// 0 and 1.
    Boolean,
    /// The values of a `char`.
    Character,
}

impl Primitive {
    /// Returns the primitive type of a name.
    pub fn of(name: &str) -> Option<Primitive> {
        let (size, float) = match name {
            "u8" | "i8" | "bool" => (1, None),
            "u16" | "i16" => (2, None),
            "u32" | "i32" | "char" => (4, None),
            "u64" | "i64" | "usize" | "isize" => (8, None),
            "u128" | "i128" => (16, None),
            "f16" => (2, Some(FloatFormat::F16)),
            "bf16" => (2, Some(FloatFormat::Bf16)),
            "f32" => (4, Some(FloatFormat::F32)),
            "f64" => (8, Some(FloatFormat::F64)),
            _ => return None,
        };
        let values = match name {
            "bool" => Values::Boolean,
            "char" => Values::Character,
            _ => Values::Any,
        };
        Some(Primitive { size, float, values })
    }
}

/// The declared kind of a parameter.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A buffer.
    Buffer {
        /// The accesses that it allows.
        access: Access,
        /// The type of an element, if it is one that is known by its name.
        element: Option<Primitive>,
        /// The number of elements. Variable `i` is the kernel's parameter `i`; further variables are opaque.
        extent: Poly,
        /// The source text.
        text: String,
    },
    /// A number or a structure passed by value, with its type if it is a primitive one.
    Scalar(Option<Primitive>),
}

/// A declared parameter.
#[derive(Clone, Debug)]
pub struct Declared {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: Kind,
    /// True for a buffer in whose place a launch may give a null pointer. Else tests of it for null have one outcome,
    /// and the code for the other is dead.
    pub nullable: bool,
}

/// A declared kernel.
#[derive(Clone, Debug)]
pub struct Declaration {
    /// Its name.
    pub name: String,
    /// Its parameters.
    pub parameters: Vec<Declared>,
    /// The variables of extents that are multiples.
    pub rounded: Vec<Rounded>,
    /// The variables of extents that are quotients.
    pub quotients: Vec<Quotient>,
    /// The buffers that are tables of pointers.
    pub tables: Vec<PointerTable>,
}

impl Declaration {
    /// Returns the table of pointers that a parameter is.
    pub(super) fn table(&self, parameter: u32) -> Option<PointerTable> {
        self.tables.iter().find(|table| table.parameter == parameter).copied()
    }
}

/// A buffer whose elements are addresses of buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PointerTable {
    /// The index of its parameter.
    pub parameter: u32,
    /// True if the kernel may write through its elements.
    pub writes: bool,
}

/// A variable of extents: `of.next_multiple_of(to)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rounded {
    /// The variable.
    pub variable: u32,
    /// The number that is rounded up.
    pub of: Poly,
    /// At least 1.
    pub to: u32,
}

/// A variable of extents: `of / by`, without the remainder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quotient {
    /// The variable.
    pub variable: u32,
    /// The number that is divided.
    pub of: Poly,
    /// At least 1.
    pub by: u32,
}

/// The kinds of differences between declarations and their PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// There is no such kernel.
    Name,
    /// The number of parameters.
    Count,
    /// The kind of a parameter, or the type of its elements.
    Kind,
    /// A write through a parameter that is declared read-only.
    ReadOnly,
    /// A read of a parameter that is declared write-only, before it is written.
    WriteOnly,
    /// More static shared memory than any device has.
    Shared,
    /// The file cannot be used.
    File,
    /// An extent is smaller than what is accessed.
    Extent,
}

/// A fault of a declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its kind.
    pub difference: Difference,
    /// The index of the declared kernel; `None` for a fault of the file.
    pub kernel: Option<usize>,
    /// The index of the parameter; `None` for a fault of the kernel.
    pub parameter: Option<usize>,
    /// One clause.
    pub message: String,
    /// Lines of the PTX.
    pub notes: Vec<String>,
    /// The fix.
    pub help: Option<String>,
}

/// The proof for a declared parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// True if its access is proved; else the user vouches for it.
    pub access: bool,
    /// True if its extent is proved.
    pub extent: bool,
    /// The order among launches that access it in this way: reductions by atomics commute.
    pub updates: Update,
    /// All of it as text.
    pub text: String,
    /// The parts of the declaration that are not proved.
    pub open: Vec<Unproved>,
}

/// A declared kernel that is in the file.
#[derive(Clone, Debug, Default)]
pub struct Checked {
    /// One for each declared buffer, `None` for a scalar. Empty if the declaration does not fit.
    pub proofs: Vec<Option<Proof>>,
    /// The size and the alignment that the PTX gives to each parameter. Empty if their number differs.
    pub layout: Vec<(u64, u64)>,
    /// The module-level variables that order it.
    pub hidden: Hidden,
    /// The block shapes that it supports.
    pub block: BlockRule,
    /// Static shared memory of its body, in bytes.
    pub shared: u64,
    /// True if all blocks of its grid wait for each other.
    pub cooperative: bool,
    /// The outline of its writes to the parameters that are declared write-only. Empty if no launch can be proved to
    /// write all.
    pub outline: Outline,
    /// The outline of its accesses through the parameters whose extents are not proved. Empty if no launch is known to
    /// make any of them.
    pub accesses: Outline,
}

/// A part of a declaration that the PTX may prove.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Open {
    /// The use of the parameter: only read, only written, only updated by atomics.
    Access,
    /// The bound: no element past the declared ones is used.
    Extent,
    /// The elements: the accesses are those of the declared type.
    Elements,
    /// The coverage: every element of a write-only parameter is written.
    Coverage,
    /// The pointers in a table: the use and the extent of the buffers that they point to.
    Pointers,
}

impl fmt::Display for Open {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Open::Access => "how it is used",
            Open::Extent => "its extent",
            Open::Elements => "its elements",
            Open::Coverage => "that all of it is written",
            Open::Pointers => "how the buffers that it points to are used, and how far",
        })
    }
}

/// A part of a declaration that the PTX does not prove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unproved {
    /// The part.
    pub what: Open,
    /// The reason.
    pub reason: String,
}
