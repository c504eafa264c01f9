//! The origins that addresses are based on.

use crate::analysis::value::{Origin, Value};
use std::collections::HashMap;

/// An abstract location, or a pointer parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Thing {
    /// The pointer that a parameter of the kernel is.
    Pointer(u32),
    /// A variable of the module.
    Variable(u32),
    /// Local memory.
    Object(u32),
    /// A parameter of the kernel itself, as memory.
    Parameter(u32),
    /// Shared memory.
    Shared,
}

/// The origins: each stands for one thing.
#[derive(Default)]
pub(crate) struct OriginTable {
    things: Vec<Thing>,
    origins: HashMap<Thing, Origin>,
    /// By origin: true if its address escaped.
    escaped: Vec<bool>,
    /// By origin: true if bits of its address were dropped.
    leaked: Vec<bool>,
}

impl OriginTable {
    /// Returns the origin of a thing.
    pub fn of(&mut self, thing: Thing) -> Origin {
        let next = self.things.len() as Origin;
        let origin = *self.origins.entry(thing).or_insert(next);
        if origin == next {
            self.things.push(thing);
            self.escaped.push(false);
            self.leaked.push(false);
        }
        origin
    }

    pub fn thing(&self, origin: Origin) -> Thing {
        self.things[origin as usize]
    }

    pub fn things(&self) -> &[Thing] {
        &self.things
    }

    /// Marks an origin as escaped. Returns false if it was.
    pub fn escape(&mut self, origin: Origin) -> bool {
        !std::mem::replace(&mut self.escaped[origin as usize], true)
    }

    pub fn leak(&mut self, value: &Value) {
        for origin in value.origins() {
            self.leaked[origin as usize] = true;
        }
    }

    /// Returns true if a thing's address has escaped, or bits of it were dropped.
    pub fn is_exposed(&self, thing: Thing) -> bool {
        self.origins
            .get(&thing)
            .is_some_and(|&origin| self.escaped[origin as usize] || self.leaked[origin as usize])
    }

    /// Returns true if the address of something that is followed may be loaded from memory that is not.
    pub fn any_escaped(&self) -> bool {
        self.escaped.contains(&true)
    }
}
