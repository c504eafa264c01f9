//! The clocks of a serialised graph: event record nodes and stamps.
//!
//! On the outermost level an event record node stands behind each operation. Bodies of conditional nodes cannot hold such nodes;
//! there a kernel of one thread reads the device's clock, and adds the time since the last stamp of its body to a slot in memory.
//! The time of an empty pair, which is measured in the same launch, is to be subtracted.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use cuweave_core::index::Vector;
use cuweave_core::ir::Device;
use cuweave_core::operation::{OperationId, Operations};
use cuweave_core::scopes::{ScopeId, Scopes};

use crate::build::graph::definition::Definition;
use crate::cuda::{Event, Node, Outcome, RawGraph};
use crate::ranges::Range;
use crate::waits::OwnedEvent;

/// The clock that an operation is timed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    /// The event behind it and the one before that.
    Event(usize),
    /// The slot of its stamp, and that of the empty pair of its body.
    Slot {
        /// Its slot.
        own: usize,
        /// The slot of the empty pair.
        pair: usize,
    },
    /// None: it has no node of its own.
    Untimed,
}

/// The event record nodes and the stamps of a serialised graph.
pub(crate) struct Stamps {
    /// The events, in the order of their nodes.
    pub events: Vec<OwnedEvent>,
    /// The clock of each operation that is added.
    pub clocks: Vector<OperationId, Clock>,
    /// The body that an operation begins.
    pub begun: BTreeMap<OperationId, ScopeId>,
    /// The last node of each graph.
    pub last: BTreeMap<RawGraph, Node>,
    /// The memory of the stamps on each device that has bodies: a time for each body, then the slots, each of two words. Words of bodies
    /// on other devices stay 0.
    pub memory: BTreeMap<Device, Range>,
    /// The body around each body.
    pub bodies: Vector<ScopeId, Option<ScopeId>>,
    /// The number of slots that are used.
    pub slots: usize,
    /// The slot of the empty pair of each body.
    pub pairs: BTreeMap<ScopeId, usize>,
}

/// The events around the empty pair: the first node of a graph may begin late, so the pair stands behind it.
pub(crate) const PAIR: usize = 2;
/// The event behind a kernel that does nothing.
pub(crate) const EMPTY_KERNEL: usize = 3;

impl Stamps {
    /// Returns the stamps of a program with these bodies, none of which is added yet.
    pub fn new(definition: &Definition, operations: &Operations) -> Outcome<Stamps> {
        let scopes = Scopes::of(definition.program());
        let bodies: Vector<ScopeId, _> = scopes.list.iter().map(|scope| scope.parent).collect();
        // One slot for each operation, and for the empty pair of each body.
        let bytes = 8 * wide(words_before(bodies.len(), operations.list.len() + bodies.len()));
        let mut memory = BTreeMap::new();
        for scope in scopes.list.iter() {
            let device = definition.program().statements[scope.condition].device;
            if let Entry::Vacant(entry) = memory.entry(device) {
                let mut range = Range::new(definition.driver, &definition.contexts[device], bytes)?;
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

    /// Returns the node of a graph that the next one stands behind.
    pub fn last(&self, graph: RawGraph) -> Option<Node> {
        self.last.get(&graph).copied()
    }

    fn event(&mut self, definition: &Definition) -> Outcome<Event> {
        self.events.push(OwnedEvent::timing(definition.driver, &definition.ctx)?);
        Ok(self.events.last().map_or(Event::NONE, OwnedEvent::raw))
    }

    /// Adds an event record node, which becomes the last node of the graph.
    pub fn add_event(&mut self, definition: &Definition, graph: RawGraph, after: &[Node]) -> Outcome<()> {
        let event = self.event(definition)?;
        let node = definition.driver.add_event_record(graph, after, event)?;
        self.last.insert(graph, node);
        Ok(())
    }

    /// Returns the number of words before a slot.
    pub fn words_before(&self, slot: usize) -> usize {
        words_before(self.bodies.len(), slot)
    }

    /// Returns the address of a word on a device.
    pub fn address(&self, device: Device, word: usize) -> u64 {
        self.memory.get(&device).map_or(0, |memory| memory.start() + 8 * wide(word))
    }
}

/// Returns the number of words before a slot, where there are so many bodies.
const fn words_before(bodies: usize, slot: usize) -> usize {
    bodies + 2 * slot
}

pub(crate) fn wide(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
