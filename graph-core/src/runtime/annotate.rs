//! Tells the simulated driver what the graph's nodes and buffers are called, so that its checks are per buffer and
//! its reports speak of the user's names.

use crate::ir::{Origin, StatementId};
use crate::operation::{Operation, OperationId, Place};

use super::core::Core;
use super::driver::{Member, Node, PlannedBuffer, Simulator};

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

/// Tells it which launches the node of a batch stands for.
fn name_members(core: &Core, simulator: &Simulator, operation: &Operation, node: Node) {
    let Ok((axis, firsts)) = core.members_of(operation) else { return };
    let member = |(at, &source): (usize, &StatementId)| {
        let statement = &core.program.statements[source as usize];
        let first = firsts.get(at).copied().unwrap_or(0);
        Member { name: &statement.name, line: statement.line, first }
    };
    let members: Vec<Member<'_>> = operation.sources.iter().enumerate().map(member).collect();
    simulator.name_members(node, axis, &core.program.file, &members);
}

/// Tells it where the blocks of a batch's members begin now, if it is there.
pub(super) fn members_moved(core: &Core, operation: OperationId) {
    let Some(simulator) = Simulator::get() else { return };
    if let Ok((None, firsts)) = core.members_of(&core.operations.list[operation as usize]) {
        simulator.move_members(core.exec, core.nodes[operation as usize], &firsts);
    }
}

/// Tells it, if it is there.
pub(super) fn annotate(core: &Core) {
    let Some(simulator) = Simulator::get() else { return };
    let program = core.program;
    for (operation, &node) in core.operations.list.iter().zip(&core.nodes) {
        let line = operation.sources.first().map_or(0, |&source| program.statements[source as usize].line);
        simulator.name_node(node, &operation.name, &program.file, line);
        if operation.sources.len() > 1 {
            name_members(core, simulator, operation, node);
        }
    }
    let mut users: Vec<Vec<(Node, Option<u32>)>> = vec![Vec::new(); program.buffers.len()];
    for (statement, declared) in program.statements.iter().enumerate() {
        if let Some(operation) = core.operations.of_statement[statement] {
            let sources = &core.operations.list[operation as usize].sources;
            let member =
                sources.binary_search(&(statement as StatementId)).ok().filter(|_| sources.len() > 1);
            let user = (core.nodes[operation as usize], member.map(|member| member as u32));
            declared.accesses.iter().for_each(|access| users[access.buffer as usize].push(user));
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
