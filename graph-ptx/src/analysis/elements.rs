//! Infers the type of the elements that an access moves from the use of their bits.
//!
//! The type of a load or store gives the size of one register and rarely more: compilers type accesses by size only,
//! copy memory in wide words and load several small elements at once. The analysis follows bits from a load forward
//! to the arithmetic that consumes them, and from a store backward to the arithmetic that produced them. It follows
//! moves, selections and phis, shared memory and stack slots, packing and unpacking of vectors, and shifts and masks;
//! after a shift or mask the width of a register is no longer the width of an element. Bits that are only copied may
//! have any type. register is not that of an element. Bits that are only copied may be of any type.

use crate::analysis::code::{NONE, Referent, Source, SsaFunction, Step};
use crate::analysis::copies::{MemoryCopies, MovedRegister};
use crate::analysis::effect;
use crate::analysis::floats::{self, is_behind_zeros, value};
use crate::isa::{self, Addresses, Bitwise, Comparison, Opaque, Opcode, Operation, Selection};
use crate::syntax::{FloatFormat, Instruction, TypeClass};
use std::collections::BTreeSet;

/// The maximum number of values followed for one access.
const MAX_VALUES: usize = 256;
/// The maximum number of accesses analysed per pointer.
pub(crate) const MAX_ACCESSES: usize = 4096;

/// The uses of the bits that an access moves.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct BitUse {
    /// True for a store, whose bits are also analysed individually.
    pub stores: bool,
    /// The bytes of the access per register; 0 without a register.
    pub width: u32,
    /// The bytes of all registers of a vector.
    pub bytes: u32,
    /// The float formats in which the bits are used or computed.
    pub floats: BTreeSet<FloatFormat>,
    /// True if the type of the access itself is a float.
    pub typed: bool,
    /// True if all bits of one register are used as an integer.
    pub integers: bool,
    /// True if a part of the bits is used as an integer.
    pub parts: bool,
    /// True if the analysis stopped at its limit.
    pub is_cut: bool,
}

/// The relation of a followed value to the bits of the access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum BitRelation {
    /// The value is all bits of one register of the access.
    Whole,
    /// The value is a multiple of them.
    Scaled,
    /// The value is a part of the bits, or contains them.
    Piece,
    /// The bits were shifted, masked or narrowed.
    Changed,
}

/// Returns the uses of the bits that a step of a function moves.
pub(crate) fn moved(code: &SsaFunction<'_, '_>, copies: &MemoryCopies, at: u32) -> BitUse {
    let step = &code.steps[at as usize];
    let mut uses = BitUse::default();
    let Some(instruction) = step.instruction else { return uses };
    let last = instruction.types().next_back();
    // For matrices, reducing copies and similar instructions the type is that of an element.
    uses.floats.extend(last.and_then(|ty| ty.float()));
    let is_typed = !uses.floats.is_empty();
    uses.typed = is_typed;
    let addresses = isa::row(instruction.op()).addresses;
    let registers = floats::evidence(code, None, at);
    let found = match registers.computed.is_empty() {
        true => floats::evidence(code, Some(copies), at),
        false => registers,
    };
    uses.is_cut = found.is_cut;
    // Arithmetic on the bits is stronger evidence than the type of the registers that move them.
    if !found.computed.is_empty() {
        uses.typed &= found.computed.is_superset(&uses.floats);
        uses.floats = found.computed;
    } else if !is_typed {
        uses.floats = found.moved;
    }
    let mut follow = ElementWalk { code, copies, uses, loaded: Vec::new(), seen: BTreeSet::new() };
    match (addresses, last) {
        (Addresses::Load | Addresses::Store | Addresses::Update | Addresses::Multimem, Some(_)) => {
            (follow.uses.bytes, follow.uses.width, _) = effect::sizes(instruction);
            follow.uses.stores = addresses == Addresses::Store;
            if is_typed {
                return follow.uses;
            }
            follow.uses.integers =
                counts(instruction) || step.sources.iter().any(|source| matches!(source, Source::Special(_)));
            follow.forward(values(&step.defines));
            let data = step.sources.iter().filter_map(value);
            follow.seen.clear();
            follow.backward(data.map(|value| (value, BitRelation::Whole)).collect());
            follow.seen.clear();
            let loaded = std::mem::take(&mut follow.loaded);
            follow.forward(loaded);
        }
        (Addresses::Copy, _) => {
            let loads = follow.loads(at, None, BitRelation::Piece);
            follow.forward(loads);
        }
        (Addresses::Load | Addresses::Store | Addresses::Update | Addresses::Multimem, None)
        | (
            Addresses::None
            | Addresses::Read
            | Addresses::Write
            | Addresses::Hint
            | Addresses::Tensormap
            | Addresses::Wmma
            | Addresses::Unknown,
            _,
        ) => {}
    }
    follow.uses
}

/// Returns true for an atomic that computes with integers.
fn counts(instruction: &Instruction<'_>) -> bool {
    isa::row(instruction.op()).addresses == Addresses::Update
        && instruction.types().all(|ty| ty.class() != TypeClass::Float)
        && instruction.modifiers().any(|m| matches!(m, "add" | "min" | "max" | "inc" | "dec"))
}

fn values(defines: &[u32]) -> Vec<(u32, BitRelation)> {
    defines.iter().filter(|&&value| value != NONE).map(|&value| (value, BitRelation::Whole)).collect()
}

/// The position of the followed bits in an instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BitSide {
    Operand,
    Result,
}

/// The effect of an instruction on the bits of its operands or result.
enum BitEffect {
    /// The bits are unchanged.
    Moves,
    /// The bits are those of a smaller integer, extended by zeros or by its sign.
    Widens,
    /// The bits are packed or unpacked.
    Packs,
    /// The bits are shifted left.
    Scales,
    /// The bits are shifted right, masked or narrowed.
    Changes,
    /// The bits are used as an integer.
    Integer,
    /// Any other effect.
    Ends,
}

fn effect_on(step: &Step<'_, '_>, side: BitSide, width: u32) -> BitEffect {
    let Some(instruction) = step.instruction else { return BitEffect::Moves };
    match isa::row(instruction.op()).operation {
        Operation::Move if step.defines.len() > 1 || step.sources.len() > 1 => BitEffect::Packs,
        Operation::Move
        | Operation::Selection(Selection::ByPredicate)
        | Operation::Opaque(Opaque::Shuffle) => BitEffect::Moves,
        Operation::Convert => conversion(instruction, side, width),
        Operation::Bitwise(Bitwise::Shl) => BitEffect::Scales,
        Operation::Bitwise(_) => BitEffect::Changes,
        Operation::Arithmetic(_)
        | Operation::Comparison(Comparison::ToPredicate | Comparison::ToNumber)
        | Operation::Opaque(Opaque::Integer) => {
            match instruction.types().all(|ty| ty.class() != TypeClass::Float) {
                true => BitEffect::Integer,
                false => BitEffect::Ends,
            }
        }
        Operation::None
        | Operation::Address
        | Operation::SharedAddress
        | Operation::Float(_)
        | Operation::Selection(_)
        | Operation::Comparison(_)
        | Operation::Opaque(_) => BitEffect::Ends,
    }
}

/// Returns the effect of a conversion. A conversion between integers moves the bits unless it narrows them; one that
/// produces a whole element from fewer bits widens them. In a conversion between an integer and a float, the integer
/// side is an integer.
fn conversion(instruction: &Instruction<'_>, side: BitSide, width: u32) -> BitEffect {
    let mut types = instruction.types();
    let (Some(to), Some(from)) = (types.next(), types.next_back()) else { return BitEffect::Ends };
    match (side, to.class(), from.class()) {
        (_, TypeClass::Float, TypeClass::Float) => BitEffect::Ends,
        (BitSide::Operand, TypeClass::Float, _) | (BitSide::Result, _, TypeClass::Float) => {
            BitEffect::Integer
        }
        (BitSide::Result, TypeClass::Float, _) | (BitSide::Operand, _, TypeClass::Float) => BitEffect::Ends,
        _ if to.size().min(from.size()) >= width => BitEffect::Moves,
        (BitSide::Result, ..) if to.size() >= width => BitEffect::Widens,
        _ => BitEffect::Changes,
    }
}

struct ElementWalk<'c, 'm, 'a> {
    code: &'c SsaFunction<'m, 'a>,
    copies: &'c MemoryCopies,
    uses: BitUse,
    /// The loads that may alias followed stores.
    loaded: Vec<(u32, BitRelation)>,
    seen: BTreeSet<(u32, BitRelation)>,
}

impl ElementWalk<'_, '_, '_> {
    fn integer(&mut self, state: BitRelation) {
        match state {
            BitRelation::Whole | BitRelation::Scaled => self.uses.integers = true,
            BitRelation::Piece | BitRelation::Changed => self.uses.parts = true,
        }
    }

    fn next(
        &mut self,
        list: &mut Vec<(u32, BitRelation)>,
        more: impl IntoIterator<Item = (u32, BitRelation)>,
    ) {
        for entry in more {
            if self.seen.len() < MAX_VALUES && self.seen.insert(entry) {
                list.push(entry);
            }
        }
    }

    /// Follows values forward to their users.
    fn forward(&mut self, mut list: Vec<(u32, BitRelation)>) {
        self.seen.extend(list.iter().copied());
        while let Some((value, state)) = list.pop() {
            for &user in &self.code.users[value as usize] {
                let step = &self.code.steps[user as usize];
                if !step.sources.iter().any(|source| floats::value(source) == Some(value)) {
                    // The user has the value as an address or guard, or a guarded definition keeps it.
                    let address = |source: &Source<'_>| matches!(source, Source::Memory(Referent::Value(at), _) if *at == value);
                    if step.sources.iter().any(address) {
                        self.integer(state);
                    }
                    continue;
                }
                let behind = match effect_on(step, BitSide::Operand, self.uses.width) {
                    BitEffect::Moves | BitEffect::Widens => state,
                    // Matches the conversion of `bf16` to `f32`.
                    BitEffect::Packs if is_behind_zeros(step) => BitRelation::Changed,
                    BitEffect::Packs => state.max(BitRelation::Piece),
                    BitEffect::Scales => state.max(BitRelation::Scaled),
                    BitEffect::Changes => BitRelation::Changed,
                    BitEffect::Integer => {
                        self.integer(state);
                        continue;
                    }
                    BitEffect::Ends => {
                        if step.instruction.is_some_and(counts) {
                            self.integer(state);
                        }
                        let store = step.instruction.filter(|found| found.op() == Opcode::St);
                        if let Some(store) = store.filter(|_| state == BitRelation::Whole) {
                            self.resized(effect::sizes(store).1);
                        }
                        let loads = self.loads(user, Some(value), state);
                        self.next(&mut list, loads);
                        continue;
                    }
                };
                let defines = step.defines.iter().filter(|&&next| next != NONE);
                self.next(&mut list, defines.map(|&next| (next, behind)));
            }
        }
    }

    /// Follows values backward to their definitions.
    fn backward(&mut self, mut list: Vec<(u32, BitRelation)>) {
        self.seen.extend(list.iter().copied());
        while let Some((value, state)) = list.pop() {
            let Some(at) = self.code.defining(value) else { continue };
            let step = &self.code.steps[at as usize];
            let before = match effect_on(step, BitSide::Result, self.uses.width) {
                BitEffect::Moves => state,
                BitEffect::Widens if state == BitRelation::Whole => {
                    self.integer(state);
                    continue;
                }
                BitEffect::Widens => BitRelation::Changed,
                BitEffect::Packs => state.max(BitRelation::Piece),
                BitEffect::Scales => state.max(BitRelation::Scaled),
                BitEffect::Changes => BitRelation::Changed,
                BitEffect::Integer => {
                    self.integer(state);
                    continue;
                }
                BitEffect::Ends => {
                    let atomic = step.instruction.is_some_and(counts);
                    if atomic || self.is_integer_parameter(step) {
                        self.integer(state);
                    }
                    if let Some(load) = step.instruction.filter(|found| found.op() == Opcode::Ld) {
                        if state == BitRelation::Whole {
                            self.resized(effect::sizes(load).1);
                        }
                        self.loaded.push((value, state));
                        let stores = self.stores(at, value, state);
                        self.next(&mut list, stores);
                    }
                    continue;
                }
            };
            if step.sources.iter().any(|source| matches!(source, Source::Special(_))) {
                self.integer(state);
            }
            let kept = step.keeps.iter().copied().filter(|&kept| kept != NONE);
            let sources = step.sources.iter().filter_map(floats::value).chain(kept);
            self.next(&mut list, sources.map(|source| (source, before)));
        }
    }

    /// Classifies bits that another access moves in a different width: an integer is extended or truncated there.
    fn resized(&mut self, bytes: u32) {
        let width = self.uses.width;
        let loads = !self.uses.stores;
        self.uses.integers |= if loads { bytes > width } else { bytes < width };
        self.uses.parts |= if loads { bytes < width } else { bytes > width };
    }

    /// Returns true for a load of an integer parameter of the kernel.
    fn is_integer_parameter(&self, step: &Step<'_, '_>) -> bool {
        let [Source::Memory(Referent::Parameter(parameter), _)] = step.sources[..] else { return false };
        let declared = self.code.function.parameters.get(parameter as usize);
        declared.is_some_and(|declared| declared.class() == TypeClass::Integer)
    }

    /// Returns the loaded values that may alias a store.
    fn loads(&self, step: u32, value: Option<u32>, state: BitRelation) -> Vec<(u32, BitRelation)> {
        self.aliases(self.copies.loads(self.code, step, value), state)
    }

    /// Returns the stored values that may alias a load.
    fn stores(&self, step: u32, value: u32, state: BitRelation) -> Vec<(u32, BitRelation)> {
        self.aliases(self.copies.stores(self.code, step, value), state)
    }

    fn aliases(
        &self,
        registers: impl Iterator<Item = MovedRegister>,
        state: BitRelation,
    ) -> Vec<(u32, BitRelation)> {
        let state = |width| if width == self.uses.width { state } else { state.max(BitRelation::Piece) };
        registers.map(|register| (register.value, state(register.width))).collect()
    }
}
