//! Passes the names of nodes and buffers to the simulated driver, if it is loaded. Its checks then work per
//! buffer, and its reports name the user's statements.

use std::collections::BTreeMap;

use cuweave_core::index::{Vector, narrow};
use cuweave_core::ir::{Access, BufferId, DimId, Origin, Program, StatementId, StatementKind};
use cuweave_core::operation::{BufferPlacement, Operation, OperationId, OperationKind, Operations};
use cuweave_core::scopes::Scopes;

use crate::cuda::{BatchMember, HostAccess, Node, PlannedBuffer, RawExec, RawGraph, Simulator};
use crate::statements::{StatementRecord, batch_layout};

/// The nodes and buffers of a graph, as the simulated driver needs them.
pub(crate) struct AnnotatedGraph<'n> {
    pub program: &'n Program,
    /// The values of lengths and bounds.
    pub dims: &'n Vector<DimId, u64>,
    /// The lengths for the largest values of sizes, which memory is planned for.
    pub planned: &'n Vector<DimId, u64>,
    pub operations: &'n Operations,
    pub records: &'n Vector<StatementId, StatementRecord>,
    pub nodes: &'n Vector<OperationId, Node>,
    /// The nodes of library calls.
    pub captured: BTreeMap<OperationId, &'n [Node]>,
    /// The address of each buffer.
    pub bases: &'n Vector<BufferId, u64>,
    pub graph: RawGraph,
    /// The graph of each conditional body, by its condition statement.
    pub bodies: &'n BTreeMap<StatementId, RawGraph>,
    pub exec: RawExec,
}

/// Returns the buffers that are described to the simulated driver. Invariant: the order is the same in every
/// call, since addresses are passed without ids.
fn described_buffers(graph: &AnnotatedGraph<'_>) -> impl Iterator<Item = BufferId> {
    let places = graph.operations.places.enumerate().zip(&graph.program.buffers);
    places
        .filter(|((_, place), declared)| {
            !matches!(place, BufferPlacement::Nowhere) && !declared.origin.is_pinned()
        })
        .map(|((buffer, _), _)| buffer)
}

/// Passes the current buffer addresses of an exec to the simulated driver, if it is loaded.
pub(crate) fn update_addresses(graph: &AnnotatedGraph<'_>) {
    if let Some(simulator) = Simulator::get() {
        let addresses: Vec<u64> = described_buffers(graph).map(|buffer| graph.bases[buffer]).collect();
        simulator.move_buffers(graph.exec, &addresses);
        host_accesses(graph, simulator, graph.exec);
    }
}

/// Passes the memory that the host statements of an exec access to the simulated driver, if it is loaded.
pub(crate) fn update_host_accesses(graph: &AnnotatedGraph<'_>) {
    if let Some(simulator) = Simulator::get() {
        host_accesses(graph, simulator, graph.exec);
    }
}

/// Passes the memory that host statements access to the simulated driver. `exec` is `NONE` for the graph
/// itself.
fn host_accesses(graph: &AnnotatedGraph<'_>, simulator: &Simulator, exec: RawExec) {
    for (statement, declared) in graph.program.statements.enumerate() {
        let (StatementKind::Host(()), Some(operation)) =
            (declared.kind, graph.operations.operation_of[statement])
        else {
            continue;
        };
        let access = |access: &Access| {
            let element = u64::from(graph.program.buffers[access.buffer].element);
            let (lo, hi) = (graph.dims[access.lo], graph.dims[access.hi]);
            let address = graph.bases[access.buffer].wrapping_add(lo.saturating_mul(element));
            HostAccess::new(address, hi.saturating_sub(lo).saturating_mul(element), access.mode.writes())
        };
        let accesses: Vec<HostAccess> = declared.accesses.iter().map(access).collect();
        simulator.host_accesses(exec, graph.nodes[operation], &accesses);
    }
}

/// Passes the members of a batch to the simulated driver.
fn name_members(graph: &AnnotatedGraph<'_>, simulator: &Simulator, operation: &Operation, node: Node) {
    let Ok((axis, firsts)) = batch_layout(graph.program, graph.operations, graph.records, operation) else {
        return;
    };
    let member = |(at, &source): (usize, &StatementId)| {
        let statement = &graph.program.statements[source];
        let first = firsts.get(at).copied().unwrap_or(0);
        BatchMember { name: &statement.name, line: statement.line, first }
    };
    let members: Vec<BatchMember<'_>> = operation.sources.iter().enumerate().map(member).collect();
    simulator.name_members(node, axis, &graph.program.file, &members);
}

/// Passes the current first blocks of the members of a batch to the simulated driver, if it is loaded.
pub(crate) fn update_members(graph: &AnnotatedGraph<'_>, operation: OperationId) {
    let Some(simulator) = Simulator::get() else { return };
    if let Ok((None, firsts)) =
        batch_layout(graph.program, graph.operations, graph.records, &graph.operations.list[operation])
    {
        simulator.move_members(graph.exec, graph.nodes[operation], &firsts);
    }
}

/// Passes the names of a graph's nodes and buffers to the simulated driver, if it is loaded.
pub(crate) fn annotate(graph: &AnnotatedGraph<'_>) {
    let Some(simulator) = Simulator::get() else { return };
    let program = graph.program;
    for ((at, operation), &node) in graph.operations.list.enumerate().zip(graph.nodes) {
        let line = operation.sources.first().map_or(0, |&source| program.statements[source].line);
        let file = operation.sources.first().and_then(|&source| program.statements[source].file.as_ref());
        let file = file.unwrap_or(&program.file);
        for &node in graph.captured.get(&at).copied().unwrap_or(&[node]) {
            simulator.name_node(node, &operation.name, file, line);
        }
        if operation.sources.len() > 1 && graph.operations.chain_of(operation).is_none() {
            name_members(graph, simulator, operation, node);
        }
    }
    let mut users: Vector<BufferId, Vec<(Node, Option<u32>)>> =
        Vector::filled(Vec::new(), program.buffers.len());
    for (statement, declared) in program.statements.enumerate() {
        if let Some(operation) = graph.operations.operation_of[statement] {
            let node = &graph.operations.list[operation];
            // In a fused launch each block does the work of all members, so its accesses belong to no single
            // member.
            let batched = node.sources.len() > 1 && graph.operations.chain_of(node).is_none();
            let member = node.sources.binary_search(&statement).ok().filter(|_| batched);
            let nodes = graph.captured.get(&operation).copied();
            let nodes = nodes.unwrap_or(std::slice::from_ref(&graph.nodes[operation]));
            for access in declared.kind.own_accesses(&declared.accesses) {
                users[access.buffer].extend(nodes.iter().map(|&node| (node, member.map(narrow))));
            }
        }
    }
    // A memset that overwrites freed memory uses all buffers in it.
    for (operation, &node) in graph.operations.list.iter().zip(graph.nodes) {
        let OperationKind::Free { memory: freed } = operation.kind else { continue };
        if graph.operations.memories[freed].node {
            continue;
        }
        for (buffer, place) in graph.operations.places.enumerate() {
            if matches!(place, BufferPlacement::Inside { memory, .. } if *memory == freed) {
                users[buffer].push((node, None));
            }
        }
    }
    host_accesses(graph, simulator, RawExec::NONE);
    let scopes = Scopes::new(program);
    for buffer in described_buffers(graph) {
        let declared = &program.buffers[buffer];
        // A temporary of a body lives within one run of the body.
        let body = match declared.origin {
            Origin::Alloc(at) => {
                scopes.around(at).and_then(|body| graph.bodies.get(&scopes.list[body].condition))
            }
            _ => None,
        };
        users[buffer].sort_unstable();
        users[buffer].dedup();
        let inside = matches!(graph.operations.places[buffer], BufferPlacement::Inside { .. });
        simulator.add_buffer(
            body.copied().unwrap_or(graph.graph),
            &PlannedBuffer {
                name: &declared.name,
                file: declared.file.as_ref().unwrap_or(&program.file),
                line: declared.line,
                planned: inside && !program.outputs.contains(&buffer),
                address: graph.bases[buffer],
                bytes: graph.planned[declared.len].saturating_mul(u64::from(declared.element)),
                users: &users[buffer],
            },
        );
    }
}
