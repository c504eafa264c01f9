//! What cannot be batched and runs many small branches side by side gets order between branches: the device schedules
//! a few lines of small kernels faster than many single ones (see [`super::cost`]).
//!
//! A branch is a chain of launches in which each has one predecessor and one follower in the chain and none beside
//! it. Branches that begin after the same nodes and end before the same nodes are spread over as many lines as run best
//! side by side; the k-th branch of a line comes after the one before.

use std::collections::BTreeMap;

use crate::ir::StatementId;

use super::{Blocks, Contracted, Decision, Draft, Launch, by_member, cost};

/// Adds order between branches.
pub(super) fn line_up(draft: &Draft<'_>, decision: &mut Decision) {
    let Decision { batches, edges, lined_up } = decision;
    let nodes = Contracted::new(&draft.reach, batches);
    let batched = by_member(batches);
    let single =
        |id: StatementId| draft.launches[id as usize].as_ref().filter(|_| !batched.contains_key(&id));
    let mut groups: BTreeMap<(&[StatementId], &[StatementId]), Vec<Branch>> = BTreeMap::new();
    for id in 0..draft.launches.len() as StatementId {
        let begins = nodes.of[id as usize] == id
            && single(id).is_some()
            && nodes.previous(id).is_none_or(|before| single(before).is_none());
        if !begins {
            continue;
        }
        let branch = branch(&nodes, id, &single);
        let around = (nodes.before[id as usize].as_slice(), nodes.after[branch.tail as usize].as_slice());
        groups.entry(around).or_default().push(branch);
    }
    for branches in groups.into_values() {
        let (blocks, wave) = branches
            .iter()
            .fold((Blocks::default(), u32::MAX), |(most, least), b| (most.max(b.blocks), least.min(b.wave)));
        let Some(lines) = cost::lines(blocks, wave) else { continue };
        if branches.len() < cost::TOO_MANY * lines {
            continue;
        }
        for (earlier, later) in branches.iter().zip(&branches[lines..]) {
            edges.push((earlier.tail, later.head));
            *lined_up += 1;
        }
    }
}

struct Branch {
    head: StatementId,
    tail: StatementId,
    /// Of its largest kernel.
    blocks: Blocks,
    /// The smallest number of blocks that fill the device.
    wave: u32,
}

/// The branch that begins at a node.
fn branch<'l>(
    nodes: &Contracted,
    head: StatementId,
    single: &impl Fn(StatementId) -> Option<&'l Launch>,
) -> Branch {
    let mut branch = Branch { head, tail: head, blocks: Blocks::default(), wave: u32::MAX };
    let mut next = Some(head);
    while let Some((id, launch)) = next.and_then(|id| Some((id, single(id)?))) {
        branch.tail = id;
        branch.blocks = branch.blocks.max(launch.blocks());
        branch.wave = branch.wave.min(launch.wave);
        next = match nodes.after[id as usize].as_slice() {
            &[after] if nodes.previous(after) == Some(id) => Some(after),
            _ => None,
        };
    }
    branch
}
