//! The graph behind every graph function's type: its nodes, its operands and what it keeps alive.
//!
//! A `Core` owns the driver's graph and, once instantiated, its exec. Its drop orders everything that follows
//! behind the last launch, and destroys both.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use cudarc::driver::{CudaContext, CudaStream};

use crate::compile;
use crate::ir::{BufferId, Memory, Origin, Program, StatementId};
use crate::launches::Allowed;
use crate::layout::ALIGNMENT;
use crate::operation::{Operation, Operations, Place, What};
use crate::plan::budget::CurvePoint;
use crate::table::Decoded;

use super::arena::Member;
use super::batches::Batches;
use super::build::{Planned, at_buffer, at_statement, plan, plan_error};
use super::config::Shape;
use super::coverage::Finding;
use super::driver::{
    self, Context, Driver, Event, Filling, Launching, Node, RawExec, RawGraph, Scratch, Values, Word,
};
use super::error::{At, Error, Result};
use super::evaluate::{LaunchRecord, Recorded};
use super::hook;
use super::kernel::{Kernel, Param};
use super::limits::Limits;
use super::modules::{FILL64, HUB, Modules};
use super::operand::{Operand, Owners};
use super::output::Slot;
use super::report::BuildTimes;
use super::state::HiddenUses;
use super::waits::{OwnedEvent, OwnedMemory};

/// See the module's page.
pub struct Core {
    pub(super) id: u64,
    pub(super) program: &'static Program,
    /// Where the program comes from, and what evaluates it.
    pub(super) table: &'static Decoded,
    pub(super) driver: &'static Driver,
    pub(super) ctx: Arc<CudaContext>,
    pub(super) context: Context,
    pub(super) graph: RawGraph,
    pub(super) exec: RawExec,
    pub(super) dims: Vec<u64>,
    pub(super) limits: Limits,
    pub(super) modules: Modules,
    pub(super) operations: Arc<Operations>,
    /// The tables of launches that became one.
    pub(super) batches: Batches,
    /// How allocations reach the driver, where that is not the function's own choice.
    pub(super) memory: Option<Memory>,
    /// What stays as it is written, and why.
    pub(super) left_alone: Vec<String>,
    /// Launches that are not proved to write all of their write-only parameters.
    pub(super) open: BTreeMap<StatementId, (&'static Kernel, Vec<Finding>)>,
    /// How long the build took.
    pub(super) times: BuildTimes,
    /// One node an operation.
    pub(super) nodes: Vec<Node>,
    /// One record a statement.
    pub(super) records: Vec<Recorded>,
    /// The values of the launches' parameters.
    pub(super) words: Vec<Word>,
    /// Fills of 8-byte values that a setter may change: kernels, whatever the value is now.
    pub(super) fill_kernels: Vec<bool>,
    /// One operand an argument buffer: operand i stands for buffer i.
    pub(super) operands: Vec<Operand>,
    pub(super) owners: Owners,
    /// The events of pinned memory.
    pub(super) pinned: Vec<Event>,
    /// Whether the next launch waits for the uses that they record.
    pub(super) pinned_pending: bool,
    /// Whether a setter has replaced pinned memory, which launches in flight may still use.
    pub(super) pinned_before: bool,
    /// Where each buffer lies.
    pub(super) bases: Vec<u64>,
    /// The events that each launch is recorded in, besides its own.
    pub(super) recorded: Vec<Event>,
    /// Memory of the exec's own; at most one.
    pub(super) owned: Option<OwnedMemory>,
    /// The variables that its launches share with those of other execs.
    pub(super) hidden: Arc<HiddenUses>,
    /// The pool in whose arena the temporaries lie.
    pub(super) pool: Option<Member>,
    /// One slot an output; that of a taken-over buffer is its maker's.
    pub(super) slots: Vec<Arc<Slot>>,
    /// Records the last launch.
    pub(super) done: Arc<OwnedEvent>,
    /// Whether the last launch is in flight and that event does not record it.
    pub(super) lost: bool,
    /// The stream of the last launch; none before the first.
    pub(super) last: Option<Arc<CudaStream>>,
    /// Whether the end of the exec leaves the last launch in flight: then what it may use is leaked.
    pub(super) leaks: Arc<AtomicBool>,
    /// Events of borrowed operands that a setter has replaced, to be recorded at the end, with their owners.
    pub(super) retired: BTreeMap<Event, usize>,
    /// Whether views of operands were handed out since the last launch.
    pub(super) touched: Cell<bool>,
    /// The statements that use each argument buffer, once a setter has asked.
    pub(super) users: Vec<Vec<StatementId>>,
    /// A failed change left nodes that do not agree with the arguments.
    pub(super) broken: bool,
    /// Room that setters use again.
    pub(super) scratch: Scratch,
    pub(super) spare: Vec<Word>,
}

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

impl Core {
    #[allow(clippy::too_many_arguments)]
    pub(super) fn new(
        table: &'static Decoded,
        driver: &'static Driver,
        ctx: &Arc<CudaContext>,
        dims: Vec<u64>,
        limits: Limits,
        modules: Modules,
        (records, words): (Vec<Recorded>, Vec<Word>),
        operands: Vec<Operand>,
        owners: Owners,
        planned: Planned,
    ) -> Result<Core> {
        let done = OwnedEvent::new(driver, ctx)?;
        let hidden = Arc::new(HiddenUses::of(&records, &modules));
        let program = &table.program;
        let mut core = Core {
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            program,
            table,
            driver,
            ctx: ctx.clone(),
            context: Context::of(ctx),
            graph: RawGraph::NONE,
            exec: RawExec::NONE,
            dims,
            limits,
            modules,
            times: BuildTimes::default(),
            nodes: Vec::with_capacity(planned.operations.list.len()),
            fill_kernels: vec![false; program.statements.len()],
            operations: planned.operations,
            batches: Batches::new(planned.variants),
            memory: None,
            left_alone: planned.left_alone,
            open: BTreeMap::new(),
            records,
            words,
            operands: Vec::new(),
            owners,
            pinned: Vec::new(),
            pinned_pending: true,
            pinned_before: false,
            bases: Vec::new(),
            recorded: Vec::new(),
            owned: None,
            hidden,
            pool: None,
            slots: Vec::new(),
            done: Arc::new(done),
            lost: false,
            last: None,
            leaks: Arc::default(),
            retired: BTreeMap::new(),
            touched: Cell::new(false),
            users: Vec::new(),
            broken: false,
            scratch: Scratch::default(),
            spare: Vec::new(),
        };
        operands.iter().for_each(|operand| core.count(operand, true));
        core.operands = operands;
        Ok(core)
    }

    /// Fills of 8-byte values that a scalar reaches cannot turn from a memset into a kernel later.
    pub(super) fn fixed_kinds(&mut self) {
        for &statement in self.table.scalars.iter().flat_map(|scalar| &scalar.statements) {
            self.fill_kernels[statement as usize] = true;
        }
    }

    /// Adds every node, in order.
    pub(super) fn add_nodes(&mut self) -> Result<()> {
        self.graph = self.driver.create_graph()?;
        self.bases = vec![0; self.program.buffers.len()];
        for (base, operand) in self.bases.iter_mut().zip(&self.operands) {
            *base = operand.address;
        }
        let inside = self.inside();
        let mut memories = vec![0u64; self.operations.memories.len()];
        for (at, offset) in self.without_nodes().0 {
            let address = match &self.pool {
                Some(member) => member.address + offset,
                None => {
                    let began = Instant::now();
                    let address = self.own(at)?;
                    self.times.allocated += began.elapsed();
                    address
                }
            };
            memories[at] = address;
            self.place(&inside[at], address);
        }
        let operations = self.operations.clone();
        self.add_all(&operations.list, &mut memories, &inside)?;
        super::annotate::annotate(self);
        self.make_slots()
    }

    /// The memories that no node makes, each with an offset at which all of them fit into one, and the bytes of that.
    pub(super) fn without_nodes(&self) -> (Vec<(usize, u64)>, u64) {
        let mut end = 0u64;
        let memories = self.operations.memories.iter().enumerate().filter(|(_, memory)| !memory.node);
        let offsets = memories
            .map(|(at, memory)| {
                let offset = end.next_multiple_of(ALIGNMENT);
                end = offset + memory.bytes;
                (at, offset)
            })
            .collect();
        (offsets, end)
    }

    /// Allocates a memory of the exec's own.
    fn own(&mut self, memory: usize) -> Result<u64> {
        let bytes = self.operations.memories[memory].bytes;
        let owned = match &mut self.owned {
            Some(owned) => owned,
            none => none.insert(OwnedMemory::new(self.driver, &self.ctx)?),
        };
        let allocated = owned.allocate(bytes);
        allocated.map_err(|failure| Error::driver(failure, Some(self.at_memory(memory as u32))))
    }

    /// Whether launches are other than they are written.
    fn is_changed(&self) -> bool {
        !self.operations.batches.is_empty() || self.operations.overlapped > 0
    }

    /// After a failure: does it anew with the launches as they are written, where they are not. What is allowed to be
    /// faster may not be what fails.
    pub(super) fn as_written(
        &mut self,
        error: Error,
        anew: impl FnOnce(&mut Core) -> Result<()>,
    ) -> Result<()> {
        if !self.is_changed() {
            return Err(error);
        }
        self.replan(self.memory, Allowed::default())?;
        self.left_alone.push(format!("all launches are as they are written: {error}"));
        anew(self)
    }

    /// Plans anew; what was added is destroyed.
    pub(super) fn replan(&mut self, memory: Option<Memory>, allowed: Allowed) -> Result<()> {
        let known = (self.records.as_slice(), self.words.as_slice());
        let (driver, modules) = (self.driver, &mut self.modules);
        let mut planned =
            plan(self.table, (driver, &self.ctx), &self.dims, known, modules, (memory, allowed))?;
        hook::apply(self.program, &mut planned.operations)?;
        self.destroy_graph();
        self.nodes.clear();
        self.owned = None;
        self.slots.clear();
        self.memory = memory;
        self.operations = planned.operations;
        self.batches = Batches::new(planned.variants);
        self.left_alone = planned.left_alone;
        Ok(())
    }

    /// The buffers that lie in each memory.
    pub(super) fn inside(&self) -> Vec<Vec<BufferId>> {
        let mut inside = vec![Vec::new(); self.operations.memories.len()];
        for (buffer, place) in (0..).zip(&self.operations.places) {
            if let Place::Inside { memory, .. } = *place {
                inside[memory as usize].push(buffer);
            }
        }
        inside
    }

    /// Sets the bases of buffers that lie in a memory at that address.
    pub(super) fn place(&mut self, buffers: &[BufferId], address: u64) {
        for &buffer in buffers {
            if let Place::Inside { offset, .. } = self.operations.places[buffer as usize] {
                self.bases[buffer as usize] = address.wrapping_add(offset);
            }
        }
    }

    fn add_all(&mut self, list: &[Operation], memories: &mut [u64], inside: &[Vec<BufferId>]) -> Result<()> {
        let mut after = Vec::new();
        for operation in list {
            after.clear();
            let full = operation.after.iter().filter(|&&before| operation.programmatic != Some(before));
            after.extend(full.map(|&before| self.nodes[before as usize]));
            let node = self.add(operation, &after, memories, inside)?;
            if let Some(before) = operation.programmatic {
                self.driver
                    .add_early(self.graph, self.nodes[before as usize], node, operation.launch_order)
                    .map_err(|failure| Error::driver(failure, Some(self.at(operation))))?;
            }
            self.nodes.push(node);
        }
        Ok(())
    }

    fn add(
        &mut self,
        operation: &Operation,
        after: &[Node],
        memories: &mut [u64],
        inside: &[Vec<BufferId>],
    ) -> Result<Node> {
        let (driver, graph) = (self.driver, self.graph);
        // Most nodes of most graphs.
        if let (What::Kernel, &[statement]) = (&operation.what, operation.sources.as_slice())
            && let Recorded::Launch(ref launch) = self.records[statement as usize]
        {
            let words = &mut self.words[launch.first as usize..];
            address(&self.operations, &self.bases, (statement, launch), words);
            let values = Values { words, params: launch.kernel.params };
            let launching = launch.launching();
            return driver
                .add_kernel(graph, after, &launching, values, &mut self.scratch)
                .map_err(|failure| Error::driver(failure, Some(self.at(operation))));
        }
        if operation.sources.len() > 1 {
            return self.add_batch(operation, after);
        }
        let added = match operation.what {
            What::Alloc { memory } => {
                let bytes = self.operations.memories[memory as usize].bytes;
                driver.add_alloc(graph, after, bytes, self.ctx.ordinal()).map(|(node, address)| {
                    memories[memory as usize] = address;
                    self.place(&inside[memory as usize], address);
                    node
                })
            }
            What::Free { memory } => driver.add_free(graph, after, memories[memory as usize]),
            What::FreeTaken { buffer } => driver.add_free(graph, after, self.bases[buffer as usize]),
            What::Hub => {
                let function = self.modules.function(&HUB)?.function;
                let launch = Launching { function, grid: [1; 3], block: [1; 3], shared: 0 };
                let none = Values { words: &[], params: HUB.params };
                driver.add_kernel(graph, after, &launch, none, &mut self.scratch)
            }
            What::Kernel | What::Fill | What::Copy => {
                let statement = operation.sources[0];
                let mut words = std::mem::take(&mut self.words);
                let record = self.resolve(statement, self.records[statement as usize], &mut words);
                self.words = words;
                self.records[statement as usize] = record?;
                let params = self.node_of(statement)?;
                let scratch = &mut self.scratch;
                match params {
                    NodeParams::Launch(launch, first, params) => {
                        let values = Values { words: &self.words[first..], params };
                        driver.add_kernel(graph, after, &launch, values, scratch)
                    }
                    NodeParams::Fill(fill) => driver.add_fill(graph, after, &fill, self.context),
                    NodeParams::Copy { from, to, bytes } => {
                        driver.add_copy(graph, after, from, to, bytes, self.context)
                    }
                }
            }
        };
        added.map_err(|failure| Error::driver(failure, Some(self.at(operation))))
    }

    /// A new record with the addresses of its buffers in its words; a fill that no memset can do is a launch.
    pub(super) fn resolve(
        &mut self,
        statement: StatementId,
        record: Recorded,
        words: &mut [Word],
    ) -> Result<Recorded> {
        match record {
            Recorded::Launch(launch) => {
                let words = &mut words[launch.first as usize..];
                address(&self.operations, &self.bases, (statement, &launch), words);
                Ok(record)
            }
            Recorded::Fill { bits, size: 8, first }
                if self.fill_kernels[statement as usize] || bits >> 32 != bits & 0xffff_ffff =>
            {
                let (address, len) = self.end(statement, 0);
                let info = self.modules.function(&FILL64)?;
                let blocks = len.div_ceil(256).clamp(1, 1 << 20) as u32;
                let shape = Shape {
                    grid: [blocks, 1, 1],
                    block: [256.min(info.most_threads.max(1)), 1, 1],
                    shared: 0,
                };
                for (word, value) in words[first as usize..].iter_mut().zip([address, bits, len]) {
                    *word = driver::address_word(value);
                }
                Ok(Recorded::Launch(LaunchRecord { kernel: &FILL64, function: info.function, shape, first }))
            }
            Recorded::Fill { .. } | Recorded::Copy | Recorded::Nothing => Ok(record),
        }
    }

    fn element(&self, buffer: BufferId) -> u64 {
        u64::from(self.program.buffers[buffer as usize].element)
    }

    /// The address and the length, in elements, of a statement's access.
    fn end(&self, statement: StatementId, access: usize) -> (u64, u64) {
        let access = &self.program.statements[statement as usize].accesses[access];
        let (lo, hi) = (self.dims[access.lo as usize], self.dims[access.hi as usize]);
        let address = self.bases[access.buffer as usize].wrapping_add(lo * self.element(access.buffer));
        (address, hi - lo)
    }

    fn place_of(&self, statement: StatementId, access: usize) -> driver::Place {
        let buffer = self.program.statements[statement as usize].accesses[access].buffer;
        let (address, _) = self.end(statement, access);
        match self.program.buffers[buffer as usize].origin {
            Origin::Pinned { .. } => driver::Place::Host(address),
            _ => driver::Place::Device(address),
        }
    }

    /// What a node is given, from its resolved record.
    pub(super) fn node_of(&self, statement: StatementId) -> Result<NodeParams> {
        Ok(match self.records[statement as usize] {
            Recorded::Launch(launch) => {
                NodeParams::Launch(launch.launching(), launch.first as usize, launch.kernel.params)
            }
            Recorded::Fill { bits, size, .. } => {
                let (target, len) = self.end(statement, 0);
                let (element, width) = if size == 8 { (4, len * 2) } else { (size, len) };
                NodeParams::Fill(Filling { target, value: bits as u32, element, width })
            }
            Recorded::Copy => {
                let (from, to) = (self.place_of(statement, 0), self.place_of(statement, 1));
                let buffer = self.program.statements[statement as usize].accesses[0].buffer;
                NodeParams::Copy { from, to, bytes: self.end(statement, 0).1 * self.element(buffer) }
            }
            Recorded::Nothing => {
                return Err(Error::Plan(format!(
                    "{} was not evaluated",
                    at_statement(self.program, statement)
                )));
            }
        })
    }

    fn make_slots(&mut self) -> Result<()> {
        for &buffer in self.program.outputs.iter() {
            let slot = match self.operands.get(buffer as usize).and_then(|operand| operand.slot.clone()) {
                Some(slot) => slot,
                None => {
                    let len = self.dims[self.program.buffers[buffer as usize].len as usize];
                    let len = (len, self.element(buffer), self.table.elements[buffer as usize]);
                    let (at, address) = (at_buffer(self.program, buffer), self.bases[buffer as usize]);
                    Arc::new(Slot::new(self.driver, &self.ctx, address, len, at, self.id)?)
                }
            };
            self.slots.push(slot);
        }
        Ok(())
    }

    /// The place in the source that an operation speaks of.
    pub(super) fn at(&self, operation: &Operation) -> Box<At> {
        match (operation.sources.first(), &operation.what) {
            (Some(&source), _) => at_statement(self.program, source),
            (None, &(What::Alloc { memory } | What::Free { memory })) => self.at_memory(memory),
            (None, &What::FreeTaken { buffer }) => at_buffer(self.program, buffer),
            (None, _) => self.at_function(&operation.name),
        }
    }

    pub(super) fn at_memory(&self, memory: u32) -> Box<At> {
        let inside = |place: &Place| matches!(place, Place::Inside { memory: other, .. } if *other == memory);
        let mut buffers = self.operations.places.iter().enumerate().filter(|(_, place)| inside(place));
        match (buffers.next(), buffers.next()) {
            (Some((buffer, _)), None) => at_buffer(self.program, buffer as BufferId),
            _ => self.at_function(&self.operations.memories[memory as usize].name),
        }
    }

    /// A name of our own, at the line of the function's first statement.
    fn at_function(&self, name: &str) -> Box<At> {
        let line = self.program.statements.first().map_or(0, |statement| statement.line);
        Box::new(At { name: name.to_owned(), file: self.program.file.to_string(), line })
    }

    /// Instantiates; where launches as they are written can be instantiated and others cannot, those.
    pub(super) fn instantiate(&mut self) -> Result<()> {
        super::context::enter(self.driver, &self.ctx)?;
        self.instantiate_added().or_else(|error| {
            self.as_written(error, |core| {
                core.add_nodes()?;
                core.instantiate_added()
            })
        })
    }

    /// Instantiates the nodes that are added.
    pub(super) fn instantiate_added(&mut self) -> Result<()> {
        self.exec = self.driver.instantiate(self.graph).map_err(|(failure, node)| {
            let blamed = self.nodes.iter().position(|&other| other == node);
            Error::driver(failure, blamed.map(|at| self.at(&self.operations.list[at])))
        })?;
        Ok(())
    }

    /// The memory that alloc nodes ask for, in bytes.
    pub(super) fn planned(&self) -> u64 {
        self.operations.memories.iter().map(|memory| memory.bytes).sum()
    }

    /// The temporaries as a picture.
    pub(super) fn memory_svg(&self) -> Result<String> {
        // With the order that a budget added.
        let added = self.operations.budget.iter().flat_map(|budget| budget.edges.iter().copied());
        let edges: Vec<_> = self.program.edges.iter().copied().chain(added).collect();
        compile::memory_svg(self.program, &self.dims, &edges).map_err(|error| plan_error(self.program, error))
    }

    /// The critical path against bytes.
    pub(super) fn budget_curve(&self, points: u64) -> Result<Vec<CurvePoint>> {
        compile::budget_curve(self.program, &self.dims, points)
            .map_err(|error| plan_error(self.program, error))
    }

    /// The taken-over arguments.
    pub(super) fn taken_over(&self) -> impl Iterator<Item = (BufferId, &Arc<Slot>)> {
        (0..).zip(&self.operands).filter_map(|(buffer, operand)| Some((buffer, operand.slot.as_ref()?)))
    }
}

/// Writes the addresses of a launch's buffers into its words.
#[inline]
pub(super) fn address(
    operations: &Operations,
    bases: &[u64],
    (statement, launch): (StatementId, &LaunchRecord),
    words: &mut [Word],
) {
    let pointed = &operations.pointed[operations.pointed_of[statement as usize] as usize..];
    for (word, at) in launch.kernel.address_words().zip(pointed) {
        words[word] = driver::address_word(bases[at.buffer as usize].wrapping_add(at.offset));
    }
}

/// What a node is given.
pub(super) enum NodeParams {
    /// The word at which the parameters begin, and what they are.
    Launch(Launching, usize, &'static [Param]),
    Fill(Filling),
    Copy {
        from: driver::Place,
        to: driver::Place,
        bytes: u64,
    },
}
