//! Tells the simulated driver what the graph's nodes and buffers are called, so that its checks are per buffer and
//! its reports speak of the user's names.

use crate::ir::Origin;
use crate::operation::Place;

use super::core::Core;
use super::driver::{Node, PlannedBuffer, Simulator};

/// The buffers that it is told of, in this order.
fn told(core: &Core) -> impl Iterator<Item = usize> {
    let places = core.operations.places.iter().zip(core.program.buffers.iter()).enumerate();
    places
        .filter(|(_, (place, declared))| {
            !matches!(place, Place::Nowhere) && !matches!(declared.origin, Origin::Pinned { .. })
        })
        .map(|(buffer, _)| buffer)
}

/// Tells it where the buffers of an instantiated graph lie now, if it is there.
pub(super) fn moved(core: &Core) {
    if let Some(simulator) = Simulator::get() {
        let addresses: Vec<u64> = told(core).map(|buffer| core.bases[buffer]).collect();
        simulator.move_buffers(core.exec, &addresses);
    }
}

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
    for buffer in told(core) {
        let declared = &program.buffers[buffer];
        users[buffer].sort_unstable();
        users[buffer].dedup();
        let inside = matches!(core.operations.places[buffer], Place::Inside { .. });
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
