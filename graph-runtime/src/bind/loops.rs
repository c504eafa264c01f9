//! The iteration counts of loops with a limit, which an exec and its outputs report.

use crate::error::Result;

/// The iterations of a loop `#[at_most(n)] while ..` in the last launch. Returned by `exec.iterations("name")`.
///
/// A launch may enter a loop never, in an arm that did not run, or several times, in the body of another loop.
/// The numbers are sums over all entries in the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoopIterations {
    /// The number of times that the launch entered the loop.
    pub entries: u64,
    /// The number of entries that the limit ended: the operand still asked for another iteration after
    /// `at_most`.
    pub limited: u64,
    /// The total number of iterations.
    pub iterations: u64,
    /// The maximum number of iterations per entry.
    pub at_most: u32,
}

impl LoopIterations {
    /// Returns true if the limit ended an entry of the launch.
    #[must_use]
    pub fn limit_hit(&self) -> bool {
        self.limited > 0
    }
}

/// An exec that reports the iterations of its loops. Type-erased, so that outputs can call it.
pub(crate) trait IterationCounts: Sync {
    /// Waits for the last launch and returns the counts of a loop.
    fn iterations(&self, name: &str) -> Result<LoopIterations>;
}
