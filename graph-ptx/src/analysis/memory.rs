//! The memory model of the points-to analysis: local variables, parameters of calls and stack allocations.
//!
//! A cell is a location at a known offset. A store at an unknown offset goes to the whole object. Updates are weak
//! and the model is flow-insensitive: a load sees every store, in any order.

use crate::analysis::code::StepId;
use crate::analysis::value::{MEMORY, Value};
use std::collections::BTreeMap;

/// The maximum number of cells of an object; further stores go to the whole object.
const MAX_CELLS: usize = 4096;
/// The maximum size of an element in bytes.
const MAX_ELEMENT_BYTES: i64 = 16;

#[derive(Debug, Default)]
pub(crate) struct Object {
    /// Values by offset and size.
    cells: BTreeMap<(i64, u32), Value>,
    /// The join of stores at unknown offsets.
    anywhere: Value,
    /// True if the address has escaped: unknown code may read and write the object.
    pub escaped: bool,
    /// The steps that read the object.
    pub readers: Vec<StepId>,
    /// The objects that receive all of its contents.
    pub copies: Vec<u32>,
}

/// The result of a load.
pub(crate) struct Read {
    pub value: Value,
    /// Addresses whose bits were read as another type.
    pub dropped: Value,
}

impl Object {
    /// Joins a value into a cell. Returns true if the object changed.
    pub fn store(&mut self, offset: Option<i64>, size: u32, value: &Value) -> bool {
        let known = offset.is_some_and(|offset| self.cells.contains_key(&(offset, size)));
        match offset {
            Some(offset) if known || self.cells.len() < MAX_CELLS => {
                self.cells.entry((offset, size)).or_default().join(value)
            }
            _ => self.anywhere.join(value),
        }
    }

    /// Joins the contents of `other`. Returns true if the object changed.
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

    /// Returns all values with origins in the object.
    pub fn contents(&self) -> Vec<Value> {
        self.cells.values().chain([&self.anywhere]).filter(|value| value.has_origins()).cloned().collect()
    }

    /// Returns the value of a load.
    pub fn load(&self, offset: Option<i64>, size: u32, float: bool) -> Read {
        let mut read = Read { value: Value::Bottom, dropped: Value::Bottom };
        match offset {
            Some(offset) => {
                let near = (offset.saturating_sub(MAX_ELEMENT_BYTES), 0)
                    ..(offset.saturating_add(i64::from(size)), 0);
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
