//! Adds edges until the buffers of each device's memory fit into a budget, lengthening the critical path as little as
//! possible (the minimum is NP-complete). First finds a linear extension within the budget; if there is none, there is
//! no solution. While the heaviest antichain of a memory exceeds the budget, two of its buffers have disjoint live
//! ranges in the extension, or all would be live at once there. Adds edges that order such a pair, choosing the pair
//! that lengthens the critical path least. Edges across the border of a conditional body are lifted.

use std::cmp::Reverse;
use std::fmt;

use super::bounds::{Floor, antichain};
use super::indices::BufferIndex;
use super::order::{BufferOrder, PlannerBuffer};
use super::planning::{self, MemoryPlan, plan_ordered};
use super::problem::{Effort, PlanError};
use super::sequence::{Sequence, SequencePriority, all, within};
use crate::index::{Index, Vector};
use crate::reach::{Node, Reach};
use crate::scopes::Scopes;

/// The maximum number of nodes of a graph for which all linear extensions are tried.
const MAX_NODES_FOR_ALL: usize = 12;
/// The maximum number of linear extensions that are tried for such a graph.
const MAX_EXTENSIONS: usize = 2_000;
/// Above this number of nodes, several pairs are ordered before the bound is computed again.
const MANY_NODES: usize = 2_000;
/// The maximum number of steps of a solution from which redundant steps are dropped.
const MAX_DROPPABLE_STEPS: usize = 16;

/// Why a budget is not met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BudgetError {
    /// A single node needs more bytes of a memory than the budget.
    BelowFloor {
        /// The budget.
        budget: u64,
        /// The index of the memory.
        memory: usize,
        /// The node and its buffers.
        floor: Floor,
    },
    /// No order was found under which the buffers fit.
    NotFound {
        /// The budget.
        budget: u64,
        /// The index of the largest memory in the best plan found.
        memory: usize,
        /// The bytes of that memory.
        best: u64,
    },
    /// The buffers of a memory cannot be planned at all.
    Plan {
        /// The index of the memory.
        memory: usize,
        /// The reason.
        error: PlanError,
    },
}

impl fmt::Display for BudgetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BudgetError::BelowFloor { budget, memory, floor } => write!(
                f,
                "the budget of {budget} bytes is below the floor: node {} needs {} bytes of \
                 memory {memory} at once, for buffers {:?}",
                floor.node.map_or(0, Index::index),
                floor.bytes,
                floor.buffers
            ),
            BudgetError::NotFound { budget, memory, best } => write!(
                f,
                "no order was found that fits into the budget of {budget} bytes; the best one takes \
                 {best} bytes of memory {memory}"
            ),
            BudgetError::Plan { error, .. } => error.fmt(f),
        }
    }
}

impl std::error::Error for BudgetError {}

/// The buffers of one memory. Buffers of different memories share no bytes.
pub type MemoryBuffers = Vector<BufferIndex, PlannerBuffer>;

/// A pair of buffers whose live ranges were ordered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderedPair {
    /// The index of their memory.
    pub memory: usize,
    /// The buffer whose live range ends first.
    pub donor: BufferIndex,
    /// The buffer whose live range begins after that.
    pub receiver: BufferIndex,
    /// The edges from each maximal user of the donor to each minimal user of the receiver, lifted out of
    /// conditional bodies and without implied ones.
    pub edges: Vec<(Node, Node)>,
    /// The decrease of the heaviest antichain, in bytes.
    pub saves: u64,
    /// The growth of the critical path.
    pub costs: u64,
}

/// A solution: edges under which the buffers fit.
#[derive(Clone, Debug)]
pub struct BudgetedOrder {
    /// The added edges in the transitive reduction, sorted.
    pub edges: Vec<(Node, Node)>,
    /// The pairs that were ordered.
    pub steps: Vec<OrderedPair>,
    /// The order with the edges.
    pub reach: Reach,
    /// The plan of each memory under that order.
    pub plans: Vec<MemoryPlan>,
    /// The critical path without the edges.
    pub path_before: u64,
    /// The critical path with the edges.
    pub path_after: u64,
}

impl BudgetedOrder {
    /// Returns the bytes of the largest memory.
    #[must_use]
    pub fn most(&self) -> u64 {
        most(&self.plans).1
    }
}

/// Returns the index and the bytes of the largest memory.
fn most(plans: &[MemoryPlan]) -> (usize, u64) {
    let largest = plans.iter().enumerate().max_by_key(|&(memory, plan)| (plan.total, Reverse(memory)));
    largest.map_or((0, 0), |(memory, plan)| (memory, plan.total))
}

/// Adds edges until the plan of each memory takes at most `budget` bytes. Adds none if the plans under the given
/// order fit. `scopes` are the conditional bodies, `costs` the execution times of the nodes in any unit.
///
/// # Errors
///
/// See [`BudgetError`].
///
/// # Panics
///
/// If a user is not a node of `reach`, or `costs` does not have one entry for each node.
pub fn fit(
    reach: &Reach,
    scopes: &Scopes,
    memories: &[MemoryBuffers],
    costs: &Vector<Node, u64>,
    budget: u64,
    effort: Effort,
) -> Result<BudgetedOrder, BudgetError> {
    let memories = rounded(memories)?;
    let given = CostedOrder::new(reach.clone(), &memories, costs);
    let search = BudgetSearch { given: &given, scopes, memories: &memories, costs, budget, effort };
    let plans = search.plans(&given);
    if most(&plans).1 <= budget {
        let path = given.path();
        let (edges, steps) = (Vec::new(), Vec::new());
        return Ok(BudgetedOrder {
            edges,
            steps,
            reach: given.reach,
            plans,
            path_before: path,
            path_after: path,
        });
    }
    if let Some(memory) = plans.iter().position(|plan| plan.floor.bytes > budget) {
        return Err(BudgetError::BelowFloor { budget, memory, floor: plans[memory].floor.clone() });
    }
    search.run(&plans)
}

/// Returns the memories with the sizes of their buffers rounded up, as in plans.
fn rounded(memories: &[MemoryBuffers]) -> Result<Vec<MemoryBuffers>, BudgetError> {
    let rounded =
        |(memory, buffers)| planning::rounded(buffers).map_err(|error| BudgetError::Plan { memory, error });
    memories.iter().enumerate().map(rounded).collect()
}

/// A point of the trade-off between bytes and critical path.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CurvePoint {
    /// The budget in bytes, for each device.
    pub budget: u64,
    /// The planned bytes on the device with the most.
    pub planned: u64,
    /// The planned bytes on each device, in the order of the contexts.
    pub devices: Vec<u64>,
    /// The critical path.
    pub path: u64,
    /// The number of added edges.
    pub edges: usize,
}

/// Computes the trade-off at `points` budgets, evenly spaced from the unconstrained plan down to the floor,
/// descending. Omits budgets that cannot be met.
///
/// # Errors
///
/// The index of a memory whose buffers cannot be planned at all.
///
/// # Panics
///
/// Like [`fit`].
pub fn budget_curve(
    reach: &Reach,
    scopes: &Scopes,
    memories: &[MemoryBuffers],
    costs: &Vector<Node, u64>,
    points: u64,
) -> Result<Vec<CurvePoint>, (usize, PlanError)> {
    let plan =
        |(memory, buffers)| planning::plan(reach, buffers, Effort::Default).map_err(|error| (memory, error));
    let free: Vec<MemoryPlan> = memories.iter().enumerate().map(plan).collect::<Result<_, _>>()?;
    let (_, total) = most(&free);
    let floor = free.iter().map(|plan| plan.floor.bytes).max().unwrap_or(0);
    let span = total.saturating_sub(floor);
    let mut curve: Vec<CurvePoint> = Vec::new();
    for at in 0..points.max(2) {
        let budget = total - part(span, at, points.max(2) - 1);
        match fit(reach, scopes, memories, costs, budget, Effort::Quick) {
            Ok(fit) => {
                let devices: Vec<u64> = fit.plans.iter().map(|plan| plan.total).collect();
                let point = CurvePoint {
                    budget,
                    planned: fit.most(),
                    devices,
                    path: fit.path_after,
                    edges: fit.edges.len(),
                };
                if curve.last().is_none_or(|last| last.devices != point.devices) {
                    curve.push(point);
                }
            }
            Err(BudgetError::Plan { memory, error }) => return Err((memory, error)),
            Err(_) => {}
        }
    }
    Ok(curve)
}

/// Returns `number * of / parts`. `of` must be at most `parts`.
pub(super) fn part(number: u64, of: u64, parts: u64) -> u64 {
    let part = u128::from(number) * u128::from(of) / u128::from(parts);
    // At most `number`.
    u64::try_from(part).unwrap_or(number)
}

/// Returns the length of the critical path.
#[must_use]
pub fn critical_path(reach: &Reach, costs: &Vector<Node, u64>) -> u64 {
    heads(reach, costs).iter().copied().max().unwrap_or(0)
}

/// Returns the length of the longest path that ends with each node, including the node.
fn heads(reach: &Reach, costs: &Vector<Node, u64>) -> Vector<Node, u64> {
    let mut heads = costs.clone();
    for &v in reach.topological() {
        let longest = reach.reduced()[v].iter().map(|&p| heads[p]).max();
        heads[v] = costs[v].saturating_add(longest.unwrap_or(0));
    }
    heads
}

/// An order of the nodes, and the data derived from it.
struct CostedOrder {
    reach: Reach,
    /// The order of the buffers of each memory.
    orders: Vec<BufferOrder>,
    /// The length of the longest path that ends with each node, including the node.
    heads: Vector<Node, u64>,
    /// The length of the longest path that begins with each node, including the node.
    tails: Vector<Node, u64>,
}

impl CostedOrder {
    fn new(reach: Reach, memories: &[MemoryBuffers], costs: &Vector<Node, u64>) -> CostedOrder {
        let heads = heads(&reach, costs);
        let mut after = Vector::filled(0u64, reach.len());
        let mut tails = costs.clone();
        for &v in reach.topological().iter().rev() {
            tails[v] = costs[v].saturating_add(after[v]);
            for &p in &reach.reduced()[v] {
                after[p] = after[p].max(tails[v]);
            }
        }
        let orders = memories.iter().map(|buffers| BufferOrder::new(&reach, buffers)).collect();
        CostedOrder { reach, orders, heads, tails }
    }

    fn path(&self) -> u64 {
        self.heads.iter().copied().max().unwrap_or(0)
    }

    /// Returns the edges that order `b` before `c`, both in one memory.
    fn edges(&self, memory: usize, b: BufferIndex, c: BufferIndex, scopes: &Scopes) -> Vec<(Node, Node)> {
        let (ends, begins) = (&self.orders[memory].ends[b], &self.orders[memory].begins[c]);
        let pairs = ends.iter().flat_map(|&u| begins.iter().map(move |&f| (u, f)));
        let missing = pairs.filter(|&(u, f)| !self.reach.precedes(u, f));
        let mut edges: Vec<(Node, Node)> = missing.map(|(from, to)| scopes.lifted(from, to)).collect();
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    /// Returns the growth of the critical path if these edges are added.
    fn growth(&self, memory: usize, b: BufferIndex, c: BufferIndex) -> u64 {
        let order = &self.orders[memory];
        let head = order.ends[b].iter().map(|&u| self.heads[u]).max().unwrap_or(0);
        let tail = order.begins[c].iter().map(|&f| self.tails[f]).max().unwrap_or(0);
        head.saturating_add(tail).saturating_sub(self.path())
    }
}

/// Two buffers whose live ranges may be ordered. Sorted by least growth of the critical path, then by most bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct OrderablePair {
    growth: u64,
    bytes: Reverse<u64>,
    b: BufferIndex,
    c: BufferIndex,
}

struct BudgetSearch<'a> {
    given: &'a CostedOrder,
    scopes: &'a Scopes,
    memories: &'a [MemoryBuffers],
    costs: &'a Vector<Node, u64>,
    budget: u64,
    effort: Effort,
}

/// The smallest plan so far: its largest memory, and the bytes of that memory.
struct SmallestPlan(Option<(usize, u64)>);

impl SmallestPlan {
    fn add(&mut self, found: &BudgetedOrder) {
        let (memory, bytes) = most(&found.plans);
        if self.0.is_none_or(|(_, best)| bytes < best) {
            self.0 = Some((memory, bytes));
        }
    }
}

impl BudgetSearch<'_> {
    /// Searches for edges. `unchanged` are the plans without added edges.
    fn run(&self, unchanged: &[MemoryPlan]) -> Result<BudgetedOrder, BudgetError> {
        let mut best = SmallestPlan(None);
        let mut targets = vec![self.budget; self.memories.len()];
        let mut feasible = false;
        // Offsets may need more bytes than the heaviest antichain, so targets are lowered by the difference.
        for _ in 0..8 {
            let mut shortest: Option<BudgetedOrder> = None;
            let mut lowest: Vec<u64> = vec![u64::MAX; self.memories.len()];
            for guide in [SequencePriority::Path, SequencePriority::Bytes] {
                let Some(sequence) = self.sequence(guide, &targets) else {
                    continue;
                };
                feasible = true;
                let found = self.order_pairs(&sequence, &targets);
                best.add(&found);
                lowest
                    .iter_mut()
                    .zip(&found.plans)
                    .for_each(|(lowest, plan)| *lowest = plan.total.min(*lowest));
                let better = |than: &BudgetedOrder| {
                    (found.path_after, found.edges.len()) < (than.path_after, than.edges.len())
                };
                if found.most() <= self.budget && shortest.as_ref().is_none_or(better) {
                    shortest = Some(found);
                }
            }
            if let Some(found) = shortest {
                return Ok(self.without_redundant(found));
            }
            if !self.lower(&mut targets, &lowest, unchanged) {
                break;
            }
        }
        if self.given.reach.len() <= MAX_NODES_FOR_ALL {
            for sequence in all(&self.given.reach, self.scopes, MAX_EXTENSIONS) {
                let found = self.linearized(&sequence);
                best.add(&found);
                if found.most() <= self.budget {
                    let budgets = vec![self.budget; self.memories.len()];
                    let eased = self.order_pairs(&sequence, &budgets);
                    let found = if eased.most() <= self.budget { eased } else { found };
                    return Ok(self.without_redundant(found));
                }
            }
        } else if feasible
            && let Some(sequence) =
                self.sequence(SequencePriority::Bytes, &vec![self.budget; self.memories.len()])
        {
            let found = self.linearized(&sequence);
            best.add(&found);
            if found.most() <= self.budget {
                return Ok(found);
            }
        }
        let (memory, best) = best.0.unwrap_or_else(|| most(unchanged));
        Err(BudgetError::NotFound { budget: self.budget, memory, best })
    }

    /// Lowers the targets of the memories whose best plans (`lowest`, in bytes) exceed the budget. Returns false if
    /// no target can be lowered, or nothing was planned.
    fn lower(&self, targets: &mut [u64], lowest: &[u64], plans: &[MemoryPlan]) -> bool {
        if lowest.contains(&u64::MAX) {
            return false;
        }
        // No plan is within the budget, so one memory is lowered even if some plan met each memory alone.
        let fits = lowest.iter().all(|&lowest| lowest <= self.budget);
        let mut lowered = false;
        for ((target, &lowest), plan) in targets.iter_mut().zip(lowest).zip(plans) {
            let over = lowest.saturating_sub(self.budget).max(u64::from(fits));
            if over > 0 && *target > plan.floor.bytes {
                *target = target.saturating_sub(over).max(plan.floor.bytes);
                lowered = true;
            }
        }
        lowered
    }

    fn sequence(&self, guide: SequencePriority, targets: &[u64]) -> Option<Sequence> {
        let given = self.given;
        let memories = self.memories.iter().zip(&given.orders);
        within(&given.reach, self.scopes, memories, &given.tails, guide, targets)
    }

    /// Orders pairs of buffers as in `sequence` until the heaviest antichain of each memory is at most its target.
    fn order_pairs(&self, sequence: &Sequence, targets: &[u64]) -> BudgetedOrder {
        let mut steps: Vec<OrderedPair> = Vec::new();
        let mut graph = CostedOrder::new(self.given.reach.clone(), self.memories, self.costs);
        for (memory, &target) in targets.iter().enumerate() {
            graph = self.order_pairs_of(memory, target, sequence, graph, &mut steps);
        }
        self.budgeted(graph, steps)
    }

    fn order_pairs_of(
        &self,
        memory: usize,
        target: u64,
        sequence: &Sequence,
        mut graph: CostedOrder,
        steps: &mut Vec<OrderedPair>,
    ) -> CostedOrder {
        let buffers = &self.memories[memory];
        let sizes: Vector<BufferIndex, u64> = buffers.iter().map(|buffer| buffer.size).collect();
        let mut bound = antichain(&graph.orders[memory], &sizes);
        while bound.bytes > target {
            let pairs = self.pairs(memory, &graph, sequence, &bound.buffers);
            let Some(&OrderablePair { growth, .. }) = pairs.first() else {
                break;
            };
            let mut taken = Vec::new();
            let mut excess = bound.bytes - target;
            let mut used = Vector::filled(false, buffers.len());
            for &OrderablePair { growth: each, b, c, .. } in &pairs {
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
                taken.iter().map(|&(b, c)| graph.edges(memory, b, c, self.scopes)).collect();
            edges.iter().flatten().for_each(|&(u, f)| preds[f].push(u));
            // All edges agree with the linear extension.
            let Ok(reach) = Reach::new(&preds) else {
                break;
            };
            let next = CostedOrder::new(reach, self.memories, self.costs);
            let next_bound = antichain(&next.orders[memory], &sizes);
            let (mut saves, mut costs) =
                (bound.bytes.saturating_sub(next_bound.bytes), next.path() - graph.path());
            for (&(donor, receiver), edges) in taken.iter().zip(edges) {
                steps.push(OrderedPair { memory, donor, receiver, edges, saves, costs });
                // The effect of several steps is attributed to the first one.
                (saves, costs) = (0, 0);
            }
            graph = next;
            bound = next_bound;
        }
        graph
    }

    /// Returns the pairs of the antichain with disjoint live ranges in `sequence`, sorted.
    fn pairs(
        &self,
        memory: usize,
        graph: &CostedOrder,
        sequence: &Sequence,
        among: &[BufferIndex],
    ) -> Vec<OrderablePair> {
        let at = |v: &Node| sequence.position[*v];
        // Buffers of an antichain have users.
        let (buffers, order) = (&self.memories[memory], &graph.orders[memory]);
        let begin = |b: BufferIndex| order.begins[b].iter().map(at).min();
        let end = |b: BufferIndex| order.ends[b].iter().map(at).max();
        let mut receivers: Vec<_> = among.iter().map(|&c| (begin(c), c)).collect();
        receivers.sort_unstable();
        let near = if among.len() > 512 { 16 } else { usize::MAX };
        let mut pairs = Vec::new();
        for &b in among.iter().filter(|&&b| !buffers[b].stays) {
            let over = end(b);
            let from = receivers.partition_point(|&(begin, _)| begin <= over);
            for &(_, c) in receivers[from..].iter().take(near) {
                let bytes = buffers[b].size.min(buffers[c].size);
                pairs.push(OrderablePair { growth: graph.growth(memory, b, c), bytes: Reverse(bytes), b, c });
            }
        }
        pairs.sort_unstable();
        pairs
    }

    /// Returns the solution with all nodes in one sequence.
    fn linearized(&self, sequence: &Sequence) -> BudgetedOrder {
        let mut preds = self.given.reach.reduced().clone();
        let mut followed = Vector::filled(false, preds.len());
        preds.iter().flatten().for_each(|&p| followed[p] = true);
        let runs = |v: &Node| !self.scopes.is_memory(*v, followed[*v]);
        let nodes: Vec<Node> = sequence.nodes.iter().copied().filter(runs).collect();
        for pair in nodes.windows(2) {
            let (before, after) = self.scopes.lifted(pair[0], pair[1]);
            preds[after].push(before);
        }
        let graph = match Reach::new(&preds) {
            Ok(reach) => CostedOrder::new(reach, self.memories, self.costs),
            // A linear extension closes no cycle.
            Err(_) => CostedOrder::new(self.given.reach.clone(), self.memories, self.costs),
        };
        self.budgeted(graph, Vec::new())
    }

    fn plans(&self, graph: &CostedOrder) -> Vec<MemoryPlan> {
        let memories = self.memories.iter().zip(&graph.orders);
        memories.map(|(buffers, order)| plan_ordered(&graph.reach, buffers, order, self.effort)).collect()
    }

    fn budgeted(&self, graph: CostedOrder, steps: Vec<OrderedPair>) -> BudgetedOrder {
        let plans = self.plans(&graph);
        let mut edges = Vec::new();
        for (v, list) in graph.reach.reduced().enumerate() {
            let given = &self.given.reach;
            edges.extend(list.iter().filter(|&&p| !given.precedes(p, v)).map(|&p| (p, v)));
        }
        edges.sort_unstable();
        let (path_before, path_after) = (self.given.path(), graph.path());
        BudgetedOrder { edges, steps, reach: graph.reach, plans, path_before, path_after }
    }

    /// Drops each step, from last to first, without which the plan still fits and the critical path is not longer.
    fn without_redundant(&self, mut found: BudgetedOrder) -> BudgetedOrder {
        if found.steps.len() > MAX_DROPPABLE_STEPS {
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
            let Ok(reach) = Reach::new(&preds) else {
                continue;
            };
            let graph = CostedOrder::new(reach, self.memories, self.costs);
            if self.memories.iter().zip(&graph.orders).any(|(buffers, order)| self.exceeds(buffers, order)) {
                continue;
            }
            let fewer = self.budgeted(graph, steps);
            if fewer.most() <= self.budget && fewer.path_after <= found.path_after {
                found = fewer;
            }
        }
        found
    }

    /// Returns true if the heaviest antichain of a memory exceeds the budget.
    fn exceeds(&self, buffers: &MemoryBuffers, order: &BufferOrder) -> bool {
        let sizes: Vector<BufferIndex, u64> = buffers.iter().map(|buffer| buffer.size).collect();
        antichain(order, &sizes).bytes > self.budget
    }
}

#[cfg(test)]
mod tests;
