//! The table of a graph function: its checked program encoded as bytes. The macro prints them as one literal, and
//! the runtime decodes them once.
//!
//! rustc's time for a static grows with the number of its expressions, and a large function has some tens for each
//! statement: printed as expressions, 10,000 launches took rustc 8 to 30 s to check. A literal is one expression of
//! any length.
//!
//! Numbers are unsigned LEB128; a text follows its length. [`encode`] and [`DecodedFunction::read`] define the format,
//! field by field in the same order. Both sides always have the same version, since one crate exports both.

use std::any::TypeId;
use std::ops::Deref;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

mod bytes;
mod format;
mod nesting;
#[cfg(test)]
mod tests;
mod trend;
mod types;

pub use format::encode;
pub use nesting::distinguish_calls;
pub use trend::Trend;
pub use types::{BoundOp, DecodedFunction, ElementLayout, Parameter, PrintedFunction, Scalar, Setting};

/// The static of a graph function.
#[derive(Debug)]
pub struct Table {
    bytes: &'static [u8],
    layouts: &'static [ElementLayout],
    callees: &'static [fn() -> &'static Table],
    /// Leaked. Tables are statics and never dropped, but rustc would compile their drop code in the user's crate.
    decoded: OnceLock<Option<&'static DecodedFunction>>,
    /// The tables of an item with type parameters, one for each list of element types. Leaked as well.
    instances: OnceLock<&'static Instances>,
}

/// Tables, each with its list of element types.
type Instances = Mutex<Vec<(Vec<TypeId>, &'static Table)>>;

impl Table {
    /// Makes a table from bytes made by [`encode`] and the element types that they refer to.
    pub const fn new(bytes: &'static [u8], layouts: &'static [ElementLayout]) -> Table {
        Table { bytes, layouts, callees: &[], decoded: OnceLock::new(), instances: OnceLock::new() }
    }

    /// Returns the table of an item with type parameters for these element types. Each is made once and kept.
    pub fn of_elements(&'static self, layouts: &[ElementLayout]) -> &'static Table {
        let types: Vec<TypeId> = layouts.iter().map(|layout| (layout.id)()).collect();
        let instances = self.instances.get_or_init(|| Box::leak(Box::default()));
        let mut instances = instances.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = instances.iter().find(|(known, _)| *known == types) {
            return known;
        }
        let made = Table::new(self.bytes, Vec::leak(layouts.to_vec())).with_callees(self.callees);
        let made: &'static Table = Box::leak(Box::new(made));
        instances.push((types, made));
        made
    }

    /// Adds the tables of the called functions, one for each call.
    #[must_use]
    pub const fn with_callees(mut self, callees: &'static [fn() -> &'static Table]) -> Table {
        self.callees = callees;
        self
    }

    /// Returns the tables of the called functions, one for each call, including calls that are not reached.
    pub fn callees(&self) -> impl ExactSizeIterator<Item = &'static Table> + use<> {
        self.callees.iter().map(|table| table())
    }

    /// Decodes the function at the first call. `None` if the table was made by another version of cuweave.
    pub fn get(&'static self) -> Option<&'static DecodedFunction> {
        let read = || Some(&*Box::leak(Box::new(DecodedFunction::read(self.bytes, self.layouts)?)));
        *self.decoded.get_or_init(read)
    }

    /// Returns a handle to the decoded function, or `None` like [`Table::get`].
    pub fn handle(&'static self) -> Option<TableHandle> {
        self.get().map(TableHandle::Static)
    }
}

/// A reference to a function's table, which keeps the table alive.
#[derive(Clone, Debug)]
pub enum TableHandle {
    /// The static table in generated code.
    Static(&'static DecodedFunction),
    /// A table made by a builder.
    Built(Arc<DecodedFunction>),
}

impl TableHandle {
    /// Returns the address of the table. It identifies the table while a handle is held.
    pub fn address(&self) -> usize {
        std::ptr::from_ref::<DecodedFunction>(self).addr()
    }
}

impl Deref for TableHandle {
    type Target = DecodedFunction;

    fn deref(&self) -> &DecodedFunction {
        match self {
            TableHandle::Static(table) => table,
            TableHandle::Built(table) => table,
        }
    }
}
