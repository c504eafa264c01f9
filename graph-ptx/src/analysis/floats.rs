//! The floats that an access moves: those of its type, or, for untyped bits, of the arithmetic that uses them.
//!
//! Compilers such as Triton type memory accesses by size alone, so that the element type shows only in the arithmetic. The
//! analysis follows bits through moves, selections and phis, and through the packing and unpacking of vectors, but not
//! through shifts and masks.

use crate::analysis::code::{Code, NONE, Place, Source, Step};
use crate::analysis::effect;
use crate::isa::{self, Addresses, Arithmetic, Comparison, Operation, Selection, Yields};
use crate::syntax::{Instruction, Type};
use std::collections::BTreeSet;

/// The maximum number of values that are followed for one access.
const MOST_VALUES: usize = 256;

/// Returns the size in bytes of the floats that a step loads, stores or updates. `None` if it moves no floats, or bits that
/// are used as floats of several sizes.
pub(crate) fn width(code: &Code<'_, '_>, step: &Step<'_, '_>) -> Option<u32> {
    let instruction = step.instruction?;
    if !moves_words(instruction) {
        return None;
    }
    let ty = instruction.types().next_back()?;
    if let Some(width) = ty.float() {
        return Some(width);
    }
    let mut found = BTreeSet::new();
    used_as(code, step.defines.iter().copied().filter(|&value| value != NONE).collect(), &mut found);
    made_as(code, step.sources.iter().filter_map(value).collect(), &mut found);
    let single = found.len() == 1;
    found.first().copied().filter(|width| single && *width <= ty.size())
}

/// Returns the value of a source that is no memory operand.
fn value(source: &Source<'_>) -> Option<u32> {
    match source {
        Source::Place(Place::Value(value), _) => Some(*value),
        _ => None,
    }
}

/// Adds the sizes of the floats that these values are used as.
fn used_as(code: &Code<'_, '_>, mut values: Vec<u32>, found: &mut BTreeSet<u32>) {
    let mut seen: BTreeSet<u32> = values.iter().copied().collect();
    while let Some(value) = values.pop() {
        for &user in &code.users[value as usize] {
            let step = &code.steps[user as usize];
            if !step.sources.iter().any(|source| self::value(source) == Some(value)) {
                continue; // It is the address.
            }
            found.extend(step.instruction.and_then(operands));
            if !keeps_bits(step) || (step.defines.len() == 1 && step.sources.len() > 1 && is_move(step)) {
                continue;
            }
            for &next in step.defines.iter().filter(|&&next| next != NONE) {
                if seen.len() < MOST_VALUES && seen.insert(next) {
                    values.push(next);
                }
            }
        }
    }
}

/// Adds the sizes of the floats that these values are computed as.
fn made_as(code: &Code<'_, '_>, mut values: Vec<u32>, found: &mut BTreeSet<u32>) {
    let mut seen: BTreeSet<u32> = values.iter().copied().collect();
    while let Some(next) = values.pop() {
        let Some(step) = code.steps.get(code.definitions[next as usize] as usize) else { continue };
        found.extend(step.instruction.and_then(result));
        if !keeps_bits(step) || (step.defines.len() > 1 && is_move(step)) {
            continue;
        }
        let kept = step.keeps.iter().copied().filter(|&kept| kept != NONE);
        for source in step.sources.iter().filter_map(value).chain(kept) {
            if seen.len() < MOST_VALUES && seen.insert(source) {
                values.push(source);
            }
        }
    }
}

/// Returns true for loads, stores and updates of numbers of one type.
fn moves_words(instruction: &Instruction<'_>) -> bool {
    match isa::row(instruction.op()).addresses {
        Addresses::Load | Addresses::Store | Addresses::Update => true,
        Addresses::None
        | Addresses::Read
        | Addresses::Write
        | Addresses::Hint
        | Addresses::Multimem
        | Addresses::Copy
        | Addresses::Tensormap
        | Addresses::Wmma
        | Addresses::Unknown => false,
    }
}

fn operation(step: &Step<'_, '_>) -> Option<Operation> {
    step.instruction.map(|instruction| isa::row(instruction.op()).operation)
}

fn is_move(step: &Step<'_, '_>) -> bool {
    operation(step) == Some(Operation::Move)
}

/// Returns true if the step's results are unchanged bits of its sources.
fn keeps_bits(step: &Step<'_, '_>) -> bool {
    step.instruction.is_none()
        || matches!(operation(step), Some(Operation::Move | Operation::Selection(Selection::ByPredicate)))
}

/// The types of an operation's operands and result.
enum Types {
    /// One type for all of them.
    One,
    /// The type of the result, then that of the operand.
    Conversion,
    /// The last type is that of the operands. The result is no float.
    Comparison,
    /// Types of memory, or none that is followed.
    Others,
}

fn types(instruction: &Instruction<'_>) -> Types {
    match isa::row(instruction.op()).operation {
        Operation::Arithmetic(Arithmetic::Rem) => Types::Others,
        Operation::Arithmetic(_)
        | Operation::Float(_)
        | Operation::Move
        | Operation::Selection(Selection::ByPredicate) => Types::One,
        Operation::Convert => Types::Conversion,
        Operation::Comparison(Comparison::ToPredicate | Comparison::ToNumber) => Types::Comparison,
        Operation::None
        | Operation::Address
        | Operation::SharedAddress
        | Operation::Bitwise(_)
        | Operation::Selection(_)
        | Operation::Comparison(_)
        | Operation::Opaque(_) => Types::Others,
    }
}

/// Returns the size in bytes of the float operands, if all are floats of one type.
pub(super) fn operands(instruction: &Instruction<'_>) -> Option<u32> {
    let last = || instruction.types().next_back()?.float();
    match (types(instruction), effect::yields(instruction)) {
        (Types::One, _) => one_type(instruction),
        (Types::Conversion | Types::Comparison, _) => last(),
        // The only number that a load reads is its address.
        (Types::Others, Yields::Loaded | Yields::Fixed) => None,
        (
            Types::Others,
            Yields::Nothing
            | Yields::Computed
            | Yields::Observed
            | Yields::Exchanged
            | Yields::Voted
            | Yields::Phase
            | Yields::Returned
            | Yields::Unknown,
        ) => moves_words(instruction).then(last)?,
    }
}

/// Returns the size in bytes of the result, if it is a float.
pub(super) fn result(instruction: &Instruction<'_>) -> Option<u32> {
    match types(instruction) {
        Types::One => one_type(instruction),
        Types::Conversion => instruction.types().next()?.float(),
        Types::Comparison => None,
        Types::Others => moves_words(instruction).then(|| instruction.types().next_back()?.float())?,
    }
}

/// Returns the size in bytes of the floats of an instruction that has one type.
fn one_type(instruction: &Instruction<'_>) -> Option<u32> {
    let mut types = instruction.types();
    let ty = types.next()?;
    types.all(|other: Type| other == ty).then(|| ty.float())?
}
