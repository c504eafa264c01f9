//! The clocks of a serialised graph: event record nodes and stamps.
//!
//! Outside of bodies, an event record node follows each operation. Conditional bodies cannot contain such
//! nodes. There, a kernel of one thread reads the device's clock, and adds the time since its body's last stamp
//! to a slot in memory.
//!
//! The time of an empty pair of clocks, measured in the same launch, must be subtracted.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use cuweave_core::index::Vector;
use cuweave_core::ir::Device;
use cuweave_core::operation::{OperationId, Operations};
use cuweave_core::scopes::{ScopeId, Scopes};

use crate::build::graph::definition::Definition;
use crate::cuda::{Event, Node, Outcome, RawGraph};
use crate::ranges::ReservedRange;
use crate::waits::OwnedEvent;

/// The clock that times an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OperationClock {
    /// The index of the event after it. Its time counts from the event before that.
    Event(usize),
    /// The slot of its stamp, and the slot of its body's empty pair.
    Slot {
        /// The slot of its stamp.
        own: usize,
        /// The slot of the body's empty pair.
        pair: usize,
    },
    /// Not timed: the operation has no node of its own.
    Untimed,
}

/// The event record nodes and stamps of a serialised graph.
pub(crate) struct Stamps {
    /// The events, in the order of their nodes.
    pub events: Vec<OwnedEvent>,
    /// The clock of each operation added so far.
    pub clocks: Vector<OperationId, OperationClock>,
    /// The body that each condition begins.
    pub begun: BTreeMap<OperationId, ScopeId>,
    /// The last node of each graph.
    pub last: BTreeMap<RawGraph, Node>,
    /// The memory of the stamps on each device that runs bodies: one word for each body's last time, then the
    /// slots of two words each. All devices use the same layout; words of other devices' bodies stay 0.
    pub memory: BTreeMap<Device, ReservedRange>,
    /// The enclosing body of each body.
    pub bodies: Vector<ScopeId, Option<ScopeId>>,
    /// The number of slots in use.
    pub slots: usize,
    /// The slot of each body's empty pair.
    pub pairs: BTreeMap<ScopeId, usize>,
}

/// The index of the event that ends the empty pair. The first node of a graph may begin late, so an event
/// precedes the pair.
pub(crate) const EMPTY_PAIR: usize = 2;
/// The index of the event after the empty kernel.
pub(crate) const EMPTY_KERNEL: usize = 3;

impl Stamps {
    /// Returns the stamps of a program before any is added, and allocates their memory.
    pub fn new(definition: &Definition, operations: &Operations) -> Outcome<Stamps> {
        let scopes = Scopes::new(definition.program());
        let bodies: Vector<ScopeId, _> = scopes.list.iter().map(|scope| scope.parent).collect();
        // One slot for each operation, and one for each body's empty pair.
        let bytes = 8 * wide(words_before(bodies.len(), operations.list.len() + bodies.len()));
        let mut memory = BTreeMap::new();
        for scope in scopes.list.iter() {
            let device = definition.program().statements[scope.condition].device;
            if let Entry::Vacant(entry) = memory.entry(device) {
                let mut range = ReservedRange::new(definition.driver, &definition.contexts[device], bytes)?;
                range.grow(bytes)?;
                entry.insert(range);
            }
        }
        Ok(Stamps {
            events: Vec::new(),
            clocks: Vector::with_capacity(operations.list.len()),
            begun: BTreeMap::new(),
            last: BTreeMap::new(),
            memory,
            bodies,
            slots: 0,
            pairs: BTreeMap::new(),
        })
    }

    /// Returns the last node of a graph.
    pub fn last(&self, graph: RawGraph) -> Option<Node> {
        self.last.get(&graph).copied()
    }

    fn event(&mut self, definition: &Definition) -> Outcome<Event> {
        self.events.push(OwnedEvent::timing(definition.driver, &definition.ctx)?);
        Ok(self.events.last().map_or(Event::NONE, OwnedEvent::raw))
    }

    /// Adds an event record node. It becomes the last node of the graph.
    pub fn add_event(&mut self, definition: &Definition, graph: RawGraph, after: &[Node]) -> Outcome<()> {
        let event = self.event(definition)?;
        let node = definition.driver.add_event_record(graph, after, event)?;
        self.last.insert(graph, node);
        Ok(())
    }

    /// Returns the number of words that precede a slot.
    pub fn words_before(&self, slot: usize) -> usize {
        words_before(self.bodies.len(), slot)
    }

    /// Returns the address of a word on a device.
    pub fn address(&self, device: Device, word: usize) -> u64 {
        self.memory.get(&device).map_or(0, |memory| memory.start() + 8 * wide(word))
    }
}

/// Returns the number of words that precede a slot if there are `bodies` bodies.
const fn words_before(bodies: usize, slot: usize) -> usize {
    bodies + 2 * slot
}

pub(crate) fn wide(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
