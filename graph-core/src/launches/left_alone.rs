//! Reports which launches stay as written although transformations were allowed.

use std::fmt;

/// An allowed launch transformation that was not made.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct LeftAlone {
    /// The kernel whose launches stay as written. `None` for all kernels of the graph.
    pub kernel: Option<NamedKernel>,
    /// The transformation.
    pub change: Change,
    /// The reason. A second line, if any, tells the change of the program that would allow it.
    pub reason: String,
}

/// A kernel and its file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct NamedKernel {
    /// The kernel.
    pub name: String,
    /// The file, as named in the declaration.
    pub path: String,
}

/// A launch transformation of the compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Change {
    /// All transformations.
    Any,
    /// Launches of one kernel become one launch.
    Batching,
    /// A launch starts before its predecessors have ended.
    EarlyStart,
    /// Consecutive launches become one launch.
    Fusing,
}

impl NamedKernel {
    /// Names a kernel in a file.
    #[must_use]
    pub fn new(name: &str, path: &str) -> NamedKernel {
        NamedKernel { name: name.to_owned(), path: path.to_owned() }
    }
}

impl LeftAlone {
    /// Makes an entry for all launches of a graph.
    #[must_use]
    pub fn all(change: Change, reason: impl fmt::Display) -> LeftAlone {
        LeftAlone { kernel: None, change, reason: reason.to_string() }
    }

    /// Makes an entry for the launches of one kernel.
    #[must_use]
    pub fn one(kernel: NamedKernel, change: Change, reason: impl fmt::Display) -> LeftAlone {
        LeftAlone { kernel: Some(kernel), change, reason: reason.to_string() }
    }

    /// Returns the reason without its second line, for entries that repeat a reason.
    #[must_use]
    pub fn reason_alone(&self) -> &str {
        self.reason.split_once('\n').map_or(&self.reason, |(reason, _)| reason)
    }
}

impl fmt::Display for NamedKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` ({})", self.name, self.path)
    }
}

impl fmt::Display for LeftAlone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LeftAlone { kernel, change, reason } = self;
        match (kernel, change) {
            (None, Change::Any) => write!(f, "all launches stay as written: {reason}"),
            (None, Change::Batching) => write!(f, "no kernel is batched: {reason}"),
            (None, Change::Fusing) => write!(f, "no kernels are fused: {reason}"),
            (None, Change::EarlyStart) => write!(f, "no kernel starts early: {reason}"),
            (Some(kernel), Change::Any) => write!(f, "{kernel} stays as written: {reason}"),
            (Some(kernel), Change::Batching) => write!(f, "{kernel} is not batched: {reason}"),
            (Some(kernel), Change::Fusing) => write!(f, "{kernel} is not fused: {reason}"),
            (Some(kernel), Change::EarlyStart) => write!(f, "{kernel} does not start early: {reason}"),
        }
    }
}
