//! Adds the clock nodes of a profile's graph while its other nodes are added.

use cuweave_core::index::Index;
use cuweave_core::ir::{Device, StatementKind};
use cuweave_core::operation::{Operation, OperationId, OperationKind};
use cuweave_core::scopes::ScopeId;

use crate::build::graph::builder::GraphBuilder;
use crate::build::graph::built::BuiltGraph;
use crate::cuda::{Memset, Node, RawGraph, Word};
use crate::error::{Error, Result};
use crate::kernels::{HUB, STAMP};

use super::stamps::{EMPTY_PAIR, OperationClock, Stamps, wide};

/// A clock kernel of a body.
#[derive(Clone, Copy)]
struct BodyStamp {
    /// The graph of the body.
    graph: RawGraph,
    body: ScopeId,
    /// The slot that accumulates the time since the body's last stamp. `None` for the first stamp.
    slot: Option<usize>,
    device: Device,
}

/// Adds the nodes that precede the first operation: they zero the slots, and time an empty pair of events and
/// an empty kernel.
pub(crate) fn begin_stamps(builder: &mut GraphBuilder<'_>) -> Result<()> {
    let Some(stamps) = builder.stamps.take() else { return Ok(()) };
    let begun = begin(builder, stamps);
    builder.stamps = Some(stamps);
    begun
}

fn begin(builder: &mut GraphBuilder<'_>, stamps: &mut Stamps) -> Result<()> {
    let (graph, definition) = (builder.built.handle.graph, &builder.definition);
    // Counted in elements of 4 bytes.
    let width = 2 * wide(stamps.words_before(builder.built.plan.operations.list.len() + stamps.bodies.len()));
    for (&device, memory) in &stamps.memory {
        let memset = Memset::line(memory.start(), 0, 4, width);
        let after = Vec::from_iter(stamps.last.get(&graph).copied());
        let node = definition.driver.add_fill(graph, &after, &memset, definition.context_of(device))?;
        stamps.last.insert(graph, node);
    }
    for _ in 0..=EMPTY_PAIR {
        let after = Vec::from_iter(stamps.last(graph));
        stamps.add_event(definition, graph, &after)?;
    }
    let after = Vec::from_iter(stamps.last(graph));
    let node = builder.add_single(graph, &after, &HUB, &[], Device::FIRST, None)?;
    stamps.add_event(builder.definition, graph, &[node])?;
    Ok(())
}

/// Adds the clock after the operation that was added last: an event record node, or a stamp in a body.
pub(crate) fn stamp(builder: &mut GraphBuilder<'_>, operation: &Operation) -> Result<()> {
    let Some(stamps) = builder.stamps.take() else { return Ok(()) };
    let stamped = stamp_with(builder, operation, stamps);
    builder.stamps = Some(stamps);
    let at = builder.at(operation);
    stamped.map_err(|error| match error {
        Error::Driver(mut failure) => {
            failure.at.get_or_insert(at);
            Error::Driver(failure)
        }
        other => other,
    })
}

fn stamp_with(builder: &mut GraphBuilder<'_>, operation: &Operation, stamps: &mut Stamps) -> Result<()> {
    let added = OperationId::new(stamps.clocks.len());
    if operation.kind == OperationKind::Statement(StatementKind::Join(())) {
        stamps.clocks.push(OperationClock::Untimed);
        return Ok(());
    }
    let mut after = Vec::new();
    let BuiltGraph { plan, handle, .. } = &*builder.built;
    handle.push_frontier(added, &mut after);
    match builder.bodies.around(&plan.operations, operation) {
        None => {
            stamps.add_event(builder.definition, handle.graph, &after)?;
            stamps.clocks.push(OperationClock::Event(stamps.events.len() - 1));
        }
        Some(body) => {
            let slot = stamps.slots;
            stamps.slots += 1;
            let of = BodyStamp { graph: builder.into, body, slot: Some(slot), device: operation.device };
            add_stamp(builder, stamps, of, &after)?;
            let pair = stamps.pairs.get(&body).copied().unwrap_or(slot);
            stamps.clocks.push(OperationClock::Slot { own: slot, pair });
        }
    }
    if operation.kind != OperationKind::Statement(StatementKind::Condition(())) {
        return Ok(());
    }
    let bodies = &builder.bodies;
    let begun = operation.sources.first().and_then(|&condition| bodies.scopes.bordered(condition));
    let Some(body) = begun else { return Ok(()) };
    let Some(graph) = bodies.graph(Some(body)) else { return Ok(()) };
    let first = BodyStamp { graph, body, slot: None, device: operation.device };
    add_stamp(builder, stamps, first, &[])?;
    let slot = stamps.slots;
    stamps.slots += 1;
    stamps.pairs.insert(body, slot);
    stamps.begun.insert(added, body);
    let after = Vec::from_iter(stamps.last(graph));
    add_stamp(builder, stamps, BodyStamp { slot: Some(slot), ..first }, &after)
}

/// Adds a stamp to a body. It becomes the last node of the body's graph.
fn add_stamp(
    builder: &mut GraphBuilder<'_>,
    stamps: &mut Stamps,
    BodyStamp { graph, body, slot, device }: BodyStamp,
    after: &[Node],
) -> Result<()> {
    let time = stamps.address(device, body.index());
    let slot = slot.map_or(0, |slot| stamps.address(device, stamps.words_before(slot)));
    let words = [Word::new(time), Word::new(slot)];
    let node = builder.add_single(graph, after, &STAMP, &words, device, None)?;
    stamps.last.insert(graph, node);
    Ok(())
}
