//! Instances: instantiation, updates and destruction.
//!
//! An instance is a flat copy of the nodes of a graph, its child graphs and its bodies; see `flatten`.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::refusal::{InstantiationError, RESULT_ERROR};
use crate::base::log;
use crate::base::status::{Result, Status};
use crate::base::types::{
    INSTANTIATE_AUTO_FREE, INSTANTIATE_DEVICE_LAUNCH, INSTANTIATE_NODE_PRIORITY, INSTANTIATE_UPLOAD,
};
use crate::graph::conditional;
use crate::graph::edit;
use crate::graph::flatten;
use crate::state::State;
use crate::state::exec::{Exec, ExecNode};
use crate::state::graph::{Graph, GraphOwner};
use crate::state::members::Members;
use crate::state::operation::{MemoryFill, MemoryOperation, MemoryOperationKind, Operation};
use crate::work::kernel;

/// `CU_GRAPH_EXEC_UPDATE_*`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum UpdateResult {
    Success = 0,
    TopologyChanged = 2,
    NodeTypeChanged = 3,
    ParametersChanged = 5,
    NotSupported = 6,
}

impl ExecNode {
    /// Returns the name of the result, for reports.
    pub fn describe(&self, state: &State) -> String {
        if let Some(note) = &self.note {
            return note.describe();
        }
        match &self.op {
            Operation::Kernel(launch) => {
                let kernel =
                    state.code.functions.get(launch.function).map_or("?", |function| function.name());
                format!("#{} (kernel `{kernel}`)", self.local)
            }
            op => format!("#{} ({})", self.local, op.word()),
        }
    }
}

/// Instantiates a graph.
pub fn instantiate(
    state: &mut State,
    graph: u64,
    flags: u64,
) -> std::result::Result<u64, InstantiationError> {
    let refuse = |status, what: &str| Err(InstantiationError(log::log_error(status, what), RESULT_ERROR, 0));
    let Ok(entry) = state.definitions.graph(graph) else {
        return Err(InstantiationError(Status::INVALID_VALUE, RESULT_ERROR, 0));
    };
    let known =
        INSTANTIATE_AUTO_FREE | INSTANTIATE_UPLOAD | INSTANTIATE_DEVICE_LAUNCH | INSTANTIATE_NODE_PRIORITY;
    if flags & !known != 0 || flags & INSTANTIATE_AUTO_FREE != 0 && flags & INSTANTIATE_DEVICE_LAUNCH != 0 {
        return refuse(Status::INVALID_VALUE, "instantiation flags that exclude each other");
    }
    if flags & INSTANTIATE_DEVICE_LAUNCH != 0 {
        return refuse(Status::NOT_SUPPORTED, "launches from the device are not simulated");
    }
    if entry.owner != GraphOwner::Program {
        let what = "a child graph, or a body, cannot be instantiated by itself";
        return refuse(Status::INVALID_VALUE, what);
    }
    if entry.execs > 0 && state.definitions.has_memory(graph) {
        let what = "a graph with memory nodes can have one instance at a time";
        return refuse(Status::NOT_SUPPORTED, what);
    }
    if entry.execs > 0 && state.definitions.has_conditionals(graph) {
        let what = "a graph with conditional nodes can have one instance at a time";
        return refuse(Status::NOT_SUPPORTED, what);
    }
    let (nodes, shape, conditions) = flatten::flatten(state, graph)?;
    state.definitions.check_handles(graph)?;
    conditional::check_bodies(state, &nodes, &shape, &conditions)?;
    let ranges = ranges_of(state, graph);
    ranges.iter().for_each(|&start| state.memory.hold(start));
    let objects = user_objects_within(state, graph);
    for &(object, count) in &objects {
        if let Some(object) = state.objects.get_mut(object) {
            object.references += count;
        }
    }
    if let Ok(entry) = state.definitions.graph_mut(graph) {
        entry.execs += 1;
    }
    let id = state.id();
    let salt = nodes.len() as u64;
    let (shape, conditions) = (Arc::new(shape), Arc::new(conditions));
    let launches = 0;
    let exec = Exec { graph, flags, nodes, shape, conditions, ranges, launches, salt, objects, id };
    Ok(state.execs.insert(exec))
}

fn ranges_of(state: &State, graph: u64) -> Vec<u64> {
    let mut ranges = Vec::new();
    visit_graphs(state, graph, |entry| ranges.extend_from_slice(entry.place.ranges()));
    ranges
}

/// Returns the references of a graph, its child graphs and its bodies to user objects. An instance holds them
/// too.
fn user_objects_within(state: &State, graph: u64) -> Vec<(u64, u64)> {
    let mut objects = Vec::new();
    visit_graphs(state, graph, |entry| objects.extend_from_slice(&entry.objects));
    objects
}

/// Calls `visit` for a graph and for each graph inside it.
fn visit_graphs<'s>(state: &'s State, graph: u64, mut visit: impl FnMut(&'s Graph)) {
    let mut work = vec![graph];
    while let Some(graph) = work.pop() {
        let Some(entry) = state.definitions.graphs.get(graph) else { continue };
        visit(entry);
        let ops = entry.nodes.iter().filter_map(|&node| state.definitions.nodes.get(node));
        work.extend(ops.flat_map(|node| node.op.graphs()));
    }
}

/// Destroys an instance. Allocations that its launches left live stay allocated.
pub fn destroy_exec(state: &mut State, exec: u64) -> Result {
    let exec = state.execs.remove(exec).ok_or(Status::INVALID_VALUE)?;
    exec.ranges.iter().for_each(|&start| state.memory.release(start));
    if let Some(graph) = state.definitions.graphs.get_mut(exec.graph) {
        graph.execs = graph.execs.saturating_sub(1);
    }
    for (object, count) in exec.objects {
        edit::drop_references(state, object, count);
    }
    Ok(())
}

/// Updates the parameters of a node.
pub fn update_node(state: &mut State, exec: u64, node: u64, op: Operation) -> Result {
    conditional::check_copy_memory(state, exec, node, &op)?;
    let before = state.exec_mut(exec)?.find(node)?.op.clone();
    if changes_memory_context(state, &before, &op) {
        return Err(log::log_error(
            Status::INVALID_VALUE,
            "the context of a copy cannot be changed during an update",
        ));
    }
    let old = state.exec_mut(exec)?.find(node)?;
    let result = check_update(&old.op, &op);
    if result != UpdateResult::Success {
        let what = "parameters that cannot be changed in an instance";
        return Err(log::log_error(Status::INVALID_VALUE, what));
    }
    let op = keep_attributes(&old.op, op);
    if let Operation::Kernel(launch) = &op {
        kernel::check_residency(state, launch)?;
    }
    state.exec_mut(exec)?.find(node)?.op = op;
    Ok(())
}

/// Returns true if an update moves an end of a copy to memory that was allocated in another context.
fn changes_memory_context(state: &State, old: &Operation, new: &Operation) -> bool {
    let (Operation::Copy(old), Operation::Copy(new)) = (old, new) else { return false };
    let context = |start: u64| {
        let found = state.memory.find(start);
        found.filter(|found| !found.on_host() || found.managed.is_some()).map(|found| found.context)
    };
    [(&old.from, &new.from), (&old.to, &new.to)].into_iter().any(|(old, new)| {
        context(old.at.start).zip(context(new.at.start)).is_some_and(|(old, new)| old != new)
    })
}

/// Updates the nodes of an instance to the parameters of a graph of the same shape. On failure nothing changes;
/// the error holds the graph's node and the instance's node.
pub fn update_exec(
    state: &mut State,
    exec: u64,
    graph: u64,
) -> std::result::Result<(), (UpdateResult, u64, u64)> {
    let fail = |why, node, from| Err((why, node, from));
    let (Ok(old), Ok(entry)) = (state.exec(exec), state.definitions.graph(graph)) else {
        return fail(UpdateResult::NotSupported, 0, 0);
    };
    let instances = entry.execs;
    if state.definitions.has_memory(graph) && instances > 0 && old.graph != graph {
        return fail(UpdateResult::NotSupported, 0, 0);
    }
    let Ok((nodes, shape, conditions)) = flatten::flatten(state, graph) else {
        return fail(UpdateResult::NotSupported, 0, 0);
    };
    if nodes.len() != old.nodes.len() {
        return fail(UpdateResult::TopologyChanged, nodes.last().map_or(0, |node| node.node), 0);
    }
    let sorted = |list: &Vec<usize>| list.iter().copied().collect::<BTreeSet<_>>();
    for (at, (new, old_node)) in nodes.iter().zip(&old.nodes).enumerate() {
        if new.op.kind() != old_node.op.kind() {
            return fail(UpdateResult::NodeTypeChanged, new.node, old_node.node);
        }
        if sorted(&shape.full[at]) != sorted(&old.shape.full[at])
            || sorted(&shape.programmatic[at]) != sorted(&old.shape.programmatic[at])
        {
            return fail(UpdateResult::TopologyChanged, new.node, old_node.node);
        }
        match check_update(&old_node.op, &new.op) {
            UpdateResult::Success => {}
            why => return fail(why, new.node, old_node.node),
        }
    }
    if let Some(entry) = state.execs.get_mut(exec) {
        entry.conditions = Arc::new(entry.conditions.updated(&conditions));
        for (old, new) in entry.nodes.iter_mut().zip(nodes) {
            old.op = new.op;
            old.note = new.note;
            // The actors are part of the shape, which no update changes.
            let count = |members: &Option<Arc<Members>>| members.as_ref().map(|members| members.notes.len());
            old.members = if count(&old.members) == count(&new.members) { new.members } else { None };
        }
    }
    Ok(())
}

/// Returns the result of updating an instance's node from `old` to `new`.
fn check_update(old: &Operation, new: &Operation) -> UpdateResult {
    match (old, new) {
        (Operation::Kernel(_), Operation::Kernel(_)) => UpdateResult::Success,
        (Operation::Copy(old), Operation::Copy(new)) => {
            let flat = |copy: &crate::state::operation::MemoryCopy| copy.height == 1 && copy.depth == 1;
            let same = old.to.kind == new.to.kind && old.from.kind == new.from.kind;
            // A copy of several rows or planes cannot change.
            if same && new.width > 0 && (old == new || (flat(old) && flat(new))) {
                UpdateResult::Success
            } else {
                UpdateResult::ParametersChanged
            }
        }
        (Operation::Fill(old), Operation::Fill(new))
            if old.context.zip(new.context).is_some_and(|(old, new)| old != new) =>
        {
            UpdateResult::ParametersChanged
        }
        (Operation::Fill(old), Operation::Fill(new)) => {
            let shape = |fill: &MemoryFill| (fill.width, fill.height, fill.element, fill.to.pitch);
            if shape(old) == shape(new) || (old.height == 1 && new.height == 1) {
                UpdateResult::Success
            } else {
                UpdateResult::ParametersChanged
            }
        }
        (Operation::Alloc { bytes: a, device: b, .. }, Operation::Alloc { bytes: c, device: d, .. })
            if (a, b) == (c, d) =>
        {
            UpdateResult::Success
        }
        (Operation::Free(_), Operation::Free(_))
        | (Operation::Host { .. }, Operation::Host { .. })
        | (Operation::Rendezvous { .. }, Operation::Rendezvous { .. })
        | (Operation::Empty, Operation::Empty)
        | (Operation::RecordEvent(_), Operation::RecordEvent(_))
        | (Operation::WaitEvent(_), Operation::WaitEvent(_))
        | (Operation::Child(_), Operation::Child(_)) => UpdateResult::Success,
        (Operation::MemoryOperations(old), Operation::MemoryOperations(new)) if same_operations(old, new) => {
            UpdateResult::Success
        }
        (Operation::SignalSemaphores(old), Operation::SignalSemaphores(new))
        | (Operation::WaitSemaphores(old), Operation::WaitSemaphores(new))
            if old.len() == new.len() =>
        {
            UpdateResult::Success
        }
        (Operation::Conditional(old), Operation::Conditional(new))
            if (old.kind, old.bodies.len()) == (new.kind, new.bodies.len()) =>
        {
            UpdateResult::Success
        }
        _ => UpdateResult::ParametersChanged,
    }
}

/// Returns true if the operations differ only in addresses, values, and comparisons of waits.
fn same_operations(old: &[MemoryOperation], new: &[MemoryOperation]) -> bool {
    let kind = |operation: &MemoryOperation| (operation.work == MemoryOperationKind::Write, operation.bytes);
    old.iter().map(kind).eq(new.iter().map(kind))
}

/// Carries over to the new parameters what an update does not change: a kernel's attributes, a fill's context,
/// and the declared accesses of a host node.
fn keep_attributes(old: &Operation, mut new: Operation) -> Operation {
    if let (Operation::Kernel(old), Operation::Kernel(new)) = (old, &mut new)
        && new.attributes.is_empty()
    {
        new.attributes = old.attributes.clone();
    }
    if let (Operation::Fill(old), Operation::Fill(new)) = (old, &mut new) {
        new.context = new.context.or(old.context);
    }
    if let (Operation::Host { touched: old, .. }, Operation::Host { touched: new, .. }) = (old, &mut new)
        && new.is_empty()
    {
        new.clone_from(old);
    }
    new
}
