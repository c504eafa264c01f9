//! Adds the nodes of a graph in the order of its operations. Operations that wait for a collective of another
//! device are deferred and added in later passes.

use std::collections::BTreeMap;

use cuweave_core::index::{Vector, size};
use cuweave_core::ir::{BufferId, StatementId, StatementKind};
use cuweave_core::operation::{MemoryId, Operation, OperationId, OperationKind};

use crate::build::arguments::body::Body;
use crate::build::calls::agreed::DeferredOperations;
use crate::build::calls::capture::CapturedNodes;
use crate::build::calls::captured::{capture, check_all_captured};
use crate::build::calls::collectives::{agree_collectives, deadlock_error, reach_collective};
use crate::build::conditional::bodies::BodyGraphs;
use crate::build::conditional::conditions::{begin_body, create_conditions, end_body, within};
use crate::build::merged::batches::add_batch;
use crate::build::merged::fused::add_fused;
use crate::build::profile::clocks::{begin_stamps, stamp};
use crate::build::profile::stamps::Stamps;
use crate::cuda::{Memset, Node, Outcome, ParameterValues, RawGraph, nvtx_range};
use crate::error::{Error, Result};
use crate::kernels::HUB;
use crate::statements::{AddContext, StatementRecordExt};

use super::annotate;
use super::builder::GraphBuilder;
use super::built::BuiltGraph;
use super::definition::Definition;

/// Adds all nodes. `memories` holds the addresses of memory that no node allocates, `inside` the buffers in
/// each memory. `body` runs the bodies of library calls. `stamps` records clocks for a profile's graph.
pub(crate) fn add_nodes(
    built: &mut BuiltGraph,
    definition: &mut Definition,
    body: &dyn Body,
    memories: Vector<MemoryId, u64>,
    inside: &Vector<MemoryId, Vec<BufferId>>,
    stamps: Option<&mut Stamps>,
) -> Result<()> {
    let (timed, into) = (stamps.is_some(), built.handle.graph);
    let mut builder = GraphBuilder {
        bodies: BodyGraphs::new(definition),
        streams: BTreeMap::new(),
        full: Vec::new(),
        deferred: DeferredOperations::default(),
        definition: &mut *definition,
        built: &mut *built,
        body,
        memories,
        inside,
        stamps,
        into,
    };
    agree_collectives(&mut builder)?;
    create_conditions(&mut builder, None, into)?;
    add_all(&mut builder)?;
    let GraphBuilder { full, bodies, .. } = builder;
    built.handle.bodies = bodies.graphs;
    built.handle.conditions = bodies.nodes;
    // A profile's graph has clock nodes in between. The profiled graph, with the same calls, has been checked.
    if !timed {
        check_all_captured(built, definition)?;
    }
    built.plan.record_full_edges(&full);
    annotate::annotate(&built.annotated(definition));
    Ok(())
}

/// Adds the nodes of all operations, in passes until none is deferred.
fn add_all(builder: &mut GraphBuilder<'_>) -> Result<()> {
    let operations = builder.built.plan.operations.clone();
    let list = &operations.list;
    builder.built.handle.nodes = Vector::filled(Node::NONE, list.len());
    begin_stamps(builder)?;
    let mut left: Vec<OperationId> = list.ids().collect();
    let mut again = false;
    while !left.is_empty() {
        let (count, mut late) = (left.len(), Vec::new());
        for at in left {
            // The arrival of a group's last rank has added its other collectives already.
            if again && !builder.deferred.late.contains(&at) {
                continue;
            }
            if builder.deferred.blocks(&list[at]) || !add_one(builder, at, &list[at])? {
                builder.deferred.late.insert(at);
                late.push(at);
            }
        }
        late.retain(|at| builder.deferred.late.contains(at));
        if late.len() == count {
            return Err(deadlock_error(builder, &list[late[0]]));
        }
        (left, again) = (late, true);
    }
    Ok(())
}

/// Adds the nodes of an operation. Returns false for a collective that other ranks have not reached yet: the
/// last rank adds it.
fn add_one(builder: &mut GraphBuilder<'_>, at: OperationId, operation: &Operation) -> Result<bool> {
    let _range = nvtx_range(|| range_name(builder, operation));
    let programmatic =
        operation.programmatic.filter(|before| match builder.built.handle.captured.get(before) {
            Some(captured) => captured.ends_in_kernel,
            None => true,
        });
    let (edge_graph, after) = dependencies(builder, operation, programmatic)?;
    if builder.built.agreed.is_collective(operation) {
        let all = reach_collective(builder, at, operation, &after)?;
        let arrived = !all.is_empty();
        for (member, captured) in all {
            note_captured(builder, member, captured);
        }
        if arrived {
            builder.deferred.late.remove(&at);
            stamp(builder, operation)?;
        }
        return Ok(arrived);
    }
    if programmatic != operation.programmatic {
        builder.full.push(at);
    }
    let several = add_several(builder, operation, &after)?;
    if !builder.bodies.is_empty() && several.as_ref().is_none_or(|captured| !captured.nodes.is_empty()) {
        let scope = builder.bodies.around(&builder.built.plan.operations, operation);
        builder.bodies.mark_filled(scope);
    }
    let first = if let Some(captured) = several {
        let first = captured.nodes.first().copied();
        let node = note_captured(builder, at, captured);
        first.unwrap_or(node)
    } else {
        let node = add(builder, operation, &after)?;
        builder.built.handle.nodes[at] = node;
        node
    };
    if let Some(before) = programmatic {
        let before = builder.built.handle.nodes[before];
        let driver = builder.definition.driver;
        driver
            .add_programmatic_edge(edge_graph, before, first, operation.launch_order)
            .map_err(|failure| builder.failed(operation, failure))?;
    }
    builder.deferred.late.remove(&at);
    stamp(builder, operation)?;
    Ok(true)
}

/// Returns the name of the range in which an operation's node is added: the first of its statements with its source, and
/// the number of the others.
fn range_name(builder: &GraphBuilder<'_>, operation: &Operation) -> String {
    match operation.sources.len() {
        0 | 1 => builder.at(operation).to_string(),
        several => format!("{} and {} more", builder.at(operation), several - 1),
    }
}

/// Records the nodes of an operation that has several. Returns the node that represents it.
fn note_captured(builder: &mut GraphBuilder<'_>, at: OperationId, captured: CapturedNodes) -> Node {
    let handle = &mut builder.built.handle;
    let node = captured.frontier.first().copied().unwrap_or(Node::NONE);
    handle.nodes[at] = node;
    handle.captured.insert(at, captured);
    node
}

/// Selects the graph that an operation's node is added to, and collects its full-edge predecessors. Also
/// returns the graph of these predecessors, which for the end of a body is the body's.
fn dependencies(
    builder: &mut GraphBuilder<'_>,
    operation: &Operation,
    programmatic: Option<OperationId>,
) -> Result<(RawGraph, Vec<Node>)> {
    let GraphBuilder { built, bodies, .. } = &*builder;
    let (plan, handle) = (&built.plan, &built.handle);
    let (mut into, mut edge_graph) = (builder.into, handle.graph);
    let inside: Vec<OperationId>;
    let mut before = operation.after.as_slice();
    if !bodies.is_empty() {
        let scope = bodies.around(&plan.operations, operation);
        into = bodies.graph(scope).unwrap_or(handle.graph);
        let ends_body = operation.kind == OperationKind::Statement(StatementKind::Join(()));
        let bordered = operation.sources.first().and_then(|&join| bodies.scopes.bordered(join));
        let scope = if ends_body { bordered } else { scope };
        edge_graph = bodies.graph(scope).unwrap_or(handle.graph);
        inside = within(&plan.operations, bodies, operation, scope)?;
        before = &inside;
    }
    let mut after = Vec::new();
    if let Some(stamps) = &builder.stamps {
        after.extend(stamps.last(edge_graph));
    } else {
        let before = before.iter().filter(|&&before| programmatic != Some(before));
        before.for_each(|&before| handle.push_frontier(before, &mut after));
    }
    if !handle.captured.is_empty() {
        // Calls that captured nothing have their predecessors as the frontier, so duplicates occur.
        after.sort_unstable();
        after.dedup();
    }
    builder.into = into;
    Ok((edge_graph, after))
}

/// Adds the nodes of an operation whose kind has several. `None` for other kinds.
fn add_several(
    builder: &mut GraphBuilder<'_>,
    operation: &Operation,
    after: &[Node],
) -> Result<Option<CapturedNodes>> {
    Ok(Some(match operation.kind {
        OperationKind::Statement(StatementKind::Capture(())) => capture(builder, operation, after)?,
        OperationKind::Statement(StatementKind::Condition(())) => begin_body(builder, operation, after)?,
        OperationKind::Statement(StatementKind::Join(())) => end_body(builder, operation, after)?,
        _ => return Ok(None),
    }))
}

/// Adds the node of an operation.
fn add(builder: &mut GraphBuilder<'_>, operation: &Operation, after: &[Node]) -> Result<Node> {
    // Fast path for a plain launch, without a search for a batch or a chain.
    if operation.kind != OperationKind::Hub
        && let &[statement] = operation.sources.as_slice()
        && let StatementKind::Launch(launch) = builder.built.state.records[statement]
    {
        let BuiltGraph { plan, state, .. } = &mut *builder.built;
        state.write_addresses(&plan.operations, statement, &launch);
        let words = &state.words[size(launch.first)..];
        let values = ParameterValues { words, params: launch.kernel.params };
        let added = builder.definition.driver.add_kernel(
            builder.into,
            after,
            &launch.kernel_launch(),
            values,
            &mut state.scratch,
        );
        return added.map_err(|failure| builder.failed(operation, failure));
    }
    if operation.sources.len() > 1 {
        return match builder.built.plan.operations.chain_of(operation) {
            Some(chain) => add_fused(builder, operation, chain, after),
            None => add_batch(builder, operation, after),
        };
    }
    let (driver, graph) = (builder.definition.driver, builder.into);
    let added = match operation.kind {
        OperationKind::Alloc { memory } => {
            let bytes = builder.built.plan.operations.memories[memory].bytes;
            let GraphBuilder { definition, inside, .. } = &*builder;
            let others = definition.peers.peer_handles(&definition.contexts, &inside[memory]);
            let device = &definition.contexts[operation.device];
            driver.add_alloc(graph, after, bytes, device, &others).map(|(node, address)| {
                builder.memories[memory] = address;
                builder.built.set_addresses(&builder.inside[memory], address);
                node
            })
        }
        OperationKind::Free { memory } => {
            let address = builder.memories[memory];
            match &builder.built.plan.operations.memories[memory] {
                block if block.node => driver.add_free(graph, after, address),
                block => {
                    let context = builder.definition.context_of(operation.device);
                    driver.add_fill(graph, after, &freed_memory(address, block.bytes, FREED), context)
                }
            }
        }
        OperationKind::FreeTaken { buffer } => {
            driver.add_free(graph, after, builder.built.state.bases[buffer])
        }
        OperationKind::Hub => {
            let at = Some(builder.at(operation));
            return builder.add_single(graph, after, &HUB, &[], operation.device, at);
        }
        OperationKind::Statement(_) => add_statement(builder, operation, operation.sources[0], after)?,
    };
    added.map_err(|failure| builder.failed(operation, failure))
}

/// The value that a graph without memory nodes sets the bytes of freed memory to.
pub(crate) const FREED: u8 = 0xa5;

/// Returns the memset that sets all bytes of freed memory to a value.
pub(crate) fn freed_memory(address: u64, bytes: u64, value: u8) -> Memset {
    match bytes.is_multiple_of(4) {
        true => Memset::line(address, u32::from_ne_bytes([value; 4]), 4, bytes / 4),
        false => Memset::line(address, value.into(), 1, bytes),
    }
}

/// Adds the node of an operation with a single statement.
fn add_statement(
    builder: &mut GraphBuilder<'_>,
    operation: &Operation,
    statement: StatementId,
    after: &[Node],
) -> Result<Outcome<Node>> {
    if !builder.program().statements[statement].kind.is_allowed_in_body()
        && let Some(body) = builder.body_name(operation)
    {
        return Err(Error::InBody { at: builder.at(operation), body });
    }
    let (driver, graph) = (builder.definition.driver, builder.into);
    let (built, definition) = (&mut *builder.built, &mut *builder.definition);
    built.resolve_own(definition, statement)?;
    let mut scratch = std::mem::take(&mut built.state.scratch);
    let emission = built.emission(&definition.flat, &definition.dims);
    let added = built.state.records[statement].node(&emission, statement, |node| {
        let context = definition.context_of(definition.peers.context_device(statement, operation.device));
        let (words, scratch) = (&built.state.words, &mut scratch);
        node.add(AddContext { driver, context, graph, after, words, scratch })
    });
    built.state.scratch = scratch;
    added
}
