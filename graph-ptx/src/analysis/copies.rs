//! Data flow through shared memory and stack slots within one function.
//!
//! [`MemoryCopies`] indexes the loads and stores of a function by location. A store and a load may alias if they access
//! the same variable of shared memory, if the variable of one of them is unknown, or if they access the same stack slot
//! (same base and offset in local memory). Debug builds keep their variables in stack slots.

use crate::analysis::code::{NONE, Referent, Source, SsaFunction, Step};
use crate::analysis::effect;
use crate::isa::{self, Addresses, Arithmetic, Opaque, Operation, SpaceSource};
use crate::syntax::{Instruction, StateSpace};
use std::collections::BTreeMap;

/// The maximum number of steps from an address to its variable.
const MAX_DEPTH: u32 = 16;

/// A register that a step stores or loads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MovedRegister {
    pub value: u32,
    /// The size in bytes.
    pub width: u32,
    /// The step of the load or store.
    pub step: u32,
    /// True for shared memory, with the variable if it is known.
    shared: bool,
    variable: Option<u32>,
}

/// The registers loaded from a location and stored to it.
#[derive(Debug, Default)]
struct LoadsAndStores {
    loaded: Vec<MovedRegister>,
    stored: Vec<MovedRegister>,
}

/// The stores of a function, and the loads that may alias them.
#[derive(Debug, Default)]
pub(crate) struct MemoryCopies {
    /// The registers in shared memory.
    shared: LoadsAndStores,
    /// The registers in each stack slot, by base and offset.
    slots: BTreeMap<(u32, i64), LoadsAndStores>,
    /// The steps that load matrices from shared memory or multiply matrices in it.
    pub matrices: Vec<u32>,
}

/// The location of a load or store.
enum MemoryLocation {
    Shared(Option<u32>),
    Slot(u32, i64),
}

impl MemoryCopies {
    /// Collects the loads and stores of a function.
    pub fn new(code: &SsaFunction<'_, '_>) -> MemoryCopies {
        let mut copies = MemoryCopies::default();
        for (at, step) in (0..).zip(&code.steps) {
            let Some(instruction) = step.instruction else { continue };
            let row = isa::row(instruction.op());
            match row.addresses {
                Addresses::Wmma => {
                    if instruction.has("load") && instruction.space() != Some(StateSpace::Global) {
                        copies.matrices.push(at);
                    }
                }
                Addresses::Write => {
                    if row.operation == Operation::Opaque(Opaque::MatrixProduct) {
                        copies.matrices.push(at);
                    }
                }
                Addresses::Read => {
                    let loads = step.defines.iter().filter(|&&value| value != NONE);
                    copies.shared.loaded.extend(loads.map(|&value| MovedRegister {
                        value,
                        width: 4,
                        step: at,
                        shared: true,
                        variable: None,
                    }));
                }
                Addresses::Load | Addresses::Store => copies.add(code, at, step, instruction),
                Addresses::None
                | Addresses::Update
                | Addresses::Hint
                | Addresses::Multimem
                | Addresses::Copy
                | Addresses::Tensormap
                | Addresses::Unknown => {}
            }
        }
        copies
    }

    fn add(
        &mut self,
        code: &SsaFunction<'_, '_>,
        at: u32,
        step: &Step<'_, '_>,
        instruction: &Instruction<'_>,
    ) {
        let Some(place) = place(code, step, instruction) else { return };
        let (_, width, _) = effect::sizes(instruction);
        let loads = isa::row(instruction.op()).addresses == Addresses::Load;
        let registers: Vec<u32> =
            if loads { step.defines.clone() } else { step.sources.iter().filter_map(data).collect() };
        for (lane, &value) in (0..).zip(&registers).filter(|(_, value)| **value != NONE) {
            let mut register = MovedRegister { value, width, step: at, shared: false, variable: None };
            let lists = match place {
                MemoryLocation::Shared(variable) => {
                    (register.shared, register.variable) = (true, variable);
                    &mut self.shared
                }
                MemoryLocation::Slot(base, offset) => {
                    self.slots.entry((base, offset + lane * i64::from(width))).or_default()
                }
            };
            if loads { lists.loaded.push(register) } else { lists.stored.push(register) }
        }
    }

    /// Returns the loads that may alias the store at `step`. A step that is not a store is a copy to shared memory.
    pub fn loads<'c>(
        &'c self,
        code: &SsaFunction<'_, '_>,
        step: u32,
        value: Option<u32>,
    ) -> impl Iterator<Item = MovedRegister> + use<'c> {
        let (place, lists) = self.lists(code, step, value, |lists| &lists.stored);
        lists
            .map(|lists| &lists.loaded)
            .into_iter()
            .flatten()
            .copied()
            .filter(move |register| register.meets(place))
    }

    /// Returns the stores that may alias the load at `step`.
    pub fn stores<'c>(
        &'c self,
        code: &SsaFunction<'_, '_>,
        step: u32,
        value: u32,
    ) -> impl Iterator<Item = MovedRegister> + use<'c> {
        let (place, lists) = self.lists(code, step, Some(value), |lists| &lists.loaded);
        lists
            .map(|lists| &lists.stored)
            .into_iter()
            .flatten()
            .copied()
            .filter(move |register| register.meets(place))
    }

    /// Returns the shared variable of a step's location, if known, and the registers at that location.
    fn lists(
        &self,
        code: &SsaFunction<'_, '_>,
        step: u32,
        value: Option<u32>,
        own: impl Fn(&LoadsAndStores) -> &Vec<MovedRegister>,
    ) -> (Option<u32>, Option<&LoadsAndStores>) {
        let Some(instruction) = code.steps[step as usize].instruction else { return (None, None) };
        let row = isa::row(instruction.op());
        match (row.addresses, place(code, &code.steps[step as usize], instruction)) {
            (Addresses::Copy, _) => (None, Some(&self.shared)),
            // A fence has an address but does not read shared memory.
            (Addresses::Read, _) if row.space == SpaceSource::Shared => (None, Some(&self.shared)),
            (Addresses::Load | Addresses::Store, Some(MemoryLocation::Shared(variable))) => {
                (variable, Some(&self.shared))
            }
            (Addresses::Load | Addresses::Store, Some(MemoryLocation::Slot(base, first))) => {
                let (bytes, width, _) = effect::sizes(instruction);
                let lanes = (0..i64::from(bytes / width.max(1))).map(|lane| first + lane * i64::from(width));
                let mut slots = lanes.filter_map(|offset| self.slots.get(&(base, offset)));
                let found = slots.find(|lists| {
                    own(lists).iter().any(|register| register.step == step && Some(register.value) == value)
                });
                (None, found)
            }
            (Addresses::Load | Addresses::Store, None)
            | (
                Addresses::None
                | Addresses::Read
                | Addresses::Write
                | Addresses::Update
                | Addresses::Hint
                | Addresses::Multimem
                | Addresses::Tensormap
                | Addresses::Wmma
                | Addresses::Unknown,
                _,
            ) => (None, None),
        }
    }
}

impl MovedRegister {
    /// Returns true for a load from shared memory or a store to it.
    pub fn is_shared(&self) -> bool {
        self.shared
    }

    fn meets(&self, variable: Option<u32>) -> bool {
        match (self.variable, variable) {
            (Some(a), Some(b)) => a == b,
            _ => true,
        }
    }
}

/// Returns the value of a source other than a memory operand.
fn data(source: &Source<'_>) -> Option<u32> {
    match source {
        Source::Place(Referent::Value(value), _) => Some(*value),
        Source::Memory(..) => None,
        _ => Some(NONE),
    }
}

/// Returns the location of a load or store in shared memory or in a stack slot.
fn place(
    code: &SsaFunction<'_, '_>,
    step: &Step<'_, '_>,
    instruction: &Instruction<'_>,
) -> Option<MemoryLocation> {
    let address = step.sources.iter().find_map(|source| match source {
        Source::Memory(place, offset) => Some((*place, *offset)),
        _ => None,
    })?;
    match (instruction.space(), address) {
        (Some(StateSpace::Shared), (place, _)) => Some(MemoryLocation::Shared(variable(code, place, 0))),
        (None | Some(StateSpace::Local), (Referent::Value(value), offset)) => {
            let base = Referent::Local(variable(code, Referent::Value(value), 0)?);
            matches!(base, Referent::Local(local) if code.locals.get(local as usize)?.space == StateSpace::Local)
                .then_some(MemoryLocation::Slot(value, offset))
        }
        _ => None,
    }
}

/// Returns the variable of an address: the first symbol from which it is computed.
fn variable(code: &SsaFunction<'_, '_>, place: Referent, depth: u32) -> Option<u32> {
    let value = match place {
        Referent::Local(local) => return Some(local),
        // The top bit separates variables of the module from those of the body.
        Referent::Module(variable) => return Some(variable | 1 << 31),
        Referent::Value(value) if depth < MAX_DEPTH => value,
        _ => return None,
    };
    let step = &code.steps[code.defining(value)? as usize];
    match isa::row(step.instruction?.op()).operation {
        Operation::Move
        | Operation::Address
        | Operation::Convert
        | Operation::Arithmetic(Arithmetic::Add | Arithmetic::Mad) => {}
        Operation::None
        | Operation::SharedAddress
        | Operation::Arithmetic(_)
        | Operation::Float(_)
        | Operation::Bitwise(_)
        | Operation::Selection(_)
        | Operation::Comparison(_)
        | Operation::Opaque(_) => return None,
    }
    step.sources.iter().find_map(|source| match source {
        Source::Place(place, _) => variable(code, *place, depth + 1),
        _ => None,
    })
}
