//! The body of a function: statements, instructions and operands. Statements are one flat list; see the module `ast`.

use super::declaration::{Directive, Parameter, Variable};
use super::span::Span;
use super::types::{StateSpace, Type};
use crate::isa::Opcode;

/// The body of a function.
#[derive(Clone, Debug)]
pub struct Body<'a> {
    /// With the braces.
    pub span: Span,
    /// All statements, flattened.
    pub statements: Vec<Statement<'a>>,
    /// All scopes. The body is scope 0.
    pub scopes: Vec<Scope>,
}

/// A pair of braces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope {
    /// The enclosing scope; `None` for the body.
    pub parent: Option<u32>,
    /// With the braces.
    pub span: Span,
}

/// A statement of a body.
#[derive(Clone, Debug)]
pub enum Statement<'a> {
    /// An instruction.
    Instruction(Instruction<'a>),
    /// `name:`
    Label(Label<'a>),
    /// `.reg`, `.local`, `.shared`, `.param`, with the scope; one variant per name.
    Variable(u32, Variable<'a>),
    /// `.loc`
    Location(SourceLocation<'a>),
    /// `name: .branchtargets a, b;` or `name: .calltargets f, g;`
    Targets(TargetList<'a>),
    /// `name: .callprototype (returns) _ (parameters);`
    Prototype(Prototype<'a>),
    /// `{`, with the index of the scope that it opens.
    Open(u32),
    /// `}`, with the index of the scope that it closes.
    Close(u32),
    /// `.pragma` and unknown directives.
    Directive(Directive<'a>),
}

/// A label.
#[derive(Clone, Copy, Debug)]
pub struct Label<'a> {
    /// With the colon.
    pub span: Span,
    /// Its line.
    pub line: u32,
    /// The enclosing scope.
    pub scope: u32,
    /// Its name.
    pub name: &'a str,
}

/// `.loc 1 20 5, function_name $L_info0, inlined_at 1 40 3`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceLocation<'a> {
    /// The directive.
    pub span: Span,
    /// The number of the file.
    pub file: u32,
    /// The line in that file.
    pub line: u32,
    /// The column in that line.
    pub column: u32,
    /// The call site that it was inlined into: function label, file, line, column.
    pub inlined: Option<(&'a str, u32, u32, u32)>,
}

/// A named list of labels or functions.
#[derive(Clone, Debug)]
pub struct TargetList<'a> {
    /// From the name to the semicolon.
    pub span: Span,
    /// Its line.
    pub line: u32,
    /// The enclosing scope.
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
    /// The first line.
    pub line: u32,
    /// The enclosing scope, in which [`Names`](crate::syntax::Names) resolves its names.
    pub scope: u32,
    /// `@%p1` or `@!%p1`.
    pub guard: Option<Guard<'a>>,
    /// With modifiers: `ld.param.u64`.
    pub opcode: &'a str,
    /// Operands, destinations first.
    pub operands: Vec<Operand<'a>>,
    /// Without modifiers.
    pub(crate) op: Opcode,
}

impl<'a> Instruction<'a> {
    /// Returns the mnemonic: `ld` for `ld.param.u64`.
    pub fn mnemonic(&self) -> &'a str {
        mnemonic(self.opcode)
    }

    /// Returns the opcode without its modifiers.
    pub fn op(&self) -> Opcode {
        self.op
    }

    /// Returns the modifiers: `param`, `u64` for `ld.param.u64`. A part with `::`, such as `shared::cta`, is one
    /// modifier.
    pub fn modifiers(&self) -> impl DoubleEndedIterator<Item = &'a str> + use<'a> {
        let mut parts = self.opcode.split('.');
        parts.next();
        parts.map(str::trim)
    }

    /// Returns true if it has this modifier.
    pub fn has(&self, modifier: &str) -> bool {
        self.modifiers().any(|m| m == modifier)
    }

    /// Returns the state space among its modifiers, if any.
    pub fn space(&self) -> Option<StateSpace> {
        self.modifiers().find_map(StateSpace::from_name)
    }

    /// Returns the types among its modifiers, in order.
    pub fn types(&self) -> impl DoubleEndedIterator<Item = Type> + use<'a> {
        self.modifiers().filter_map(Type::from_name)
    }
}

/// Returns the mnemonic of an opcode: `ld` for `ld.param.u64`.
pub(crate) fn mnemonic(opcode: &str) -> &str {
    let bytes = opcode.as_bytes();
    let mut end = 0;
    while end < bytes.len() && bytes[end] != b'.' {
        end += 1;
    }
    opcode[..end].trim_end()
}

/// The predicate that decides if an instruction is executed.
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
    /// A register, special register (`%tid.x`), variable, label or function, resolved in the instruction's scope.
    Name(&'a str),
    /// `!%p1`
    Not(&'a str),
    /// `%r1|%p1`; either may be `_`.
    Pair(&'a str, &'a str),
    /// A two's complement integer: `-1` is `u64::MAX`.
    Integer(u64),
    /// `0f3F800000`
    Single(u32),
    /// `0d3FF0000000000000`, or a decimal fraction.
    Double(u64),
    /// `{%r1, %r2}`
    Vector(Vec<Operand<'a>>),
    /// `[%rd1+8]`
    Address(Address<'a>),
    /// `[%rd1, {%r1, %r2}]`: a tensor map or a texture with coordinates.
    Tensor(Address<'a>, Vec<Operand<'a>>),
    /// `name+8` outside of brackets, in bytes, or `name[8]`, in elements.
    Offset {
        /// A variable.
        name: &'a str,
        /// The offset in bytes or elements.
        offset: i64,
        /// True if `offset` counts elements.
        elements: bool,
    },
    /// `(a, b)` in a call.
    List(Vec<Operand<'a>>),
    /// `_`
    Sink,
}

/// An address operand, in brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address<'a> {
    /// A register, parameter or variable; `None` for an absolute address.
    pub base: Option<&'a str>,
    /// The offset in bytes.
    pub offset: i64,
}
