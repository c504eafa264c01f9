//! The half of a certificate that describes the planned graph: nodes, edges, bodies and the places of memory.
//!
//! Each planned operation adds its nodes and edges. A condition adds a node that sets it and a node that runs its
//! body, or one for all arms if the driver has them as one node. The join of a loop adds the node that decides on
//! the next iteration.

use cuweave_check::certificate as c;
use cuweave_core::index::{Index, Vector, between, size};
use cuweave_core::ir::{BufferId, Device, Origin, StatementId, StatementKind};
use cuweave_core::operation::{BufferPlacement, MemoryId, Operation, OperationId, OperationKind};
use cuweave_core::scopes::{ConditionalBody, ScopeId};

use crate::build::{is_one_node, memory_device};
use crate::cuda;
use crate::kernels::{ENTRY, LaunchRecord};
use crate::statements::StatementRecordExt;

use super::CertificateBuilder;
use super::source::Numbering;

/// The graph under construction.
pub(super) struct PlanBuilder<'r> {
    pub numbering: &'r Numbering,
    pub source: &'r c::Source,
    pub plan: c::Plan,
    /// The operation of each node.
    pub operations: Vec<OperationId>,
    /// The operation whose nodes are being added.
    at: OperationId,
    /// For each operation, the node on which nodes of later operations depend.
    last: Vector<OperationId, Option<usize>>,
    /// The node that runs each body.
    branches: Vector<ScopeId, Option<usize>>,
}

impl PlanBuilder<'_> {
    fn add(&mut self, node: c::Node) -> usize {
        self.plan.nodes.push(node);
        self.operations.push(self.at);
        self.plan.nodes.len() - 1
    }

    fn add_edge(&mut self, from: usize, to: usize, port: c::Port) {
        // The arms of one conditional node share it.
        if from != to {
            self.plan.edges.push(c::Edge { from, to, port });
        }
    }
}

impl CertificateBuilder<'_> {
    /// Returns the graph built from the planned operations.
    pub(super) fn plan<'r>(&self, source: &'r c::Source, numbering: &'r Numbering) -> PlanBuilder<'r> {
        let operations = &self.built.plan.operations;
        let mut builder = PlanBuilder {
            numbering,
            source,
            plan: c::Plan { blocks: self.blocks(), ..c::Plan::default() },
            operations: Vec::with_capacity(operations.list.len()),
            at: OperationId::from_u32(0),
            last: Vector::filled(None, operations.list.len()),
            branches: Vector::filled(None, numbering.scopes.list.len()),
        };
        for (at, operation) in operations.list.enumerate() {
            builder.at = at;
            builder.last[at] = self.add_operation(&mut builder, operation);
        }
        // Several operations may end in one node, which makes duplicate edges.
        builder.plan.edges.sort_unstable_by_key(|edge| (edge.to, edge.from, edge.port == c::Port::Early));
        builder.plan.edges.dedup();
        builder.plan.places = self.places(&builder, source.memories.len());
        builder
    }

    fn blocks(&self) -> Vec<c::Block> {
        let operations = &self.built.plan.operations;
        let inside = self.built.plan.inside();
        let address = |memory: MemoryId| {
            let base = |&buffer: &BufferId| match operations.places[buffer] {
                BufferPlacement::Inside { offset, .. } => {
                    Some(self.built.state.bases.get(buffer)?.wrapping_sub(offset))
                }
                BufferPlacement::Bound | BufferPlacement::Nowhere => None,
            };
            inside[memory].first().and_then(base).unwrap_or(0)
        };
        let blocks = operations.memories.enumerate();
        blocks
            .map(|(at, block)| c::Block { address: address(at), bytes: block.bytes, node: block.node })
            .collect()
    }

    fn places(&self, builder: &PlanBuilder<'_>, count: usize) -> Vec<c::MemoryPlacement> {
        let operations = &self.built.plan.operations;
        let of = |buffer: BufferId| {
            let at = match operations.places[buffer] {
                BufferPlacement::Inside { memory, offset } => {
                    c::Storage::In { block: memory.index(), offset }
                }
                BufferPlacement::Bound => c::Storage::Own,
                BufferPlacement::Nowhere if operations.elided.contains(&buffer) => {
                    self.register_node(builder, buffer)
                }
                BufferPlacement::Nowhere => match builder.source.memories[buffer.index()].origin {
                    c::Origin::Temporary(_) => c::Storage::Unused,
                    _ => c::Storage::Own,
                },
            };
            c::MemoryPlacement { at, devices: self.devices(buffer) }
        };
        let mut places: Vec<c::MemoryPlacement> = operations.places.ids().map(of).collect();
        places.resize(count, c::MemoryPlacement { at: c::Storage::Own, devices: Vec::new() });
        places
    }

    /// Returns the node in whose registers a buffer stays: the fused node of its users.
    fn register_node(&self, builder: &PlanBuilder<'_>, buffer: BufferId) -> c::Storage {
        let uses = |node: &c::Node| match &node.work {
            c::NodeWork::Run { members, .. } => members.iter().any(|member| {
                let accesses = &builder.source.statements[member.statement].accesses;
                accesses.iter().any(|access| access.memory == buffer.index())
            }),
            _ => false,
        };
        builder.plan.nodes.iter().position(uses).map_or(c::Storage::Unused, c::Storage::Registers)
    }

    /// Returns the devices that can access a buffer. Empty if all can.
    fn devices(&self, buffer: BufferId) -> Vec<u32> {
        let (definition, operand) = (self.definition, self.operands.get(buffer.index()));
        if operand.is_some_and(|operand| operand.managed_state().is_some()) {
            return Vec::new();
        }
        let Some(own) = memory_device(definition.program(), buffer, self.operands) else { return Vec::new() };
        let same = |device: &Device| *definition.contexts[*device] == *definition.contexts[own];
        let devices = definition
            .contexts
            .ids()
            .filter(|device| same(device) || definition.peers.reaches(buffer, *device));
        devices.map(Device::as_u32).collect()
    }

    /// Adds the nodes of an operation and their incoming edges. Returns the node on which later operations depend.
    fn add_operation(&self, builder: &mut PlanBuilder<'_>, operation: &Operation) -> Option<usize> {
        match operation.kind {
            OperationKind::Statement(StatementKind::Condition(())) => self.add_branch(builder, operation),
            OperationKind::Statement(StatementKind::Join(())) => self.add_loop_setter(builder, operation),
            _ => {
                let scope = self.built.plan.operations.body_of(&builder.numbering.scopes, operation);
                let node = c::Node {
                    name: operation.name.to_string(),
                    body: Numbering::body(scope),
                    device: operation.device.as_u32(),
                    waits: self.waits(operation),
                    work: self.work(builder, operation),
                };
                let node = builder.add(node);
                self.add_incoming_edges(builder, operation, node);
                Some(node)
            }
        }
    }

    /// Adds the incoming edges of a node: from its operation's predecessors in the same body.
    fn add_incoming_edges(&self, builder: &mut PlanBuilder<'_>, operation: &Operation, node: usize) {
        for &before in &operation.after {
            let Some(last) = builder.last[before] else { continue };
            // A body's nodes have no edge from the node that runs the body.
            let inside = |bodies: &[usize]| bodies.contains(&builder.plan.nodes[node].body);
            if matches!(&builder.plan.nodes[last].work, c::NodeWork::Branch(bodies) if inside(bodies)) {
                continue;
            }
            let early = operation.programmatic == Some(before);
            builder.add_edge(last, node, if early { c::Port::Early } else { c::Port::End });
        }
    }

    fn waits(&self, operation: &Operation) -> bool {
        let backend_options = &self.built.plan.decided.backend_options;
        let waits = |id: &StatementId| {
            let launch = self.built.launch_facts(*id);
            launch.is_some_and(|launch| launch.waits) || backend_options.setters.contains(id)
        };
        !operation.sources.is_empty() && operation.sources.iter().all(waits)
    }

    fn work(&self, builder: &PlanBuilder<'_>, operation: &Operation) -> c::NodeWork {
        match &operation.kind {
            OperationKind::Alloc { memory } => c::NodeWork::Alloc(memory.index()),
            OperationKind::Free { memory } => c::NodeWork::Free(memory.index()),
            OperationKind::FreeTaken { buffer } => c::NodeWork::FreeTaken(
                buffer.index(),
                self.built.state.bases.get(*buffer).copied().unwrap_or(0),
            ),
            OperationKind::Statement(_) | OperationKind::Hub => {
                let number = |id: StatementId| builder.numbering.number_of[id].unwrap_or(0);
                let chain = self.built.plan.operations.chain_of(operation);
                let mut forwards = Vec::new();
                let mut members = Vec::new();
                match chain.map(|chain| (chain, &self.built.plan.operations.chains[chain])) {
                    Some((at, chain)) => {
                        let fused = self.built.plan.fused.get(at).and_then(|fused| fused.forward.as_ref());
                        for (lane, launches) in chain.chains().enumerate() {
                            let of = launches.iter().map(|&id| self.member(builder, id, lane, true));
                            let mut of: Vec<c::Member> = of.collect();
                            if let Some(forward) = fused {
                                self.mark_elided_stores(forward, launches, &mut of);
                                forwards.extend(self.forwards(forward, launches, number));
                            }
                            members.extend(of);
                        }
                    }
                    None => {
                        let of = operation.sources.iter().enumerate();
                        members.extend(of.map(|(lane, &id)| self.member(builder, id, lane, false)));
                    }
                }
                c::NodeWork::Run { members, forwards }
            }
        }
    }

    fn member(&self, builder: &PlanBuilder<'_>, id: StatementId, lane: usize, fused: bool) -> c::Member {
        let statement = builder.numbering.number_of[id].unwrap_or(0);
        let count = builder.source.statements[statement].accesses.len();
        let touches = if fused { self.touches(id, count) } else { Vec::new() };
        let addresses = self.addresses(id, count);
        c::Member { statement, lane, addresses, touches, ..c::Member::default() }
    }

    /// Returns the addresses that a launch gets, in the order of its accesses, with 0 for state. Empty for
    /// other statements.
    fn addresses(&self, id: StatementId, count: usize) -> Vec<u64> {
        let record = &self.built.state.records[id];
        let Some(launch) = record.launch().filter(|_| record.is_user_launch()) else { return Vec::new() };
        let words = &self.built.state.words[size(launch.first)..];
        let mut given: Vec<u64> =
            launch.kernel.address_words().map(|word| cuda::number(words[word])).collect();
        given.extend(self.pointed(id, launch));
        self.by_access(id, count, &given)
    }

    /// Returns the addresses in the entries of a launch's pointer tables, in the order of its accesses through them.
    pub(super) fn pointed(&self, id: StatementId, launch: &LaunchRecord) -> Vec<u64> {
        let program = self.definition.program();
        let buffers = launch.kernel.params.iter().filter(|param| !param.is_scalar());
        let tables = program.statements[id].accesses.iter().zip(buffers).filter(|(_, param)| param.table);
        let mut addresses = Vec::new();
        for (table, _) in tables {
            let Origin::Alloc(first) = program.buffers[table.buffer].origin else { continue };
            for entry in between(first, id) {
                let of_table = || program.statements[entry].accesses.first().map(|access| access.buffer);
                if let Some(record) = self.built.state.records[entry].launch()
                    && std::ptr::eq(record.kernel, &ENTRY)
                    && of_table() == Some(table.buffer)
                {
                    addresses.push(cuda::number(self.built.state.words[size(record.first) + 1]));
                }
            }
        }
        addresses
    }

    /// Puts the addresses that a launch gets into the order of its accesses, with 0 for state.
    pub(super) fn by_access(&self, id: StatementId, count: usize, given: &[u64]) -> Vec<u64> {
        let of = |(at, _)| given.get(at).copied().unwrap_or(0);
        let mut addresses: Vec<u64> = self.effects(id).into_iter().map(of).collect();
        addresses.resize(count, 0);
        addresses
    }

    /// Adds the node that sets the conditions of a conditional, and the node or nodes that run its bodies.
    fn add_branch(&self, builder: &mut PlanBuilder<'_>, operation: &Operation) -> Option<usize> {
        let scope = operation.sources.first().and_then(|&id| builder.numbering.scopes.bordered(id))?;
        let scopes = &builder.numbering.scopes.list;
        let first = scopes[scope].first;
        let arms: Vec<ScopeId> = scopes.ids().filter(|&arm| scopes[arm].first == first).collect();
        let described: Vec<ConditionalBody> = arms.iter().map(|&arm| scopes[arm].clone()).collect();
        let whole = is_one_node(self.definition.driver, &described);
        if scope != first && whole {
            let node = builder.branches[first];
            return node;
        }
        let (body, device) = (Numbering::body(scopes[scope].parent), operation.device.as_u32());
        let runs: Vec<usize> = match whole {
            true => arms.iter().map(|&arm| Numbering::body(Some(arm))).collect(),
            false => vec![Numbering::body(Some(scope))],
        };
        let name = operation.name.to_string();
        let by_kernels = self.definition.program().own_condition(scopes[first].condition).is_some();
        let setter = (scope == first && !by_kernels).then(|| {
            let node = self.add_setter(builder, operation, body);
            self.add_incoming_edges(builder, operation, node);
            node
        });
        let branch = c::Node { name, body, device, waits: false, work: c::NodeWork::Branch(runs) };
        let branch = builder.add(branch);
        match setter {
            Some(setter) => builder.add_edge(setter, branch, c::Port::End),
            None => self.add_incoming_edges(builder, operation, branch),
        }
        for arm in if whole { arms } else { vec![scope] } {
            builder.branches[arm] = Some(branch);
        }
        Some(branch)
    }

    /// Adds the node that sets the conditions of a statement.
    fn add_setter(&self, builder: &mut PlanBuilder<'_>, operation: &Operation, body: usize) -> usize {
        let members = operation.sources.iter().map(|&id| self.member(builder, id, 0, false)).collect();
        let node = c::Node {
            name: operation.name.to_string(),
            body,
            device: operation.device.as_u32(),
            waits: self.waits(operation),
            work: c::NodeWork::Run { members, forwards: Vec::new() },
        };
        builder.add(node)
    }

    /// Adds the node that decides on the next iteration, at the end of a loop's body.
    fn add_loop_setter(&self, builder: &mut PlanBuilder<'_>, operation: &Operation) -> Option<usize> {
        let scope = operation.sources.first().and_then(|&id| builder.numbering.scopes.bordered(id))?;
        if operation.sources.first().is_some_and(|&id| builder.numbering.number_of[id].is_some()) {
            let node = self.add_setter(builder, operation, Numbering::body(Some(scope)));
            self.add_incoming_edges(builder, operation, node);
        }
        builder.branches[scope]
    }
}
