//! What a report is made of.

use cuweave_core::compile::Decided;
use cuweave_core::ids::KernelId;
use cuweave_core::index::Vector;
use cuweave_core::ir::{Program, StatementId};
use cuweave_core::launches::{LaunchValues, LaunchedKernel, LeftAlone};
use cuweave_core::operation::Operations;
use cuweave_ptx::coverage::Verdict;

/// A write-only parameter of a launch that is not proved to be written whole.
#[derive(Clone, Copy, Debug)]
pub struct UnprovedWrite<'g> {
    /// The launch.
    pub statement: StatementId,
    /// The index of the parameter.
    pub parameter: usize,
    /// What is known.
    pub verdict: &'g Verdict,
}

/// The input of a report.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'g> {
    /// The flat program.
    pub program: &'g Program,
    /// The nodes.
    pub operations: &'g Operations,
    /// The kernels that are launched.
    pub kernels: &'g Vector<KernelId, LaunchedKernel>,
    /// The launches among the statements.
    pub launches: &'g Vector<StatementId, Option<LaunchValues>>,
    /// The number of launches as written.
    pub written: usize,
    /// The write-only parameters of launches that are not proved to be written whole.
    pub unproved: &'g [UnprovedWrite<'g>],
    /// The kernels that are launched as written, and the reasons.
    pub left_alone: &'g [LeftAlone],
    /// The inputs of the launch decisions.
    pub decided: &'g Decided,
    /// The number of nodes that library calls captured.
    pub captured: usize,
    /// The number of conditional nodes.
    pub conditions: usize,
    /// The number of kernels that stand around the conditional nodes.
    pub setters: usize,
}

impl Subject<'_> {
    /// Returns the kernel of a launch.
    pub(crate) fn kernel(&self, statement: StatementId) -> Option<&LaunchedKernel> {
        let launch = self.launches.get(statement)?.as_ref()?;
        self.kernels.get(launch.kernel)
    }
}
