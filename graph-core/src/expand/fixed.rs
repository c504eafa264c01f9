//! Scalars that no setter changes, with the reasons.

use std::collections::BTreeMap;

use crate::ids::ScalarId;
use crate::index::Vector;
use crate::ir::StatementId;

use super::answers::{FrameId, Instance};

/// The reason why a scalar has no setter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fixed {
    /// A length, a loop or a choice depends on it.
    Structure,
    /// A library call was captured with its value.
    Given(StatementId),
    /// A range depends on it that a library call, or the kernel that sets a condition, has the address of.
    Address(StatementId),
    /// A range depends on it, and it is a scalar of a record.
    Record,
    /// The order is proved for its value alone.
    Value,
}

/// The scalars of the outermost function that no setter changes.
pub type FixedScalars = BTreeMap<ScalarId, Fixed>;

/// Returns the reason why a function that was entered keeps its scalars: the library call that it is, or its structure.
#[must_use]
pub fn of_frame(captured: bool, frame: FrameId, instances: &Vector<StatementId, Instance>) -> Fixed {
    let call = captured.then(|| instances.position(|instance| instance.frame == frame)).flatten();
    call.map_or(Fixed::Structure, Fixed::Given)
}

/// Adds scalars that no setter changes; a reason that is known stays.
pub fn add(fixed: &mut FixedScalars, scalars: impl IntoIterator<Item = ScalarId>, reason: Fixed) {
    for scalar in scalars {
        fixed.entry(scalar).or_insert(reason);
    }
}
