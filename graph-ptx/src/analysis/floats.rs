//! The floats that an access moves: those of the arithmetic that its bits take part in.
//!
//! Compilers such as Triton type memory accesses by size alone, and others move small elements in wide words of any
//! type, so that the element type shows only in the arithmetic. The analysis follows bytes through moves, selections
//! and phis, through packed and unpacked registers, and through shifts, masks and permutations by whole bytes. The
//! type of an access counts where no arithmetic tells more, unless it is one of a vector.

use crate::analysis::code::{Code, NONE, Place, Source, Step};
use crate::analysis::effect;
use crate::isa::{self, Addresses, Arithmetic, Bitwise, Comparison, Operation, Selection, Yields};
use crate::syntax::{Class, Instruction, Type};
use std::collections::BTreeSet;

/// The maximum number of values that are followed for one access.
const MOST_VALUES: usize = 256;

/// Returns the size in bytes of the floats that a step loads, stores or updates. `None` if it moves no floats, or bits that
/// are used as floats of several sizes.
pub(crate) fn width(code: &Code<'_, '_>, step: &Step<'_, '_>) -> Option<u32> {
    let instruction = step.instruction?;
    let found = evidence(code, step);
    if let (Some(&width), 1) = (found.first(), found.len()) {
        return Some(width);
    }
    let (bytes, width, _) = effect::sizes(instruction);
    let alone = bytes == width && moves_words(instruction);
    instruction.types().next_back()?.float().filter(|_| alone && found.is_empty())
}

/// Returns the sizes in bytes of the floats that the bits of a load, store or update are used as, or computed as.
pub(crate) fn evidence(code: &Code<'_, '_>, step: &Step<'_, '_>) -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    let Some(instruction) = step.instruction.filter(|instruction| moves_words(instruction)) else {
        return found;
    };
    let (_, size, ty) = effect::sizes(instruction);
    if isa::row(instruction.op()).addresses == Addresses::Update {
        found.extend(ty.and_then(Type::float));
    }
    let whole = Bytes { at: 0, count: size };
    let loaded = step.defines.iter().copied().filter(|&value| value != NONE);
    used_as(code, loaded.map(|value| (value, whole)).collect(), &mut found);
    let stored = step.sources.iter().filter_map(value);
    made_as(code, stored.map(|value| (value, whole)).collect(), &mut found);
    found
}

/// Returns the value of a source that is no memory operand.
fn value(source: &Source<'_>) -> Option<u32> {
    match source {
        Source::Place(Place::Value(value), _) => Some(*value).filter(|&value| value != NONE),
        _ => None,
    }
}

/// The bytes of a register that an access moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Bytes {
    at: u32,
    count: u32,
}

impl Bytes {
    /// Returns those of them in a part of the register, as bytes of a register that holds the part.
    fn part(self, at: u32, count: u32) -> Option<Bytes> {
        let (from, to) = (self.at.max(at), (self.at + self.count).min(at + count));
        (from < to).then(|| Bytes { at: from - at, count: to - from })
    }

    fn up(self, by: u32) -> Bytes {
        Bytes { at: self.at + by, count: self.count }
    }

    /// Returns the size of the floats in them, if the register is an operand or a result of floats of this size.
    fn float(self, size: u32) -> Option<u32> {
        let floats = self.count >= size && self.at.is_multiple_of(size);
        // The upper half of a `f32` is a `bf16`.
        let half = size == 4 && (self.at, self.count) == (2, 2);
        if floats { Some(size) } else { half.then_some(2) }
    }
}

/// A part of a register that a step copies to a place in another.
#[derive(Clone, Copy)]
struct Copied {
    /// The source, by its position, and the result, by its position.
    source: usize,
    result: usize,
    from: Bytes,
    to: u32,
}

/// Adds the sizes of the floats that these values are used as.
fn used_as(code: &Code<'_, '_>, mut values: Vec<(u32, Bytes)>, found: &mut BTreeSet<u32>) {
    let mut seen: BTreeSet<(u32, Bytes)> = values.iter().copied().collect();
    while let Some((value, bytes)) = values.pop() {
        for &user in &code.users[value as usize] {
            let step = &code.steps[user as usize];
            let kept = step.keeps.contains(&value);
            if !kept && !step.sources.iter().any(|source| self::value(source) == Some(value)) {
                continue; // It is the address.
            }
            found.extend(step.instruction.and_then(computes).and_then(|size| bytes.float(size)));
            for copied in copies(step) {
                if step.sources.get(copied.source).and_then(self::value) != Some(value) {
                    continue;
                }
                let Some(part) = bytes.part(copied.from.at, copied.from.count) else { continue };
                let next = (step.defines[copied.result], part.up(copied.to));
                if next.0 != NONE && seen.len() < MOST_VALUES && seen.insert(next) {
                    values.push(next);
                }
            }
            for &next in step.defines.iter().filter(|&&next| kept && next != NONE) {
                if seen.len() < MOST_VALUES && seen.insert((next, bytes)) {
                    values.push((next, bytes));
                }
            }
        }
    }
}

/// Adds the sizes of the floats that these values are computed as.
fn made_as(code: &Code<'_, '_>, mut values: Vec<(u32, Bytes)>, found: &mut BTreeSet<u32>) {
    let mut seen: BTreeSet<(u32, Bytes)> = values.iter().copied().collect();
    while let Some((value, bytes)) = values.pop() {
        let Some(step) = code.defining(value).map(|at| &code.steps[at as usize]) else { continue };
        found.extend(step.instruction.and_then(computed).and_then(|size| bytes.float(size)));
        let mut next = |entry: (u32, Bytes)| {
            if seen.len() < MOST_VALUES && seen.insert(entry) {
                values.push(entry);
            }
        };
        for copied in copies(step) {
            let source = step.sources.get(copied.source).and_then(self::value);
            let part =
                bytes.part(copied.to, copied.from.count).filter(|_| step.defines[copied.result] == value);
            if let (Some(source), Some(part)) = (source, part) {
                next((source, part.up(copied.from.at)));
            }
        }
        step.keeps.iter().filter(|&&kept| kept != NONE).for_each(|&kept| next((kept, bytes)));
    }
}

/// Returns the bytes that a step copies from its sources to its results.
fn copies(step: &Step<'_, '_>) -> Vec<Copied> {
    let all = |count: u32, sources: std::ops::Range<usize>| -> Vec<Copied> {
        let from = Bytes { at: 0, count };
        sources.map(|source| Copied { source, result: 0, from, to: 0 }).collect()
    };
    let Some(instruction) = step.instruction else { return all(16, 0..step.sources.len()) };
    let sizes = || instruction.types().map(Type::size);
    let size = sizes().next_back().unwrap_or(0);
    let constant = |at: usize| match step.sources.get(at) {
        Some(Source::Constant(value)) => Some(*value as u64),
        _ => None,
    };
    match (isa::row(instruction.op()).operation, step.sources.len()) {
        (Operation::Move, sources) if sources * step.defines.len() > 1 => {
            // A register in pieces, or of pieces.
            let (pieces, count) =
                (step.defines.len().max(sources), size / step.defines.len().max(sources) as u32);
            let piece = |at: usize| {
                let place = count * at as u32;
                match sources {
                    1 => Copied { source: 0, result: at, from: Bytes { at: place, count }, to: 0 },
                    _ => Copied { source: at, result: 0, from: Bytes { at: 0, count }, to: place },
                }
            };
            (0..pieces).map(piece).collect()
        }
        (Operation::Move, _) => all(size, 0..1),
        (Operation::Selection(Selection::ByPredicate), _) => all(size, 0..2),
        (Operation::Convert, _) if instruction.types().all(|ty| ty.class() != Class::Float) => {
            all(sizes().min().unwrap_or(0), 0..1)
        }
        // Words are made of parts of others, and zeros.
        (Operation::Bitwise(Bitwise::Or), _) => all(size, 0..2),
        (Operation::Bitwise(Bitwise::And), _) => {
            let masks = (0..2).filter_map(|at| Some((1 - at, ones(constant(at)?, size)?)));
            masks.map(|(source, from)| Copied { source, result: 0, from, to: from.at }).collect()
        }
        (Operation::Bitwise(which @ (Bitwise::Shl | Bitwise::Shr)), _) => {
            let by = constant(1).filter(|by| by % 8 == 0 && *by < u64::from(8 * size));
            let Some(by) = by.map(|by| by as u32 / 8) else { return Vec::new() };
            let (at, to) = if which == Bitwise::Shl { (0, by) } else { (by, 0) };
            vec![Copied { source: 0, result: 0, from: Bytes { at, count: size - by }, to }]
        }
        (Operation::Bitwise(Bitwise::Permute), 3) => constant(2).map_or_else(Vec::new, permuted),
        _ => Vec::new(),
    }
}

/// Returns the bytes of a mask, if its ones are whole bytes in sequence.
fn ones(mask: u64, size: u32) -> Option<Bytes> {
    let mask = if size < 8 { mask & ((1 << (8 * size)) - 1) } else { mask };
    let (low, high) = (mask.trailing_zeros(), 64 - mask.leading_zeros());
    let whole = mask != 0 && low % 8 == 0 && high % 8 == 0 && mask.count_ones() == high - low;
    whole.then(|| Bytes { at: low / 8, count: (high - low) / 8 })
}

/// Returns the pairs and runs of bytes that a permutation with these selectors copies.
fn permuted(selectors: u64) -> Vec<Copied> {
    let selector = |to: u32| (selectors >> (4 * to)) as u32 & 0xf;
    let mut found: Vec<Copied> = Vec::new();
    for to in (0..4).filter(|&to| selector(to) < 8) {
        let (source, at) = (selector(to) as usize / 4, selector(to) % 4);
        match found.last_mut() {
            Some(last)
                if last.source == source
                    && last.from.at + last.from.count == at
                    && last.to + last.from.count == to =>
            {
                last.from.count += 1;
            }
            _ => found.push(Copied { source, result: 0, from: Bytes { at, count: 1 }, to }),
        }
    }
    found
}

/// Returns the size in bytes of the floats that an instruction computes with. Moves, loads and stores do not.
fn computes(instruction: &Instruction<'_>) -> Option<u32> {
    operands(instruction).filter(|_| !only_moves(instruction))
}

/// Returns the size in bytes of the floats that an instruction computes.
fn computed(instruction: &Instruction<'_>) -> Option<u32> {
    result(instruction).filter(|_| !only_moves(instruction))
}

fn only_moves(instruction: &Instruction<'_>) -> bool {
    let row = isa::row(instruction.op());
    match row.operation {
        Operation::Move | Operation::Selection(Selection::ByPredicate) => true,
        _ => matches!(row.addresses, Addresses::Load | Addresses::Store),
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

#[cfg(test)]
mod tests;
