//! Finds parameters that are declared as buffers but used as numbers.
//!
//! The analysis follows a parameter's bits forward from its loads, through moves and additions, to steps that only
//! make sense for a number, such as multiplications and divisions.

use crate::analysis::code::{NONE, Referent, Source, SsaFunction, Step};
use crate::isa::{self, Arithmetic, Bitwise, Comparison, Opcode, Operation, Selection};
use crate::syntax::{Instruction, TypeClass};
use std::collections::BTreeSet;

/// The maximum number of values followed.
const MAX_VALUES: usize = 64;

/// Returns the first step that uses the bits of a parameter as a number; the flag is true if this is certain.
/// Addresses may be compared with each other and subtracted, but not multiplied. Comparisons of an address with null
/// and masks of an address are inconclusive.
pub(crate) fn number(code: &SsaFunction<'_, '_>, parameter: u32) -> Option<(u32, bool)> {
    let loads = code.steps.iter().filter(|step| {
        step.instruction.is_some_and(|instruction| instruction.op() == Opcode::Ld)
            && matches!(step.sources[..], [Source::Memory(Referent::Parameter(at), _)] if at == parameter)
    });
    let loaded = loads.flat_map(|step| &step.defines).filter(|&&value| value != NONE);
    let mut values: Vec<(u32, bool)> = loaded.map(|&value| (value, true)).collect();
    let mut seen: BTreeSet<(u32, bool)> = values.iter().copied().collect();
    let mut found: Option<(u32, bool)> = None;
    while let Some((value, exact)) = values.pop() {
        for &user in &code.users[value as usize] {
            let step = &code.steps[user as usize];
            let next = match usage(step, value) {
                Usage::Moved => exact,
                Usage::Displaced => false,
                Usage::Number(certain) => {
                    let certain = certain && exact;
                    let better = |&(at, before): &(u32, bool)| (!certain, user) < (!before, at);
                    if found.as_ref().is_none_or(better) {
                        found = Some((user, certain));
                    }
                    continue;
                }
                Usage::Otherwise => continue,
            };
            for &defined in step.defines.iter().filter(|&&defined| defined != NONE) {
                if seen.len() < MAX_VALUES && seen.insert((defined, next)) {
                    values.push((defined, next));
                }
            }
        }
    }
    found
}

/// The way in which a step uses a value.
enum Usage {
    /// Moves the bits, or adds a constant.
    Moved,
    /// Adds or subtracts another value.
    Displaced,
    /// Uses the value as a number. True if this is certain.
    Number(bool),
    /// Any other, inconclusive use.
    Otherwise,
}

fn usage(step: &Step<'_, '_>, value: u32) -> Usage {
    let Some(instruction) = step.instruction else { return Usage::Moved };
    let is =
        |source: &Source<'_>| matches!(source, Source::Place(Referent::Value(found), _) if *found == value);
    let Some(at) = step.sources.iter().position(is) else { return Usage::Otherwise };
    let constant = step.sources.iter().any(|source| matches!(source, Source::Constant(_)));
    match (isa::row(instruction.op()).operation, at) {
        (Operation::Move | Operation::Address | Operation::Selection(Selection::ByPredicate), _) => {
            Usage::Moved
        }
        (Operation::Arithmetic(Arithmetic::Add | Arithmetic::Sub), _) if constant => Usage::Moved,
        (Operation::Arithmetic(Arithmetic::Add | Arithmetic::Sub), _)
        | (Operation::Arithmetic(Arithmetic::Mad), 2) => Usage::Displaced,
        (Operation::Convert, _) => conversion(instruction),
        (Operation::Arithmetic(Arithmetic::Mul | Arithmetic::Mad | Arithmetic::Div | Arithmetic::Rem), _)
        | (Operation::Bitwise(Bitwise::Shl), 0) => Usage::Number(true),
        (Operation::Comparison(Comparison::ToPredicate | Comparison::ToNumber), _) => {
            let null = step.sources.contains(&Source::Constant(0));
            let equal = instruction.has("eq") || instruction.has("ne");
            if null && equal { Usage::Otherwise } else { Usage::Number(false) }
        }
        (Operation::Arithmetic(Arithmetic::Min | Arithmetic::Max) | Operation::Bitwise(Bitwise::Shr), _) => {
            Usage::Number(false)
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
        ) => Usage::Otherwise,
    }
}

fn conversion(instruction: &Instruction<'_>) -> Usage {
    match instruction.types().next() {
        Some(to) if to.class() == TypeClass::Float => Usage::Number(true),
        Some(to) if to.size() < 8 => Usage::Number(false),
        _ => Usage::Moved,
    }
}
