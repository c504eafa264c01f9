//! Tokens to a [`Module`].
//!
//! One token of look-ahead, no backtracking, and no recursion over scopes: a body is read by a loop with a stack.

mod declaration;
mod module;
mod operand;
mod parser;
mod statement;

use crate::syntax::ast::Module;
use crate::syntax::error::Error;
use crate::syntax::lex::Lexer;
use parser::Parser;

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
    module::module(&mut Parser { lexer, token, end: 0 })
}

#[cfg(test)]
mod tests;
