//! Profiles and their entries.

use cuweave_core::location::At;
use cuweave_core::picture::real;

use super::numbers::bandwidth;

/// The time of each node of a graph.
///
/// The times of [`entries`](Profile::entries) are measured in a second graph, in which the nodes run one after the other with an event
/// record node behind each. So they need not add up to the time of a launch: [`sum`](Profile::sum) and
/// [`critical_path`](Profile::critical_path) stand beside the times of real [`launches`](Profile::total).
///
/// Its `Display` is a table of the nodes, the slowest first, in which the turns of loops are one row.
/// [`svg`](Profile::svg) and [`chrome_trace`](Profile::chrome_trace) are pictures.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Profile {
    /// The graph function.
    pub at: At,
    /// The number of launches of the exec, and of the serialised graph.
    pub launches: u32,
    /// True if the driver is the simulated one, whose times mean nothing.
    pub simulated: bool,
    /// The time of a launch of the exec, between two events in its stream.
    pub total: Times,
    /// The time of a kernel that does nothing, measured as the entries are, in microseconds: no entry with a kernel is measured shorter
    /// than about that, however short it is in the real graph.
    pub empty_kernel: f64,
    /// The time between two events with nothing between them, in microseconds, which the times of the entries are without.
    pub empty_pair: f64,
    /// The nodes, in the order in which they were measured.
    pub entries: Vec<Entry>,
}

/// A node of a profile: a statement, a batch of launches, a library call with all of its nodes, a conditional node with its body, or a node
/// that the compiler placed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Entry {
    /// The path of the statement: `block[3].gate`. That of a batch names its first member.
    pub name: String,
    /// The file and line of the statement; `None` for nodes that the compiler placed.
    pub at: Option<At>,
    /// The kind of the statement, or of the node if the compiler placed it.
    pub statement: &'static str,
    /// The kind of the node: `kernel`, `fill`, `copy`, `call`, `condition`, `alloc`, `free` or `hub`.
    pub node: &'static str,
    /// The name of the kernel, for launches.
    pub kernel: Option<String>,
    /// The number of launches that were measured.
    pub launches: u32,
    /// The time in a launch: of all runs, where it runs several times. A conditional node's time is that of its body and of the kernels
    /// that set it.
    pub time: Times,
    /// The number of its runs in a launch, on average: 1 outside of bodies.
    pub runs: f64,
    /// For a conditional node and the entries in its body: the turns of the body in a launch.
    pub turns: Option<Turns>,
    /// The bytes that one run moves by its declaration: the extents of what it reads, and of what it writes.
    pub bytes: u64,
    /// True if it lies on the critical path. In a body: on the longest path through the body of a conditional node that does.
    pub critical: bool,
    /// The members of a batch or of a fused kernel; empty for all other entries.
    pub members: Vec<Member>,
    /// The index of the conditional node in whose body it stands.
    pub body: Option<usize>,
    /// The indices of the entries that it comes after, in the same body.
    pub after: Vec<usize>,
    /// The earliest time at which it could begin, if everything ran as soon as the order allows and took as long as it was measured, in
    /// microseconds from the begin of the launch.
    pub start: f64,
}

/// A launch in a batch. The time of a member is not measured: [`time`](Member::time) is an estimate.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Member {
    /// The path of the statement.
    pub name: String,
    /// The file and line of the statement.
    pub at: At,
    /// The bytes that a run moves by its declaration.
    pub bytes: u64,
    /// Its part of the batch's bytes, or of its blocks if no member moves bytes.
    pub share: f64,
    /// An estimate of its time in a launch, in microseconds: the batch's mean time by its share.
    pub time: f64,
}

/// Times of several launches, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Times {
    /// The mean.
    pub mean: f64,
    /// The shortest one.
    pub min: f64,
    /// The longest one.
    pub max: f64,
}

/// The numbers of turns of a body in several launches.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Turns {
    /// The mean.
    pub mean: f64,
    /// The fewest.
    pub min: u64,
    /// The most.
    pub max: u64,
}

impl Entry {
    /// Returns the bytes that it moves in a second, by its declaration and its mean time; `None` if it moves none, or takes no time
    /// that could be measured.
    #[must_use]
    pub fn bandwidth(&self) -> Option<f64> {
        bandwidth(real(self.bytes) * self.runs, self.time.mean)
    }

    /// Returns true for alloc and free nodes.
    #[must_use]
    pub fn is_memory(&self) -> bool {
        matches!(self.node, "alloc" | "free")
    }
}

impl Profile {
    /// Returns the sum of the mean times of all entries outside of bodies, in microseconds: the time of the nodes one after the other.
    #[must_use]
    pub fn sum(&self) -> f64 {
        self.outermost().map(|entry| entry.time.mean).sum()
    }

    /// Returns the length of the critical path, in microseconds: the longest path through the order of the graph, by the mean times of
    /// the entries.
    #[must_use]
    pub fn critical_path(&self) -> f64 {
        self.outermost().filter(|entry| entry.critical).map(|entry| entry.time.mean).sum()
    }

    /// Returns the entries, the slowest first, without conditional nodes, whose time is that of their bodies. O(n log n).
    #[must_use]
    pub fn slowest(&self) -> Vec<&Entry> {
        let mut list: Vec<&Entry> = self.entries.iter().filter(|entry| entry.node != "condition").collect();
        list.sort_by(|one, other| other.time.mean.total_cmp(&one.time.mean));
        list
    }

    fn outermost(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.body.is_none())
    }
}
