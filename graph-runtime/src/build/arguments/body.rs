//! The interface to generated code: a [`Body`] evaluates the user's expressions of a graph function, for given
//! values of its loop variables.
//!
//! [`enter`] finds the body of an inlined call by evaluating the arguments of every call on the way to it.

use cuweave_core::expand::{Frame, FrameId};
use cuweave_core::index::Vector;
use cuweave_core::table::TableHandle;

use crate::build::calls::capture::CallCapture;
use crate::error::{PlanFault, Result};
use crate::kernels::item::AnyArgument;
use crate::statements::{Dim, Evaluation};
use crate::token::Token;

/// The scalars of a graph function and the code of its expressions. In every method, `loop_values` holds the values
/// of the loop variables, outermost loop first.
pub trait Body {
    /// Returns the function's table. `None` if another version of cuweave generated it.
    fn table(&self, token: Token) -> Option<TableHandle>;

    /// Returns the value of an expression that bounds are computed from.
    fn leaf(&self, number: u32, loop_values: &[i64], token: Token) -> Dim;

    /// Returns the index of the arm that an `if` or `match` takes. 0 if the function has no choice.
    fn arm(&self, number: u32, loop_values: &[i64], token: Token) -> u32 {
        let _ = (number, loop_values, token);
        0
    }

    /// Evaluates the configuration and the values of a statement and stores them in `evaluation`.
    fn evaluate(
        &self,
        step: u32,
        loop_values: &[i64],
        evaluation: &mut Evaluation<'_>,
        token: Token,
    ) -> Result<()> {
        let _ = (step, loop_values, evaluation, token);
        Ok(())
    }

    /// Calls `enter` with the body of the function that statement `step` calls. A function without calls never
    /// calls `enter`.
    fn enter(&self, step: u32, loop_values: &[i64], enter: &mut dyn FnMut(&dyn Body), token: Token) {
        let _ = (step, loop_values, enter, token);
    }

    /// Runs the body of a library call.
    ///
    /// # Errors
    ///
    /// [`PlanFault::NoLibraryCall`] for graph functions: they have no such body.
    fn capture(&self, capture: &mut CallCapture<'_>, token: Token) -> Result<()> {
        let _ = token;
        Err(PlanFault::NoLibraryCall(format!("{capture:?}")).into())
    }
}

/// Implemented by the item of a graph function if parameter `I` can be set in graphs that call the function.
#[diagnostic::on_unimplemented(
    message = "argument {I} of `{Self}` has no setter",
    label = "the graph is built for one value of it",
    note = "build the graph again for another value"
)]
pub trait Sets<const I: usize> {}

/// Implemented by the item of a graph function if a caller may pass a size as parameter `I`: lengths rise with it.
/// `Of` has no meaning.
#[diagnostic::on_unimplemented(
    message = "argument {I} of `{Self}` takes no size",
    label = "the graph is built for one value of it",
    note = "a size reaches values and lengths that rise with it, and no loops, choices, indices or collectives"
)]
pub trait Rises<const I: usize, Of = ()> {}

/// Implemented by the item of a graph function if a caller may pass any value as parameter `I` that a size changes.
#[diagnostic::on_unimplemented(
    message = "argument {I} of `{Self}` takes no value that does not rise with a size",
    label = "the graph is built for one value of it, or for values that rise with a size",
    note = "give it a scalar of its own, with its own `#[at_most(..)]`"
)]
pub trait Takes<const I: usize> {}

impl<const I: usize, T: Sets<I>> Takes<I> for T {}

impl<const I: usize> Sets<I> for AnyArgument {}

impl<const I: usize, Of> Rises<I, Of> for AnyArgument {}

/// Calls `with` with the body of a frame. Evaluates the calls that lead to it, starting from the outermost
/// function. Returns `None` if an argument's expression returns from its function before the callee is entered.
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
        caller.enter(step, &call.loop_values, &mut |callee| result = Some(with(callee)), Token);
    });
    result
}
