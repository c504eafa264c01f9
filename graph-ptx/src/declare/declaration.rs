//! The inputs and results of the check: declarations, findings and proofs.

use super::limits::BlockRule;
use crate::analysis::hidden::HiddenState;
use crate::analysis::update::Update;
use crate::coverage::BackwardSlice;
use crate::poly::Poly;
use crate::syntax::FloatFormat;
use std::fmt;

/// The accesses that a declared buffer allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeclaredAccess {
    /// `&[T; len]`
    Read,
    /// `&mut [T; len]`
    ReadWrite,
    /// `&mut [MaybeUninit<T>; len]`
    Write,
    /// `&[Atomic<T>; len]`
    Atomic,
}

/// A primitive Rust type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrimitiveType {
    /// Its size in bytes, which is also its alignment.
    pub size: u32,
    /// Its format if it is a float.
    pub float: Option<FloatFormat>,
    /// The bit patterns that are valid values.
    pub values: ValidBits,
}

/// The bit patterns that are valid values of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValidBits {
    /// All bits.
    Any,
    /// 0 and 1.
    Boolean,
    /// The values of a `char`.
    Character,
}

impl PrimitiveType {
    /// Returns the primitive type with this name.
    pub fn from_name(name: &str) -> Option<PrimitiveType> {
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
            "bool" => ValidBits::Boolean,
            "char" => ValidBits::Character,
            _ => ValidBits::Any,
        };
        Some(PrimitiveType { size, float, values })
    }
}

/// The declared kind of a parameter.
#[derive(Clone, Debug)]
pub enum DeclaredKind {
    /// A buffer.
    Buffer {
        /// The accesses that it allows.
        access: DeclaredAccess,
        /// The type of an element; `None` if its name is not known.
        element: Option<PrimitiveType>,
        /// True for `Multimem<T>`: the buffer is a multicast object's, and accessed only by `multimem`.
        multimem: bool,
        /// The number of elements. Variable `i` stands for the kernel's parameter `i`; other variables are opaque.
        extent: Poly,
        /// The extent as written in the source.
        text: String,
    },
    /// A number or struct passed by value, with its type if it is primitive.
    Scalar(Option<PrimitiveType>),
}

/// A declared parameter.
#[derive(Clone, Debug)]
pub struct DeclaredParameter {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: DeclaredKind,
    /// True for a buffer for which a launch may pass a null pointer. If false, null tests of it have one outcome, and
    /// the code of the other is dead.
    pub nullable: bool,
}

/// A declared kernel.
#[derive(Clone, Debug)]
pub struct Declaration {
    /// Its name.
    pub name: String,
    /// Its parameters.
    pub parameters: Vec<DeclaredParameter>,
    /// The variables of extents that are rounded up to multiples.
    pub rounded: Vec<RoundedVariable>,
    /// The variables of extents that are quotients.
    pub quotients: Vec<QuotientVariable>,
    /// The buffers that are tables of pointers.
    pub tables: Vec<PointerTable>,
}

impl Declaration {
    /// Returns the table of pointers that a parameter is declared as.
    pub(super) fn table(&self, parameter: u32) -> Option<PointerTable> {
        self.tables.iter().find(|table| table.parameter == parameter).copied()
    }
}

/// A buffer whose elements are addresses of buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PointerTable {
    /// The index of its parameter.
    pub parameter: u32,
    /// True if the kernel may write through the addresses.
    pub writes: bool,
}

/// A variable of extents: `of.next_multiple_of(to)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoundedVariable {
    /// The variable.
    pub variable: u32,
    /// The number to round up.
    pub of: Poly,
    /// The divisor of the result. At least 1.
    pub to: u32,
}

/// A variable of extents: `of / by`, rounded down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuotientVariable {
    /// The variable.
    pub variable: u32,
    /// The dividend.
    pub of: Poly,
    /// The divisor. At least 1.
    pub by: u32,
}

/// The kind of a difference between a declaration and its PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// There is no such kernel.
    Name,
    /// The number of parameters.
    Count,
    /// The kind of a parameter, or the type of its elements.
    Kind,
    /// A write through a parameter declared read-only.
    ReadOnly,
    /// A read of a parameter declared write-only, before any write.
    WriteOnly,
    /// More static shared memory than any device has.
    Shared,
    /// The file cannot be used.
    File,
    /// An extent that is smaller than the accesses.
    Extent,
    /// An access by `multimem` through a parameter that is not declared so, or any other through one that is.
    Multimem,
}

/// A difference between a declaration and its PTX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its kind.
    pub difference: Difference,
    /// The index of the declared kernel; `None` for an error about the file.
    pub kernel: Option<usize>,
    /// The index of the parameter; `None` for an error about the kernel.
    pub parameter: Option<usize>,
    /// The message: one clause.
    pub message: String,
    /// Quoted lines of the PTX.
    pub notes: Vec<String>,
    /// The suggested fix.
    pub help: Option<String>,
}

/// The proof for a declared parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterProof {
    /// True if its access is proved, false if it is assumed from the declaration.
    pub access: bool,
    /// True if its extent is proved.
    pub extent: bool,
    /// How launches that access it in this way are ordered: atomic reductions commute.
    pub updates: Update,
    /// The whole result as text.
    pub text: String,
    /// The parts of the declaration that are not proved.
    pub unproved: Vec<Unproved>,
}

/// The result for a declared kernel that is in the file.
#[derive(Clone, Debug, Default)]
pub struct CheckedKernel {
    /// One per declared buffer; `None` for a scalar. Empty if the declaration does not match.
    pub proofs: Vec<Option<ParameterProof>>,
    /// The size and alignment of each parameter in the PTX. Empty if their number differs.
    pub layout: Vec<(u64, u64)>,
    /// The module variables that order it.
    pub hidden: HiddenState,
    /// The block shapes that it supports.
    pub block: BlockRule,
    /// The static shared memory of its body, in bytes.
    pub shared: u64,
    /// True if the blocks of its grid wait for each other.
    pub cooperative: bool,
    /// The backward slice of its writes to parameters declared write-only. Empty if no launch can be proved to write
    /// all elements.
    pub slice: BackwardSlice,
    /// The backward slice of its accesses through parameters whose extents are not proved. Empty if no launch is
    /// known to make any of them.
    pub accesses: BackwardSlice,
}

/// A part of a declaration that the PTX may prove.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum DeclaredPart {
    /// The access: only reads, only writes, only atomics.
    Access,
    /// The extent: no access is past the declared elements.
    Extent,
    /// The elements: all accesses have the declared type.
    Elements,
    /// The coverage: every element of a write-only parameter is written.
    Coverage,
    /// The pointers in a table: the access and the extent of the buffers that they point to.
    Pointers,
}

impl fmt::Display for DeclaredPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DeclaredPart::Access => "how it is used",
            DeclaredPart::Extent => "its extent",
            DeclaredPart::Elements => "its elements",
            DeclaredPart::Coverage => "that all of it is written",
            DeclaredPart::Pointers => "how the buffers that it points to are used, and how far",
        })
    }
}

/// A part of a declaration that the PTX does not prove, so that it is assumed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unproved {
    /// The part.
    pub what: DeclaredPart,
    /// The reason.
    pub reason: String,
}
