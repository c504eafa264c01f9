//! A tokenizer for C++, just precise enough to find declarations.
//!
//! It skips comments, keeps literals whole, and collects `#define`s. It does not preprocess. Used by
//! [`crate::host`].

use std::collections::HashMap;

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    Word,
    /// A string, character or number.
    Literal,
    /// One byte of punctuation.
    Mark(u8),
}

/// A token: its kind and its byte range in the text.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    pub kind: TokenKind,
    pub start: usize,
    pub end: usize,
}

/// The tokens of a text, without comments and directives, and the macros that it defines.
#[derive(Default)]
pub struct Tokens<'t> {
    pub all: Vec<Token>,
    /// Maps each macro's name to its replacement, parameters included.
    pub macros: HashMap<&'t str, &'t str>,
}

/// An open `#if`.
struct OpenIf {
    /// The brace depth at the `#if`.
    depth: i32,
    /// True while inside a branch whose tokens are skipped.
    skips: bool,
    /// True while inside the dead branch of `#if 0`.
    is_off: bool,
}

/// Tokenizes a text. If the branches of an `#if` open or close braces, they are alternative spellings of
/// one declaration: only the first branch is kept.
pub fn tokenize(text: &str) -> Tokens<'_> {
    let bytes = text.as_bytes();
    let mut found = Tokens::default();
    let mut groups: Vec<OpenIf> = Vec::new();
    let (mut at, mut depth, mut at_line_start) = (0, 0i32, true);
    while at < bytes.len() {
        let byte = bytes[at];
        let start = at;
        match byte {
            b'\n' => {
                at_line_start = true;
                at += 1;
                continue;
            }
            _ if byte.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                at = line_end(bytes, at);
                continue;
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                at = text[at + 2..].find("*/").map_or(bytes.len(), |end| at + 2 + end + 2);
                continue;
            }
            b'#' if at_line_start => {
                at = line_end(bytes, at);
                directive(&text[start..at], &mut groups, &mut depth, &mut found.macros);
                continue;
            }
            _ => {}
        }
        at_line_start = false;
        let kind = match byte {
            b'"' | b'\'' => {
                at = quoted(bytes, at);
                TokenKind::Literal
            }
            _ if is_name(byte) && !byte.is_ascii_digit() => {
                while at < bytes.len() && is_name(bytes[at]) {
                    at += 1;
                }
                let is_prefix = matches!(&text[start..at], "R" | "u8R" | "uR" | "UR" | "LR");
                if is_prefix && bytes.get(at) == Some(&b'"') {
                    at = raw(text, at);
                    TokenKind::Literal
                } else {
                    TokenKind::Word
                }
            }
            _ if byte.is_ascii_digit() => {
                // `'` between digits is a separator.
                while at < bytes.len() && (is_name(bytes[at]) || matches!(bytes[at], b'.' | b'\'')) {
                    at += 1;
                }
                TokenKind::Literal
            }
            _ => {
                at += 1;
                TokenKind::Mark(byte)
            }
        };
        if groups.iter().any(|group| group.skips) {
            continue;
        }
        depth += match kind {
            TokenKind::Mark(b'{') => 1,
            TokenKind::Mark(b'}') => -1,
            _ => 0,
        };
        found.all.push(Token { kind, start, end: at });
    }
    found
}

pub fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Returns the end of a line, including the lines joined to it by backslashes.
fn line_end(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while at < bytes.len() {
        if bytes[at] == b'\n' {
            let before = bytes[from..at].iter().rev().find(|&&byte| byte != b'\r');
            if before != Some(&b'\\') {
                return at;
            }
        }
        at += 1;
    }
    at
}

fn quoted(bytes: &[u8], from: usize) -> usize {
    let mut at = from + 1;
    while at < bytes.len() && bytes[at] != bytes[from] && bytes[at] != b'\n' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}

/// Returns the end of a raw string whose quote is at `from`.
fn raw(text: &str, from: usize) -> usize {
    let rest = &text[from + 1..];
    let Some(open) = rest.find('(') else { return text.len() };
    let close = format!("){}\"", &rest[..open]);
    rest.find(&close).map_or(text.len(), |at| from + 1 + at + close.len())
}

fn directive<'t>(
    line: &'t str,
    groups: &mut Vec<OpenIf>,
    depth: &mut i32,
    macros: &mut HashMap<&'t str, &'t str>,
) {
    let rest = line[1..].trim_start();
    let word = &rest[..rest.bytes().take_while(|&byte| is_name(byte)).count()];
    let rest = rest[word.len()..].trim_start();
    match word {
        "if" | "ifdef" | "ifndef" => {
            let is_off = word == "if" && rest.trim_end() == "0";
            groups.push(OpenIf { depth: *depth, skips: is_off, is_off });
        }
        "else" | "elif" => {
            if let Some(group) = groups.last_mut() {
                group.skips = !group.is_off && *depth != group.depth;
                group.is_off = false;
            }
        }
        "endif" => drop(groups.pop()),
        "define" => {
            let name = &rest[..rest.bytes().take_while(|&byte| is_name(byte)).count()];
            macros.insert(name, &rest[name.len()..]);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_strings_and_directives_are_no_tokens() {
        let text = "a /* { */ \"}{\\\"\" '{' // {\n#define X(a) \\\n {\nR\"x({)\" )x\" 1'000 b";
        let tokens = tokenize(text);
        let texts: Vec<_> = tokens.all.iter().map(|token| &text[token.start..token.end]).collect();
        assert_eq!(texts, ["a", "\"}{\\\"\"", "'{'", "R\"x({)\" )x\"", "1'000", "b"]);
        assert_eq!(tokens.macros["X"], "(a) \\\n {");
    }

    #[test]
    fn of_two_branches_that_open_a_brace_one_counts() {
        let count = |text| tokenize(text).all.len();
        assert_eq!(count("#ifdef A\nf(int) {\n#else\nf() {\n#endif\n}"), 6);
        assert_eq!(count("#ifdef A\nf();\n#else\ng();\n#endif\n"), 8);
        assert_eq!(count("#if 0\nf() {\n#else\ng();\n#endif\n"), 4);
    }
}
