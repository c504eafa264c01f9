//! Chains: consecutive launches of one grid and one block are fused into one kernel, with a block barrier between
//! their bodies.
//!
//! A chain grows greedily from its first launch along the edges of the reduced order. A launch is added if all of
//! these hold:
//! - It has the grid and block of the chain.
//! - Where the launch and a member touch the same bytes and one of them writes, only equal block indices meet
//!   (`blocks_are_disjoint` of the PTX crate). The end of the member's launch then orders nothing else.
//! - It begins when the chain's last launch has ended: its other predecessors are on levels before the chain, so
//!   the chain waits for none of them.
//! - The other successors of members are on levels after it: they begin no later than it would end.
//!
//! So the level rises along every path that leaves a chain, and no path leads back: chains close no cycle. Nothing
//! that runs concurrently with a chain has to wait for it. The turns of a device (`launches/begins.rs`) are levels,
//! so a chain does not wait for the later turns of another device either.

use super::begins::Begins;
use super::decision::{Batch, Chain, Decision, FusionObstacle, OverlapFault};
use super::launch::{BlockFootprint, Fusing, Launch};
use super::levels::{LaunchLevel, LaunchLevels};
use super::reduced_problem::{ContractedOrder, ReducedProblem};
use super::stacks;
use crate::index::{Vector, size};
use crate::ir::{BufferId, Program, StatementId};
use crate::reach::{Cycle, Reach};
use cuweave_ptx::coverage::{Region, blocks_are_disjoint};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the chains, sorted by their smallest members. They are stacked if batches are allowed.
///
/// # Errors
///
/// If the edges have a cycle.
///
/// # Complexity
///
/// The transitive reduction, plus for each member of a chain the accesses of all members before it.
pub(super) fn chains(draft: &ReducedProblem<'_>, decision: &Decision) -> Result<Vec<Chain>, Cycle> {
    let reach = ordered(draft, &decision.edges)?;
    let reach = reach.as_ref().unwrap_or(&draft.reach);
    let mut grow = ChainGrower::new(draft, reach, &decision.batches);
    let chains: Vec<Chain> = reach.topological().iter().filter_map(|&first| grow.chain(first)).collect();
    let mut chains = match draft.allowed.batches {
        true => stacks::stacked(draft, &grow.nodes, &grow.levels, chains),
        false => chains,
    };
    chains.sort_by_key(|chain| chain.least);
    Ok(chains)
}

/// Returns the order with the edges added by a decision. `None` if nothing is added, so that the order is the
/// draft's.
///
/// # Errors
///
/// If the edges have a cycle.
pub(super) fn ordered(
    draft: &ReducedProblem<'_>,
    added: &[(StatementId, StatementId)],
) -> Result<Option<Reach>, Cycle> {
    if added.is_empty() {
        return Ok(None);
    }
    let mut preds = Vector::filled(Vec::new(), draft.program.statements.len());
    for &(before, after) in draft.edges.iter().chain(added) {
        preds[after].push(before);
    }
    Reach::new(&preds).map(Some)
}

/// Returns the length of the longest path to each node, on which each turn of a device counts as a node.
fn levels(reach: &Reach, nodes: &ContractedOrder, begins: &Begins) -> Vector<StatementId, usize> {
    let (mut levels, mut turns) = (Vector::filled(0usize, reach.len()), Vector::filled(0, reach.len()));
    for (statement, &turn) in begins.turn.enumerate() {
        let node = nodes.of[statement];
        turns[node] = turn.max(turns[node]);
    }
    for &statement in reach.topological() {
        // All members of a batch have the same predecessors.
        let before = &reach.reduced()[statement];
        let level = before.iter().map(|&id| levels[nodes.of[id]] + 1).max().unwrap_or(0);
        levels[statement] = level + size(turns[nodes.of[statement]]);
    }
    levels
}

/// Grows chains.
pub(super) struct ChainGrower<'d, 'a> {
    draft: &'d ReducedProblem<'a>,
    pub nodes: ContractedOrder,
    levels: Vector<StatementId, usize>,
    batched: BTreeSet<StatementId>,
    /// The members of chains found so far.
    taken: BTreeSet<StatementId>,
    /// Launches of long kernels that run concurrently with others and would get slower by fusing.
    crowded: BTreeSet<StatementId>,
}

impl<'d, 'a> ChainGrower<'d, 'a> {
    /// Starts without chains. In `reach`, the members of a batch must have equal neighbours.
    pub fn new(draft: &'d ReducedProblem<'a>, reach: &Reach, batches: &[Batch]) -> ChainGrower<'d, 'a> {
        let nodes = ContractedOrder::new(reach, batches);
        let levels = levels(reach, &nodes, &draft.begins);
        let batched = batches.iter().flat_map(|batch| batch.members.iter().copied()).collect();
        ChainGrower { draft, nodes, levels, batched, taken: BTreeSet::new(), crowded: crowded(draft) }
    }

    /// Returns the chain that begins at a statement, if there is one.
    fn chain(&mut self, first: StatementId) -> Option<Chain> {
        self.draft.launch(first).filter(|_| self.is_free(first))?;
        let mut members = vec![first];
        loop {
            let next = &self.nodes.after[members[members.len() - 1]];
            let follows = |next: &StatementId| self.follow(&members, *next).is_ok();
            let Some(&next) = next.iter().find(|next| follows(next)) else { break };
            members.push(next);
        }
        if members.len() < 2 {
            return None;
        }
        self.taken.extend(&members);
        Chain::new(members)
    }

    /// Returns true for a launch that is in no chain and no batch.
    fn is_free(&self, id: StatementId) -> bool {
        !self.taken.contains(&id) && !self.is_batched(id)
    }

    /// Returns true for a member of a batch.
    pub fn is_batched(&self, id: StatementId) -> bool {
        self.batched.contains(&id)
    }

    /// Checks that a launch can follow the members of a chain in one kernel.
    ///
    /// # Errors
    ///
    /// The reason against it.
    pub fn follow(&self, members: &[StatementId], next: StatementId) -> Result<(), FusionObstacle> {
        let first = members[0];
        let (head, launch) = self.alike(first, next)?;
        self.fits(members, next)?;
        for (id, launch) in [(first, head), (next, launch)] {
            if launch.fuse == Fusing::Set {
                return Err(FusionObstacle::Set(id));
            }
        }
        for (id, launch) in [(first, head), (next, launch)] {
            if launch.fuse == Fusing::Never {
                return Err(FusionObstacle::Never(id));
            }
        }
        if launch.waits != head.waits {
            return Err(FusionObstacle::Starts);
        }
        members.iter().try_for_each(|&member| are_local(self.draft, member, next))?;
        if let Some(&batched) = [first, next].iter().find(|id| !self.is_free(**id)) {
            return Err(FusionObstacle::Batched(batched));
        }
        if members.len() >= self.draft.tuning.fused {
            return Err(FusionObstacle::MaxMembers);
        }
        if let Some(&crowded) = [first, next].iter().find(|id| self.crowded.contains(*id)) {
            return Err(FusionObstacle::Crowd(crowded));
        }
        Ok(())
    }

    /// Returns the facts about two launches with the same device, grid and block.
    ///
    /// # Errors
    ///
    /// The difference.
    pub fn alike(
        &self,
        first: StatementId,
        next: StatementId,
    ) -> Result<(&'d Launch, &'d Launch), FusionObstacle> {
        let device = |id: StatementId| self.draft.program.statements[id].device;
        let head = self.draft.launch(first).ok_or(FusionObstacle::Never(first))?;
        let launch = self.draft.launch(next).ok_or(FusionObstacle::Never(next))?;
        if device(first) != device(next) {
            return Err(FusionObstacle::Devices);
        }
        if (launch.grid, launch.ranged.grid) != (head.grid, head.ranged.grid) {
            return Err(FusionObstacle::Grids);
        }
        if launch.block != head.block {
            return Err(FusionObstacle::Blocks);
        }
        Ok((head, launch))
    }

    /// Checks that no path from a member to the launch passes another statement, and that fusing makes nothing wait
    /// longer.
    pub fn fits(&self, members: &[StatementId], next: StatementId) -> Result<(), FusionObstacle> {
        let head = self.levels[members[0]];
        let mut before = self.nodes.before[next].iter().filter(|id| !members.contains(id));
        if let Some(&late) = before.find(|&&id| self.levels[id] >= head) {
            return Err(FusionObstacle::Before(late));
        }
        let after = members.iter().flat_map(|&member| &self.nodes.after[member]);
        let mut after = after.filter(|&&id| id != next && !members.contains(&id));
        match after.find(|&&id| self.levels[id] <= self.levels[next]) {
            Some(&early) => Err(FusionObstacle::After(early)),
            None => Ok(()),
        }
    }
}

/// Returns the launches that could be fused but would get slower: those that share a level with others, if their
/// kernels are long and have too many blocks.
fn crowded(draft: &ReducedProblem<'_>) -> BTreeSet<StatementId> {
    let may_be_fused =
        |&id: &StatementId| draft.launch(id).is_some_and(|launch| matches!(launch.fuse, Fusing::With(_)));
    let ids = || draft.launches.ids().filter(may_be_fused);
    let levels = LaunchLevels::new(draft, ids());
    let loses =
        |level: &LaunchLevel| level.launches > 1 && draft.tuning.loses_by_fusing(level.length, &level.grids);
    ids().filter(|&id| levels.level(id).is_some_and(loses)).collect()
}

/// Checks that where the two launches touch the same bytes and one writes, only equal block indices meet.
fn are_local(draft: &ReducedProblem<'_>, one: StatementId, other: StatementId) -> Result<(), FusionObstacle> {
    let launch = |id: StatementId| draft.launch(id).ok_or(FusionObstacle::Never(id));
    let (first, second) = (launch(one)?, launch(other)?);
    if first.grid == [1; 3] {
        return Ok(());
    }
    let accesses = |id: StatementId| &draft.program.statements[id].accesses;
    let footings = |launch: &'_ Launch, id: StatementId| match &launch.fuse {
        Fusing::With(footings) if footings.len() == accesses(id).len() => Ok(footings.clone()),
        _ => Err(FusionObstacle::Never(id)),
    };
    let (first, second) = (footings(first, one)?, footings(second, other)?);
    for (access, mine) in accesses(one).iter().zip(first.iter()) {
        let others = accesses(other).iter().zip(second.iter());
        for (_, theirs) in others.filter(|(other, _)| other.buffer == access.buffer) {
            if let Err(fault) = are_apart(one, mine, other, theirs) {
                return Err(FusionObstacle::Access { of: one, buffer: access.buffer, fault });
            }
        }
    }
    Ok(())
}

/// Checks the accesses of two launches to one buffer.
fn are_apart(
    one: StatementId,
    mine: &BlockFootprint,
    other: StatementId,
    theirs: &BlockFootprint,
) -> Result<(), OverlapFault> {
    let pairs = [
        (&mine.writes, &theirs.reads, one),
        (&mine.reads, &theirs.writes, other),
        (&mine.writes, &theirs.writes, one),
    ];
    for (mine_of, theirs_of, writes) in pairs {
        let (mine_of, theirs_of): (&Region, &Region) = (mine_of, theirs_of);
        if mine_of.is_empty() || theirs_of.is_empty() {
            continue;
        }
        match (mine.at, theirs.at) {
            (None, _) => return Err(OverlapFault::Set(one)),
            (_, None) => return Err(OverlapFault::Set(other)),
            (Some(at), Some(other_at)) if blocks_are_disjoint(mine_of, at, theirs_of, other_at) => {}
            _ if matches!(mine_of, Region::Anywhere(_)) => return Err(OverlapFault::Unknown(one)),
            _ if matches!(theirs_of, Region::Anywhere(_)) => return Err(OverlapFault::Unknown(other)),
            _ => return Err(OverlapFault::Shared { writes }),
        }
    }
    Ok(())
}

/// Returns the order with each chain contracted to one node: its members are unordered, with the same predecessors
/// and successors.
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

/// Computes the memory that pieces of chains need.
#[derive(Debug)]
pub struct PieceMemory<'a> {
    program: &'a Program,
    /// The bytes of each temporary; 0 for other buffers.
    bytes: Vector<BufferId, u64>,
    /// The users of each temporary that may stay in registers. It needs no memory in a piece with all its users.
    users: BTreeMap<BufferId, Vec<StatementId>>,
}

impl<'a> PieceMemory<'a> {
    /// Makes it from the bytes of each temporary (0 for other buffers), and the temporaries that may stay in
    /// registers.
    pub fn new(
        program: &'a Program,
        bytes: Vector<BufferId, u64>,
        registers: &BTreeSet<BufferId>,
    ) -> PieceMemory<'a> {
        PieceMemory { program, bytes, users: program.users(registers.iter().copied()) }
    }

    /// Returns the bytes that launches need together as one kernel.
    fn by(&self, members: &BTreeSet<StatementId>) -> u64 {
        let accesses = members.iter().flat_map(|&member| self.program.statements[member].accesses.iter());
        let buffers: BTreeSet<BufferId> = accesses.map(|access| access.buffer).collect();
        let stays = |buffer: &BufferId| {
            self.users.get(buffer).is_some_and(|users| users.iter().all(|user| members.contains(user)))
        };
        let in_memory = buffers.into_iter().filter(|buffer| !stays(buffer));
        in_memory.map(|buffer| self.bytes[buffer]).fold(0, u64::saturating_add)
    }
}

/// Cuts chains into pieces whose members need at most `most` bytes together, each piece as long as possible.
/// Stacked chains are all cut at the same positions. A piece with one launch is dropped.
///
/// # Complexity
///
/// For a chain of n members, with n at most [`Tuning::fused`](super::Tuning), O(n²) sums over its accesses.
#[must_use]
pub fn pieces(chains: &[Chain], most: u64, held: &PieceMemory<'_>) -> Vec<Chain> {
    let mut pieces = Vec::new();
    for chain in chains {
        let mut first = 0;
        while first < chain.length() {
            let fits = |&end: &usize| {
                let members = chain.chains().flat_map(|members| members[first..end].iter().copied());
                held.by(&members.collect()) <= most
            };
            let end = (first + 2..=chain.length()).rev().find(fits).unwrap_or(first + 1);
            let members = chain.chains().map(|members| members[first..end].to_vec());
            let piece = match (end - first > 1, chain.stack) {
                (false, _) => None,
                (true, Some(stack)) => Chain::stacked(members.collect(), stack.axis),
                (true, None) => Chain::new(members.flatten().collect()),
            };
            pieces.extend(piece);
            first = end;
        }
    }
    pieces.sort_by_key(|chain| chain.least);
    pieces
}

#[cfg(test)]
mod tests;
