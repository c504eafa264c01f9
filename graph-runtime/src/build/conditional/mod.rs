//! Conditional nodes: their bodies, and the kernels that set their conditions.

pub(super) mod bodies;
pub(super) mod conditions;
pub(super) mod counted;
pub(super) mod setters;
