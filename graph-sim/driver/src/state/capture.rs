//! Active stream captures.

use std::collections::{BTreeMap, BTreeSet};

use super::graph::Dependencies;
use super::resource::CapturedPoint;
use crate::base::status::{Result, Status};

/// `CU_STREAM_CAPTURE_STATUS_*`: the stream is not captured.
pub const NONE: u32 = 0;
/// The stream is captured.
pub const ACTIVE: u32 = 1;
/// The capture was invalidated by a call that cannot be captured.
pub const INVALIDATED: u32 = 2;

/// `CU_STREAM_CAPTURE_MODE_GLOBAL`: calls that cannot be captured fail in every thread.
const GLOBAL: u32 = 0;
/// `CU_STREAM_CAPTURE_MODE_RELAXED`: such calls are allowed.
const RELAXED: u32 = 2;

thread_local! {
    static MODE: std::cell::Cell<u32> = const { std::cell::Cell::new(GLOBAL) };
}

/// Sets the capture mode of the calling thread and returns the previous one.
pub fn exchange_mode(mode: u32) -> u32 {
    MODE.replace(mode)
}

/// An active capture.
pub struct Capture {
    /// A number unique among captures.
    pub id: u64,
    /// The id reported to the program: that of the graph, so captures into one graph share it.
    pub reported_id: u64,
    /// The stream in which the capture began.
    pub origin: u64,
    /// The graph to which nodes are added.
    pub graph: u64,
    /// `CU_STREAM_CAPTURE_MODE_*`.
    pub mode: u32,
    /// The thread that began the capture.
    pub thread: std::thread::ThreadId,
    /// True if a call invalidated the capture.
    pub invalidated: bool,
    /// The captured streams, each with the dependencies of its next node.
    pub streams: BTreeMap<u64, Dependencies>,
    /// Nodes that the program set as dependencies by hand. They need not be joined into the origin stream.
    pub manual_dependencies: BTreeSet<u64>,
}

/// The active captures. A stream is in at most one of them.
#[derive(Default)]
pub struct Captures {
    list: Vec<Capture>,
}

impl Captures {
    /// Adds a capture.
    pub fn begin(&mut self, capture: Capture) {
        self.list.push(capture);
    }

    /// Removes the capture that began in a stream.
    pub fn end(&mut self, stream: u64) -> Result<Capture> {
        let at = self.list.iter().position(|capture| capture.streams.contains_key(&stream));
        let at = at.ok_or(Status::ILLEGAL_STATE)?;
        if self.list[at].mode != RELAXED && self.list[at].thread != std::thread::current().id() {
            return Err(Status::STREAM_CAPTURE_WRONG_THREAD);
        }
        if self.list[at].origin != stream {
            return Err(Status::STREAM_CAPTURE_UNMATCHED);
        }
        Ok(self.list.remove(at))
    }

    /// Returns the capture of a stream; `None` if the stream is not captured.
    pub fn of_stream(&mut self, stream: u64) -> Option<&mut Capture> {
        self.list.iter_mut().find(|capture| capture.streams.contains_key(&stream))
    }

    /// Returns a stream's capture status and the id of its capture.
    pub fn status(&mut self, stream: u64) -> (u32, u64) {
        match self.of_stream(stream) {
            None => (NONE, 0),
            Some(capture) => (if capture.invalidated { INVALIDATED } else { ACTIVE }, capture.reported_id),
        }
    }

    /// Refuses a call that cannot be captured, and invalidates the capture of its stream.
    pub fn refuse(&mut self, stream: u64) -> Result {
        match self.of_stream(stream) {
            None => Ok(()),
            Some(capture) => {
                capture.invalidated = true;
                Err(Status::STREAM_CAPTURE_UNSUPPORTED)
            }
        }
    }

    /// Refuses a call without a stream that cannot be captured, such as `cuMemAlloc`. It is refused if the
    /// calling thread captures, or if any thread captures in the global mode. The refusal invalidates the
    /// capture.
    pub fn refuse_without_stream(&mut self) -> Result {
        let (mode, thread) = (MODE.get(), std::thread::current().id());
        let forbids = |capture: &&mut Capture| {
            mode != RELAXED
                && capture.mode != RELAXED
                && (capture.thread == thread || (mode == GLOBAL && capture.mode == GLOBAL))
        };
        match self.list.iter_mut().find(forbids) {
            None => Ok(()),
            Some(capture) => {
                capture.invalidated = true;
                Err(Status::STREAM_CAPTURE_UNSUPPORTED)
            }
        }
    }

    /// Returns the last nodes of a captured stream, for an event recorded in it; `None` if the stream is not
    /// captured.
    pub fn record(&mut self, stream: u64) -> Option<CapturedPoint> {
        let capture = self.of_stream(stream)?;
        let nodes = capture.streams.get(&stream)?.iter().map(|node| node.0).collect();
        Some(CapturedPoint { capture: capture.id, nodes })
    }

    /// Makes a stream wait for an event of a capture, so that the stream joins the capture. Returns false if
    /// neither the event nor the stream is captured.
    pub fn wait(&mut self, stream: u64, captured: Option<CapturedPoint>) -> Result<bool> {
        let own = self.of_stream(stream).map(|capture| capture.id);
        match (own, captured) {
            (None, None) => Ok(false),
            (Some(_), None) => {
                // The event was not captured. The wait would make the capture depend on work outside it.
                self.refuse(stream).map_err(|_| Status::STREAM_CAPTURE_ISOLATION)?;
                Ok(true)
            }
            (own, Some(CapturedPoint { capture: id, nodes })) => {
                let Some(capture) = self.list.iter_mut().find(|capture| capture.id == id) else {
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
