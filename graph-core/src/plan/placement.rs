//! Places the buffers of a problem, by all means: greedy orders first, then search.

use super::greedy::{Layout, Traits, place};
use super::indices::Rank;
use super::problem::{Effort, Offsets, Problem};
use super::{line, portfolio, section};
use crate::index::{Vector, wide};

/// Places the buffers of a problem: greedily in several orders, then by search while the goal is not reached.
///
/// The goal is the largest of the bound and the clique weights. Deterministic; the work is limited by `effort`.
#[must_use]
pub fn place_all(problem: &Problem, effort: Effort) -> Offsets {
    let weight = |section: &Vec<Rank>| section.iter().map(|&b| problem.sizes[b]).sum();
    let goal = problem.sections.iter().map(weight).max().unwrap_or(0).max(problem.bound.bytes);
    let n = wide(problem.sizes.len());
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
        return Offsets { offsets: Vector::new(), total: 0 };
    };
    if best.total > goal {
        let members = usize::try_from(2 * steps / n.max(1)).unwrap_or(usize::MAX);
        let sections = section::trimmed(&problem.sections, &problem.sizes, members);
        let trimmed = Problem { sections, ..problem.clone() };
        best = portfolio::improve(&trimmed, line.as_ref(), best, goal, &mut steps);
    }
    Offsets { offsets: best.offsets, total: best.total }
}
