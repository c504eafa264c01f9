//! Pictures of the temporaries, and the trade-off between critical path and bytes.

use crate::check::Checked;
use crate::compile;
use crate::index::Vector;
use crate::ir::DimId;
use crate::operation::Operations;
use crate::plan::budget::CurvePoint;

use crate::runtime::error::Result;
use crate::runtime::error::program::plan_error;

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
