//! The lexer: bytes to tokens.
//!
//! The macro runs it in unoptimised builds, so it is written for speed without the optimiser: one table lookup per
//! byte, no iterator chains, no allocation. A token is a kind and a range of the text; the parser converts numbers
//! when it needs them. A NUL byte ends the text, as it does in the driver.

use crate::syntax::error::Error;

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// `add`, `%r1`, `$L__BB0_2`, `_`
    Name,
    /// `.reg`, `.b32`
    Directive,
    /// `12`, `0x1f`, `0f3F800000`, `1.5`
    Number,
    /// `"text"`
    String,
    /// Any other single byte.
    Mark(u8),
    End,
}

/// A token, as a range of the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub kind: TokenKind,
    pub start: u32,
    pub end: u32,
    pub line: u32,
}

const OTHER: u8 = 0;
const SPACE: u8 = 1;
const WORD: u8 = 2;
const DIGIT: u8 = 3;

/// `WORD` may begin and continue a name; `DIGIT` may only continue one.
static CLASS: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut table = [OTHER; 256];
    let mut byte = 0;
    while byte < 256 {
        let b = byte as u8;
        table[byte] = match b {
            b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c => SPACE,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | b'%' => WORD,
            b'0'..=b'9' => DIGIT,
            _ => OTHER,
        };
        byte += 1;
    }
    table
}

pub(crate) struct Lexer<'a> {
    pub text: &'a str,
    bytes: &'a [u8],
    at: usize,
    line: u32,
}

impl<'a> Lexer<'a> {
    /// The text must be shorter than 4 GiB.
    pub fn new(text: &'a str) -> Self {
        Self { text, bytes: text.as_bytes(), at: 0, line: 1 }
    }

    /// Returns the byte at `at`, or 0 past the end.
    fn byte(&self, at: usize) -> u8 {
        if at < self.bytes.len() { self.bytes[at] } else { 0 }
    }

    /// Returns the next token.
    pub fn next(&mut self) -> Result<Token, Error> {
        self.skip_space()?;
        let start = self.at;
        let line = self.line;
        let first = self.byte(start);
        let kind = match first {
            0 => {
                return Ok(Token { kind: TokenKind::End, start: start as u32, end: start as u32, line });
            }
            b'.' if CLASS[self.byte(start + 1) as usize] == WORD => {
                self.at += 1;
                self.skip_word();
                TokenKind::Directive
            }
            b'"' => {
                self.string()?;
                TokenKind::String
            }
            _ => match CLASS[first as usize] {
                WORD => {
                    self.skip_word();
                    TokenKind::Name
                }
                DIGIT => {
                    self.number();
                    TokenKind::Number
                }
                _ if first < 0x80 => {
                    self.at += 1;
                    TokenKind::Mark(first)
                }
                _ => return Err(Error::at(self.text, start, "unexpected character")),
            },
        };
        Ok(Token { kind, start: start as u32, end: self.at as u32, line })
    }

    fn skip_space(&mut self) -> Result<(), Error> {
        let bytes = self.bytes;
        let mut at = self.at;
        while at < bytes.len() {
            let byte = bytes[at];
            if byte == b'\n' {
                self.line += 1;
                at += 1;
            } else if CLASS[byte as usize] == SPACE {
                at += 1;
            } else if byte == b'/' && self.byte(at + 1) == b'/' {
                while at < bytes.len() && bytes[at] != b'\n' {
                    at += 1;
                }
            } else if byte == b'/' && self.byte(at + 1) == b'*' {
                let open = at;
                at += 2;
                loop {
                    if at + 1 >= bytes.len() {
                        return Err(Error::at(self.text, open, "comment without an end"));
                    }
                    if bytes[at] == b'*' && bytes[at + 1] == b'/' {
                        at += 2;
                        break;
                    }
                    if bytes[at] == b'\n' {
                        self.line += 1;
                    }
                    at += 1;
                }
            } else {
                break;
            }
        }
        self.at = at;
        Ok(())
    }

    fn skip_word(&mut self) {
        let bytes = self.bytes;
        let mut at = self.at;
        while at < bytes.len() && CLASS[bytes[at] as usize] >= WORD {
            at += 1;
        }
        self.at = at;
    }

    /// Reads digits and letters; for decimal numbers also one point and a signed exponent.
    fn number(&mut self) {
        let start = self.at;
        let prefixed =
            self.byte(start) == b'0' && matches!(self.byte(start + 1) | 0x20, b'x' | b'f' | b'd' | b'b');
        self.skip_word();
        if prefixed {
            return;
        }
        if self.byte(self.at) == b'.' && CLASS[self.byte(self.at + 1) as usize] == DIGIT {
            self.at += 1;
            self.skip_word();
        }
        let decimal = self.bytes[start..self.at].iter().all(|b| b.is_ascii_digit() || b"eE.".contains(b));
        if decimal && self.byte(self.at - 1) | 0x20 == b'e' && matches!(self.byte(self.at), b'+' | b'-') {
            self.at += 1;
            self.skip_word();
        }
    }

    fn string(&mut self) -> Result<(), Error> {
        let open = self.at;
        self.at += 1;
        loop {
            match self.byte(self.at) {
                b'"' => break self.at += 1,
                b'\\' if self.byte(self.at + 1) != 0 => self.at += 2,
                0 | b'\n' => return Err(Error::at(self.text, open, "string without an end")),
                _ => self.at += 1,
            }
        }
        // An escape may have skipped the first byte of a multi-byte character.
        if !self.text.is_char_boundary(self.at) {
            return Err(Error::at(self.text, open, "string without an end"));
        }
        Ok(())
    }

    /// Extends the name token just read to a whole opcode with its `.modifier` and `::qualifier` parts. Returns the
    /// opcode's end.
    pub fn opcode(&mut self) -> u32 {
        loop {
            if self.byte(self.at) == b'.' && CLASS[self.byte(self.at + 1) as usize] >= WORD {
                self.at += 1;
            } else if self.byte(self.at) == b':'
                && self.byte(self.at + 1) == b':'
                && CLASS[self.byte(self.at + 2) as usize] >= WORD
            {
                self.at += 2;
            } else {
                return self.at as u32;
            }
            self.skip_word();
        }
    }

    /// Skips to the `}` that closes a `{` already read. Used for debug sections, whose contents are ignored.
    pub fn skip_braces(&mut self) -> Result<u32, Error> {
        let open = self.at;
        let mut depth = 1;
        loop {
            match self.next()?.kind {
                TokenKind::Mark(b'{') => depth += 1,
                TokenKind::Mark(b'}') => {
                    depth -= 1;
                    if depth == 0 {
                        return Ok(self.at as u32);
                    }
                }
                TokenKind::End => return Err(Error::at(self.text, open, "`{` is never closed")),
                _ => {}
            }
        }
    }

    /// Skips the rest of the line.
    pub fn skip_line(&mut self) {
        while self.at < self.bytes.len() && !matches!(self.bytes[self.at], b'\n' | 0) {
            self.at += 1;
        }
    }
}

/// The value of a number token: an integer of up to 64 bits, or a float.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum NumberLiteral {
    Integer(u64),
    Single(u32),
    Double(u64),
}

/// Parses `12`, `0x1F`, `017` and `0b11`, each with an optional `U`; `0f` with 8 and `0d` with 16 hexadecimal digits;
/// `1.5e3`.
pub(crate) fn number(text: &str) -> Option<NumberLiteral> {
    let bytes = text.as_bytes();
    if bytes.len() > 1 && bytes[0] == b'0' {
        let digits = &text[2..];
        match bytes[1] | 0x20 {
            b'f' => {
                let bits = (digits.len() == 8).then(|| radix(digits, 16)).flatten()?;
                return Some(NumberLiteral::Single(bits as u32));
            }
            b'd' => {
                let bits = (digits.len() == 16).then(|| radix(digits, 16)).flatten()?;
                return Some(NumberLiteral::Double(bits));
            }
            b'x' => return radix(unsuffixed(digits), 16).map(NumberLiteral::Integer),
            b'b' => return radix(unsuffixed(digits), 2).map(NumberLiteral::Integer),
            _ => {}
        }
    }
    if bytes.contains(&b'.') || (bytes.contains(&b'e') || bytes.contains(&b'E')) {
        return text.parse::<f64>().ok().map(|value| NumberLiteral::Double(value.to_bits()));
    }
    let digits = unsuffixed(text);
    if digits.len() > 1 && digits.as_bytes()[0] == b'0' {
        return radix(&digits[1..], 8).map(NumberLiteral::Integer);
    }
    radix(digits, 10).map(NumberLiteral::Integer)
}

fn unsuffixed(digits: &str) -> &str {
    match digits.as_bytes().last() {
        Some(b'U' | b'u') => &digits[..digits.len() - 1],
        _ => digits,
    }
}

/// Unlike `from_str_radix`, rejects a sign.
fn radix(digits: &str, radix: u64) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    let mut value = 0u64;
    for &byte in digits.as_bytes() {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            b'A'..=b'F' => byte - b'A' + 10,
            _ => return None,
        } as u64;
        if digit >= radix {
            return None;
        }
        value = value.checked_mul(radix)?.checked_add(digit)?;
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(TokenKind, &str)> {
        let mut lexer = Lexer::new(text);
        let mut all = Vec::new();
        loop {
            let token = lexer.next().unwrap();
            if token.kind == TokenKind::End {
                return all;
            }
            all.push((token.kind, &text[token.start as usize..token.end as usize]));
        }
    }

    #[test]
    fn splits_an_instruction() {
        use TokenKind::{Directive, Mark, Name, Number, String};
        assert_eq!(
            kinds("@%p1 ld.v2 {%r1, _}, [%rd2+-4]; // c\n.file 1 \"a\\\"b\" /* x\n */ 1.5e-3"),
            [
                (Mark(b'@'), "@"),
                (Name, "%p1"),
                (Name, "ld"),
                (Directive, ".v2"),
                (Mark(b'{'), "{"),
                (Name, "%r1"),
                (Mark(b','), ","),
                (Name, "_"),
                (Mark(b'}'), "}"),
                (Mark(b','), ","),
                (Mark(b'['), "["),
                (Name, "%rd2"),
                (Mark(b'+'), "+"),
                (Mark(b'-'), "-"),
                (Number, "4"),
                (Mark(b']'), "]"),
                (Mark(b';'), ";"),
                (Directive, ".file"),
                (Number, "1"),
                (String, "\"a\\\"b\""),
                (Number, "1.5e-3"),
            ]
        );
    }

    #[test]
    fn reads_every_form_of_number() {
        use crate::syntax::lex::NumberLiteral::{Double, Integer, Single};
        for (text, value) in [
            ("0", Some(Integer(0))),
            ("12", Some(Integer(12))),
            ("12U", Some(Integer(12))),
            ("0x1F", Some(Integer(31))),
            ("0X1fU", Some(Integer(31))),
            ("017", Some(Integer(15))),
            ("0b101", Some(Integer(5))),
            ("18446744073709551615", Some(Integer(u64::MAX))),
            ("18446744073709551616", None),
            ("0f3F800000", Some(Single(0x3f80_0000))),
            ("0F3f800000", Some(Single(0x3f80_0000))),
            ("0f3F80000", None),
            ("0d3FF0000000000000", Some(Double(1.0f64.to_bits()))),
            ("1.5e3", Some(Double(1500.0f64.to_bits()))),
            ("1e3", Some(Double(1000.0f64.to_bits()))),
            ("08", None),
            ("0x", None),
            ("12abc", None),
        ] {
            assert_eq!(number(text), value, "{text}");
        }
    }

    #[test]
    fn counts_lines_through_comments() {
        let mut lexer = Lexer::new("/*\n\n*/ a // b\n c");
        assert_eq!(lexer.next().unwrap().line, 3);
        assert_eq!(lexer.next().unwrap().line, 4);
    }
}
