//! The turns of loops with a limit, as an exec and its outputs tell them.

use crate::error::Result;

/// The turns of a loop `#[at_most(n)] while ..` in the last launch, by `exec.turns("name")`.
///
/// A loop is entered where the launch comes to it: not at all in an arm that did not run, and several times in the body of another
/// loop. The numbers are sums over all entries of the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoopTurns {
    /// The number of times that the launch came to the loop.
    pub entries: u64,
    /// The number of entries that the limit ended: after `at_most` turns the operand still asked for another one.
    pub limited: u64,
    /// The number of turns of all entries.
    pub turns: u64,
    /// The most turns of an entry.
    pub at_most: u32,
}

impl LoopTurns {
    /// Returns true if the limit ended an entry of the launch, and not the operand.
    #[must_use]
    pub fn limit_hit(&self) -> bool {
        self.limited > 0
    }
}

/// An exec, which tells the turns of its loops.
pub(crate) trait Loops: Sync {
    /// Waits for the last launch, and returns the turns of a loop in it.
    fn turns(&self, name: &str) -> Result<LoopTurns>;
}
