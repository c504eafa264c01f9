//! The parser's state: the lexer and one token of lookahead.

use crate::syntax::ast::Span;
use crate::syntax::error::Error;
use crate::syntax::lex::{Lexer, Token, TokenKind};

pub(super) struct Parser<'a> {
    pub(super) lexer: Lexer<'a>,
    /// The current token.
    pub(super) token: Token,
    /// The end of the previous token.
    pub(super) end: u32,
}

impl<'a> Parser<'a> {
    pub(super) fn advance(&mut self) -> Result<(), Error> {
        self.end = self.token.end;
        self.token = self.lexer.next()?;
        Ok(())
    }

    pub(super) fn slice(&self, start: u32, end: u32) -> &'a str {
        &self.lexer.text[start as usize..end as usize]
    }

    pub(super) fn token_text(&self) -> &'a str {
        self.slice(self.token.start, self.token.end)
    }

    pub(super) fn since(&self, start: u32) -> Span {
        Span { start, end: self.end }
    }

    pub(super) fn is(&self, mark: u8) -> bool {
        self.token.kind == TokenKind::Mark(mark)
    }

    pub(super) fn accept(&mut self, mark: u8) -> Result<bool, Error> {
        let found = self.is(mark);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    pub(super) fn expect(&mut self, mark: u8) -> Result<(), Error> {
        if self.accept(mark)? {
            return Ok(());
        }
        Err(self.expected(&format!("`{}`", mark as char)))
    }

    pub(super) fn expected(&self, what: &str) -> Error {
        match self.token.kind {
            TokenKind::End => self.error(&format!("expected {what}, found the end of the file")),
            _ => self.error(&format!("expected {what}, found `{}`", self.token_text())),
        }
    }

    pub(super) fn error(&self, message: &str) -> Error {
        self.error_at(self.token.start, message)
    }

    pub(super) fn error_at(&self, at: u32, message: &str) -> Error {
        Error::at(self.lexer.text, at as usize, message)
    }

    pub(super) fn integer_u32(&mut self) -> Result<u32, Error> {
        let start = self.token.start;
        u32::try_from(self.integer()?).map_err(|_| self.error_at(start, "number out of range"))
    }

    /// Returns the current directive with its dot, or `""`.
    pub(super) fn directive(&self) -> &'a str {
        if self.token.kind == TokenKind::Directive { self.token_text() } else { "" }
    }

    /// Parses a string; returns it without its quotes.
    pub(super) fn string(&mut self) -> Result<&'a str, Error> {
        if self.token.kind != TokenKind::String {
            return Err(self.expected("a string"));
        }
        let text = self.slice(self.token.start + 1, self.token.end - 1);
        self.advance()?;
        Ok(text)
    }
}
