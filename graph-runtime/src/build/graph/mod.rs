//! Builds the driver's graph node by node, and patches nodes of an instantiated one.

pub(crate) mod adding;
pub(crate) mod annotate;
pub(super) mod builder;
pub(super) mod built;
pub(super) mod definition;
pub(super) mod handle;
pub(super) mod patch;
pub(super) mod state;
