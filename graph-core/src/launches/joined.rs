//! Batches of launches that begin at different times but whose successors wait for all of them anyway, so that
//! merging delays nothing.
//!
//! The successors of a batch wait for the last predecessor of its members, and for the longest member. Merging adds
//! no delay if the successors already waited for all members, or for a longest member that begins with the others.
//! Only the end of the graph waits for launches without successors.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::blocks::Blocks;
use super::decision::Batch;
use super::launch::{Batching, Launch};
use super::reduced_problem::ReducedProblem;
use crate::ids::KernelId;
use crate::index::{Vector, ids};
use crate::ir::StatementId;

/// The maximum number of sets of launches with equal successors that are compared with each other.
const MAX_SETS: usize = 16;

/// Unites sets of launches that begin at the same time, each set with its own successors, if the successors of one
/// set also wait for a longest launch of the other set.
///
/// # Complexity
///
/// Quadratic in the sets. At most 16 sets are compared.
pub(super) fn united(draft: &ReducedProblem<'_>, sets: Vec<Vec<StatementId>>) -> Vec<Vec<StatementId>> {
    let is_allowed = draft.tuning.late.0 > 0 && (2..=MAX_SETS).contains(&sets.len());
    if !is_allowed || has_one_grid(draft, sets.iter().flatten()) {
        return sets;
    }
    let mut sets = sets;
    let blocks = |id: &StatementId| draft.launch(*id).map_or(Blocks::default(), Launch::blocks);
    sets.sort_by_key(|set| Reverse(set.iter().map(blocks).max()));
    let mut united: Vec<Vec<StatementId>> = Vec::new();
    for set in sets {
        match united.iter_mut().find(|other| wait_for_a_longest(draft, other, &set)) {
            Some(other) => other.extend(set),
            None => united.push(set),
        }
    }
    united.iter_mut().for_each(|set| set.sort_unstable());
    united
}

/// Returns true if every successor of any of the launches follows a launch with the most blocks of all.
fn wait_for_a_longest(draft: &ReducedProblem<'_>, one: &[StatementId], other: &[StatementId]) -> bool {
    let launches = || one.iter().chain(other).filter_map(|&id| Some((id, draft.launch(id)?)));
    let Some((_, first)) = launches().next() else { return false };
    let most = launches().map(|(_, launch)| launch.blocks()).max();
    let is_longest = |launch: &Launch| Some(launch.blocks()) == most;
    launches().all(|(id, launch)| {
        launch.work == first.work
            && timed_successors(draft, id).all(|after| {
                launches().any(|(id, launch)| is_longest(launch) && draft.reach.precedes(id, after))
            })
    })
}

/// Returns the direct successors that take time.
fn timed_successors<'d>(
    draft: &'d ReducedProblem<'_>,
    id: StatementId,
) -> impl Iterator<Item = StatementId> + 'd {
    let takes_time = |id: &StatementId| !draft.program.statements[*id].kind.is_memory();
    draft.followers[id].iter().copied().filter(takes_time)
}

/// Adds batches of unbatched launches on one level that are not assumed to begin at the same time. Their kernels
/// and trip counts are equal. Their grids are equal too, unless they have no successors and other launches are on
/// later levels.
///
/// Goes through the levels from last to first, so that the predecessors of one batch count as having one successor.
/// `chunks` makes batches of launches that may be merged.
///
/// # Complexity
///
/// O(n log n) in the launches and their edges.
pub(super) fn add(
    draft: &ReducedProblem<'_>,
    batches: &mut Vec<Batch>,
    chunks: impl Fn(&[StatementId], &mut Vec<Batch>),
) {
    let mut node: Vector<StatementId, StatementId> = ids(draft.program.statements.len()).collect();
    let mut taken: BTreeSet<StatementId> = BTreeSet::new();
    for batch in batches.iter() {
        contract(&mut node, batch);
        taken.extend(&batch.members);
    }
    type Key<'l> = (Reverse<u32>, KernelId, [u32; 3], u32, &'l [u64]);
    let mut groups: BTreeMap<Key<'_>, Vec<StatementId>> = BTreeMap::new();
    let mut last = 0;
    for (id, launch) in draft.launches.enumerate() {
        let Some(launch) = launch else { continue };
        let level = draft.reach.levels()[id];
        last = last.max(level);
        if launch.batch != Batching::Never && !taken.contains(&id) {
            let key = (Reverse(level), launch.kernel, launch.block, launch.shared, launch.work.as_slice());
            groups.entry(key).or_default().push(id);
        }
    }
    for ((Reverse(level), ..), group) in groups {
        let mut sets: BTreeMap<BTreeSet<StatementId>, Vec<StatementId>> = BTreeMap::new();
        for id in group {
            let behind = timed_successors(draft, id).map(|after| node[after]).collect();
            sets.entry(behind).or_default().push(id);
        }
        for (behind, members) in sets {
            let fits = if behind.is_empty() { level < last } else { has_one_grid(draft, &members) };
            if !fits || members.len() < 2 {
                continue;
            }
            let first = batches.len();
            for part in within(draft, members) {
                chunks(&part, batches);
            }
            batches[first..].iter().for_each(|batch| contract(&mut node, batch));
        }
    }
}

fn contract(node: &mut Vector<StatementId, StatementId>, batch: &Batch) {
    batch.members.iter().for_each(|&member| node[member] = batch.members[0]);
}

fn has_one_grid<'i>(draft: &ReducedProblem<'_>, ids: impl IntoIterator<Item = &'i StatementId>) -> bool {
    let grids: BTreeSet<Option<[u32; 3]>> =
        ids.into_iter().map(|&id| draft.launch(id).map(|launch| launch.grid)).collect();
    grids.len() < 2
}

/// Splits launches of one kernel into parts whose blocks stay below the limit.
fn within(draft: &ReducedProblem<'_>, members: Vec<StatementId>) -> Vec<Vec<StatementId>> {
    let mut parts: Vec<Vec<StatementId>> = Vec::new();
    let mut sum = Blocks::default();
    for id in members {
        let Some(launch) = draft.launch(id) else { continue };
        let blocks = launch.blocks();
        match parts.last_mut() {
            Some(part) if draft.tuning.fits_late(sum + blocks, launch.wave) => {
                part.push(id);
                sum = sum + blocks;
            }
            _ => {
                parts.push(vec![id]);
                sum = blocks;
            }
        }
    }
    parts
}
