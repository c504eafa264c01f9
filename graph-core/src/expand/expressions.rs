//! The user's expressions in a graph function, which generated code evaluates.

use crate::ids::LeafId;
use crate::ir::DimId;
use crate::location::SourceLocation;
use crate::table::BoundOp;

use super::answers::{DimValue, ExpansionPoint};

/// Evaluates expressions: during expansion, and again when a setter changes a scalar that they mention.
pub trait Expressions {
    /// The error if an expression has no value.
    type Error;

    /// Returns the value of a leaf of bounds. `None` if the value is not a valid length.
    ///
    /// # Errors
    ///
    /// If the expression cannot be evaluated.
    fn leaf(&mut self, at: ExpansionPoint<'_>, leaf: LeafId) -> Result<Option<u64>, Self::Error>;

    /// Returns the value of a bound. `length` returns the lengths in its code.
    ///
    /// # Errors
    ///
    /// If the bound has no value.
    fn value(
        &mut self,
        at: ExpansionPoint<'_>,
        dim: DimId,
        length: &mut dyn FnMut(BoundOp) -> Option<DimValue>,
    ) -> Result<u64, Self::Error>;

    /// Returns the error for a bound whose value differs from its polynomial's after a change.
    fn inconstant(at: Box<SourceLocation>, bound: &str) -> Self::Error;
}
