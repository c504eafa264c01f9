//! The work of streams and graph nodes: kernels, copies, fills and waits, and the modules that hold the kernels.

pub mod access;
pub mod kernel;
pub mod modules;
pub mod transfer;
pub mod waits;
