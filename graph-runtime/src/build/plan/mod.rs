//! Launch decisions, the plan of memory, the operations.

pub(super) mod fusing;
pub(super) mod hook;
pub(super) mod planning;
pub(super) mod traffic;
