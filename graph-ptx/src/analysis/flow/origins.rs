//! The origins of addresses: a number for each abstract location.
//!
//! The table also records which addresses have escaped and which have dropped bits. Either means that an untracked
//! address may point to the location.

use crate::analysis::value::{Origin, Value};
use std::collections::HashMap;

/// An abstract location, or a pointer parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum AbstractLocation {
    /// The memory that a pointer parameter of the kernel points to.
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

/// The numbering of abstract locations: one origin per location.
#[derive(Default)]
pub(crate) struct OriginTable {
    locations: Vec<AbstractLocation>,
    origins: HashMap<AbstractLocation, Origin>,
    /// True for each origin whose address escaped.
    escaped: Vec<bool>,
    /// True for each origin with dropped address bits.
    leaked: Vec<bool>,
}

impl OriginTable {
    /// Returns the origin of an abstract location.
    pub fn origin(&mut self, location: AbstractLocation) -> Origin {
        let next = self.locations.len() as Origin;
        let origin = *self.origins.entry(location).or_insert(next);
        if origin == next {
            self.locations.push(location);
            self.escaped.push(false);
            self.leaked.push(false);
        }
        origin
    }

    pub fn location(&self, origin: Origin) -> AbstractLocation {
        self.locations[origin as usize]
    }

    pub fn locations(&self) -> &[AbstractLocation] {
        &self.locations
    }

    /// Marks an origin as escaped. Returns false if it already was.
    pub fn escape(&mut self, origin: Origin) -> bool {
        !std::mem::replace(&mut self.escaped[origin as usize], true)
    }

    pub fn leak(&mut self, value: &Value) {
        for origin in value.origins() {
            self.leaked[origin as usize] = true;
        }
    }

    /// Returns true if the address of an abstract location has escaped, or bits of it were dropped.
    pub fn is_exposed(&self, location: AbstractLocation) -> bool {
        self.origins
            .get(&location)
            .is_some_and(|&origin| self.escaped[origin as usize] || self.leaked[origin as usize])
    }

    /// Returns true if a tracked address may be loaded from untracked memory.
    pub fn any_escaped(&self) -> bool {
        self.escaped.contains(&true)
    }
}
