//! Launch decisions: which launches are batched or fused into one node, and which branches are serialised into
//! lanes. Stage 2b of the compiler.
//!
//! Input: the order of a checked program, and the facts about each launch that are known once the arguments are:
//! kernel, grid, resident blocks. A decision only adds order, so all later stages (live ranges, frees, plans,
//! bounds, budgets) work on the order that is launched.
//!
//! Invariants of a [`Decision`]:
//! - the members of a batch launch one kernel with equal blocks and equal shared memory, and neither the order nor
//!   the added edges order them;
//! - the members of a batch or chain are in the same conditional body, or outside all of them;
//! - all members of a batch have the same predecessors and successors: a batch is one node;
//! - batches do not increase the depth of the order;
//! - launches that other devices wait for separately are merged only if their device can hold them together;
//! - the members of a chain have one grid and one block, are in an order that the program's order allows, and no
//!   path between two of them passes another statement;
//! - stacked chains have the same kernels, and no path connects two of them;
//! - equal inputs give equal decisions.

mod apart;
pub mod batch;
mod begins;
mod blocks;
mod chains;
mod decision;
pub mod fusion;
mod joined;
mod lanes;
mod launch;
mod left_alone;
mod levels;
mod problem;
mod reduced_problem;
pub mod residency;
mod shape;
mod stacks;
pub mod tuning;
mod unfit;
mod unfused;
mod values;

pub use apart::UnbatchedGroup;
pub use blocks::{Blocks, MAX_GRID_BLOCKS};
pub use decision::{Allowed, Batch, BatchObstacle, Chain, Decision, FusionObstacle, OverlapFault, Stack};
pub use launch::{
    Batching, BlockFootprint, Fusing, KernelLength, Launch, NodeLaunch, RangedLaunch, TripCount,
};
pub use left_alone::{Change, LeftAlone, NamedKernel};
pub use problem::LaunchProblem;
pub use residency::Resources;
pub use shape::LaunchShape;
pub use tuning::Tuning;
pub use unfit::{Unfit, UnfitChain};
pub use unfused::{MergedNodes, Unfused};
pub use values::{DeclaredParameter, LaunchValues, LaunchedKernel};

pub(crate) use decision::by_member;
pub(crate) use reduced_problem::ContractedOrder;

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::StatementId;
use crate::reach::Cycle;
use chains::FusionManner;
use reduced_problem::ReducedProblem;

/// Decides which launches of a program are batched or fused, and which branches become lanes.
///
/// # Errors
///
/// If the edges have a cycle.
///
/// # Complexity
///
/// The transitive reduction, plus the added edges: a batch of m members with p predecessors adds m · p.
pub fn decide(problem: LaunchProblem<'_>) -> Result<Decision, Cycle> {
    let Allowed { batches, lanes, fuse, .. } = problem.allowed;
    match batches || lanes || fuse {
        true => decide_cut(problem, &|chains| chains),
        false => Ok(Decision::default()),
    }
}

/// Decides like [`decide`], with chains that `cut` cuts into pieces. `cut` returns the pieces. Launches reserved
/// for fusion but left out of every piece are batched.
///
/// # Errors
///
/// Like [`decide`].
///
/// # Complexity
///
/// Like [`decide`], once more for each time that reserved launches are batched after all.
pub fn decide_cut(
    problem: LaunchProblem<'_>,
    cut: &dyn Fn(Vec<Chain>) -> Vec<Chain>,
) -> Result<Decision, Cycle> {
    decided(&ReducedProblem::new(problem)?, &mut Vec::new(), cut)
}

/// Makes a decision. Launches reserved for fusion that end up unfused are batched after all.
fn decided(
    draft: &ReducedProblem<'_>,
    dropped_batches: &mut decision::DroppedBatches,
    cut: &dyn Fn(Vec<Chain>) -> Vec<Chain>,
) -> Result<Decision, Cycle> {
    let (allowed, before) = (draft.allowed, dropped_batches.len());
    // Rows that were reserved but not fused in this manner, by their first launches.
    let mut refused: BTreeSet<(StatementId, FusionManner)> = BTreeSet::new();
    loop {
        let may_be_left =
            |first: StatementId, manner: FusionManner| allowed.fuse && !refused.contains(&(first, manner));
        let (mut decision, left) = batched(draft, may_be_left, dropped_batches)?;
        if !allowed.fuse {
            return Ok(decision);
        }
        decision.chains = cut(fusion::chains(draft, &decision)?);
        let fused: BTreeMap<StatementId, usize> = decision
            .chains
            .iter()
            .enumerate()
            .flat_map(|(at, chain)| chain.members.iter().map(move |&member| (member, at)))
            .collect();
        let is_fused = |manner: FusionManner, row: &[StatementId]| {
            let Some(nodes) = row.iter().map(|id| fused.get(id)).collect::<Option<BTreeSet<_>>>() else {
                return false;
            };
            // Stacking pays off already if each kernel replaces two of three chains.
            manner == FusionManner::Alone || 2 * nodes.len() <= row.len() + 1
        };
        let known = refused.len();
        refused.extend(left.iter().filter(|((_, manner), row)| !is_fused(*manner, row)).map(|(&key, _)| key));
        if refused.len() == known {
            return Ok(decision);
        }
        dropped_batches.truncate(before);
    }
}

/// Decides about batches and lanes. `fuses` returns true for the first launch of a row of chains that is reserved
/// for fusion.
fn batched(
    draft: &ReducedProblem<'_>,
    fuses: impl Fn(StatementId, FusionManner) -> bool,
    dropped_batches: &mut decision::DroppedBatches,
) -> Result<(Decision, chains::ReservedRows), Cycle> {
    let allowed = draft.allowed;
    let (mut decision, mut left) = (Decision::default(), chains::ReservedRows::new());
    if allowed.batches {
        let batches = batch::batches(draft, dropped_batches);
        (decision.batches, left) = chains::choose_widths(draft, batches, fuses, dropped_batches);
        decision.edges = batch::edges(draft, &decision.batches);
    }
    if allowed.lanes {
        let mut free: BTreeSet<StatementId> = left.values().flatten().copied().collect();
        let before = decision.clone();
        lanes::serialize(draft, &mut decision, &free);
        if allowed.fuse && !decision.lanes.is_empty() {
            // Branches that become one launch together need no lanes.
            let chains = fusion::chains(draft, &before)?;
            let known = free.len();
            let stacks = chains.into_iter().filter(|chain| chain.stack.is_some());
            free.extend(stacks.flat_map(|chain| chain.members));
            if free.len() > known {
                decision = before;
                lanes::serialize(draft, &mut decision, &free);
            }
        }
    }
    Ok((decision, left))
}

/// The explanation of a decision.
#[derive(Clone, Debug, Default)]
pub struct Explanation {
    /// Unordered launches of one kernel in different nodes.
    pub apart: Vec<UnbatchedGroup>,
    /// Consecutive launches that are not fused.
    pub unfused: Vec<Unfused>,
    /// The last launch of a branch and the first launch of the next branch in its lane.
    pub lanes: Vec<(StatementId, StatementId)>,
}

/// Explains the launches of a plan. `emitted` are its batches and chains, which may be fewer than decided because
/// of a budget or of memory. `serialized` is the number of branches put into lanes.
///
/// # Errors
///
/// Like [`decide`].
///
/// # Complexity
///
/// Like [`decide`]; quadratic in the launches of one kernel that are alone on their levels.
pub fn explain(
    problem: LaunchProblem<'_>,
    emitted: MergedNodes<'_>,
    serialized: usize,
) -> Result<Explanation, Cycle> {
    let draft = ReducedProblem::new(problem)?;
    let mut dropped_batches = Vec::new();
    // The chains of the plan replace the decided ones.
    let decision = decided(&draft, &mut dropped_batches, &|_| emitted.chains.to_vec())?;
    let lanes = if serialized == decision.lanes.len() { decision.lanes } else { Vec::new() };
    let unfused = match draft.allowed.fuse {
        true => unfused::unfused(&draft, emitted, &lanes)?,
        false => Vec::new(),
    };
    Ok(Explanation { apart: apart::apart(&draft, &emitted.launches(), &dropped_batches), unfused, lanes })
}

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
