//! The state of adding nodes to a graph, shared by the functions of `adding`, `calls` and `conditional`.

use std::collections::BTreeMap;

use cuweave_core::index::Vector;
use cuweave_core::ir::{BufferId, Device, Program};
use cuweave_core::operation::{MemoryId, Operation, OperationId};
use cuweave_core::scopes::Scopes;

use crate::build::arguments::body::Body;
use crate::build::calls::agreed::DeferredOperations;
use crate::build::conditional::bodies::BodyGraphs;
use crate::build::profile::stamps::Stamps;
use crate::cuda::{CaptureStream, Failure, KernelLaunch, Node, ParameterValues, RawGraph, Word};
use crate::error::{Error, Result, SourceLocation};
use crate::kernels::Kernel;

use super::built::BuiltGraph;
use super::definition::Definition;

/// Adds the nodes of a graph.
pub(crate) struct GraphBuilder<'b> {
    pub definition: &'b mut Definition,
    pub built: &'b mut BuiltGraph,
    /// Runs the bodies of library calls.
    pub body: &'b dyn Body,
    /// The address of each memory. Unknown for an alloc node's memory until the node is added.
    pub memories: Vector<MemoryId, u64>,
    /// The buffers in each memory.
    pub inside: &'b Vector<MemoryId, Vec<BufferId>>,
    /// The clocks of a profile's graph.
    pub stamps: Option<&'b mut Stamps>,
    pub bodies: BodyGraphs,
    /// The graph that nodes are currently added to: the outermost one or a conditional body's.
    pub into: RawGraph,
    /// The capturing stream of each device.
    pub streams: BTreeMap<Device, CaptureStream>,
    /// Operations whose programmatic edge became a full one, because it comes from a library call that does not
    /// end in a single kernel.
    pub full: Vec<OperationId>,
    /// Operations that wait for a collective that other ranks have not reached.
    pub deferred: DeferredOperations,
}

impl GraphBuilder<'_> {
    pub fn program(&self) -> &Program {
        self.definition.program()
    }

    /// Returns the source location of an operation.
    pub fn at(&self, operation: &Operation) -> Box<SourceLocation> {
        self.built.plan.at(self.program(), operation)
    }

    /// Returns the error of a driver call for an operation.
    pub fn failed(&self, operation: &Operation, failure: Failure) -> Error {
        let bytes = self.built.plan.operations.allocated_by(operation);
        Error::allocation(failure, Some(self.at(operation)), bytes)
    }

    /// Returns the name of the body that nodes are currently added to. `None` outside of bodies.
    pub fn body_name(&self, operation: &Operation) -> Option<String> {
        if self.into == self.built.handle.graph {
            return None;
        }
        let scopes = Scopes::new(self.program());
        let body = scopes.around(*operation.sources.first()?)?;
        Some(scopes.name(self.program(), body))
    }

    /// Adds one of cuweave's own kernels with a single thread. A failure is reported at `at`.
    pub fn add_single(
        &mut self,
        graph: RawGraph,
        after: &[Node],
        kernel: &'static Kernel,
        words: &[Word],
        device: Device,
        at: Option<Box<SourceLocation>>,
    ) -> Result<Node> {
        let function = self.definition.modules.function(device, kernel)?.function;
        let launch = KernelLaunch { function, grid: [1; 3], block: [1; 3], shared: 0, cooperative: false };
        let values = ParameterValues { words, params: kernel.params };
        let scratch = &mut self.built.state.scratch;
        let added = self.definition.driver.add_kernel(graph, after, &launch, values, scratch);
        added.map_err(|failure| Error::driver(failure, at))
    }
}
