//! Commutativity of updates, joined over all accesses through a pointer.
//!
//! Launches that only update a buffer by the same reduction need no order between them. The lattice is flat: no
//! access at the bottom, ordered accesses at the top, reads and each kind of reduction between.

use crate::analysis::code::{NONE, SsaFunction, Step};
use crate::analysis::effect::AccessKind;
use crate::isa::{self, Addresses};
use crate::syntax::{Instruction, Type};

/// The accesses of a launch through a pointer, by the effect of their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Update {
    /// The result depends on the order of the accesses, or is unknown.
    #[default]
    Ordered,
    /// No accesses.
    Nothing,
    /// Only reads.
    Reads,
    /// Reductions with unused results, all with this operation and type (such as `add.u32`), at device scope or
    /// wider. They commute with reductions of the same operation and type. An atomic access is aligned to its size,
    /// so that accesses of one size never overlap partially.
    Reduction(String),
}

impl Update {
    /// Returns the join of the updates of two accesses.
    pub(crate) fn join(self, other: Update) -> Update {
        match (self, other) {
            (Update::Nothing, other) => other,
            (one, Update::Nothing) => one,
            (one, other) if one == other => one,
            _ => Update::Ordered,
        }
    }

    /// Returns the update of an access by a step of a body.
    pub(crate) fn new(code: &SsaFunction<'_, '_>, step: &Step<'_, '_>, how: AccessKind) -> Update {
        match (how, step.instruction) {
            (AccessKind::Nothing, _) => Update::Nothing,
            (AccessKind::Read, _) => Update::Reads,
            (AccessKind::Atomic, Some(instruction)) if result_is_unused(code, step) => {
                reduction(instruction).map_or(Update::Ordered, Update::Reduction)
            }
            _ => Update::Ordered,
        }
    }
}

/// Returns true if no instruction reads the values that a step defines.
fn result_is_unused(code: &SsaFunction<'_, '_>, step: &Step<'_, '_>) -> bool {
    step.defines.iter().all(|&value| {
        value == NONE
            || (code.users[value as usize].is_empty()
                && !code.returned.iter().any(|returned| returned.contains(&value)))
    })
}

/// Returns true for an exchange whose result is unused.
pub(crate) fn is_blind_exchange(code: &SsaFunction<'_, '_>, step: &Step<'_, '_>) -> bool {
    let updates = |instruction: &Instruction<'_>| isa::row(instruction.op()).addresses == Addresses::Update;
    step.instruction.is_some_and(|instruction| updates(instruction) && instruction.has("exch"))
        && result_is_unused(code, step)
}

/// Returns the operation and type of a `red` or `atom` that commutes with itself.
fn reduction(instruction: &Instruction<'_>) -> Option<String> {
    if isa::row(instruction.op()).addresses != Addresses::Update {
        return None;
    }
    let (mut operation, mut ty) = (None, None);
    for modifier in instruction.modifiers() {
        match modifier {
            "add" | "min" | "max" | "and" | "or" | "xor" => operation = Some(modifier),
            "relaxed" | "acquire" | "release" | "acq_rel" | "gpu" | "sys" | "global" | "noftz" | "v2"
            | "v4" | "v8" => {}
            _ if modifier.starts_with("level::") || modifier.starts_with("L2::") => {}
            _ => ty = Some(Type::from_name(modifier)?),
        }
    }
    Some(format!("{}.{}", operation?, ty?.name()))
}
