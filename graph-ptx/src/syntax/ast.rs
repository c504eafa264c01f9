//! What a PTX file says, with the place of each part.
//!
//! Everything borrows the text: a name is a slice of it, so [`Module::span_of`] finds the place of any name or opcode.
//! A function's body is one flat list of statements; braces appear in it as [`Statement::Open`] and
//! [`Statement::Close`], and every instruction knows its [`Scope`]. Flat, because control flow in PTX is flat, and
//! because nothing then recurses over what a file may nest.

use std::fmt;

/// A range of bytes of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// A PTX file.
#[derive(Clone, Debug)]
pub struct Module<'a> {
    /// The text it was read from.
    pub text: &'a str,
    /// `.version`: major and minor.
    pub version: (u32, u32),
    /// The `.version` directive.
    pub version_span: Span,
    /// `.target`: `sm_90`, then options such as `debug`.
    pub target: Vec<&'a str>,
    /// The `.target` directive.
    pub target_span: Span,
    /// `.address_size`, 64 where it is absent.
    pub address_size: u32,
    /// Functions, variables and directives, in the file's order.
    pub items: Vec<Item<'a>>,
}

impl<'a> Module<'a> {
    /// Functions and prototypes, entries among them, in the file's order.
    pub fn functions(&self) -> impl Iterator<Item = &Function<'a>> {
        self.items.iter().filter_map(|item| match item {
            Item::Function(function) => Some(function),
            _ => None,
        })
    }

    /// Entries with a body, in the file's order.
    pub fn entries(&self) -> impl Iterator<Item = &Function<'a>> {
        self.functions().filter(|function| function.entry && function.body.is_some())
    }

    /// The entry of that name.
    pub fn entry(&self, name: &str) -> Option<&Function<'a>> {
        self.entries().find(|function| function.name == name)
    }

    /// The function of that name: the definition where there is one, else the first prototype.
    pub fn function(&self, name: &str) -> Option<&Function<'a>> {
        let named = || self.functions().filter(|function| function.name == name);
        named().find(|function| function.body.is_some()).or_else(|| named().next())
    }

    /// Module variables, in the file's order.
    pub fn variables(&self) -> impl Iterator<Item = &Variable<'a>> {
        self.items.iter().filter_map(|item| match item {
            Item::Variable(variable) => Some(variable),
            _ => None,
        })
    }

    /// Source files by their number (`.file 1 "path"`).
    pub fn file(&self, index: u32) -> Option<&'a str> {
        self.items.iter().find_map(|item| match item {
            Item::File(file) if file.index == index => Some(file.path),
            _ => None,
        })
    }

    /// Where a name or opcode of this module stands. Empty for text that is not of this module.
    pub fn span_of(&self, part: &str) -> Span {
        let base = self.text.as_ptr() as usize;
        match (part.as_ptr() as usize).checked_sub(base) {
            Some(start) if start + part.len() <= self.text.len() => {
                Span { start: start as u32, end: (start + part.len()) as u32 }
            }
            _ => Span::default(),
        }
    }

    /// The text of a span.
    pub fn source(&self, span: Span) -> &'a str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }
}

/// What stands at module level.
#[derive(Clone, Debug)]
pub enum Item<'a> {
    /// `.entry` or `.func`.
    Function(Function<'a>),
    /// `.global`, `.const`, `.shared` and the like.
    Variable(Variable<'a>),
    /// `.file`.
    File(File<'a>),
    /// `.section`, `.pragma`, `.alias` and directives unknown here: name and span.
    Directive(Directive<'a>),
}

/// `.file 1 "path"`.
#[derive(Clone, Copy, Debug)]
pub struct File<'a> {
    /// The directive.
    pub span: Span,
    /// The number that `.loc` uses.
    pub index: u32,
    /// The path, without the quotes, escapes as written.
    pub path: &'a str,
}

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

/// `.entry` or `.func`, a definition or a prototype.
#[derive(Clone, Debug)]
pub struct Function<'a> {
    /// From the linking directive to the closing brace or semicolon.
    pub span: Span,
    /// The line of the name.
    pub line: u32,
    /// Its visibility.
    pub linkage: Linkage,
    /// True for `.entry`.
    pub entry: bool,
    /// Its name.
    pub name: &'a str,
    /// Return parameters, of `.func` only.
    pub returns: Vec<Parameter<'a>>,
    /// Parameters.
    pub parameters: Vec<Parameter<'a>>,
    /// The parameter list with its parentheses; empty, behind the name, where there is none.
    pub parameters_span: Span,
    /// `.maxntid` and the like, and `.noreturn`, in the file's order.
    pub performance: Vec<Performance<'a>>,
    /// `None` for a prototype.
    pub body: Option<Body<'a>>,
}

impl<'a> Function<'a> {
    /// The values of a performance directive, given with its dot: `Some(&[256, 1, 1])` for `.maxntid 256, 1, 1`.
    pub fn performance(&self, directive: &str) -> Option<&[u32]> {
        self.performance.iter().find(|p| p.name == directive).map(|p| p.values.as_slice())
    }

    /// Index of the parameter of that name.
    pub fn parameter(&self, name: &str) -> Option<usize> {
        self.parameters.iter().position(|parameter| parameter.name == name)
    }

    /// Whether it never returns (`.noreturn`).
    pub fn noreturn(&self) -> bool {
        self.performance(".noreturn").is_some()
    }

    /// Byte offset of each parameter in the parameter space of a launch, and the size of it all.
    pub fn layout(&self) -> (Vec<u64>, u64) {
        let mut offsets = Vec::with_capacity(self.parameters.len());
        let mut end = 0u64;
        for parameter in &self.parameters {
            let start = end.checked_next_multiple_of(parameter.align().max(1)).unwrap_or(u64::MAX);
            offsets.push(start);
            end = start.saturating_add(parameter.size());
        }
        (offsets, end)
    }
}

/// `.maxntid 256, 1, 1`, `.minnctapersm 2`, `.pragma "nounroll";`, `.noreturn`.
#[derive(Clone, Debug)]
pub struct Performance<'a> {
    /// The directive.
    pub span: Span,
    /// With its dot.
    pub name: &'a str,
    /// Its numbers; those that are missing up to three are not filled in.
    pub values: Vec<u32>,
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

/// What kind of value a parameter is declared to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// `.u32`, `.s64` and the like. NVRTC declares pointers so, too.
    Integer,
    /// `.f32` and the like.
    Float,
    /// `.b64` and the like: anything of that size.
    Bits,
    /// An array of bytes: a struct passed by value.
    Aggregate,
    /// `.texref`, `.samplerref`, `.surfref`.
    Opaque,
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

    /// Whether a device pointer fits: eight bytes that are not declared a float.
    pub fn may_be_pointer(&self) -> bool {
        self.size() == 8 && matches!(self.class(), Class::Integer | Class::Bits)
    }
}

/// State spaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// `.reg`
    Reg,
    /// `.sreg`
    Sreg,
    /// `.const`
    Const,
    /// `.global`
    Global,
    /// `.local`
    Local,
    /// `.param`
    Param,
    /// `.shared`
    Shared,
    /// `.tex`
    Tex,
}

impl Space {
    /// From a directive or modifier without its dot; `shared::cta` and the like count as their space.
    pub fn from_name(name: &str) -> Option<Self> {
        let name = name.split_once("::").map_or(name, |(space, _)| space);
        Some(match name {
            "reg" => Self::Reg,
            "sreg" => Self::Sreg,
            "const" => Self::Const,
            "global" => Self::Global,
            "local" => Self::Local,
            "param" => Self::Param,
            "shared" => Self::Shared,
            "tex" => Self::Tex,
            _ => return None,
        })
    }
}

macro_rules! types {
    ($($variant:ident $name:literal $size:literal $class:ident,)*) => {
        /// Types, fundamental ones and those of modifiers.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Type { $(#[doc = concat!("`.", $name, "`")] $variant,)* }

        impl Type {
            /// From a modifier without its dot.
            pub fn from_name(name: &str) -> Option<Self> {
                Some(match name { $($name => Self::$variant,)* _ => return None })
            }

            /// Without its dot.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Size in bytes; a predicate counts one.
            pub fn size(self) -> u32 {
                match self { $(Self::$variant => $size,)* }
            }

            /// Integer, float or bits.
            pub fn class(self) -> Class {
                match self { $(Self::$variant => Class::$class,)* }
            }
        }
    };
}

types! {
    B8 "b8" 1 Bits, B16 "b16" 2 Bits, B32 "b32" 4 Bits, B64 "b64" 8 Bits, B128 "b128" 16 Bits,
    U8 "u8" 1 Integer, U16 "u16" 2 Integer, U32 "u32" 4 Integer, U64 "u64" 8 Integer,
    S8 "s8" 1 Integer, S16 "s16" 2 Integer, S32 "s32" 4 Integer, S64 "s64" 8 Integer,
    U16x2 "u16x2" 4 Integer, S16x2 "s16x2" 4 Integer,
    F16 "f16" 2 Float, F16x2 "f16x2" 4 Float, Bf16 "bf16" 2 Float, Bf16x2 "bf16x2" 4 Float,
    Tf32 "tf32" 4 Float, F32 "f32" 4 Float, F32x2 "f32x2" 8 Float, F64 "f64" 8 Float,
    E4m3x2 "e4m3x2" 2 Float, E5m2x2 "e5m2x2" 2 Float, E4m3 "e4m3" 1 Float, E5m2 "e5m2" 1 Float,
    Pred "pred" 1 Bits,
    Texref "texref" 8 Opaque, Samplerref "samplerref" 8 Opaque, Surfref "surfref" 8 Opaque,
}

impl Type {
    /// The bytes of one float, for the types of floats and of pairs of them.
    pub fn float(self) -> Option<u32> {
        match self {
            Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2 => Some(2),
            Type::F32 | Type::F32x2 | Type::Tf32 => Some(4),
            Type::F64 => Some(8),
            _ => None,
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ".{}", self.name())
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
    /// Where it lives.
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
    /// What stands behind `=`.
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
        /// What it is the address of.
        name: &'a str,
        /// Added to the address.
        offset: i64,
        /// Whether it is the generic address.
        generic: bool,
        /// `mask`: the byte of the address that is taken, and put into one byte.
        mask: Option<u64>,
    },
    /// `{ a, b, c }`
    List(Vec<Initial<'a>>),
}

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

/// What stands in a body.
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
    /// Where it was inlined: function label, file, line, column.
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
    /// What it returns.
    pub returns: Vec<Parameter<'a>>,
    /// What it takes.
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
}

impl<'a> Instruction<'a> {
    /// `ld` of `ld.param.u64`.
    pub fn mnemonic(&self) -> &'a str {
        let bytes = self.opcode.as_bytes();
        let mut end = 0;
        while end < bytes.len() && bytes[end] != b'.' {
            end += 1;
        }
        self.opcode[..end].trim_end()
    }

    /// `param`, `u64` of `ld.param.u64`. A part with `::` is one modifier: `shared::cta`.
    pub fn modifiers(&self) -> impl DoubleEndedIterator<Item = &'a str> + use<'a> {
        let mut parts = self.opcode.split('.');
        parts.next();
        parts.map(str::trim)
    }

    /// Whether it has that modifier.
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
        /// Whether `offset` counts elements.
        elements: bool,
    },
    /// `(a, b)` of a call.
    List(Vec<Operand<'a>>),
    /// `_`
    Sink,
}

/// What stands in brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address<'a> {
    /// A register, parameter or variable; `None` for an absolute address.
    pub base: Option<&'a str>,
    /// Added to it, in bytes.
    pub offset: i64,
}
