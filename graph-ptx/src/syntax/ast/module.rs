//! A PTX file and its functions.

use super::body::Body;
use super::declaration::{Directive, Linkage, Parameter, Variable};
use super::span::Span;

/// A PTX file.
#[derive(Clone, Debug)]
pub struct Module<'a> {
    /// The text that it was parsed from.
    pub text: &'a str,
    /// `.version`: major and minor.
    pub version: (u32, u32),
    /// The `.version` directive.
    pub version_span: Span,
    /// `.target`: `sm_90`, followed by options such as `debug`.
    pub target: Vec<&'a str>,
    /// The `.target` directive.
    pub target_span: Span,
    /// `.address_size`; 64 if absent.
    pub address_size: u32,
    /// Functions, variables and directives, in file order.
    pub items: Vec<Item<'a>>,
}

impl<'a> Module<'a> {
    /// Returns the functions and prototypes, including entries, in file order.
    pub fn functions(&self) -> impl Iterator<Item = &Function<'a>> {
        self.items.iter().filter_map(|item| match item {
            Item::Function(function) => Some(function),
            _ => None,
        })
    }

    /// Returns the entries that have a body, in file order.
    pub fn entries(&self) -> impl Iterator<Item = &Function<'a>> {
        self.functions().filter(|function| function.entry && function.body.is_some())
    }

    /// Returns the entry of this name.
    pub fn entry(&self, name: &str) -> Option<&Function<'a>> {
        self.entries().find(|function| function.name == name)
    }

    /// Returns the function of this name: its definition if present, else its first prototype.
    pub fn function(&self, name: &str) -> Option<&Function<'a>> {
        let named = || self.functions().filter(|function| function.name == name);
        named().find(|function| function.body.is_some()).or_else(|| named().next())
    }

    /// Returns the module variables, in file order.
    pub fn variables(&self) -> impl Iterator<Item = &Variable<'a>> {
        self.items.iter().filter_map(|item| match item {
            Item::Variable(variable) => Some(variable),
            _ => None,
        })
    }

    /// Returns the span of a name or opcode of this module. Empty for text that is not of this module.
    pub fn span_of(&self, part: &str) -> Span {
        let base = self.text.as_ptr() as usize;
        match (part.as_ptr() as usize).checked_sub(base) {
            Some(start) if start + part.len() <= self.text.len() => {
                Span { start: start as u32, end: (start + part.len()) as u32 }
            }
            _ => Span::default(),
        }
    }

    /// Returns the text of a span.
    pub fn source(&self, span: Span) -> &'a str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }
}

/// An item at module level.
#[derive(Clone, Debug)]
pub enum Item<'a> {
    /// `.entry` or `.func`.
    Function(Function<'a>),
    /// `.global`, `.const`, `.shared` and the like.
    Variable(Variable<'a>),
    /// `.file`.
    File(File<'a>),
    /// `.section`, `.pragma`, `.alias` and unknown directives.
    Directive(Directive<'a>),
}

/// `.file 1 "path"`.
#[derive(Clone, Copy, Debug)]
pub struct File<'a> {
    /// The directive.
    pub span: Span,
    /// The number that `.loc` uses.
    pub index: u32,
    /// The path without quotes; escapes are kept.
    pub path: &'a str,
}

/// `.entry` or `.func`: a definition or a prototype.
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
    /// The return parameters; `.func` only.
    pub returns: Vec<Parameter<'a>>,
    /// Parameters.
    pub parameters: Vec<Parameter<'a>>,
    /// The parameter list with its parentheses. Without a list: an empty span after the name.
    pub parameters_span: Span,
    /// `.maxntid` and similar directives, and `.noreturn`, in file order.
    pub performance: Vec<PerformanceDirective<'a>>,
    /// `None` for a prototype.
    pub body: Option<Body<'a>>,
}

impl<'a> Function<'a> {
    /// Returns the values of a performance directive, named with its dot: `Some(&[256, 1, 1])` for `.maxntid 256, 1,
    /// 1`.
    pub fn performance(&self, directive: &str) -> Option<&[u32]> {
        self.performance.iter().find(|p| p.name == directive).map(|p| p.values.as_slice())
    }

    /// Returns the index of the parameter of this name.
    pub fn parameter(&self, name: &str) -> Option<usize> {
        self.parameters.iter().position(|parameter| parameter.name == name)
    }

    /// Returns the byte offset of each parameter in the parameter space of a launch, and the total size.
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
pub struct PerformanceDirective<'a> {
    /// The directive.
    pub span: Span,
    /// With the dot.
    pub name: &'a str,
    /// The numbers as written: missing dimensions are not filled in.
    pub values: Vec<u32>,
}
