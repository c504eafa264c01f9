//! Copies between buffers, and between a buffer and pinned host memory.

use cuweave_core::ir::StatementId;

use crate::cuda::{Memcpy, Node, Outcome};
use crate::error::{Error, Result};
use crate::statements::emission::{AddContext, EmissionContext, Parameters, SetContext, element};
use crate::statements::evaluator::Evaluator;

/// Evaluates a copy.
///
/// # Errors
///
/// An empty range; ranges of different lengths.
pub(super) fn evaluate(evaluator: &Evaluator<'_>) -> Result<()> {
    evaluator.check_not_empty()?;
    let (source, target) = (evaluator.access(0)?, evaluator.access(1)?);
    let (from, to) = (evaluator.len(source), evaluator.len(target));
    if from == to {
        return Ok(());
    }
    let (source_name, target_name) = (evaluator.name(source), evaluator.name(target));
    Err(Error::CopyLength { at: evaluator.at(), source_name, from, target_name, to })
}

/// Returns the parameters of a copy's memcpy node.
pub(super) fn node(emission: &EmissionContext<'_>, statement: StatementId) -> Memcpy {
    let (from, to) = (emission.place_of(statement, 0), emission.place_of(statement, 1));
    let buffer = emission.program.statements[statement].accesses[0].buffer;
    let bytes = emission.elements_of(statement, 0).len * element(emission.program, buffer);
    Memcpy { from, to, bytes }
}

impl Parameters for Memcpy {
    fn add(&self, AddContext { driver, context, graph, after, .. }: AddContext<'_>) -> Outcome<Node> {
        driver.add_copy(graph, after, self, context)
    }

    fn set(&self, SetContext { driver, context, exec, node, scratch, .. }: SetContext<'_>) -> Outcome<()> {
        driver.set_copy(exec, node, self, context, scratch)
    }
}
