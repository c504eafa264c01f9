//! Setters of host values: of events, flags, semaphores, and of what host statements are given.
//!
//! A launch in flight may use the replaced value, so the exec keeps it until its last launch is over.

use std::sync::Arc;

use cuweave_core::expand::FrameId;
use cuweave_core::ir::StatementId;

use crate::build::annotate;
use crate::error::Result;
use crate::statements::{StatementRecord, StatementRecordExt};
use crate::token::Token;

use super::core::Core;
use super::graph::{ExecCore, GraphFn};

impl<A: GraphFn> ExecCore<A> {
    /// Sets a host value. `index` is its number among the scalars.
    pub fn set_host_value<T: ?Sized>(
        &mut self,
        index: usize,
        value: Arc<T>,
        place: impl Fn(&mut A) -> &mut Arc<T> + 'static,
    ) -> Result<()>
    where
        Arc<T>: Send + Sync + 'static,
    {
        let old = place(&mut self.args).clone();
        self.set_scalar(index, value, place)?;
        self.core.keep_replaced(Box::new(old));
        Ok(())
    }

    /// Evaluates a statement of the outermost function again, with the values that the arguments have now.
    pub(crate) fn reevaluate(&mut self, template: StatementId) -> Result<()> {
        self.core.check_changeable()?;
        let instances = &self.core.definition.flat.instances;
        let is_it = |&at: &StatementId| {
            (instances[at].frame, instances[at].template) == (FrameId::OUTERMOST, template)
        };
        let statements: Vec<StatementId> = instances.ids().filter(is_it).collect();
        let (records, unproved) = self.core.evaluate(&self.args.values(Token), &statements)?;
        self.core.replace_field_records(&statements, records, unproved)?;
        if self.core.built.state.hosts.has_statements() {
            annotate::update_host_accesses(&self.core.built.annotated(&self.core.definition));
        }
        Ok(())
    }
}

impl Core {
    /// Keeps a replaced host value until the launches that use it are over.
    pub(crate) fn keep_replaced(&mut self, value: Box<dyn Send + Sync>) {
        self.replaced.push(value);
        self.drop_replaced();
    }

    /// Drops the replaced host values if no launch is in flight, and the functions of host statements that none uses.
    pub(super) fn drop_replaced(&mut self) {
        let (driver, in_flight) = (self.definition.driver, &self.in_flight);
        let (replaced, state) = (&mut self.replaced, &mut self.built.state);
        driver.relaxed(|| {
            if state.hosts.has_statements() {
                state.hosts.retain(state.records.iter().filter_map(StatementRecord::work));
            }
            let over = in_flight.last.is_none()
                || !in_flight.lost && driver.is_over(in_flight.done.raw()) == Ok(true);
            if over {
                replaced.clear();
            }
        });
    }
}
