//! The driver's graph that is being built, and changes of its nodes.

pub(super) mod adding;
pub(crate) mod annotate;
pub(super) mod definition;
pub(super) mod nodes;
pub(super) mod patch;
pub(super) mod single;
