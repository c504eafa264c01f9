//! Stream captures that are under way.

use std::collections::{BTreeMap, BTreeSet};

use super::graph::Dependencies;
use super::resource::CapturedPoint;
use crate::base::status::{Result, Status};

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

thread_local! {
    /// The capture mode of the calling thread.
    static MODE: std::cell::Cell<u32> = const { std::cell::Cell::new(GLOBAL) };
}

/// Sets the capture mode of the calling thread; returns the previous one.
pub fn exchange_mode(mode: u32) -> u32 {
    MODE.replace(mode)
}

/// A capture that is under way.
pub struct Capture {
    /// Its number among all captures.
    pub id: u64,
    /// The number that programs are told: that of its graph, the same for all captures into one graph.
    pub told: u64,
    /// The stream that it began in.
    pub origin: u64,
    /// The graph that it fills.
    pub graph: u64,
    /// `CU_STREAM_CAPTURE_MODE_*`.
    pub mode: u32,
    /// The thread that began it.
    pub thread: std::thread::ThreadId,
    /// True if a call broke it.
    pub broken: bool,
    /// The streams in it, with the nodes that the next one depends on.
    pub streams: BTreeMap<u64, Dependencies>,
    /// The nodes that streams were made to depend on by hand: they need not be joined.
    pub given: BTreeSet<u64>,
}

/// The captures that are under way. A stream is in one at most.
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

    /// Returns the capture that a stream is in.
    pub fn of(&mut self, stream: u64) -> Option<&mut Capture> {
        self.list.iter_mut().find(|capture| capture.streams.contains_key(&stream))
    }

    /// Returns a stream's capture status, and the number that is told of the capture.
    pub fn status(&mut self, stream: u64) -> (u32, u64) {
        match self.of(stream) {
            None => (NONE, 0),
            Some(capture) => (if capture.broken { INVALIDATED } else { ACTIVE }, capture.told),
        }
    }

    /// Refuses a call that a captured stream cannot make, and invalidates the capture.
    pub fn refuse(&mut self, stream: u64) -> Result {
        match self.of(stream) {
            None => Ok(()),
            Some(capture) => {
                capture.broken = true;
                Err(Status::STREAM_CAPTURE_UNSUPPORTED)
            }
        }
    }

    /// Refuses a call that cannot be captured and has no stream, such as `cuMemAlloc`, while the calling thread captures, or
    /// any thread in the global mode. The refusal invalidates the capture.
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
                capture.broken = true;
                Err(Status::STREAM_CAPTURE_UNSUPPORTED)
            }
        }
    }

    /// Returns the last nodes of a captured stream, for an event recorded in it; `None` if the stream is not captured.
    pub fn record(&mut self, stream: u64) -> Option<CapturedPoint> {
        let capture = self.of(stream)?;
        let nodes = capture.streams.get(&stream)?.iter().map(|node| node.0).collect();
        Some(CapturedPoint { capture: capture.id, nodes })
    }

    /// Makes a stream wait for an event of a capture; the stream joins the capture.
    pub fn wait(&mut self, stream: u64, captured: Option<CapturedPoint>) -> Result<bool> {
        let own = self.of(stream).map(|capture| capture.id);
        match (own, captured) {
            (None, None) => Ok(false),
            (Some(_), None) => {
                // An event that was not captured: the wait would order the capture after work outside of it.
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
