//! Bounds that setters change.

pub(super) mod quick;
