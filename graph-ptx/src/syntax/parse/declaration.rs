//! Declarations: parameters, variables, performance and other directives.

use super::parser::Parser;
use crate::syntax::ast::*;
use crate::syntax::error::Error;
use crate::syntax::lex::TokenKind;

impl<'a> Parser<'a> {
    /// Parses performance directives: a name followed by numbers, strings or a parenthesis, such as `.maxntid 256, 1,
    /// 1 .pragma "x"; .noreturn .attribute(.unified(1, 2))`.
    pub(super) fn performance(&mut self, all: &mut Vec<PerformanceDirective<'a>>) -> Result<(), Error> {
        while self.token.kind == TokenKind::Directive {
            let (start, name) = (self.token.start, self.token_text());
            self.advance()?;
            let mut values = Vec::new();
            if name == ".attribute" {
                self.skip_parentheses()?;
            }
            if matches!(self.token.kind, TokenKind::Number | TokenKind::String) {
                loop {
                    if self.token.kind == TokenKind::String {
                        self.advance()?;
                    } else {
                        values.push(self.integer_u32()?);
                    }
                    if !self.accept(b',')? {
                        break;
                    }
                }
            }
            if name == ".pragma" {
                self.expect(b';')?;
            }
            all.push(PerformanceDirective { span: self.since(start), name, values });
        }
        Ok(())
    }

    pub(super) fn skip_parentheses(&mut self) -> Result<(), Error> {
        self.expect(b'(')?;
        let mut depth = 1;
        while depth > 0 {
            match self.token.kind {
                TokenKind::Mark(b'(') => depth += 1,
                TokenKind::Mark(b')') => depth -= 1,
                TokenKind::End => return Err(self.expected("`)`")),
                _ => {}
            }
            self.advance()?;
        }
        Ok(())
    }

    pub(super) fn parameters(&mut self) -> Result<Vec<Parameter<'a>>, Error> {
        self.expect(b'(')?;
        let mut parameters = Vec::new();
        if self.accept(b')')? {
            return Ok(parameters);
        }
        loop {
            parameters.push(self.parameter()?);
            if !self.accept(b',')? {
                self.expect(b')')?;
                return Ok(parameters);
            }
        }
    }

    pub(super) fn parameter(&mut self) -> Result<Parameter<'a>, Error> {
        let start = self.token.start;
        let space = match self.directive() {
            ".param" => StateSpace::Param,
            ".reg" => StateSpace::Reg,
            _ => return Err(self.expected("`.param`")),
        };
        self.advance()?;
        let mut declared_align = None;
        let mut pointer: Option<PointerAttribute> = None;
        let mut ty = None;
        while self.token.kind == TokenKind::Directive {
            let word = &self.token_text()[1..];
            let at = self.token.start;
            self.advance()?;
            match (word, &mut pointer) {
                ("align", Some(pointer)) => pointer.align = Some(self.align()?),
                ("align", None) => declared_align = Some(self.align()?),
                ("ptr", _) => pointer = Some(PointerAttribute { space: None, align: None }),
                (word, Some(pointer)) if StateSpace::from_name(word).is_some() => {
                    pointer.space = StateSpace::from_name(word);
                }
                (word, _) => match Type::from_name(word) {
                    Some(found) if ty.is_none() => ty = Some(found),
                    _ => return Err(self.error_at(at, "unexpected word in a parameter")),
                },
            }
        }
        let Some(ty) = ty else { return Err(self.expected("a type")) };
        let line = self.token.line;
        let name = self.register()?;
        let mut elements = None;
        while self.accept(b'[')? {
            let count = if self.is(b']') { 0 } else { self.integer()? };
            elements = Some(elements.map_or(count, |before: u64| before.saturating_mul(count)));
            self.expect(b']')?;
        }
        Ok(Parameter { span: self.since(start), line, name, space, ty, declared_align, elements, pointer })
    }

    pub(super) fn align(&mut self) -> Result<u64, Error> {
        let start = self.token.start;
        let align = self.integer()?;
        if align.is_power_of_two() && align <= 1 << 20 {
            return Ok(align);
        }
        Err(self.error_at(start, "an alignment is a power of two"))
    }

    /// Parses `.reg .b32 %r<5>, %x;` or `.shared .align 16 .b8 buffer[4][8] = {...};`.
    pub(super) fn variables(&mut self, start: u32, linkage: Linkage) -> Result<Vec<Variable<'a>>, Error> {
        let text = self.token_text();
        let Some(space) = StateSpace::from_name(&text[1..]) else {
            return Err(self.expected("a state space"));
        };
        self.advance()?;
        let (declared_align, vector, ty) = self.variable_type()?;
        let mut variables = Vec::with_capacity(1);
        loop {
            let line = self.token.line;
            let name = self.register()?;
            let mut range = None;
            if self.accept(b'<')? {
                range = Some(self.integer()?);
                self.expect(b'>')?;
            }
            let mut dimensions = Vec::new();
            while self.accept(b'[')? {
                dimensions.push(if self.is(b']') { 0 } else { self.integer()? });
                self.expect(b']')?;
            }
            let initial = if self.accept(b'=')? { Some(self.initial(0)?) } else { None };
            let span = Span::default();
            variables.push(Variable {
                span,
                line,
                linkage,
                space,
                declared_align,
                vector,
                ty,
                name,
                range,
                dimensions,
                initial,
            });
            if !self.accept(b',')? {
                break;
            }
        }
        self.expect(b';')?;
        let span = self.since(start);
        for variable in &mut variables {
            variable.span = span;
        }
        Ok(variables)
    }

    /// Parses `.align 16 .v2 .f32`: the alignment, the number of elements and their type.
    fn variable_type(&mut self) -> Result<(Option<u64>, u8, Type), Error> {
        let mut declared_align = None;
        let mut vector = 1;
        let mut ty = None;
        while self.token.kind == TokenKind::Directive {
            let word = &self.token_text()[1..];
            let at = self.token.start;
            self.advance()?;
            match word {
                "align" => declared_align = Some(self.align()?),
                "v2" => vector = 2,
                "v4" => vector = 4,
                "v8" => vector = 8,
                "attribute" => self.skip_parentheses()?,
                _ => match Type::from_name(word) {
                    Some(found) if ty.is_none() => ty = Some(found),
                    _ => return Err(self.error_at(at, "unexpected word in a declaration")),
                },
            }
        }
        let Some(ty) = ty else { return Err(self.expected("a type")) };
        Ok((declared_align, vector, ty))
    }

    /// Parses `.pragma "x";`, `.alias a, b;`, `.section .debug_info { ... }` and unknown directives: up to a
    /// semicolon or to the end of a pair of braces.
    pub(super) fn unknown_directive(&mut self) -> Result<Directive<'a>, Error> {
        let (start, line, name) = (self.token.start, self.token.line, self.token_text());
        self.advance()?;
        loop {
            match self.token.kind {
                TokenKind::End => return Err(self.expected(&format!("`;` after `{name}`"))),
                TokenKind::Mark(b';') => break self.advance()?,
                TokenKind::Mark(b'{') => {
                    self.token.end = self.lexer.skip_braces()?;
                    break self.advance()?;
                }
                TokenKind::Mark(b'}') => return Err(self.expected("`;`")),
                _ => self.advance()?,
            }
        }
        Ok(Directive { span: self.since(start), line, name })
    }

    pub(super) fn file(&mut self) -> Result<File<'a>, Error> {
        let start = self.token.start;
        self.advance()?;
        let index = self.integer_u32()?;
        let path = self.string()?;
        // The time stamp and the size.
        while self.accept(b',')? {
            self.integer()?;
        }
        Ok(File { span: self.since(start), index, path })
    }
}
