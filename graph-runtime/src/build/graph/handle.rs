//! The driver's objects of a built graph, and their destruction.

use std::collections::BTreeMap;

use cudarc::driver::CudaContext;
use cuweave_core::index::Vector;
use cuweave_core::ir::StatementId;
use cuweave_core::operation::OperationId;

use crate::build::calls::capture::CapturedNodes;
use crate::build::calls::children::SizedCall;
use crate::cuda::{Driver, Node, Outcome, RawExec, RawGraph, record};

/// The driver's graph, its exec and its nodes. The owner must destroy them.
pub(crate) struct GraphHandle {
    pub graph: RawGraph,
    pub exec: RawExec,
    /// One node for each operation. For a library call a node of its frontier, or `NONE`.
    pub nodes: Vector<OperationId, Node>,
    /// The nodes of library calls and of conditional nodes.
    pub captured: BTreeMap<OperationId, CapturedNodes>,
    /// The library calls that sizes reach.
    pub children: BTreeMap<StatementId, SizedCall>,
    /// The graph of each conditional body, by its condition statement.
    pub bodies: BTreeMap<StatementId, RawGraph>,
    /// The number of conditional nodes.
    pub conditions: usize,
}

impl GraphHandle {
    /// Returns a handle without driver objects.
    pub fn new() -> GraphHandle {
        GraphHandle {
            graph: RawGraph::NONE,
            exec: RawExec::NONE,
            nodes: Vector::new(),
            captured: BTreeMap::new(),
            children: BTreeMap::new(),
            bodies: BTreeMap::new(),
            conditions: 0,
        }
    }

    /// Appends the nodes that the successors of an operation depend on.
    pub fn push_frontier(&self, operation: OperationId, list: &mut Vec<Node>) {
        match self.captured.get(&operation) {
            Some(captured) => list.extend_from_slice(&captured.frontier),
            None => list.push(self.nodes[operation]),
        }
    }

    /// Destroys the exec, if it exists.
    pub fn destroy_exec(&mut self, driver: &Driver, ctx: &CudaContext) {
        let exec = std::mem::replace(&mut self.exec, RawExec::NONE);
        if exec != RawExec::NONE {
            note(ctx, driver.destroy_exec(exec));
        }
    }

    /// Destroys the graph, if it exists.
    pub fn destroy_graph(&mut self, driver: &Driver, ctx: &CudaContext) {
        let graph = std::mem::replace(&mut self.graph, RawGraph::NONE);
        if graph != RawGraph::NONE {
            note(ctx, driver.destroy_graph(graph));
        }
    }
}

/// Records a failure in the context, as cudarc does in drops.
fn note(ctx: &CudaContext, outcome: Outcome<()>) {
    if let Err(failure) = outcome {
        record(ctx, failure);
    }
}
