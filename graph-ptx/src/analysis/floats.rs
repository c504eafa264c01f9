//! Finds the float format of the elements that an access moves, from the arithmetic on its bits.
//!
//! Compilers such as Triton type memory accesses by size only, and others move small elements in wide words of any
//! type, so that only arithmetic shows the element type. The analysis follows bytes through moves, selections and
//! phis, through packing and unpacking, and through shifts, masks and permutations of whole bytes. The type of the
//! access itself counts only if no arithmetic tells more and the access is not a vector.

use crate::analysis::code::{NONE, Referent, Source, SsaFunction, Step};
use crate::analysis::copies::{MemoryCopies, MovedRegister};
use crate::analysis::effect;
use crate::isa::{
    self, Addresses, Arithmetic, Bitwise, Comparison, Opaque, Opcode, Operation, Selection, Yields,
};
use crate::syntax::{FloatFormat, Instruction, Type, TypeClass};
use std::collections::BTreeSet;

/// The maximum number of values followed per access through registers only.
const MAX_VALUES: usize = 256;
/// The maximum number of values followed through registers, shared memory and the stack.
const MAX_COPIES: usize = 4096;

/// Returns the format of the floats that a step loads, stores or updates. `None` if it moves no floats, or if its
/// bits are used in several formats.
pub(crate) fn format(code: &SsaFunction<'_, '_>, at: u32) -> Option<FloatFormat> {
    let instruction = code.steps[at as usize].instruction?;
    let found = evidence(code, None, at).computed;
    let (bytes, width, _) = effect::sizes(instruction);
    let alone = bytes == width && moves_words(instruction);
    let typed = || instruction.types().next_back()?.float().filter(|_| alone && found.is_empty());
    only(&found).or_else(typed)
}

/// Returns the element format for bits that are used in these formats. Words of an `f64` may be used as `f32`, to
/// compare exponents; all other combinations are ambiguous.
pub(crate) fn only(found: &BTreeSet<FloatFormat>) -> Option<FloatFormat> {
    let wide = found.contains(&FloatFormat::F64).then_some(FloatFormat::F64);
    wide.or_else(|| found.first().copied().filter(|_| found.len() == 1))
}

/// The float formats in which bits are used or computed.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    /// From arithmetic.
    pub computed: BTreeSet<FloatFormat>,
    /// From moves, loads and stores, whose type may differ from that of the bits.
    pub moved: BTreeSet<FloatFormat>,
    /// True if the analysis stopped at its limit.
    pub is_cut: bool,
}

/// Returns the formats in which the bits of an access are used or computed. `copies` adds memory, if given.
pub(crate) fn evidence(code: &SsaFunction<'_, '_>, copies: Option<&MemoryCopies>, at: u32) -> Evidence {
    let mut follow = FloatWalk { code, copies, found: Evidence::default(), loaded: Vec::new() };
    let step = &code.steps[at as usize];
    let Some(instruction) = step.instruction else { return follow.found };
    let addresses = isa::row(instruction.op()).addresses;
    if addresses == Addresses::Copy {
        let loads = follow.loads(at, None, Bytes { at: 0, count: 0 });
        follow.used_as(loads);
    }
    if !moves_words(instruction) {
        return follow.found;
    }
    let (_, size, ty) = effect::sizes(instruction);
    if addresses == Addresses::Update || (addresses == Addresses::Multimem && !instruction.has("st")) {
        follow.found.computed.extend(ty.and_then(Type::float));
    }
    let whole = Bytes { at: 0, count: size };
    let loaded = step.defines.iter().copied().filter(|&value| value != NONE);
    follow.used_as(loaded.map(|value| (value, whole)).collect());
    let stored = step.sources.iter().filter_map(value);
    follow.made_as(stored.map(|value| (value, whole)).collect());
    // A loaded value that is stored has the format of its other uses.
    if follow.found.computed.is_empty() {
        let loaded = std::mem::take(&mut follow.loaded);
        follow.used_as(loaded);
    }
    follow.found
}

/// Returns the value of a source other than a memory operand.
pub(super) fn value(source: &Source<'_>) -> Option<u32> {
    match source {
        Source::Place(Referent::Value(value), _) => Some(*value).filter(|&value| value != NONE),
        _ => None,
    }
}

/// The bytes of a register that hold bits of the access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Bytes {
    at: u32,
    count: u32,
}

impl Bytes {
    /// Intersects them with a part of the register; the result is relative to the part.
    fn part(self, at: u32, count: u32) -> Option<Bytes> {
        let (from, to) = (self.at.max(at), (self.at + self.count).min(at + count));
        (from < to).then(|| Bytes { at: from - at, count: to - from })
    }

    fn up(self, by: u32) -> Bytes {
        Bytes { at: self.at + by, count: self.count }
    }

    /// Returns the float format of these bytes in a register that an instruction reads or writes as floats of
    /// `format`.
    fn float(self, format: FloatFormat) -> Option<FloatFormat> {
        let size = format.size();
        let floats = self.count >= size && self.at.is_multiple_of(size);
        // The upper half of an `f32` is a `bf16`.
        let half = format == FloatFormat::F32 && (self.at, self.count) == (2, 2);
        if floats { Some(format) } else { half.then_some(FloatFormat::Bf16) }
    }

    /// Returns the positions that they may have in a register of `to` bytes, loaded from the location of a store of
    /// `from` bytes.
    fn reloaded(self, from: u32, to: u32) -> Vec<Bytes> {
        match from.cmp(&to) {
            std::cmp::Ordering::Equal => vec![self],
            std::cmp::Ordering::Less => (0..to / from.max(1)).map(|part| self.up(part * from)).collect(),
            std::cmp::Ordering::Greater => {
                let mut parts: Vec<Bytes> =
                    (0..from / to.max(1)).filter_map(|part| self.part(part * to, to)).collect();
                parts.dedup();
                parts
            }
        }
    }
}

/// The part of a register that a step copies into another.
#[derive(Clone, Copy)]
struct Copied {
    /// Indices into the sources and the results of the step.
    source: usize,
    result: usize,
    from: Bytes,
    to: u32,
}

/// The values to follow, each once.
struct Worklist {
    open: Vec<(u32, Bytes)>,
    seen: BTreeSet<(u32, Bytes)>,
    most: usize,
    is_cut: bool,
}

impl Worklist {
    fn add(&mut self, value: u32, bytes: Bytes) {
        if value == NONE || self.seen.contains(&(value, bytes)) {
            return;
        }
        if self.seen.len() >= self.most {
            self.is_cut = true;
            return;
        }
        self.seen.insert((value, bytes));
        self.open.push((value, bytes));
    }
}

struct FloatWalk<'c, 'm, 'a> {
    code: &'c SsaFunction<'m, 'a>,
    copies: Option<&'c MemoryCopies>,
    found: Evidence,
    /// The followed values that are loaded.
    loaded: Vec<(u32, Bytes)>,
}

impl FloatWalk<'_, '_, '_> {
    /// Adds the format of an operand or result that contains these bytes.
    fn add(&mut self, instruction: &Instruction<'_>, format: Option<FloatFormat>, bytes: Bytes) {
        let formats = if only_moves(instruction) { &mut self.found.moved } else { &mut self.found.computed };
        formats.extend(format.and_then(|format| bytes.float(format)));
    }

    /// Visits values until the worklist is empty; `step` may add others.
    fn all(&mut self, first: Vec<(u32, Bytes)>, step: impl Fn(&mut Self, &mut Worklist, u32, Bytes)) {
        let most = if self.copies.is_some() { MAX_COPIES } else { MAX_VALUES };
        let mut values = Worklist { open: Vec::new(), seen: BTreeSet::new(), most, is_cut: false };
        first.into_iter().for_each(|(value, bytes)| values.add(value, bytes));
        while let Some((value, bytes)) = values.open.pop() {
            step(self, &mut values, value, bytes);
        }
        self.found.is_cut |= values.is_cut;
    }

    /// Adds the formats in which these values are used.
    fn used_as(&mut self, first: Vec<(u32, Bytes)>) {
        self.all(first, |follow, values, value, bytes| {
            for &user in &follow.code.users[value as usize] {
                follow.used_by(values, value, bytes, user);
            }
        });
    }

    /// Adds the formats in which a step uses a value.
    fn used_by(&mut self, values: &mut Worklist, value: u32, bytes: Bytes, user: u32) {
        let step = &self.code.steps[user as usize];
        let kept = step.keeps.contains(&value);
        if !kept && !step.sources.iter().any(|source| self::value(source) == Some(value)) {
            return; // It is the address.
        }
        if let Some(instruction) = step.instruction {
            self.add(instruction, operands(instruction), bytes);
        }
        self.hints(step, bytes);
        for copied in copies(step) {
            if step.sources.get(copied.source).and_then(self::value) == Some(value)
                && let Some(part) = bytes.part(copied.from.at, copied.from.count)
            {
                values.add(step.defines[copied.result], part.up(copied.to));
            }
        }
        step.defines.iter().filter(|_| kept).for_each(|&defined| values.add(defined, bytes));
        let loads = self.loads(user, Some(value), bytes);
        loads.into_iter().for_each(|(loaded, part)| values.add(loaded, part));
    }

    /// Adds the formats in which these values are computed.
    fn made_as(&mut self, first: Vec<(u32, Bytes)>) {
        self.all(first, |follow, values, value, bytes| {
            let Some(at) = follow.code.defining(value) else { return };
            let step = &follow.code.steps[at as usize];
            if let Some(instruction) = step.instruction {
                follow.add(instruction, result(instruction), bytes);
            }
            follow.hints(step, bytes);
            for copied in copies(step) {
                let part =
                    bytes.part(copied.to, copied.from.count).filter(|_| step.defines[copied.result] == value);
                if let (Some(Some(source)), Some(part)) =
                    (step.sources.get(copied.source).map(self::value), part)
                {
                    values.add(source, part.up(copied.from.at));
                }
            }
            step.keeps.iter().for_each(|&kept| values.add(kept, bytes));
            let stores = follow.stores(at, value, bytes);
            stores.into_iter().for_each(|(stored, part)| values.add(stored, part));
        });
    }

    /// Adds formats that a step suggests without arithmetic: it fills the lower half of a register with zeros, or
    /// changes signs.
    fn hints(&mut self, step: &Step<'_, '_>, bytes: Bytes) {
        if is_behind_zeros(step) && bytes.count == 2 {
            self.found.moved.insert(FloatFormat::Bf16);
        }
        let formats: &[FloatFormat] = match negated(step) {
            Some(8) => &[FloatFormat::F64],
            Some(4) => &[FloatFormat::F32],
            Some(2) => &[FloatFormat::F16, FloatFormat::Bf16],
            _ => return,
        };
        self.found.moved.extend(formats);
    }

    /// Returns the registers loaded from the location to which a step stores these bytes, or to which it copies.
    fn loads(&mut self, at: u32, stored: Option<u32>, bytes: Bytes) -> Vec<(u32, Bytes)> {
        let (Some(copies), Some(instruction)) = (self.copies, self.code.steps[at as usize].instruction)
        else {
            return Vec::new();
        };
        let found: Vec<MovedRegister> = copies.loads(self.code, at, stored).collect();
        if stored.is_none() || found.iter().any(MovedRegister::is_shared) {
            let matrices = copies.matrices.iter().map(|&matrix| self.code.steps[matrix as usize].instruction);
            self.found.computed.extend(matrices.flatten().filter_map(operands));
        }
        let (_, from, _) = effect::sizes(instruction);
        let places = |load: &MovedRegister| match stored {
            Some(_) => bytes.reloaded(from, load.width),
            None => vec![Bytes { at: 0, count: load.width }],
        };
        found.iter().flat_map(|load| places(load).into_iter().map(|part| (load.value, part))).collect()
    }

    /// Returns the registers stored to the location from which a step loads these bytes.
    fn stores(&mut self, at: u32, loaded: u32, bytes: Bytes) -> Vec<(u32, Bytes)> {
        let (Some(copies), Some(instruction)) = (self.copies, self.code.steps[at as usize].instruction)
        else {
            return Vec::new();
        };
        if !(instruction.op() == Opcode::Ld || isa::row(instruction.op()).addresses == Addresses::Read) {
            return Vec::new();
        }
        self.loaded.push((loaded, bytes));
        let (_, to, _) = effect::sizes(instruction);
        let places = |store: &MovedRegister| bytes.reloaded(to, store.width);
        let found = copies.stores(self.code, at, loaded);
        found.flat_map(|store| places(&store).into_iter().map(move |part| (store.value, part))).collect()
    }
}

/// Returns the size of the floats whose signs a step changes, if it is an `xor` with sign bits.
fn negated(step: &Step<'_, '_>) -> Option<u32> {
    let instruction = step.instruction?;
    let is_xor = isa::row(instruction.op()).operation == Operation::Bitwise(Bitwise::Xor);
    let signs = step.sources.iter().find_map(|source| match source {
        Source::Constant(signs) if is_xor => Some(*signs as u64),
        _ => None,
    })?;
    signs_of(signs, instruction.types().next_back()?.size())
}

/// Returns the size of the floats whose sign bits these are, among floats that fill `bytes` bytes.
fn signs_of(bits: u64, bytes: u32) -> Option<u32> {
    let bits = if bytes < 8 { bits & ((1 << (8 * bytes)) - 1) } else { bits };
    [2, 4, 8].into_iter().filter(|&size| size <= bytes).find(|size| {
        (0..bytes / size).map(|float| 1_u64 << (8 * size * (float + 1) - 1)).sum::<u64>() == bits
    })
}

/// Returns true if a step packs a register with zeros in the low half, which shifts the other half left.
pub(super) fn is_behind_zeros(step: &Step<'_, '_>) -> bool {
    let packs = step.instruction.is_some_and(|found| isa::row(found.op()).operation == Operation::Move);
    packs && step.defines.len() == 1 && matches!(step.sources[..], [Source::Constant(0), _])
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
        (Operation::Move | Operation::Opaque(Opaque::Shuffle), _) => all(size, 0..1),
        (Operation::Selection(Selection::ByPredicate), _) => all(size, 0..2),
        (Operation::Convert, _) if instruction.types().all(|ty| ty.class() != TypeClass::Float) => {
            all(sizes().min().unwrap_or(0), 0..1)
        }
        // Words assembled from parts of others and zeros.
        (Operation::Bitwise(Bitwise::Or), _) => all(size, 0..2),
        (Operation::Bitwise(Bitwise::Xor), _) if negated(step).is_some() => all(size, 0..2),
        (Operation::Bitwise(Bitwise::And), _)
            if (0..2).filter_map(constant).any(|mask| signs_of(!mask, size).is_some()) =>
        {
            all(size, 0..2)
        }
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

/// Returns the bytes that a mask selects, if its ones form one run of whole bytes.
fn ones(mask: u64, size: u32) -> Option<Bytes> {
    let mask = if size < 8 { mask & ((1 << (8 * size)) - 1) } else { mask };
    let (low, high) = (mask.trailing_zeros(), 64 - mask.leading_zeros());
    let whole = mask != 0 && low % 8 == 0 && high % 8 == 0 && mask.count_ones() == high - low;
    whole.then(|| Bytes { at: low / 8, count: (high - low) / 8 })
}

/// Returns the runs of bytes that a permutation with these selectors copies.
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

/// Returns true for an instruction that moves floats without computing any.
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
        Addresses::Load | Addresses::Store | Addresses::Update | Addresses::Multimem => true,
        Addresses::None
        | Addresses::Read
        | Addresses::Write
        | Addresses::Hint
        | Addresses::Copy
        | Addresses::Tensormap
        | Addresses::Wmma
        | Addresses::Unknown => false,
    }
}

/// The role of an instruction's types.
enum Types {
    /// One type for the operands and the result.
    One,
    /// The type of the result, then the type of the operand.
    Conversion,
    /// The last type is that of the operands; the result is not a float.
    Comparison,
    /// Types of memory, or none that the analysis follows.
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

/// Returns the format of the float operands, if all have one type; for a matrix product, the format of the factors.
fn operands(instruction: &Instruction<'_>) -> Option<FloatFormat> {
    let row = isa::row(instruction.op());
    let last = || instruction.types().next_back()?.float();
    if row.operation == Operation::Opaque(Opaque::MatrixProduct) {
        return instruction.types().nth(1)?.float();
    }
    if row.addresses == Addresses::Wmma {
        return last();
    }
    match (types(instruction), effect::yields(instruction)) {
        (Types::One, _) => one_type(instruction),
        (Types::Conversion | Types::Comparison, _) => last(),
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

/// Returns the format of a float result; for a matrix product, the format of the sum.
fn result(instruction: &Instruction<'_>) -> Option<FloatFormat> {
    let row = isa::row(instruction.op());
    if row.operation == Operation::Opaque(Opaque::MatrixProduct) || row.addresses == Addresses::Wmma {
        return instruction.types().next()?.float();
    }
    match types(instruction) {
        Types::One => one_type(instruction),
        Types::Conversion => instruction.types().next()?.float(),
        Types::Comparison => None,
        Types::Others => moves_words(instruction).then(|| instruction.types().next_back()?.float())?,
    }
}

/// Returns the float format of an instruction with a single type.
fn one_type(instruction: &Instruction<'_>) -> Option<FloatFormat> {
    let mut types = instruction.types();
    let ty = types.next()?;
    types.all(|other: Type| other == ty).then(|| ty.float())?
}

#[cfg(test)]
mod tests;
