//! The parser: tokens to a [`Module`].
//!
//! It needs one token of lookahead and no backtracking. A loop with a stack reads a body, so that nested scopes cause
//! no recursion.

mod declaration;
mod module;
mod operand;
mod parser;
mod statement;

use crate::syntax::ast::Module;
use crate::syntax::error::Error;
use crate::syntax::lex::Lexer;
use parser::Parser;

/// Parses a PTX file given as bytes, as the driver receives it.
///
/// # Errors
/// The first syntax error with its position, also for bytes that are not UTF-8.
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

/// Parses a PTX file.
///
/// # Errors
/// The first syntax error with its position.
pub fn parse(text: &str) -> Result<Module<'_>, Error> {
    if u32::try_from(text.len()).is_err() {
        return Err(Error::at(text, 0, "the file has 4 GiB or more"));
    }
    let mut lexer = Lexer::new(text);
    let token = lexer.next()?;
    module::module(&mut Parser { lexer, token, end: 0 })
}

#[cfg(test)]
mod tests;
