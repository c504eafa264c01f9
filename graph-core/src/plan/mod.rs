//! Memory: bounds, offsets and budgets on a partial order.
//!
//! Nodes of a graph run side by side unless its edges order them, so when a buffer is live is no span of time. Two
//! buffers may share bytes iff everything that uses the one precedes everything that uses the other ([`BufferOrder`]),
//! and what follows needs nothing else:
//!
//! - [`floor()`] is what one node needs at once, below which no order of the nodes gets;
//! - [`antichain()`] is the heaviest set of buffers of which none is over before another begins, below which no offsets
//!   get without more edges;
//! - [`plan()`] finds offsets, by placing greedily in several orders, then by moves of the order, then by exact search;
//!   where the buffers live on a line, exact search valley by valley comes first, and before it, where no moment has
//!   slack, a sweep along time that leaves the order inside each gap open;
//! - [`mod@check`] says whether offsets are right, from the definition alone;
//! - [`budget`] finds edges to add so that a plan fits into fewer bytes;
//! - [`nodes`] says which memory nodes follow which, where the driver places the buffers;
//! - [`svg`] for pictures.
//!
//! Everything is deterministic: work is counted, not timed. Nothing recurses.

mod bounds;
pub mod budget;
pub mod check;
mod climb;
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
#[cfg(test)]
mod perfect;
mod portfolio;
mod pqtree;
mod search;
mod section;
mod sequence;
mod skyline;
pub mod svg;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod tight;

use std::fmt;

use crate::reach::Reach;
pub use bounds::{Floor, antichain, floor};
pub use conflict::Conflicts;
use greedy::{Fit, Layout, Traits, place};
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
    /// Seconds for hard problems.
    Thorough,
    /// As long as half a minute for hard problems.
    Exhaustive,
}

impl Effort {
    /// The steps for as many buffers. What is not counted grows with them, so with many of them the default takes fewer.
    fn steps(self, buffers: usize) -> u64 {
        match self {
            Effort::Quick => 3_000_000,
            Effort::Default => (5_000_000_000 / buffers.max(1) as u64).clamp(5_000_000, 8_000_000),
            Effort::Thorough => 1_200_000_000,
            Effort::Exhaustive => 8_000_000_000,
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

/// Places the buffers of a problem.
#[must_use]
pub fn place_all(problem: &Problem, effort: Effort) -> Offsets {
    let weight = |section: &Vec<u32>| section.iter().map(|&b| problem.sizes[b as usize]).sum();
    let goal = problem.sections.iter().map(weight).max().unwrap_or(0).max(problem.bound.bytes);
    let n = problem.sizes.len() as u64;
    let mut steps = effort.steps(problem.sizes.len());
    let line = line::Line::of(problem);
    if let Some(found) = line.as_ref().and_then(|line| reach_goal(problem, line, goal, &mut steps)) {
        return found;
    }
    let enough = steps / 2;
    let mut best: Option<(Layout, &[u32], Fit)> = None;
    let mut orders = Traits::of(problem).orders();
    if line.is_some() {
        // On a line the one by size does best, and there may be no steps for all.
        orders.swap(0, 1);
    }
    'greedy: for fit in [Fit::Best, Fit::First] {
        for order in &orders {
            let layout = place(problem, order, fit, &mut steps);
            if best.as_ref().is_none_or(|(best, ..)| layout.total < best.total) {
                best = Some((layout, order, fit));
            }
            let done = best.as_ref().is_some_and(|(best, ..)| best.total <= goal);
            if done || steps < enough {
                break 'greedy;
            }
        }
    }
    let Some((mut best, order, fit)) = best else {
        return Offsets { offsets: Vec::new(), total: 0 };
    };
    if best.total > goal {
        let moves = (steps / 16 / (n * n).max(1)).min(500);
        best = climb::climb(problem, order, fit, best, goal, moves);
        let members = (2 * steps / n.max(1)) as usize;
        let sections = section::trimmed(&problem.sections, &problem.sizes, members);
        let trimmed = Problem { sections, ..problem.clone() };
        best = portfolio::improve(&trimmed, line.as_ref(), best, goal, &mut steps);
    }
    Offsets { offsets: best.offsets, total: best.total }
}

/// On a line, what reaches the goal itself, if anything does within half of the steps, or three quarters of them where
/// there is no slack, or where half would be too few for it.
fn reach_goal(problem: &Problem, line: &line::Line, goal: u64, steps: &mut u64) -> Option<Offsets> {
    const ENOUGH: u64 = 4_000_000;
    let shares = match line.loads.iter().all(|&load| load == goal) {
        true => [*steps / 2, *steps / 4],
        false if *steps > ENOUGH => [0, (*steps / 4 * 3).min(ENOUGH).max(*steps / 2)],
        false => [0, *steps / 2],
    };
    let mut found = None;
    for (stage, mut share) in shares.into_iter().enumerate() {
        *steps -= share;
        found = match stage {
            0 => tight::pack(line, &problem.sizes, goal, &mut share),
            _ => portfolio::restart(problem, line, goal, &mut share),
        };
        *steps += share;
        if found.is_some() {
            break;
        }
    }
    found.map(|offsets| Offsets { total: end(problem, &offsets), offsets })
}

/// The end of the highest buffer.
fn end(problem: &Problem, offsets: &[u64]) -> u64 {
    offsets.iter().zip(&problem.sizes).map(|(offset, size)| offset + size).max().unwrap_or(0)
}
