//! The token of generated code.

/// The permission to call what only generated code calls.
///
/// It has no public name outside `__private`, implements no trait that makes values, and is never passed to a method that
/// a user can write.
#[derive(Debug)]
pub struct Token;
