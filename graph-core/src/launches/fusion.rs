//! Chains: launches of one grid and one block, one after another, that become one kernel with a barrier of the block
//! between their bodies.
//!
//! A chain grows from its first launch along the edges of the reduced order. A launch is added if
//! - its grid, its block and their threads are those of the chain;
//! - of what it and a member access, and one of both writes, each of its blocks accesses only what the same block of the
//!   member accesses ([`apart`]): the end of the member's launch orders nothing else;
//! - it begins when the chain's last launch has ended: its other predecessors are on levels before the chain, so that the
//!   chain waits for none of them;
//! - the other successors of members are on levels behind it: they begin no later than it would end.
//!
//! So the levels rise along every path that leaves a chain, and no path leads back: chains close no cycle. All that stands
//! beside a chain stays beside it.

use super::decision::{Chain, Decision};
use super::draft::{Contracted, Draft};
use super::launch::{Footing, Fusing, Launch};
use crate::index::Vector;
use crate::ir::{BufferId, Program, StatementId};
use crate::reach::{Cycle, Reach};
use cuweave_ptx::coverage::{Region, apart};
use std::collections::BTreeSet;

/// Returns the chains, sorted by their least members. `edges` is the order of the program.
///
/// # Errors
///
/// The edges have a cycle.
///
/// # Complexity
///
/// That of the transitive reduction, plus for each member of a chain the accesses of all members before it.
pub(super) fn chains(
    draft: &Draft<'_>,
    edges: &[(StatementId, StatementId)],
    decision: &Decision,
) -> Result<Vec<Chain>, Cycle> {
    let reach;
    let reach = if decision.edges.is_empty() {
        &draft.reach
    } else {
        let mut preds = Vector::filled(Vec::new(), draft.program.statements.len());
        for &(before, after) in edges.iter().chain(&decision.edges) {
            preds[after].push(before);
        }
        reach = Reach::of(&preds)?;
        &reach
    };
    let nodes = Contracted::new(reach, &decision.batches);
    let batched: BTreeSet<StatementId> =
        decision.batches.iter().flat_map(|batch| batch.members.iter().copied()).collect();
    let levels = levels(reach, &nodes);
    let mut grow = Grow { draft, nodes: &nodes, levels: &levels, batched: &batched, taken: BTreeSet::new() };
    let mut chains: Vec<Chain> = reach.topological().iter().filter_map(|&first| grow.chain(first)).collect();
    chains.sort_by_key(|chain| chain.least);
    Ok(chains)
}

/// Returns the length of the longest path to each node.
fn levels(reach: &Reach, nodes: &Contracted) -> Vector<StatementId, usize> {
    let mut levels = Vector::filled(0usize, reach.len());
    for &statement in reach.topological() {
        // All members of a batch have the same predecessors.
        let before = &reach.reduced()[statement];
        levels[statement] = before.iter().map(|&id| levels[nodes.of[id]] + 1).max().unwrap_or(0);
    }
    levels
}

struct Grow<'d, 'a> {
    draft: &'d Draft<'a>,
    nodes: &'d Contracted,
    levels: &'d Vector<StatementId, usize>,
    batched: &'d BTreeSet<StatementId>,
    /// The members of chains.
    taken: BTreeSet<StatementId>,
}

impl Grow<'_, '_> {
    /// Returns the chain that begins at a statement, if one does.
    fn chain(&mut self, first: StatementId) -> Option<Chain> {
        self.launch(first)?;
        let mut members = vec![first];
        while members.len() < self.draft.tuning.fused {
            let last = members[members.len() - 1];
            let next = self.nodes.after[last].iter().copied();
            let Some(next) = next.into_iter().find(|&next| self.may_follow(&members, next)) else { break };
            members.push(next);
        }
        if members.len() < 2 {
            return None;
        }
        self.taken.extend(&members);
        Chain::new(members)
    }

    /// Returns the launch of a statement that is in no chain and in no batch.
    fn launch(&self, id: StatementId) -> Option<&Launch> {
        let launch = self.draft.launches.get(id)?.as_ref()?;
        let free = !self.taken.contains(&id) && !self.batched.contains(&id);
        (free && launch.fuse != Fusing::Never).then_some(launch)
    }

    fn may_follow(&self, members: &[StatementId], next: StatementId) -> bool {
        let (Some(launch), Some(first)) = (self.launch(next), self.launch(members[0])) else { return false };
        launch.grid == first.grid
            && launch.block == first.block
            && launch.waits == first.waits
            && self.fits(members, next)
            && members.iter().all(|&member| are_local(self.draft, member, next))
    }

    /// Returns true if no path between a member and the launch goes through another statement, and nothing waits longer.
    fn fits(&self, members: &[StatementId], next: StatementId) -> bool {
        let head = self.levels[members[0]];
        let before = self.nodes.before[next].iter().filter(|id| !members.contains(id));
        let after = members.iter().flat_map(|&member| &self.nodes.after[member]);
        let mut after = after.filter(|&&id| id != next && !members.contains(&id));
        before.into_iter().all(|&id| self.levels[id] < head)
            && after.all(|&id| self.levels[id] > self.levels[next])
    }
}

/// Returns true if no block of one launch of a grid accesses what another block of the other launch accesses, where one of the
/// two writes.
fn are_local(draft: &Draft<'_>, one: StatementId, other: StatementId) -> bool {
    let launch = |id: StatementId| draft.launches[id].as_ref();
    let (Some(first), Some(second)) = (launch(one), launch(other)) else { return false };
    if first.grid == [1; 3] {
        return true;
    }
    let (Fusing::With(first), Fusing::With(second)) = (&first.fuse, &second.fuse) else { return false };
    let accesses = |id: StatementId| &draft.program.statements[id].accesses;
    if accesses(one).len() != first.len() || accesses(other).len() != second.len() {
        return false;
    }
    accesses(one).iter().zip(first.iter()).all(|(access, mine)| {
        let others = accesses(other).iter().zip(second.iter());
        others.filter(|(other, _)| other.buffer == access.buffer).all(|(_, theirs)| are_apart(mine, theirs))
    })
}

fn are_apart(one: &Footing, other: &Footing) -> bool {
    let pairs = [(&one.writes, &other.reads), (&one.reads, &other.writes), (&one.writes, &other.writes)];
    pairs.into_iter().all(|(mine, theirs): (&std::sync::Arc<Region>, _)| match (one.at, other.at) {
        (Some(at), Some(other_at)) => apart((mine, at), (theirs, other_at)),
        _ => mine.is_empty() || theirs.is_empty(),
    })
}

/// Returns the order with each chain as one node: its members are unordered, and have the same predecessors and successors.
#[must_use]
pub fn contracted(
    program: &Program,
    chains: &[Chain],
    edges: Vec<(StatementId, StatementId)>,
) -> Vec<(StatementId, StatementId)> {
    if chains.is_empty() {
        return edges;
    }
    let mut of: Vector<StatementId, Option<usize>> = Vector::filled(None, program.statements.len());
    for (at, chain) in chains.iter().enumerate() {
        chain.members.iter().for_each(|&member| of[member] = Some(at));
    }
    let mut between: BTreeSet<(StatementId, StatementId)> = BTreeSet::new();
    let node = |id: StatementId| of[id].map_or(id, |chain| chains[chain].members[0]);
    let mut all = Vec::with_capacity(edges.len());
    for (from, to) in edges {
        if of[from].is_none() && of[to].is_none() {
            all.push((from, to));
        } else if node(from) != node(to) {
            between.insert((node(from), node(to)));
        }
    }
    let members = |id: StatementId| of[id].map_or_else(|| vec![id], |chain| chains[chain].members.clone());
    for (from, to) in between {
        let to = members(to);
        all.extend(members(from).into_iter().flat_map(|from| to.iter().map(move |&to| (from, to))));
    }
    all
}

/// Cuts chains into pieces whose members access at most `most` bytes together. Pieces of one member are none.
#[must_use]
pub fn pieces(program: &Program, chains: &[Chain], most: u64, bytes: impl Fn(BufferId) -> u64) -> Vec<Chain> {
    let mut pieces = Vec::new();
    for chain in chains {
        let (mut members, mut held) = (Vec::new(), BTreeSet::new());
        for &member in &chain.members {
            let mine = || program.statements[member].accesses.iter().map(|access| access.buffer);
            held.extend(mine());
            if held.iter().map(|&buffer| bytes(buffer)).fold(0, u64::saturating_add) > most {
                pieces.push(std::mem::take(&mut members));
                held = mine().collect();
            }
            members.push(member);
        }
        pieces.push(members);
    }
    let mut pieces: Vec<Chain> =
        pieces.into_iter().filter(|members| members.len() > 1).filter_map(Chain::new).collect();
    pieces.sort_by_key(|chain| chain.least);
    pieces
}

#[cfg(test)]
mod tests;
