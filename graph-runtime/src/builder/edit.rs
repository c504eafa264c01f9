//! Edits of the scalars of a builder's exec.

use std::fmt;

use cuweave_core::index::Index;
use cuweave_core::kind::StatementKind;

use crate::build::ScalarValue;
use crate::error::{Error, Result};
use crate::exec::{ExecCore, PendingEdit};

use super::code::Args;
use super::handle::CallSite;
use super::messages;
use super::size::Scalar;

/// New values of scalars, which [`Exec::edit`](super::Exec::edit) applies together.
pub struct Edit<'e, 'a> {
    pending: PendingEdit<'e, Args<'a>>,
}

impl fmt::Debug for Edit<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Edit").finish_non_exhaustive()
    }
}

impl<'e, 'a> Edit<'e, 'a> {
    pub(super) fn new(core: &'e mut ExecCore<Args<'a>>) -> Edit<'e, 'a> {
        Edit { pending: core.edit() }
    }

    /// Sets a scalar.
    ///
    /// # Errors
    ///
    /// A scalar of another builder (CW402); a scalar that determines a length and is no size; for a size, a value out
    /// of its range. The edit is unchanged.
    #[track_caller]
    pub fn set_scalar<T: Copy + Send + Sync + 'static>(
        &mut self,
        scalar: &Scalar<T>,
        value: T,
    ) -> Result<()> {
        self.set(scalar, ScalarValue::new(value), CallSite::caller())
    }

    pub(super) fn set<T>(&mut self, scalar: &Scalar<T>, value: ScalarValue, place: CallSite) -> Result<()> {
        let (args, index) = (self.pending.args(), scalar.id.index());
        if scalar.builder != args.builder || index >= args.scalars.len() {
            return Err(args.foreign(place, "a scalar", "set_scalar"));
        }
        let code = args.code.clone();
        let checked = self.pending.check_range(index, value.unsigned());
        let done =
            checked.and_then(|()| self.pending.set(index, value, move |args| &mut args.scalars[index]));
        done.map_err(|error| match error {
            Error::BuildAgain { reason, .. } => {
                Error::BuildAgain { at: Box::new(code.symbols[scalar.id].clone()), reason }
            }
            other => messages::at_scalars(other, &code.symbols),
        })
    }

    /// Checks the new values and updates the nodes.
    pub(super) fn apply(self) -> Result<()> {
        let args = self.pending.args();
        for (step, at) in args.code.steps.iter().zip(&args.code.places) {
            if let StatementKind::Call(call) = step {
                call.check(at, &args.scalars)?;
            }
        }
        self.pending.apply().map_err(messages::reword_error)
    }
}
