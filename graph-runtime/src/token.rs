//! The token of generated code.

/// The permission to call functions that are for generated code only.
///
/// It has no public name outside `__private`, implements no trait that constructs values, and is never passed to a method
/// that a user can implement.
#[derive(Debug)]
pub struct Token;
