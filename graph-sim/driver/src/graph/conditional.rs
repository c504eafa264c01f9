//! Conditional nodes of graph definitions: handles, bodies and their rules.

use super::refusal::{RESULT_ERROR, RESULT_UNUSED_HANDLE, Refusal};
use crate::base::config::config;
use crate::base::log;
use crate::base::status::{Result, Status};
use crate::base::types::{
    CONDITIONAL_ASSIGN_DEFAULT, CONDITIONAL_IF, CONDITIONAL_SWITCH, CONDITIONAL_WHILE,
    CUDA_CONDITIONAL_NODE_PARAMS, MEMORY_HOST, MEMORY_UNIFIED,
};
use crate::graph::edit;
use crate::memory::{Kind, Place};
use crate::state::State;
use crate::state::conditions::{Conditions, Handle};
use crate::state::definitions::GraphDefinitions;
use crate::state::exec::{ExecNode, Shape};
use crate::state::graph::{Dependencies, Owner};
use crate::state::op::{Branching, Conditional, Copy, End, Op};

/// The first CUDA version with `IF` and `WHILE` nodes.
const FIRST: (u32, u32) = (12, 4);
/// The first CUDA version with `SWITCH` nodes and with a second body of `IF`.
const SWITCHES: (u32, u32) = (12, 8);
/// The maximum number of bodies of a node. CUDA documents no limit.
const BODIES: u32 = 1 << 16;

impl GraphDefinitions {
    /// Creates a conditional handle for a graph.
    pub fn create_handle(&mut self, graph: u64, context: u64, default: u32, flags: u32) -> Result<u64> {
        self.graph(graph)?;
        if flags & !CONDITIONAL_ASSIGN_DEFAULT != 0 {
            return Err(log::say(Status::INVALID_VALUE, "unknown flags of a conditional handle"));
        }
        let assigns = flags & CONDITIONAL_ASSIGN_DEFAULT != 0;
        Ok(self.conditions.insert(Handle { graph, context, default, assigns, node: None }))
    }

    /// Checks that a node of a graph may use a handle: it belongs to the graph or to a graph around it, and has
    /// no node yet.
    fn check_handle(&self, graph: u64, p: &CUDA_CONDITIONAL_NODE_PARAMS) -> Result {
        let no = |what: &str| Err(log::say(Status::INVALID_VALUE, what));
        let Some(handle) = self.conditions.get(p.handle) else {
            return no("a conditional node without a conditional handle");
        };
        if handle.node.is_some() {
            return no("a conditional handle that another node has already");
        }
        if !self.around(graph).any(|outer| outer == handle.graph) {
            return no("a conditional handle of another graph");
        }
        if handle.context != p.ctx {
            return no("a conditional node in another context than its handle");
        }
        Ok(())
    }

    /// Checks that every handle of a graph and of its bodies has a node. Instantiation fails otherwise.
    pub(super) fn check_handles(&self, graph: u64) -> std::result::Result<(), Refusal> {
        let unused = |(_, handle): &(u64, &Handle)| {
            handle.node.is_none() && self.around(handle.graph).any(|outer| outer == graph)
        };
        if self.conditions.iter().any(|handle| unused(&handle)) {
            let status = log::say(Status::INVALID_VALUE, "a conditional handle without a conditional node");
            return Err(Refusal(status, RESULT_UNUSED_HANDLE, 0));
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
        matches!(owner, Some(Owner::Cloned(_) | Owner::Moved(_)))
    };
    if state.definitions.around(graph).any(is_child) {
        return Err(log::say(Status::NOT_SUPPORTED, "a conditional node for a graph that is a child"));
    }
    state.definitions.check_handle(graph, p)?;
    let bodies: Box<[u64]> = (0..p.size).map(|_| edit::create_graph(state)).collect();
    let op = Op::Conditional(Conditional { handle: p.handle, kind, bodies: bodies.clone() });
    let node = edit::add_node(state, graph, dependencies, op)?;
    for &body in &bodies {
        state.definitions.graph_mut(body)?.owner = Owner::Body(node);
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
    shape: &Shape,
    conditions: &Conditions,
) -> std::result::Result<(), Refusal> {
    for (at, node) in nodes.iter().enumerate() {
        let Some(outer) = shape.scopes.around(at).next() else { continue };
        let Op::Conditional(conditional) = &nodes[outer.entry].op else { continue };
        let context = conditions.get(conditional.handle).map_or(0, |condition| condition.context);
        let what = match &node.op {
            Op::Empty | Op::Fill(_) | Op::Child(_) => continue,
            Op::Kernel(launch) => {
                let own = state.code.functions.get(launch.function).map(|function| function.context);
                if own == Some(context) { continue } else { "a kernel of another context" }
            }
            Op::Conditional(inner) => {
                let own = conditions.get(inner.handle).map(|condition| condition.context);
                if own == Some(context) { continue } else { "a conditional node of another context" }
            }
            Op::Copy(copy) if is_pageable(state, copy) => "a copy from or to pageable memory",
            Op::Copy(_) => continue,
            Op::Host { .. } | Op::Meeting { .. } => "a host node",
            Op::Alloc { .. } => "an alloc node",
            Op::Free(_) => "a free node",
            Op::Record(_) => "an event record node",
            Op::Wait(_) => "an event wait node",
            Op::Memory(_) => "a batch memory operation node",
            Op::Signal(_) => "a semaphore signal node",
            Op::WaitSemaphore(_) => "a semaphore wait node",
        };
        let what = format!("{what} in the body of a conditional node");
        return Err(Refusal(log::say(Status::INVALID_VALUE, what), RESULT_ERROR, node.node));
    }
    Ok(())
}

/// Returns true if an end of a copy is pageable host memory.
fn is_pageable(state: &State, copy: &Copy) -> bool {
    let pageable = |end: &End| match end.kind {
        MEMORY_HOST => state.memory.find(end.at.start).is_none(),
        MEMORY_UNIFIED => matches!(state.memory.resolve(end.at.start, 1), Ok(Place::Host(_))),
        _ => false,
    };
    pageable(&copy.to) || pageable(&copy.from)
}

/// Returns true if an update of a copy in a body keeps each end in memory of the same kind: of alloc nodes, or of
/// other calls.
pub(super) fn keeps_memory(state: &mut State, exec: u64, node: u64, new: &Op) -> Result {
    let exec = state.exec(exec)?;
    let Some(&at) = exec.shape.index.get(&node) else { return Ok(()) };
    let (Op::Copy(old), Op::Copy(new)) = (&exec.nodes[at].op, new) else { return Ok(()) };
    let of_node = |end: &End| {
        let address = end.at.start;
        let planned = |node: &ExecNode| match node.op {
            Op::Alloc { address: start, bytes, .. } => (start..start + bytes).contains(&address),
            _ => false,
        };
        let living = || state.memory.find(address).is_some_and(|found| matches!(found.kind, Kind::Graph(_)));
        exec.nodes.iter().any(planned) || living()
    };
    let differs = |old: &End, new: &End| of_node(old) != of_node(new);
    let in_body = exec.shape.scopes.around(at).next().is_some();
    if in_body && (differs(&old.to, &new.to) || differs(&old.from, &new.from)) {
        let what = "a copy in a body cannot change between memory of an alloc node and other memory";
        return Err(log::say(Status::INVALID_VALUE, what));
    }
    Ok(())
}

/// Returns the kind of a conditional node. Returns an error unless the CUDA version supports it with that number
/// of bodies.
fn kind_of(p: &CUDA_CONDITIONAL_NODE_PARAMS) -> Result<Branching> {
    let version = config().version;
    if version < FIRST {
        return Err(log::say(Status::NOT_SUPPORTED, "conditional nodes are newer than this driver"));
    }
    let kind = match p.kind {
        CONDITIONAL_IF => Branching::If,
        CONDITIONAL_WHILE => Branching::While,
        CONDITIONAL_SWITCH if version >= SWITCHES => Branching::Switch,
        _ => return Err(log::say(Status::INVALID_VALUE, "an unknown type of conditional nodes")),
    };
    let fits = match kind {
        Branching::While => p.size == 1,
        Branching::If => p.size == 1 || p.size == 2 && version >= SWITCHES,
        Branching::Switch => p.size > 0,
    };
    match fits {
        true if p.size > BODIES => Err(Status::OUT_OF_MEMORY),
        true => Ok(kind),
        false => Err(log::say(Status::INVALID_VALUE, "a number of bodies that such nodes cannot have")),
    }
}
