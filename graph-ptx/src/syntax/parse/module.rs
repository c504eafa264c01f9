//! Modules: the head, items, functions.

use super::parser::Parser;
use crate::syntax::ast::*;
use crate::syntax::error::Error;
use crate::syntax::lex::Kind;

impl<'a> Parser<'a> {
    pub(super) fn module(mut self) -> Result<Module<'a>, Error> {
        let start = self.token.start;
        if self.directive() != ".version" {
            return Err(self.expected("`.version`"));
        }
        self.advance()?;
        let version = match self.token_text().split_once('.') {
            Some((major, minor)) => major.parse().ok().zip(minor.parse().ok()),
            None => None,
        };
        let Some(version) = version else { return Err(self.expected("a version such as `8.0`")) };
        self.advance()?;
        let mut module = Module {
            text: self.lexer.text,
            version,
            version_span: self.since(start),
            target: Vec::new(),
            target_span: Span::default(),
            address_size: 64,
            items: Vec::new(),
        };
        while self.token.kind != Kind::End {
            match self.directive() {
                ".target" => {
                    let start = self.token.start;
                    self.advance()?;
                    module.target.clear();
                    loop {
                        module.target.push(self.register()?);
                        if !self.accept(b',')? {
                            break;
                        }
                    }
                    module.target_span = self.since(start);
                }
                ".address_size" => {
                    self.advance()?;
                    module.address_size = match self.small()? {
                        size @ (32 | 64) => size,
                        _ => return Err(self.error("the address size is 32 or 64")),
                    };
                }
                ".version" => return Err(self.error("`.version` stands first, and once")),
                _ if self.is(b';') => self.advance()?,
                _ => self.item(&mut module.items)?,
            }
        }
        if module.target.is_empty() {
            return Err(self.expected("`.target`"));
        }
        Ok(module)
    }

    pub(super) fn item(&mut self, items: &mut Vec<Item<'a>>) -> Result<(), Error> {
        let (start, line) = (self.token.start, self.token.line);
        if self.is(b'@') {
            // `@@DWARF ...`, a line of debug data of PTX 1.x.
            self.lexer.skip_line();
            let span = Span { start, end: start + 1 };
            self.advance()?;
            items.push(Item::Directive(Directive { span, line, name: "@@DWARF" }));
            return Ok(());
        }
        let mut linkage = Linkage::Local;
        loop {
            linkage = match self.directive() {
                ".visible" => Linkage::Visible,
                ".extern" => Linkage::Extern,
                ".weak" => Linkage::Weak,
                ".common" => Linkage::Common,
                _ => break,
            };
            self.advance()?;
        }
        let name = self.directive();
        match name {
            ".entry" | ".func" => {
                let function = self.function(start, linkage, name == ".entry")?;
                items.push(Item::Function(function));
            }
            ".file" => {
                let file = self.file()?;
                items.push(Item::File(file));
            }
            "" => return Err(self.expected("a directive")),
            _ if Space::from_name(&name[1..]).is_some() => {
                for variable in self.variables(start, linkage)? {
                    items.push(Item::Variable(variable));
                }
            }
            _ => {
                let directive = self.unknown_directive()?;
                items.push(Item::Directive(Directive { span: self.since(start), line, ..directive }));
            }
        }
        Ok(())
    }

    /// `.pragma "x";`, `.alias a, b;`, `.section .debug_info { ... }`, and what later versions bring: up to a
    /// semicolon, or a pair of braces.
    pub(super) fn unknown_directive(&mut self) -> Result<Directive<'a>, Error> {
        let (start, line, name) = (self.token.start, self.token.line, self.token_text());
        self.advance()?;
        loop {
            match self.token.kind {
                Kind::End => return Err(self.expected(&format!("`;` after `{name}`"))),
                Kind::Mark(b';') => break self.advance()?,
                Kind::Mark(b'{') => {
                    self.token.end = self.lexer.skip_braces()?;
                    break self.advance()?;
                }
                Kind::Mark(b'}') => return Err(self.expected("`;`")),
                _ => self.advance()?,
            }
        }
        Ok(Directive { span: self.since(start), line, name })
    }

    pub(super) fn file(&mut self) -> Result<File<'a>, Error> {
        let start = self.token.start;
        self.advance()?;
        let index = self.small()?;
        let path = self.string()?;
        // Time stamp and size.
        while self.accept(b',')? {
            self.integer()?;
        }
        Ok(File { span: self.since(start), index, path })
    }

    pub(super) fn function(
        &mut self,
        start: u32,
        linkage: Linkage,
        entry: bool,
    ) -> Result<Function<'a>, Error> {
        self.advance()?;
        let mut performance = Vec::new();
        self.performance(&mut performance)?;
        let returns = if self.is(b'(') { self.parameters()? } else { Vec::new() };
        let line = self.token.line;
        let name = self.register()?;
        let open = self.token.start;
        let (parameters, parameters_span) = if self.is(b'(') {
            let parameters = self.parameters()?;
            (parameters, self.since(open))
        } else {
            (Vec::new(), Span { start: self.end, end: self.end })
        };
        self.performance(&mut performance)?;
        let body = if self.is(b'{') {
            Some(self.body()?)
        } else if self.accept(b';')? {
            None
        } else {
            return Err(self.expected("a function's body or `;`"));
        };
        let span = self.since(start);
        Ok(Function {
            span,
            line,
            linkage,
            entry,
            name,
            returns,
            parameters,
            parameters_span,
            performance,
            body,
        })
    }
}
