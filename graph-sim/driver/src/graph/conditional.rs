//! Conditional nodes of graph definitions: handles, bodies and their rules.

use super::refusal::{InstantiationError, RESULT_ERROR, RESULT_UNUSED_HANDLE};
use crate::base::config::config;
use crate::base::log;
use crate::base::status::{Result, Status};
use crate::base::types::{
    CONDITIONAL_ASSIGN_DEFAULT, CONDITIONAL_IF, CONDITIONAL_SWITCH, CONDITIONAL_WHILE,
    CUDA_CONDITIONAL_NODE_PARAMS, MEMORY_HOST, MEMORY_UNIFIED,
};
use crate::graph::edit;
use crate::memory::{AllocationKind, MemoryPlace};
use crate::state::State;
use crate::state::conditions::{ConditionHandle, Conditions};
use crate::state::definitions::GraphDefinitions;
use crate::state::exec::{ExecNode, ExecShape};
use crate::state::graph::{Dependencies, GraphOwner};
use crate::state::operation::{Conditional, ConditionalKind, CopyEnd, MemoryCopy, Operation};

/// The first CUDA version with `IF` and `WHILE` nodes.
const CONDITIONALS_SINCE: (u32, u32) = (12, 4);
/// The first CUDA version with `SWITCH` nodes and with a second body of `IF`.
const SWITCH_SINCE: (u32, u32) = (12, 8);
/// The maximum number of bodies of a node. CUDA documents no limit.
const MAX_BODIES: u32 = 1 << 16;

impl GraphDefinitions {
    /// Creates a conditional handle for a graph.
    pub fn create_handle(&mut self, graph: u64, context: u64, default: u32, flags: u32) -> Result<u64> {
        self.graph(graph)?;
        if flags & !CONDITIONAL_ASSIGN_DEFAULT != 0 {
            return Err(log::log_error(Status::INVALID_VALUE, "unknown flags of a conditional handle"));
        }
        let assigns = flags & CONDITIONAL_ASSIGN_DEFAULT != 0;
        Ok(self.conditions.insert(ConditionHandle { graph, context, default, assigns, node: None }))
    }

    /// Checks that a node of a graph may use a handle: it belongs to the graph or to a graph around it, and has
    /// no node yet.
    fn check_handle(&self, graph: u64, p: &CUDA_CONDITIONAL_NODE_PARAMS) -> Result {
        let no = |what: &str| Err(log::log_error(Status::INVALID_VALUE, what));
        let Some(handle) = self.conditions.get(p.handle) else {
            return no("a conditional node with an unknown handle");
        };
        if handle.node.is_some() {
            return no("a conditional handle that another node has already");
        }
        if !self.enclosing_graphs(graph).any(|outer| outer == handle.graph) {
            return no("a conditional handle of another graph");
        }
        if handle.context != p.ctx {
            return no("a conditional node in another context than its handle");
        }
        Ok(())
    }

    /// Checks that every handle of a graph and of its bodies has a node. Instantiation fails otherwise.
    pub(super) fn check_handles(&self, graph: u64) -> std::result::Result<(), InstantiationError> {
        let unused = |(_, handle): &(u64, &ConditionHandle)| {
            handle.node.is_none() && self.enclosing_graphs(handle.graph).any(|outer| outer == graph)
        };
        if self.conditions.iter().any(|handle| unused(&handle)) {
            let status =
                log::log_error(Status::INVALID_VALUE, "a conditional handle without a conditional node");
            return Err(InstantiationError(status, RESULT_UNUSED_HANDLE, 0));
        }
        Ok(())
    }
}

/// Adds a conditional node with empty bodies.
pub fn add_conditional(
    state: &mut State,
    graph: u64,
    dependencies: Dependencies,
    p: &CUDA_CONDITIONAL_NODE_PARAMS,
) -> Result<u64> {
    let kind = kind_of(p)?;
    state.definitions.graph(graph)?;
    state.definitions.check_dependencies(graph, &dependencies, None)?;
    let is_child = |graph: u64| {
        let owner = state.definitions.graphs.get(graph).map(|graph| graph.owner);
        matches!(owner, Some(GraphOwner::Cloned(_) | GraphOwner::Moved(_)))
    };
    if state.definitions.enclosing_graphs(graph).any(is_child) {
        return Err(log::log_error(Status::NOT_SUPPORTED, "a conditional node for a graph that is a child"));
    }
    state.definitions.check_handle(graph, p)?;
    let bodies: Box<[u64]> = (0..p.size).map(|_| edit::create_graph(state)).collect();
    let op = Operation::Conditional(Conditional { handle: p.handle, kind, bodies: bodies.clone() });
    let node = edit::add_node(state, graph, dependencies, op)?;
    for &body in &bodies {
        state.definitions.graph_mut(body)?.owner = GraphOwner::Body(node);
    }
    if let Some(handle) = state.definitions.conditions.get_mut(p.handle) {
        handle.node = Some(node);
    }
    Ok(node)
}

/// Checks the nodes inside the bodies of an instance: their types, their contexts, and the memory that copies
/// use.
pub(super) fn check_bodies(
    state: &State,
    nodes: &[ExecNode],
    shape: &ExecShape,
    conditions: &Conditions,
) -> std::result::Result<(), InstantiationError> {
    for (at, node) in nodes.iter().enumerate() {
        let Some(outer) = shape.scopes.enclosing(at).next() else { continue };
        let Operation::Conditional(conditional) = &nodes[outer.entry].op else { continue };
        let context = conditions.get(conditional.handle).map_or(0, |condition| condition.context);
        let what = match &node.op {
            Operation::Empty | Operation::Fill(_) | Operation::Child(_) => continue,
            Operation::Kernel(launch) => {
                let own = state.code.functions.get(launch.function).map(|function| function.context);
                if own == Some(context) { continue } else { "a kernel of another context" }
            }
            Operation::Conditional(inner) => {
                let own = conditions.get(inner.handle).map(|condition| condition.context);
                if own == Some(context) { continue } else { "a conditional node of another context" }
            }
            Operation::Copy(copy) if is_pageable(state, copy) => "a copy from or to pageable memory",
            Operation::Copy(_) => continue,
            Operation::Host { .. } | Operation::Rendezvous { .. } => "a host node",
            Operation::Alloc { .. } => "an alloc node",
            Operation::Free(_) => "a free node",
            Operation::RecordEvent(_) => "an event record node",
            Operation::WaitEvent(_) => "an event wait node",
            Operation::MemoryOperations(_) => "a batch memory operation node",
            Operation::SignalSemaphores(_) => "a semaphore signal node",
            Operation::WaitSemaphores(_) => "a semaphore wait node",
        };
        let what = format!("{what} in the body of a conditional node");
        return Err(InstantiationError(log::log_error(Status::INVALID_VALUE, what), RESULT_ERROR, node.node));
    }
    Ok(())
}

/// Returns true if an end of a copy is pageable host memory.
fn is_pageable(state: &State, copy: &MemoryCopy) -> bool {
    let pageable = |end: &CopyEnd| match end.kind {
        MEMORY_HOST => state.memory.find(end.at.start).is_none(),
        MEMORY_UNIFIED => matches!(state.memory.resolve(end.at.start, 1), Ok(MemoryPlace::Host(_))),
        _ => false,
    };
    pageable(&copy.to) || pageable(&copy.from)
}

/// Returns true if an update of a copy in a body keeps each end in memory of the same kind: of alloc nodes, or of
/// other calls.
pub(super) fn check_copy_memory(state: &mut State, exec: u64, node: u64, new: &Operation) -> Result {
    let exec = state.exec(exec)?;
    let Some(&at) = exec.shape.index.get(&node) else { return Ok(()) };
    let (Operation::Copy(old), Operation::Copy(new)) = (&exec.nodes[at].op, new) else { return Ok(()) };
    let of_node = |end: &CopyEnd| {
        let address = end.at.start;
        let planned = |node: &ExecNode| match node.op {
            Operation::Alloc { address: start, bytes, .. } => (start..start + bytes).contains(&address),
            _ => false,
        };
        let living =
            || state.memory.find(address).is_some_and(|found| matches!(found.kind, AllocationKind::Graph(_)));
        exec.nodes.iter().any(planned) || living()
    };
    let differs = |old: &CopyEnd, new: &CopyEnd| of_node(old) != of_node(new);
    let in_body = exec.shape.scopes.enclosing(at).next().is_some();
    if in_body && (differs(&old.to, &new.to) || differs(&old.from, &new.from)) {
        let what = "a copy in a body cannot change between memory of an alloc node and other memory";
        return Err(log::log_error(Status::INVALID_VALUE, what));
    }
    Ok(())
}

/// Returns the kind of a conditional node. Returns an error unless the CUDA version supports it with that number
/// of bodies.
fn kind_of(p: &CUDA_CONDITIONAL_NODE_PARAMS) -> Result<ConditionalKind> {
    let version = config().version;
    if version < CONDITIONALS_SINCE {
        return Err(log::log_error(
            Status::NOT_SUPPORTED,
            "conditional nodes need a newer CUDA version than the simulated one",
        ));
    }
    let kind = match p.kind {
        CONDITIONAL_IF => ConditionalKind::If,
        CONDITIONAL_WHILE => ConditionalKind::While,
        CONDITIONAL_SWITCH if version >= SWITCH_SINCE => ConditionalKind::Switch,
        _ => return Err(log::log_error(Status::INVALID_VALUE, "an unknown type of conditional nodes")),
    };
    let fits = match kind {
        ConditionalKind::While => p.size == 1,
        ConditionalKind::If => p.size == 1 || p.size == 2 && version >= SWITCH_SINCE,
        ConditionalKind::Switch => p.size > 0,
    };
    match fits {
        true if p.size > MAX_BODIES => Err(Status::OUT_OF_MEMORY),
        true => Ok(kind),
        false => Err(log::log_error(
            Status::INVALID_VALUE,
            "an invalid number of bodies for this type of conditional node",
        )),
    }
}
