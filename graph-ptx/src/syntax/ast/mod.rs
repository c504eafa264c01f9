//! The syntax tree of a PTX file, with the place of each part.
//!
//! Everything borrows the text: a name is a slice of it, so [`Module::span_of`] finds the place of any name or opcode.
//! A function's body is one flat list of statements; braces appear in it as [`Statement::Open`] and
//! [`Statement::Close`], and every instruction knows its [`Scope`]. Flat, because control flow in PTX is flat, and
//! because nothing then recurses over what a file may nest.

mod body;
mod declaration;
mod module;
mod span;
mod types;

pub(super) use body::mnemonic;
pub use body::*;
pub use declaration::*;
pub use module::*;
pub use span::Span;
pub use types::*;
