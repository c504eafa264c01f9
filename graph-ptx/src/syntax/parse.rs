//! Tokens to a [`Module`].
//!
//! One token of look-ahead, no backtracking, and no recursion over scopes: a body is read by a loop with a stack.

use crate::syntax::Error;
use crate::syntax::ast::*;
use crate::syntax::lex::{Kind, Lexer, Token};

/// Braces nest this deep at most.
const SCOPES: usize = 64;

/// Reads a PTX file given as bytes, as a driver gets it.
///
/// # Errors
/// The first fault, with its place; also for bytes that are not UTF-8.
pub fn parse_bytes(bytes: &[u8]) -> Result<Module<'_>, Error> {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    match std::str::from_utf8(&bytes[..end]) {
        Ok(text) => parse(text),
        Err(error) => {
            let text = std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or("");
            Err(Error::at(text, text.len(), "not UTF-8"))
        }
    }
}

/// Reads a PTX file.
///
/// # Errors
/// The first fault, with its place.
pub fn parse(text: &str) -> Result<Module<'_>, Error> {
    if u32::try_from(text.len()).is_err() {
        return Err(Error::at(text, 0, "the file has 4 GiB or more"));
    }
    let mut lexer = Lexer::new(text);
    let token = lexer.next()?;
    Parser { lexer, token, end: 0 }.module()
}

pub(crate) struct Parser<'a> {
    lexer: Lexer<'a>,
    /// The token at hand.
    pub(crate) token: Token,
    /// Where the token before it ended.
    end: u32,
}

impl<'a> Parser<'a> {
    pub(crate) fn advance(&mut self) -> Result<(), Error> {
        self.end = self.token.end;
        self.token = self.lexer.next()?;
        Ok(())
    }

    pub(crate) fn slice(&self, start: u32, end: u32) -> &'a str {
        &self.lexer.text[start as usize..end as usize]
    }

    fn token_text(&self) -> &'a str {
        self.slice(self.token.start, self.token.end)
    }

    fn since(&self, start: u32) -> Span {
        Span { start, end: self.end }
    }

    pub(crate) fn is(&self, mark: u8) -> bool {
        self.token.kind == Kind::Mark(mark)
    }

    pub(crate) fn accept(&mut self, mark: u8) -> Result<bool, Error> {
        let found = self.is(mark);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    pub(crate) fn expect(&mut self, mark: u8) -> Result<(), Error> {
        if self.accept(mark)? {
            return Ok(());
        }
        Err(self.expected(&format!("`{}`", mark as char)))
    }

    pub(crate) fn expected(&self, what: &str) -> Error {
        match self.token.kind {
            Kind::End => self.error(&format!("expected {what}, found the end of the file")),
            _ => self.error(&format!("expected {what}, found `{}`", self.token_text())),
        }
    }

    pub(crate) fn error(&self, message: &str) -> Error {
        self.error_at(self.token.start, message)
    }

    pub(crate) fn error_at(&self, at: u32, message: &str) -> Error {
        Error::at(self.lexer.text, at as usize, message)
    }

    fn small(&mut self) -> Result<u32, Error> {
        let start = self.token.start;
        u32::try_from(self.integer()?).map_err(|_| self.error_at(start, "number out of range"))
    }

    /// The directive at hand with its dot, or `""`.
    fn directive(&self) -> &'a str {
        if self.token.kind == Kind::Directive { self.token_text() } else { "" }
    }

    fn module(mut self) -> Result<Module<'a>, Error> {
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

    fn item(&mut self, items: &mut Vec<Item<'a>>) -> Result<(), Error> {
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
    fn unknown_directive(&mut self) -> Result<Directive<'a>, Error> {
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

    fn string(&mut self) -> Result<&'a str, Error> {
        if self.token.kind != Kind::String {
            return Err(self.expected("a string"));
        }
        let text = self.slice(self.token.start + 1, self.token.end - 1);
        self.advance()?;
        Ok(text)
    }

    fn file(&mut self) -> Result<File<'a>, Error> {
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

    fn function(&mut self, start: u32, linkage: Linkage, entry: bool) -> Result<Function<'a>, Error> {
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

    /// `.maxntid 256, 1, 1 .pragma "x"; .noreturn .attribute(.unified(1, 2))`: any directive with numbers, strings,
    /// or a parenthesis.
    fn performance(&mut self, all: &mut Vec<Performance<'a>>) -> Result<(), Error> {
        while self.token.kind == Kind::Directive {
            let (start, name) = (self.token.start, self.token_text());
            self.advance()?;
            let mut values = Vec::new();
            if name == ".attribute" {
                self.skip_parentheses()?;
            }
            if matches!(self.token.kind, Kind::Number | Kind::String) {
                loop {
                    if self.token.kind == Kind::String {
                        self.advance()?;
                    } else {
                        values.push(self.small()?);
                    }
                    if !self.accept(b',')? {
                        break;
                    }
                }
            }
            if name == ".pragma" {
                self.expect(b';')?;
            }
            all.push(Performance { span: self.since(start), name, values });
        }
        Ok(())
    }

    fn skip_parentheses(&mut self) -> Result<(), Error> {
        self.expect(b'(')?;
        let mut depth = 1;
        while depth > 0 {
            match self.token.kind {
                Kind::Mark(b'(') => depth += 1,
                Kind::Mark(b')') => depth -= 1,
                Kind::End => return Err(self.expected("`)`")),
                _ => {}
            }
            self.advance()?;
        }
        Ok(())
    }

    fn parameters(&mut self) -> Result<Vec<Parameter<'a>>, Error> {
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

    fn parameter(&mut self) -> Result<Parameter<'a>, Error> {
        let start = self.token.start;
        let space = match self.directive() {
            ".param" => Space::Param,
            ".reg" => Space::Reg,
            _ => return Err(self.expected("`.param`")),
        };
        self.advance()?;
        let mut declared_align = None;
        let mut pointer: Option<Pointer> = None;
        let mut ty = None;
        while self.token.kind == Kind::Directive {
            let word = &self.token_text()[1..];
            let at = self.token.start;
            self.advance()?;
            match (word, &mut pointer) {
                ("align", Some(pointer)) => pointer.align = Some(self.align()?),
                ("align", None) => declared_align = Some(self.align()?),
                ("ptr", _) => pointer = Some(Pointer { space: None, align: None }),
                (word, Some(pointer)) if Space::from_name(word).is_some() => {
                    pointer.space = Space::from_name(word);
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

    fn align(&mut self) -> Result<u64, Error> {
        let start = self.token.start;
        let align = self.integer()?;
        if align.is_power_of_two() && align <= 1 << 20 {
            return Ok(align);
        }
        Err(self.error_at(start, "an alignment is a power of two"))
    }

    /// `.reg .b32 %r<5>, %x;`, `.shared .align 16 .b8 buffer[4][8] = {...};`
    fn variables(&mut self, start: u32, linkage: Linkage) -> Result<Vec<Variable<'a>>, Error> {
        let text = self.token_text();
        let Some(space) = Space::from_name(&text[1..]) else { return Err(self.expected("a state space")) };
        self.advance()?;
        let mut declared_align = None;
        let mut vector = 1;
        let mut ty = None;
        while self.token.kind == Kind::Directive {
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

    fn body(&mut self) -> Result<Body<'a>, Error> {
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
    fn statement(&mut self, scope: u32, statements: &mut Vec<Statement<'a>>) -> Result<(), Error> {
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
        let operands = self.operands()?;
        self.expect(b';')?;
        let span = self.since(start);
        statements.push(Statement::Instruction(Instruction { span, line, scope, guard, opcode, operands }));
        Ok(())
    }

    fn label(
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

    fn body_directive(&mut self, scope: u32, statements: &mut Vec<Statement<'a>>) -> Result<(), Error> {
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

#[cfg(test)]
mod tests;
