//! Copies between buffers, and between a buffer and pinned host memory.

use cuweave_core::index::{narrow, size};
use cuweave_core::ir::StatementId;

use crate::cuda::{self, Memcpy, Node, Outcome, Word};
use crate::error::{Error, Result, RowsFault};
use crate::kernels::{COPY_ROWS, LaunchRecord, Modules};
use crate::statements::emission::{AddContext, EmissionContext, Parameters, SetContext, element};
use crate::statements::evaluator::Evaluator;
use crate::statements::rows::RowNumbers;

use super::fill::{set_words, shape_of};

/// The values of a copy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CopyRecord {
    /// For rows, which may need a kernel: the index of the first word of the kernel's parameters.
    first: u32,
    /// True for rows with a pitch.
    pitched: bool,
}

impl CopyRecord {
    /// Returns the index of its first word and the number of its words.
    pub(super) fn words(self) -> (usize, usize) {
        if self.pitched { (size(self.first), COPY_ROWS.words) } else { (0, 0) }
    }

    /// Returns the record with its words at index `first`.
    pub(super) fn at(self, first: u32) -> CopyRecord {
        CopyRecord { first, ..self }
    }

    /// If a setter moves its rows, returns the launch of the kernel that copies rows and writes its parameters to its
    /// words.
    pub(super) fn resolve(
        self,
        emission: &EmissionContext<'_>,
        statement: StatementId,
        modules: &mut Modules,
        words: &mut [Word],
    ) -> Result<Option<LaunchRecord>> {
        if !emission.as_kernels[statement] {
            return Ok(None);
        }
        let declared = &emission.program.statements[statement];
        let moved = &emission.program.buffers[declared.accesses[0].buffer];
        let unit = u64::from(moved.align.clamp(1, 8));
        let each = u64::from(moved.element) / unit;
        let rows = [0, 1].map(|end| RowNumbers::of(&declared.accesses[end], emission.dims));
        let Some(shape) = rows[0].or(rows[1]) else { return Ok(None) };
        let [source, target] = [0, 1].map(|end| emission.elements_of(statement, end).address);
        let n = shape.elements().saturating_mul(each);
        let info = modules.function(declared.device, &COPY_ROWS)?;
        let ends = rows.map(|rows| rows.unwrap_or(shape.packed()));
        let pitches = ends.iter().flat_map(|rows| [rows.pitch.saturating_mul(each), rows.height]);
        let numbers = [source, target, n, shape.width.saturating_mul(each), shape.count];
        set_words(words, self.first, numbers.into_iter().chain(pitches).chain([unit]));
        let (function, shape) = (info.function, shape_of(n, info.max_threads));
        Ok(Some(LaunchRecord { kernel: &COPY_ROWS, function, shape, first: self.first }))
    }
}

/// Evaluates a copy.
///
/// # Errors
///
/// An empty range; ranges of different lengths; rows of different shapes, or a pitch above the device's limit.
pub(super) fn evaluate(evaluator: &mut Evaluator<'_>) -> Result<CopyRecord> {
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
    ends.into_iter().try_for_each(|access| evaluator.check_pitch(access))?;
    let first = evaluator.words.len();
    let record = CopyRecord { first: narrow(first), pitched: rows.iter().any(Option::is_some) };
    evaluator.words.resize(first + record.words().1, cuda::address_word(0));
    Ok(record)
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
