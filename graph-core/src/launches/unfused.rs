//! Finds consecutive launches that are not fused, and the reasons. For reports.

use std::collections::{BTreeMap, BTreeSet};

use super::batch;
use super::decision::{Batch, Chain, FusionObstacle};
use super::fusion::{ChainGrower, ordered};
use super::reduced_problem::ReducedProblem;
use crate::ir::{StatementId, StatementKind};
use crate::reach::Cycle;

/// Two consecutive launches that are not fused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unfused {
    /// The first launch, which is the last one of its chain.
    pub first: StatementId,
    /// The next launch, which is the first one of its chain.
    pub second: StatementId,
    /// The reason.
    pub why: FusionObstacle,
}

/// The nodes of a plan that stand for several launches.
#[derive(Clone, Copy, Debug)]
pub struct MergedNodes<'o> {
    /// The batches.
    pub batches: &'o [Batch],
    /// The chains.
    pub chains: &'o [Chain],
}

impl MergedNodes<'_> {
    /// Returns the launches that run concurrently in one node: the batches, and the launches at equal positions of
    /// stacked chains.
    pub(super) fn launches(&self) -> Vec<Batch> {
        let stacked = self.chains.iter().filter(|chain| chain.stack.is_some()).flat_map(|chain| {
            (0..chain.length()).map(|at| {
                let mut members: Vec<StatementId> = chain.chains().map(|chain| chain[at]).collect();
                members.sort_unstable();
                Batch { members, axis: None }
            })
        });
        self.batches.iter().cloned().chain(stacked).collect()
    }
}

/// Returns the pairs of neighbouring launches that are not fused: the last member of a chain and the first member
/// of the next one.
///
/// Launches with different grids or blocks are a pair if nothing else is between or beside them. Launches of one
/// grid and block with a fill, a copy, a library call or a host function in between are a pair too.
///
/// # Errors
///
/// If the edges have a cycle.
///
/// # Complexity
///
/// The transitive reduction, and the search for chains.
pub(super) fn unfused(
    draft: &ReducedProblem<'_>,
    emitted: MergedNodes<'_>,
    lanes: &[(StatementId, StatementId)],
) -> Result<Vec<Unfused>, Cycle> {
    let mut added = batch::edges(draft, emitted.batches);
    added.extend(lanes);
    let reach = ordered(draft, &added)?;
    let explained = UnfusedExplainer {
        draft,
        now: ChainGrower::new(draft, reach.as_ref().unwrap_or(&draft.reach), emitted.batches),
        alone: ChainGrower::new(draft, &draft.reach, &[]),
        chain: emitted
            .chains
            .iter()
            .flat_map(|chain| chain.chains())
            .flat_map(|chain| chain.iter().map(move |&id| (id, chain)))
            .collect(),
    };
    let mut list = Vec::new();
    let mut known = BTreeSet::new();
    for (second, before) in draft.reach.reduced().enumerate() {
        for &first in before {
            let nodes = (explained.now.nodes.of[first], explained.now.nodes.of[second]);
            if let Some(pair) = explained.pair(first, second)
                && known.insert(nodes)
            {
                list.push(pair);
            }
        }
    }
    Ok(list)
}

/// Explains why consecutive launches are not fused.
struct UnfusedExplainer<'d, 'a> {
    draft: &'d ReducedProblem<'a>,
    /// The order with the batches and lanes of the plan.
    now: ChainGrower<'d, 'a>,
    /// The order of the program.
    alone: ChainGrower<'d, 'a>,
    /// The chain of each fused launch.
    chain: BTreeMap<StatementId, &'d [StatementId]>,
}

impl UnfusedExplainer<'_, '_> {
    /// Explains the edge from `before` to `second`.
    fn pair(&self, before: StatementId, second: StatementId) -> Option<Unfused> {
        let is_launch = |id: StatementId| self.draft.launch(id).is_some();
        if !is_launch(second) {
            return None;
        }
        if !is_launch(before) {
            let kind = &self.draft.program.statements[before].kind;
            if !matches!(
                kind,
                StatementKind::Fill(_)
                    | StatementKind::Copy(_)
                    | StatementKind::Capture(_)
                    | StatementKind::Host(_)
            ) {
                return None;
            }
            let &[first] = self.draft.reach.reduced()[before].as_slice() else { return None };
            let is_alone = self.draft.followers[before].len() == 1 && self.draft.followers[first].len() == 1;
            let is_alone = is_alone && self.draft.reach.reduced()[second].len() == 1;
            let is_pair = is_launch(first) && is_alone && self.alone.alike(first, second).is_ok();
            return is_pair.then_some(Unfused { first, second, why: FusionObstacle::Between(before) });
        }
        let members = self.chain.get(&before).copied().unwrap_or_default();
        let is_first = self.chain.get(&second).is_none_or(|chain| chain[0] == second);
        if members.last().is_some_and(|&last| last != before) || !is_first {
            return None;
        }
        let members = if members.is_empty() { &[before][..] } else { members };
        let why = self.why(members, second)?;
        Some(Unfused { first: before, second, why })
    }

    /// Returns the reason that a launch does not follow the members of a chain, or a single launch.
    fn why(&self, members: &[StatementId], second: StatementId) -> Option<FusionObstacle> {
        let batched = members.iter().chain([&second]).copied().find(|&id| self.now.is_batched(id));
        let why = match batched {
            // A batch cannot be part of a chain, so check if its members as written could be.
            Some(id) => self.alone.follow(members, second).err().unwrap_or(FusionObstacle::Batched(id)),
            None => self.now.follow(members, second).err().unwrap_or(FusionObstacle::Room),
        };
        let differ = matches!(why, FusionObstacle::Grids | FusionObstacle::Blocks);
        (!differ || self.alone.fits(members, second).is_ok()).then_some(why)
    }
}
