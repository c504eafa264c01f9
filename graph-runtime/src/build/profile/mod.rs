//! Profiles: the operations in sequence with clocks in between.

pub(super) mod clocks;
pub(super) mod serial;
pub(super) mod stamps;
