//! New values of bounds, put in place and taken back.

use crate::build::graph::built::BuiltGraph;
use crate::build::graph::definition::Definition;

use super::moves::{Moved, Shift, offset, target};

impl Shift {
    /// Exchanges the values with those that are in place.
    pub fn swap(&mut self, definition: &mut Definition, built: &mut BuiltGraph) {
        for (dim, value) in &mut self.dims {
            std::mem::swap(value, &mut definition.dims[*dim]);
        }
        for (symbol, value) in &mut self.symbols {
            std::mem::swap(value, &mut definition.symbols[*symbol]);
        }
        let Some(pointed) = &mut built.state.pointed else { return };
        for (target, offset) in &mut self.pointed {
            std::mem::swap(offset, &mut pointed[*target].offset);
        }
    }

    /// Adds the targets of accesses for the new values of the bounds, which are in place, and puts them in place.
    pub fn point(&mut self, moved: &Moved, definition: &Definition, built: &mut BuiltGraph) {
        let Some(pointed) = &mut built.state.pointed else { return };
        for &(statement, access) in &moved.accesses {
            let target = target(&built.plan.operations, statement, access);
            let offset = offset(definition.program(), &definition.dims, statement, access);
            let old = std::mem::replace(&mut pointed[target].offset, offset);
            self.pointed.push((target, old));
        }
    }
}
