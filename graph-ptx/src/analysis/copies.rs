//! Data flow through shared memory and stack slots within one function.
//!
//! [`Copies`] indexes the loads and stores of a function by location. A store and a load may alias if they access the
//! same variable of shared memory, if the variable of one of them is unknown, or if they access the same stack slot
//! (same base and offset in local memory). Debug builds keep their variables in stack slots.

use crate::analysis::code::{Code, NONE, Place, Source, Step};
use crate::analysis::effect;
use crate::isa::{self, Addresses, Arithmetic, Opaque, Operation, StateSpace};
use crate::syntax::{Instruction, Space};
use std::collections::BTreeMap;

/// The maximum number of steps from an address to its variable.
const DEPTH: u32 = 16;

/// A register that a step stores or loads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Register {
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
struct Lists {
    loaded: Vec<Register>,
    stored: Vec<Register>,
}

/// The stores of a function, and the loads that may alias them.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    /// The registers in shared memory.
    shared: Lists,
    /// The registers in each stack slot, by base and offset.
    slots: BTreeMap<(u32, i64), Lists>,
    /// The steps that load matrices from shared memory or multiply matrices in it.
    pub matrices: Vec<u32>,
}

/// The location of a load or store.
enum Location {
    Shared(Option<u32>),
    Slot(u32, i64),
}

impl Copies {
    /// Collects the loads and stores of a function.
    pub fn of(code: &Code<'_, '_>) -> Copies {
        let mut copies = Copies::default();
        for (at, step) in (0..).zip(&code.steps) {
            let Some(instruction) = step.instruction else { continue };
            let row = isa::row(instruction.op());
            match row.addresses {
                Addresses::Wmma => {
                    if instruction.has("load") && instruction.space() != Some(Space::Global) {
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
                    copies.shared.loaded.extend(loads.map(|&value| Register {
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

    fn add(&mut self, code: &Code<'_, '_>, at: u32, step: &Step<'_, '_>, instruction: &Instruction<'_>) {
        let Some(place) = place(code, step, instruction) else { return };
        let (_, width, _) = effect::sizes(instruction);
        let loads = isa::row(instruction.op()).addresses == Addresses::Load;
        let registers: Vec<u32> =
            if loads { step.defines.clone() } else { step.sources.iter().filter_map(data).collect() };
        for (lane, &value) in (0..).zip(&registers).filter(|(_, value)| **value != NONE) {
            let mut register = Register { value, width, step: at, shared: false, variable: None };
            let lists = match place {
                Location::Shared(variable) => {
                    (register.shared, register.variable) = (true, variable);
                    &mut self.shared
                }
                Location::Slot(base, offset) => {
                    self.slots.entry((base, offset + lane * i64::from(width))).or_default()
                }
            };
            if loads { lists.loaded.push(register) } else { lists.stored.push(register) }
        }
    }

    /// Returns the loads that may alias the store at `step`. A step that is not a store is a copy to shared memory.
    pub fn loads<'c>(
        &'c self,
        code: &Code<'_, '_>,
        step: u32,
        value: Option<u32>,
    ) -> impl Iterator<Item = Register> + use<'c> {
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
        code: &Code<'_, '_>,
        step: u32,
        value: u32,
    ) -> impl Iterator<Item = Register> + use<'c> {
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
        code: &Code<'_, '_>,
        step: u32,
        value: Option<u32>,
        own: impl Fn(&Lists) -> &Vec<Register>,
    ) -> (Option<u32>, Option<&Lists>) {
        let Some(instruction) = code.steps[step as usize].instruction else { return (None, None) };
        let row = isa::row(instruction.op());
        match (row.addresses, place(code, &code.steps[step as usize], instruction)) {
            (Addresses::Copy, _) => (None, Some(&self.shared)),
            // A fence has an address but does not read shared memory.
            (Addresses::Read, _) if row.space == StateSpace::Shared => (None, Some(&self.shared)),
            (Addresses::Load | Addresses::Store, Some(Location::Shared(variable))) => {
                (variable, Some(&self.shared))
            }
            (Addresses::Load | Addresses::Store, Some(Location::Slot(base, first))) => {
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

impl Register {
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
        Source::Place(Place::Value(value), _) => Some(*value),
        Source::Memory(..) => None,
        _ => Some(NONE),
    }
}

/// Returns the location of a load or store in shared memory or in a stack slot.
fn place(code: &Code<'_, '_>, step: &Step<'_, '_>, instruction: &Instruction<'_>) -> Option<Location> {
    let address = step.sources.iter().find_map(|source| match source {
        Source::Memory(place, offset) => Some((*place, *offset)),
        _ => None,
    })?;
    match (instruction.space(), address) {
        (Some(Space::Shared), (place, _)) => Some(Location::Shared(variable(code, place, 0))),
        (None | Some(Space::Local), (Place::Value(value), offset)) => {
            let base = Place::Local(variable(code, Place::Value(value), 0)?);
            matches!(base, Place::Local(local) if code.locals.get(local as usize)?.space == Space::Local)
                .then_some(Location::Slot(value, offset))
        }
        _ => None,
    }
}

/// Returns the variable of an address: the first symbol from which it is computed.
fn variable(code: &Code<'_, '_>, place: Place, depth: u32) -> Option<u32> {
    let value = match place {
        Place::Local(local) => return Some(local),
        // The top bit separates variables of the module from those of the body.
        Place::Module(variable) => return Some(variable | 1 << 31),
        Place::Value(value) if depth < DEPTH => value,
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
