//! The input of a report.

use std::collections::BTreeSet;

use cuweave_core::compile::Decided;
use cuweave_core::ids::KernelId;
use cuweave_core::index::Vector;
use cuweave_core::ir::{Program, StatementId};
use cuweave_core::launches::{LaunchValues, LaunchedKernel, LeftAlone};
use cuweave_core::location::SourceLocation;
use cuweave_core::operation::Operations;
use cuweave_ptx::coverage::Verdict;

/// A write-only parameter of a launch that is not proved to be fully written.
#[derive(Clone, Copy, Debug)]
pub struct UnprovedWrite<'g> {
    /// The launch.
    pub statement: StatementId,
    /// The index of the parameter.
    pub parameter: usize,
    /// The result of the coverage analysis.
    pub verdict: &'g Verdict,
}

/// A hint about the managed memory of an argument: `#[advise(..)]`, `#[prefetch(..)]` or `#[discard]`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryHint {
    /// The argument.
    pub at: SourceLocation,
    /// The kind of the hint.
    pub kind: MemoryHintKind,
    /// The location that the hint names, as `device 0` or `the host`. `None` for hints that name none.
    pub location: Option<String>,
    /// The size in bytes of the pages that the hint is about. 0 if its range contains none.
    pub bytes: u64,
}

impl MemoryHint {
    /// Returns a hint.
    pub fn new(at: SourceLocation, kind: MemoryHintKind, location: Option<String>, bytes: u64) -> MemoryHint {
        MemoryHint { at, kind, location, bytes }
    }
}

/// The kind of a hint about managed memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum MemoryHintKind {
    /// Advice, given once: mostly read.
    ReadMostly,
    /// Advice, given once: the preferred location.
    PreferredLocation,
    /// Advice, given once: a processor that accesses the pages.
    AccessedBy,
    /// The contents are discarded before each launch.
    Discard,
    /// The pages are moved before each launch.
    Prefetch,
}

/// A statement with `#[switchable]`, or one that `enable` has disabled.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SwitchState {
    /// The statement.
    pub at: SourceLocation,
    /// False if it is disabled.
    pub enabled: bool,
}

/// The input of a report.
#[derive(Clone, Copy, Debug)]
pub struct ReportInput<'g> {
    /// The flat program.
    pub program: &'g Program,
    /// The nodes.
    pub operations: &'g Operations,
    /// The kernels that are launched.
    pub kernels: &'g Vector<KernelId, LaunchedKernel>,
    /// The launch of each statement; `None` for other statements.
    pub launches: &'g Vector<StatementId, Option<LaunchValues>>,
    /// The number of launches in the source.
    pub written: usize,
    /// The write-only parameters of launches that are not proved to be fully written.
    pub unproved: &'g [UnprovedWrite<'g>],
    /// The hints about managed memory.
    pub hints: &'g [MemoryHint],
    /// The statements that are disabled.
    pub disabled: &'g BTreeSet<StatementId>,
    /// The kernels that could not be changed, with the reasons.
    pub left_alone: &'g [LeftAlone],
    /// The inputs of the launch decisions.
    pub decided: &'g Decided,
    /// The number of nodes, with those in child graphs and in the bodies of conditional nodes.
    pub nodes: usize,
    /// The number of nodes that library calls captured.
    pub captured: usize,
    /// The number of conditional nodes.
    pub conditions: usize,
    /// The number of kernels that set the conditions of conditional nodes or fill empty bodies.
    pub setters: usize,
}

impl ReportInput<'_> {
    /// Returns the kernel of a launch.
    pub(crate) fn kernel(&self, statement: StatementId) -> Option<&LaunchedKernel> {
        let launch = self.launches.get(statement)?.as_ref()?;
        self.kernels.get(launch.kernel)
    }
}
