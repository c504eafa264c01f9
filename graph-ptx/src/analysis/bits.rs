//! Known-bits analysis of stored values: proves that booleans stay booleans.
//!
//! Input: a store or a value of an [`SsaFunction`]. Output: the bits that may be 1 and those that must be. The analysis
//! walks backward over definitions, with a fixpoint over the low zeros of phis. It assumes that bytes loaded through a
//! pointer parameter, or from a parameter of one byte, are 0 or 1; the result names the parameters of these
//! assumptions.

use crate::analysis::code::{NONE, Referent, Source, SsaFunction, Step};
use crate::analysis::effect;
use crate::isa::{
    self, Arithmetic, Bitwise, Opcode, Operation, Selection, ThreadRelation, register, unfollowed,
};
use crate::syntax::Instruction;
use std::collections::{BTreeMap, BTreeSet};

/// The maximum depth and number of values of an expression; larger ones are unknown.
const MAX_DEPTH: u32 = 32;
const MAX_VALUES: u32 = 128;

/// The maximum number of low zeros that callers use.
const MAX_ZEROS: u32 = 16;

/// The mask of a word whose bytes are all 0 or 1.
const BOOLEANS: u64 = 0x0101_0101_0101_0101;

/// The possible bits of a stored value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredBits {
    /// The size in bytes.
    pub width: u32,
    /// The bits that may be 1.
    pub may: u64,
    /// The bits that must be 1.
    pub must: u64,
    /// The parameters whose bytes are assumed to be 0 or 1.
    pub of: BTreeSet<u32>,
}

impl StoredBits {
    /// Returns true if every byte is 0 or 1, given the assumptions.
    pub fn is_boolean(&self) -> bool {
        self.may & !BOOLEANS == 0
    }

    /// Returns true if some byte is definitely neither 0 nor 1.
    pub fn is_not_boolean(&self) -> bool {
        self.must & !BOOLEANS != 0
    }
}

/// Returns the values that a step stores; one unknown value if it is not an `st`. `through` returns the pointer
/// parameter of a load.
pub(crate) fn stored(
    code: &SsaFunction<'_, '_>,
    step: u32,
    through: &dyn Fn(u32) -> Option<u32>,
) -> Vec<StoredBits> {
    let step = &code.steps[step as usize];
    let unknown = |width| StoredBits { width, may: u64::MAX, must: 0, of: BTreeSet::new() };
    let Some(instruction) = step.instruction.filter(|found| found.op() == Opcode::St) else {
        return vec![unknown(0)];
    };
    let (_, width, _) = effect::sizes(instruction);
    let data = step.sources.iter().filter(|source| !matches!(source, Source::Memory(..)));
    data.map(|source| {
        if width > 8 {
            return unknown(width);
        }
        let mut known = BitAnalysis::new(code, through);
        let bits = known.source(source, 0).narrow(width);
        StoredBits { width, may: bits.may, must: bits.must, of: known.of }
    })
    .collect()
}

/// Returns a power of two that divides a value, and one that divides the value without the thread index that it adds.
pub(crate) fn multiple(code: &SsaFunction<'_, '_>, value: u32) -> (u32, u32) {
    let of = |value: u32| {
        let mut known = BitAnalysis::new(code, &|_| None);
        let zeros = known.value(value, 0).zeros().min(MAX_ZEROS);
        if known.of.is_empty() { 1 << zeros } else { 1 }
    };
    let multiple = of(value);
    // Matches `blockIdx.x * 32 + threadIdx.x`.
    let step = code.defining(value).map(|at| &code.steps[at as usize]);
    let tile = step.and_then(|step| {
        let operation = step.instruction.map(|instruction| isa::row(instruction.op()).operation);
        let [Source::Place(Referent::Value(a), 0), Source::Place(Referent::Value(b), 0)] = step.sources[..]
        else {
            return None;
        };
        let adds = operation == Some(Operation::Arithmetic(Arithmetic::Add));
        let block =
            if is_thread_index(code, b) { a } else { Some(b).filter(|_| is_thread_index(code, a))? };
        adds.then(|| of(block))
    });
    (multiple, tile.unwrap_or(1).max(multiple))
}

/// Returns true if no bit can be 1 in both sources.
pub(crate) fn are_disjoint<'a>(code: &SsaFunction<'_, 'a>, a: &Source<'a>, b: &Source<'a>) -> bool {
    let mut known = BitAnalysis::new(code, &|_| None);
    let (a, b) = (known.source(a, 0), known.source(b, 0));
    known.of.is_empty() && a.may & b.may == 0
}

/// Returns true for `%tid.x`, `%tid.y` and `%tid.z`.
fn is_thread_index(code: &SsaFunction<'_, '_>, value: u32) -> bool {
    let step = code.defining(value).map(|at| &code.steps[at as usize]);
    step.is_some_and(|step| match step.sources[..] {
        [Source::Special(name)] => {
            register(name).is_some_and(|found| found.threads() == ThreadRelation::ThreadIndex)
        }
        _ => false,
    })
}

/// The bits of a value that may be 1 and those that must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bits {
    may: u64,
    must: u64,
}

impl Bits {
    const ANY: Bits = Bits { may: u64::MAX, must: 0 };

    fn may(may: u64) -> Bits {
        Bits { may, must: 0 }
    }

    fn shifted_left(self, by: u32) -> Bits {
        Bits { may: self.may << by, must: self.must << by }
    }

    fn shifted_right(self, by: u32) -> Bits {
        Bits { may: self.may >> by, must: self.must >> by }
    }

    /// Returns the bits of a permutation of these bytes.
    fn permuted(may: u64) -> Bits {
        let byte = (0..4).fold(0, |byte, nth| byte | ((may >> (8 * nth)) & 0xff));
        Bits::may(byte * 0x0101_0101)
    }

    fn narrow(self, bytes: u32) -> Bits {
        let mask = mask(bytes);
        Bits { may: self.may & mask, must: self.must & mask }
    }

    fn either(self, other: Bits) -> Bits {
        Bits { may: self.may | other.may, must: self.must & other.must }
    }

    fn constant(self) -> Option<u64> {
        (self.may == self.must).then_some(self.may)
    }

    /// Returns the sum if no carry can occur; otherwise the common low zeros.
    fn plus(self, other: Bits) -> Bits {
        match self.may & other.may {
            0 => Bits { may: self.may | other.may, must: self.must | other.must },
            _ => Bits::may(above(self.zeros().min(other.zeros()))),
        }
    }

    /// Returns the number of low bits known to be 0.
    fn zeros(self) -> u32 {
        self.may.trailing_zeros()
    }

    /// Returns the product for constants and for a factor of 0 or 1; otherwise the low zeros of the product.
    fn times(self, other: Bits) -> Bits {
        match (self.constant(), other.constant()) {
            (Some(a), Some(b)) => {
                let product = a.wrapping_mul(b);
                Bits { may: product, must: product }
            }
            _ if self.may <= 1 => Bits::may(other.may),
            _ if other.may <= 1 => Bits::may(self.may),
            _ => Bits::may(above(self.zeros() + other.zeros())),
        }
    }
}

/// Returns the mask without the lowest `zeros` bits.
fn above(zeros: u32) -> u64 {
    u64::MAX.checked_shl(zeros).unwrap_or(0)
}

fn mask(bytes: u32) -> u64 {
    if bytes >= 8 { u64::MAX } else { (1 << (8 * bytes)) - 1 }
}

struct BitAnalysis<'k, 'm, 'a> {
    code: &'k SsaFunction<'m, 'a>,
    through: &'k dyn Fn(u32) -> Option<u32>,
    of: BTreeSet<u32>,
    nodes: u32,
    /// The low zeros assumed for phis whose sources are being evaluated.
    assumed: BTreeMap<u32, u32>,
    /// True if an assumption was used.
    circular: bool,
}

impl<'k, 'm, 'a> BitAnalysis<'k, 'm, 'a> {
    fn new(code: &'k SsaFunction<'m, 'a>, through: &'k dyn Fn(u32) -> Option<u32>) -> Self {
        BitAnalysis {
            code,
            through,
            of: BTreeSet::new(),
            nodes: 0,
            assumed: BTreeMap::new(),
            circular: false,
        }
    }

    fn source(&mut self, source: &Source<'a>, depth: u32) -> Bits {
        match source {
            Source::Constant(value) => Bits { may: *value as u64, must: *value as u64 },
            Source::Place(Referent::Value(value), 0) if *value != NONE => self.value(*value, depth + 1),
            _ => Bits::ANY,
        }
    }

    fn value(&mut self, value: u32, depth: u32) -> Bits {
        self.nodes += 1;
        if let Some(&zeros) = self.assumed.get(&value) {
            self.circular = true;
            return Bits::may(above(zeros));
        }
        let defining = self.code.defining(value).filter(|_| !self.code.undefined[value as usize]);
        let (Some(at), true) = (defining, depth <= MAX_DEPTH && self.nodes <= MAX_VALUES) else {
            return Bits::ANY;
        };
        let step = &self.code.steps[at as usize];
        let Some(instruction) = step.instruction else {
            return self.joined(step, value, depth);
        };
        let mut bits = match step.defines.len() {
            1 => self.operation(step, instruction, at, depth),
            _ => self.part(step, instruction, at, value, depth),
        };
        for &kept in step.keeps.iter().filter(|&&kept| kept != NONE) {
            bits = bits.either(self.value(kept, depth + 1));
        }
        bits
    }

    /// Returns the bits of a phi. A fixpoint over its low zeros: zeros that all sources have if the phi has them hold
    /// in each iteration of a loop.
    fn joined(&mut self, step: &Step<'_, 'a>, value: u32, depth: u32) -> Bits {
        let mut zeros = MAX_ZEROS;
        let before = std::mem::take(&mut self.circular);
        loop {
            self.assumed.insert(value, zeros);
            let sources = step.sources.iter();
            let bits =
                sources.map(|source| self.source(source, depth)).reduce(Bits::either).unwrap_or(Bits::ANY);
            self.assumed.remove(&value);
            if bits.zeros() >= zeros || !self.circular {
                self.circular |= before;
                return bits;
            }
            zeros = bits.zeros();
        }
    }

    /// Returns the bits of one of several results: a lane of a load, or a part of a register.
    fn part(
        &mut self,
        step: &Step<'_, 'a>,
        instruction: &Instruction<'a>,
        at: u32,
        value: u32,
        depth: u32,
    ) -> Bits {
        let place = step.defines.iter().position(|&defined| defined == value).unwrap_or(0);
        let size = instruction.types().next_back().map_or(8, |ty| ty.size());
        if instruction.op() == Opcode::Ld {
            return self.loaded(step, at, size);
        }
        let [whole] = &step.sources[..] else { return Bits::ANY };
        if isa::row(instruction.op()).operation != Operation::Move {
            return Bits::ANY;
        }
        let bytes = size / step.defines.len() as u32;
        let Bits { may, must } = self.source(whole, depth);
        let by = 8 * bytes * place as u32;
        Bits { may: may.checked_shr(by).unwrap_or(0), must: must.checked_shr(by).unwrap_or(0) }.narrow(bytes)
    }

    /// Returns the bits of a loaded value.
    fn loaded(&mut self, step: &Step<'_, 'a>, at: u32, size: u32) -> Bits {
        let value = match step.sources[..] {
            [Source::Memory(Referent::Parameter(parameter), 0)] => {
                let declared = self.code.function.parameters.get(parameter as usize);
                declared.filter(|declared| declared.size() == 1).map(|_| parameter)
            }
            _ => (self.through)(at),
        };
        match value {
            Some(parameter) => {
                self.of.insert(parameter);
                Bits::may(BOOLEANS).narrow(size)
            }
            None => Bits::ANY,
        }
    }

    fn operation(&mut self, step: &Step<'_, 'a>, instruction: &Instruction<'a>, at: u32, depth: u32) -> Bits {
        let size = instruction.types().next_back().map_or(8, |ty| ty.size());
        let sources = &step.sources[..];
        let mut of = |nth: usize| match sources.get(nth) {
            Some(source) => self.source(source, depth).narrow(size),
            None => Bits::ANY,
        };
        let by = |source: Option<&Source<'_>>| match source {
            Some(Source::Constant(by)) => u32::try_from(*by).ok().filter(|by| *by < 8 * size),
            _ => None,
        };
        if instruction.op() == Opcode::Ld {
            return self.loaded(step, at, size).narrow(size);
        }
        let bits = match (isa::row(instruction.op()).operation, sources.len()) {
            (Operation::Move, 1) => of(0),
            (Operation::Move, count) => {
                let bytes = size / count as u32;
                let pieces = (0..count).map(|nth| of(nth).narrow(bytes).shifted_left(8 * bytes * nth as u32));
                pieces.fold(Bits::may(0), Bits::plus)
            }
            (Operation::Selection(Selection::ByPredicate), 3) => of(0).either(of(1)),
            (Operation::Bitwise(Bitwise::And), 2) => {
                let (a, b) = (of(0), of(1));
                Bits { may: a.may & b.may, must: a.must & b.must }
            }
            (Operation::Bitwise(Bitwise::Or), 2) => {
                let (a, b) = (of(0), of(1));
                Bits { may: a.may | b.may, must: a.must | b.must }
            }
            (Operation::Bitwise(Bitwise::Xor), 2) => Bits::may(of(0).may | of(1).may),
            (Operation::Bitwise(Bitwise::Logic3), 4) if matches!(sources[3], Source::Constant(table) if table & 1 == 0) => {
                Bits::may(of(0).may | of(1).may | of(2).may)
            }
            (Operation::Arithmetic(Arithmetic::Add), 2) => of(0).plus(of(1)),
            (Operation::Arithmetic(Arithmetic::Mul), 2) if instruction.has("lo") => of(0).times(of(1)),
            (Operation::Arithmetic(Arithmetic::Mad), 3) if instruction.has("lo") => {
                of(0).times(of(1)).plus(of(2))
            }
            (Operation::Arithmetic(Arithmetic::Min), 2) if is_unsigned(instruction) => {
                let least = of(0).may.min(of(1).may);
                Bits::may(u64::MAX.checked_shr(least.leading_zeros()).unwrap_or(0))
            }
            (Operation::Bitwise(Bitwise::Shl), 2) => match by(sources.get(1)) {
                Some(by) => of(0).shifted_left(by),
                None => Bits::ANY,
            },
            (Operation::Bitwise(Bitwise::Shr), 2) => match by(sources.get(1)) {
                Some(by) if is_unsigned(instruction) || of(0).may >> (8 * size - 1) == 0 => {
                    of(0).shifted_right(by)
                }
                _ => Bits::ANY,
            },
            (Operation::Bitwise(Bitwise::Permute), 3) => Bits::permuted(of(0).may | of(1).may),
            (Operation::Convert, 1) => return self.converted(instruction, &sources[0], depth),
            // Other forms and operations are unknown.
            (Operation::Convert | unfollowed!(), _) => Bits::ANY,
        };
        bits.narrow(size)
    }

    fn converted(&mut self, instruction: &Instruction<'a>, source: &Source<'a>, depth: u32) -> Bits {
        let mut types = instruction.types();
        let (Some(to), Some(from)) = (types.next(), types.next_back()) else { return Bits::ANY };
        if to.float().is_some() || from.float().is_some() || instruction.has("sat") {
            return Bits::ANY;
        }
        let bits = self.source(source, depth).narrow(from.size());
        let negative = from.name().starts_with('s') && bits.may >> (8 * from.size() - 1) & 1 == 1;
        if negative { Bits::ANY.narrow(to.size()) } else { bits.narrow(to.size()) }
    }
}

fn is_unsigned(instruction: &Instruction<'_>) -> bool {
    instruction.types().next_back().is_some_and(|ty| !ty.name().starts_with('s'))
}
