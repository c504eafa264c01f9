//! The problem that planning solves: buffers to place, how much work that may take, and what comes of it.

use std::fmt;

use super::conflict::Conflicts;
use super::indices::{BufferIndex, Rank};
use crate::index::{Vector, wide};

/// The most bytes that all buffers may need side by side: sums of offsets and sizes then fit in 63 bits.
pub const MOST_BYTES: u64 = 1 << 62;

/// Returns the most bytes that a buffer takes if all lie one after another; `None` on overflow.
pub(crate) fn room(size: u64, align: u64) -> Option<u64> {
    size.checked_next_multiple_of(align)
}

/// Bytes that no placement can go below, and the buffers that need them together.
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

/// Buffers to place so that no two that conflict share bytes.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The bytes of each buffer.
    pub sizes: Vector<Rank, u64>,
    /// The alignment of each buffer's offset.
    pub aligns: Vector<Rank, u64>,
    /// The pairs of buffers that need disjoint bytes.
    pub conflicts: Conflicts,
    /// A number that rises with the begin of each buffer; one of the orders that are tried is by it.
    pub begins: Vector<Rank, i64>,
    /// Sets of buffers of which every two conflict; every buffer of some size is in one.
    pub sections: Vec<Vec<Rank>>,
    /// A lower bound.
    pub bound: Bound<Rank>,
}

/// How much work planning may take. Work is counted, not timed: the same input gives the same plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effort {
    /// Some orders, and hardly any search.
    Quick,
    /// The effort of builds: 1,000 buffers take less than 20 milliseconds.
    #[default]
    Default,
    /// About a second for hard problems.
    Thorough,
}

impl Effort {
    /// Returns the steps for so many buffers. Work that is not counted grows with them, so the default takes fewer for many.
    pub(super) fn steps(self, buffers: usize) -> u64 {
        match self {
            Effort::Quick => 3_000_000,
            Effort::Default => (5_000_000_000 / wide(buffers.max(1))).clamp(5_000_000, 8_000_000),
            Effort::Thorough => 1_200_000_000,
        }
    }
}

/// Why there is no plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanError {
    /// A buffer's alignment is 0.
    NoAlignment(BufferIndex),
    /// The sum of the sizes is out of range.
    Overflow(BufferIndex),
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlanError::NoAlignment(buffer) => write!(f, "buffer {buffer} has an alignment of 0"),
            PlanError::Overflow(buffer) => {
                write!(f, "the sizes overflow with buffer {buffer}: their sum is above 2^62 bytes")
            }
        }
    }
}

impl std::error::Error for PlanError {}

/// The offsets of the buffers.
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
