//! The serialised graph of a profile: runs a graph's operations in sequence, with the clocks of `stamps.rs` in
//! between, and computes times from them.
//!
//! It allocates its own memory where the profiled graph has alloc nodes, and shares all other memory with it.
//! It also frees the outputs, which the profiled graph would return.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cudarc::driver::CudaContext;
use cuweave_core::compile::Decided;
use cuweave_core::index::Vector;
use cuweave_core::ir::StatementId;
use cuweave_core::operation::{BufferPlacement, MemoryId, Operation, OperationKind, Operations};
use cuweave_core::picture::real;
use cuweave_core::scopes::ScopeId;

use crate::build::arguments::body::Body;
use crate::build::calls::agreed::AgreedCollectives;
use crate::build::graph::adding::add_nodes;
use crate::build::graph::built::BuiltGraph;
use crate::build::graph::definition::Definition;
use crate::build::graph::handle::GraphHandle;
use crate::build::plan::planning::Plan;
use crate::cuda::{Driver, Event, Outcome, Stream};
use crate::error::Result;
use crate::ranges::ReservedRange;
use crate::waits::{self, OwnedEvent};

use super::stamps::{EMPTY_KERNEL, EMPTY_PAIR, OperationClock, Stamps};

/// The measured time of an operation in one launch.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OperationTime {
    /// The total time of all runs, in microseconds.
    pub time: f64,
    /// The number of runs.
    pub runs: u64,
    /// The number of iterations of the body that the operation begins. `None` if it begins no body.
    pub iterations: Option<u64>,
}

/// The times of one launch of a serialised graph.
#[derive(Clone, Debug, Default)]
pub(crate) struct LaunchTimes {
    /// The time between two consecutive events with no node in between, in microseconds. It is subtracted from
    /// all other times.
    pub pair: f64,
    /// The time of an empty kernel, in microseconds.
    pub empty: f64,
    /// The time of each operation.
    pub of: Vec<OperationTime>,
}

/// Returns the plan of the same operations without programmatic edges, with no-op kernels in place of `disabled`
/// statements. Adds free nodes for the memory that the profiled graph returns.
fn serialised(plan: &Plan, disabled: &BTreeSet<StatementId>) -> Plan {
    let mut operations = (*plan.operations).clone();
    operations.overlapped = 0;
    operations.leave_out(disabled);
    for operation in &mut operations.list {
        operation.programmatic = None;
    }
    let of_free = |operation: &Operation| match operation.kind {
        OperationKind::Free { memory } => Some(memory),
        _ => None,
    };
    let freed: BTreeSet<MemoryId> = operations.list.iter().filter_map(of_free).collect();
    for (memory, block) in operations.memories.enumerate() {
        if block.node && !freed.contains(&memory) {
            operations.list.push(Operation {
                kind: OperationKind::Free { memory },
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
        BufferPlacement::Inside { memory, offset } if !memories[memory].node => {
            Some((memory, built.state.bases[buffer].wrapping_sub(offset)))
        }
        _ => None,
    });
    inside.collect()
}

/// The instantiated graph of a profile. Destroyed when dropped.
pub(crate) struct SerialGraph {
    driver: &'static Driver,
    ctx: Arc<CudaContext>,
    built: BuiltGraph,
    stamps: Stamps,
    /// True while a launch may be in flight. If dropped then, host statements' data and the memory of the
    /// stamps are leaked.
    pub in_flight: bool,
    /// The words of the stamps in the last launch.
    words: Vec<u64>,
}

impl SerialGraph {
    /// Builds the serialised graph of the same operations with the same arguments. Runs the bodies of library
    /// calls again, by `body`.
    pub fn new(
        built: &BuiltGraph,
        definition: &mut Definition,
        body: &dyn Body,
        operands: impl Iterator<Item = u64>,
    ) -> Result<SerialGraph> {
        let (driver, ctx) = (definition.driver, definition.ctx.clone());
        let plan = serialised(&built.plan, &built.state.left_out());
        let stamps = Stamps::new(definition, &plan.operations)?;
        let state = built.state.for_other_graph(&plan);
        let own =
            BuiltGraph { plan, handle: GraphHandle::new(), state, agreed: AgreedCollectives::default() };
        let mut serial = SerialGraph { driver, ctx, built: own, stamps, in_flight: false, words: Vec::new() };
        let SerialGraph { built: own, stamps, .. } = &mut serial;
        own.create(definition, operands)?;
        let inside = own.plan.inside();
        let mut memories = Vector::filled(0u64, own.plan.operations.memories.len());
        for (memory, address) in kept_memories(built) {
            memories[memory] = address;
            own.set_addresses(&inside[memory], address);
        }
        add_nodes(own, definition, body, memories, &inside, Some(stamps))?;
        driver.enter(definition.context)?;
        own.instantiate(definition)?;
        if !stamps.memory.is_empty() {
            serial.words = vec![0; stamps.words_before(stamps.slots)];
        }
        Ok(serial)
    }

    /// Calls `give` with the graph, to set the values of the next launch.
    pub fn give_values(&mut self, give: impl FnOnce(&mut BuiltGraph) -> Result<()>) -> Result<()> {
        give(&mut self.built)
    }

    /// Uploads the graph to the device.
    pub fn upload(&self, stream: Stream) -> Outcome<()> {
        self.driver.upload(self.built.handle.exec, stream)
    }

    pub fn launch(&mut self, stream: Stream) -> Outcome<()> {
        self.driver.launch(self.built.handle.exec, stream)?;
        self.in_flight = true;
        Ok(())
    }

    /// Reads the times of the last launch, which must be over.
    pub fn read(&mut self, stream: Stream) -> Outcome<LaunchTimes> {
        let stamps = &self.stamps;
        self.words.fill(0);
        let mut words = vec![0; self.words.len()];
        for memory in stamps.memory.values() {
            self.driver.read(memory.start(), &mut words, stream)?;
            self.words.iter_mut().zip(&words).for_each(|(sum, word)| *sum = sum.wrapping_add(*word));
        }
        let read = StampSlots { stamps, words: &self.words };
        let between = |event: usize| {
            let raw = |at: usize| stamps.events.get(at).map_or(Event::NONE, OwnedEvent::raw);
            self.driver.elapsed(raw(event.saturating_sub(1)), raw(event))
        };
        let pair = between(EMPTY_PAIR)?;
        let mut reading =
            LaunchTimes { pair, empty: (between(EMPTY_KERNEL)? - pair).max(0.0), of: Vec::new() };
        let own = read.of_stamps();
        for (at, &clock) in stamps.clocks.enumerate() {
            let begun = stamps.begun.get(&at);
            let of_stamps = begun.map_or(0.0, |&body| own[body]);
            let (time, runs) = match clock {
                OperationClock::Untimed => (0.0, 0),
                OperationClock::Event(event) => (between(event)? - pair - of_stamps, 1),
                OperationClock::Slot { own, pair } => {
                    let (time, runs) = read.slot(own);
                    (time - read.empty(pair) * real(runs) - of_stamps, runs)
                }
            };
            let iterations = begun.and_then(|body| stamps.pairs.get(body)).map(|&pair| read.slot(pair).1);
            reading.of.push(OperationTime { time: time.max(0.0), runs, iterations });
        }
        Ok(reading)
    }
}

/// The slots of one launch.
struct StampSlots<'r> {
    stamps: &'r Stamps,
    words: &'r [u64],
}

impl StampSlots<'_> {
    /// Returns the total time of a slot in microseconds, and its number of runs.
    fn slot(&self, slot: usize) -> (f64, u64) {
        let at = self.stamps.words_before(slot);
        let [time, runs] = [at, at + 1].map(|at| self.words.get(at).copied().unwrap_or(0));
        (real(time) / 1000.0, runs)
    }

    /// Returns the mean time of an empty pair, in microseconds.
    fn empty(&self, pair: usize) -> f64 {
        let (time, runs) = self.slot(pair);
        if runs == 0 { 0.0 } else { time / real(runs) }
    }

    /// Returns the overhead of the stamps in each body, inner bodies included, in microseconds.
    fn of_stamps(&self) -> Vector<ScopeId, f64> {
        let Stamps { bodies, clocks, pairs, .. } = self.stamps;
        let mut own = Vector::filled(0.0, bodies.len());
        let body_of: BTreeMap<usize, ScopeId> = pairs.iter().map(|(&body, &pair)| (pair, body)).collect();
        for (&pair, &body) in &body_of {
            // For the first stamp of each iteration, and for the stamp of the empty pair.
            own[body] += 2.0 * self.slot(pair).0;
        }
        for clock in clocks {
            if let OperationClock::Slot { own: slot, pair } = *clock
                && let Some(&body) = body_of.get(&pair)
            {
                own[body] += self.empty(pair) * real(self.slot(slot).1);
            }
        }
        // Inner bodies follow outer ones in the list.
        for (body, around) in bodies.enumerate().rev() {
            if let Some(around) = *around {
                own[around] += own[body];
            }
        }
        own
    }
}

impl Drop for SerialGraph {
    fn drop(&mut self) {
        let entered = waits::enter(self.driver, &self.ctx);
        self.built.handle.destroy_exec(self.driver, &self.ctx);
        self.built.handle.destroy_graph(self.driver, &self.ctx);
        let memory = std::mem::take(&mut self.stamps.memory);
        if self.in_flight || !entered {
            self.built.state.hosts.leak();
            memory.into_values().for_each(ReservedRange::leak);
        }
    }
}
