//! Copies between buffers, and between a buffer and pinned host memory.

use cuweave_core::ir::StatementId;

use crate::cuda::{Memcpy, Node, Outcome};
use crate::error::{Error, Result, RowsFault};
use crate::statements::emission::{AddContext, EmissionContext, Parameters, SetContext, element};
use crate::statements::evaluator::Evaluator;
use crate::statements::rows::RowNumbers;

/// Evaluates a copy.
///
/// # Errors
///
/// An empty range; ranges of different lengths; rows of different shapes, or a pitch above the device's limit.
pub(super) fn evaluate(evaluator: &Evaluator<'_>) -> Result<()> {
    evaluator.check_not_empty()?;
    let ends = [evaluator.access(0)?, evaluator.access(1)?];
    let rows = ends.map(|access| RowNumbers::of(access, evaluator.dims));
    let [from, to] = [0, 1].map(|end| rows[end].map_or(evaluator.len(ends[end]), RowNumbers::elements));
    if from != to {
        let [source_name, target_name] = ends.map(|access| evaluator.name(access));
        return Err(Error::CopyLength { at: evaluator.at(), source_name, from, target_name, to });
    }
    if let [Some(source), Some(target)] = rows
        && source.shape() != target.shape()
    {
        let reason = RowsFault::Shapes { from: source.shape(), to: target.shape() };
        return Err(evaluator.rows_error(ends[1], reason));
    }
    ends.into_iter().try_for_each(|access| evaluator.check_pitch(access))
}

/// Returns the parameters of a copy's memcpy node.
pub(super) fn node(emission: &EmissionContext<'_>, statement: StatementId) -> Memcpy {
    let (from, to) = (emission.place_of(statement, 0), emission.place_of(statement, 1));
    let accesses = &emission.program.statements[statement].accesses;
    let element = element(emission.program, accesses[0].buffer);
    let [source, target] = [0, 1].map(|end| RowNumbers::of(&accesses[end], emission.dims));
    let Some(shape) = source.or(target) else {
        return Memcpy::line(from, to, emission.elements_of(statement, 0).len * element);
    };
    let pitches = [source, target].map(|end| end.unwrap_or(shape.packed()).bytes(element));
    let (rows, planes) = (shape.count, shape.planes);
    Memcpy { from, to, bytes: shape.width * element, rows, planes, pitches }
}

impl Parameters for Memcpy {
    fn add(&self, AddContext { driver, context, graph, after, .. }: AddContext<'_>) -> Outcome<Node> {
        driver.add_copy(graph, after, self, context)
    }

    fn set(&self, SetContext { driver, context, exec, node, scratch, .. }: SetContext<'_>) -> Outcome<()> {
        driver.set_copy(exec, node, self, context, scratch)
    }
}
