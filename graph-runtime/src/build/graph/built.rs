//! A built graph: its plan, the driver's objects, and the values of its next launch.

use cuweave_core::index::Vector;
use cuweave_core::ir::{BufferId, DimId, Program, StatementId, StatementKind};
use cuweave_core::kind::NodeStage;
use cuweave_core::launches::Launch;
use cuweave_core::operation::{BufferPlacement, OperationId, OperationKind};
use cuweave_core::scopes::Scopes;

use crate::build::calls::agreed::AgreedCollectives;
use crate::build::calls::capture::CapturedNodes;
use crate::build::plan::planning::Plan;
use crate::cuda::{Failure, Word};
use crate::error::{Error, Result};
use crate::statements::{EmissionContext, StatementRecord, StatementRecordExt, UnprovedLaunches};
use cuweave_core::flattened::Flattened;

use super::annotate::AnnotatedGraph;
use super::definition::Definition;
use super::handle::GraphHandle;
use super::state::LaunchState;

/// A built graph. The owner must destroy its handle.
pub(crate) struct BuiltGraph {
    /// The nodes and the memory layout. A fallback replaces the plan.
    pub plan: Plan,
    /// The driver's objects.
    pub handle: GraphHandle,
    /// The values of the next launch.
    pub state: LaunchState,
    /// The collectives, which are compared between ranks before nodes are added.
    pub agreed: AgreedCollectives,
}

/// The address of a buffer without elements. Nothing is loaded from it, but kernels may compare it with 0.
const NO_MEMORY: u64 = 1 << 40;

impl BuiltGraph {
    /// Returns the graph of a plan, without nodes.
    pub fn new(
        definition: &Definition,
        plan: Plan,
        records: Vector<StatementId, StatementRecord>,
        words: Vec<Word>,
        unproved: UnprovedLaunches,
    ) -> BuiltGraph {
        let mut state = LaunchState::new(definition, records, words);
        state.record_unproved(&[], unproved);
        state.follow(definition, &plan);
        BuiltGraph { plan, handle: GraphHandle::new(), state, agreed: AgreedCollectives::default() }
    }

    /// Replaces the plan, and destroys the driver's graph with its nodes.
    pub fn replace(&mut self, definition: &Definition, plan: Plan) {
        self.handle.destroy_graph(definition.driver, &definition.ctx);
        self.handle.nodes.clear();
        self.handle.captured.clear();
        self.handle.children.clear();
        self.state.follow(definition, &plan);
        self.plan = plan;
    }

    /// Creates the driver's graph, and sets the addresses of the argument buffers.
    pub fn create(&mut self, definition: &Definition, addresses: impl Iterator<Item = u64>) -> Result<()> {
        self.handle.graph = definition.driver.create_graph()?;
        let bases = &mut self.state.bases;
        *bases = Vector::filled(NO_MEMORY, definition.program().buffers.len());
        bases.iter_mut().zip(addresses).for_each(|(base, address)| *base = address);
        Ok(())
    }

    /// Returns the number of nodes of all statements of a kind that has several nodes, those in child graphs
    /// excluded.
    pub fn nodes_of(&self, kind: StatementKind<NodeStage>) -> usize {
        let list = &self.plan.operations.list;
        let of_kind =
            self.handle.captured.iter().filter(|(at, _)| list[**at].kind == OperationKind::Statement(kind));
        of_kind.map(|(_, captured)| captured.nodes.len() - captured.inner).sum()
    }

    /// Returns the number of nodes, with those in child graphs and in the bodies of conditional nodes.
    pub fn nodes(&self) -> usize {
        let captured: usize = self.handle.captured.values().map(|captured| captured.nodes.len()).sum();
        self.plan.operations.list.len() - self.handle.captured.len() + captured
    }

    /// Returns the facts about a launch. `None` if it stays as written.
    pub fn launch_facts(&self, statement: StatementId) -> Option<&Launch> {
        self.plan.decided.backend_options.launches.get(statement)?.as_ref()
    }

    /// Estimates the bytes of device memory that the driver takes to instantiate the graph.
    pub fn estimated_exec_bytes(&self, program: &Program) -> u64 {
        self.plan.operations.estimated_exec_bytes(self.nodes(), Scopes::new(program).list.len())
    }

    /// Returns the names and addresses for the simulated driver.
    pub fn annotated<'n>(&'n self, definition: &'n Definition) -> AnnotatedGraph<'n> {
        let GraphHandle { graph, exec, nodes, captured, bodies, .. } = &self.handle;
        AnnotatedGraph {
            program: definition.program(),
            dims: definition.dims(),
            planned: definition.planned_lengths(),
            operations: &self.plan.operations,
            records: &self.state.records,
            nodes,
            captured: captured.iter().map(|(&at, captured)| (at, captured.nodes.as_slice())).collect(),
            bases: &self.state.bases,
            graph: *graph,
            bodies,
            exec: *exec,
        }
    }

    /// Sets the addresses of buffers in a memory that starts at `address`.
    pub fn set_addresses(&mut self, buffers: &[BufferId], address: u64) {
        for &buffer in buffers {
            if let BufferPlacement::Inside { offset, .. } = self.plan.operations.places[buffer] {
                self.state.bases[buffer] = address.wrapping_add(offset);
            }
        }
    }

    /// Returns the addresses for the parameters of nodes.
    pub fn emission<'n>(&'n self, flat: &'n Flattened, dims: &'n Vector<DimId, u64>) -> EmissionContext<'n> {
        EmissionContext {
            program: flat.checked.program(),
            dims,
            operations: &self.plan.operations,
            pointed: self.state.pointed(&self.plan.operations),
            bases: &self.state.bases,
            as_kernels: &self.state.as_kernels,
            hosts: &self.state.hosts,
            launch: self.state.launch,
        }
    }

    /// Writes the addresses of a record's buffers into its words, and returns the record. A fill that no memset
    /// node can do becomes a launch.
    pub fn resolve(
        &self,
        definition: &mut Definition,
        statement: StatementId,
        record: StatementRecord,
        words: &mut [Word],
    ) -> Result<StatementRecord> {
        let emission = self.emission(&definition.flat, &definition.dims);
        record.resolve(&emission, statement, &mut definition.modules, words)
    }

    /// Writes the addresses of a statement's buffers into its record.
    pub fn resolve_own(&mut self, definition: &mut Definition, statement: StatementId) -> Result<()> {
        if let StatementKind::Launch(launch) = self.state.records[statement] {
            self.state.write_addresses(&self.plan.operations, statement, &launch);
            return Ok(());
        }
        let mut words = std::mem::take(&mut self.state.words);
        let record = self.resolve(definition, statement, self.state.records[statement], &mut words);
        self.state.words = words;
        self.state.records[statement] = record?;
        Ok(())
    }

    /// Instantiates the graph. A failure names the operation that the driver blames.
    pub fn instantiate(&mut self, definition: &Definition) -> Result<()> {
        let GraphHandle { graph, captured, nodes, .. } = &self.handle;
        self.handle.exec = definition.driver.instantiate(*graph).map_err(|(failure, node)| {
            let of_call = |captured: &CapturedNodes| captured.nodes.contains(&node);
            let of_call = captured.iter().find(|(_, captured)| of_call(captured)).map(|(&at, _)| at);
            match of_call.or_else(|| nodes.position(|&other| other == node)) {
                Some(blamed) => failed_at(&self.plan, definition.program(), blamed, failure),
                None => Error::driver(failure, None),
            }
        })?;
        self.state.disabled.iter().try_for_each(|&statement| self.switch(definition, statement, false))
    }

    /// Enables or disables the node of a statement.
    pub fn switch(&self, definition: &Definition, statement: StatementId, on: bool) -> Result<()> {
        let Some(operation) = self.plan.operations.operation_of[statement] else { return Ok(()) };
        let GraphHandle { exec, nodes, .. } = &self.handle;
        let switched = definition.driver.enable_node(*exec, nodes[operation], on);
        switched.map_err(|failure| failed_at(&self.plan, definition.program(), operation, failure))
    }
}

/// Returns the error of a driver call for an operation.
pub(crate) fn failed_at(plan: &Plan, program: &Program, operation: OperationId, failure: Failure) -> Error {
    let operation = &plan.operations.list[operation];
    Error::allocation(failure, Some(plan.at(program, operation)), plan.operations.allocated_by(operation))
}
