//! Memory: bounds, offsets and budgets on a partial order.
//!
//! Nodes of a graph run side by side unless its edges order them, so when a buffer is live is no span of time. Two
//! buffers may share bytes iff everything that uses the one precedes everything that uses the other ([`BufferOrder`]),
//! and what follows needs nothing else:
//!
//! - [`floor()`] is what one node needs at once, below which no order of the nodes gets;
//! - [`antichain()`] is the heaviest set of buffers of which none is over before another begins, below which no offsets
//!   get without more edges;
//! - [`plan()`] finds offsets: greedily in several orders, then by complete search, clique by clique or, where live
//!   ranges are intervals, valley by valley of the skyline;
//! - [`mod@check`] says whether offsets are right, from the definition alone;
//! - [`budget`] finds edges to add so that a plan fits into fewer bytes;
//! - [`nodes`] says which memory nodes follow which, where the driver places the buffers;
//! - [`svg`] for pictures.
//!
//! Everything is deterministic: work is counted, not timed. Nothing recurses.

mod bounds;
pub mod budget;
pub mod check;
mod conflict;
pub mod csv;
mod emission;
mod flow;
mod greedy;
mod instance;
mod line;
pub mod nodes;
mod order;
mod packing;
mod portfolio;
mod random;
mod search;
mod section;
mod sequence;
mod skyline;
pub mod svg;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

use std::fmt;

use crate::reach::Reach;
pub use bounds::{Floor, antichain, floor};
pub use conflict::Conflicts;
use greedy::{Layout, Traits, place};
pub use order::{Buffer, BufferOrder};

/// A buffer of what is planned.
pub type BufferIx = u32;

/// The most bytes that all buffers may need side by side: sums of offsets and sizes then fit in 63 bits.
pub const MOST_BYTES: u64 = 1 << 62;

/// What a buffer can need at most where all lie one after another.
pub(crate) fn room(size: u64, align: u64) -> Option<u64> {
    size.checked_next_multiple_of(align)
}

/// Bytes that no placement can go below, and the buffers that need them together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bound {
    /// The bytes.
    pub bytes: u64,
    /// The buffers.
    pub buffers: Vec<BufferIx>,
}

/// Buffers to place so that no two that conflict share bytes.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The bytes of each buffer.
    pub sizes: Vec<u64>,
    /// What each offset is a multiple of.
    pub aligns: Vec<u64>,
    /// Who needs disjoint bytes.
    pub conflicts: Conflicts,
    /// When each buffer begins, roughly: one of the orders that are tried is by this.
    pub begins: Vec<i64>,
    /// Sets of buffers of which every two conflict; every buffer of some size is in one.
    pub sections: Vec<Vec<BufferIx>>,
    /// What cannot be gone below.
    pub bound: Bound,
}

/// How much work planning may take. Work is counted, not timed: the same input gives the same plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effort {
    /// Some orders, and hardly any search.
    Quick,
    /// What graphs are built with: 1,000 buffers take less than 20 milliseconds.
    #[default]
    Default,
    /// About a second for hard problems.
    Thorough,
}

impl Effort {
    /// The steps for as many buffers. What is not counted grows with them, so with many of them the default takes fewer.
    fn steps(self, buffers: usize) -> u64 {
        match self {
            Effort::Quick => 3_000_000,
            Effort::Default => (5_000_000_000 / buffers.max(1) as u64).clamp(5_000_000, 8_000_000),
            Effort::Thorough => 1_200_000_000,
        }
    }
}

/// Why there is no plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanError {
    /// A buffer's alignment is 0.
    NoAlignment(BufferIx),
    /// The sum of the sizes is out of range.
    Overflow(BufferIx),
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

/// Where each buffer lies in one allocation, and how good that is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The offset of each buffer; 0 for those without users.
    pub offsets: Vec<u64>,
    /// The size of the allocation.
    pub total: u64,
    /// What no offsets can go below without more order.
    pub bound: Bound,
    /// What nothing can go below, whatever is ordered.
    pub floor: Floor,
    /// Whether the plan is provably as small as any: `total` is the bound.
    pub optimal: bool,
}

/// Plans the buffers of a graph. Sizes count rounded up to the alignment that all buffers have in common, in the
/// bounds as in the plan.
///
/// # Errors
///
/// An alignment of 0; sizes that overflow.
///
/// # Panics
///
/// If a user is not a node of `reach`.
pub fn plan(reach: &Reach, buffers: &[Buffer], effort: Effort) -> Result<Plan, PlanError> {
    let buffers = rounded(buffers)?;
    let order = BufferOrder::of(reach, &buffers);
    Ok(plan_ordered(reach, &buffers, &order, effort))
}

/// As [`plan`], of buffers whose sizes are [`rounded`].
pub(crate) fn plan_ordered(reach: &Reach, buffers: &[Buffer], order: &BufferOrder, effort: Effort) -> Plan {
    let sizes: Vec<u64> = buffers.iter().map(|buffer| buffer.size).collect();
    let bound = antichain(order, &sizes);
    let floor = floor(reach, buffers, order);
    let ranked = |b: &u32| order.ranks()[*b as usize];
    let conflicts = order.conflicts();
    let size = |&b: &u32| if order.births[b as usize].is_empty() { 0 } else { sizes[b as usize] };
    let ranked_sizes: Vec<u64> = order.by_rank().iter().map(size).collect();
    let heaviest: Vec<u32> = bound.buffers.iter().map(ranked).collect();
    let sections = section::sections(&conflicts, &ranked_sizes, &heaviest, effort.steps(buffers.len()) / 8);
    let problem = Problem {
        aligns: order.by_rank().iter().map(|&b| buffers[b as usize].align).collect(),
        sizes: ranked_sizes,
        conflicts,
        begins: (0..buffers.len() as i64).collect(),
        sections,
        bound: Bound { bytes: bound.bytes, buffers: heaviest },
    };
    let Offsets { offsets: ranked, total } = place_all(&problem, effort);
    let mut offsets = vec![0; buffers.len()];
    for (&b, offset) in order.by_rank().iter().zip(ranked) {
        offsets[b as usize] = offset;
    }
    debug_assert_eq!(check::check(reach, buffers, &offsets, total), Ok(()));
    let optimal = total == bound.bytes;
    Plan { offsets, total, bound, floor, optimal }
}

/// The buffers with their sizes rounded up to the alignment that all have in common: all offsets are multiples of it,
/// so nothing smaller can be used.
pub(crate) fn rounded(buffers: &[Buffer]) -> Result<Vec<Buffer>, PlanError> {
    let mut grain = 0;
    let mut sum = 0u64;
    for (b, buffer) in buffers.iter().enumerate() {
        if buffer.align == 0 {
            return Err(PlanError::NoAlignment(b as u32));
        }
        grain = common_divisor(grain, buffer.align);
        sum = room(buffer.size, buffer.align)
            .and_then(|room| sum.checked_add(room))
            .filter(|&sum| sum <= MOST_BYTES)
            .ok_or(PlanError::Overflow(b as u32))?;
    }
    let mut buffers = buffers.to_vec();
    buffers.iter_mut().for_each(|buffer| buffer.size = buffer.size.next_multiple_of(grain));
    Ok(buffers)
}

fn common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Where each buffer lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offsets {
    /// The offset of each buffer.
    pub offsets: Vec<u64>,
    /// The end of the highest buffer.
    pub total: u64,
}

/// Places the buffers of a problem: greedily in several orders, then by search while the goal is not reached.
///
/// The goal is the largest of the bound and the clique weights. Deterministic; the work is limited by `effort`.
#[must_use]
pub fn place_all(problem: &Problem, effort: Effort) -> Offsets {
    let weight = |section: &Vec<u32>| section.iter().map(|&b| problem.sizes[b as usize]).sum();
    let goal = problem.sections.iter().map(weight).max().unwrap_or(0).max(problem.bound.bytes);
    let n = problem.sizes.len() as u64;
    let mut steps = effort.steps(problem.sizes.len());
    let line = line::Line::of(problem);
    let enough = steps / 2;
    let mut best: Option<Layout> = None;
    let mut orders = Traits::of(problem).orders();
    if line.is_some() {
        // On a line the order by size packs best, and the steps may not suffice for all orders.
        orders.swap(0, 1);
    }
    for order in &orders {
        let layout = place(problem, order, &mut steps);
        if best.as_ref().is_none_or(|best| layout.total < best.total) {
            best = Some(layout);
        }
        if best.as_ref().is_some_and(|best| best.total <= goal) || steps < enough {
            break;
        }
    }
    let Some(mut best) = best else {
        return Offsets { offsets: Vec::new(), total: 0 };
    };
    if best.total > goal {
        let members = (2 * steps / n.max(1)) as usize;
        let sections = section::trimmed(&problem.sections, &problem.sizes, members);
        let trimmed = Problem { sections, ..problem.clone() };
        best = portfolio::improve(&trimmed, line.as_ref(), best, goal, &mut steps);
    }
    Offsets { offsets: best.offsets, total: best.total }
}

/// The end of the highest buffer.
fn end(problem: &Problem, offsets: &[u64]) -> u64 {
    offsets.iter().zip(&problem.sizes).map(|(offset, size)| offset + size).max().unwrap_or(0)
}
