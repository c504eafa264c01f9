//! Stream capture: the operations of a stream become nodes of a graph.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::config::device;
use crate::base::status::{Result, Status};
use crate::base::types::{CUgraphEdgeData, STREAM_LEGACY, STREAM_PER_THREAD};
use crate::graph::edit;
use crate::state::State;
use crate::state::capture::Capture;
use crate::state::graph::{Dependencies, PROGRAMMATIC, full};
use crate::state::operation::{MemoryFill, Operation};

/// The launch attribute `CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION`: the kernel may start before its
/// predecessors in the stream have ended.
const PROGRAMMATIC_SERIALIZATION: u32 = 6;

/// Begins a capture into a new graph, or into a graph of the program after some of its nodes.
pub fn begin(
    state: &mut State,
    stream: u64,
    mode: u32,
    graph: Option<u64>,
    dependencies: Dependencies,
) -> Result {
    if matches!(stream, 0 | STREAM_LEGACY) {
        return Err(Status::STREAM_CAPTURE_UNSUPPORTED);
    }
    if stream != STREAM_PER_THREAD && state.streams.get(stream).is_none() {
        return Err(Status::INVALID_HANDLE);
    }
    if state.captures.of_stream(stream).is_some() {
        return Err(Status::ILLEGAL_STATE);
    }
    let graph = match graph {
        Some(graph) => {
            state.definitions.graph(graph)?;
            graph
        }
        None => edit::create_graph(state),
    };
    let (id, reported_id) = (state.id(), state.definitions.graph(graph)?.id);
    let streams = BTreeMap::from([(stream, dependencies)]);
    let thread = std::thread::current().id();
    let manual_dependencies = BTreeSet::new();
    state.captures.begin(Capture {
        id,
        reported_id,
        origin: stream,
        graph,
        mode,
        thread,
        invalidated: false,
        streams,
        manual_dependencies,
    });
    Ok(())
}

/// Ends a capture and returns its graph.
pub fn end(state: &mut State, stream: u64) -> Result<u64> {
    let capture = state.captures.end(stream)?;
    let joined = are_streams_joined(state, &capture, stream);
    if capture.invalidated || !joined {
        // A graph passed by the program is removed as well: its handle is invalid afterwards.
        edit::remove_graph(state, capture.graph);
        let why = if capture.invalidated {
            Status::STREAM_CAPTURE_INVALIDATED
        } else {
            Status::STREAM_CAPTURE_UNJOINED
        };
        return Err(why);
    }
    Ok(capture.graph)
}

/// Returns true if all work captured in other streams precedes the last node of the origin stream.
fn are_streams_joined(state: &State, capture: &Capture, stream: u64) -> bool {
    let last = capture.streams.get(&stream).map_or(&[][..], |last| &last[..]);
    let mut seen: BTreeSet<u64> = last.iter().map(|node| node.0).collect();
    let mut work: Vec<u64> = seen.iter().copied().collect();
    while let Some(node) = work.pop() {
        let Some(node) = state.definitions.nodes.get(node) else { continue };
        work.extend(node.dependencies.iter().map(|before| before.0).filter(|&before| seen.insert(before)));
    }
    let others = capture.streams.iter().filter(|(other, _)| **other != stream);
    others
        .flat_map(|(_, nodes)| nodes)
        .all(|(node, _)| seen.contains(node) || capture.manual_dependencies.contains(node))
}

/// `CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE`.
const CLUSTER_SCHEDULING: u32 = 5;
/// `CU_CLUSTER_SCHEDULING_POLICY_SPREAD`.
const SPREAD: u64 = 1;

/// Adds an operation to the graph of a stream's capture. Returns false if the stream is not captured.
pub fn capture(state: &mut State, stream: u64, op: &Operation) -> Result<bool> {
    let Some(capture) = state.captures.of_stream(stream) else { return Ok(false) };
    if capture.invalidated {
        return Err(Status::STREAM_CAPTURE_INVALIDATED);
    }
    let (graph, mut dependencies) =
        (capture.graph, capture.streams.get(&stream).cloned().unwrap_or_default());
    let context = state.stream_context(stream)?;
    let node = match op {
        Operation::Child(child) => edit::add_child(state, graph, dependencies, *child, false)?,
        Operation::Kernel(launch) => {
            let mut launch = launch.clone();
            // Nodes have no stream, so the attribute becomes programmatic edges. Devices without them ignore it.
            let programmatic = launch
                .attributes
                .remove(&PROGRAMMATIC_SERIALIZATION)
                .is_some_and(|value| value[0] as u32 != 0);
            if programmatic && device().has_programmatic_launch() {
                for (before, data) in &mut dependencies {
                    if matches!(state.definitions.node(*before)?.op, Operation::Kernel(_)) {
                        *data = CUgraphEdgeData { from_port: 1, kind: PROGRAMMATIC, ..*data };
                    }
                }
            }
            // As driver 580.159 does on an H200, also for kernels without clusters.
            launch.attributes.entry(CLUSTER_SCHEDULING).or_insert([SPREAD, 0, 0, 0, 0, 0, 0, 0]);
            edit::add_node(state, graph, dependencies, Operation::Kernel(launch))?
        }
        // The graph may later be launched in a stream of another context.
        Operation::Fill(fill) => {
            let fill = MemoryFill { context: fill.context.or(Some(context)), ..*fill };
            edit::add_node(state, graph, dependencies, Operation::Fill(fill))?
        }
        op => edit::add_node(state, graph, dependencies, op.clone())?,
    };
    if let Some(last) = state.captures.of_stream(stream).and_then(|capture| capture.streams.get_mut(&stream))
    {
        *last = full(&[node]);
    }
    Ok(true)
}
