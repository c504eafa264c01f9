//! Profiles and their entries.

use cuweave_core::location::SourceLocation;
use cuweave_core::picture::real;

use super::numbers::bandwidth;

/// The time of each node of a graph.
///
/// The times of [`entries`](Profile::entries) are measured in a second graph, in which the nodes run one after the
/// other with an event record node after each. So they need not add up to the time of a launch. Compare
/// [`sum`](Profile::sum) and [`critical_path`](Profile::critical_path) with the times of real
/// [`launches`](Profile::total).
///
/// Its `Display` is a table of the nodes, the slowest first, in which the iterations of a loop share a row.
/// [`svg`](Profile::svg) and [`chrome_trace`](Profile::chrome_trace) return pictures.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Profile {
    /// The graph function.
    pub at: SourceLocation,
    /// The number of launches, both of the executable graph and of the serialized graph.
    pub launches: u32,
    /// True if the driver is the simulator, whose times mean nothing.
    pub simulated: bool,
    /// The time of a launch of the executable graph, between two events in its stream.
    pub total: TimeStats,
    /// The time of a kernel that does nothing, in microseconds, measured in the same way as the entries. It is a
    /// lower bound for the entries of kernels: a shorter kernel in the real graph is not measured as shorter.
    pub empty_kernel: f64,
    /// The time between two events with nothing between them, in microseconds. It is already subtracted from the
    /// entries.
    pub empty_pair: f64,
    /// The nodes, in the order in which they were measured.
    pub entries: Vec<Entry>,
}

/// A node of a profile: a statement, a batch of launches, a library call with all of its nodes, a conditional node
/// with its body, or a node that the compiler added.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Entry {
    /// The path of the statement: `block[3].gate`. For a batch, that of its first member.
    pub name: String,
    /// The file and line of the statement. `None` for nodes that the compiler added.
    pub at: Option<SourceLocation>,
    /// The kind of the statement. For a node that the compiler added, the kind of the node.
    pub statement: &'static str,
    /// The kind of the node: `kernel`, `fill`, `copy`, `call`, `condition`, `alloc`, `free` or `hub`.
    pub node: &'static str,
    /// The name of the kernel, for launches.
    pub kernel: Option<String>,
    /// The number of launches that were measured.
    pub launches: u32,
    /// The total time of its runs in a launch. For a conditional node, the time of its body and of the kernels that
    /// set its condition.
    pub time: TimeStats,
    /// The average number of its runs in a launch. 1 outside of bodies.
    pub runs: f64,
    /// For a conditional node and the entries of its body: the iterations of the body in a launch.
    pub iterations: Option<IterationStats>,
    /// The bytes that one run moves according to its declaration: the extents that it reads and writes.
    pub bytes: u64,
    /// True if it is on the critical path. In a body: on the longest path through the body, if the conditional node
    /// is on the critical path.
    pub critical: bool,
    /// The members of a batch or of a fused kernel. Empty for all other entries.
    pub members: Vec<Member>,
    /// The index of the conditional node whose body contains it.
    pub body: Option<usize>,
    /// The indices of its predecessors in the same body.
    pub after: Vec<usize>,
    /// The earliest possible start, in microseconds after the start of the launch, if each node starts as soon as
    /// its predecessors have ended and takes its measured time.
    pub start: f64,
}

/// A launch in a batch. Its time is not measured: [`time`](Member::time) is an estimate.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Member {
    /// The path of the statement.
    pub name: String,
    /// The file and line of the statement.
    pub at: SourceLocation,
    /// The bytes that one run moves according to its declaration.
    pub bytes: u64,
    /// Its share of the batch's bytes, or of the batch's blocks if no member moves bytes.
    pub share: f64,
    /// Its estimated time in a launch, in microseconds: the mean time of the batch multiplied by its share.
    pub time: f64,
}

/// The times of several launches, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct TimeStats {
    /// The mean.
    pub mean: f64,
    /// The shortest time.
    pub min: f64,
    /// The longest time.
    pub max: f64,
}

/// The number of iterations of a body over several launches.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct IterationStats {
    /// The mean.
    pub mean: f64,
    /// The minimum.
    pub min: u64,
    /// The maximum.
    pub max: u64,
}

impl Entry {
    /// Returns the bandwidth in bytes per second, by its declared bytes and mean time. `None` if it moves no bytes
    /// or takes no measurable time.
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
    /// Returns the sum of the mean times of all entries outside of bodies, in microseconds. This is the time of the
    /// nodes if they ran one after the other.
    #[must_use]
    pub fn sum(&self) -> f64 {
        self.outermost().map(|entry| entry.time.mean).sum()
    }

    /// Returns the length of the critical path, in microseconds: the longest path through the graph, weighted by
    /// the mean times of the entries.
    #[must_use]
    pub fn critical_path(&self) -> f64 {
        self.outermost().filter(|entry| entry.critical).map(|entry| entry.time.mean).sum()
    }

    /// Returns the entries, the slowest first. Conditional nodes are omitted, because their times contain those of
    /// their bodies. O(n log n).
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
