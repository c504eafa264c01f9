//! The driver's graph that is being built, and changes of its nodes.

pub(crate) mod adding;
pub(crate) mod annotate;
pub(super) mod builder;
pub(super) mod built;
pub(super) mod definition;
pub(super) mod handle;
pub(super) mod patch;
pub(super) mod state;
