//! The nodes of a graph: the driver's graph and exec, and the values that each node is given.

use std::collections::BTreeMap;
use std::sync::Arc;

use cudarc::driver::CudaContext;
use cuweave_core::compile::Decided;
use cuweave_core::index::{Vector, size};
use cuweave_core::ir::{BufferId, Device, DimId, Kind, Program, StatementId};
use cuweave_core::kind::Runs;
use cuweave_core::launches::LeftAlone;
use cuweave_core::layout::ALIGNMENT;
use cuweave_core::operation::{
    ChainId, MemoryId, Operation, OperationId, Operations, Place, Pointed, PointedId, What,
};
use cuweave_core::scopes::Scopes;

use crate::build::arguments::body::Body;
use crate::build::calls::agreed::Agreed;
use crate::build::calls::capture::Captured;
use crate::build::conditional::bodies::Bodies;
use crate::build::conditional::counted::CountedLoops;
use crate::build::merged::tables::{Batches, FusedNode};
use crate::build::plan::planning::Planned;
use crate::build::profile::stamps::Stamps;
use crate::build::program::flattened::Flattened;
use crate::cuda::{CaptureStream, Driver, Node, Outcome, RawExec, RawGraph, Scratch, Values, Word, record};
use crate::error::{At, Error, Result, at_buffer, at_function, at_statement};
use crate::kernels::{Finding, HUB, Kernel};
use crate::statements::{Adding, Emission, Hosts, Record, RecordExt, UnprovedLaunches, address};

use super::annotate::{self, Annotated};
use super::definition::Definition;

/// The nodes of a graph. Whoever owns them destroys them.
pub(crate) struct Nodes {
    pub graph: RawGraph,
    /// The graph that nodes are added to: that, or a body of a conditional node.
    pub(crate) into: RawGraph,
    /// The graphs of the bodies of conditional nodes, by the statements in front of them.
    pub(crate) bodies: BTreeMap<StatementId, RawGraph>,
    /// The number of conditional nodes.
    pub conditions: usize,
    pub exec: RawExec,
    /// The operations that the nodes are made of.
    pub operations: Arc<Operations>,
    /// One node for each operation; for a library call one of its frontier, or none.
    pub nodes: Vector<OperationId, Node>,
    /// The nodes of library calls.
    pub captured: BTreeMap<OperationId, Captured>,
    /// The streams of the devices that capture, while nodes are added.
    pub streams: BTreeMap<Device, CaptureStream>,
    /// One record for each statement.
    pub records: Vector<StatementId, Record>,
    /// The values of the launches' parameters.
    pub words: Vec<Word>,
    /// The address of each buffer.
    pub bases: Vector<BufferId, u64>,
    /// The targets of all accesses, if setters change some.
    pub pointed: Option<Vector<PointedId, Pointed>>,
    /// The tables of batched launches.
    pub batches: Batches,
    /// The parameters of fused launches.
    pub fused: Vector<ChainId, FusedNode>,
    /// Fills of 8-byte values that a setter may change: kernels, whatever the value is now.
    pub fill_kernels: Vector<StatementId, bool>,
    /// Launches that are not proved to write all of their write-only parameters.
    pub unproved: BTreeMap<StatementId, (&'static Kernel, Vec<Finding>)>,
    /// The kernels that are launched as written, and the reasons.
    pub left_alone: Vec<LeftAlone>,
    /// The inputs of the launch decisions.
    pub decided: Decided,
    /// Scratch space of the calls that add and change kernel nodes.
    pub scratch: Scratch,
    /// The functions of host statements, and what their nodes point to.
    pub hosts: Hosts,
    /// The number of the launch that the nodes hold the values of.
    pub launch: u64,
    /// The words of new records while a setter evaluates them.
    pub spare: Vec<Word>,
    /// The loops that count their turns.
    pub(crate) counted: CountedLoops,
    /// The clocks of the serialised graph of a profile.
    pub(crate) stamps: Option<Box<Stamps>>,
    /// The collectives, which are compared between ranks before nodes are added.
    pub(crate) agreed: Agreed,
}

/// The address of a buffer that has no memory. Nothing is loaded from it, but kernels may compare it with 0.
const NOWHERE: u64 = 1 << 40;

impl Nodes {
    /// Returns the nodes of a plan, none of which is added yet.
    pub fn new(
        definition: &Definition,
        (records, words): (Vector<StatementId, Record>, Vec<Word>),
        unproved: UnprovedLaunches,
        planned: Planned,
    ) -> Nodes {
        let batches = Batches::new(planned.variants);
        let fill_kernels = Vector::filled(false, definition.program().statements.len());
        let mut nodes = Nodes::of((planned.operations, batches), (records, words), fill_kernels);
        nodes.left_alone = planned.left_alone;
        nodes.decided = planned.decided;
        nodes.counted = CountedLoops::of(definition.program());
        nodes.fused = planned.fused.into_iter().map(FusedNode::new).collect();
        // A fill of an 8-byte value that a scalar reaches cannot turn from a memset into a kernel later.
        for &statement in definition.flat.scalars.iter().flat_map(|scalar| &scalar.statements) {
            nodes.fill_kernels[statement] = true;
        }
        nodes.record_unproved(&[], unproved);
        nodes.point(definition);
        nodes
    }

    /// Returns the nodes of operations with the records and the words of all statements, none of which is added yet.
    pub(crate) fn of(
        (operations, batches): (Arc<Operations>, Batches),
        (records, words): (Vector<StatementId, Record>, Vec<Word>),
        fill_kernels: Vector<StatementId, bool>,
    ) -> Nodes {
        Nodes {
            graph: RawGraph::NONE,
            into: RawGraph::NONE,
            bodies: BTreeMap::new(),
            conditions: 0,
            exec: RawExec::NONE,
            nodes: Vector::with_capacity(operations.list.len()),
            captured: BTreeMap::new(),
            streams: BTreeMap::new(),
            operations,
            records,
            words,
            bases: Vector::new(),
            pointed: None,
            batches,
            fused: Vector::new(),
            fill_kernels,
            unproved: BTreeMap::new(),
            left_alone: Vec::new(),
            decided: Decided::default(),
            scratch: Scratch::default(),
            hosts: Hosts::default(),
            launch: 0,
            spare: Vec::new(),
            counted: CountedLoops::default(),
            stamps: None,
            agreed: Agreed::default(),
        }
    }

    /// Replaces the plan. The nodes that were added are destroyed.
    pub fn replace(&mut self, definition: &Definition, planned: Planned) {
        self.destroy_graph(definition);
        self.nodes.clear();
        self.captured.clear();
        self.operations = planned.operations;
        self.batches = Batches::new(planned.variants);
        self.fused = planned.fused.into_iter().map(FusedNode::new).collect();
        self.left_alone = planned.left_alone;
        self.decided = planned.decided;
        self.point(definition);
    }

    fn point(&mut self, definition: &Definition) {
        let moves = &definition.flat.moves;
        self.pointed = moves.pointed(&self.operations, definition.program(), &definition.dims);
    }

    /// Creates the graph, with the addresses of the argument buffers.
    pub fn create(&mut self, definition: &Definition, addresses: impl Iterator<Item = u64>) -> Result<()> {
        self.graph = definition.driver.create_graph()?;
        self.bases = Vector::filled(NOWHERE, definition.program().buffers.len());
        self.bases.iter_mut().zip(addresses).for_each(|(base, address)| *base = address);
        Ok(())
    }

    /// Adds every node, in order. `memories` holds the addresses of the memories that no node allocates, and `inside` the
    /// buffers in each memory. `body` runs the bodies of library calls.
    pub fn add_nodes(
        &mut self,
        definition: &mut Definition,
        body: &dyn Body,
        memories: &mut Vector<MemoryId, u64>,
        inside: &Vector<MemoryId, Vec<BufferId>>,
    ) -> Result<()> {
        let operations = self.operations.clone();
        let mut full = Vec::new();
        self.agree(definition, body)?;
        let added = self.add_all(definition, body, operations.list.as_slice(), memories, inside, &mut full);
        self.streams.clear();
        added?;
        self.check_all_captured(definition)?;
        self.note_full(&full);
        annotate::annotate(&self.annotated(definition));
        Ok(())
    }

    /// Returns the number of nodes of the statements of a kind that has several.
    pub(crate) fn nodes_of(&self, kind: Kind<Runs>) -> usize {
        let of_kind =
            self.captured.iter().filter(|(at, _)| self.operations.list[**at].what == What::Statement(kind));
        of_kind.map(|(_, captured)| captured.nodes.len() - captured.inner).sum()
    }

    /// Takes back programmatic edges that were added as full ones.
    fn note_full(&mut self, full: &[OperationId]) {
        if full.is_empty() {
            return;
        }
        let operations = Arc::make_mut(&mut self.operations);
        operations.overlapped -= full.len();
        for &operation in full {
            operations.list[operation].programmatic = None;
        }
    }

    /// Replaces the notes of which of these statements are not proved to write all.
    pub fn record_unproved(&mut self, statements: &[StatementId], unproved: UnprovedLaunches) {
        for statement in statements {
            self.unproved.remove(statement);
        }
        self.unproved.extend(
            unproved.into_iter().map(|(statement, kernel, findings)| (statement, (kernel, findings))),
        );
    }

    /// Returns the names and addresses that the simulated driver is told.
    pub fn annotated<'n>(&'n self, definition: &'n Definition) -> Annotated<'n> {
        Annotated {
            program: definition.program(),
            dims: definition.dims(),
            operations: &self.operations,
            records: &self.records,
            nodes: &self.nodes,
            captured: self.captured.iter().map(|(&at, captured)| (at, captured.nodes.as_slice())).collect(),
            bases: &self.bases,
            graph: self.graph,
            bodies: &self.bodies,
            exec: self.exec,
        }
    }

    /// Destroys the exec, if there is one.
    pub fn destroy_exec(&mut self, definition: &Definition) {
        self.destroy_exec_with(definition.driver, &definition.ctx);
    }

    fn destroy_exec_with(&mut self, driver: &Driver, ctx: &CudaContext) {
        let exec = std::mem::replace(&mut self.exec, RawExec::NONE);
        if exec != RawExec::NONE
            && let Err(failure) = driver.destroy_exec(exec)
        {
            record(ctx, failure);
        }
    }

    /// Destroys the graph, if there is one.
    pub fn destroy_graph(&mut self, definition: &Definition) {
        self.destroy_graph_with(definition.driver, &definition.ctx);
    }

    fn destroy_graph_with(&mut self, driver: &Driver, ctx: &CudaContext) {
        let graph = std::mem::replace(&mut self.graph, RawGraph::NONE);
        if graph != RawGraph::NONE
            && let Err(failure) = driver.destroy_graph(graph)
        {
            record(ctx, failure);
        }
    }

    /// Destroys the exec and the graph, if there are any.
    pub(crate) fn destroy_with(&mut self, driver: &Driver, ctx: &CudaContext) {
        self.destroy_exec_with(driver, ctx);
        self.destroy_graph_with(driver, ctx);
    }

    /// Returns the memories of a device that no node allocates, each with its offset in one block that holds all of them, and the size
    /// of that block in bytes.
    pub(crate) fn without_nodes(&self, device: Device) -> (Vec<(MemoryId, u64)>, u64) {
        let mut end = 0u64;
        let memories = self.operations.memories.enumerate();
        let memories = memories.filter(|(_, memory)| !memory.node && memory.device == device);
        let offsets = memories
            .map(|(at, memory)| {
                let offset = end.next_multiple_of(ALIGNMENT);
                end = offset + memory.bytes;
                (at, offset)
            })
            .collect();
        (offsets, end)
    }

    /// Returns the buffers that lie in each memory.
    pub(crate) fn inside(&self) -> Vector<MemoryId, Vec<BufferId>> {
        let mut inside = Vector::filled(Vec::new(), self.operations.memories.len());
        for (buffer, place) in self.operations.places.enumerate() {
            if let Place::Inside { memory, .. } = *place {
                inside[memory].push(buffer);
            }
        }
        inside
    }

    /// Sets the bases of buffers that lie in a memory at that address.
    pub(crate) fn place(&mut self, buffers: &[BufferId], address: u64) {
        for &buffer in buffers {
            if let Place::Inside { offset, .. } = self.operations.places[buffer] {
                self.bases[buffer] = address.wrapping_add(offset);
            }
        }
    }

    /// Enters the graph that an operation's node is added to, and collects the nodes that it depends on by full edges. Returns the graph
    /// that these are in: for the end of a body that of the body.
    pub(crate) fn put_behind(
        &mut self,
        bodies: &Bodies,
        operation: &Operation,
        programmatic: Option<OperationId>,
        after: &mut Vec<Node>,
    ) -> Result<RawGraph> {
        after.clear();
        let within: Vec<OperationId>;
        let mut before = operation.after.as_slice();
        let mut behind = self.graph;
        if !bodies.is_empty() {
            let scope = bodies.around(&self.operations, operation);
            self.into = bodies.graph(scope).unwrap_or(self.graph);
            let ends_body = operation.what == What::Statement(Kind::Join(()));
            let bordered = operation.sources.first().and_then(|&join| bodies.scopes.bordered(join));
            let scope = if ends_body { bordered } else { scope };
            behind = bodies.graph(scope).unwrap_or(self.graph);
            within = self.within(bodies, operation, scope)?;
            before = &within;
        }
        if let Some(stamps) = &self.stamps {
            after.extend(stamps.last(behind));
        } else {
            let before = before.iter().filter(|&&before| programmatic != Some(before));
            before.for_each(|&before| self.ends(before, after));
        }
        if !self.captured.is_empty() {
            // Calls that captured nothing have the nodes before them for a frontier.
            after.sort_unstable();
            after.dedup();
        }
        Ok(behind)
    }

    /// Adds the nodes of an operation of a kind that has several; `None` for the other kinds.
    pub(crate) fn add_several(
        &mut self,
        definition: &mut Definition,
        body: &dyn Body,
        bodies: &mut Bodies,
        operation: &Operation,
        after: &[Node],
    ) -> Result<Option<Captured>> {
        Ok(Some(match operation.what {
            What::Statement(Kind::Capture(())) => self.capture(definition, body, operation, after)?,
            What::Statement(Kind::Condition(())) => self.begin_body(definition, bodies, operation, after)?,
            What::Statement(Kind::Join(())) => self.end_body(definition, bodies, operation, after)?,
            _ => return Ok(None),
        }))
    }

    /// Adds the nodes to a list that whatever comes after an operation depends on.
    pub(crate) fn ends(&self, operation: OperationId, list: &mut Vec<Node>) {
        match self.captured.get(&operation) {
            Some(captured) => list.extend_from_slice(&captured.frontier),
            None => list.push(self.nodes[operation]),
        }
    }

    pub(crate) fn add(
        &mut self,
        definition: &mut Definition,
        operation: &Operation,
        after: &[Node],
        memories: &mut Vector<MemoryId, u64>,
        inside: &Vector<MemoryId, Vec<BufferId>>,
    ) -> Result<Node> {
        let (driver, graph) = (definition.driver, self.into);
        // The common case, without a search for a batch or a chain.
        if let &[statement] = operation.sources.as_slice()
            && let Kind::Launch(ref launch) = self.records[statement]
        {
            let words = &mut self.words[size(launch.first)..];
            address((&self.operations, self.pointed.as_ref()), &self.bases, (statement, launch), words);
            let values = Values { words, params: launch.kernel.params };
            let launching = launch.launching();
            return driver
                .add_kernel(graph, after, &launching, values, &mut self.scratch)
                .map_err(|failure| Error::driver(failure, Some(self.at(definition.program(), operation))));
        }
        if operation.sources.len() > 1 {
            return match self.operations.chain_of(operation) {
                Some(chain) => self.add_fused(definition, operation, chain, after),
                None => self.add_batch(definition, operation, after),
            };
        }
        let added = match operation.what {
            What::Alloc { memory } => {
                let bytes = self.operations.memories[memory].bytes;
                let others = definition.peers.others(&definition.contexts, &inside[memory]);
                let on = (&*definition.contexts[operation.device], others.as_slice());
                driver.add_alloc(graph, after, bytes, on).map(|(node, address)| {
                    memories[memory] = address;
                    self.place(&inside[memory], address);
                    node
                })
            }
            What::Free { memory } => driver.add_free(graph, after, memories[memory]),
            What::FreeTaken { buffer } => driver.add_free(graph, after, self.bases[buffer]),
            What::Hub => {
                let at = (operation.device, Some(self.at(definition.program(), operation)));
                return self.add_single(definition, (graph, after), (&HUB, &[]), at);
            }
            What::Statement(_) => self.add_statement(definition, operation, after)?,
        };
        added.map_err(|failure| Error::driver(failure, Some(self.at(definition.program(), operation))))
    }

    /// Adds the node of an operation's only statement.
    fn add_statement(
        &mut self,
        definition: &mut Definition,
        operation: &Operation,
        after: &[Node],
    ) -> Result<Outcome<Node>> {
        let (driver, graph, statement) = (definition.driver, self.into, operation.sources[0]);
        if !definition.program().statements[statement].kind.stands_in_bodies()
            && let Some(body) = self.body_name(definition, operation)
        {
            return Err(Error::InBody { at: self.at(definition.program(), operation), body });
        }
        let mut words = std::mem::take(&mut self.words);
        let record = self.resolve(definition, statement, self.records[statement], &mut words);
        self.words = words;
        self.records[statement] = record?;
        let mut scratch = std::mem::take(&mut self.scratch);
        let emission = self.emission(&definition.flat, &definition.dims);
        let added = self.records[statement].node(&emission, statement, |node| {
            let context = definition.context_of(definition.peers.runs(statement, operation.device));
            let (words, scratch) = (&self.words, &mut scratch);
            node.add(Adding { driver, context, graph, after, words, scratch })
        });
        self.scratch = scratch;
        added
    }

    /// Returns the name of the body that nodes are added to, in which the operation stands; `None` outside of bodies.
    pub(crate) fn body_name(&self, definition: &Definition, operation: &Operation) -> Option<String> {
        if self.into == self.graph {
            return None;
        }
        let scopes = Scopes::of(definition.program());
        let body = scopes.around(*operation.sources.first()?)?;
        Some(scopes.name(definition.program(), body))
    }

    /// Returns the addresses that nodes are given.
    pub(crate) fn emission<'n>(&'n self, flat: &'n Flattened, dims: &'n Vector<DimId, u64>) -> Emission<'n> {
        Emission {
            program: flat.checked.program(),
            dims,
            operations: &self.operations,
            pointed: self.pointed.as_ref(),
            bases: &self.bases,
            fill_kernels: &self.fill_kernels,
            hosts: &self.hosts,
            launch: self.launch,
        }
    }

    /// Writes the addresses of its buffers into a record's words, and returns the record; a fill that no memset can do becomes
    /// a launch.
    pub(crate) fn resolve(
        &self,
        definition: &mut Definition,
        statement: StatementId,
        record: Record,
        words: &mut [Word],
    ) -> Result<Record> {
        record.resolve(
            &self.emission(&definition.flat, &definition.dims),
            statement,
            &mut definition.modules,
            words,
        )
    }

    /// True if launches differ from how they are written.
    pub(crate) fn is_changed(&self) -> bool {
        let Operations { batches, chains, overlapped, .. } = &*self.operations;
        !batches.is_empty() || !chains.is_empty() || *overlapped > 0
    }

    /// Returns the place in the source that an operation comes from.
    pub(crate) fn at(&self, program: &Program, operation: &Operation) -> Box<At> {
        match (operation.sources.first(), &operation.what) {
            (Some(&source), _) => at_statement(program, source),
            (None, &(What::Alloc { memory } | What::Free { memory })) => self.at_memory(program, memory),
            (None, &What::FreeTaken { buffer }) => at_buffer(program, buffer),
            (None, _) => at_name(program, &operation.name),
        }
    }

    pub(crate) fn at_memory(&self, program: &Program, memory: MemoryId) -> Box<At> {
        let inside = |place: &Place| matches!(place, Place::Inside { memory: other, .. } if *other == memory);
        let mut buffers = self.operations.places.enumerate().filter(|(_, place)| inside(place));
        match (buffers.next(), buffers.next()) {
            (Some((buffer, _)), None) => at_buffer(program, buffer),
            _ => at_name(program, &self.operations.memories[memory].name),
        }
    }

    /// Instantiates the nodes that are added.
    pub(crate) fn instantiate(&mut self, definition: &Definition) -> Result<()> {
        self.exec = definition.driver.instantiate(self.graph).map_err(|(failure, node)| {
            let of_call = |captured: &Captured| captured.nodes.contains(&node);
            let of_call = self.captured.iter().find(|(_, captured)| of_call(captured)).map(|(&at, _)| at);
            let blamed = of_call.or_else(|| self.nodes.position(|&other| other == node));
            Error::driver(failure, blamed.map(|at| self.at(definition.program(), &self.operations.list[at])))
        })?;
        Ok(())
    }
}

/// Returns the place of a name of the runtime's own: the line of the function's first statement.
fn at_name(program: &Program, name: &str) -> Box<At> {
    let at = program.statements.ids().next().map(|first| at_statement(program, first));
    Box::new(at.unwrap_or_else(|| at_function(program)).with_name(name))
}
