//! Checks offsets pair by pair, from the definition of interference. Shares no code with the planner except the
//! order of the nodes ([`Reach`]).

use std::fmt;

use super::indices::BufferIndex;
use super::order::PlannerBuffer;
use crate::index::{Index, Vector};
use crate::reach::Reach;

/// A violation of the definition of valid offsets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OffsetFault {
    /// The number of offsets differs from the number of buffers.
    Count {
        /// The number of offsets.
        offsets: usize,
        /// The number of buffers.
        buffers: usize,
    },
    /// An offset is not aligned.
    Unaligned {
        /// The buffer.
        buffer: BufferIndex,
        /// Its offset.
        offset: u64,
    },
    /// A buffer ends above the total.
    Above {
        /// The buffer.
        buffer: BufferIndex,
    },
    /// Two interfering buffers share bytes.
    Shared {
        /// The first one.
        first: BufferIndex,
        /// The second one.
        second: BufferIndex,
    },
}

impl fmt::Display for OffsetFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OffsetFault::Count { offsets, buffers } => write!(f, "{offsets} offsets for {buffers} buffers"),
            OffsetFault::Unaligned { buffer, offset } => {
                write!(f, "buffer {buffer} is at offset {offset}, which is not a multiple of its alignment")
            }
            OffsetFault::Above { buffer } => write!(f, "buffer {buffer} ends above the total"),
            OffsetFault::Shared { first, second } => write!(
                f,
                "buffers {first} and {second} share bytes, but neither lifetime ends before the other begins"
            ),
        }
    }
}

impl std::error::Error for OffsetFault {}

/// Checks the offsets of buffers.
///
/// # Errors
///
/// The first violation.
pub fn check(
    reach: &Reach,
    buffers: &Vector<BufferIndex, PlannerBuffer>,
    offsets: &Vector<BufferIndex, u64>,
    total: u64,
) -> Result<(), OffsetFault> {
    let over = |b: &PlannerBuffer, c: &PlannerBuffer| {
        let mut ends = b.users.iter().chain(&b.before_free);
        !b.stays && ends.all(|&u| c.users.iter().chain(&c.after_alloc).all(|&f| reach.precedes(u, f)))
    };
    let together = |b: BufferIndex, c: BufferIndex| {
        let (b, c) = (&buffers[b], &buffers[c]);
        !b.users.is_empty() && !c.users.is_empty() && !over(b, c) && !over(c, b)
    };
    let room = |b: BufferIndex| if buffers[b].users.is_empty() { 0 } else { buffers[b].size };
    if offsets.len() != buffers.len() {
        return Err(OffsetFault::Count { offsets: offsets.len(), buffers: buffers.len() });
    }
    for (first, &offset) in offsets.enumerate() {
        let align = buffers[first].align;
        if align == 0 || !offset.is_multiple_of(align) {
            return Err(OffsetFault::Unaligned { buffer: first, offset });
        }
        let Some(end) = offset.checked_add(room(first)).filter(|&end| end <= total) else {
            return Err(OffsetFault::Above { buffer: first });
        };
        for (second, &other) in offsets.enumerate().take(first.index()) {
            if other < end && offset < other + room(second) && together(first, second) {
                return Err(OffsetFault::Shared { first: second, second: first });
            }
        }
    }
    Ok(())
}
