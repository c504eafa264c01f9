//! Bounds that setters change.

pub(super) mod moves;
pub(super) mod polys;
pub(super) mod quick;
pub(super) mod shift;
