//! Commutativity of updates: the join over all accesses through a pointer.

use crate::analysis::code::{Code, NONE, Step};
use crate::analysis::effect::How;
use crate::isa::{self, Addresses};
use crate::syntax::{Instruction, Type};

/// The accesses of launches through a pointer, as far as their order matters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Update {
    /// Something whose result depends on the order, or that is not known.
    #[default]
    Ordered,
    /// Nothing.
    Nothing,
    /// It is only read.
    Reads,
    /// Reductions whose results nobody uses, all of this operation and type (`add.u32`), at the scope of the device or
    /// wider. They commute with reductions of the same operation and type: an atomic access is aligned to its size, so
    /// accesses of one size lie on one grid of addresses.
    Reduction(String),
}

impl Update {
    /// Returns the join of two accesses.
    pub(crate) fn and(self, other: Update) -> Update {
        match (self, other) {
            (Update::Nothing, other) => other,
            (one, Update::Nothing) => one,
            (one, other) if one == other => one,
            _ => Update::Ordered,
        }
    }

    /// An access by a step of a body.
    pub(crate) fn of(code: &Code<'_, '_>, step: &Step<'_, '_>, how: How) -> Update {
        match (how, step.instruction) {
            (How::Nothing, _) => Update::Nothing,
            (How::Read, _) => Update::Reads,
            (How::Atomic, Some(instruction)) if result_is_unused(code, step) => {
                reduction(instruction).map_or(Update::Ordered, Update::Reduction)
            }
            _ => Update::Ordered,
        }
    }
}

/// True if nothing reads what a step defines.
pub(crate) fn result_is_unused(code: &Code<'_, '_>, step: &Step<'_, '_>) -> bool {
    step.defines.iter().all(|&value| {
        value == NONE
            || (code.users[value as usize].is_empty()
                && !code.returned.iter().any(|returned| returned.contains(&value)))
    })
}

/// The operation and the type of a `red` or `atom` that commutes with its like.
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
