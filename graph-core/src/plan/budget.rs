//! Budgets: adds edges to a graph until its buffers fit into fewer bytes, and tries to lengthen the critical path as little as
//! possible (the minimum is NP-complete).
//!
//! First a linear extension of the order that stays within the budget is searched; without one there is no solution. While the
//! heaviest antichain is above the budget, it has two buffers with disjoint live ranges in the linear extension, or all of it would be
//! live at once there. The graph gets edges that order such a pair; of all pairs, the one that lengthens the critical path least.
//!
//! No edge crosses the border of a body of a conditional node: each is lifted to the statements around the body.

use std::cmp::Reverse;
use std::fmt;

use super::bounds::{Floor, antichain, floor};
use super::indices::BufferIndex;
use super::order::{Buffer, BufferOrder};
use super::planning::{self, Plan, plan_ordered};
use super::problem::{Effort, PlanError};
use super::sequence::{Guide, Sequence, all, within};
use crate::index::{Index, Vector};
use crate::reach::{Node, Reach};
use crate::scopes::Scopes;

/// The most nodes of a graph of which all linear extensions are tried.
const FEW_NODES: usize = 12;
/// The most linear extensions that are tried for such a graph.
const MOST_ORDERS: usize = 2_000;
/// Above so many nodes several pairs are ordered before the bound is computed again.
const MANY_NODES: usize = 2_000;
/// The most steps of a solution from which redundant ones are dropped.
const FEW_STEPS: usize = 16;

/// The reason why a budget is not met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BudgetError {
    /// One node alone needs more bytes.
    BelowFloor {
        /// The budget.
        budget: u64,
        /// The node and its buffers.
        floor: Floor,
    },
    /// No order was found under which the buffers fit.
    NotFound {
        /// The budget.
        budget: u64,
        /// The bytes of the best plan that was found.
        best: u64,
    },
    /// The buffers cannot be planned at all.
    Plan(PlanError),
}

impl fmt::Display for BudgetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BudgetError::BelowFloor { budget, floor } => write!(
                f,
                "the budget of {budget} bytes is below the floor: node {} needs {} bytes at once, for buffers {:?}",
                floor.node.map_or(0, Index::index),
                floor.bytes,
                floor.buffers
            ),
            BudgetError::NotFound { budget, best } => write!(
                f,
                "no order was found that fits into the budget of {budget} bytes; the best one takes {best} bytes"
            ),
            BudgetError::Plan(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for BudgetError {}

impl From<PlanError> for BudgetError {
    fn from(error: PlanError) -> BudgetError {
        BudgetError::Plan(error)
    }
}

/// A pair of buffers that was ordered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The buffer whose live range ends first.
    pub donor: BufferIndex,
    /// The buffer whose live range begins after that.
    pub receiver: BufferIndex,
    /// The edges: from each maximal user of the donor to each minimal user of the receiver, without those that paths imply, and lifted
    /// out of bodies.
    pub edges: Vec<(Node, Node)>,
    /// The decrease of the weight of the heaviest antichain.
    pub saves: u64,
    /// The growth of the critical path.
    pub costs: u64,
}

/// A solution: edges under which the buffers fit.
#[derive(Clone, Debug)]
pub struct Budgeted {
    /// The added edges of the transitive reduction; sorted.
    pub edges: Vec<(Node, Node)>,
    /// The pairs that were ordered.
    pub steps: Vec<Step>,
    /// The order with the edges.
    pub reach: Reach,
    /// The plan under that order.
    pub plan: Plan,
    /// The critical path without the edges.
    pub path_before: u64,
    /// The critical path with the edges.
    pub path_after: u64,
}

/// Adds edges until the plan takes at most `budget` bytes. `scopes` are the bodies of conditional nodes, `costs` the execution
/// times of the nodes, in any unit.
///
/// # Errors
///
/// See [`BudgetError`].
///
/// # Panics
///
/// If a user is not a node of `reach`, or `costs` are not one for each node.
pub fn fit(
    (reach, scopes): (&Reach, &Scopes),
    buffers: &Vector<BufferIndex, Buffer>,
    costs: &Vector<Node, u64>,
    budget: u64,
    effort: Effort,
) -> Result<Budgeted, BudgetError> {
    let buffers = planning::rounded(buffers)?;
    let given = Graph::of(reach.clone(), &buffers, costs);
    let floor = floor(reach, &buffers, &given.order);
    if floor.bytes > budget {
        return Err(BudgetError::BelowFloor { budget, floor });
    }
    let search = Search { given: &given, scopes, buffers: &buffers, costs, budget, effort };
    search.run(floor.bytes)
}

/// A point of the trade-off between bytes and critical path.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CurvePoint {
    /// The budget.
    pub budget: u64,
    /// The bytes that the plan takes.
    pub planned: u64,
    /// The critical path.
    pub path: u64,
    /// The number of edges that were added.
    pub edges: usize,
}

/// Computes the trade-off at `points` budgets, evenly spread from the unconstrained plan down to the floor, in descending order. Budgets
/// that are not met are left out.
///
/// # Errors
///
/// Buffers that cannot be planned at all.
///
/// # Panics
///
/// As [`fit`].
pub fn budget_curve(
    (reach, scopes): (&Reach, &Scopes),
    buffers: &Vector<BufferIndex, Buffer>,
    costs: &Vector<Node, u64>,
    points: u64,
) -> Result<Vec<CurvePoint>, PlanError> {
    let free = planning::plan(reach, buffers, Effort::Default)?;
    let span = free.total.saturating_sub(free.floor.bytes);
    let mut curve: Vec<CurvePoint> = Vec::new();
    for at in 0..points.max(2) {
        let budget = free.total - part(span, at, points.max(2) - 1);
        match fit((reach, scopes), buffers, costs, budget, Effort::Quick) {
            Ok(fit) => {
                let point = CurvePoint {
                    budget,
                    planned: fit.plan.total,
                    path: fit.path_after,
                    edges: fit.edges.len(),
                };
                if curve.last().is_none_or(|last| last.planned != point.planned) {
                    curve.push(point);
                }
            }
            Err(BudgetError::Plan(error)) => return Err(error),
            Err(_) => {}
        }
    }
    Ok(curve)
}

/// Returns `number * of / parts`, where `of` is at most `parts`.
pub(super) fn part(number: u64, of: u64, parts: u64) -> u64 {
    let part = u128::from(number) * u128::from(of) / u128::from(parts);
    // At most `number`.
    u64::try_from(part).unwrap_or(number)
}

/// An order of the nodes, and the data derived from it.
struct Graph {
    reach: Reach,
    order: BufferOrder,
    /// The longest path that ends with each node, the node included.
    heads: Vector<Node, u64>,
    /// The longest path that begins with each node, the node included.
    tails: Vector<Node, u64>,
}

impl Graph {
    fn of(reach: Reach, buffers: &Vector<BufferIndex, Buffer>, costs: &Vector<Node, u64>) -> Graph {
        let mut heads = costs.clone();
        for &v in reach.topological() {
            let longest = reach.reduced()[v].iter().map(|&p| heads[p]).max();
            heads[v] = costs[v].saturating_add(longest.unwrap_or(0));
        }
        let mut after = Vector::filled(0u64, reach.len());
        let mut tails = costs.clone();
        for &v in reach.topological().iter().rev() {
            tails[v] = costs[v].saturating_add(after[v]);
            for &p in &reach.reduced()[v] {
                after[p] = after[p].max(tails[v]);
            }
        }
        let order = BufferOrder::of(&reach, buffers);
        Graph { reach, order, heads, tails }
    }

    fn path(&self) -> u64 {
        self.heads.iter().copied().max().unwrap_or(0)
    }

    /// Returns the edges that order `b` before `c`.
    fn edges(&self, b: BufferIndex, c: BufferIndex, scopes: &Scopes) -> Vec<(Node, Node)> {
        let (ends, begins) = (&self.order.ends[b], &self.order.begins[c]);
        let pairs = ends.iter().flat_map(|&u| begins.iter().map(move |&f| (u, f)));
        let missing = pairs.filter(|&(u, f)| !self.reach.precedes(u, f));
        let mut edges: Vec<(Node, Node)> = missing.map(|edge| scopes.lifted(edge)).collect();
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    /// Returns the growth of the critical path by these edges.
    fn growth(&self, b: BufferIndex, c: BufferIndex) -> u64 {
        let head = self.order.ends[b].iter().map(|&u| self.heads[u]).max().unwrap_or(0);
        let tail = self.order.begins[c].iter().map(|&f| self.tails[f]).max().unwrap_or(0);
        head.saturating_add(tail).saturating_sub(self.path())
    }
}

struct Search<'a> {
    given: &'a Graph,
    scopes: &'a Scopes,
    buffers: &'a Vector<BufferIndex, Buffer>,
    costs: &'a Vector<Node, u64>,
    budget: u64,
    effort: Effort,
}

impl Search<'_> {
    fn run(&self, floor: u64) -> Result<Budgeted, BudgetError> {
        let mut best = u64::MAX;
        let mut target = self.budget;
        let mut feasible = false;
        // Offsets may need more bytes than the heaviest antichain weighs: the target is lowered by the difference.
        for _ in 0..8 {
            let mut shortest: Option<Budgeted> = None;
            let mut lowest = u64::MAX;
            for guide in [Guide::Path, Guide::Bytes] {
                let given = self.given;
                let reach = (&given.reach, self.scopes);
                let sequence = within(reach, self.buffers, &given.order, &given.tails, guide, target);
                let Some(sequence) = sequence else {
                    continue;
                };
                feasible = true;
                let found = self.order_pairs(&sequence, target);
                lowest = lowest.min(found.plan.total);
                let better = |than: &Budgeted| {
                    (found.path_after, found.edges.len()) < (than.path_after, than.edges.len())
                };
                if found.plan.total <= self.budget && shortest.as_ref().is_none_or(better) {
                    shortest = Some(found);
                }
            }
            if let Some(found) = shortest {
                return Ok(self.without_redundant(found));
            }
            best = best.min(lowest);
            let over = lowest.saturating_sub(self.budget).max(1);
            if lowest == u64::MAX || target <= floor {
                break;
            }
            target = target.saturating_sub(over).max(floor);
        }
        if self.given.reach.len() <= FEW_NODES {
            for sequence in all(&self.given.reach, self.scopes, MOST_ORDERS) {
                let found = self.linearized(&sequence);
                best = best.min(found.plan.total);
                if found.plan.total <= self.budget {
                    let eased = self.order_pairs(&sequence, self.budget);
                    let found = if eased.plan.total <= self.budget { eased } else { found };
                    return Ok(self.without_redundant(found));
                }
            }
        } else if feasible && let Some(sequence) = self.any_sequence() {
            let found = self.linearized(&sequence);
            best = best.min(found.plan.total);
            if found.plan.total <= self.budget {
                return Ok(found);
            }
        }
        if best == u64::MAX {
            best = plan_ordered(&self.given.reach, self.buffers, &self.given.order, self.effort).total;
        }
        Err(BudgetError::NotFound { budget: self.budget, best })
    }

    fn any_sequence(&self) -> Option<Sequence> {
        let given = self.given;
        let reach = (&given.reach, self.scopes);
        within(reach, self.buffers, &given.order, &given.tails, Guide::Bytes, self.budget)
    }

    /// Orders pairs of buffers as in `sequence` until the heaviest antichain weighs at most `target`.
    fn order_pairs(&self, sequence: &Sequence, target: u64) -> Budgeted {
        let sizes: Vector<BufferIndex, u64> = self.buffers.iter().map(|buffer| buffer.size).collect();
        let mut steps: Vec<Step> = Vec::new();
        let mut graph = Graph::of(self.given.reach.clone(), self.buffers, self.costs);
        let mut bound = antichain(&graph.order, &sizes);
        while bound.bytes > target {
            let pairs = self.pairs(&graph, sequence, &bound.buffers);
            let Some(&(growth, ..)) = pairs.first() else {
                break;
            };
            let mut taken = Vec::new();
            let mut excess = bound.bytes - target;
            let mut used = Vector::filled(false, self.buffers.len());
            for &(each, _, b, c) in &pairs {
                let several = graph.reach.len() > MANY_NODES && each == growth && excess > 0;
                if !taken.is_empty() && (!several || used[b] || used[c]) {
                    if !several {
                        break;
                    }
                    continue;
                }
                used[b] = true;
                used[c] = true;
                excess = excess.saturating_sub(sizes[b].min(sizes[c]));
                taken.push((b, c));
            }
            let mut preds = graph.reach.reduced().clone();
            let edges: Vec<Vec<(Node, Node)>> =
                taken.iter().map(|&(b, c)| graph.edges(b, c, self.scopes)).collect();
            edges.iter().flatten().for_each(|&(u, f)| preds[f].push(u));
            // All edges agree with the linear extension.
            let Ok(reach) = Reach::of(&preds) else {
                break;
            };
            let next = Graph::of(reach, self.buffers, self.costs);
            let next_bound = antichain(&next.order, &sizes);
            let (mut saves, mut costs) =
                (bound.bytes.saturating_sub(next_bound.bytes), next.path() - graph.path());
            for (&(donor, receiver), edges) in taken.iter().zip(edges) {
                steps.push(Step { donor, receiver, edges, saves, costs });
                // The effect of several steps together is attributed to the first one.
                (saves, costs) = (0, 0);
            }
            graph = next;
            bound = next_bound;
        }
        self.budgeted(graph, steps)
    }

    /// Returns the pairs of the antichain whose live ranges are disjoint in `sequence`, by least growth of the critical path, then by most bytes.
    fn pairs(
        &self,
        graph: &Graph,
        sequence: &Sequence,
        among: &[BufferIndex],
    ) -> Vec<(u64, Reverse<u64>, BufferIndex, BufferIndex)> {
        let at = |v: &Node| sequence.position[*v];
        // Buffers of an antichain have users.
        let begin = |b: BufferIndex| graph.order.begins[b].iter().map(at).min();
        let end = |b: BufferIndex| graph.order.ends[b].iter().map(at).max();
        let mut receivers: Vec<_> = among.iter().map(|&c| (begin(c), c)).collect();
        receivers.sort_unstable();
        // For large antichains only the next receivers are considered.
        let near = if among.len() > 512 { 16 } else { usize::MAX };
        let mut pairs = Vec::new();
        for &b in among.iter().filter(|&&b| !self.buffers[b].stays) {
            let over = end(b);
            let from = receivers.partition_point(|&(begin, _)| begin <= over);
            for &(_, c) in receivers[from..].iter().take(near) {
                let bytes = self.buffers[b].size.min(self.buffers[c].size);
                pairs.push((graph.growth(b, c), Reverse(bytes), b, c));
            }
        }
        pairs.sort_unstable();
        pairs
    }

    /// Returns the solution with the nodes one after the other.
    fn linearized(&self, sequence: &Sequence) -> Budgeted {
        let mut preds = self.given.reach.reduced().clone();
        let mut followed = Vector::filled(false, preds.len());
        preds.iter().flatten().for_each(|&p| followed[p] = true);
        let runs = |v: &Node| !self.scopes.is_memory(*v, followed[*v]);
        let nodes: Vec<Node> = sequence.nodes.iter().copied().filter(runs).collect();
        for pair in nodes.windows(2) {
            let (before, after) = self.scopes.lifted((pair[0], pair[1]));
            preds[after].push(before);
        }
        let graph = match Reach::of(&preds) {
            Ok(reach) => Graph::of(reach, self.buffers, self.costs),
            // A linear extension closes no cycle.
            Err(_) => Graph::of(self.given.reach.clone(), self.buffers, self.costs),
        };
        self.budgeted(graph, Vec::new())
    }

    fn budgeted(&self, graph: Graph, steps: Vec<Step>) -> Budgeted {
        let plan = plan_ordered(&graph.reach, self.buffers, &graph.order, self.effort);
        let mut edges = Vec::new();
        for (v, list) in graph.reach.reduced().enumerate() {
            let given = &self.given.reach;
            edges.extend(list.iter().filter(|&&p| !given.precedes(p, v)).map(|&p| (p, v)));
        }
        edges.sort_unstable();
        let (path_before, path_after) = (self.given.path(), graph.path());
        Budgeted { edges, steps, reach: graph.reach, plan, path_before, path_after }
    }

    /// Drops steps, from the last to the first, without which the plan still fits and the critical path is no longer.
    fn without_redundant(&self, mut found: Budgeted) -> Budgeted {
        if found.steps.len() > FEW_STEPS {
            return found;
        }
        let mut at = found.steps.len();
        while at > 0 {
            at -= 1;
            let mut steps = found.steps.clone();
            steps.remove(at);
            let mut preds = self.given.reach.reduced().clone();
            for &(u, f) in steps.iter().flat_map(|step| &step.edges) {
                preds[f].push(u);
            }
            let Ok(reach) = Reach::of(&preds) else {
                continue;
            };
            let graph = Graph::of(reach, self.buffers, self.costs);
            let sizes: Vector<BufferIndex, u64> = self.buffers.iter().map(|buffer| buffer.size).collect();
            if antichain(&graph.order, &sizes).bytes > self.budget {
                continue;
            }
            let fewer = self.budgeted(graph, steps);
            if fewer.plan.total <= self.budget && fewer.path_after <= found.path_after {
                found = fewer;
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::check;
    use crate::plan::testing::{graphs, listed};
    use proptest::prelude::*;

    fn check_budgeted(reach: &Reach, buffers: &Vector<BufferIndex, Buffer>, budget: u64, found: &Budgeted) {
        let rounded = planning::rounded(buffers).unwrap();
        assert!(found.plan.total <= budget);
        assert_eq!(check::check(&found.reach, &rounded, &found.plan.offsets, found.plan.total), Ok(()));
        // The order follows from the given one and the edges.
        let mut preds = reach.reduced().clone();
        found.edges.iter().for_each(|&(u, f)| preds[f].push(u));
        let again = Reach::of(&preds).unwrap();
        assert_eq!(again.reduced(), found.reach.reduced());
        assert!(found.path_after >= found.path_before);
    }

    /// Returns the least bytes over all linear extensions: a lower bound for every order.
    fn least(reach: &Reach, buffers: &Vector<BufferIndex, Buffer>) -> u64 {
        let sequences = all(reach, &Scopes::default(), usize::MAX);
        let linearized = |sequence: &Sequence| {
            let mut preds = reach.reduced().clone();
            sequence.nodes.as_slice().windows(2).for_each(|pair| preds[pair[1]].push(pair[0]));
            crate::plan::plan(&Reach::of(&preds).unwrap(), buffers, Effort::Default).unwrap().total
        };
        sequences.iter().map(linearized).min().unwrap_or(0)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn a_budget_is_met_whenever_it_can_be((preds, buffers) in graphs(7, 7)) {
            let reach = Reach::of(&preds).unwrap();
            let costs = Vector::filled(1, preds.len());
            let least = least(&reach, &buffers);
            let found = fit((&reach, &Scopes::default()), &buffers, &costs, least, Effort::Default);
            let found = found.map_err(|error| TestCaseError::fail(error.to_string()))?;
            check_budgeted(&reach, &buffers, least, &found);
            if least > 0 {
                prop_assert!(fit((&reach, &Scopes::default()), &buffers, &costs, least - 1, Effort::Default).is_err());
            }
        }

        #[test]
        fn any_budget_is_met_or_refused((preds, buffers) in graphs(20, 24), part in 0u64..=8) {
            let reach = Reach::of(&preds).unwrap();
            let costs: Vector<Node, u64> = (0..).take(preds.len()).map(|v| 1 + v % 5).collect();
            let free = crate::plan::plan(&reach, &buffers, Effort::Quick).unwrap();
            let budget = free.floor.bytes + (free.total - free.floor.bytes) * part / 8;
            if let Ok(found) = fit((&reach, &Scopes::default()), &buffers, &costs, budget, Effort::Quick) {
                check_budgeted(&reach, &buffers, budget, &found);
                if part == 8 {
                    prop_assert!(found.edges.is_empty() && found.path_after == found.path_before);
                }
            } else {
                prop_assert!(part < 8);
            }
        }
    }

    /// ```text
    /// 0 ─ 1        each of two chains with a buffer of 4 between its nodes:
    /// 2 ─ 3        side by side 8 bytes, one after the other 4
    /// ```
    #[test]
    fn two_chains_in_half_the_bytes() {
        let reach = Reach::of(&listed(&[vec![], vec![0], vec![], vec![2]])).unwrap();
        let buffers = [[0, 1], [2, 3]]
            .map(|users| Buffer {
                size: 4,
                align: 1,
                users: users.map(Node::new).to_vec(),
                ..Buffer::default()
            })
            .into_iter()
            .collect();
        let costs = Vector::filled(1, 4);
        let found = fit((&reach, &Scopes::default()), &buffers, &costs, 4, Effort::Default).unwrap();
        assert_eq!((found.plan.total, found.path_before, found.path_after), (4, 2, 4));
        assert_eq!(found.edges.len(), 1);
        assert_eq!((found.steps[0].saves, found.steps[0].costs), (4, 2));
        let error = fit((&reach, &Scopes::default()), &buffers, &costs, 3, Effort::Default).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the budget of 3 bytes is below the floor: node 0 needs 4 bytes at once, for buffers [0]"
        );
        let curve = budget_curve((&reach, &Scopes::default()), &buffers, &costs, 3).unwrap();
        assert_eq!(curve.iter().map(|p| (p.planned, p.path)).collect::<Vec<_>>(), [(8, 2), (4, 4)]);
    }
}
