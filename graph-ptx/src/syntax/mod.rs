//! The syntax of PTX.
//!
//! [`parse`] turns text into a [`Module`] that borrows it. Its invariants:
//!
//! - every item, statement and instruction has its bytes ([`Span`]) and its line;
//! - nothing is dropped silently: text that is not understood is kept as a directive or an instruction;
//! - names are not resolved. [`Names`] maps a name to its declaration in a scope of a body;
//! - parsing any bytes ends in time linear in their number, with a module or one [`Error`].

mod ast;
mod error;
mod lex;
mod names;
mod parse;

pub use ast::*;
pub use error::Error;
pub use names::{Binding, Names};
pub use parse::{parse, parse_bytes};
