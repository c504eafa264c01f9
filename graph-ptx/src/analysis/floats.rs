//! The floats that an access moves: those of its type, or, where it moves bits, those that the bits are used as.
//!
//! Compilers that type memory accesses by size alone, as Triton's, leave the type to the arithmetic. Bits are followed
//! through moves, selections and phis, and through the packing and unpacking of vectors; shifted or masked bits are other
//! bits.

use crate::analysis::code::{Code, NONE, Place, Source, Step};
use crate::isa::Opcode;
use crate::syntax::{Instruction, Type};
use std::collections::BTreeSet;

/// At most so many values of an access are looked at.
const MOST_VALUES: usize = 256;

/// Returns the bytes of one float that the step loads, stores or updates. `None` where it moves no floats, or bits that are
/// used as floats of several widths.
pub(crate) fn width(code: &Code<'_, '_>, step: &Step<'_, '_>) -> Option<u32> {
    let instruction = step.instruction?;
    if !matches!(instruction.op(), Opcode::Ld | Opcode::Ldu | Opcode::St | Opcode::Atom | Opcode::Red) {
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

/// The value that a source is, memory aside.
fn value(source: &Source<'_>) -> Option<u32> {
    match source {
        Source::Place(Place::Value(value), _) => Some(*value),
        _ => None,
    }
}

/// Adds the widths of the floats that these values are read as.
fn used_as(code: &Code<'_, '_>, mut values: Vec<u32>, found: &mut BTreeSet<u32>) {
    let mut seen: BTreeSet<u32> = values.iter().copied().collect();
    while let Some(value) = values.pop() {
        for &user in &code.users[value as usize] {
            let step = &code.steps[user as usize];
            if !step.sources.iter().any(|source| self::value(source) == Some(value)) {
                continue; // It is the address.
            }
            found.extend(step.instruction.and_then(operands));
            if !passes_on(step) || (step.defines.len() == 1 && step.sources.len() > 1 && is_move(step)) {
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

/// Adds the widths of the floats that these values are computed as.
fn made_as(code: &Code<'_, '_>, mut values: Vec<u32>, found: &mut BTreeSet<u32>) {
    let mut seen: BTreeSet<u32> = values.iter().copied().collect();
    while let Some(next) = values.pop() {
        let Some(step) = code.steps.get(code.definitions[next as usize] as usize) else { continue };
        found.extend(step.instruction.and_then(result));
        if !passes_on(step) || (step.defines.len() > 1 && is_move(step)) {
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

fn is_move(step: &Step<'_, '_>) -> bool {
    step.instruction.is_some_and(|instruction| instruction.op() == Opcode::Mov)
}

/// Returns true if the step's results are bits of its sources, unchanged.
fn passes_on(step: &Step<'_, '_>) -> bool {
    step.instruction.is_none_or(|instruction| matches!(instruction.op(), Opcode::Mov | Opcode::Selp))
}

/// The bytes of one float of the operands, where the instruction takes floats of one type.
pub(super) fn operands(instruction: &Instruction<'_>) -> Option<u32> {
    match instruction.op() {
        Opcode::Cvt | Opcode::Set | Opcode::Setp | Opcode::St | Opcode::Atom | Opcode::Red => {
            instruction.types().next_back()?.float()
        }
        _ => arithmetic(instruction),
    }
}

/// The bytes of one float of the result, where it is one.
pub(super) fn result(instruction: &Instruction<'_>) -> Option<u32> {
    match instruction.op() {
        Opcode::Cvt => instruction.types().next()?.float(),
        Opcode::Ld | Opcode::Ldu | Opcode::Atom => instruction.types().next_back()?.float(),
        Opcode::Setp => None,
        _ => arithmetic(instruction),
    }
}

/// The bytes of one float of arithmetic, and of moves and selections, of one type.
fn arithmetic(instruction: &Instruction<'_>) -> Option<u32> {
    let listed = matches!(
        instruction.op(),
        Opcode::Add
            | Opcode::Sub
            | Opcode::Mul
            | Opcode::Fma
            | Opcode::Mad
            | Opcode::Div
            | Opcode::Min
            | Opcode::Max
            | Opcode::Abs
            | Opcode::Neg
            | Opcode::Sqrt
            | Opcode::Rsqrt
            | Opcode::Rcp
            | Opcode::Ex2
            | Opcode::Lg2
            | Opcode::Sin
            | Opcode::Cos
            | Opcode::Tanh
            | Opcode::Copysign
            | Opcode::Mov
            | Opcode::Selp
    );
    let mut types = instruction.types();
    let ty = types.next().filter(|_| listed)?;
    types.all(|other: Type| other == ty).then(|| ty.float())?
}
