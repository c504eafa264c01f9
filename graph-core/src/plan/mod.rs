//! Memory: bounds, offsets and budgets on a partial order.

mod bounds;
pub mod check;
mod climb;
mod conflict;
pub mod csv;
mod flow;
mod greedy;
mod order;
mod portfolio;
mod search;
#[cfg(test)]
mod testing;

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
    /// What graphs are built with: 1,000 buffers take some milliseconds.
    #[default]
    Default,
    /// Seconds for hard problems.
    Thorough,
    /// As long as half a minute for hard problems.
    Exhaustive,
}

impl Effort {
    fn steps(self) -> u64 {
        match self {
            Effort::Quick => 3_000_000,
            Effort::Default => 13_000_000,
            Effort::Thorough => 4_000_000_000,
            Effort::Exhaustive => 25_000_000_000,
        }
    }
}

/// Where each buffer lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offsets {
    /// The offset of each buffer.
    pub offsets: Vec<u64>,
    /// The end of the highest buffer.
    pub total: u64,
}

/// Places the buffers.
#[must_use]
pub fn place_all(problem: &Problem, effort: Effort) -> Offsets {
    let heaviest =
        problem.sections.iter().map(|section| section.iter().map(|&b| problem.sizes[b as usize]).sum());
    let goal = heaviest.max().unwrap_or(0).max(problem.bound.bytes);
    let n = problem.sizes.len() as u64;
    let mut steps = effort.steps();
    let mut best: Option<(Layout, Vec<u32>, Fit)> = None;
    let orders = Traits::of(problem).orders();
    'orders: for order in orders {
        for fit in [Fit::Best, Fit::First] {
            let layout = place(problem, &order, fit);
            steps = steps.saturating_sub(n * n / 2);
            if best.as_ref().is_none_or(|(best, ..)| layout.total < best.total) {
                best = Some((layout, order.clone(), fit));
            }
            if best.as_ref().is_some_and(|(best, ..)| best.total <= goal) || steps == 0 {
                break 'orders;
            }
        }
    }
    let Some((mut best, order, fit)) = best else {
        return Offsets { offsets: Vec::new(), total: 0 };
    };
    if best.total > goal && steps > 0 {
        let moves = (steps / 16 / (n * n / 2).max(1)).min(500);
        best = climb::climb(problem, &order, fit, best, goal, moves);
        best = portfolio::improve(problem, best, goal, &mut steps);
    }
    Offsets { offsets: best.offsets, total: best.total }
}

/// The end of the highest buffer.
fn end(problem: &Problem, offsets: &[u64]) -> u64 {
    offsets.iter().zip(&problem.sizes).map(|(offset, size)| offset + size).max().unwrap_or(0)
}
