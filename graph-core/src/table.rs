//! The table of a graph function: the checked program as bytes, which the macro prints as one literal and the runtime
//! reads once.
//!
//! rustc's time for a static grows with its expressions, and a large function has some tens for each statement: as
//! expressions, 10,000 launches took rustc 8 to 30 s to check. A literal is one expression, however long.
//!
//! The bytes are unsigned numbers in LEB128 and texts behind their length; [`encode`] and [`Decoded::read`] are the
//! format, field by field in the same order. Both sides are of one version, since one crate exports both.

use std::any::TypeId;
use std::ops::Deref;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

mod bytes;
mod format;
mod nesting;
#[cfg(test)]
mod tests;
mod types;

pub use format::encode;
pub use nesting::tell_apart;
pub use types::{Decoded, Layout, Op, Parameter, Printed, Scalar};

/// The static of a graph function.
#[derive(Debug)]
pub struct Table {
    bytes: &'static [u8],
    layouts: &'static [Layout],
    callees: &'static [fn() -> &'static Table],
    /// Leaked: tables are statics, which are never dropped, but rustc would compile their drops in the user's crate.
    decoded: OnceLock<Option<&'static Decoded>>,
    /// The tables for lists of element types, of an item with type parameters. Leaked as well.
    instances: OnceLock<&'static Instances>,
}

/// Tables, each for a list of element types.
type Instances = Mutex<Vec<(Vec<TypeId>, &'static Table)>>;

impl Table {
    /// Makes a table of the bytes that [`encode`] gave and of the element types that they refer to.
    pub const fn new(bytes: &'static [u8], layouts: &'static [Layout]) -> Table {
        Table { bytes, layouts, callees: &[], decoded: OnceLock::new(), instances: OnceLock::new() }
    }

    /// Returns the table for these element types, of an item with type parameters. Each is made once, and kept.
    pub fn of_elements(&'static self, layouts: &[Layout]) -> &'static Table {
        let types: Vec<TypeId> = layouts.iter().map(|layout| (layout.id)()).collect();
        let instances = self.instances.get_or_init(|| Box::leak(Box::default()));
        let mut instances = instances.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = instances.iter().find(|(known, _)| *known == types) {
            return known;
        }
        let made = Table::new(self.bytes, Vec::leak(layouts.to_vec())).calling(self.callees);
        let made: &'static Table = Box::leak(Box::new(made));
        instances.push((types, made));
        made
    }

    /// Adds the tables of the functions that it calls, one for each call.
    #[must_use]
    pub const fn calling(mut self, callees: &'static [fn() -> &'static Table]) -> Table {
        self.callees = callees;
        self
    }

    /// Returns the tables of the functions that it calls, one for each call, whether the call is reached or not.
    pub fn callees(&self) -> impl ExactSizeIterator<Item = &'static Table> + use<> {
        self.callees.iter().map(|table| table())
    }

    /// Returns the function, read at the first call; `None` if the table is not of this version of cuweave.
    pub fn get(&'static self) -> Option<&'static Decoded> {
        let read = || Some(&*Box::leak(Box::new(Decoded::read(self.bytes, self.layouts)?)));
        *self.decoded.get_or_init(read)
    }

    /// As [`Table::get`].
    pub fn handle(&'static self) -> Option<TableHandle> {
        self.get().map(TableHandle::Static)
    }
}

/// A function's table, held as long as something is made of it.
#[derive(Clone, Debug)]
pub enum TableHandle {
    /// The static table of generated code.
    Static(&'static Decoded),
    /// The table that a builder has made.
    Built(Arc<Decoded>),
}

impl TableHandle {
    /// Returns the address of the table, which is its identity while it is held.
    pub fn address(&self) -> usize {
        std::ptr::from_ref::<Decoded>(self).addr()
    }
}

impl Deref for TableHandle {
    type Target = Decoded;

    fn deref(&self) -> &Decoded {
        match self {
            TableHandle::Static(table) => table,
            TableHandle::Built(table) => table,
        }
    }
}
