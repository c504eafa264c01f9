//! The state of the decoding of one function: its rows, its names, and the code so far.

use super::names::{Names, SharedVariable};
use crate::interp::code::*;
use cuweave_ptx::Names as BodyNames;
use cuweave_ptx::{self as ptx, Module, Type, TypeClass};
use std::collections::HashMap;

/// The suffix of messages about files that every driver refuses. Other messages may be limits of the simulator.
pub(super) const INVALID_FILE: &str = ", which is an error in the file";

/// The error is the reason why a function cannot be decoded. The caller adds the line.
pub type Result<T> = std::result::Result<T, String>;

/// The decoder of one function.
pub struct Decoder<'d, 'm> {
    pub(super) module: &'d Module<'m>,
    pub(super) names: &'d Names<'d>,
    pub(super) source: &'d ptx::Function<'m>,
    pub(super) body: BodyNames<'d, 'm>,
    pub(super) code: Emitter<'d>,
    pub(super) shared: &'d mut Vec<SharedVariable>,
    pub(super) function: Function,
    /// The rows of registers, by declaration and number. Never iterated.
    pub(super) registers: HashMap<(u32, u64), Slot>,
    /// The rows of constants and other initial values. Never iterated.
    pub(super) constants: HashMap<InitialValue, Slot>,
    /// The offset and size in the frame of each local and parameter variable of the body, by declaration.
    pub(super) locals: HashMap<u32, (u32, u32)>,
    /// The number of each shared variable of the body, by declaration.
    pub(super) shareds: HashMap<u32, u32>,
    /// The first instruction after each label, by the label's statement.
    pub(super) labels: HashMap<usize, u32>,
    /// The row of the extended-precision carry, once it is used.
    pub(super) carry: Option<Slot>,
    /// The scope of the current PTX instruction.
    pub scope: u32,
}

/// The code of a function so far. Instructions from `first` on are of the current PTX instruction, and get its
/// guard and line.
pub struct Emitter<'d> {
    pub(super) insts: &'d mut Vec<Inst>,
    pub(super) location: (u32, u32),
    pub(super) line: u32,
    pub(super) first: usize,
    pub(super) guard: (Slot, bool),
}

impl Emitter<'_> {
    /// Begins a PTX instruction with its line and guard.
    pub fn begin(&mut self, line: u32, guard: Slot, negated: bool) {
        self.line = line;
        self.first = self.insts.len();
        self.guard = (guard, negated);
    }

    /// Appends an operation to the current PTX instruction.
    pub fn emit(&mut self, op: Op) {
        let counts = self.insts.len() == self.first;
        let (guard, negated) = self.guard;
        self.insts.push(Inst { op, guard, negated, counts, line: self.line, source: self.location });
    }

    /// Returns the last emitted operation, if it belongs to the current PTX instruction.
    pub fn last(&mut self) -> Option<&mut Op> {
        let first = self.first;
        self.insts[first..].last_mut().map(|inst| &mut inst.op)
    }
}

impl Decoder<'_, '_> {
    /// Reserves bytes in the frame and returns their offset.
    pub fn reserve(&mut self, size: u64, align: u64) -> Result<u32> {
        let start = u64::from(self.function.frame).next_multiple_of(align.max(1));
        match start.checked_add(size) {
            Some(end) if end <= 1 << 24 => {
                self.function.frame = end as u32;
                Ok(start as u32)
            }
            _ => Err("more than 16 MiB of local memory".to_owned()),
        }
    }

    /// Returns a new row.
    pub fn temporary(&mut self) -> Slot {
        self.function.slots += 1;
        self.function.slots - 1
    }

    /// Returns the row of an initial value: a constant, an address or a special register.
    pub fn init(&mut self, init: InitialValue) -> Slot {
        if let Some(&slot) = self.constants.get(&init) {
            return slot;
        }
        let slot = self.temporary();
        self.constants.insert(init, slot);
        self.function.inits.push((slot, init));
        slot
    }

    /// Returns the row of a constant.
    pub fn constant(&mut self, value: u64) -> Slot {
        self.init(InitialValue::Const(value))
    }

    /// Returns the row of the carry flag.
    pub fn carry(&mut self) -> Slot {
        if let Some(slot) = self.carry {
            return slot;
        }
        let slot = self.temporary();
        self.carry = Some(slot);
        slot
    }

    /// Records that the function names a shared variable.
    pub fn uses_shared(&mut self, number: u32) {
        if !self.function.shared.contains(&number) {
            self.function.shared.push(number);
        }
    }

    /// Records that the function calls another one.
    pub fn calls(&mut self, number: u32) {
        if !self.function.callees.contains(&number) {
            self.function.callees.push(number);
        }
    }

    /// Returns the number of the function with this name.
    pub fn callee(&self, name: &str) -> Option<u32> {
        self.names.functions.get(name).copied()
    }

    /// Returns true if a function with this name has a body in the module.
    pub fn defined(&self, name: &str) -> bool {
        self.module.function(name).is_some_and(|function| function.body.is_some())
    }
}

/// Returns true if a type is a float.
pub fn is_float(ty: Type) -> bool {
    ty.class() == TypeClass::Float
}
