//! Tells the simulated driver what the graph's nodes and buffers are called, so that its checks are per buffer and
//! its reports speak of the user's names.

use crate::ir::Origin;
use crate::operation::Place;

use super::core::Core;
use super::driver::{Node, PlannedBuffer, Simulator};

/// Tells it, if it is there.
pub(super) fn annotate(core: &Core) {
    let Some(simulator) = Simulator::get() else { return };
    let program = core.program;
    for (operation, &node) in core.operations.list.iter().zip(&core.nodes) {
        let line = operation.sources.first().map_or(0, |&source| program.statements[source as usize].line);
        simulator.name_node(node, &operation.name, &program.file, line);
    }
    let mut users: Vec<Vec<Node>> = vec![Vec::new(); program.buffers.len()];
    for (statement, declared) in program.statements.iter().enumerate() {
        if let Some(operation) = core.operations.of_statement[statement] {
            for access in declared.accesses.iter() {
                users[access.buffer as usize].push(core.nodes[operation as usize]);
            }
        }
    }
    for (buffer, declared) in program.buffers.iter().enumerate() {
        users[buffer].sort_unstable();
        users[buffer].dedup();
        let inside = matches!(core.operations.places[buffer], Place::Inside { .. });
        let nowhere = matches!(core.operations.places[buffer], Place::Nowhere);
        if nowhere || matches!(declared.origin, Origin::Pinned { .. }) {
            continue;
        }
        simulator.add_buffer(
            core.graph,
            &PlannedBuffer {
                name: &declared.name,
                file: &program.file,
                line: declared.line,
                planned: inside && !program.outputs.contains(&(buffer as u32)),
                address: core.bases[buffer],
                bytes: core.dims[declared.len as usize].saturating_mul(u64::from(declared.element)),
                users: &users[buffer],
            },
        );
    }
}
