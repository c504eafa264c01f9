//! The time that a build takes.

use std::time::Duration;

/// The host time of each phase of a build.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BuildTimes {
    /// Evaluates and checks lengths, bounds, configurations and values; loads modules.
    pub evaluated: Duration,
    /// Decides on launches and plans memory. Short if the plan of an earlier build with the same sizes is reused.
    pub planned: Duration,
    /// Allocates the memory that the exec owns.
    pub allocated: Duration,
    /// Makes the `cuGraphAdd*` calls.
    pub added: Duration,
}
