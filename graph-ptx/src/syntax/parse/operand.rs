//! Operands, and the constants in operands and initialisers. Recursive descent with a limit on the nesting.

use super::parser::Parser;
use crate::syntax::ast::{Address, Initialiser, Operand};
use crate::syntax::error::Error;
use crate::syntax::lex::{NumberLiteral, TokenKind, number};

/// The maximum nesting of braces and parentheses. Real files need three levels.
const MAX_DEPTH: u32 = 16;

/// The only predefined constant of PTX and its value, which is the same on all devices.
const WARP_SIZE: (&str, u64) = ("WARP_SZ", 32);

impl<'a> Parser<'a> {
    /// Parses operands up to the semicolon, which is not consumed.
    pub(super) fn operands(&mut self) -> Result<Vec<Operand<'a>>, Error> {
        let mut operands = Vec::new();
        if self.is(b';') {
            return Ok(operands);
        }
        operands.reserve_exact(4);
        loop {
            operands.push(self.operand(0)?);
            if !self.accept(b',')? {
                return Ok(operands);
            }
        }
    }

    fn operand(&mut self, depth: u32) -> Result<Operand<'a>, Error> {
        if depth > MAX_DEPTH {
            return Err(self.error("operands nest too deeply"));
        }
        match self.token.kind {
            TokenKind::Name if self.is_warp_size() => {
                let value = self.integer()?;
                Ok(Operand::Integer(value.wrapping_add_signed(self.offset()?)))
            }
            TokenKind::Name => {
                let name = self.register()?;
                self.named(name)
            }
            TokenKind::Mark(b'{') => self.sequence(b'}', depth).map(Operand::Vector),
            TokenKind::Mark(b'(') => self.sequence(b')', depth).map(Operand::List),
            TokenKind::Mark(b'[') => {
                self.advance()?;
                let address = self.address()?;
                let mut rest = Vec::new();
                while self.accept(b',')? {
                    rest.push(self.operand(depth + 1)?);
                }
                self.expect(b']')?;
                Ok(if rest.is_empty() { Operand::Address(address) } else { Operand::Tensor(address, rest) })
            }
            TokenKind::Mark(b'!') => {
                self.advance()?;
                if self.token.kind == TokenKind::Name && !self.is_warp_size() {
                    return Ok(Operand::Not(self.register()?));
                }
                let value = self.integer()?;
                Ok(Operand::Integer((value == 0).into()))
            }
            _ => Ok(match self.constant()? {
                NumberLiteral::Integer(value) => Operand::Integer(value),
                NumberLiteral::Single(bits) => Operand::Single(bits),
                NumberLiteral::Double(bits) => Operand::Double(bits),
            }),
        }
    }

    /// Parses the suffix of a name: `|q`, `+8`, `[2]`.
    fn named(&mut self, name: &'a str) -> Result<Operand<'a>, Error> {
        match self.token.kind {
            TokenKind::Mark(b'|') => {
                self.advance()?;
                self.accept(b'!')?;
                Ok(Operand::Pair(name, self.register()?))
            }
            TokenKind::Mark(b'+' | b'-') => {
                let offset = self.offset()?;
                Ok(Operand::Offset { name, offset, elements: false })
            }
            TokenKind::Mark(b'[') => {
                self.advance()?;
                let offset = self.integer()? as i64;
                self.expect(b']')?;
                Ok(Operand::Offset { name, offset, elements: true })
            }
            _ if name == "_" => Ok(Operand::Sink),
            _ => Ok(Operand::Name(name)),
        }
    }

    fn sequence(&mut self, close: u8, depth: u32) -> Result<Vec<Operand<'a>>, Error> {
        self.advance()?;
        let mut operands = Vec::new();
        if self.accept(close)? {
            return Ok(operands);
        }
        operands.reserve_exact(4);
        loop {
            operands.push(self.operand(depth + 1)?);
            if !self.accept(b',')? {
                self.expect(close)?;
                return Ok(operands);
            }
        }
    }

    fn address(&mut self) -> Result<Address<'a>, Error> {
        if self.token.kind != TokenKind::Name || self.is_warp_size() {
            let offset = self.integer()? as i64;
            return Ok(Address { base: None, offset });
        }
        let base = Some(self.register()?);
        let offset = self.offset()?;
        Ok(Address { base, offset })
    }

    /// Parses `+8`, `-8`, `+-8`, `+8-4`, or nothing.
    fn offset(&mut self) -> Result<i64, Error> {
        let mut sum = 0i64;
        loop {
            let value = if self.accept(b'+')? {
                self.integer()? as i64
            } else if self.accept(b'-')? {
                (self.integer()? as i64).wrapping_neg()
            } else {
                return Ok(sum);
            };
            sum = sum.wrapping_add(value);
        }
    }

    /// Parses a register with its component: `%tid.x`.
    pub(super) fn register(&mut self) -> Result<&'a str, Error> {
        let token = self.token;
        if token.kind != TokenKind::Name {
            return Err(self.expected("a name"));
        }
        self.advance()?;
        let mut end = token.end;
        while self.token.kind == TokenKind::Directive && self.token.start == end {
            end = self.token.end;
            self.advance()?;
        }
        Ok(self.slice(token.start, end))
    }

    /// Returns true if the current token is the name of the warp size.
    fn is_warp_size(&self) -> bool {
        self.token.kind == TokenKind::Name && self.slice(self.token.start, self.token.end) == WARP_SIZE.0
    }

    pub(super) fn integer(&mut self) -> Result<u64, Error> {
        let start = self.token.start;
        match self.constant()? {
            NumberLiteral::Integer(value) => Ok(value),
            _ => Err(self.error_at(start, "expected an integer")),
        }
    }

    /// Parses a signed number or the warp size: `-1`, `+2`, `~0`, `-0f3F800000`, `WARP_SZ`.
    pub(super) fn constant(&mut self) -> Result<NumberLiteral, Error> {
        let (mut negative, mut complement) = (false, false);
        loop {
            match self.token.kind {
                TokenKind::Mark(b'-') if !complement => negative = !negative,
                TokenKind::Mark(b'+') => {}
                TokenKind::Mark(b'~') if !negative => complement = !complement,
                _ => break,
            }
            self.advance()?;
        }
        let token = self.token;
        let value = match token.kind {
            TokenKind::Number => Some(number(self.slice(token.start, token.end))),
            _ => self.is_warp_size().then_some(Some(NumberLiteral::Integer(WARP_SIZE.1))),
        };
        let value = match value {
            Some(Some(value)) => value,
            Some(None) => return Err(self.error("malformed number")),
            None => return Err(self.expected("an operand")),
        };
        self.advance()?;
        match (value, negative, complement) {
            (NumberLiteral::Integer(value), _, _) => {
                let value = if complement { !value } else { value };
                Ok(NumberLiteral::Integer(if negative { value.wrapping_neg() } else { value }))
            }
            (_, _, true) => Err(self.error_at(token.start, "expected an integer")),
            (NumberLiteral::Single(bits), true, _) => Ok(NumberLiteral::Single(bits ^ 1 << 31)),
            (NumberLiteral::Double(bits), true, _) => Ok(NumberLiteral::Double(bits ^ 1 << 63)),
            (value, false, false) => Ok(value),
        }
    }

    /// Parses the initialiser after `=`.
    pub(super) fn initial(&mut self, depth: u32) -> Result<Initialiser<'a>, Error> {
        if depth > MAX_DEPTH {
            return Err(self.error("initialisers nest too deeply"));
        }
        match self.token.kind {
            TokenKind::Mark(b'{') => {
                self.advance()?;
                let mut list = Vec::new();
                while !self.accept(b'}')? {
                    list.push(self.initial(depth + 1)?);
                    if !self.accept(b',')? {
                        self.expect(b'}')?;
                        break;
                    }
                }
                Ok(Initialiser::List(list))
            }
            TokenKind::Name if !self.is_warp_size() => self.initial_address(depth),
            // No compiler emits a cast or a parenthesised address.
            TokenKind::Mark(b'(') => Err(self.expected("a constant")),
            _ => Ok(match self.constant()? {
                NumberLiteral::Integer(value) => Initialiser::Integer(value),
                NumberLiteral::Single(bits) => Initialiser::Single(bits),
                NumberLiteral::Double(bits) => Initialiser::Double(bits),
            }),
        }
    }

    fn initial_address(&mut self, depth: u32) -> Result<Initialiser<'a>, Error> {
        let word = self.register()?;
        if !self.is(b'(') {
            let offset = self.offset()?;
            return Ok(Initialiser::Address { name: word, offset, generic: false, mask: None });
        }
        self.advance()?;
        let byte = match word {
            "mask" => {
                let byte = self.integer()?;
                self.expect(b',')?;
                Some(byte)
            }
            "generic" => None,
            _ => return Err(self.expected("`generic` or `mask`")),
        };
        let Initialiser::Address { name, offset, generic, mask } = self.initial(depth + 1)? else {
            return Err(self.expected("the name of a variable"));
        };
        self.expect(b')')?;
        let offset = offset.wrapping_add(self.offset()?);
        Ok(Initialiser::Address { name, offset, generic: generic || byte.is_none(), mask: byte.or(mask) })
    }
}
