//! Event nodes: they record the caller's events or wait for them. The graph's arguments keep the events alive.

use cudarc::driver::CudaEvent;

use crate::cuda::{Event, Node, Outcome};
use crate::error::{Error, Result};
use crate::statements::emission::{AddContext, Parameters, SetContext};
use crate::statements::evaluator::Evaluator;

/// Evaluates the record of an event or the wait for one.
///
/// # Errors
///
/// An event of another context.
pub(super) fn evaluate(evaluator: &Evaluator<'_>, event: &CudaEvent) -> Result<Event> {
    if evaluator.modules.is_of(event.context()) {
        Ok(Event::from_cudarc(event))
    } else {
        Err(Error::EventOfOtherContext { at: evaluator.at() })
    }
}

/// The parameters of an event node.
pub(super) struct EventNode {
    pub event: Event,
    pub records: bool,
}

impl Parameters for EventNode {
    fn add(&self, AddContext { driver, graph, after, .. }: AddContext<'_>) -> Outcome<Node> {
        match self.records {
            true => driver.add_event_record(graph, after, self.event),
            false => driver.add_event_wait(graph, after, self.event),
        }
    }

    fn set(&self, SetContext { driver, exec, node, .. }: SetContext<'_>) -> Outcome<()> {
        match self.records {
            true => driver.set_event_record(exec, node, self.event),
            false => driver.set_event_wait(exec, node, self.event),
        }
    }
}
