//! The placement problem and its solution: buffers with sizes, alignments and conflicts, the effort, and errors.

use std::fmt;

use super::conflict::Conflicts;
use super::indices::{BufferIndex, Rank};
use crate::index::{Vector, wide};

/// The maximum sum of all sizes. Sums of offsets and sizes then fit into 63 bits.
pub const MAX_TOTAL_BYTES: u64 = 1 << 62;

/// Returns the bytes of a buffer if all buffers are placed one after another: the size rounded up to the alignment.
/// `None` on overflow.
pub(crate) fn room(size: u64, align: u64) -> Option<u64> {
    size.checked_next_multiple_of(align)
}

/// A lower bound on the bytes of a placement, and the buffers that need them at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound<B> {
    /// The bytes.
    pub bytes: u64,
    /// The buffers.
    pub buffers: Vec<B>,
}

impl<B> Default for Bound<B> {
    fn default() -> Bound<B> {
        Bound { bytes: 0, buffers: Vec::new() }
    }
}

/// Buffers to place such that no two conflicting ones share bytes.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The bytes of each buffer.
    pub sizes: Vector<Rank, u64>,
    /// The alignment of each buffer's offset.
    pub aligns: Vector<Rank, u64>,
    /// The pairs of buffers that need disjoint bytes.
    pub conflicts: Conflicts,
    /// A sort key for each buffer: when its live range begins.
    pub begins: Vector<Rank, i64>,
    /// Cliques of the interference graph. Every buffer with nonzero size is in at least one.
    pub cliques: Vec<Vec<Rank>>,
    /// A lower bound on the bytes.
    pub bound: Bound<Rank>,
}

/// The amount of work spent on a plan. Work is counted, not timed, so equal inputs give equal plans.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effort {
    /// Greedy placement in some orders, and hardly any search.
    Quick,
    /// The effort of builds: less than 20 milliseconds for 1,000 buffers.
    #[default]
    Default,
    /// Seconds for hard problems: the search ends at the lower bound, or when its steps are used up.
    Thorough,
}

impl Effort {
    /// Returns the number of steps. Some work that grows with the number of buffers is not counted, so the default
    /// decreases with that number.
    pub(super) fn steps(self, buffers: usize) -> u64 {
        match self {
            Effort::Quick => 3_000_000,
            Effort::Default => (5_000_000_000 / wide(buffers.max(1))).clamp(5_000_000, 8_000_000),
            Effort::Thorough => 1_200_000_000,
        }
    }
}

/// Why buffers cannot be planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanError {
    /// The alignment of this buffer is 0.
    NoAlignment(BufferIndex),
    /// The sum of the sizes exceeds [`MAX_TOTAL_BYTES`] at this buffer.
    Overflow(BufferIndex),
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlanError::NoAlignment(buffer) => write!(f, "buffer {buffer} has an alignment of 0"),
            PlanError::Overflow(buffer) => {
                write!(f, "with buffer {buffer}, the sum of the sizes exceeds 2^62 bytes")
            }
        }
    }
}

impl std::error::Error for PlanError {}

/// A solution: an offset for each buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offsets {
    /// The offset of each buffer.
    pub offsets: Vector<Rank, u64>,
    /// The end of the highest buffer.
    pub total: u64,
}

/// Returns the end of the highest buffer.
pub(super) fn end(problem: &Problem, offsets: &Vector<Rank, u64>) -> u64 {
    offsets.iter().zip(&problem.sizes).map(|(offset, size)| offset + size).max().unwrap_or(0)
}

/// Returns the greatest common divisor.
pub(super) fn common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
