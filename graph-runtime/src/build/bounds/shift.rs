//! New values of bounds, put in place and taken back.

use crate::build::graph::definition::Definition;
use crate::build::graph::nodes::Nodes;

use super::moves::{Moved, Shift, offset, target};

impl Shift {
    /// Exchanges the values with those that are in place.
    pub fn swap(&mut self, definition: &mut Definition, nodes: &mut Nodes) {
        for (dim, value) in &mut self.dims {
            std::mem::swap(value, &mut definition.dims[*dim]);
        }
        for (symbol, value) in &mut self.symbols {
            std::mem::swap(value, &mut definition.symbols[*symbol]);
        }
        let Some(pointed) = &mut nodes.pointed else { return };
        for (target, offset) in &mut self.pointed {
            std::mem::swap(offset, &mut pointed[*target].offset);
        }
    }

    /// Adds the targets of accesses for the new values of the bounds, which are in place, and puts them in place.
    pub fn point(&mut self, moved: &Moved, definition: &Definition, nodes: &mut Nodes) {
        let Some(pointed) = &mut nodes.pointed else { return };
        for &(statement, access) in &moved.accesses {
            let target = target(&nodes.operations, statement, access);
            let offset = offset(definition.program(), &definition.dims, statement, access);
            let old = std::mem::replace(&mut pointed[target].offset, offset);
            self.pointed.push((target, old));
        }
    }
}
