//! The serialised graph of a profile: the operations of a graph one behind the other, and behind each what tells the time.
//!
//! On the outermost level an event record node stands behind each operation. Bodies of conditional nodes cannot hold such nodes;
//! there a kernel of one thread reads the device's clock, and adds the time since the last stamp of its body to a slot in memory.
//! The time of an empty pair, which is measured in the same launch, is to be subtracted.
//!
//! The graph allocates its own memory where the graph that is profiled has alloc nodes, and uses the same memory for everything
//! else. It frees what the other one returns.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cudarc::driver::CudaContext;

use crate::index::{Index, Vector};
use crate::ir::Kind;
use crate::operation::{MemoryId, Operation, OperationId, Operations, Place, What};
use crate::scopes::{ScopeId, Scopes};

use crate::runtime::cuda::{
    Driver, Event, Filling, Launching, Node, Outcome, RawGraph, Stream, Values, Word,
};
use crate::runtime::error::{Error, Result};
use crate::runtime::kernels::{HUB, Kernel, STAMP};
use crate::runtime::observe::real;
use crate::runtime::ranges::Range;
use crate::runtime::waits::{self, OwnedEvent};

use super::bodies::Bodies;
use super::body::Body;
use super::definition::Definition;
use super::nodes::Nodes;
use super::tables::Batches;

/// The time of an operation in a launch.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Timed {
    /// The time of all its runs, in microseconds.
    pub time: f64,
    /// The number of its runs.
    pub runs: u64,
    /// The number of turns of the body that it begins.
    pub turns: Option<u64>,
}

/// The times of a launch of a serialised graph.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reading {
    /// The time between two events with nothing between them, in microseconds. It is subtracted from all others.
    pub pair: f64,
    /// The time of a kernel that does nothing, in microseconds.
    pub empty: f64,
    /// The time of each operation.
    pub of: Vec<Timed>,
}

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
pub(super) struct Stamps {
    /// The events, in the order of their nodes.
    events: Vec<OwnedEvent>,
    /// The clock of each operation that is added.
    clocks: Vector<OperationId, Clock>,
    /// The body that an operation begins.
    begun: BTreeMap<OperationId, ScopeId>,
    /// The last node of each graph.
    last: BTreeMap<RawGraph, Node>,
    /// The memory of the bodies' stamps: a time for each body, then the slots, each of two words. `None` without bodies.
    memory: Option<Range>,
    /// The body around each body.
    bodies: Vector<ScopeId, Option<ScopeId>>,
    /// The number of slots that are used.
    slots: usize,
    /// The slot of the empty pair of each body.
    pairs: BTreeMap<ScopeId, usize>,
}

/// The events around the empty pair: the first node of a graph may begin late, so the pair stands behind it.
const PAIR: usize = 2;
/// The event behind a kernel that does nothing.
const EMPTY_KERNEL: usize = 3;

impl Stamps {
    /// Returns the stamps of a program with these bodies, none of which is added yet.
    fn new(definition: &Definition, operations: &Operations) -> Outcome<Stamps> {
        let scopes = Scopes::of(definition.program());
        let bodies: Vector<ScopeId, _> = scopes.list.iter().map(|scope| scope.parent).collect();
        let memory = match bodies.len() {
            0 => None,
            count => {
                // One slot for each operation, and for the empty pair of each body.
                let bytes = 8 * wide(words_before(count, operations.list.len() + count));
                let mut range = Range::new(definition.driver, &definition.ctx, bytes)?;
                range.grow(bytes)?;
                Some(range)
            }
        };
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
    fn add_event(&mut self, definition: &Definition, graph: RawGraph, after: &[Node]) -> Outcome<()> {
        let event = self.event(definition)?;
        let node = definition.driver.add_event_record(graph, after, event)?;
        self.last.insert(graph, node);
        Ok(())
    }

    /// Returns the number of words before a slot.
    fn words_before(&self, slot: usize) -> usize {
        words_before(self.bodies.len(), slot)
    }

    fn address(&self, word: usize) -> u64 {
        self.memory.as_ref().map_or(0, |memory| memory.start() + 8 * wide(word))
    }
}

/// Returns the number of words before a slot, where there are so many bodies.
const fn words_before(bodies: usize, slot: usize) -> usize {
    bodies + 2 * slot
}

fn wide(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

impl Nodes {
    /// Returns the nodes of the serialised graph of the same operations, none of which is added yet.
    fn serialised(&self, definition: &Definition) -> Outcome<Nodes> {
        let mut operations = (*self.operations).clone();
        operations.overlapped = 0;
        operations.list.iter_mut().for_each(|operation| operation.programmatic = None);
        let of_free = |operation: &Operation| match operation.what {
            What::Free { memory } => Some(memory),
            _ => None,
        };
        let freed: BTreeSet<MemoryId> = operations.list.iter().filter_map(of_free).collect();
        for (memory, block) in operations.memories.enumerate() {
            if block.node && !freed.contains(&memory) {
                operations.list.push(Operation {
                    what: What::Free { memory },
                    after: Vec::new(),
                    programmatic: None,
                    launch_order: false,
                    sources: Vec::new(),
                    name: block.name.clone(),
                });
            }
        }
        let stamps = Stamps::new(definition, &operations)?;
        let batches = Batches::new(self.batches.of.iter().map(|batch| batch.variant.clone()).collect());
        let values = (self.records.clone(), self.words.clone());
        let mut nodes = Nodes::of((Arc::new(operations), batches), values, self.fill_kernels.clone());
        nodes.pointed.clone_from(&self.pointed);
        nodes.stamps = Some(Box::new(stamps));
        Ok(nodes)
    }

    /// Returns the addresses of the memories that no node allocates.
    fn kept_memories(&self) -> BTreeMap<MemoryId, u64> {
        let memories = &self.operations.memories;
        let inside = self.operations.places.enumerate().filter_map(|(buffer, place)| match *place {
            Place::Inside { memory, offset } if !memories[memory].node => {
                Some((memory, self.bases[buffer].wrapping_sub(offset)))
            }
            _ => None,
        });
        inside.collect()
    }

    /// Adds what stands before the first operation: the slots are zeroed, and an empty pair and a kernel that does nothing are timed.
    pub(super) fn begin_stamps(&mut self, definition: &mut Definition) -> Result<()> {
        let Some(mut stamps) = self.stamps.take() else { return Ok(()) };
        let begun = self.begin(definition, &mut stamps);
        self.stamps = Some(stamps);
        begun
    }

    fn begin(&mut self, definition: &mut Definition, stamps: &mut Stamps) -> Result<()> {
        let (graph, driver) = (self.graph, definition.driver);
        if stamps.memory.is_some() {
            // In elements of 4 bytes.
            let width = 2 * wide(stamps.words_before(self.operations.list.len() + stamps.bodies.len()));
            let filling = Filling { target: stamps.address(0), value: 0, element: 4, width };
            let node = driver.add_fill(graph, &[], &filling, definition.context)?;
            stamps.last.insert(graph, node);
        }
        for _ in 0..=PAIR {
            let after = Vec::from_iter(stamps.last(graph));
            stamps.add_event(definition, graph, &after)?;
        }
        let after = Vec::from_iter(stamps.last(graph));
        let node = self.add_internal(definition, graph, &after, (&HUB, &[]))?;
        stamps.add_event(definition, graph, &[node])?;
        Ok(())
    }

    /// Adds a kernel of cuweave's with one thread.
    fn add_internal(
        &mut self,
        definition: &mut Definition,
        graph: RawGraph,
        after: &[Node],
        (kernel, words): (&'static Kernel, &[Word]),
    ) -> Result<Node> {
        let function = definition.modules.function(kernel)?.function;
        let launch = Launching { function, grid: [1; 3], block: [1; 3], shared: 0 };
        let values = Values { words, params: kernel.params };
        Ok(definition.driver.add_kernel(graph, after, &launch, values, &mut self.scratch)?)
    }

    /// Adds the event record node, or the stamp, behind the operation that was added last.
    pub(super) fn stamp(
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
                self.add_stamp(definition, stamps, (self.into, body, Some(slot)), &after)?;
                let pair = stamps.pairs.get(&body).copied().unwrap_or(slot);
                stamps.clocks.push(Clock::Slot { own: slot, pair });
            }
        }
        if operation.what != What::Statement(Kind::Condition(())) {
            return Ok(());
        }
        let begun = operation.sources.first().and_then(|&condition| bodies.scope_of(condition));
        let Some((body, _)) = begun else { return Ok(()) };
        let Some(graph) = bodies.graph(Some(body)) else { return Ok(()) };
        self.add_stamp(definition, stamps, (graph, body, None), &[])?;
        let slot = stamps.slots;
        stamps.slots += 1;
        stamps.pairs.insert(body, slot);
        stamps.begun.insert(added, body);
        let after = Vec::from_iter(stamps.last(graph));
        self.add_stamp(definition, stamps, (graph, body, Some(slot)), &after)
    }

    /// Adds a stamp of a body, which becomes the last node of its graph.
    fn add_stamp(
        &mut self,
        definition: &mut Definition,
        stamps: &mut Stamps,
        (graph, body, slot): (RawGraph, ScopeId, Option<usize>),
        after: &[Node],
    ) -> Result<()> {
        let time = stamps.address(body.index());
        let slot = slot.map_or(0, |slot| stamps.address(stamps.words_before(slot)));
        let words = [Word::new(time), Word::new(slot)];
        let node = self.add_internal(definition, graph, after, (&STAMP, &words))?;
        stamps.last.insert(graph, node);
        Ok(())
    }
}

/// The serialised graph of a profile, instantiated. Its drop destroys it.
pub(crate) struct Serial {
    driver: &'static Driver,
    ctx: Arc<CudaContext>,
    nodes: Nodes,
    /// True while a launch may be in flight. Such a graph is leaked, with its memory.
    pub in_flight: bool,
    /// The words of the last launch's stamps.
    words: Vec<u64>,
}

impl Serial {
    /// Builds the serialised graph of the same operations with the same arguments. `body` runs the bodies of library calls once more.
    pub fn new(
        nodes: &Nodes,
        definition: &mut Definition,
        body: &dyn Body,
        operands: impl Iterator<Item = u64>,
    ) -> Result<Serial> {
        let (driver, ctx) = (definition.driver, definition.ctx.clone());
        let own = nodes.serialised(definition)?;
        let mut serial = Serial { driver, ctx, nodes: own, in_flight: false, words: Vec::new() };
        let own = &mut serial.nodes;
        own.create(definition, operands)?;
        let inside = own.inside();
        let mut memories = Vector::filled(0u64, own.operations.memories.len());
        for (memory, address) in nodes.kept_memories() {
            memories[memory] = address;
            own.place(&inside[memory], address);
        }
        own.add_nodes(definition, body, &mut memories, &inside)?;
        driver.enter(definition.context)?;
        own.instantiate(definition)?;
        if let Some(stamps) = own.stamps.as_ref().filter(|stamps| stamps.memory.is_some()) {
            serial.words = vec![0; stamps.words_before(stamps.slots)];
        }
        Ok(serial)
    }

    /// Brings the graph to the device.
    pub fn upload(&self, stream: Stream) -> Outcome<()> {
        self.driver.upload(self.nodes.exec, stream)
    }

    /// Launches the graph.
    pub fn launch(&mut self, stream: Stream) -> Outcome<()> {
        self.driver.launch(self.nodes.exec, stream)?;
        self.in_flight = true;
        Ok(())
    }

    /// Reads the times of the last launch, which is over.
    pub fn read(&mut self, stream: Stream) -> Outcome<Reading> {
        let Some(stamps) = &self.nodes.stamps else { return Ok(Reading::default()) };
        if let (Some(memory), false) = (&stamps.memory, self.words.is_empty()) {
            self.driver.read(memory.start(), &mut self.words, stream)?;
        }
        let read = Slots { stamps, words: &self.words };
        let between = |event: usize| {
            let raw = |at: usize| stamps.events.get(at).map_or(Event::NONE, OwnedEvent::raw);
            self.driver.elapsed(raw(event.saturating_sub(1)), raw(event))
        };
        let pair = between(PAIR)?;
        let mut reading = Reading { pair, empty: (between(EMPTY_KERNEL)? - pair).max(0.0), of: Vec::new() };
        let own = read.of_stamps();
        for (at, &clock) in stamps.clocks.enumerate() {
            let begun = stamps.begun.get(&at);
            let of_stamps = begun.map_or(0.0, |&body| own[body]);
            let (time, runs) = match clock {
                Clock::Untimed => (0.0, 0),
                Clock::Event(event) => (between(event)? - pair - of_stamps, 1),
                Clock::Slot { own, pair } => {
                    let (time, runs) = read.slot(own);
                    (time - read.empty(pair) * real(runs) - of_stamps, runs)
                }
            };
            let turns = begun.and_then(|body| stamps.pairs.get(body)).map(|&pair| read.slot(pair).1);
            reading.of.push(Timed { time: time.max(0.0), runs, turns });
        }
        Ok(reading)
    }
}

/// The slots of a launch.
struct Slots<'r> {
    stamps: &'r Stamps,
    words: &'r [u64],
}

impl Slots<'_> {
    /// Returns the time of a slot in microseconds, and the number of its runs.
    fn slot(&self, slot: usize) -> (f64, u64) {
        let at = self.stamps.words_before(slot);
        let [time, runs] = [at, at + 1].map(|at| self.words.get(at).copied().unwrap_or(0));
        (real(time) / 1000.0, runs)
    }

    /// Returns the mean time of an empty pair.
    fn empty(&self, pair: usize) -> f64 {
        let (time, runs) = self.slot(pair);
        if runs == 0 { 0.0 } else { time / real(runs) }
    }

    /// Returns the time that the stamps in each body took, and in the bodies inside it.
    fn of_stamps(&self) -> Vector<ScopeId, f64> {
        let Stamps { bodies, clocks, pairs, .. } = self.stamps;
        let mut own = Vector::filled(0.0, bodies.len());
        let body_of: BTreeMap<usize, ScopeId> = pairs.iter().map(|(&body, &pair)| (pair, body)).collect();
        for (&pair, &body) in &body_of {
            // The first stamp of each turn, and that of the empty pair.
            own[body] += 2.0 * self.slot(pair).0;
        }
        for clock in clocks {
            if let Clock::Slot { own: slot, pair } = *clock
                && let Some(&body) = body_of.get(&pair)
            {
                own[body] += self.empty(pair) * real(self.slot(slot).1);
            }
        }
        // Inner bodies stand behind those around them.
        for (body, around) in bodies.enumerate().rev() {
            if let Some(around) = *around {
                own[around] += own[body];
            }
        }
        own
    }
}

impl Drop for Serial {
    fn drop(&mut self) {
        let entered = waits::enter(self.driver, &self.ctx);
        self.nodes.destroy_with(self.driver, &self.ctx);
        let memory = self.nodes.stamps.as_mut().and_then(|stamps| stamps.memory.take());
        match memory {
            Some(memory) if self.in_flight || !entered => memory.leak(),
            memory => drop(memory),
        }
    }
}
