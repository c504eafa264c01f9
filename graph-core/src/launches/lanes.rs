//! Lanes: many small branches of short kernels that cannot be batched are serialised into a few lanes, because the
//! device schedules a few chains of small kernels faster than many concurrent ones (see [`super::tuning::Lanes`]).
//!
//! A branch is a maximal chain of launches without other predecessors or successors inside. Branches with the same
//! predecessors and successors are distributed to the lanes round-robin. Each branch depends on the previous one in
//! its lane.

use std::collections::{BTreeMap, BTreeSet};

use super::blocks::Blocks;
use super::decision::{Decision, by_member};
use super::launch::Launch;
use super::reduced_problem::{ContractedOrder, ReducedProblem};
use crate::ir::{Device, StatementId};

/// Adds edges between consecutive branches of each lane. Branches with launches in `free` are not serialised, since
/// they are reserved for fusion.
pub(super) fn serialize(draft: &ReducedProblem<'_>, decision: &mut Decision, free: &BTreeSet<StatementId>) {
    let Decision { batches, edges, lanes, .. } = decision;
    let nodes = ContractedOrder::new(&draft.reach, batches);
    let batched = by_member(batches);
    let single = |id: StatementId| {
        let is_free = !batched.contains_key(&id) && !free.contains(&id);
        draft.launch(id).filter(|launch| launch.lanes && is_free)
    };
    let device = |id: StatementId| draft.program.statements[id].device;
    let mut groups: BTreeMap<BranchNeighbours<'_>, Vec<Branch>> = BTreeMap::new();
    for id in draft.launches.ids() {
        let begins = nodes.of[id] == id
            && single(id).is_some()
            && nodes
                .previous(id)
                .is_none_or(|before| single(before).is_none() || device(before) != device(id));
        if !begins {
            continue;
        }
        let here = |other: StatementId| single(other).filter(|_| device(other) == device(id));
        let branch = branch(&nodes, id, &here);
        let around = (device(id), nodes.before[id].as_slice(), nodes.after[branch.tail].as_slice());
        groups.entry(around).or_default().push(branch);
    }
    for branches in groups.into_values() {
        let (blocks, wave) = branches
            .iter()
            .fold((Blocks::default(), u32::MAX), |(most, least), b| (most.max(b.blocks), least.min(b.wave)));
        if !branches.iter().all(|branch| branch.short) {
            continue;
        }
        let Some(count) = draft.tuning.lanes_of(branches.len(), blocks, wave) else { continue };
        for (earlier, later) in branches.iter().zip(&branches[count..]) {
            edges.push((earlier.tail, later.head));
            lanes.push((earlier.tail, later.head));
        }
    }
}

/// The device of a branch, its predecessors, and its successors.
type BranchNeighbours<'n> = (Device, &'n [StatementId], &'n [StatementId]);

/// A branch, from its first to its last launch.
struct Branch {
    head: StatementId,
    tail: StatementId,
    /// The number of blocks of its largest kernel.
    blocks: Blocks,
    /// The smallest wave of its kernels.
    wave: u32,
    /// True if all its kernels are short.
    short: bool,
}

/// Returns the branch that begins at a node.
fn branch<'l>(
    nodes: &ContractedOrder,
    head: StatementId,
    single: &impl Fn(StatementId) -> Option<&'l Launch>,
) -> Branch {
    let mut branch = Branch { head, tail: head, blocks: Blocks::default(), wave: u32::MAX, short: true };
    let mut next = Some(head);
    while let Some((id, launch)) = next.and_then(|id| Some((id, single(id)?))) {
        branch.tail = id;
        branch.blocks = branch.blocks.max(launch.blocks());
        branch.wave = branch.wave.min(launch.wave);
        branch.short &= launch.short;
        next = match nodes.after[id].as_slice() {
            &[after] if nodes.previous(after) == Some(id) => Some(after),
            _ => None,
        };
    }
    branch
}
