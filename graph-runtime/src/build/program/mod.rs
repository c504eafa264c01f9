//! The flat program of a function, and those that are kept.

pub(super) mod hidden;
pub(super) mod instances;
pub(super) mod plans;
pub(super) mod recall;
