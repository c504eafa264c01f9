//! Stacks: unordered chains of the same kernels become one launch. Each of its blocks does the work of a block of
//! one chain, launch after launch, and waits for no other block.
//!
//! Chains are stacked if they begin at the same time, and either take equally long or are waited for by the same
//! statements, like the members of a batch (`launches/batch.rs`). Their launches are on the same levels.
//! Their predecessors are thus on levels before their first launches, and their successors on levels after their
//! last launches, so stacks close no cycle either. Chains of a stack are unordered, so no block accesses what a
//! block of another chain writes.

use std::collections::{BTreeMap, BTreeSet};

use super::blocks::{Blocks, MAX_GRID_BLOCKS};
use super::decision::Chain;
use super::launch::{Batching, Launch};
use super::reduced_problem::{ContractedOrder, ReducedProblem};
use crate::ids::KernelId;
use crate::index::{Vector, size};
use crate::ir::{StatementId, StatementKind};
use crate::scopes::ScopeId;

/// The maximum number of launches of a stack. Each of its launches gets edges to each launch of neighbouring nodes.
const MAX_LAUNCHES: usize = 1 << 10;

/// The properties that stacked chains share: the conditional body, the class of the begin, the levels, the block,
/// true if they begin with a wait, and the kernels with their shared memory.
type StackKey = (Option<ScopeId>, u32, Vec<usize>, [u32; 3], bool, Vec<(KernelId, u32)>);

/// The grid of a chain, and the work of its launches.
type ChainLength<'a> = ([u32; 3], Vec<&'a [u64]>);

/// Chains that may be stacked, and the grid dimension to stack them along.
type StackCandidate = (Vec<Chain>, Option<u8>);

/// Stacks chains. `nodes` and `levels` belong to the order in which the chains were found.
///
/// # Complexity
///
/// O(n log n) in the launches and their edges.
pub(super) fn stacked(
    draft: &ReducedProblem<'_>,
    nodes: &ContractedOrder,
    levels: &Vector<StatementId, usize>,
    chains: Vec<Chain>,
) -> Vec<Chain> {
    if draft.tuning.chains.stacked.is_none() || chains.len() < 2 {
        return chains;
    }
    let (mut done, mut groups) = (Vec::new(), BTreeMap::<StackKey, Vec<Chain>>::new());
    for chain in chains {
        match key(draft, levels, &chain) {
            Some(key) => groups.entry(key).or_default().push(chain),
            None => done.push(chain),
        }
    }
    let around = ChainNeighbours { draft, nodes };
    let mut candidates: Vec<StackCandidate> = Vec::new();
    for mut group in groups.into_values() {
        group.sort_by_key(|chain| chain.members[0]);
        for set in sets(draft, &around, group) {
            candidates.extend(cut(draft, set));
        }
    }
    let (stacks, alone): (Vec<_>, Vec<_>) = candidates.into_iter().partition(|(chains, _)| chains.len() > 1);
    done.extend(alone.into_iter().flat_map(|(chains, _)| chains));
    let of: BTreeMap<StatementId, usize> = stacks
        .iter()
        .enumerate()
        .flat_map(|(at, (chains, _))| {
            chains.iter().flat_map(move |chain| chain.members.iter().map(move |&member| (member, at)))
        })
        .collect();
    for (at, (chains, axis)) in stacks.iter().enumerate() {
        let members = || chains.iter().map(|chain| chain.members.clone()).collect();
        let stack = around.is_worthwhile(at, chains, &of).then(|| Chain::stacked(members(), *axis)).flatten();
        match stack {
            Some(stack) => done.push(stack),
            None => done.extend(chains.iter().cloned()),
        }
    }
    done
}

/// Returns true for a launch whose chain may be stacked.
pub(super) fn may_stack(launch: &Launch) -> bool {
    launch.stack && launch.batch != Batching::Never
}

/// Returns the key of a chain. `None` if it cannot be stacked.
fn key(draft: &ReducedProblem<'_>, levels: &Vector<StatementId, usize>, chain: &Chain) -> Option<StackKey> {
    let first = chain.members[0];
    let head = draft.launch(first)?;
    let launches = chain.members.iter().map(|&member| draft.launch(member).filter(|l| may_stack(l)));
    let kernels = launches.map(|launch| launch.map(|launch| (launch.kernel, launch.shared)));
    let levels = chain.members.iter().map(|&member| levels[member]).collect();
    let (body, begin) = (draft.scopes.around(first), draft.begins.class[first]);
    Some((body, begin, levels, head.block, head.waits, kernels.collect::<Option<_>>()?))
}

/// Splits chains that begin at the same time into sets that also end at the same time, or that are waited for
/// together.
fn sets(draft: &ReducedProblem<'_>, around: &ChainNeighbours<'_, '_>, group: Vec<Chain>) -> Vec<Vec<Chain>> {
    let ends: Vec<BTreeSet<StatementId>> =
        group.iter().map(|chain| around.timed_successors(chain).collect()).collect();
    if ends.windows(2).all(|pair| pair[0] == pair[1]) {
        return vec![group];
    }
    let mut alike: BTreeMap<ChainLength<'_>, Vec<(Chain, BTreeSet<StatementId>)>> = BTreeMap::new();
    for (chain, ends) in group.into_iter().zip(ends) {
        let launches = || chain.members.iter().filter_map(|&member| draft.launch(member));
        let grid = launches().next().map_or([0; 3], |launch| launch.grid);
        let work = launches().map(|launch| launch.work.as_slice()).collect();
        alike.entry((grid, work)).or_default().push((chain, ends));
    }
    let (mut sets, mut together) = (Vec::new(), BTreeMap::<BTreeSet<StatementId>, Vec<Chain>>::new());
    for mut set in alike.into_values() {
        if set.len() > 1 {
            sets.push(set.into_iter().map(|(chain, _)| chain).collect());
        } else if let Some((chain, ends)) = set.pop() {
            together.entry(ends).or_default().push(chain);
        }
    }
    sets.extend(together.into_values());
    sets
}

/// Splits a set into as few stacks as the parameter space allows, of about equal sizes. Chains with different grids
/// are stacked together if their blocks fit the limit for flattening, otherwise separately for each grid.
fn cut(draft: &ReducedProblem<'_>, set: Vec<Chain>) -> Vec<StackCandidate> {
    let launch = |chain: &Chain| draft.launch(chain.members[0]);
    let grid = |chain: &Chain| launch(chain).map(|launch| (launch.grid, launch.ranged.grid));
    let mut grids: BTreeMap<_, Vec<Chain>> = BTreeMap::new();
    let blocks: Blocks = set.iter().filter_map(launch).map(Launch::blocks).sum();
    let wave = set.iter().filter_map(launch).map(|launch| launch.wave).min().unwrap_or(0);
    let fits = blocks <= Blocks::from(MAX_GRID_BLOCKS) && draft.tuning.fits_flat(blocks, wave);
    let several = set.windows(2).any(|pair| grid(&pair[0]) != grid(&pair[1]));
    if several && fits {
        return chunks(draft, set, None);
    }
    set.into_iter().for_each(|chain| grids.entry(grid(&chain)).or_default().push(chain));
    let of_grid = |(grid, chains): (Option<([u32; 3], _)>, Vec<Chain>)| {
        let grid = grid.map_or([0; 3], |(grid, _)| grid);
        // The last free dimension of the grid.
        let axis = [2u8, 1].into_iter().find(|&axis| grid[usize::from(axis)] == 1);
        match axis {
            None if !fits => chains.into_iter().map(|chain| (vec![chain], None)).collect(),
            axis => chunks(draft, chains, axis),
        }
    };
    grids.into_iter().flat_map(of_grid).collect()
}

/// Splits chains into as few parts as the parameter space allows, of about equal sizes.
fn chunks(draft: &ReducedProblem<'_>, set: Vec<Chain>, axis: Option<u8>) -> Vec<StackCandidate> {
    let most = set.iter().map(|chain| most(draft, chain, axis)).min().unwrap_or(0).max(1);
    let count = set.len().div_ceil(most);
    let part = |at: usize| set[at * set.len() / count..(at + 1) * set.len() / count].to_vec();
    (0..count).map(|at| (part(at), axis)).collect()
}

/// Returns the maximum number of such chains in one stack.
fn most(draft: &ReducedProblem<'_>, chain: &Chain, axis: Option<u8>) -> usize {
    const WHOLE: usize = 1 << 24;
    let share = |&member: &StatementId| match draft.launch(member).map(|launch| launch.batch) {
        Some(Batching::UpTo { equal, flat }) => {
            WHOLE / size(if axis.is_some() { equal } else { flat }).max(1)
        }
        _ => WHOLE,
    };
    let used: usize = chain.members.iter().map(share).sum();
    (WHOLE / used.max(1)).min(draft.max_members).min(MAX_LAUNCHES / chain.members.len().max(1))
}

/// Finds the statements before and after chains.
struct ChainNeighbours<'n, 'a> {
    draft: &'n ReducedProblem<'a>,
    nodes: &'n ContractedOrder,
}

impl ChainNeighbours<'_, '_> {
    /// Returns the nodes after a chain that take time.
    fn timed_successors<'c>(&'c self, chain: &'c Chain) -> impl Iterator<Item = StatementId> + 'c {
        self.beside(chain, &self.nodes.after)
    }

    /// Returns the nodes before a chain that take time.
    fn before<'c>(&'c self, chain: &'c Chain) -> impl Iterator<Item = StatementId> + 'c {
        self.beside(chain, &self.nodes.before)
    }

    fn beside<'c>(
        &'c self,
        chain: &'c Chain,
        next: &'c Vector<StatementId, Vec<StatementId>>,
    ) -> impl Iterator<Item = StatementId> + 'c {
        let takes_time = |id: &StatementId| !self.draft.program.statements[*id].kind.is_memory();
        let all = chain.members.iter().flat_map(move |&member| next[member].iter().copied());
        all.filter(move |id| takes_time(id) && !chain.members.contains(id))
    }

    /// Returns false for a stack that joins several nodes and forks to several again without saving an edge, such
    /// as one between copies, and for a stack between library calls. `of` maps each stacked launch to its stack.
    fn is_worthwhile(&self, at: usize, chains: &[Chain], of: &BTreeMap<StatementId, usize>) -> bool {
        let crossing = self.draft.tuning.crossing;
        let node = |id: StatementId| of.get(&id).map_or(Err(id), |stack| Ok(*stack));
        let before: BTreeSet<_> = chains.iter().flat_map(|chain| self.before(chain)).map(node).collect();
        let behind: BTreeSet<_> =
            chains.iter().flat_map(|chain| self.timed_successors(chain)).map(node).collect();
        debug_assert!(!before.contains(&Ok(at)) && !behind.contains(&Ok(at)));
        let is_call = |node: &Result<usize, StatementId>| {
            node.is_err_and(|id| matches!(self.draft.program.statements[id].kind, StatementKind::Capture(_)))
        };
        let calls = |nodes: &BTreeSet<_>| nodes.len() >= crossing && nodes.iter().all(is_call);
        if calls(&before) && calls(&behind) {
            return false;
        }
        let of_chain = |chain: &Chain| {
            let ends: BTreeSet<StatementId> =
                self.before(chain).chain(self.timed_successors(chain)).collect();
            ends.len()
        };
        let written: usize = chains.iter().map(of_chain).sum();
        before.len().min(behind.len()) < crossing || before.len() + behind.len() < written
    }
}

#[cfg(test)]
mod tests;
