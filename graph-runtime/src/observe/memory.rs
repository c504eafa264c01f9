//! Pictures of the temporaries, and the trade-off between critical path and bytes.

use cuweave_core::check::Checked;
use cuweave_core::compile;
use cuweave_core::index::Vector;
use cuweave_core::ir::DimId;
use cuweave_core::operation::Operations;
use cuweave_core::plan::budget::CurvePoint;

use crate::error::Result;
use crate::error::program::plan_error;

/// Draws the temporaries as an SVG.
pub(crate) fn svg(checked: &Checked, dims: &Vector<DimId, u64>, operations: &Operations) -> Result<String> {
    compile::memory_svg(checked, dims, operations).map_err(|error| plan_error(checked.program(), error))
}

/// Computes the trade-off between critical path and bytes at up to `points` budgets.
pub(crate) fn budget_curve(
    checked: &Checked,
    dims: &Vector<DimId, u64>,
    points: u64,
) -> Result<Vec<CurvePoint>> {
    compile::budget_curve(checked, dims, points).map_err(|error| plan_error(checked.program(), error))
}
