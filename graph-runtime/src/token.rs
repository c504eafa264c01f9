//! The token with which generated code calls internal functions.

/// The permission to call functions that are only for generated code.
///
/// It has no public name outside of `__private`, implements no trait that constructs values, and is never
/// passed to a method that a user can implement.
#[derive(Debug)]
pub struct Token;
