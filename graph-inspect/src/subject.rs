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

/// A size, a scalar with `#[at_most(n)]`, and the statements that it moves.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SizeState {
    /// The argument.
    pub at: SourceLocation,
    /// The smallest value.
    pub least: u64,
    /// The largest value, for which memory is planned.
    pub most: u64,
    /// The current value.
    pub value: u64,
    /// The statements, in the order of the program.
    pub moved: Vec<MovedStatement>,
}

impl SizeState {
    /// Returns a size. `range` are its smallest and its largest value.
    pub fn new(
        at: SourceLocation,
        range: (u64, u64),
        value: u64,
        moved: impl IntoIterator<Item = (SourceLocation, Vec<SizeEffect>)>,
    ) -> SizeState {
        let moved = moved.into_iter().map(|(at, effects)| MovedStatement { at, effects }).collect();
        SizeState { at, least: range.0, most: range.1, value, moved }
    }
}

/// A statement whose node changes with a size.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MovedStatement {
    /// The statement.
    pub at: SourceLocation,
    /// The parts of the node that change, ascending.
    pub effects: Vec<SizeEffect>,
}

/// A part of a node that changes with a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum SizeEffect {
    /// The grid of a launch, or its block.
    Grid,
    /// The start or the length of a range that it accesses.
    Range,
    /// A value that it is given.
    Value,
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
    /// The sizes.
    pub sizes: &'g [SizeState],
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
