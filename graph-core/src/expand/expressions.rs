//! The expressions of a graph function, which its generated code evaluates.

use crate::ids::LeafId;
use crate::ir::DimId;
use crate::location::At;
use crate::table::Op;

use super::answers::{ExpansionPoint, Number};

/// The values of expressions: while a function is expanded, and again when a setter changes a scalar that they mention.
pub trait Expressions {
    /// The reason that an expression has no value.
    type Error;

    /// Returns the value of a leaf of bounds; `None` if it is no length.
    ///
    /// # Errors
    ///
    /// The expression cannot be evaluated.
    fn leaf(&mut self, at: ExpansionPoint<'_>, leaf: LeafId) -> Result<Option<u64>, Self::Error>;

    /// Returns the value of a bound. `length` returns the lengths in its code.
    ///
    /// # Errors
    ///
    /// The bound has no value.
    fn value(
        &mut self,
        at: ExpansionPoint<'_>,
        dim: DimId,
        length: &mut dyn FnMut(Op) -> Option<Number>,
    ) -> Result<u64, Self::Error>;

    /// Returns the error for a bound whose value is not that of its polynomial any more.
    fn inconstant(at: Box<At>, bound: &str) -> Self::Error;
}
