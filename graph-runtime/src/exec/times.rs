//! The time that a build takes.

use std::time::Duration;

/// The host's time for the parts of a build.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BuildTimes {
    /// Evaluation and checks of lengths, bounds, configurations and values; module loads.
    pub evaluated: Duration,
    /// Launch decisions and planning: short if the plan of an earlier build with the same sizes is used.
    pub planned: Duration,
    /// Allocation of the memory that the exec owns.
    pub allocated: Duration,
    /// The `cuGraphAdd*` calls.
    pub added: Duration,
}
