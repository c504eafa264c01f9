//! The setters of sizes, and the sizes of a build.

use cuweave_core::ids::ScalarId;
use cuweave_core::index::Index;

use crate::error::Result;

use super::edit::PendingEdit;
use super::graph::{ExecCore, GraphFn};
use super::size_ranges::{SizeRange, SizeValue};

impl<'e, A: GraphFn> PendingEdit<'e, A> {
    /// Gives a size a new value.
    ///
    /// # Errors
    ///
    /// A value out of its range; those of [`PendingEdit::set`].
    pub fn set_size<T: SizeValue + 'e>(
        &mut self,
        index: usize,
        value: T,
        place: impl Fn(&mut A) -> &mut T + 'e,
    ) -> Result<()> {
        self.check_range(index, value.get())?;
        self.set(index, value, place)
    }

    /// Checks that a value is in the range of a scalar, if that is a size. `None` is a negative value.
    pub(crate) fn check_range(&self, index: usize, value: Option<u64>) -> Result<()> {
        let scalar = ScalarId::new(index);
        let size = self.core().sizes.iter().find(|size| size.scalar == scalar);
        size.map_or(Ok(()), |size| size.check(value))
    }
}

impl<A: GraphFn> ExecCore<A> {
    /// Sets a size.
    pub fn set_size<T: SizeValue + 'static>(
        &mut self,
        index: usize,
        value: T,
        place: impl Fn(&mut A) -> &mut T + 'static,
    ) -> Result<()> {
        let mut edit = self.edit();
        edit.set_size(index, value, place)?;
        edit.apply()
    }

    /// Gives the sizes of an instantiated exec the values of the caller, once. The nodes have the largest ones before.
    pub(crate) fn begin(&mut self) -> Result<()> {
        if self.core.begun || !self.core.is_instantiated() {
            return Ok(());
        }
        let sizes: Vec<SizeRange> =
            self.core.sizes.iter().filter(|size| size.value != size.most).cloned().collect();
        let mut edit = self.edit();
        for size in sizes {
            edit.replace_size(size.scalar, size.value)?;
        }
        edit.apply()?;
        self.core.begun = true;
        Ok(())
    }
}
