//! Scalars without a setter, and the reasons.

use std::collections::BTreeMap;

use crate::ids::ScalarId;
use crate::index::Vector;
use crate::ir::StatementId;

use super::answers::{FrameId, StatementOrigin};

/// Why a scalar has no setter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FixedReason {
    /// A length, a loop or a choice depends on it.
    Structure,
    /// A library call was captured with its value.
    Given(StatementId),
    /// A range depends on it, and a library call or the kernel that sets a condition has captured the address.
    Address(StatementId),
    /// A library call in the body of a conditional depends on it, or a collective.
    Captured(StatementId),
    /// The rows of a pitched copy or fill depend on it.
    Rows(StatementId),
    /// It is a scalar of a record, and a range depends on it.
    Record,
    /// The order is proved only for its current value.
    Value,
}

/// The scalars of the outermost function without a setter.
pub type FixedScalars = BTreeMap<ScalarId, FixedReason>;

/// Returns why a function fixes its scalars: it is a library call, or its structure depends on them.
#[must_use]
pub fn of_frame(
    captured: bool,
    frame: FrameId,
    instances: &Vector<StatementId, StatementOrigin>,
) -> FixedReason {
    let call = captured.then(|| instances.position(|instance| instance.frame == frame)).flatten();
    call.map_or(FixedReason::Structure, FixedReason::Given)
}

/// Adds scalars without a setter. The first reason is kept.
pub fn add(fixed: &mut FixedScalars, scalars: impl IntoIterator<Item = ScalarId>, reason: FixedReason) {
    for scalar in scalars {
        fixed.entry(scalar).or_insert(reason);
    }
}
