//! The arguments of a build: the bodies of functions, their questions and answers, and the checks.

pub(super) mod aliases;
pub(super) mod answers;
pub(super) mod body;
pub(super) mod checks;
pub(super) mod devices;
pub(super) mod given;
pub(super) mod limits;
pub(super) mod questions;
pub(super) mod recursion;
