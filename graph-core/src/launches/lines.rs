//! Batches that follow one another, member by member, with nothing else between them: a line. Each level of it waits for
//! the longest of its blocks, where as written no chain waits for another. Two lines of half the members each run on
//! beside each other: while the one waits for its last blocks, the other has work.
//!
//! A line keeps its width where that was measured to be best, is halved, or is given up; see [`super::cost`].

use std::collections::BTreeMap;

use crate::ir::StatementId;

use super::{Batch, Blocks, Contracted, Draft, Launch, cost};

/// Batches, with their lines as wide as is best.
///
/// # Complexity
///
/// Linear in the members and their edges, but for what it takes to find each of them.
pub(super) fn widths(draft: &Draft<'_>, batches: Vec<Batch>) -> Vec<Batch> {
    let nodes = Contracted::new(&draft.reach, &batches);
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
    let mut kept = Vec::with_capacity(batches.len());
    for head in (0..batches.len()).filter(|&at| is_head[at]) {
        // Each batch with its members in the order of the chains.
        let mut line = vec![(head, batches[head].members.clone())];
        while let Some((at, members)) = line.last()
            && let Some((next, successors)) = &after[*at]
        {
            let members = members.iter().map(|member| successors[member]).collect();
            line.push((*next, members));
        }
        let parts = match width(draft, &batches, &line) {
            Width::Kept => 1,
            Width::Halved => 2,
            Width::GivenUp => continue,
        };
        for (at, members) in line {
            for part in members.chunks(members.len().div_ceil(parts)) {
                let mut members = part.to_vec();
                members.sort_unstable();
                kept.push(Batch { members, axis: batches[at].axis });
            }
        }
    }
    kept.sort_by(|a, b| a.members.cmp(&b.members));
    kept
}

/// The follower of each member, where each has one of its own in the other batch.
fn one_by_one(
    draft: &Draft<'_>,
    first: &Batch,
    second: &Batch,
) -> Option<BTreeMap<StatementId, StatementId>> {
    if first.members.len() != second.members.len() {
        return None;
    }
    let mut followers = BTreeMap::new();
    for &member in &second.members {
        let &[before] = draft.reach.reduced()[member as usize].as_slice() else { return None };
        followers.insert(before, member);
    }
    first.members.iter().all(|member| followers.contains_key(member)).then_some(followers)
}

enum Width {
    Kept,
    Halved,
    GivenUp,
}

/// What most of a line's batches are best at.
fn width(draft: &Draft<'_>, batches: &[Batch], line: &[(usize, Vec<StatementId>)]) -> Width {
    if line.len() < 2 {
        return Width::Kept;
    }
    let (mut in_line, mut halved) = (0, 0);
    for (at, members) in line {
        let launches = || members.iter().filter_map(|&id| draft.launches[id as usize].as_ref());
        let blocks: Blocks = launches().map(Launch::blocks).sum();
        if let Some(&Launch { wave, brief, .. }) = launches().next() {
            in_line += usize::from(cost::gains_in_line(members.len(), blocks, wave, brief));
            halved += usize::from(cost::gains_halved(blocks, wave, brief, batches[*at].axis.is_none()));
        }
    }
    if 2 * in_line < line.len() {
        Width::GivenUp
    } else if line[0].1.len() > 3 && 2 * halved >= line.len() {
        Width::Halved
    } else {
        Width::Kept
    }
}
