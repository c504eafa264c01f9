//! Declarations: parameters, variables with their initialisers, and directives that are not understood.

use super::span::Span;
use super::types::{Class, Space, Type};

/// A directive that is kept but not understood.
#[derive(Clone, Copy, Debug)]
pub struct Directive<'a> {
    /// From the dot to the last byte.
    pub span: Span,
    /// First line.
    pub line: u32,
    /// `.pragma`.
    pub name: &'a str,
}

/// `.visible`, `.extern`, `.weak`, `.common`, or nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Linkage {
    /// Known in this file only.
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
    /// Its name, `_` in prototypes without one.
    pub name: &'a str,
    /// `.param`, or `.reg` in a `.func`.
    pub space: Space,
    /// Type of the scalar or of the elements.
    pub ty: Type,
    /// `.align`, where it is written.
    pub declared_align: Option<u64>,
    /// Number of elements of an array, 0 for `[]`; `None` for a scalar.
    pub elements: Option<u64>,
    /// `.ptr`: it is declared a pointer.
    pub pointer: Option<Pointer>,
}

/// `.ptr .global .align 16` of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointer {
    /// The state space that it points to, generic where absent.
    pub space: Option<Space>,
    /// Alignment of what it points to.
    pub align: Option<u64>,
}

impl Parameter<'_> {
    /// Size in bytes.
    pub fn size(&self) -> u64 {
        u64::from(self.ty.size()).saturating_mul(self.elements.unwrap_or(1))
    }

    /// Alignment in bytes.
    pub fn align(&self) -> u64 {
        self.declared_align.unwrap_or_else(|| u64::from(self.ty.size()).max(1))
    }

    /// Its class.
    pub fn class(&self) -> Class {
        if self.elements.is_some() {
            return Class::Aggregate;
        }
        self.ty.class()
    }

    /// True if a device pointer fits: eight bytes that are not declared a float.
    pub fn may_be_pointer(&self) -> bool {
        self.size() == 8 && matches!(self.class(), Class::Integer | Class::Bits)
    }
}

/// A variable of a module or of a body: one name of a declaration.
#[derive(Clone, Debug)]
pub struct Variable<'a> {
    /// The whole declaration, with its semicolon. Names declared together share it.
    pub span: Span,
    /// The line of the name.
    pub line: u32,
    /// Its visibility.
    pub linkage: Linkage,
    /// Its state space.
    pub space: Space,
    /// `.align`, where it is written.
    pub declared_align: Option<u64>,
    /// Elements of `.v2`, `.v4`: 1 without.
    pub vector: u8,
    /// Type of the elements.
    pub ty: Type,
    /// Its name. With `range`, the prefix.
    pub name: &'a str,
    /// `%r<5>`: five names, `%r0` to `%r4`.
    pub range: Option<u64>,
    /// Array dimensions; 0 for `[]`.
    pub dimensions: Vec<u64>,
    /// The initialiser after `=`.
    pub initial: Option<Initial<'a>>,
}

impl Variable<'_> {
    /// Size in bytes. For `[]`, what the initialiser fills, else 0.
    pub fn size(&self) -> u64 {
        let element = u64::from(self.ty.size()) * u64::from(self.vector);
        let mut count = 1u64;
        for (at, &dimension) in self.dimensions.iter().enumerate() {
            let dimension = match (&self.initial, at, dimension) {
                (Some(Initial::List(list)), 0, 0) => list.len() as u64,
                _ => dimension,
            };
            count = count.saturating_mul(dimension);
        }
        element.saturating_mul(count)
    }

    /// Alignment in bytes.
    pub fn align(&self) -> u64 {
        self.declared_align.unwrap_or_else(|| (u64::from(self.ty.size()) * u64::from(self.vector)).max(1))
    }
}

/// An initialiser.
#[derive(Clone, Debug)]
pub enum Initial<'a> {
    /// An integer, two's complement.
    Integer(u64),
    /// `0f...`
    Single(u32),
    /// `0d...` or decimal.
    Double(u64),
    /// The address of a variable or function: `name+4`, `generic(name)+4`, `mask(0xff00, name)`.
    Address {
        /// The variable or function.
        name: &'a str,
        /// Added to the address.
        offset: i64,
        /// True if it is the generic address.
        generic: bool,
        /// `mask`: the byte of the address that is taken, and put into one byte.
        mask: Option<u64>,
    },
    /// `{ a, b, c }`
    List(Vec<Initial<'a>>),
}
