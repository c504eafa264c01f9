//! Bodies: labels, instructions, directives, nested scopes.

use super::parser::Parser;
use crate::isa::Opcode;
use crate::syntax::ast::{mnemonic, *};
use crate::syntax::error::Error;
use crate::syntax::lex::Kind;

/// Braces nest this deep at most.
const SCOPES: usize = 64;

impl<'a> Parser<'a> {
    pub(super) fn body(&mut self) -> Result<Body<'a>, Error> {
        let start = self.token.start;
        self.expect(b'{')?;
        let mut statements = Vec::new();
        let mut scopes = vec![Scope { parent: None, span: Span { start, end: start } }];
        // The scopes that are open, the innermost last. Never empty while the loop runs.
        let mut open = vec![0u32];
        while let Some(&scope) = open.last() {
            match self.token.kind {
                Kind::Name | Kind::Mark(b'@') => self.statement(scope, &mut statements)?,
                Kind::Directive => self.body_directive(scope, &mut statements)?,
                Kind::Mark(b'{') => {
                    if open.len() >= SCOPES {
                        return Err(self.error("scopes nest too deeply"));
                    }
                    let inner = scopes.len() as u32;
                    let at = self.token.start;
                    scopes.push(Scope { parent: Some(scope), span: Span { start: at, end: at } });
                    open.push(inner);
                    statements.push(Statement::Open(inner));
                    self.advance()?;
                }
                Kind::Mark(b'}') => {
                    open.pop();
                    scopes[scope as usize].span.end = self.token.end;
                    if scope != 0 {
                        statements.push(Statement::Close(scope));
                    }
                    self.advance()?;
                }
                Kind::Mark(b';') => self.advance()?,
                _ => return Err(self.expected("a statement")),
            }
        }
        Ok(Body { span: self.since(start), statements, scopes })
    }

    /// A label or an instruction.
    pub(super) fn statement(&mut self, scope: u32, statements: &mut Vec<Statement<'a>>) -> Result<(), Error> {
        let (start, line) = (self.token.start, self.token.line);
        let mut guard = None;
        if self.accept(b'@')? {
            let negated = self.accept(b'!')?;
            guard = Some(Guard { register: self.register()?, negated });
        }
        let first = self.token;
        if first.kind != Kind::Name {
            return Err(self.expected("an instruction"));
        }
        let mut end = self.lexer.opcode();
        self.token.end = end;
        self.advance()?;
        if self.is(b':') && guard.is_none() {
            self.advance()?;
            return self.label(start, line, scope, self.slice(first.start, end), statements);
        }
        // `ld .param .u64`: modifiers that stand apart.
        while self.token.kind == Kind::Directive {
            end = self.lexer.opcode();
            self.token.end = end;
            self.advance()?;
        }
        let opcode = self.slice(first.start, end);
        let op = Opcode::of(mnemonic(opcode));
        let operands = self.operands()?;
        self.expect(b';')?;
        let span = self.since(start);
        statements.push(Statement::Instruction(Instruction {
            span,
            line,
            scope,
            guard,
            opcode,
            operands,
            op,
        }));
        Ok(())
    }

    pub(super) fn label(
        &mut self,
        start: u32,
        line: u32,
        scope: u32,
        name: &'a str,
        statements: &mut Vec<Statement<'a>>,
    ) -> Result<(), Error> {
        let kind = self.directive();
        match kind {
            ".branchtargets" | ".calltargets" => {
                self.advance()?;
                let mut targets = Vec::new();
                loop {
                    targets.push(self.register()?);
                    if !self.accept(b',')? {
                        break;
                    }
                }
                self.expect(b';')?;
                let (span, calls) = (self.since(start), kind == ".calltargets");
                statements.push(Statement::Targets(Targets { span, line, scope, name, calls, targets }));
            }
            ".callprototype" => {
                self.advance()?;
                let returns = if self.is(b'(') { self.parameters()? } else { Vec::new() };
                if self.token.kind == Kind::Name {
                    self.advance()?;
                }
                let parameters = if self.is(b'(') { self.parameters()? } else { Vec::new() };
                self.performance(&mut Vec::new())?;
                self.expect(b';')?;
                let span = self.since(start);
                statements.push(Statement::Prototype(Prototype { span, line, name, returns, parameters }));
            }
            _ => statements.push(Statement::Label(Label { span: self.since(start), line, scope, name })),
        }
        Ok(())
    }

    pub(super) fn body_directive(
        &mut self,
        scope: u32,
        statements: &mut Vec<Statement<'a>>,
    ) -> Result<(), Error> {
        let (start, name) = (self.token.start, self.token_text());
        match name {
            ".loc" => {
                self.advance()?;
                let (file, line, column) = (self.small()?, self.small()?, self.small()?);
                let mut location = Location { span: Span::default(), file, line, column, inlined: None };
                // `, function_name label [+ offset], inlined_at file line column`
                while self.accept(b',')? {
                    let word = self.register()?;
                    let (mut label, mut place) =
                        location.inlined.map_or(("", [0; 3]), |i| (i.0, [i.1, i.2, i.3]));
                    match word {
                        "function_name" => {
                            label = self.register()?;
                            if self.accept(b'+')? {
                                self.integer()?;
                            }
                        }
                        "inlined_at" => place = [self.small()?, self.small()?, self.small()?],
                        _ => return Err(self.error("unexpected word in `.loc`")),
                    }
                    location.inlined = Some((label, place[0], place[1], place[2]));
                }
                location.span = self.since(start);
                statements.push(Statement::Location(location));
            }
            ".file" => {
                self.file()?;
            }
            ".extern" => {
                self.advance()?;
                for variable in self.variables(start, Linkage::Extern)? {
                    statements.push(Statement::Variable(scope, variable));
                }
            }
            _ if Space::from_name(&name[1..]).is_some() => {
                for variable in self.variables(start, Linkage::Local)? {
                    statements.push(Statement::Variable(scope, variable));
                }
            }
            _ => {
                let directive = self.unknown_directive()?;
                statements.push(Statement::Directive(directive));
            }
        }
        Ok(())
    }
}
