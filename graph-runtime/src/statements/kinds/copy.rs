//! Copies between buffers, and between a buffer and pinned host memory.

use cuweave_core::ir::StatementId;

use crate::cuda::{Copying, Node, Outcome};
use crate::error::{Error, Result};
use crate::statements::emission::{Adding, Emission, Parameters, Setting, element};
use crate::statements::evaluator::Evaluator;

/// Evaluates a copy.
///
/// # Errors
///
/// An empty range; ranges of different lengths.
pub(super) fn evaluate(evaluator: &Evaluator<'_>) -> Result<()> {
    evaluator.not_empty()?;
    let (source, target) = (evaluator.access(0)?, evaluator.access(1)?);
    let (from, to) = (evaluator.len(source), evaluator.len(target));
    if from == to {
        return Ok(());
    }
    let (source_name, target_name) = (evaluator.name(source), evaluator.name(target));
    Err(Error::CopyLength { at: evaluator.at(), source_name, from, target_name, to })
}

/// Returns the parameters of a copy's memcpy node.
pub(super) fn node(emission: &Emission<'_>, statement: StatementId) -> Copying {
    let (from, to) = (emission.place_of(statement, 0), emission.place_of(statement, 1));
    let buffer = emission.program.statements[statement].accesses[0].buffer;
    let bytes = emission.elements_of(statement, 0).len * element(emission.program, buffer);
    Copying { from, to, bytes }
}

impl Parameters for Copying {
    fn add(&self, Adding { driver, context, graph, after, .. }: Adding<'_>) -> Outcome<Node> {
        driver.add_copy(graph, after, self, context)
    }

    fn set(&self, Setting { driver, context, exec, node, scratch, .. }: Setting<'_>) -> Outcome<()> {
        driver.set_copy(exec, node, self, context, scratch)
    }
}
