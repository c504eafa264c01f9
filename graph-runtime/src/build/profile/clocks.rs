//! The nodes of the clocks of a serialised graph, while its nodes are added.

use cuweave_core::index::Index;
use cuweave_core::ir::{Device, Kind};
use cuweave_core::operation::{Operation, OperationId, What};
use cuweave_core::scopes::ScopeId;

use crate::build::conditional::bodies::Bodies;
use crate::build::graph::definition::Definition;
use crate::build::graph::nodes::Nodes;
use crate::cuda::{Filling, Node, RawGraph, Word};
use crate::error::{Error, Result};
use crate::kernels::{HUB, STAMP};

use super::stamps::{Clock, PAIR, Stamps, wide};

impl Nodes {
    /// Adds what stands before the first operation: the slots are zeroed, and an empty pair and a kernel that does nothing are timed.
    pub(crate) fn begin_stamps(&mut self, definition: &mut Definition) -> Result<()> {
        let Some(mut stamps) = self.stamps.take() else { return Ok(()) };
        let begun = self.begin(definition, &mut stamps);
        self.stamps = Some(stamps);
        begun
    }

    fn begin(&mut self, definition: &mut Definition, stamps: &mut Stamps) -> Result<()> {
        let (graph, driver) = (self.graph, definition.driver);
        // In elements of 4 bytes.
        let width = 2 * wide(stamps.words_before(self.operations.list.len() + stamps.bodies.len()));
        for (&device, memory) in &stamps.memory {
            let filling = Filling { target: memory.start(), value: 0, element: 4, width };
            let after = Vec::from_iter(stamps.last.get(&graph).copied());
            let node = driver.add_fill(graph, &after, &filling, definition.context_of(device))?;
            stamps.last.insert(graph, node);
        }
        for _ in 0..=PAIR {
            let after = Vec::from_iter(stamps.last(graph));
            stamps.add_event(definition, graph, &after)?;
        }
        let after = Vec::from_iter(stamps.last(graph));
        let node = self.add_single(definition, (graph, &after), (&HUB, &[]), (Device::FIRST, None))?;
        stamps.add_event(definition, graph, &[node])?;
        Ok(())
    }

    /// Adds the event record node, or the stamp, behind the operation that was added last.
    pub(crate) fn stamp(
        &mut self,
        definition: &mut Definition,
        bodies: &Bodies,
        operation: &Operation,
    ) -> Result<()> {
        let Some(mut stamps) = self.stamps.take() else { return Ok(()) };
        let stamped = self.stamp_with(definition, bodies, operation, &mut stamps);
        self.stamps = Some(stamps);
        let at = self.at(definition.program(), operation);
        stamped.map_err(|error| match error {
            Error::Driver(mut failure) => {
                failure.at.get_or_insert(at);
                Error::Driver(failure)
            }
            other => other,
        })
    }

    fn stamp_with(
        &mut self,
        definition: &mut Definition,
        bodies: &Bodies,
        operation: &Operation,
        stamps: &mut Stamps,
    ) -> Result<()> {
        let added = OperationId::new(stamps.clocks.len());
        if operation.what == What::Statement(Kind::Join(())) {
            stamps.clocks.push(Clock::Untimed);
            return Ok(());
        }
        let mut after = Vec::new();
        self.ends(added, &mut after);
        match bodies.around(&self.operations, operation) {
            None => {
                stamps.add_event(definition, self.graph, &after)?;
                stamps.clocks.push(Clock::Event(stamps.events.len() - 1));
            }
            Some(body) => {
                let slot = stamps.slots;
                stamps.slots += 1;
                self.add_stamp(definition, stamps, (self.into, body, Some(slot), operation.device), &after)?;
                let pair = stamps.pairs.get(&body).copied().unwrap_or(slot);
                stamps.clocks.push(Clock::Slot { own: slot, pair });
            }
        }
        if operation.what != What::Statement(Kind::Condition(())) {
            return Ok(());
        }
        let begun = operation.sources.first().and_then(|&condition| bodies.scopes.bordered(condition));
        let Some(body) = begun else { return Ok(()) };
        let Some(graph) = bodies.graph(Some(body)) else { return Ok(()) };
        self.add_stamp(definition, stamps, (graph, body, None, operation.device), &[])?;
        let slot = stamps.slots;
        stamps.slots += 1;
        stamps.pairs.insert(body, slot);
        stamps.begun.insert(added, body);
        let after = Vec::from_iter(stamps.last(graph));
        self.add_stamp(definition, stamps, (graph, body, Some(slot), operation.device), &after)
    }

    /// Adds a stamp of a body, which becomes the last node of its graph.
    fn add_stamp(
        &mut self,
        definition: &mut Definition,
        stamps: &mut Stamps,
        (graph, body, slot, device): (RawGraph, ScopeId, Option<usize>, Device),
        after: &[Node],
    ) -> Result<()> {
        let time = stamps.address(device, body.index());
        let slot = slot.map_or(0, |slot| stamps.address(device, stamps.words_before(slot)));
        let words = [Word::new(time), Word::new(slot)];
        let node = self.add_single(definition, (graph, after), (&STAMP, &words), (device, None))?;
        stamps.last.insert(graph, node);
        Ok(())
    }
}
