//! Checks offsets by the definition, pair by pair. Shares no code with the planner but the order of the nodes.

use std::fmt;

use super::csv;
use super::indices::{BufferIndex, Rank};
use super::order::Buffer;
use crate::index::{Index, Vector};
use crate::reach::Reach;

/// A violation of the definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The number of offsets is not that of the buffers.
    Count {
        /// The offsets.
        offsets: usize,
        /// The buffers.
        buffers: usize,
    },
    /// An offset is not aligned.
    Unaligned {
        /// The buffer.
        buffer: usize,
        /// Its offset.
        offset: u64,
    },
    /// A buffer ends above the total.
    Above {
        /// The buffer.
        buffer: usize,
    },
    /// Two interfering buffers share bytes.
    Shared {
        /// The first one.
        first: usize,
        /// The second one.
        second: usize,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Count { offsets, buffers } => write!(f, "{offsets} offsets for {buffers} buffers"),
            Fault::Unaligned { buffer, offset } => {
                write!(f, "buffer {buffer} lies at {offset}, which is no multiple of its alignment")
            }
            Fault::Above { buffer } => write!(f, "buffer {buffer} ends above the total"),
            Fault::Shared { first, second } => write!(
                f,
                "buffers {first} and {second} share bytes, and neither is over before the other begins"
            ),
        }
    }
}

impl std::error::Error for Fault {}

/// Checks the offsets of a graph's buffers.
///
/// # Errors
///
/// The first fault.
pub fn check(
    reach: &Reach,
    buffers: &Vector<BufferIndex, Buffer>,
    offsets: &Vector<BufferIndex, u64>,
    total: u64,
) -> Result<(), Fault> {
    let over = |b: &Buffer, c: &Buffer| {
        let mut ends = b.users.iter().chain(&b.before_free);
        !b.stays && ends.all(|&u| c.users.iter().chain(&c.after_alloc).all(|&f| reach.precedes(u, f)))
    };
    let together = |b: BufferIndex, c: BufferIndex| {
        let (b, c) = (&buffers[b], &buffers[c]);
        !b.users.is_empty() && !c.users.is_empty() && !over(b, c) && !over(c, b)
    };
    let room = |b: BufferIndex| if buffers[b].users.is_empty() { 0 } else { buffers[b].size };
    let align = |b: BufferIndex| buffers[b].align;
    pairs(buffers.len(), offsets, total, room, align, together)
}

/// Checks the offsets of a trace's rows.
///
/// # Errors
///
/// The first fault.
pub fn check_rows(
    rows: &Vector<Rank, csv::Row>,
    offsets: &Vector<Rank, u64>,
    total: u64,
) -> Result<(), Fault> {
    // The parts of a live range in which the buffer holds bytes.
    let spans = |row: &csv::Row| {
        let mut spans = Vec::new();
        let mut from = row.lower;
        for gap in row.gaps.iter().filter(|gap| gap.held == 0) {
            spans.push((from, gap.lower));
            from = gap.upper;
        }
        spans.push((from, row.upper));
        spans
    };
    let spans: Vector<Rank, Vec<(i64, i64)>> = rows.iter().map(spans).collect();
    let together =
        |a: Rank, b: Rank| spans[a].iter().any(|x| spans[b].iter().any(|y| x.0.max(y.0) < x.1.min(y.1)));
    pairs(rows.len(), offsets, total, |b| rows[b].size, |b| rows[b].alignment, together)
}

fn pairs<I: Index>(
    n: usize,
    offsets: &Vector<I, u64>,
    total: u64,
    size: impl Fn(I) -> u64,
    align: impl Fn(I) -> u64,
    together: impl Fn(I, I) -> bool,
) -> Result<(), Fault> {
    if offsets.len() != n {
        return Err(Fault::Count { offsets: offsets.len(), buffers: n });
    }
    for (first, &offset) in offsets.enumerate() {
        if align(first) == 0 || !offset.is_multiple_of(align(first)) {
            return Err(Fault::Unaligned { buffer: first.index(), offset });
        }
        let end = offset.checked_add(size(first)).filter(|&end| end <= total);
        let Some(end) = end else {
            return Err(Fault::Above { buffer: first.index() });
        };
        for (second, &other) in offsets.enumerate().take(first.index()) {
            let meet = other < end && offset < other + size(second);
            if meet && together(first, second) {
                return Err(Fault::Shared { first: second.index(), second: first.index() });
            }
        }
    }
    Ok(())
}
