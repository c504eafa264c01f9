//! Parameters that are declared as buffers but used as numbers.

use crate::analysis::code::{Code, NONE, Place, Source, Step};
use crate::isa::{self, Arithmetic, Bitwise, Comparison, Opcode, Operation, Selection};
use crate::syntax::{Class, Instruction};
use std::collections::BTreeSet;

/// The maximum number of values that are followed.
const MOST_VALUES: usize = 64;

/// Returns the first step that uses the bits of a parameter as a number, and true if that is certain. Addresses may be
/// compared with one another and subtracted, but not multiplied. Comparisons with null and masks of an address are
/// inconclusive.
pub(crate) fn number(code: &Code<'_, '_>, parameter: u32) -> Option<(u32, bool)> {
    let loads = code.steps.iter().filter(|step| {
        step.instruction.is_some_and(|instruction| instruction.op() == Opcode::Ld)
            && matches!(step.sources[..], [Source::Memory(Place::Parameter(at), _)] if at == parameter)
    });
    let loaded = loads.flat_map(|step| &step.defines).filter(|&&value| value != NONE);
    let mut values: Vec<(u32, bool)> = loaded.map(|&value| (value, true)).collect();
    let mut seen: BTreeSet<(u32, bool)> = values.iter().copied().collect();
    let mut found: Option<(u32, bool)> = None;
    while let Some((value, exact)) = values.pop() {
        for &user in &code.users[value as usize] {
            let step = &code.steps[user as usize];
            let next = match taken(step, value) {
                Taken::Moved => exact,
                Taken::Displaced => false,
                Taken::Number(certain) => {
                    let certain = certain && exact;
                    let better = |&(at, before): &(u32, bool)| (!certain, user) < (!before, at);
                    if found.as_ref().is_none_or(better) {
                        found = Some((user, certain));
                    }
                    continue;
                }
                Taken::Otherwise => continue,
            };
            for &defined in step.defines.iter().filter(|&&defined| defined != NONE) {
                if seen.len() < MOST_VALUES && seen.insert((defined, next)) {
                    values.push((defined, next));
                }
            }
        }
    }
    found
}

/// The use of a value by a step.
enum Taken {
    /// The bits are unchanged, or a constant is added.
    Moved,
    /// Another value is added or subtracted.
    Displaced,
    /// The value is used as a number. True if that is certain.
    Number(bool),
    /// The use is inconclusive.
    Otherwise,
}

fn taken(step: &Step<'_, '_>, value: u32) -> Taken {
    let Some(instruction) = step.instruction else { return Taken::Moved };
    let is = |source: &Source<'_>| matches!(source, Source::Place(Place::Value(found), _) if *found == value);
    let Some(at) = step.sources.iter().position(is) else { return Taken::Otherwise };
    let constant = step.sources.iter().any(|source| matches!(source, Source::Constant(_)));
    match (isa::row(instruction.op()).operation, at) {
        (Operation::Move | Operation::Address | Operation::Selection(Selection::ByPredicate), _) => {
            Taken::Moved
        }
        (Operation::Arithmetic(Arithmetic::Add | Arithmetic::Sub), _) if constant => Taken::Moved,
        (Operation::Arithmetic(Arithmetic::Add | Arithmetic::Sub), _)
        | (Operation::Arithmetic(Arithmetic::Mad), 2) => Taken::Displaced,
        (Operation::Convert, _) => conversion(instruction),
        (Operation::Arithmetic(Arithmetic::Mul | Arithmetic::Mad | Arithmetic::Div | Arithmetic::Rem), _)
        | (Operation::Bitwise(Bitwise::Shl), 0) => Taken::Number(true),
        (Operation::Comparison(Comparison::ToPredicate | Comparison::ToNumber), _) => {
            let null = step.sources.contains(&Source::Constant(0));
            let equal = instruction.has("eq") || instruction.has("ne");
            if null && equal { Taken::Otherwise } else { Taken::Number(false) }
        }
        (Operation::Arithmetic(Arithmetic::Min | Arithmetic::Max) | Operation::Bitwise(Bitwise::Shr), _) => {
            Taken::Number(false)
        }
        (
            Operation::None
            | Operation::SharedAddress
            | Operation::Arithmetic(_)
            | Operation::Float(_)
            | Operation::Bitwise(_)
            | Operation::Selection(_)
            | Operation::Comparison(_)
            | Operation::Opaque(_),
            _,
        ) => Taken::Otherwise,
    }
}

fn conversion(instruction: &Instruction<'_>) -> Taken {
    match instruction.types().next() {
        Some(to) if to.class() == Class::Float => Taken::Number(true),
        Some(to) if to.size() < 8 => Taken::Number(false),
        _ => Taken::Moved,
    }
}
