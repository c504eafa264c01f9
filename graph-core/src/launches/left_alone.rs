//! The launches that stay as written although changes were allowed.

use std::fmt;

/// An allowed change of launches that was not made.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct LeftAlone {
    /// The kernel whose launches stay as written; `None` for all kernels of the graph.
    pub kernel: Option<NamedKernel>,
    /// The change.
    pub change: Change,
    /// The reason why it was not made. Behind it, in a line of its own, the change of the program that allows it, if one is known.
    pub reason: String,
}

/// A kernel and its file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct NamedKernel {
    /// The kernel.
    pub name: String,
    /// The file, as its declaration names it.
    pub path: String,
}

/// A change of the launches that the compiler may make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Change {
    /// All changes.
    Any,
    /// Launches of one kernel become one launch.
    Batching,
    /// A launch starts before its predecessors have ended.
    EarlyStart,
    /// Launches one after another become one launch.
    Fusing,
}

impl NamedKernel {
    /// Names a kernel of a file.
    #[must_use]
    pub fn new(name: &str, path: &str) -> NamedKernel {
        NamedKernel { name: name.to_owned(), path: path.to_owned() }
    }
}

impl LeftAlone {
    /// Returns the entry for all launches of a graph.
    #[must_use]
    pub fn all(change: Change, reason: impl fmt::Display) -> LeftAlone {
        LeftAlone { kernel: None, change, reason: reason.to_string() }
    }

    /// Returns the entry for the launches of one kernel.
    #[must_use]
    pub fn one(kernel: NamedKernel, change: Change, reason: impl fmt::Display) -> LeftAlone {
        LeftAlone { kernel: Some(kernel), change, reason: reason.to_string() }
    }

    /// Returns the reason without the change of the program: an entry that repeats the reason does not repeat that.
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
            (None, Change::Any) => write!(f, "all launches are as they are written: {reason}"),
            (None, Change::Batching) => write!(f, "no kernel is batched: {reason}"),
            (None, Change::Fusing) => write!(f, "no kernels are fused: {reason}"),
            (None, Change::EarlyStart) => write!(f, "no kernel starts early: {reason}"),
            (Some(kernel), Change::Any) => write!(f, "{kernel} is launched as it is written: {reason}"),
            (Some(kernel), Change::Batching) => write!(f, "{kernel} is not batched: {reason}"),
            (Some(kernel), Change::Fusing) => write!(f, "{kernel} is not fused: {reason}"),
            (Some(kernel), Change::EarlyStart) => write!(f, "{kernel} does not start early: {reason}"),
        }
    }
}
