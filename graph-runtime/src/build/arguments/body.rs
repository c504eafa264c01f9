//! The body of a graph function as generated code: the user's expressions, evaluated for a turn of its loops.

use cuweave_core::expand::{Frame, FrameId};
use cuweave_core::index::Vector;
use cuweave_core::table::TableHandle;

use crate::build::calls::capture::Capture;
use crate::error::{PlanFault, Result};
use crate::statements::{Dim, Evaluation};
use crate::token::Token;

/// The values of a graph function's scalars, with the code of its expressions. `turns` are the values of its loop variables.
pub trait Body {
    /// Returns its table; `None` if it is not of this version of cuweave.
    fn table(&self, token: Token) -> Option<TableHandle>;

    /// Returns the value of an expression that bounds are computed of.
    fn leaf(&self, number: u32, turns: &[i64], token: Token) -> Dim;

    /// Returns the number of the arm that an `if` or `match` takes: 0 without any.
    fn arm(&self, number: u32, turns: &[i64], token: Token) -> u32 {
        let _ = (number, turns, token);
        0
    }

    /// Gives the statement of an evaluation its configuration and values.
    fn evaluate(
        &self,
        step: u32,
        turns: &[i64],
        evaluation: &mut Evaluation<'_>,
        token: Token,
    ) -> Result<()> {
        let _ = (step, turns, evaluation, token);
        Ok(())
    }

    /// Calls `enter` with the body of the function that a step calls: never without calls.
    fn enter(&self, step: u32, turns: &[i64], enter: &mut dyn FnMut(&dyn Body), token: Token) {
        let _ = (step, turns, enter, token);
    }

    /// Runs the body of a library call. Graph functions have none.
    fn capture(&self, capture: &mut Capture<'_>, token: Token) -> Result<()> {
        let _ = token;
        Err(PlanFault::NoLibraryCall(format!("{capture:?}")).into())
    }
}

/// An item of a graph function whose parameter of that index can be set in graphs that call it.
#[diagnostic::on_unimplemented(
    message = "argument {I} of `{Self}` has no setter",
    label = "the graph is built for one value of it",
    note = "build the graph again for another value"
)]
pub trait Sets<const I: usize> {}

/// Calls `with` with the body of a frame, whose calls are evaluated from the outermost function on. Returns `None` if an
/// expression in an argument of a call returns before the callee is entered.
pub(crate) fn enter<T>(
    root: &dyn Body,
    frames: &Vector<FrameId, Frame>,
    frame: FrameId,
    with: &mut dyn FnMut(&dyn Body) -> T,
) -> Option<T> {
    let Some(call) = &frames[frame].call else { return Some(with(root)) };
    let step = frames[call.frame].table.steps[call.template];
    let mut result = None;
    enter(root, frames, call.frame, &mut |caller| {
        caller.enter(step, &call.turns, &mut |callee| result = Some(with(callee)), Token);
    });
    result
}
