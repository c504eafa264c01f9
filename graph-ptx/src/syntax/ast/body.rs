//! The body of a function: statements, instructions, operands.

use super::declaration::{Directive, Parameter, Variable};
use super::span::Span;
use super::types::{Space, Type};
use crate::isa::Opcode;

/// The body of a function.
#[derive(Clone, Debug)]
pub struct Body<'a> {
    /// With its braces.
    pub span: Span,
    /// Everything in it, flat.
    pub statements: Vec<Statement<'a>>,
    /// The body itself is scope 0.
    pub scopes: Vec<Scope>,
}

/// A pair of braces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope {
    /// The scope around it; `None` for the body.
    pub parent: Option<u32>,
    /// With its braces.
    pub span: Span,
}

/// A statement of a body.
#[derive(Clone, Debug)]
pub enum Statement<'a> {
    /// An instruction.
    Instruction(Instruction<'a>),
    /// `name:`
    Label(Label<'a>),
    /// `.reg`, `.local`, `.shared`, `.param`: one for each name.
    Variable(u32, Variable<'a>),
    /// `.loc`
    Location(Location<'a>),
    /// `name: .branchtargets a, b;` or `name: .calltargets f, g;`
    Targets(Targets<'a>),
    /// `name: .callprototype (returns) _ (parameters);`
    Prototype(Prototype<'a>),
    /// `{`, the scope that it opens.
    Open(u32),
    /// `}`, the scope that it closes.
    Close(u32),
    /// `.pragma` and directives unknown here.
    Directive(Directive<'a>),
}

/// A label.
#[derive(Clone, Copy, Debug)]
pub struct Label<'a> {
    /// With its colon.
    pub span: Span,
    /// Its line.
    pub line: u32,
    /// The scope that it stands in.
    pub scope: u32,
    /// Its name.
    pub name: &'a str,
}

/// `.loc 1 20 5, function_name $L_info0, inlined_at 1 40 3`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location<'a> {
    /// The directive.
    pub span: Span,
    /// Number of the file.
    pub file: u32,
    /// Line in it.
    pub line: u32,
    /// Column in it.
    pub column: u32,
    /// The place where it was inlined: function label, file, line, column.
    pub inlined: Option<(&'a str, u32, u32, u32)>,
}

/// A named list of labels or functions.
#[derive(Clone, Debug)]
pub struct Targets<'a> {
    /// From the name to the semicolon.
    pub span: Span,
    /// Its line.
    pub line: u32,
    /// The scope that it stands in.
    pub scope: u32,
    /// Its name.
    pub name: &'a str,
    /// True for `.calltargets`.
    pub calls: bool,
    /// The list.
    pub targets: Vec<&'a str>,
}

/// A named signature of an indirect call.
#[derive(Clone, Debug)]
pub struct Prototype<'a> {
    /// From the name to the semicolon.
    pub span: Span,
    /// Its line.
    pub line: u32,
    /// Its name.
    pub name: &'a str,
    /// Its return parameters.
    pub returns: Vec<Parameter<'a>>,
    /// Its parameters.
    pub parameters: Vec<Parameter<'a>>,
}

/// An instruction.
#[derive(Clone, Debug)]
pub struct Instruction<'a> {
    /// From the guard to the semicolon.
    pub span: Span,
    /// Its first line.
    pub line: u32,
    /// The scope that it stands in: [`Names`](crate::syntax::Names) finds what its names mean.
    pub scope: u32,
    /// `@%p1` or `@!%p1`.
    pub guard: Option<Guard<'a>>,
    /// With its modifiers: `ld.param.u64`.
    pub opcode: &'a str,
    /// Operands, destinations first.
    pub operands: Vec<Operand<'a>>,
    /// The opcode without its modifiers.
    pub(crate) op: Opcode,
}

impl<'a> Instruction<'a> {
    /// `ld` of `ld.param.u64`.
    pub fn mnemonic(&self) -> &'a str {
        mnemonic(self.opcode)
    }

    /// Returns the opcode without its modifiers, as the table of instructions has it.
    pub fn op(&self) -> Opcode {
        self.op
    }

    /// `param`, `u64` of `ld.param.u64`. A part with `::` is one modifier: `shared::cta`.
    pub fn modifiers(&self) -> impl DoubleEndedIterator<Item = &'a str> + use<'a> {
        let mut parts = self.opcode.split('.');
        parts.next();
        parts.map(str::trim)
    }

    /// True if it has that modifier.
    pub fn has(&self, modifier: &str) -> bool {
        self.modifiers().any(|m| m == modifier)
    }

    /// The state space among its modifiers, if any.
    pub fn space(&self) -> Option<Space> {
        self.modifiers().find_map(Space::from_name)
    }

    /// The types among its modifiers, in order.
    pub fn types(&self) -> impl DoubleEndedIterator<Item = Type> + use<'a> {
        self.modifiers().filter_map(Type::from_name)
    }
}

/// Returns `ld` of `ld.param.u64`.
pub(crate) fn mnemonic(opcode: &str) -> &str {
    let bytes = opcode.as_bytes();
    let mut end = 0;
    while end < bytes.len() && bytes[end] != b'.' {
        end += 1;
    }
    opcode[..end].trim_end()
}

/// A predicate that decides whether an instruction is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard<'a> {
    /// The predicate register.
    pub register: &'a str,
    /// `@!%p`
    pub negated: bool,
}

/// An operand.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand<'a> {
    /// A register, special register (`%tid.x`), variable, label or function; the instruction's scope says which.
    Name(&'a str),
    /// `!%p1`
    Not(&'a str),
    /// `%r1|%p1`, either may be `_`.
    Pair(&'a str, &'a str),
    /// An integer in two's complement; `-1` is `u64::MAX`.
    Integer(u64),
    /// `0f3F800000`
    Single(u32),
    /// `0d3FF0000000000000`, or a decimal fraction.
    Double(u64),
    /// `{%r1, %r2}`
    Vector(Vec<Operand<'a>>),
    /// `[%rd1+8]`
    Address(Address<'a>),
    /// `[%rd1, {%r1, %r2}]`: a tensor map or texture with coordinates.
    Tensor(Address<'a>, Vec<Operand<'a>>),
    /// `name+8` outside of brackets, or `name[8]`, the latter counted in elements.
    Offset {
        /// A variable.
        name: &'a str,
        /// Bytes, or elements.
        offset: i64,
        /// True if `offset` counts elements.
        elements: bool,
    },
    /// `(a, b)` of a call.
    List(Vec<Operand<'a>>),
    /// `_`
    Sink,
}

/// An address operand, in brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address<'a> {
    /// A register, parameter or variable; `None` for an absolute address.
    pub base: Option<&'a str>,
    /// Added to it, in bytes.
    pub offset: i64,
}
