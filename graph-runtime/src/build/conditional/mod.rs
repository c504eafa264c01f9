//! Conditional nodes: their bodies, and the kernels that set them.

pub(super) mod bodies;
pub(super) mod choice;
pub(super) mod conditions;
pub(super) mod counted;
