//! Captures the nodes of library calls while a graph's other nodes are added: prepares the [`CallCapture`] of a
//! call, runs its body, and checks afterwards that no captured node is left over.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use cuweave_core::ir::{Device, StatementId, StatementKind};
use cuweave_core::operation::{Operation, OperationId, OperationKind};

use crate::build::arguments::body::{Body, enter};
use crate::build::graph::builder::GraphBuilder;
use crate::build::graph::built::BuiltGraph;
use crate::build::graph::definition::Definition;
use crate::cuda::{CallNodes, CaptureStream, Collective, ElementRange, GraphShape, Node, Outcome, RawGraph};
use crate::error::{CallFault, ConfigFault, Error, Result, SourceLocation, at_statement};
use crate::statements::{EmissionContext, element};
use crate::token::Token;
use cuweave_core::flattened::Flattened;

use super::capture::{ByteFill, CallCapture, CapturedNodes};
use super::children::{CapturedChild, OwnedGraph, SizeValues, SizedCall, add_captured};

/// Captures the nodes of a library call. If a failure makes the graph unusable, clears the builder's handle of
/// it. A call that sizes reach is captured by itself, and becomes a child graph.
pub(crate) fn capture(
    builder: &mut GraphBuilder<'_>,
    operation: &Operation,
    after: &[Node],
) -> Result<CapturedNodes> {
    let call = operation.sources[0];
    if !builder.definition.flat.sizes_of_call(call).is_empty() {
        return capture_sized(builder, call, after);
    }
    let (at, in_body) = (builder.at(operation), builder.body_name(operation));
    let failed = |failure| Error::driver(failure, Some(at.clone()));
    let GraphBuilder { definition, built, body, streams, into, .. } = builder;
    let stream = stream_of(streams, definition, operation.device).map_err(failed)?;
    let run = BodyRun { call, at, graph: *into, after, leading_fill: None, in_body, describes: false };
    let done = run.run(definition, built, *body, stream)?;
    if done.graph_unusable {
        builder.built.handle.graph = RawGraph::NONE;
        builder.streams.clear();
    }
    done.captured()
}

/// Captures a library call that sizes reach, and adds its graph as a child graph.
fn capture_sized(builder: &mut GraphBuilder<'_>, call: StatementId, after: &[Node]) -> Result<CapturedNodes> {
    let GraphBuilder { definition, built, body, streams, into, .. } = builder;
    let sizes = definition.flat.sizes_of_call(call);
    let values = SizeValues::new(definition, *body)?.of(&sizes);
    let graph = capture_alone(definition, built, *body, streams, call, None, None)?;
    let at = at_statement(definition.program(), call);
    let failed = |failure| Error::driver(failure, Some(at.clone()));
    let shape = shape_of(definition, call, &graph).map_err(failed)?;
    let leading_fill = leading_fill(definition, built, call, &shape, &graph).map_err(failed)?;
    let captured = add_captured(*into, after.to_vec(), &graph).map_err(failed)?;
    let node = captured.nodes.first().copied().unwrap_or(Node::NONE);
    let sized = SizedCall::new(sizes, shape, node, leading_fill, CapturedChild { values, graph });
    built.handle.children.insert(call, sized);
    Ok(captured)
}

/// Returns the shape of the graph that a library call captured.
pub(super) fn shape_of(
    definition: &Definition,
    call: StatementId,
    graph: &OwnedGraph,
) -> Outcome<GraphShape> {
    // CUdevice_attribute: compute capability, major.
    let ctx = &definition.contexts[definition.program().statements[call].device];
    let major = definition.driver.device_attribute(ctx, 75)?;
    definition.driver.shape_of(graph.graph, major)
}

/// Returns the fill that a captured graph begins with, if it fills scratch of the call, which no body can tell.
fn leading_fill(
    definition: &Definition,
    built: &BuiltGraph,
    call: StatementId,
    shape: &GraphShape,
    graph: &OwnedGraph,
) -> Outcome<Option<ByteFill>> {
    if !shape.begins_with_fill() {
        return Ok(None);
    }
    let first = definition.driver.graph_nodes(graph.graph, 1)?;
    let fill = first.first().map(|&node| definition.driver.fill_of(node)).transpose()?;
    let accesses = definition.program().statements[call].accesses.iter().enumerate();
    let emission = built.emission(&definition.flat, &definition.dims);
    let own = accesses.zip(definition.flat.scratch(call)).filter(|(_, is_scratch)| *is_scratch);
    let mut scratch = own.map(|((at, access), _)| {
        let ElementRange { address, len } = emission.elements_of(call, at);
        address..address.saturating_add(len.saturating_mul(element(definition.program(), access.buffer)))
    });
    let fill = fill.filter(|fill| fill.rows == 1).and_then(ByteFill::from_row);
    Ok(fill.filter(|fill| {
        let end = fill.address.saturating_add(fill.bytes);
        scratch.any(|bytes| bytes.start <= fill.address && end <= bytes.end)
    }))
}

/// Captures a library call into a graph of its own, after a fill. `nodes` are those of the graph that it is for.
pub(super) fn capture_alone(
    definition: &Definition,
    built: &BuiltGraph,
    body: &dyn Body,
    streams: &mut BTreeMap<Device, CaptureStream>,
    call: StatementId,
    leading_fill: Option<ByteFill>,
    nodes: Option<CallNodes>,
) -> Result<OwnedGraph> {
    let (driver, device) = (definition.driver, definition.program().statements[call].device);
    let at = at_statement(definition.program(), call);
    let failed = |failure| Error::driver(failure, Some(at.clone()));
    let stream = stream_of(streams, definition, device).map_err(failed)?;
    let graph = driver.create_graph().map_err(failed)?;
    let mut graph = OwnedGraph { driver, ctx: definition.contexts[device].clone(), graph };
    let run = BodyRun {
        call,
        at: at.clone(),
        graph: graph.graph,
        after: &[],
        leading_fill,
        in_body: None,
        describes: false,
    };
    stream.set_sizes(true, nodes);
    let done = run.run(definition, built, body, stream);
    stream.set_sizes(false, None);
    let done = done?;
    if done.graph_unusable {
        graph.graph = RawGraph::NONE;
        streams.clear();
    }
    let captured = done.captured()?;
    if driver.node_count(graph.graph).map_err(failed)? != captured.nodes.len() {
        return Err(Error::Call { at, fault: CallFault::Dangling });
    }
    if captured.has_programmatic_edges {
        // A child graph might end before kernels that no later one waits for.
        driver.add_empty(graph.graph, &captured.frontier).map_err(failed)?;
    }
    Ok(graph)
}

/// A run of the body of a library call.
struct BodyRun<'r> {
    call: StatementId,
    at: Box<SourceLocation>,
    /// The graph that its work is captured into, after these nodes.
    graph: RawGraph,
    after: &'r [Node],
    /// A fill that is captured before it.
    leading_fill: Option<ByteFill>,
    /// The name of the conditional body whose graph this is.
    in_body: Option<String>,
    /// True if it only describes a collective.
    describes: bool,
}

/// The outcome of a run.
struct FinishedRun {
    done: Option<Result<()>>,
    captured: Option<CapturedNodes>,
    described: Option<Collective>,
    graph_unusable: bool,
    at: Box<SourceLocation>,
}

impl BodyRun<'_> {
    fn run(
        self,
        definition: &Definition,
        built: &BuiltGraph,
        body: &dyn Body,
        stream: &mut CaptureStream,
    ) -> Result<FinishedRun> {
        let BodyRun { call, at, graph, after, leading_fill, in_body, describes } = self;
        let (driver, flat) = (definition.driver, &definition.flat);
        let context = definition.context_of(definition.program().statements[call].device);
        driver.enter(context).map_err(|failure| Error::driver(failure, Some(at.clone())))?;
        let frame = flat.instances[call].frame;
        let mut capture = CallCapture {
            driver,
            context,
            graph,
            in_body,
            after,
            leading_fill,
            stream,
            callee: flat.frames[frame].table.clone(),
            memory: memory(flat, &built.emission(flat, &definition.dims), call),
            captured: None,
            graph_unusable: false,
            describes,
            described: None,
            at,
        };
        let done = enter(body, &flat.frames, frame, &mut |body| body.capture(&mut capture, Token));
        let CallCapture { captured, described, graph_unusable, at, .. } = capture;
        Ok(FinishedRun { done, captured, described, graph_unusable, at })
    }
}

impl FinishedRun {
    /// Returns the captured nodes.
    fn captured(self) -> Result<CapturedNodes> {
        let returns = |reason| Error::Config { at: self.at.clone(), reason };
        self.done.unwrap_or_else(|| Err(returns(ConfigFault::ArgumentReturns)))?;
        self.captured.ok_or_else(|| returns(ConfigFault::ReturnsBeforeCall))
    }

    /// Returns the described collective.
    fn described(self) -> Result<Collective> {
        let returns = || Error::Config { at: self.at.clone(), reason: ConfigFault::ArgumentReturns };
        self.done.unwrap_or_else(|| Err(returns()))?;
        self.described.ok_or_else(returns)
    }
}

/// Returns the capturing stream of a device. Creates it on first use.
pub(crate) fn capture_stream<'s>(
    builder: &'s mut GraphBuilder<'_>,
    device: Device,
) -> Outcome<&'s mut CaptureStream> {
    stream_of(&mut builder.streams, builder.definition, device)
}

fn stream_of<'s>(
    streams: &'s mut BTreeMap<Device, CaptureStream>,
    definition: &Definition,
    device: Device,
) -> Outcome<&'s mut CaptureStream> {
    Ok(match streams.entry(device) {
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
    let GraphBuilder { definition, built, body, streams, into, .. } = builder;
    let stream =
        stream_of(streams, definition, device).map_err(|failure| Error::driver(failure, Some(at.clone())))?;
    let run = BodyRun {
        call: statement,
        at,
        graph: *into,
        after: &[],
        leading_fill: None,
        in_body: None,
        describes: true,
    };
    run.run(definition, built, *body, stream)?.described()
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
