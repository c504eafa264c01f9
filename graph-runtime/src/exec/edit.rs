//! Edits: new values of scalars, which are checked together and then written to each node once.

use std::fmt;
use std::sync::Arc;

use cuweave_core::ids::ScalarId;
use cuweave_core::index::Index;

use crate::build::{Body, LinearBounds, limited_frames};
use crate::error::{PlanFault, Result};
use crate::token::Token;

use super::core::Core;
use super::graph::{ExecCore, GraphFn};
use super::pipeline::hints_of;
use super::prepared::PreparedEdit;
use super::set::OldBounds;

/// The maximum number of sets of scalars for which a graph keeps the effects of their edit.
const MAX_PREPARED: usize = 64;

/// Restores the old value of an argument.
type Undo<'e, A> = Box<dyn FnOnce(&mut A) + 'e>;

/// New values of scalars that are not yet in effect. Dropped before [`PendingEdit::apply`] has succeeded, it restores
/// the old values, also if an expression of the user panics.
pub struct PendingEdit<'e, A: GraphFn> {
    exec: &'e mut ExecCore<A>,
    scalars: Vec<ScalarId>,
    /// Restores the old values of arguments.
    undo: Vec<Undo<'e, A>>,
    /// The old values of bounds.
    old: OldBounds,
}

impl<A: GraphFn> fmt::Debug for PendingEdit<'_, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingEdit").field("scalars", &self.scalars).finish_non_exhaustive()
    }
}

impl<A: GraphFn> ExecCore<A> {
    /// Begins an edit.
    pub fn edit(&mut self) -> PendingEdit<'_, A> {
        PendingEdit { exec: self, scalars: Vec::new(), undo: Vec::new(), old: OldBounds::default() }
    }

    /// Sets a scalar argument.
    pub fn set_scalar<T: 'static>(
        &mut self,
        index: usize,
        value: T,
        place: impl Fn(&mut A) -> &mut T + 'static,
    ) -> Result<()> {
        let mut edit = self.edit();
        edit.set(index, value, place)?;
        edit.apply()
    }
}

impl<'e, A: GraphFn> PendingEdit<'e, A> {
    /// Gives a scalar argument a new value.
    ///
    /// # Errors
    ///
    /// A scalar without a setter; an exec that cannot be changed.
    pub fn set<T: 'e>(
        &mut self,
        index: usize,
        value: T,
        place: impl Fn(&mut A) -> &mut T + 'e,
    ) -> Result<()> {
        let scalar = ScalarId::new(index);
        self.exec.core.check_settable(scalar)?;
        if self.scalars.is_empty() {
            self.exec.begin()?;
        }
        let old = std::mem::replace(place(&mut self.exec.args), value);
        self.undo.push(Box::new(move |args| *place(args) = old));
        if let Err(at) = self.scalars.binary_search(&scalar) {
            self.scalars.insert(at, scalar);
        }
        Ok(())
    }

    /// Returns the arguments, with the new values.
    pub(crate) fn args(&self) -> &A {
        &self.exec.args
    }

    pub(super) fn core(&self) -> &Core {
        &self.exec.core
    }

    /// Gives a size, by its number, a value that is known to be in its range.
    pub(super) fn replace_size(&mut self, scalar: ScalarId, value: u64) -> Result<()> {
        self.exec.core.check_settable(scalar)?;
        let replace = move |args: &mut A, value: u64| {
            let slot = args.size(scalar.index(), Token)?;
            let old = slot.value();
            slot.replace(value).then_some(old).flatten()
        };
        let old = replace(&mut self.exec.args, value).ok_or(PlanFault::OtherVersion)?;
        self.undo.push(Box::new(move |args| {
            replace(args, old);
        }));
        self.scalars.push(scalar);
        self.scalars.sort_unstable();
        Ok(())
    }

    /// Checks the new values and updates the nodes that use them.
    ///
    /// # Errors
    ///
    /// A range that is not within its buffer, a launch that does not write all that it must, a launch configuration
    /// that exceeds the device's limits, or a failure of the driver. The exec is then unchanged.
    pub fn apply(mut self) -> Result<()> {
        if self.scalars.is_empty() {
            return Ok(());
        }
        let PendingEdit { exec, scalars, old, .. } = &mut self;
        let ExecCore { core, args, .. } = &mut **exec;
        core.set(&args.values(Token), scalars, old, &|| hints_of(&**args))?;
        for size in &mut core.sizes {
            size.value =
                args.size(size.scalar.index(), Token).and_then(|slot| slot.value()).unwrap_or(size.value);
        }
        self.undo.clear();
        Ok(())
    }
}

impl<A: GraphFn> Drop for PendingEdit<'_, A> {
    fn drop(&mut self) {
        if self.undo.is_empty() {
            return;
        }
        // The latest value was set last.
        for undo in self.undo.drain(..).rev() {
            undo(&mut self.exec.args);
        }
        self.exec.core.restore(&mut self.old);
    }
}

impl Core {
    /// Returns the index of the effects of an edit of these scalars. `body` has their new values.
    pub(super) fn prepare(&mut self, scalars: &[ScalarId], body: &dyn Body) -> usize {
        if let Some(known) = self.edits.iter().position(|edit| edit.scalars == scalars) {
            return known;
        }
        if self.edits.len() == MAX_PREPARED {
            self.edits.clear();
        }
        let flat = &self.definition.flat;
        let effects = Arc::new(flat.moves.union(&flat.scalars, scalars));
        let is_moved = !effects.is_empty();
        let linear =
            is_moved.then(|| LinearBounds::new(&effects, scalars, body, &self.definition, &self.built));
        let (linear, limited) = (linear.flatten(), limited_frames(flat));
        self.edits.push(PreparedEdit { scalars: scalars.to_vec(), effects, limited, linear });
        self.edits.len() - 1
    }
}
