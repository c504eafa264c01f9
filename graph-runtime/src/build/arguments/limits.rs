//! Checks `#[at_least(n)]` and `#[at_most(n)]` of called functions for the values that sizes have.

use cuweave_core::expand::{Answers, ExpansionFault, ExpansionPoint, Expressions, Frame, FrameId};
use cuweave_core::flattened::Flattened;
use cuweave_core::ir::DimId;
use cuweave_core::table::BoundOp;

use super::answers::BodyEvaluator;
use super::body::Body;
use crate::error::Result;

/// Returns the called functions with limits on their arguments, `#[at_least(n)]` and `#[at_most(n)]`.
pub(crate) fn limited_frames(flat: &Flattened) -> Vec<FrameId> {
    let is_limited = |(id, frame): &(FrameId, &Frame)| {
        let structure = &frame.table.structure;
        *id != FrameId::OUTERMOST && !(structure.at_least.is_empty() && structure.at_most.is_empty())
    };
    flat.frames.enumerate().filter(is_limited).map(|(id, _)| id).collect()
}

/// Checks the limits on the arguments of called functions. Sizes may change these arguments, but not the number of
/// elements of a list.
pub(crate) fn check_limits(flat: &Flattened, body: &dyn Body, frames: &[FrameId]) -> Result<()> {
    let mut evaluator = BodyEvaluator::new(body);
    for &frame in frames {
        let table = &flat.frames[frame].table;
        let at = ExpansionPoint { frames: &flat.frames, frame, loop_values: &[] };
        for (name, value, most) in &table.structure.at_most {
            let value = evaluator.value(at, *value, &mut |_| None)?;
            let most = evaluator.value(at, *most, &mut |_| None)?;
            if value > most {
                let argument = name.to_string();
                return Err(evaluator.refused(at, None, ExpansionFault::AtMost { argument, most, value }));
            }
        }
        let is_scalar = |dim: DimId| matches!(*table.dims[dim], [BoundOp::Leaf(_)]);
        for (name, dim, least) in table.structure.at_least.iter().filter(|(_, dim, _)| is_scalar(*dim)) {
            let (argument, least) = (name.to_string(), *least);
            let value = evaluator.value(at, *dim, &mut |_| None)?;
            if value < least {
                return Err(evaluator.refused(at, None, ExpansionFault::AtLeast { argument, least, value }));
            }
        }
    }
    Ok(())
}
