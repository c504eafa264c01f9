//! PTX: the reader, and what a kernel does with its parameters.
//!
//! One reader for the proofs at compile time, for the simulated driver and for rewriting. [`parse`] turns text into a
//! [`Module`] that borrows it. What holds of every module that it returns:
//!
//! - every item, statement and instruction has its bytes ([`Span`]) and its line;
//! - nothing is thrown away silently: what is not understood is kept as a directive or an instruction;
//! - names are not resolved. [`Names`] says what a name means in a scope of a body;
//! - reading any bytes ends in time linear in their number, with a module or one [`Error`].

mod access;
mod ast;
mod cfg;
mod condition;
pub mod declare;
pub mod duration;
mod effect;
mod extent;
mod flow;
mod hidden;
mod lex;
mod memory;
mod mentions;
mod names;
mod operand;
mod order;
mod outline;
mod parse;
mod rename;
pub mod report;
#[cfg(feature = "rewrite")]
pub mod rewrite;
mod ssa;
mod transfer;
mod update;
mod value;

use std::fmt;

pub use access::{Access, Analysis, Kernel, Parameter as ParameterFacts, Reach, Site};
pub use ast::*;
pub use hidden::{Hidden, hidden};
pub use names::{Binding, Names};
pub use parse::{parse, parse_bytes};
pub use update::Update;

/// Why a text is not PTX, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// From 1.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
    /// Lower case, without a full stop.
    pub message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for Error {}

impl Error {
    /// At a byte of a text.
    fn at(text: &str, byte: usize, message: impl Into<String>) -> Self {
        let mut byte = byte.min(text.len());
        while !text.is_char_boundary(byte) {
            byte -= 1;
        }
        let before = &text[..byte];
        let line = before.bytes().filter(|&b| b == b'\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let column = before[start..].chars().count() + 1;
        Self { line: line as u32, column: column as u32, message: message.into() }
    }
}
