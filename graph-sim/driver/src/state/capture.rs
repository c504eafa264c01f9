//! Stream captures that are under way.

use std::collections::{BTreeMap, BTreeSet};

use super::graph::Dependencies;

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
