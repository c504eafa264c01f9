//! Stage 2b: decides which launches are batched into one node, and which branches are serialized into lanes.
//!
//! Works on the order of a checked program and on the facts about each launch that are known once the arguments are: the
//! kernel, the grid, the blocks that the device holds. The result only adds order, so every later stage (lives, frees,
//! plans, bounds, budgets) works on the order that is launched.
//!
//! Invariants of a [`Decision`]:
//! - the members of a batch are launches of one kernel with one block and one amount of shared memory; no path orders
//!   them, and no edge that is added does;
//! - all members have the same predecessors and the same successors: a batch is one node;
//! - the depth of the order does not grow by batches;
//! - the same input gives the same decision.

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

/// Decides for a program whose order is `edges`. `launches` has one entry a statement, `None` for what is no launch. A batch
/// has at most `most` members.
///
/// # Errors
///
/// The edges have a cycle.
///
/// # Complexity
///
/// That of the order itself, plus the edges that are added: a batch of m members with p predecessors adds m times p.
pub fn decide(
    program: &Program,
    edges: &[(StatementId, StatementId)],
    launches: &Vector<StatementId, Option<Launch>>,
    allowed: Allowed,
    most: usize,
    tuning: &Tuning,
) -> Result<Decision, Cycle> {
    if !allowed.batches && !allowed.lanes {
        return Ok(Decision::default());
    }
    let draft = Draft::new(program, edges, launches, most, tuning)?;
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
