//! Stage 2b: launch decisions: the launches that are batched into one node, and the branches that are serialized into lanes.
//!
//! The input is the order of a checked program and the facts about each launch that are known once the arguments are: kernel,
//! grid, resident blocks. A decision only adds order, so all later stages (live ranges, frees, plans, bounds, budgets) work on
//! the order that is launched.
//!
//! Invariants of a [`Decision`]:
//! - the members of a batch are launches of one kernel with equal blocks and equal amounts of shared memory; neither the order nor the added
//!   edges order them;
//! - all members have the same predecessors and the same successors: a batch is one node;
//! - batches do not increase the depth of the order;
//! - equal inputs give equal decisions.

pub mod batch;
mod blocks;
mod chains;
mod decision;
mod draft;
mod lanes;
mod launch;
pub mod tuning;

pub use blocks::{Blocks, MOST_BLOCKS};
pub use decision::{Allowed, Batch, Decision};
pub use launch::{Batching, Launch, Run};
pub use tuning::Tuning;

pub(crate) use decision::by_member;
pub(crate) use draft::Contracted;

use crate::index::Vector;
use crate::ir::{Program, StatementId};
use crate::reach::Cycle;
use draft::Draft;

/// Decides which launches of a program are batched and which branches become lanes. `edges` is its order; `launches` has an entry
/// for each statement, `None` for those that are no launches; `others` has equal numbers for those of the others that are assumed to
/// last equally long. A batch has at most `most` members.
///
/// # Errors
///
/// The edges have a cycle.
///
/// # Complexity
///
/// The transitive reduction, plus the added edges: a batch of m members with p predecessors adds m · p.
pub fn decide(
    program: &Program,
    edges: &[(StatementId, StatementId)],
    (launches, others): (&Vector<StatementId, Option<Launch>>, &Vector<StatementId, u32>),
    allowed: Allowed,
    most: usize,
    tuning: &Tuning,
) -> Result<Decision, Cycle> {
    if !allowed.batches && !allowed.lanes {
        return Ok(Decision::default());
    }
    let draft = Draft::new(program, edges, (launches, others), most, tuning)?;
    let mut decision = Decision::default();
    if allowed.batches {
        decision.batches = chains::widths(&draft, batch::batches(&draft));
        decision.edges = batch::edges(&draft, &decision.batches);
    }
    if allowed.lanes {
        lanes::serialize(&draft, &mut decision);
    }
    Ok(decision)
}

#[cfg(test)]
mod tests;
