//! Captures the nodes of library calls while a graph's other nodes are added: prepares the [`CallCapture`] of a
//! call, runs its body, and checks afterwards that no captured node is left over.

use std::collections::btree_map::Entry;

use cuweave_core::ir::{Device, StatementId, StatementKind};
use cuweave_core::operation::{Operation, OperationId, OperationKind};

use crate::build::arguments::body::enter;
use crate::build::graph::builder::GraphBuilder;
use crate::build::graph::built::BuiltGraph;
use crate::build::graph::definition::Definition;
use crate::cuda::{CaptureStream, Collective, ElementRange, Node, Outcome, RawGraph};
use crate::error::{CallFault, ConfigFault, Error, Result, SourceLocation};
use crate::statements::EmissionContext;
use crate::token::Token;
use cuweave_core::flattened::Flattened;

use super::capture::{CallCapture, CapturedNodes};

/// Captures the nodes of a library call. If a failure makes the graph unusable, clears the builder's handle of
/// it.
pub(crate) fn capture(
    builder: &mut GraphBuilder<'_>,
    operation: &Operation,
    after: &[Node],
) -> Result<CapturedNodes> {
    let statement = operation.sources[0];
    let at = builder.at(operation);
    let definition = &builder.definition;
    let (driver, context) = (definition.driver, definition.context_of(operation.device));
    driver.enter(context).map_err(|failure| builder.failed(operation, failure))?;
    let (flat, body) = (definition.flat.clone(), builder.body);
    let frame = flat.instances[statement].frame;
    let callee = flat.frames[frame].table.clone();
    let memory = memory(&flat, &builder.built.emission(&flat, &definition.dims), statement);
    let (in_body, graph) = (builder.body_name(operation), builder.into);
    let stream = capture_stream(builder, operation.device);
    let stream = stream.map_err(|failure| Error::driver(failure, Some(at.clone())))?;
    let mut capture = CallCapture {
        driver,
        context,
        graph,
        in_body,
        after,
        stream,
        callee,
        memory,
        captured: None,
        graph_unusable: false,
        describes: false,
        described: None,
        at,
    };
    let done = enter(body, &flat.frames, frame, &mut |body| body.capture(&mut capture, Token));
    let CallCapture { captured, graph_unusable, at, .. } = capture;
    if graph_unusable {
        builder.built.handle.graph = RawGraph::NONE;
        builder.streams.clear();
    }
    let returns = |reason| Error::Config { at: at.clone(), reason };
    done.unwrap_or_else(|| Err(returns(ConfigFault::ArgumentReturns)))?;
    captured.ok_or_else(|| returns(ConfigFault::ReturnsBeforeCall))
}

/// Returns the capturing stream of a device. Creates it on first use.
pub(crate) fn capture_stream<'s>(
    builder: &'s mut GraphBuilder<'_>,
    device: Device,
) -> Outcome<&'s mut CaptureStream> {
    let definition = &builder.definition;
    Ok(match builder.streams.entry(device) {
        Entry::Occupied(stream) => stream.into_mut(),
        Entry::Vacant(none) => {
            let ctx = &definition.contexts[device];
            definition.driver.enter(definition.context_of(device))?;
            none.insert(CaptureStream::new(definition.driver, ctx)?)
        }
    })
}

/// Runs the body of a collective, which describes the collective instead of enqueuing it.
pub(crate) fn describe(
    builder: &mut GraphBuilder<'_>,
    statement: StatementId,
    device: Device,
    at: &SourceLocation,
) -> Result<Collective> {
    let at = Box::new(at.clone());
    let failed = |failure| Error::driver(failure, Some(at.clone()));
    let definition = &builder.definition;
    let (driver, context) = (definition.driver, definition.context_of(device));
    driver.enter(context).map_err(failed)?;
    let (flat, body) = (definition.flat.clone(), builder.body);
    let frame = flat.instances[statement].frame;
    let memory = memory(&flat, &builder.built.emission(&flat, &definition.dims), statement);
    let graph = builder.into;
    let stream = capture_stream(builder, device).map_err(failed)?;
    let mut capture = CallCapture {
        driver,
        context,
        graph,
        in_body: None,
        after: &[],
        stream,
        callee: flat.frames[frame].table.clone(),
        memory,
        captured: None,
        graph_unusable: false,
        describes: true,
        described: None,
        at: at.clone(),
    };
    let done = enter(body, &flat.frames, frame, &mut |body| body.capture(&mut capture, Token));
    let described = capture.described;
    let returns = || Error::Config { at: at.clone(), reason: ConfigFault::ArgumentReturns };
    done.unwrap_or_else(|| Err(returns()))?;
    described.ok_or_else(returns)
}

/// Checks that a graph with library calls has only nodes that were added or were reached from the frontiers of
/// the captures. Graphs with conditional nodes are not checked.
pub(crate) fn check_all_captured(built: &BuiltGraph, definition: &Definition) -> Result<()> {
    let BuiltGraph { plan, handle, .. } = built;
    let list = &plan.operations.list;
    let is_condition = |operation: &Operation| {
        matches!(
            operation.kind,
            OperationKind::Statement(StatementKind::Condition(()) | StatementKind::Join(()))
        )
    };
    if handle.captured.is_empty() || list.iter().any(is_condition) {
        return Ok(());
    }
    let driver = definition.driver;
    let own = |captured: &CapturedNodes| captured.nodes.len() - captured.inner;
    let captured = handle.captured.values().map(own).sum::<usize>();
    let known = captured + handle.nodes.len() - handle.captured.len();
    let count = driver.node_count(handle.graph)?;
    if count == known {
        return Ok(());
    }
    // Blame the call that has one of the node's predecessors, or else a call that comes after the same
    // predecessors.
    let of_call = |node: &Node| handle.captured.iter().find(|(_, captured)| captured.nodes.contains(node));
    let mut blamed = None;
    for node in driver.graph_nodes(handle.graph, count)? {
        if of_call(&node).is_some() || handle.nodes.iter().any(|&other| other == node) {
            continue;
        }
        for (before, _) in driver.dependencies(node)? {
            let comes_after = |&&at: &&OperationId| {
                let mut after = Vec::new();
                list[at].after.iter().for_each(|&before| handle.push_frontier(before, &mut after));
                after.contains(&before)
            };
            let call =
                of_call(&before).map(|(at, _)| at).or_else(|| handle.captured.keys().find(comes_after));
            blamed = blamed.or(call.copied());
        }
    }
    let blamed = blamed.or_else(|| handle.captured.keys().next().copied());
    match blamed {
        Some(call) => {
            let at = plan.at(definition.program(), &list[call]);
            Err(Error::Call { at, fault: CallFault::Dangling })
        }
        None => Ok(()),
    }
}

/// Returns the memory of each buffer and scratch of a library call, in the order of its declaration.
fn memory(flat: &Flattened, emission: &EmissionContext<'_>, statement: StatementId) -> Vec<ElementRange> {
    let frame = &flat.frames[flat.instances[statement].frame];
    let declared = &frame.table.program.statements[flat.instances[statement].template].accesses;
    let mut given = 0..;
    declared
        .iter()
        .map(|access| match frame.empty.contains(&access.buffer) {
            true => ElementRange::default(),
            false => given.next().map(|index| emission.elements_of(statement, index)).unwrap_or_default(),
        })
        .collect()
}
