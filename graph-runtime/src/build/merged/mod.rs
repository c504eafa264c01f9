//! Launches that are one node: batches, chains, and their tables.

pub(super) mod batches;
pub(super) mod fused;
pub(super) mod tables;
