//! The syntax tree of a PTX file, with the position of each part.
//!
//! The tree borrows the text. A name is a slice of it, so that [`Module::span_of`] finds the position of any name or
//! opcode. A function's body is one flat list of statements, in which braces appear as [`Statement::Open`] and
//! [`Statement::Close`]; every instruction stores its [`Scope`]. The list is flat because PTX control flow is, and so
//! that deep nesting in a file cannot cause deep recursion.

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
