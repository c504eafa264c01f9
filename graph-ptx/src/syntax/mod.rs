//! The syntax of PTX.
//!
//! [`parse`] turns text into a [`Module`] that borrows it. Invariants:
//!
//! - every item, statement and instruction has its byte range ([`Span`]) and its line;
//! - nothing is dropped silently: text that the parser does not understand is kept as a directive or an instruction;
//! - names are not resolved; [`Names`] maps a name to its declaration in a scope of a body;
//! - parsing any input takes linear time and returns a module or one [`Error`].

mod ast;
mod error;
mod lex;
mod names;
mod parse;

pub use ast::*;
pub use error::Error;
pub use names::{Binding, Names};
pub use parse::{parse, parse_bytes};
