//! Bits that pass through shared memory and through slots of the stack, of one function.
//!
//! A store and a load may meet where they use the same variable of shared memory, or a variable that is not found, and where
//! they use the same slot: the same value and offset in local memory. Debug builds keep their variables in slots.

use crate::analysis::code::{Code, NONE, Place, Source, Step};
use crate::analysis::effect;
use crate::isa::{self, Addresses, Arithmetic, Opaque, Operation, StateSpace};
use crate::syntax::{Instruction, Space};
use std::collections::BTreeMap;

/// The maximum number of steps between a variable and an address in it.
const DEPTH: u32 = 16;

/// A register that is stored or loaded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Register {
    pub value: u32,
    /// Its bytes.
    pub width: u32,
    /// The step that loads or stores it.
    pub step: u32,
    /// True in shared memory, and the variable there, where it is found.
    shared: bool,
    variable: Option<u32>,
}

/// The registers that are loaded from a place and stored there.
#[derive(Debug, Default)]
struct Lists {
    loaded: Vec<Register>,
    stored: Vec<Register>,
}

/// Stores, and the loads that may see them.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    /// The registers of shared memory.
    shared: Lists,
    /// The registers of each stack slot: base and offset.
    slots: BTreeMap<(u32, i64), Lists>,
    /// Loads of matrices from shared memory, and products of such.
    pub matrices: Vec<u32>,
}

/// Where a step loads or stores.
enum Where {
    Shared(Option<u32>),
    Slot(u32, i64),
}

impl Copies {
    /// Finds the loads and stores of a function.
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
                Where::Shared(variable) => {
                    (register.shared, register.variable) = (true, variable);
                    &mut self.shared
                }
                Where::Slot(base, offset) => {
                    self.slots.entry((base, offset + lane * i64::from(width))).or_default()
                }
            };
            if loads { lists.loaded.push(register) } else { lists.stored.push(register) }
        }
    }

    /// The registers that are loaded where this step stores a value; `step` copies to shared memory if it is no store.
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

    /// The registers that are stored where this step loads a value.
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

    /// The variable in shared memory, and the registers at the place of a step.
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
            // A fence reads no shared memory.
            (Addresses::Read, _) if row.space == StateSpace::Shared => (None, Some(&self.shared)),
            (Addresses::Load | Addresses::Store, Some(Where::Shared(variable))) => {
                (variable, Some(&self.shared))
            }
            (Addresses::Load | Addresses::Store, Some(Where::Slot(base, first))) => {
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
    /// True if it is loaded from shared memory or stored there.
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

/// The value that a source is, memory aside.
fn data(source: &Source<'_>) -> Option<u32> {
    match source {
        Source::Place(Place::Value(value), _) => Some(*value),
        Source::Memory(..) => None,
        _ => Some(NONE),
    }
}

/// Where a load or store goes, if that is shared memory or a slot.
fn place(code: &Code<'_, '_>, step: &Step<'_, '_>, instruction: &Instruction<'_>) -> Option<Where> {
    let address = step.sources.iter().find_map(|source| match source {
        Source::Memory(place, offset) => Some((*place, *offset)),
        _ => None,
    })?;
    match (instruction.space(), address) {
        (Some(Space::Shared), (place, _)) => Some(Where::Shared(variable(code, place, 0))),
        (None | Some(Space::Local), (Place::Value(value), offset)) => {
            let base = Place::Local(variable(code, Place::Value(value), 0)?);
            matches!(base, Place::Local(local) if code.locals.get(local as usize)?.space == Space::Local)
                .then_some(Where::Slot(value, offset))
        }
        _ => None,
    }
}

/// The variable that an address lies in, by the first symbol that it is computed from.
fn variable(code: &Code<'_, '_>, place: Place, depth: u32) -> Option<u32> {
    let value = match place {
        Place::Local(local) => return Some(local),
        // Variables of the module have numbers of their own.
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
