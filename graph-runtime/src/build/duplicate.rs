//! A second graph of the same program, for a verification: with the same operands, values and statements, but with
//! temporaries and outputs in memory of its own.
//!
//! It has no memory nodes. Its memory is mapped for its whole life, so that it can be launched repeatedly, its outputs
//! stay readable, and the operands that the program takes over stay allocated. The memory lies at the offsets of the
//! first graph's within 4 KiB, since kernels may choose their code by the alignment of an address.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cudarc::driver::CudaContext;
use cuweave_core::compile::Decided;
use cuweave_core::index::Vector;
use cuweave_core::ir::{BufferId, Device, Memory, Origin, Program, StatementId, StatementKind};
use cuweave_core::launches::Allowed;
use cuweave_core::layout::ALIGNMENT;
use cuweave_core::operation::{BufferPlacement, MemoryId, Operation, OperationId, OperationKind, Operations};
use cuweave_core::scopes::Scopes;

use crate::build::arguments::body::Body;
use crate::build::calls::agreed::AgreedCollectives;
use crate::build::graph::adding::{add_nodes, freed_memory};
use crate::build::graph::built::BuiltGraph;
use crate::build::graph::definition::Definition;
use crate::build::graph::handle::GraphHandle;
use crate::build::plan::planning::{Plan, PlanOptions, plan};
use crate::build::plan::ranged::RangedLaunches;
use crate::cuda::{Context, Driver, Function, Memset, Node, Outcome, RawGraph, Scratch, Stream};
use crate::error::Result;
use crate::kernels::{LaunchRecord, Modules};
use crate::ranges::ReservedRange;
use crate::waits::{self, SideStream};

/// The distance at which addresses count as equally aligned, in bytes.
const ALIGNED_TO: u64 = 4096;

/// The form of a duplicate.
#[derive(Clone, Copy)]
pub(crate) enum DuplicateForm<'s> {
    /// The launches as written, of kernels as written, with a place of its own for each temporary. Freed memory is
    /// overwritten.
    AsWritten,
    /// The same operations.
    Same,
    /// Planned again, with these launches as written and the given lowering of allocations.
    Without(&'s BTreeSet<StatementId>, Option<Memory>),
}

impl DuplicateForm<'_> {
    /// Returns true if a launch is of the kernel as written.
    fn launches_as_written(&self, statement: StatementId) -> bool {
        match self {
            DuplicateForm::AsWritten => true,
            DuplicateForm::Same => false,
            DuplicateForm::Without(statements, _) => statements.contains(&statement),
        }
    }
}

/// A second graph of the same program. Destroyed when dropped.
pub(crate) struct DuplicateGraph {
    driver: &'static Driver,
    ctx: Arc<CudaContext>,
    built: BuiltGraph,
    /// The kernels as written.
    written: Modules,
    memory: Vec<ReservedRange>,
    /// The memsets that overwrite freed memory.
    fills: Vec<(Node, Memset, Context)>,
    /// True while a launch may be in flight. If dropped then, the memory and the modules are leaked.
    in_flight: bool,
}

impl DuplicateGraph {
    /// Builds and instantiates a duplicate of `built`. Runs the bodies of library calls again, by `body`.
    pub fn new(
        built: &BuiltGraph,
        definition: &mut Definition,
        body: &dyn Body,
        operands: &[u64],
        form: DuplicateForm<'_>,
    ) -> Result<DuplicateGraph> {
        let plan = plan_of(built, definition, form)?;
        let (driver, ctx) = (definition.driver, definition.ctx.clone());
        let why = Err("a verification launches the kernels as they are written".to_owned());
        let mut written = Modules::new(driver, definition.contexts.clone(), why);
        let mut state = built.state.for_other_graph(&plan);
        for (statement, record) in state.records.enumerate_mut() {
            if let StatementKind::Launch(launch) = record
                && form.launches_as_written(statement)
            {
                let device = definition.program().statements[statement].device;
                launch_as_written(launch, device, &mut written)?;
            }
        }
        driver.enter(definition.context)?;
        let own =
            BuiltGraph { plan, handle: GraphHandle::new(), state, agreed: AgreedCollectives::default() };
        let (memory, fills) = (Vec::new(), Vec::new());
        let mut duplicate =
            DuplicateGraph { driver, ctx, built: own, written, memory, fills, in_flight: false };
        duplicate.built.create(definition, operands.iter().copied())?;
        let memories = duplicate.map(built, definition)?;
        let inside = duplicate.built.plan.inside();
        for (memory, &address) in memories.enumerate() {
            duplicate.built.set_addresses(&inside[memory], address);
        }
        add_nodes(&mut duplicate.built, definition, body, memories.clone(), &inside, None)?;
        driver.enter(definition.context)?;
        duplicate.built.instantiate(definition)?;
        duplicate.collect_fills(definition, &memories);
        Ok(duplicate)
    }

    /// Maps the memory. Returns the address of each block.
    fn map(&mut self, first: &BuiltGraph, definition: &Definition) -> Result<Vector<MemoryId, u64>> {
        let Definition { contexts, peers, .. } = definition;
        let operations = self.built.plan.operations.clone();
        let inside = self.built.plan.inside();
        let mut addresses = Vector::filled(0, operations.memories.len());
        let mut of_devices: BTreeMap<Device, (u64, Vec<MemoryId>)> = BTreeMap::new();
        for (memory, block) in operations.memories.enumerate() {
            let (end, list) = of_devices.entry(block.device).or_default();
            let place = next_place(*end, first, definition.program(), &operations, &inside[memory]);
            addresses[memory] = place;
            *end = place + block.bytes;
            list.push(memory);
        }
        for (device, (bytes, list)) in of_devices {
            let buffers: Vec<BufferId> = list.iter().flat_map(|&at| inside[at].iter().copied()).collect();
            self.driver.enter(definition.context_of(device))?;
            let mut range = ReservedRange::new(self.driver, &contexts[device], bytes)?;
            range.share(peers.peer_handles(contexts, &buffers));
            range.grow(bytes)?;
            list.iter().for_each(|&memory| addresses[memory] += range.start());
            self.memory.push(range);
        }
        self.driver.enter(definition.context)?;
        Ok(addresses)
    }

    fn collect_fills(&mut self, definition: &Definition, memories: &Vector<MemoryId, u64>) {
        let operations = &self.built.plan.operations;
        for (at, operation) in operations.list.enumerate() {
            if let OperationKind::Free { memory } = operation.kind {
                let fill = freed_memory(memories[memory], operations.memories[memory].bytes, 0);
                let node = self.built.handle.nodes[at];
                self.fills.push((node, fill, definition.context_of(operation.device)));
            }
        }
    }

    /// Returns the address of a buffer.
    pub fn address(&self, buffer: BufferId) -> u64 {
        self.built.state.bases[buffer]
    }

    /// Returns its graph, and the PTX of the kernels as written.
    pub fn read(&self) -> (RawGraph, Vec<&'static str>) {
        (self.built.handle.graph, self.written.texts())
    }

    /// Returns the function that a statement launches. `None` for other statements.
    pub fn function(&self, statement: StatementId) -> Option<Function> {
        match &self.built.state.records[statement] {
            StatementKind::Launch(launch) => Some(launch.function),
            _ => None,
        }
    }

    /// Sets all bytes of its memory to a value, and those of freed memory in the next launches. Waits for it.
    pub fn overwrite(&mut self, value: u8) -> Outcome<()> {
        let mut scratch = Scratch::default();
        for (node, fill, context) in &mut self.fills {
            *fill = freed_memory(fill.target, fill.width * u64::from(fill.element), value);
            self.driver.set_fill(self.built.handle.exec, *node, fill, *context, &mut scratch)?;
        }
        for range in &self.memory {
            self.driver.enter(Context::from_cudarc(range.context()))?;
            let side = SideStream::shared(self.driver, range.context())?;
            self.driver.set_bytes(range.start(), value, range.bytes(), side.raw())?;
            self.driver.synchronize(side.raw())?;
        }
        self.driver.enter(Context::from_cudarc(&self.ctx))
    }

    /// Launches the graph and waits for it.
    pub fn run(&mut self, stream: Stream) -> Outcome<()> {
        self.driver.launch(self.built.handle.exec, stream)?;
        self.in_flight = true;
        let over = self.driver.synchronize(stream).or_else(|_| self.driver.synchronize_context());
        self.in_flight = over.is_err_and(|failure| !failure.ends_the_context());
        over
    }
}

impl Drop for DuplicateGraph {
    fn drop(&mut self) {
        let entered = waits::enter(self.driver, &self.ctx);
        self.built.handle.destroy_exec(self.driver, &self.ctx);
        self.built.handle.destroy_graph(self.driver, &self.ctx);
        if self.in_flight || !entered {
            self.written.leak();
            std::mem::take(&mut self.memory).into_iter().for_each(ReservedRange::leak);
        }
    }
}

/// Returns the plan of a duplicate.
fn plan_of(built: &BuiltGraph, definition: &mut Definition, form: DuplicateForm<'_>) -> Result<Plan> {
    let Definition { flat, driver, contexts, modules, context, aliases, mappings, empty_at_zero, .. } =
        definition;
    let emptied = &empty_at_zero.statements;
    let (program, functions) = (flat.checked.program(), flat.checked.functions());
    let options = match form {
        DuplicateForm::Same => None,
        DuplicateForm::AsWritten => Some(PlanOptions {
            memory: Some(Memory::Nodes),
            unlimited: true,
            allowed: Allowed::default(),
            as_written: BTreeSet::new(),
            emptied,
            aliases,
            mappings,
            ranged: &RangedLaunches::new(),
        }),
        DuplicateForm::Without(statements, memory) => Some(PlanOptions {
            memory,
            unlimited: true,
            allowed: Allowed::of(program, functions),
            as_written: statements.clone(),
            emptied,
            aliases,
            mappings,
            ranged: &RangedLaunches::new(),
        }),
    };
    let overwrites = matches!(form, DuplicateForm::AsWritten);
    let mut planned = match options {
        Some(options) => {
            let (records, words) = (&built.state.records, &built.state.words);
            let planned = plan(flat, driver, contexts, records, words, modules, options)?;
            driver.enter(*context)?;
            planned
        }
        None => Plan {
            operations: built.plan.operations.clone(),
            batched: built.plan.batched.clone(),
            fused: built.plan.fused.clone(),
            left_alone: Vec::new(),
            decided: Decided::default(),
        },
    };
    let mut operations = without_memory_nodes(&planned.operations, flat.checked.program(), overwrites);
    operations.leave_out(&built.state.empty);
    planned.operations = Arc::new(operations);
    Ok(planned)
}

/// Returns the operations without alloc and free nodes. With `overwrites`, memory outside of conditional bodies is
/// overwritten where it was freed: such an operation frees memory that no node allocates.
///
/// No order is lost, because paths through memory nodes join no operations that the program does not order.
fn without_memory_nodes(operations: &Operations, program: &Program, overwrites: bool) -> Operations {
    let scopes = Scopes::new(program);
    let is_in_body = |buffer: BufferId| match program.buffers[buffer].origin {
        Origin::Alloc(at) => scopes.around(at).is_some(),
        _ => false,
    };
    let of_body: BTreeSet<MemoryId> = operations
        .places
        .enumerate()
        .filter(|(buffer, _)| is_in_body(*buffer))
        .filter_map(|(_, place)| match *place {
            BufferPlacement::Inside { memory, .. } => Some(memory),
            _ => None,
        })
        .collect();
    let mut new: Vector<OperationId, Option<OperationId>> = Vector::with_capacity(operations.list.len());
    let mut list = Vector::with_capacity(operations.list.len());
    for operation in &operations.list {
        let stays = match operation.kind {
            OperationKind::Alloc { .. } | OperationKind::FreeTaken { .. } => false,
            OperationKind::Free { memory } => overwrites && !of_body.contains(&memory),
            OperationKind::Statement(_) | OperationKind::Hub => true,
        };
        let added = stays.then(|| {
            list.push(Operation {
                after: operation.after.iter().filter_map(|&before| new[before]).collect(),
                programmatic: operation.programmatic.and_then(|before| new[before]),
                ..operation.clone()
            })
        });
        new.push(added);
    }
    let mut own = Operations { list, ..operations.clone() };
    own.memories.iter_mut().for_each(|block| block.node = false);
    own.index(program.statements.len());
    own
}

/// Returns the first place from `end` on for a block with these buffers, at which the first of them is aligned as in
/// the first graph.
fn next_place(
    end: u64,
    first: &BuiltGraph,
    program: &Program,
    operations: &Operations,
    inside: &[BufferId],
) -> u64 {
    let Some(&buffer) = inside.first() else { return end.next_multiple_of(ALIGNMENT) };
    let BufferPlacement::Inside { offset, .. } = operations.places[buffer] else { return end };
    let align = inside.iter().map(|&buffer| u64::from(program.buffers[buffer].align)).max().unwrap_or(0);
    let modulus = align.max(ALIGNED_TO);
    let placed = matches!(first.plan.operations.places[buffer], BufferPlacement::Inside { .. });
    let known = if placed { first.state.bases[buffer].wrapping_sub(offset) % modulus } else { 0 };
    // In another plan the blocks differ, so their first buffers may be at any distance.
    let known = if known.is_multiple_of(ALIGNMENT.max(align)) { known } else { 0 };
    end.next_multiple_of(modulus) + known
}

/// Makes a launch one of the kernel as written.
fn launch_as_written(launch: &mut LaunchRecord, device: Device, written: &mut Modules) -> Result<()> {
    let info = written.function(device, launch.kernel)?;
    if launch.shape.shared > info.dynamic_shared {
        written.raise_dynamic_shared(device, launch.kernel, launch.shape.shared)?;
    }
    launch.function = info.function;
    Ok(())
}
