//! Declarations: parameters, variables with their initialisers, and unknown directives.

use super::span::Span;
use super::types::{StateSpace, Type, TypeClass};

/// A directive that is kept without being interpreted.
#[derive(Clone, Copy, Debug)]
pub struct Directive<'a> {
    /// From the dot to the last byte.
    pub span: Span,
    /// The first line.
    pub line: u32,
    /// With the dot, such as `.pragma`.
    pub name: &'a str,
}

/// `.visible`, `.extern`, `.weak`, `.common`, or nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Linkage {
    /// Visible in this file only.
    #[default]
    Local,
    /// `.visible`
    Visible,
    /// `.extern`
    Extern,
    /// `.weak`
    Weak,
    /// `.common`
    Common,
}

/// A parameter of a function.
#[derive(Clone, Copy, Debug)]
pub struct Parameter<'a> {
    /// From the state space to the last byte.
    pub span: Span,
    /// Its line.
    pub line: u32,
    /// Its name; `_` in prototypes that leave it out.
    pub name: &'a str,
    /// `.param`, or `.reg` in a `.func`.
    pub space: StateSpace,
    /// The type of the scalar or of the array's elements.
    pub ty: Type,
    /// The alignment of `.align`, if written.
    pub declared_align: Option<u64>,
    /// The number of elements of an array, 0 for `[]`; `None` for a scalar.
    pub elements: Option<u64>,
    /// The pointer that `.ptr` declares.
    pub pointer: Option<PointerAttribute>,
}

/// `.ptr .global .align 16` of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PointerAttribute {
    /// The state space that it points to; generic if absent.
    pub space: Option<StateSpace>,
    /// The alignment of the memory that it points to, in bytes.
    pub align: Option<u64>,
}

impl Parameter<'_> {
    /// Returns the size in bytes.
    pub fn size(&self) -> u64 {
        u64::from(self.ty.size()).saturating_mul(self.elements.unwrap_or(1))
    }

    /// Returns the alignment in bytes.
    pub fn align(&self) -> u64 {
        self.declared_align.unwrap_or_else(|| u64::from(self.ty.size()).max(1))
    }

    /// Returns its class.
    pub fn class(&self) -> TypeClass {
        if self.elements.is_some() {
            return TypeClass::Aggregate;
        }
        self.ty.class()
    }

    /// Returns true if it can hold a device pointer: eight bytes that are not declared a float.
    pub fn may_be_pointer(&self) -> bool {
        self.size() == 8 && matches!(self.class(), TypeClass::Integer | TypeClass::Bits)
    }
}

/// A variable of a module or body. A declaration of several names yields one variable per name.
#[derive(Clone, Debug)]
pub struct Variable<'a> {
    /// The whole declaration with its semicolon. Names declared together share it.
    pub span: Span,
    /// The line of the name.
    pub line: u32,
    /// Its visibility.
    pub linkage: Linkage,
    /// Its state space.
    pub space: StateSpace,
    /// The alignment of `.align`, if written.
    pub declared_align: Option<u64>,
    /// The vector length of `.v2` or `.v4`; 1 otherwise.
    pub vector: u8,
    /// The type of the elements.
    pub ty: Type,
    /// Its name; the prefix if `range` is set.
    pub name: &'a str,
    /// `%r<5>` declares five names, `%r0` to `%r4`.
    pub range: Option<u64>,
    /// The array dimensions; 0 for `[]`.
    pub dimensions: Vec<u64>,
    /// The initialiser after `=`.
    pub initial: Option<Initialiser<'a>>,
}

impl Variable<'_> {
    /// Returns the size in bytes. The size of `[]` is that of its initialiser, or 0.
    pub fn size(&self) -> u64 {
        let element = u64::from(self.ty.size()) * u64::from(self.vector);
        let mut count = 1u64;
        for (at, &dimension) in self.dimensions.iter().enumerate() {
            let dimension = match (&self.initial, at, dimension) {
                (Some(Initialiser::List(list)), 0, 0) => list.len() as u64,
                _ => dimension,
            };
            count = count.saturating_mul(dimension);
        }
        element.saturating_mul(count)
    }

    /// Returns the alignment in bytes.
    pub fn align(&self) -> u64 {
        self.declared_align.unwrap_or_else(|| (u64::from(self.ty.size()) * u64::from(self.vector)).max(1))
    }
}

/// An initialiser.
#[derive(Clone, Debug)]
pub enum Initialiser<'a> {
    /// A two's complement integer.
    Integer(u64),
    /// `0f...`
    Single(u32),
    /// `0d...` or a decimal fraction.
    Double(u64),
    /// The address of a variable or function: `name+4`, `generic(name)+4`, `mask(0xff00, name)`.
    Address {
        /// The variable or function.
        name: &'a str,
        /// The offset in bytes.
        offset: i64,
        /// True for a generic address.
        generic: bool,
        /// `mask`: selects the byte of the address that is stored.
        mask: Option<u64>,
    },
    /// `{ a, b, c }`
    List(Vec<Initialiser<'a>>),
}
