//! Batches: unordered launches of one kernel become one launch.
//!
//! A batch begins when the last predecessor of any member has ended, and ends with its longest member. A chain
//! should not wait for a longer kernel of another chain. So launches are batched only if they are assumed to begin
//! at the same time and in one turn of their device (`launches/begins.rs`), and either take equally long or have the
//! same successors; or if their successors wait for all of them anyway (`launches/joined.rs`).
//!
//! The members of a batch are in the same conditional body, or outside all of them.

use std::collections::{BTreeMap, BTreeSet};

use super::begins::LaunchClass;
use super::blocks::{Blocks, MAX_GRID_BLOCKS};
use super::decision::{Batch, BatchObstacle, DroppedBatches, by_member};
use super::joined;
use super::launch::{Batching, Launch};
use super::reduced_problem::{ContractedOrder, ReducedProblem};
use crate::index::{Vector, size};
use crate::ir::{StatementId, StatementKind};

/// The maximum number of edges that a batch adds: members times neighbours.
const MAX_EDGES: usize = 1 << 18;

/// Returns the batches, sorted by first member. Adds dropped batches to `dropped_batches`.
pub(super) fn batches(draft: &ReducedProblem<'_>, dropped_batches: &mut DroppedBatches) -> Vec<Batch> {
    let mut groups: BTreeMap<LaunchClass, Vec<StatementId>> = BTreeMap::new();
    for (statement, launch) in draft.launches.enumerate() {
        if let Some(launch) = launch
            && launch.batch != Batching::Never
        {
            let class = draft.begins.launch_class(&draft.scopes, statement, launch);
            groups.entry(class).or_default().push(statement);
        }
    }
    let mut batches = Vec::new();
    for group in groups.into_values().filter(|group| group.len() > 1) {
        split(draft, &group, &mut batches);
    }
    joined::add(draft, &mut batches, |members, batches| chunks(draft, members, batches));
    retain(&mut batches, BatchObstacle::Edges, dropped_batches, |batch| ordering_fits(draft, batch));
    batches.sort_by(|a, b| a.members.cmp(&b.members));
    drop_worthless(draft, batches, dropped_batches)
}

/// Keeps the batches for which `is_kept` returns true. Adds the others to `dropped_batches` with the reason.
fn retain(
    batches: &mut Vec<Batch>,
    why: BatchObstacle,
    dropped_batches: &mut DroppedBatches,
    is_kept: impl Fn(&Batch) -> bool,
) {
    let dropped = batches.extract_if(.., |batch| !is_kept(batch));
    dropped_batches.extend(dropped.map(|batch| (batch.members, why)));
}

/// Drops batches with several predecessors and several successors that save no edge, such as kernels between copies
/// in parallel chains. Such a batch saves launches but costs a join and a fork.
fn drop_worthless(
    draft: &ReducedProblem<'_>,
    mut batches: Vec<Batch>,
    dropped_batches: &mut DroppedBatches,
) -> Vec<Batch> {
    let nodes = ContractedOrder::new(&draft.reach, &batches);
    retain(&mut batches, BatchObstacle::Joins, dropped_batches, |batch| {
        let node = batch.members[0];
        let (before, after) = (nodes.before[node].len(), nodes.after[node].len());
        let edges = |&id: &StatementId| draft.reach.reduced()[id].len() + draft.followers[id].len();
        let written: usize = batch.members.iter().map(edges).sum();
        before.min(after) < draft.tuning.crossing || before + after < written
    });
    let nodes = ContractedOrder::new(&draft.reach, &batches);
    let all: BTreeSet<StatementId> = batches.iter().map(|batch| batch.members[0]).collect();
    retain(&mut batches, BatchObstacle::Joins, dropped_batches, |batch| {
        !is_between_calls(draft, &nodes, &all, batch.members[0])
    });
    batches
}

/// Returns true if a batch is in a short run of batches that joins several library calls and forks to several
/// again. `all` holds the nodes of batches.
fn is_between_calls(
    draft: &ReducedProblem<'_>,
    nodes: &ContractedOrder,
    all: &BTreeSet<StatementId>,
    node: StatementId,
) -> bool {
    let most = draft.tuning.between_calls;
    let mut length = 1;
    let mut end = |next: &Vector<StatementId, Vec<StatementId>>| {
        let mut node = node;
        while let &[one] = next[node].as_slice()
            && all.contains(&one)
            && length <= most
        {
            (node, length) = (one, length + 1);
        }
        let is_call =
            |&id: &StatementId| matches!(draft.program.statements[id].kind, StatementKind::Capture(_));
        next[node].len() >= draft.tuning.crossing && next[node].iter().all(is_call)
    };
    let (behind, before) = (end(&nodes.before), end(&nodes.after));
    behind && before && length <= most
}

/// Makes batches from launches that begin at the same time.
fn split(draft: &ReducedProblem<'_>, group: &[StatementId], batches: &mut Vec<Batch>) {
    let launch = |statement: StatementId| draft.launch(statement);
    // The successors of launches with equal successors wait for all of them anyway.
    let mut together: BTreeMap<&[StatementId], Vec<StatementId>> = BTreeMap::new();
    for &statement in group {
        together.entry(&draft.followers[statement]).or_default().push(statement);
    }
    let mut left = Vec::new();
    for members in joined::united(draft, together.into_values().collect()) {
        let grids: BTreeSet<[u32; 3]> =
            members.iter().filter_map(|&id| launch(id)).map(|launch| launch.grid).collect();
        if grids.len() > 1 {
            let (flattened, others) = flattened(draft, members);
            chunks(draft, &flattened, batches);
            left.extend(others);
        } else if group.len() == members.len() {
            chunks(draft, &members, batches);
        } else {
            // A larger batch that includes launches with other successors is better.
            left.extend(members);
        }
    }
    let mut alike: BTreeMap<([u32; 3], &[u64]), Vec<StatementId>> = BTreeMap::new();
    for id in left {
        if let Some(launch) = launch(id) {
            alike.entry((launch.grid, launch.work.as_slice())).or_default().push(id);
        }
    }
    for mut members in alike.into_values() {
        members.sort_unstable();
        chunks(draft, &members, batches);
    }
}

/// Splits launches with different grids into those to flatten into one, and the others. If the blocks of all fit
/// the limit, all are flattened. Otherwise only those of up to one wave: a larger launch fills the device by
/// itself.
fn flattened(draft: &ReducedProblem<'_>, members: Vec<StatementId>) -> (Vec<StatementId>, Vec<StatementId>) {
    let launch = |id: &StatementId| draft.launch(*id);
    let fits = |members: &[StatementId]| {
        let blocks: Blocks = members.iter().filter_map(launch).map(Launch::blocks).sum();
        let wave = members.first().and_then(launch).map_or(0, |launch| launch.wave);
        draft.tuning.fits_flat(blocks, wave)
    };
    if fits(&members) {
        return (members, Vec::new());
    }
    let is_small = |id: &StatementId| launch(id).is_some_and(|l| l.blocks() <= Blocks::from(l.wave));
    let (small, large): (Vec<_>, Vec<_>) = members.iter().partition(|id| is_small(id));
    if small.len() > 1 && fits(&small) { (small, large) } else { (Vec::new(), members) }
}

/// Splits the members into as few batches as the parameter space allows, of about equal sizes.
fn chunks(draft: &ReducedProblem<'_>, members: &[StatementId], batches: &mut Vec<Batch>) {
    let launches: Vec<&Launch> = members.iter().filter_map(|&id| draft.launch(id)).collect();
    let Some(first) = launches.first() else { return };
    let Batching::UpTo { equal, flat } = first.batch else { return };
    let same_grid = launches.iter().all(|launch| launch.has_grid_of(first));
    // The last free dimension of the grid.
    let axis = [2u8, 1].into_iter().find(|&axis| first.grid[usize::from(axis)] == 1).filter(|_| same_grid);
    let most = draft.max_members.min(size(if axis.is_some() { equal } else { flat }));
    if most < 2 || axis.is_none() && !flat_fits(draft, &launches) {
        return;
    }
    let count = members.len().div_ceil(most);
    for chunk in members.chunks(members.len().div_ceil(count)) {
        if chunk.len() > 1 {
            batches.push(Batch { members: chunk.to_vec(), axis });
        }
    }
}

/// Returns true if the blocks of the launches fit into one grid dimension, and into the limit for flattening.
fn flat_fits(draft: &ReducedProblem<'_>, launches: &[&Launch]) -> bool {
    let blocks: Blocks = launches.iter().map(|launch| launch.blocks()).sum();
    blocks <= Blocks::from(MAX_GRID_BLOCKS) && draft.tuning.fits_flat(blocks, launches[0].wave)
}

/// Returns the direct predecessors and successors of a batch's members.
fn neighbours(draft: &ReducedProblem<'_>, batch: &Batch) -> [BTreeSet<StatementId>; 2] {
    let of = |lists: &Vector<StatementId, Vec<StatementId>>| {
        batch.members.iter().flat_map(|&id| lists[id].iter().copied()).collect()
    };
    [of(draft.reach.reduced()), of(&draft.followers)]
}

fn ordering_fits(draft: &ReducedProblem<'_>, batch: &Batch) -> bool {
    let [before, after] = neighbours(draft, batch);
    (before.len() + after.len()).saturating_mul(batch.members.len()) <= MAX_EDGES
}

/// Returns the edges that make each batch one node.
pub(super) fn edges(draft: &ReducedProblem<'_>, batches: &[Batch]) -> Vec<(StatementId, StatementId)> {
    let mut edges = Vec::new();
    for batch in batches {
        let [before, after] = neighbours(draft, batch);
        for &member in &batch.members {
            edges.extend(before.iter().map(|&id| (id, member)));
            edges.extend(after.iter().map(|&id| (member, id)));
        }
    }
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// Returns `edges` between all members of the batches that they join, which keeps each batch one node. An edge from a
/// successor of one member to another member closes a cycle with them.
pub fn completed(batches: &[Batch], edges: &[(StatementId, StatementId)]) -> Vec<(StatementId, StatementId)> {
    let of = by_member(batches);
    let members = |id: &StatementId| of.get(id).map_or(vec![*id], |batch| batch.members.clone());
    let mut added = Vec::new();
    for (from, to) in edges {
        let to = members(to);
        added.extend(members(from).into_iter().flat_map(|from| to.iter().map(move |&to| (from, to))));
    }
    added
}
