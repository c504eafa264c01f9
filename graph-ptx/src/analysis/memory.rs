//! Memory that the pointer analysis follows: local variables and the parameters of calls.
//!
//! A cell is a place that is stored to at a known offset; stores elsewhere go to all of the object. Nothing is ever
//! taken back, so that a load sees every store, whatever the order.

use crate::analysis::value::{MEMORY, Value};
use std::collections::BTreeMap;

/// An object has this many cells at most; further stores go to all of it.
const MOST_CELLS: usize = 4096;
/// No load or store of one element is larger.
const LARGEST: i64 = 16;

#[derive(Debug, Default)]
pub(crate) struct Object {
    /// By offset and size.
    cells: BTreeMap<(i64, u32), Value>,
    /// The join of stores at unknown offsets.
    anywhere: Value,
    /// Its address was given away: others read and write it.
    pub escaped: bool,
    /// Steps that read it: instance, step.
    pub readers: Vec<(u32, u32)>,
    /// Objects that get all that it gets.
    pub copies: Vec<u32>,
}

/// The result of a load.
pub(crate) struct Read {
    pub value: Value,
    /// Bits of addresses were read as something that is no address.
    pub dropped: Value,
}

impl Object {
    /// Joins a value into a cell. True if the object changed.
    pub fn store(&mut self, offset: Option<i64>, size: u32, value: &Value) -> bool {
        let known = offset.is_some_and(|offset| self.cells.contains_key(&(offset, size)));
        match offset {
            Some(offset) if known || self.cells.len() < MOST_CELLS => {
                self.cells.entry((offset, size)).or_default().join(value)
            }
            _ => self.anywhere.join(value),
        }
    }

    /// Takes all that `other` has.
    pub fn take(&mut self, other: &Object) -> bool {
        let mut changed = self.anywhere.join(&other.anywhere);
        for ((offset, size), value) in &other.cells {
            changed |= self.store(Some(*offset), *size, value);
        }
        if other.escaped && !self.escaped {
            self.escaped = true;
            changed = true;
        }
        changed
    }

    /// Every value in it.
    pub fn contents(&self) -> Vec<Value> {
        self.cells.values().chain([&self.anywhere]).filter(|value| value.has_origins()).cloned().collect()
    }

    /// Returns the value of a load.
    pub fn load(&self, offset: Option<i64>, size: u32, float: bool) -> Read {
        let mut read = Read { value: Value::Bottom, dropped: Value::Bottom };
        match offset {
            Some(offset) => {
                let near = (offset.saturating_sub(LARGEST), 0)..(offset.saturating_add(i64::from(size)), 0);
                for (&(at, of), value) in self.cells.range(near) {
                    if (at, of) == (offset, size) {
                        read.value.join(value);
                    } else if at.saturating_add(i64::from(of)) > offset {
                        read.value.join(&Value::derived([value]));
                    }
                }
            }
            None => {
                for (&(_, of), value) in &self.cells {
                    if of == size {
                        read.value.join(value);
                    } else if size >= 8 {
                        read.value.join(&Value::derived([value]));
                    } else {
                        // An element of an array of something else.
                        read.dropped.join(&Value::derived([value]));
                    }
                }
            }
        }
        read.value.join(&self.anywhere);
        if float {
            read.dropped.join(&Value::derived([&read.value]));
            read.value = Value::Plain;
        }
        if self.escaped && size >= 8 && !float {
            read.value.join(&Value::loose(MEMORY));
        }
        if read.value == Value::Bottom {
            read.value = Value::Plain;
        }
        read
    }
}
