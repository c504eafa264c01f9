//! Plans a graph: launch decisions, memory, operations.

pub(super) mod fusing;
pub(super) mod hook;
pub(super) mod planning;
pub(super) mod ranged;
pub(super) mod traffic;
