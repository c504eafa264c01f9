//! Stream capture: the work of a stream becomes nodes of a graph.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::config::device;
use crate::base::status::{Result, Status};
use crate::base::types::{CUgraphEdgeData, STREAM_LEGACY, STREAM_PER_THREAD};
use crate::state::capture::Capture;
use crate::state::graph::{Dependencies, PROGRAMMATIC, full};
use crate::state::op::{Fill, Op};
use crate::state::{CapturedPoint, State};

/// `CU_STREAM_CAPTURE_STATUS_*`.
pub const NONE: u32 = 0;
/// A capture is under way.
pub const ACTIVE: u32 = 1;
/// A capture was invalidated by a call that cannot be captured.
pub const INVALIDATED: u32 = 2;

/// `CU_STREAM_CAPTURE_MODE_GLOBAL`: calls that cannot be captured are refused in every thread.
const GLOBAL: u32 = 0;
/// `CU_STREAM_CAPTURE_MODE_RELAXED`: such calls are allowed.
const RELAXED: u32 = 2;

/// The launch attribute of programmatic stream serialization: the kernel may start before its predecessors in the stream end.
const SERIALIZATION: u32 = 6;

thread_local! {
    /// The capture mode of the calling thread.
    static MODE: std::cell::Cell<u32> = const { std::cell::Cell::new(GLOBAL) };
}

/// Sets the capture mode of the calling thread; returns the previous one.
pub fn exchange_mode(mode: u32) -> u32 {
    MODE.replace(mode)
}

impl State {
    /// Returns the capture that a stream is in.
    pub fn capture_of(&mut self, stream: u64) -> Option<&mut Capture> {
        self.captures.iter_mut().find(|capture| capture.streams.contains_key(&stream))
    }

    /// Returns a stream's capture status, and the number that is told of the capture.
    pub fn capture_status(&mut self, stream: u64) -> (u32, u64) {
        match self.capture_of(stream) {
            None => (NONE, 0),
            Some(capture) => (if capture.broken { INVALIDATED } else { ACTIVE }, capture.told),
        }
    }

    /// Refuses a call that a captured stream cannot make, and invalidates the capture.
    pub fn not_captured(&mut self, stream: u64) -> Result {
        match self.capture_of(stream) {
            None => Ok(()),
            Some(capture) => {
                capture.broken = true;
                Err(Status::STREAM_CAPTURE_UNSUPPORTED)
            }
        }
    }

    /// Refuses a call that cannot be captured and has no stream, such as `cuMemAlloc`, while the calling thread captures, or
    /// any thread in the global mode. The refusal invalidates the capture.
    pub fn not_while_capturing(&mut self) -> Result {
        let (mode, thread) = (MODE.get(), std::thread::current().id());
        let forbids = |capture: &&mut Capture| {
            mode != RELAXED
                && capture.mode != RELAXED
                && (capture.thread == thread || (mode == GLOBAL && capture.mode == GLOBAL))
        };
        match self.captures.iter_mut().find(forbids) {
            None => Ok(()),
            Some(capture) => {
                capture.broken = true;
                Err(Status::STREAM_CAPTURE_UNSUPPORTED)
            }
        }
    }

    /// Begins a capture, into a graph of the program, after nodes of it, or a new one.
    pub fn begin_capture(
        &mut self,
        stream: u64,
        mode: u32,
        graph: Option<u64>,
        dependencies: Dependencies,
    ) -> Result {
        if matches!(stream, 0 | STREAM_LEGACY) {
            return Err(Status::STREAM_CAPTURE_UNSUPPORTED);
        }
        if stream != STREAM_PER_THREAD && self.streams.get(stream).is_none() {
            return Err(Status::INVALID_HANDLE);
        }
        if self.capture_of(stream).is_some() {
            return Err(Status::ILLEGAL_STATE);
        }
        let graph = match graph {
            Some(graph) => {
                self.graph(graph)?;
                graph
            }
            None => self.create_graph(),
        };
        let (id, told) = (self.id(), self.graph(graph)?.id);
        let streams = BTreeMap::from([(stream, dependencies)]);
        let thread = std::thread::current().id();
        let given = BTreeSet::new();
        self.captures.push(Capture {
            id,
            told,
            origin: stream,
            graph,
            mode,
            thread,
            broken: false,
            streams,
            given,
        });
        Ok(())
    }

    /// Ends a capture and returns its graph.
    pub fn end_capture(&mut self, stream: u64) -> Result<u64> {
        let at = self.captures.iter().position(|capture| capture.streams.contains_key(&stream));
        let at = at.ok_or(Status::ILLEGAL_STATE)?;
        if self.captures[at].mode != RELAXED && self.captures[at].thread != std::thread::current().id() {
            return Err(Status::STREAM_CAPTURE_WRONG_THREAD);
        }
        if self.captures[at].origin != stream {
            return Err(Status::STREAM_CAPTURE_UNMATCHED);
        }
        let capture = self.captures.remove(at);
        let joined = self.leaves_are_in(&capture, stream);
        if capture.broken || !joined {
            // A graph given by the program is removed, too: its handle is invalid from then on.
            self.remove_graph(capture.graph);
            let why = if capture.broken {
                Status::STREAM_CAPTURE_INVALIDATED
            } else {
                Status::STREAM_CAPTURE_UNJOINED
            };
            return Err(why);
        }
        Ok(capture.graph)
    }

    /// Returns true if all work captured by other streams precedes the last node of the origin stream.
    fn leaves_are_in(&self, capture: &Capture, stream: u64) -> bool {
        let last = capture.streams.get(&stream).map_or(&[][..], |last| &last[..]);
        let mut seen: BTreeSet<u64> = last.iter().map(|node| node.0).collect();
        let mut work: Vec<u64> = seen.iter().copied().collect();
        while let Some(node) = work.pop() {
            let Some(node) = self.nodes.get(node) else { continue };
            work.extend(
                node.dependencies.iter().map(|before| before.0).filter(|&before| seen.insert(before)),
            );
        }
        let others = capture.streams.iter().filter(|(other, _)| **other != stream);
        others
            .flat_map(|(_, nodes)| nodes)
            .all(|(node, _)| seen.contains(node) || capture.given.contains(node))
    }

    /// Adds work to the graph of a stream's capture; returns false if the stream is not captured.
    pub fn capture(&mut self, stream: u64, op: &Op) -> Result<bool> {
        let Some(capture) = self.capture_of(stream) else { return Ok(false) };
        if capture.broken {
            return Err(Status::STREAM_CAPTURE_INVALIDATED);
        }
        let (graph, mut dependencies) =
            (capture.graph, capture.streams.get(&stream).cloned().unwrap_or_default());
        let context = self.stream_context(stream)?;
        let node = match op {
            Op::Child(child) => self.add_child(graph, dependencies, *child, false)?,
            Op::Kernel(launch) => {
                let mut launch = launch.clone();
                // Nodes have no stream, so the attribute becomes programmatic edges. Older devices ignore it.
                let programmatic =
                    launch.attributes.remove(&SERIALIZATION).is_some_and(|value| value[0] as u32 != 0);
                if programmatic && device().has_programmatic_launch() {
                    for (before, data) in &mut dependencies {
                        if matches!(self.node(*before)?.op, Op::Kernel(_)) {
                            *data = CUgraphEdgeData { from_port: 1, kind: PROGRAMMATIC, ..*data };
                        }
                    }
                }
                self.add_node(graph, dependencies, Op::Kernel(launch))?
            }
            // The graph may be launched in a stream of another context.
            Op::Fill(fill) => {
                let fill = Fill { context: fill.context.or(Some(context)), ..*fill };
                self.add_node(graph, dependencies, Op::Fill(fill))?
            }
            op => self.add_node(graph, dependencies, op.clone())?,
        };
        if let Some(last) = self.capture_of(stream).and_then(|capture| capture.streams.get_mut(&stream)) {
            *last = full(&[node]);
        }
        Ok(true)
    }

    /// Returns the last nodes of a captured stream, for an event recorded in it; `None` if the stream is not captured.
    pub fn capture_record(&mut self, stream: u64) -> Option<CapturedPoint> {
        let capture = self.capture_of(stream)?;
        let nodes = capture.streams.get(&stream)?.iter().map(|node| node.0).collect();
        Some(CapturedPoint { capture: capture.id, nodes })
    }

    /// Makes a stream wait for an event of a capture; the stream joins the capture.
    pub fn capture_wait(&mut self, stream: u64, captured: Option<CapturedPoint>) -> Result<bool> {
        let own = self.capture_of(stream).map(|capture| capture.id);
        match (own, captured) {
            (None, None) => Ok(false),
            (Some(_), None) => {
                // An event that was not captured: the wait would order the capture after work outside of it.
                self.not_captured(stream).map_err(|_| Status::STREAM_CAPTURE_ISOLATION)?;
                Ok(true)
            }
            (own, Some(CapturedPoint { capture: id, nodes })) => {
                let Some(capture) = self.captures.iter_mut().find(|capture| capture.id == id) else {
                    return Err(Status::CAPTURED_EVENT);
                };
                if own.is_some_and(|own| own != id) {
                    return Err(Status::STREAM_CAPTURE_MERGE);
                }
                let last = capture.streams.entry(stream).or_default();
                for node in nodes {
                    if !last.iter().any(|known| known.0 == node) {
                        last.push((node, Default::default()));
                    }
                }
                Ok(true)
            }
        }
    }
}
