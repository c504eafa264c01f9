//! The serialised graph of a profile: the operations of a graph one behind the other, with clocks between them (`stamps.rs`).
//!
//! The graph allocates its own memory where the graph that is profiled has alloc nodes, and uses the same memory for everything
//! else. It frees what the other one returns.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cudarc::driver::CudaContext;
use cuweave_core::compile::Decided;
use cuweave_core::index::Vector;
use cuweave_core::operation::{MemoryId, Operation, Operations, Place, What};
use cuweave_core::picture::real;
use cuweave_core::scopes::ScopeId;

use crate::build::arguments::body::Body;
use crate::build::calls::agreed::Agreed;
use crate::build::graph::adding::add_nodes;
use crate::build::graph::built::BuiltGraph;
use crate::build::graph::definition::Definition;
use crate::build::graph::handle::GraphHandle;
use crate::build::plan::planning::Plan;
use crate::cuda::{Driver, Event, Outcome, Stream};
use crate::error::Result;
use crate::ranges::Range;
use crate::waits::{self, OwnedEvent};

use super::stamps::{Clock, EMPTY_KERNEL, PAIR, Stamps};

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

/// Returns the plan of the same operations without programmatic edges. Memory that the other graph returns is freed.
fn serialised(plan: &Plan) -> Plan {
    let mut operations = (*plan.operations).clone();
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
                device: block.device,
            });
        }
    }
    Plan {
        operations: Arc::new(operations),
        batched: plan.batched.clone(),
        fused: plan.fused.clone(),
        left_alone: Vec::new(),
        decided: Decided::default(),
    }
}

/// Returns the addresses of the memories that no node allocates.
fn kept_memories(built: &BuiltGraph) -> BTreeMap<MemoryId, u64> {
    let Operations { memories, places, .. } = &*built.plan.operations;
    let inside = places.enumerate().filter_map(|(buffer, place)| match *place {
        Place::Inside { memory, offset } if !memories[memory].node => {
            Some((memory, built.state.bases[buffer].wrapping_sub(offset)))
        }
        _ => None,
    });
    inside.collect()
}

/// The serialised graph of a profile, instantiated. Its drop destroys it.
pub(crate) struct Serial {
    driver: &'static Driver,
    ctx: Arc<CudaContext>,
    built: BuiltGraph,
    stamps: Stamps,
    /// True while a launch may be in flight. Such a graph is leaked, with its memory.
    pub in_flight: bool,
    /// The words of the last launch's stamps.
    words: Vec<u64>,
}

impl Serial {
    /// Builds the serialised graph of the same operations with the same arguments. `body` runs the bodies of library calls
    /// once more.
    pub fn new(
        built: &BuiltGraph,
        definition: &mut Definition,
        body: &dyn Body,
        operands: impl Iterator<Item = u64>,
    ) -> Result<Serial> {
        let (driver, ctx) = (definition.driver, definition.ctx.clone());
        let plan = serialised(&built.plan);
        let stamps = Stamps::new(definition, &plan.operations)?;
        let state = built.state.for_other_graph(&plan);
        let own = BuiltGraph { plan, handle: GraphHandle::new(), state, agreed: Agreed::default() };
        let mut serial = Serial { driver, ctx, built: own, stamps, in_flight: false, words: Vec::new() };
        let Serial { built: own, stamps, .. } = &mut serial;
        own.create(definition, operands)?;
        let inside = own.plan.inside();
        let mut memories = Vector::filled(0u64, own.plan.operations.memories.len());
        for (memory, address) in kept_memories(built) {
            memories[memory] = address;
            own.place(&inside[memory], address);
        }
        add_nodes(own, definition, body, memories, &inside, Some(stamps))?;
        driver.enter(definition.context)?;
        own.instantiate(definition)?;
        if !stamps.memory.is_empty() {
            serial.words = vec![0; stamps.words_before(stamps.slots)];
        }
        Ok(serial)
    }

    /// Calls `give` with the graph, whose nodes it gives the values of the next launch.
    pub fn give_values(&mut self, give: impl FnOnce(&mut BuiltGraph) -> Result<()>) -> Result<()> {
        give(&mut self.built)
    }

    /// Brings the graph to the device.
    pub fn upload(&self, stream: Stream) -> Outcome<()> {
        self.driver.upload(self.built.handle.exec, stream)
    }

    /// Launches the graph.
    pub fn launch(&mut self, stream: Stream) -> Outcome<()> {
        self.driver.launch(self.built.handle.exec, stream)?;
        self.in_flight = true;
        Ok(())
    }

    /// Reads the times of the last launch, which is over.
    pub fn read(&mut self, stream: Stream) -> Outcome<Reading> {
        let stamps = &self.stamps;
        self.words.fill(0);
        let mut words = vec![0; self.words.len()];
        for memory in stamps.memory.values() {
            self.driver.read(memory.start(), &mut words, stream)?;
            self.words.iter_mut().zip(&words).for_each(|(sum, word)| *sum = sum.wrapping_add(*word));
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
        self.built.handle.destroy_exec(self.driver, &self.ctx);
        self.built.handle.destroy_graph(self.driver, &self.ctx);
        let memory = std::mem::take(&mut self.stamps.memory);
        if self.in_flight || !entered {
            self.built.state.hosts.leak();
            memory.into_values().for_each(Range::leak);
        }
    }
}
