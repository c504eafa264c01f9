//! Unjoined chains: consecutive batches whose members are connected one to one, without a join between them.
//!
//! As batches, each level waits for its longest block; as written, no chain waits for another. Two halves of the
//! members run concurrently: one has work while the other waits for its last blocks.
//!
//! The batches are kept, halved or dropped; see [`super::tuning::ChainLimits`]. They are also dropped if all chains
//! become one kernel instead, or each chain becomes one; see [`super::tuning::ChainLimits::stacked`] and
//! [`super::tuning::SideBySide`].

use std::collections::BTreeMap;

use super::blocks::Blocks;
use super::decision::{Batch, BatchObstacle, DroppedBatches};
use super::launch::{KernelLength, Launch};
use super::levels::{LaunchLevel, LaunchLevels};
use super::reduced_problem::{ContractedOrder, ReducedProblem};
use super::stacks;
use crate::ir::StatementId;

/// Rows of batches, or levels of rows, reserved for fusion, each with its launches, by its first launch.
pub(super) type ReservedRows = BTreeMap<(StatementId, FusionManner), Vec<StatementId>>;

/// How the chains of a row are fused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FusionManner {
    /// All chains into one kernel.
    Stacked,
    /// Each chain into its own kernel.
    Alone,
}

/// Returns the batches, with those of unjoined chains kept, halved or dropped, and the launches reserved for
/// fusion. Adds dropped batches to `dropped_batches`. `fuses` returns true if the row or level with this first launch
/// may be reserved.
///
/// # Complexity
///
/// O(n log n) in the members and their edges.
pub(super) fn choose_widths(
    draft: &ReducedProblem<'_>,
    batches: Vec<Batch>,
    fuses: impl Fn(StatementId, FusionManner) -> bool,
    dropped_batches: &mut DroppedBatches,
) -> (Vec<Batch>, ReservedRows) {
    let rows = rows(draft, &batches);
    let (mut kept, mut left) = (Vec::with_capacity(batches.len()), ReservedRows::new());
    let in_rows = rows.iter().filter(|row| row.len() > 1).flatten();
    let levels = LaunchLevels::new(draft, in_rows.flat_map(|(_, members)| members.iter().copied()));
    for row in rows {
        let first = row[0].1[0];
        let open = open_levels(draft, &levels, &row, &fuses);
        if open.contains(&true) {
            for ((at, members), open) in row.into_iter().zip(open) {
                if !open {
                    kept.push(Batch { members: sorted(members), axis: batches[at].axis });
                    continue;
                }
                left.insert((members[0], FusionManner::Stacked), members.clone());
                dropped_batches.push((members, BatchObstacle::Stacked));
            }
            continue;
        }
        if row_gains_by_fusing(draft, &levels, &row) && fuses(first, FusionManner::Alone) {
            let launches = row.iter().flat_map(|(_, members)| members.iter().copied()).collect();
            left.insert((first, FusionManner::Alone), launches);
            dropped_batches.extend(row.into_iter().map(|(_, members)| (members, BatchObstacle::Fused)));
            continue;
        }
        let parts = match width(draft, &row) {
            Width::Kept => 1,
            Width::Halved => 2,
            Width::Dropped => {
                dropped_batches
                    .extend(row.into_iter().map(|(_, members)| (members, BatchObstacle::ChainLimits)));
                continue;
            }
        };
        for (at, members) in row {
            if parts > 1 {
                dropped_batches.push((members.clone(), BatchObstacle::Halves));
            }
            for part in members.chunks(members.len().div_ceil(parts)) {
                kept.push(Batch { members: sorted(part.to_vec()), axis: batches[at].axis });
            }
        }
    }
    kept.sort_by(|a, b| a.members.cmp(&b.members));
    (kept, left)
}

fn sorted(mut members: Vec<StatementId>) -> Vec<StatementId> {
    members.sort_unstable();
    members
}

/// The batches of consecutive levels, each with its members in the order of the chains.
type BatchRow = Vec<(usize, Vec<StatementId>)>;

/// Returns the rows of batches. Each batch is in one row.
fn rows(draft: &ReducedProblem<'_>, batches: &[Batch]) -> Vec<BatchRow> {
    let nodes = ContractedOrder::new(&draft.reach, batches);
    let by_node: BTreeMap<StatementId, usize> =
        batches.iter().enumerate().map(|(at, batch)| (batch.members[0], at)).collect();
    let mut after = vec![None; batches.len()];
    let mut is_head = vec![true; batches.len()];
    for (at, batch) in batches.iter().enumerate() {
        let before = nodes.previous(batch.members[0]).and_then(|node| by_node.get(&node));
        let Some((before, successors)) =
            before.and_then(|&before| Some((before, one_by_one(draft, &batches[before], batch)?)))
        else {
            continue;
        };
        is_head[at] = false;
        after[before] = Some((at, successors));
    }
    let heads = (0..batches.len()).filter(|&at| is_head[at]);
    heads.map(|head| row(head, batches, &after)).collect()
}

/// Returns the row that begins with a batch. `after` holds the batch after each, with the successors of its
/// members.
fn row(
    head: usize,
    batches: &[Batch],
    after: &[Option<(usize, BTreeMap<StatementId, StatementId>)>],
) -> BatchRow {
    let mut row = vec![(head, batches[head].members.clone())];
    while let Some((at, members)) = row.last()
        && let Some((next, successors)) = &after[*at]
    {
        let members = members.iter().map(|member| successors[member]).collect();
        row.push((*next, members));
    }
    row
}

/// Returns true for each level of a row that is reserved for stacking all chains into one kernel, since that is
/// faster than one launch for each level. At least two consecutive levels are needed. If the row would be halved,
/// all its levels are reserved or none.
fn open_levels(
    draft: &ReducedProblem<'_>,
    levels: &LaunchLevels<'_, '_>,
    row: &BatchRow,
    fuses: &impl Fn(StatementId, FusionManner) -> bool,
) -> Vec<bool> {
    let may_stack = |&member: &StatementId| draft.launch(member).is_some_and(stacks::may_stack);
    let gains = |level: &LaunchLevel| draft.tuning.gains_by_stacking(level.length, &level.grids);
    let is_open = |(_, members): &(usize, Vec<StatementId>)| {
        let level = levels.level(members[0]);
        fuses(members[0], FusionManner::Stacked) && members.iter().all(may_stack) && level.is_some_and(gains)
    };
    let open: Vec<bool> = row.iter().map(is_open).collect();
    if !matches!(width(draft, row), Width::Kept) && open.contains(&false) {
        return vec![false; row.len()];
    }
    let beside = |at: usize| at > 0 && open[at - 1] || open.get(at + 1).is_some_and(|open| *open);
    (0..row.len()).map(|at| open[at] && beside(at)).collect()
}

/// Returns true if one kernel for each chain of a row is faster than one launch for each level.
fn row_gains_by_fusing(draft: &ReducedProblem<'_>, levels: &LaunchLevels<'_, '_>, row: &BatchRow) -> bool {
    row.len() > 1
        && row.iter().all(|(_, members)| {
            let gains = |LaunchLevel { grids, length, .. }: &LaunchLevel| {
                draft.tuning.gains_by_fusing(row.len(), members.len(), *length == KernelLength::Short, grids)
            };
            levels.level(members[0]).is_some_and(gains)
        })
}

/// Returns the successor of each member of `first`, if the members of `second` are their successors one to one.
fn one_by_one(
    draft: &ReducedProblem<'_>,
    first: &Batch,
    second: &Batch,
) -> Option<BTreeMap<StatementId, StatementId>> {
    if first.members.len() != second.members.len() {
        return None;
    }
    let mut followers = BTreeMap::new();
    for &member in &second.members {
        let &[before] = draft.reach.reduced()[member].as_slice() else { return None };
        followers.insert(before, member);
    }
    first.members.iter().all(|member| followers.contains_key(member)).then_some(followers)
}

/// How the batches of a row are split.
enum Width {
    Kept,
    Halved,
    Dropped,
}

/// Returns the best width for most batches of a row.
fn width(draft: &ReducedProblem<'_>, row: &BatchRow) -> Width {
    if row.len() < 2 {
        return Width::Kept;
    }
    let (mut in_chains, mut halved, mut large, mut pairs) = (0, 0, 0, 0);
    for (_, members) in row {
        let launches = || members.iter().filter_map(|&id| draft.launch(id));
        let blocks: Blocks = launches().map(Launch::blocks).sum();
        if let Some(&Launch { wave, .. }) = launches().next() {
            in_chains += usize::from(draft.tuning.gains_in_chains(members.len(), blocks, wave));
            halved += usize::from(draft.tuning.gains_halved(blocks, wave));
            large += usize::from(draft.tuning.gains_large(blocks, wave));
            pairs += usize::from(draft.tuning.gains_in_pairs(blocks, wave));
        }
    }
    let is_most = |count: usize| 2 * count >= row.len();
    let can_be_halved = row[0].1.len() > 3;
    if row.len() == 2 && pairs == 2 {
        Width::Kept
    } else if !is_most(in_chains) {
        if can_be_halved && is_most(large) { Width::Halved } else { Width::Dropped }
    } else if can_be_halved && is_most(halved) {
        Width::Halved
    } else {
        Width::Kept
    }
}
