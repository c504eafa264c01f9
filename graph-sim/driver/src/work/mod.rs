//! The work of streams and graph nodes: kernels, copies and fills, and the modules that kernels come from.

pub mod access;
pub mod kernel;
pub mod meeting;
pub mod modules;
pub mod transfer;
