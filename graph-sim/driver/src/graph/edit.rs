//! Editing of graph definitions: nodes, edges and their rules.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::config::{config, device};
use crate::base::log;
use crate::base::status::{Result, Status};
use crate::base::types::CUgraphEdgeData;
use crate::memory::AllocationKind;
use crate::state::State;
use crate::state::definitions::GraphDefinitions;
use crate::state::graph::{Dependencies, Edge, Graph, GraphOwner, Node, PROGRAMMATIC};
use crate::state::operation::Operation;
use crate::state::placement;

impl GraphDefinitions {
    /// Checks the dependencies of a new node: nodes of the graph, each at most once, with valid edge data.
    pub(super) fn check_dependencies(
        &self,
        graph: u64,
        dependencies: &Dependencies,
        to: Option<&Operation>,
    ) -> Result {
        let mut seen = BTreeSet::new();
        for &(node, data) in dependencies {
            let entry = self.node(node)?;
            if entry.graph != graph || !seen.insert(node) {
                let what = "a dependency on a node of another graph, or a duplicate one";
                return Err(log::log_error(Status::INVALID_VALUE, what));
            }
            check_edge(&entry.op, data, to)?;
        }
        Ok(())
    }

    pub fn add_edges(&mut self, graph: u64, edges: &[Edge]) -> Result {
        self.graph(graph)?;
        let mut seen = BTreeSet::new();
        for &Edge { from, to, data } in edges {
            let (first, second) = (self.node(from)?, self.node(to)?);
            let known = second.dependencies.iter().any(|dependency| dependency.0 == from);
            if first.graph != graph
                || second.graph != graph
                || from == to
                || known
                || !seen.insert((from, to))
            {
                return Err(Status::INVALID_VALUE);
            }
            check_edge(&first.op, data, Some(&second.op))?;
        }
        for &Edge { from, to, data } in edges {
            if let Some(first) = self.nodes.get_mut(from) {
                first.dependents.push(to);
            }
            if let Some(second) = self.nodes.get_mut(to) {
                second.dependencies.push((from, data));
            }
        }
        Ok(())
    }

    pub fn remove_edges(&mut self, graph: u64, edges: &[Edge]) -> Result {
        self.graph(graph)?;
        if !edges.is_empty() && self.has_memory(graph) {
            return Err(log::log_error(
                Status::NOT_SUPPORTED,
                "edges of a graph with memory nodes cannot be removed",
            ));
        }
        for &Edge { from, to, .. } in edges {
            // The header says that the edge's data must match. Driver 580 (CUDA 13.0) accepts any data.
            let known = self.node(to)?.dependencies.iter().any(|dependency| dependency.0 == from);
            if self.node(from)?.graph != graph || self.node(to)?.graph != graph || !known {
                return Err(Status::INVALID_VALUE);
            }
        }
        for &Edge { from, to, .. } in edges {
            if let Some(first) = self.nodes.get_mut(from) {
                first.dependents.retain(|&node| node != to);
            }
            if let Some(second) = self.nodes.get_mut(to) {
                second.dependencies.retain(|dependency| dependency.0 != from);
            }
        }
        Ok(())
    }
}

/// Returns an empty graph.
pub fn create_graph(state: &mut State) -> u64 {
    let id = state.id();
    state.definitions.graphs.insert(Graph {
        nodes: Vec::new(),
        place: placement::Placement::default(),
        owner: GraphOwner::Program,
        execs: 0,
        objects: Vec::new(),
        original: 0,
        buffers: Vec::new(),
        id,
    })
}

/// Adds a node. Chooses the address if it is an alloc node.
pub fn add_node(state: &mut State, graph: u64, dependencies: Dependencies, op: Operation) -> Result<u64> {
    state.definitions.graph(graph)?;
    state.definitions.check_dependencies(graph, &dependencies, Some(&op))?;
    if op.is_memory()
        && matches!(state.definitions.graph(graph)?.owner, GraphOwner::Cloned(_) | GraphOwner::Moved(_))
    {
        return Err(log::log_error(Status::NOT_SUPPORTED, "a memory node for a graph that is a child"));
    }
    let mut freed = placement::NodeSet::default();
    for (node, _) in &dependencies {
        freed.join(&state.definitions.node(*node)?.freed);
    }
    let op = match op {
        Operation::Free(address) => {
            freed.insert(plan_free(state, graph, address)?);
            op
        }
        op => op,
    };
    let local = state
        .definitions
        .graph(graph)?
        .nodes
        .last()
        .map_or(Ok(0), |&last| state.definitions.node(last).map(|last| last.local + 1))?;
    let before: Vec<u64> = dependencies.iter().map(|dependency| dependency.0).collect();
    let entry = Node {
        graph,
        op,
        dependencies,
        dependents: Vec::new(),
        freed,
        note: None,
        members: None,
        original: 0,
        local,
    };
    let node = state.definitions.nodes.insert(entry);
    if let Err(status) = plan_allocation(state, graph, node) {
        state.definitions.nodes.remove(node);
        return Err(status);
    }
    for before in before {
        if let Some(before) = state.definitions.nodes.get_mut(before) {
            before.dependents.push(node);
        }
    }
    state.definitions.graph_mut(graph)?.nodes.push(node);
    Ok(node)
}

fn plan_allocation(state: &mut State, graph: u64, node: u64) -> Result {
    let State { definitions: GraphDefinitions { graphs, nodes, .. }, memory, .. } = state;
    let graph = graphs.get_mut(graph).ok_or(Status::INVALID_VALUE)?;
    let entry = nodes.get_mut(node).ok_or(Status::INVALID_VALUE)?;
    if let Operation::Alloc { address, bytes, device, .. } = &mut entry.op {
        if *bytes == 0 {
            return Err(log::log_error(Status::INVALID_VALUE, "an allocation of 0 bytes"));
        }
        if *bytes > memory.total() {
            return Err(Status::OUT_OF_MEMORY);
        }
        *address = graph.place.allocate(memory, *bytes, *device, node, &entry.freed, config().reuse)?;
    }
    Ok(())
}

/// Records a free node: of the graph's own allocation, or of another graph's that has no free node yet.
fn plan_free(state: &mut State, graph: u64, address: u64) -> Result<usize> {
    let no = |what: &str| log::log_error(Status::INVALID_VALUE, format!("a free of {address:#x}, {what}"));
    if state.definitions.graph(graph)?.place.can_free(address) {
        return Ok(state.definitions.graph_mut(graph)?.place.free(address));
    }
    if state.definitions.graph(graph)?.place.can_free_elsewhere(address) {
        return Err(no("which a node of another graph already frees"));
    }
    let owner = state.definitions.graphs.iter().find(|(_, other)| other.place.can_free_elsewhere(address));
    if let Some(owner) = owner.map(|(owner, _)| owner) {
        state.definitions.graph_mut(owner)?.place.free_elsewhere(address, true);
    } else {
        // The allocation may outlive its graph.
        let (left, nodes) = (state.memory.at(address), &state.definitions.nodes);
        if !left.is_some_and(
            |found| matches!(found.kind, AllocationKind::Graph(node) if nodes.get(node).is_none()),
        ) {
            return Err(no("which is not the address of an unfreed allocation of an alloc node"));
        }
    }
    Ok(state.definitions.graph_mut(graph)?.place.free(address))
}

/// Destroys a node and its edges.
pub fn destroy_node(state: &mut State, node: u64) -> Result {
    let graph = state.definitions.node(node)?.graph;
    if state.definitions.has_memory(graph) {
        return Err(log::log_error(
            Status::NOT_SUPPORTED,
            "nodes of a graph with memory nodes cannot be destroyed",
        ));
    }
    let entry = state.definitions.nodes.remove(node).ok_or(Status::INVALID_VALUE)?;
    for (before, _) in entry.dependencies {
        if let Some(before) = state.definitions.nodes.get_mut(before) {
            before.dependents.retain(|&other| other != node);
        }
    }
    for after in entry.dependents {
        if let Some(after) = state.definitions.nodes.get_mut(after) {
            after.dependencies.retain(|dependency| dependency.0 != node);
        }
    }
    state.definitions.graph_mut(graph)?.nodes.retain(|&other| other != node);
    if let Operation::Conditional(conditional) = &entry.op {
        state.definitions.release_handle(conditional.handle);
    }
    entry.op.graphs().iter().for_each(|&inner| remove_graph(state, inner));
    Ok(())
}

/// Returns a copy of a graph. The copied nodes record their originals.
pub fn clone_graph(state: &mut State, graph: u64) -> Result<u64> {
    if state.definitions.has_memory(graph) {
        return Err(log::log_error(Status::NOT_SUPPORTED, "a graph with memory nodes cannot be cloned"));
    }
    if state.definitions.has_conditionals(graph) {
        return Err(log::log_error(Status::NOT_SUPPORTED, "a graph with conditional nodes cannot be cloned"));
    }
    let top = create_graph(state);
    let mut work = vec![(graph, top)];
    while let Some((from, to)) = work.pop() {
        let source = state.definitions.graph(from)?;
        let (nodes, objects, buffers) =
            (source.nodes.clone(), source.objects.clone(), source.buffers.clone());
        let mut images = BTreeMap::new();
        for &node in &nodes {
            images.insert(node, clone_node(state, node, to, &mut work)?);
        }
        let image_of = |node: &u64| images.get(node).copied().unwrap_or(0);
        for (&node, &image) in &images {
            let entry = state.definitions.node(node)?;
            let before: Dependencies =
                entry.dependencies.iter().map(|(n, data)| (image_of(n), *data)).collect();
            let after: Vec<u64> = entry.dependents.iter().map(image_of).collect();
            if let Some(entry) = state.definitions.nodes.get_mut(image) {
                (entry.dependencies, entry.dependents) = (before, after);
            }
        }
        for &(object, count) in &objects {
            if let Some(object) = state.objects.get_mut(object) {
                object.references += count;
            }
        }
        let copy = state.definitions.graph_mut(to)?;
        copy.nodes = nodes.iter().map(image_of).collect();
        copy.original = from;
        copy.objects = objects;
        copy.buffers = buffers;
        for buffer in &mut copy.buffers {
            buffer.users.iter_mut().for_each(|user| user.0 = image_of(&user.0));
        }
    }
    Ok(top)
}

/// Adds a copy of a node to a graph, without edges. For a child node, pushes its graph and the empty copy of it
/// onto `work`.
fn clone_node(state: &mut State, node: u64, to: u64, work: &mut Vec<(u64, u64)>) -> Result<u64> {
    let entry = state.definitions.node(node)?;
    let (mut op, local) = (entry.op.clone(), entry.local);
    let (note, members) = (entry.note.clone(), entry.members.clone());
    if let Operation::Child(child) = &mut op {
        let inner = create_graph(state);
        work.push((*child, inner));
        *child = inner;
    }
    let inner = if let Operation::Child(inner) = op { inner } else { 0 };
    let image = state.definitions.nodes.insert(Node {
        graph: to,
        op,
        dependencies: Vec::new(),
        dependents: Vec::new(),
        freed: placement::NodeSet::default(),
        note,
        members,
        original: node,
        local,
    });
    if let Some(inner) = state.definitions.graphs.get_mut(inner) {
        inner.owner = GraphOwner::Cloned(image);
    }
    Ok(image)
}

/// Adds a child node that holds a clone of the graph, or the graph itself.
pub fn add_child(
    state: &mut State,
    graph: u64,
    dependencies: Dependencies,
    child: u64,
    moved: bool,
) -> Result<u64> {
    state.definitions.check_dependencies(graph, &dependencies, None)?;
    let inner = state.definitions.graph(child)?;
    if child == graph || (moved && (inner.owner != GraphOwner::Program || inner.execs > 0)) {
        return Err(Status::INVALID_VALUE);
    }
    if !moved && state.definitions.has_memory(child) {
        let what = "a graph with memory nodes can only be moved into a child node";
        return Err(log::log_error(Status::NOT_SUPPORTED, what));
    }
    if state.definitions.has_conditionals(child) {
        let what = "a graph with conditional nodes cannot be a child";
        return Err(log::log_error(Status::NOT_SUPPORTED, what));
    }
    let inner = if moved { child } else { clone_graph(state, child)? };
    let node = add_node(state, graph, dependencies, Operation::Child(inner))?;
    let owner = if moved { GraphOwner::Moved(node) } else { GraphOwner::Cloned(node) };
    state.definitions.graph_mut(inner)?.owner = owner;
    Ok(node)
}

/// Destroys a graph on behalf of the program.
pub fn destroy_graph(state: &mut State, graph: u64) -> Result {
    if state.definitions.graph(graph)?.owner != GraphOwner::Program {
        return Err(Status::INVALID_VALUE);
    }
    remove_graph(state, graph);
    Ok(())
}

/// Destroys a graph and the graphs inside it.
pub fn remove_graph(state: &mut State, graph: u64) {
    let mut work = vec![graph];
    while let Some(graph) = work.pop() {
        let Some(entry) = state.definitions.graphs.remove(graph) else { continue };
        for node in entry.nodes {
            let Some(op) = state.definitions.nodes.remove(node).map(|node| node.op) else { continue };
            work.extend(op.graphs());
            match op {
                Operation::Free(address) => {
                    for (_, other) in state.definitions.graphs.iter_mut() {
                        if other.place.can_free_elsewhere(address) {
                            other.place.free_elsewhere(address, false);
                        }
                    }
                }
                Operation::Conditional(conditional) => state.definitions.release_handle(conditional.handle),
                _ => {}
            }
        }
        entry.place.ranges().iter().for_each(|&start| state.memory.release(start));
        state.definitions.remove_handles(graph);
        for (object, count) in entry.objects {
            drop_references(state, object, count);
        }
    }
}

/// Releases references to a user object and destroys it if none are left.
pub fn drop_references(state: &mut State, object: u64, count: u64) {
    let Some(entry) = state.objects.get_mut(object) else { return };
    entry.references = entry.references.saturating_sub(count);
    if entry.references == 0
        && let Some(object) = state.objects.remove(object)
        && let Some(destroy) = object.destroy
    {
        // SAFETY: the program passed the destructor to be called once. It must not call the driver, so the lock
        // may stay held.
        crate::base::callback::call_program(|| unsafe { destroy(object.data as *mut std::ffi::c_void) });
    }
}

/// Checks the data of an edge. `to` is `None` if the edge leads to a node that is still being created.
fn check_edge(from: &Operation, data: CUgraphEdgeData, to: Option<&Operation>) -> Result {
    let kernels =
        matches!(from, Operation::Kernel(_)) && to.is_none_or(|to| matches!(to, Operation::Kernel(_)));
    let programmatic = data.kind == PROGRAMMATIC;
    let ports = match data.from_port {
        0 => !programmatic,
        1 | 2 => kernels && programmatic,
        _ => false,
    };
    let valid = data.kind <= PROGRAMMATIC && ports && data.to_port == 0 && data.reserved == [0; 5];
    if !valid {
        return Err(log::log_error(Status::INVALID_VALUE, "invalid edge data"));
    }
    // Documented for compute capability 9.0 and newer. The error code of older devices is not documented.
    if programmatic && !device().has_programmatic_launch() {
        let what = "a programmatic edge, on a device of compute capability below 9.0";
        return Err(log::log_error(Status::NOT_SUPPORTED, what));
    }
    Ok(())
}
