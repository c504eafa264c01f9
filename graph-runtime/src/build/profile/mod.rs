//! The same operations one behind the other, with clocks, for a profile.

pub(super) mod clocks;
pub(super) mod serial;
pub(super) mod stamps;
