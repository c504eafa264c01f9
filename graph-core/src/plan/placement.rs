//! Placement of buffers: greedy in several orders, then search.

use super::greedy::{GreedyLayout, PlacementKeys, place};
use super::indices::Rank;
use super::problem::{Effort, Offsets, Problem};
use super::{cliques, intervals, portfolio};
use crate::index::{Vector, wide};

/// Places the buffers of a problem: greedily in several orders, then by search. Stops at the lower bound, or when
/// the steps of `effort` are used up. The lower bound is the given bound or the weight of the heaviest clique.
#[must_use]
pub fn place_all(problem: &Problem, effort: Effort) -> Offsets {
    let weight = |clique: &Vec<Rank>| clique.iter().map(|&b| problem.sizes[b]).sum();
    let goal = problem.cliques.iter().map(weight).max().unwrap_or(0).max(problem.bound.bytes);
    let n = wide(problem.sizes.len());
    let mut steps = effort.steps(problem.sizes.len());
    let intervals = intervals::Intervals::recognise(problem);
    let enough = steps / 2;
    let mut best: Option<GreedyLayout> = None;
    let traits = PlacementKeys::new(problem);
    // For intervals, the order by size packs best, and the steps may not suffice for all orders.
    for order in traits.orders(intervals.is_some()) {
        let layout = place(problem, &order, &mut steps);
        if best.as_ref().is_none_or(|best| layout.total < best.total) {
            best = Some(layout);
        }
        if best.as_ref().is_some_and(|best| best.total <= goal) || steps < enough {
            break;
        }
    }
    let Some(mut best) = best else {
        return Offsets { offsets: Vector::new(), total: 0 };
    };
    if best.total > goal {
        let members = usize::try_from(2 * steps / n.max(1)).unwrap_or(usize::MAX);
        let cliques = cliques::trimmed(&problem.cliques, &problem.sizes, members);
        let trimmed = Problem { cliques, ..problem.clone() };
        best = portfolio::improve(&trimmed, intervals.as_ref(), best, goal, &mut steps);
    }
    Offsets { offsets: best.offsets, total: best.total }
}
