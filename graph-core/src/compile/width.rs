//! Bounds the width of the order that is emitted: the number of nodes side by side.
//!
//! The driver takes device memory for each branch of an instantiated graph, and a device runs at most
//! [`MAX_CONCURRENT`](crate::launches::tuning::MAX_CONCURRENT) kernels at once. Beyond the bound, branches are put in
//! sequence. A branch is a maximal path of nodes without other predecessors or successors inside.
//!
//! The branches are distributed to lanes by list scheduling: whenever a lane is free, it takes the ready branch with
//! the longest path to the end. A branch follows the previous one in its lane, so the lanes are paths that cover all
//! nodes, and the width is at most their number. The edges follow the schedule, so they close no cycle.
//!
//! The graph has lanes of its own, and so has each conditional body; in both, each device has. A conditional statement
//! is one node of the graph around it. Memory nodes run nothing and are not counted.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use crate::index::{Index, Vector, indices, wide};
use crate::ir::{Device, Program, StatementId, StatementKind};
use crate::launches::tuning::{FEW_BRANCHES, MAX_CONCURRENT};
use crate::launches::{Batch, Blocks, Decision, Launch, NodeLaunch, Tuning};
use crate::plan;
use crate::reach::{Node, Reach};
use crate::scopes::{ScopeId, Scopes};

indices! {
    /// Index of a branch of a body, in topological order.
    struct BranchId;
}

/// The estimated duration of a node without blocks. A wave of blocks adds as much.
const NODE_DURATION: u64 = 1_000_000;

/// The maximum number of branches side by side.
#[derive(Clone, Copy)]
pub(super) enum WidthBound {
    /// The number that the user sets.
    Given(usize),
    /// The number beyond which more branches gain less than a hundredth of the time.
    WithoutGain,
}

/// An order whose width is to be bounded.
pub(super) struct WidthProblem<'a> {
    pub program: &'a Program,
    /// The order. The members of a batch or chain have equal neighbours in it.
    pub reach: &'a Reach,
    pub decision: &'a Decision,
    /// The facts about each launch. Empty if no transformation is allowed.
    pub launches: &'a Vector<StatementId, Option<Launch>>,
    pub tuning: &'a Tuning,
    pub bound: WidthBound,
}

/// Returns the last statement of a branch and the first one of the next branch in its lane, for all branches that are
/// put in sequence. Empty if the width is within the bound.
///
/// # Complexity
///
/// O(branches × lanes), plus the exact width of up to 10,000 branches and edges unless a greedy cover by lanes shows
/// that it is within the bound.
pub(super) fn serialized(problem: &WidthProblem<'_>) -> Vec<(StatementId, StatementId)> {
    let nodes = WidthNodes::new(problem);
    let mut branch_of = Vector::filled(BranchId::NONE, problem.program.statements.len());
    let mut added = Vec::new();
    for of_body in nodes.of_bodies.values() {
        let branches = BodyBranches::new(problem, &nodes, of_body, &mut branch_of);
        added.extend(branches.serialized(problem.reach));
    }
    added
}

/// The nodes of the emitted graph, each named by one of its statements: the first one that runs, or the smallest one
/// of merged launches.
struct WidthNodes<'a> {
    scopes: Scopes,
    /// The node of each statement.
    of: Vector<StatementId, StatementId>,
    /// The members of batches.
    batches: BTreeMap<StatementId, &'a [StatementId]>,
    /// The members of chains.
    chains: BTreeMap<StatementId, &'a [StatementId]>,
    /// The number of nodes that directly follow each node in its body.
    followers: Vector<StatementId, usize>,
    /// The nodes of each body, in topological order.
    of_bodies: BTreeMap<Option<ScopeId>, Vec<StatementId>>,
}

impl<'a> WidthNodes<'a> {
    fn new(problem: &WidthProblem<'a>) -> WidthNodes<'a> {
        let &WidthProblem { program, reach, decision, .. } = problem;
        let scopes = Scopes::new(program);
        let named = |batch: &'a Batch| Some((*batch.members.first()?, batch.members.as_slice()));
        let batches: BTreeMap<_, _> = decision.batches.iter().filter_map(named).collect();
        let chains: BTreeMap<_, _> =
            decision.chains.iter().map(|chain| (chain.least, chain.members.as_slice())).collect();
        let condition = |id| scopes.bordered(id).map(|own| scopes.list[scopes.list[own].first].condition);
        let mut of: Vector<StatementId, StatementId> =
            program.statements.ids().map(|id| condition(id).unwrap_or(id)).collect();
        for (&node, members) in batches.iter().chain(&chains) {
            members.iter().for_each(|&member| of[member] = node);
        }
        let mut of_bodies: BTreeMap<Option<ScopeId>, Vec<StatementId>> = BTreeMap::new();
        for &id in reach.topological() {
            if of[id] == id && !program.statements[id].kind.is_memory() {
                of_bodies.entry(scopes.around(id)).or_default().push(id);
            }
        }
        let mut followers = Vector::filled(0, of.len());
        let nodes = WidthNodes { scopes, of, batches, chains, followers: Vector::new(), of_bodies };
        let before = nodes.of_bodies.values().flatten().flat_map(|&node| nodes.before(reach, node));
        before.for_each(|id| followers[id] += 1);
        WidthNodes { followers, ..nodes }
    }

    /// Returns the statement that ends a node: the last join of a conditional statement.
    fn end(&self, node: StatementId) -> StatementId {
        let first = self.scopes.begun_by(node);
        first.map_or(node, |first| self.scopes.list[self.scopes.list[first].last].join)
    }

    /// Returns the nodes of the same body that directly precede a node.
    fn before(&self, reach: &Reach, node: StatementId) -> Vec<StatementId> {
        let body = self.scopes.around(node);
        let all = reach.reduced()[node].iter().map(|&id| self.of[id]);
        let mut before: Vec<StatementId> = all.filter(|&id| self.scopes.around(id) == body).collect();
        before.sort_unstable();
        before.dedup();
        before
    }

    /// Returns the facts about a kernel node. `None` for other nodes.
    fn launch(&self, problem: &WidthProblem<'_>, node: StatementId) -> Option<NodeLaunch> {
        let alone = [node];
        let members = self.batches.get(&node).or(self.chains.get(&node)).copied().unwrap_or(&alone);
        NodeLaunch::of(members.iter().map(|&id| problem.launches.get(id)?.as_ref()))
    }

    fn duration(&self, problem: &WidthProblem<'_>, node: StatementId) -> u64 {
        let waves = self.launch(problem, node).map_or(0, |launch| launch.blocks.millionths(launch.wave));
        let statements = wide(self.end(node).index() - node.index() + 1);
        statements.saturating_mul(NODE_DURATION).saturating_add(waves)
    }

    /// Returns the maximum number of such nodes side by side. `None` if the node may not be put in sequence.
    fn most(&self, problem: &WidthProblem<'_>, node: StatementId) -> Option<usize> {
        if let WidthBound::Given(most) = problem.bound {
            return Some(most);
        }
        let copies = NodeLaunch { blocks: Blocks::default(), ..NodeLaunch::SINGLE };
        match (problem.launches.get(node).and_then(Option::as_ref), problem.program.statements[node].kind) {
            (Some(launch), _) if !launch.lanes => None,
            (Some(launch), _) => {
                let is_short = launch.short && !self.chains.contains_key(&node);
                Some(problem.tuning.concurrent(self.launch(problem, node)?, is_short))
            }
            (None, StatementKind::Copy(()) | StatementKind::Fill(())) => {
                Some(problem.tuning.concurrent(copies, true))
            }
            (None, _) => Some(MAX_CONCURRENT),
        }
    }
}

/// A maximal path of nodes of one device without other predecessors or successors inside.
struct BodyBranch {
    /// The statement that begins its first node.
    head: StatementId,
    /// The statement that ends its last node.
    tail: StatementId,
    before: Vec<BranchId>,
    after: Vec<BranchId>,
    duration: u64,
    device: Device,
    /// The maximum number of such branches side by side. `None` if it may not be put in sequence.
    most: Option<usize>,
}

/// The lanes of a device: those of branches that gain nothing from more than [`FEW_BRANCHES`], or those of others.
type LaneGroup = (Device, bool);

impl BodyBranch {
    fn group(&self) -> Option<LaneGroup> {
        Some((self.device, self.most? <= FEW_BRANCHES))
    }
}

/// The branches of a body.
struct BodyBranches {
    list: Vector<BranchId, BodyBranch>,
    /// The number of lanes of each group.
    lanes: BTreeMap<LaneGroup, usize>,
}

impl BodyBranches {
    /// Finds the branches of a body, and sets the branch of each node.
    fn new(
        problem: &WidthProblem<'_>,
        nodes: &WidthNodes<'_>,
        of_body: &[StatementId],
        branch_of: &mut Vector<StatementId, BranchId>,
    ) -> BodyBranches {
        let mut list: Vector<BranchId, BodyBranch> = Vector::new();
        for &node in of_body {
            let before: Vec<BranchId> =
                nodes.before(problem.reach, node).into_iter().map(|id| branch_of[id]).collect();
            let (tail, device) = (nodes.end(node), problem.program.statements[node].device);
            let (duration, most) = (nodes.duration(problem, node), nodes.most(problem, node));
            let previous = before.first().filter(|_| before.len() == 1).map(|&at| (at, &mut list[at]));
            match previous {
                Some((at, branch))
                    if nodes.followers[nodes.of[branch.tail]] == 1
                        && branch.device == device
                        && branch.most.is_some() == most.is_some() =>
                {
                    branch.tail = tail;
                    branch.duration = branch.duration.saturating_add(duration);
                    branch.most = branch.most.max(most);
                    branch_of[node] = at;
                }
                _ => {
                    let after = Vec::new();
                    let branch = BodyBranch { head: node, tail, before, after, duration, device, most };
                    branch_of[node] = list.push(branch);
                }
            }
        }
        for at in list.ids() {
            for before in list[at].before.clone() {
                list[before].after.push(at);
            }
        }
        let mut lanes: BTreeMap<LaneGroup, usize> = BTreeMap::new();
        for (group, most) in list.iter().filter_map(|branch| branch.group().zip(branch.most)) {
            let count = lanes.entry(group).or_default();
            *count = most.max(*count);
        }
        BodyBranches { list, lanes }
    }

    fn serialized(&self, reach: &Reach) -> Vec<(StatementId, StatementId)> {
        if self.is_covered(reach) || self.is_narrow() { Vec::new() } else { self.schedule(reach) }
    }

    /// Returns true if a greedy cover of the branches by ordered lanes is within the bound.
    fn is_covered(&self, reach: &Reach) -> bool {
        let mut ends: BTreeMap<LaneGroup, Vec<BranchId>> = BTreeMap::new();
        self.list.enumerate().all(|(at, branch)| {
            let Some(group) = branch.group() else { return true };
            let ends = ends.entry(group).or_default();
            let ordered = ends.iter_mut().filter(|end| reach.precedes(self.list[**end].tail, branch.head));
            match ordered.max() {
                Some(end) => *end = at,
                None => ends.push(at),
            }
            ends.len() <= self.lanes[&group]
        })
    }

    /// Returns true if the exact width is known and within the bound.
    fn is_narrow(&self) -> bool {
        let before = |branch: &BodyBranch| branch.before.iter().map(|at| Node::new(at.index())).collect();
        let width = plan::exact_width(&self.list.iter().map(before).collect());
        width.is_some_and(|width| self.lanes.values().all(|&lanes| width <= lanes))
    }

    /// Distributes the branches to the lanes. Returns the pairs of successive branches that no path orders yet.
    fn schedule(&self, reach: &Reach) -> Vec<(StatementId, StatementId)> {
        let mut added = Vec::new();
        let mut rest = Vector::filled(0u64, self.list.len());
        for (at, branch) in self.list.enumerate().rev() {
            let after = branch.after.iter().map(|&after| rest[after]).max().unwrap_or(0);
            rest[at] = branch.duration.saturating_add(after);
        }
        let mut waits: Vector<BranchId, usize> = self.list.iter().map(|branch| branch.before.len()).collect();
        let mut ready: BTreeMap<Option<LaneGroup>, BinaryHeap<(u64, Reverse<BranchId>)>> = BTreeMap::new();
        let mut idle: BTreeMap<LaneGroup, IdleLanes> = BTreeMap::new();
        for (&group, &unused) in &self.lanes {
            idle.insert(group, IdleLanes { unused, ends: Vec::new() });
        }
        let mut running: BinaryHeap<Reverse<(u64, BranchId)>> = BinaryHeap::new();
        let mut now = 0;
        for at in waits.ids().filter(|&at| waits[at] == 0) {
            ready.entry(self.list[at].group()).or_default().push((rest[at], Reverse(at)));
        }
        loop {
            for (group, waiting) in &mut ready {
                let mut lanes = group.and_then(|group| idle.get_mut(&group));
                while lanes.as_ref().is_none_or(|lanes| !lanes.is_empty())
                    && let Some((_, Reverse(at))) = waiting.pop()
                {
                    let branch = &self.list[at];
                    let precedes = |end: BranchId| reach.precedes(self.list[end].tail, branch.head);
                    let unordered = lanes.as_mut().and_then(|lanes| lanes.take(precedes));
                    added.extend(unordered.map(|end| (self.list[end].tail, branch.head)));
                    running.push(Reverse((branch.duration.saturating_add(now), at)));
                }
            }
            let Some(&Reverse((time, _))) = running.peek() else { return added };
            now = time;
            while let Some(&Reverse((time, at))) = running.peek()
                && time == now
            {
                running.pop();
                let lanes = self.list[at].group().and_then(|group| idle.get_mut(&group));
                lanes.into_iter().for_each(|lanes| lanes.ends.push(at));
                for &after in &self.list[at].after {
                    waits[after] -= 1;
                    if waits[after] == 0 {
                        ready
                            .entry(self.list[after].group())
                            .or_default()
                            .push((rest[after], Reverse(after)));
                    }
                }
            }
        }
    }
}

/// The lanes of a group in which nothing runs.
struct IdleLanes {
    /// The number of lanes without branches.
    unused: usize,
    /// The last branches of the others, the one that ended first in front.
    ends: Vec<BranchId>,
}

impl IdleLanes {
    fn is_empty(&self) -> bool {
        self.unused == 0 && self.ends.is_empty()
    }

    /// Takes the best lane for a branch. Returns the lane's last branch, unless the branch comes after it anyway.
    fn take(&mut self, precedes: impl Fn(BranchId) -> bool) -> Option<BranchId> {
        if let Some(at) = self.ends.iter().rposition(|&end| precedes(end)) {
            self.ends.remove(at);
            return None;
        }
        if self.unused > 0 {
            self.unused -= 1;
            return None;
        }
        // The one that ended first delays the branch least if the durations are wrong.
        (!self.ends.is_empty()).then(|| self.ends.remove(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::size;
    use crate::launches::testing::program;
    use proptest::prelude::*;

    fn reach(count: usize, edges: &[(StatementId, StatementId)]) -> Reach {
        let mut preds = Vector::filled(Vec::new(), count);
        edges.iter().for_each(|&(from, to)| preds[to].push(from));
        Reach::new(&preds).expect("no cycle")
    }

    /// Bounds the width of an order of launches. Returns the added edges, and the order with them.
    fn bounded(
        count: usize,
        edges: &[(StatementId, StatementId)],
        bound: WidthBound,
    ) -> (Vec<(StatementId, StatementId)>, Reach) {
        let (reach_before, decision) = (reach(count, edges), Decision::default());
        let added = serialized(&WidthProblem {
            program: &program(count),
            reach: &reach_before,
            decision: &decision,
            launches: &Vector::new(),
            tuning: &Tuning::for_capability((9, 0)),
            bound,
        });
        let all = reach(count, &[edges, &added].concat());
        (added, all)
    }

    fn ids_of(edges: &[(u32, u32)]) -> Vec<(StatementId, StatementId)> {
        edges.iter().map(|&(from, to)| (StatementId::from_u32(from), StatementId::from_u32(to))).collect()
    }

    proptest! {
        #[test]
        fn the_width_is_within_the_bound(
            count in 1u32..80,
            picks in proptest::collection::vec((any::<u32>(), any::<u32>()), 0..160),
            bound in 1usize..12,
        ) {
            let edge = |(a, b): (u32, u32)| (a % count, b % count);
            let forward: Vec<(u32, u32)> =
                picks.into_iter().map(edge).filter(|(a, b)| a < b).collect();
            let (count, edges) = (size(count), ids_of(&forward));
            let before = plan::width(reach(count, &edges).reduced());
            let (added, after) = bounded(count, &edges, WidthBound::Given(bound));
            prop_assert!(plan::width(after.reduced()) <= bound);
            prop_assert_eq!(added.is_empty(), before <= bound);
            prop_assert!(edges.iter().all(|&(from, to)| after.precedes(from, to)));
        }
    }

    /// 40 chains of 5 in 4 lanes: 36 edges, and ten times the depth.
    #[test]
    fn branches_stay_whole() {
        let edges: Vec<(u32, u32)> = (0..160).map(|at| (at, at + 40)).collect();
        let (added, after) = bounded(200, &ids_of(&edges), WidthBound::Given(4));
        assert_eq!((added.len(), after.depth()), (36, 50));
        assert!(bounded(200, &ids_of(&edges), WidthBound::Given(40)).0.is_empty());
    }

    /// A chain of 9 beside 30 single launches in 4 lanes: the chain begins first, and the depth is least.
    #[test]
    fn the_longest_branch_is_first() {
        let edges: Vec<(u32, u32)> = (30..38).map(|at| (at, at + 1)).collect();
        let (added, after) = bounded(39, &ids_of(&edges), WidthBound::Given(4));
        assert!(added.iter().all(|&(_, to)| to != StatementId::from_u32(30)));
        assert_eq!(after.depth(), 10);
    }

    /// Nothing is known of these launches, as of library calls: up to 128 run side by side.
    #[test]
    fn the_default_is_what_a_device_runs_at_once() {
        assert!(bounded(MAX_CONCURRENT, &[], WidthBound::WithoutGain).0.is_empty());
        let (added, after) = bounded(300, &[], WidthBound::WithoutGain);
        assert_eq!((added.len(), plan::width(after.reduced())), (300 - MAX_CONCURRENT, MAX_CONCURRENT));
    }
}
