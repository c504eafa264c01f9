//! Finds unordered launches of one kernel that are in different nodes, and the reasons. For reports.

use std::collections::{BTreeMap, BTreeSet};

use super::begins::Begins;
use super::decision::{Batch, BatchObstacle, DroppedBatches};
use super::launch::{Batching, Launch};
use super::reduced_problem::ReducedProblem;
use crate::ids::KernelId;
use crate::ir::StatementId;

/// Unordered launches of one kernel in several nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnbatchedGroup {
    /// The statements of each node.
    pub nodes: Vec<Vec<StatementId>>,
    /// The reasons, one for each node after the first, without duplicates.
    pub why: BTreeSet<BatchObstacle>,
}

/// Groups the launches of each kernel that are unordered but in different nodes. Each launch is in at most one
/// group.
///
/// # Complexity
///
/// O(n log n) for launches on one level; O(n²) for launches that are alone on their levels.
pub(super) fn apart(
    draft: &ReducedProblem<'_>,
    batches: &[Batch],
    dropped_batches: &DroppedBatches,
) -> Vec<UnbatchedGroup> {
    let mut nodes: BTreeMap<KernelId, Vec<Vec<StatementId>>> = BTreeMap::new();
    let batched: BTreeSet<StatementId> =
        batches.iter().flat_map(|batch| batch.members.iter().copied()).collect();
    let of_batches = batches.iter().map(|batch| batch.members.clone());
    let single = draft.launches.ids().filter(|id| !batched.contains(id)).map(|id| vec![id]);
    for node in of_batches.chain(single) {
        if let Some(launch) = draft.launch(node[0]) {
            nodes.entry(launch.kernel).or_default().push(node);
        }
    }
    let explained = UnbatchedExplainer::new(draft, dropped_batches);
    let mut list = Vec::new();
    for nodes in nodes.into_values() {
        for mut nodes in unordered(draft, nodes) {
            nodes.sort();
            let first = nodes[0][0];
            let why = nodes[1..].iter().map(|node| explained.why(first, node[0])).collect();
            list.push(UnbatchedGroup { nodes, why });
        }
    }
    list.sort_by(|a, b| a.nodes.cmp(&b.nodes));
    list
}

/// Partitions the nodes of a kernel into groups of several unordered nodes. Nodes ordered with all others are
/// dropped.
fn unordered(draft: &ReducedProblem<'_>, nodes: Vec<Vec<StatementId>>) -> Vec<Vec<Vec<StatementId>>> {
    let mut levels: BTreeMap<u32, Vec<Vec<StatementId>>> = BTreeMap::new();
    for node in nodes {
        levels.entry(draft.reach.levels()[node[0]]).or_default().push(node);
    }
    let (mut groups, mut alone): (Vec<_>, Vec<_>) = levels.into_values().partition(|group| group.len() > 1);
    let mut chains: Vec<Vec<Vec<StatementId>>> = Vec::new();
    for node in alone.drain(..).flatten() {
        let free = |group: &&mut Vec<Vec<StatementId>>| {
            group.iter().flatten().all(|&other| node.iter().all(|&id| !draft.reach.ordered(id, other)))
        };
        match chains.iter_mut().find(free) {
            Some(group) => group.push(node),
            None => chains.push(vec![node]),
        }
    }
    groups.extend(chains.into_iter().filter(|group| group.len() > 1));
    groups
}

/// Explains why two launches are apart.
struct UnbatchedExplainer<'d, 'p> {
    draft: &'d ReducedProblem<'p>,
    /// The begins of launches that have their device to themselves.
    without_turns: Begins,
    dropped_batches: BTreeMap<StatementId, BatchObstacle>,
}

impl<'d, 'p> UnbatchedExplainer<'d, 'p> {
    fn new(draft: &'d ReducedProblem<'p>, dropped_batches: &DroppedBatches) -> UnbatchedExplainer<'d, 'p> {
        let by_member =
            dropped_batches.iter().flat_map(|(members, why)| members.iter().map(move |&id| (id, *why)));
        let without_turns = Begins::new(draft, &draft.reach, &draft.scopes, false);
        UnbatchedExplainer { draft, without_turns, dropped_batches: by_member.collect() }
    }

    /// Returns the reason that two launches of one kernel are in different nodes.
    fn why(&self, a: StatementId, b: StatementId) -> BatchObstacle {
        let launch = |id: StatementId| self.draft.launch(id);
        let never = |id: &StatementId| launch(*id).is_none_or(|launch| launch.batch == Batching::Never);
        if let Some(id) = [a, b].into_iter().find(never) {
            return BatchObstacle::Never(id);
        }
        if self.draft.scopes.around(a) != self.draft.scopes.around(b) {
            return BatchObstacle::Bodies;
        }
        let (Some(first), Some(second)) = (launch(a), launch(b)) else { return BatchObstacle::Never(a) };
        if (first.block, first.shared) != (second.block, second.shared) {
            return BatchObstacle::Blocks;
        }
        let dropped_batches = |id: &StatementId| self.dropped_batches.get(id).copied();
        if let (Some(why), Some(_)) = (dropped_batches(&a), dropped_batches(&b)) {
            return why;
        }
        if self.without_turns.class[a] != self.without_turns.class[b] {
            return BatchObstacle::Begins;
        }
        let Begins { class, turn } = &self.draft.begins;
        if (class[a], turn[a]) != (class[b], turn[b]) {
            return BatchObstacle::Devices;
        }
        let lasts = |launch: &Launch| (launch.grid, launch.work.clone());
        if lasts(first) != lasts(second) && self.draft.followers[a] != self.draft.followers[b] {
            return BatchObstacle::Ends;
        }
        if !first.has_grid_of(second) {
            return BatchObstacle::Flat;
        }
        dropped_batches(&a).or(dropped_batches(&b)).unwrap_or(BatchObstacle::Room)
    }
}
