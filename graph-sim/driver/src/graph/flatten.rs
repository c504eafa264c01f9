//! Flattening: the list of an instance's nodes, from its graph, the child graphs and the bodies of conditional
//! nodes.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::refusal::{InstantiationError, RESULT_ERROR, RESULT_OPERATION, RESULT_STRUCTURE};
use crate::base::log;
use crate::base::status::Status;
use crate::state::State;
use crate::state::conditions::Conditions;
use crate::state::exec::{ExecNode, ExecShape, UsedBuffer};
use crate::state::graph::{Buffer, Node, PROGRAMMATIC};
use crate::state::members::Actors;
use crate::state::operation::Operation;
use crate::state::schedule;
use crate::state::scopes::{ConditionalBody, ConditionalNode, Scopes};

/// The list under construction.
struct FlatGraphBuilder<'a> {
    state: &'a State,
    nodes: Vec<ExecNode>,
    predecessors: Vec<Vec<usize>>,
    full: Vec<Vec<usize>>,
    programmatic: Vec<Vec<usize>>,
    /// The index of each node of the definition. A node that contains graphs maps to its entry.
    index: BTreeMap<u64, usize>,
    /// The exit of each node that contains graphs. The node's successors wait for it.
    exits: BTreeMap<u64, usize>,
    children: BTreeMap<u64, u64>,
    scopes: Scopes,
    conditions: Conditions,
    /// The described buffers, each with the scope of its graph.
    buffers: Vec<(Buffer, usize)>,
}

/// The child node that contains a graph.
#[derive(Clone, Copy)]
struct ChildNode {
    entry: usize,
    exit: usize,
}

/// The graph of a body.
struct BodyGraph {
    graph: u64,
    body: ConditionalBody,
}

/// The nodes, the shape and the conditions of an instance.
type FlatGraph = (Vec<ExecNode>, ExecShape, Conditions);

fn wrong() -> InstantiationError {
    InstantiationError(Status::INVALID_VALUE, RESULT_ERROR, 0)
}

impl FlatGraphBuilder<'_> {
    fn push(&mut self, handle: u64, node: &Node, op: Operation) -> usize {
        let (note, members, local) = (node.note.clone(), node.members.clone(), node.local);
        self.nodes.push(ExecNode { node: handle, op, enabled: true, note, members, local });
        self.predecessors.push(Vec::new());
        self.full.push(Vec::new());
        self.programmatic.push(Vec::new());
        self.nodes.len() - 1
    }

    /// Adds a full edge.
    fn order(&mut self, before: usize, after: usize) {
        self.predecessors[after].push(before);
        self.full[after].push(before);
    }

    /// Adds the nodes of a scope and returns the bodies of its conditional nodes. A child node becomes two empty
    /// nodes: an entry before the roots of its graph, and an exit after all of its nodes.
    fn scope(
        &mut self,
        graph: u64,
        parent: Option<ConditionalBody>,
    ) -> Result<Vec<BodyGraph>, InstantiationError> {
        let (first, scope) = (self.nodes.len(), self.scopes.list.len());
        let mut bodies = Vec::new();
        let mut work = vec![(graph, None)];
        while let Some((graph, child)) = work.pop() {
            self.graph(graph, child, scope, &mut work, &mut bodies)?;
        }
        self.scopes.add(first..self.nodes.len(), parent);
        if let Some(ConditionalBody { entry, .. }) = parent {
            for at in first..self.nodes.len() {
                if self.predecessors[at].is_empty() {
                    self.order(entry, at);
                }
                self.order(at, ConditionalNode::exit(entry));
            }
        }
        Ok(bodies)
    }

    /// Adds the nodes and edges of a graph.
    fn graph(
        &mut self,
        graph: u64,
        child: Option<ChildNode>,
        scope: usize,
        work: &mut Vec<(u64, Option<ChildNode>)>,
        bodies: &mut Vec<BodyGraph>,
    ) -> Result<(), InstantiationError> {
        let state = self.state;
        let entry = state.definitions.graph(graph).map_err(|_| wrong())?;
        self.buffers.extend(entry.buffers.iter().map(|buffer| (buffer.clone(), scope)));
        let first = self.nodes.len();
        for &handle in &entry.nodes {
            let node = state.definitions.node(handle).map_err(|_| wrong())?;
            let at =
                match &node.op {
                    Operation::Child(child) => {
                        let (entry, exit) = (
                            self.push(handle, node, Operation::Empty),
                            self.push(handle, node, Operation::Empty),
                        );
                        self.exits.insert(handle, exit);
                        self.children.insert(handle, *child);
                        work.push((*child, Some(ChildNode { entry, exit })));
                        entry
                    }
                    Operation::Conditional(conditional) => {
                        let entry = self.push(handle, node, node.op.clone());
                        let exit = self.push(handle, node, Operation::Empty);
                        self.exits.insert(handle, exit);
                        self.order(entry, exit);
                        let (number, kind) = (conditional.handle, conditional.kind);
                        self.scopes.conditionals.insert(entry, ConditionalNode { kind, bodies: Vec::new() });
                        let condition = state.definitions.conditions.get(number).ok_or_else(wrong)?;
                        self.conditions.add(number, condition, entry);
                        bodies.extend(conditional.bodies.iter().zip(0..).map(|(&graph, body)| BodyGraph {
                            graph,
                            body: ConditionalBody { entry, body },
                        }));
                        entry
                    }
                    op => self.push(handle, node, op.clone()),
                };
            self.index.insert(handle, at);
        }
        let last = self.nodes.len();
        for &handle in &entry.nodes {
            let node = state.definitions.node(handle).map_err(|_| wrong())?;
            let at = self.index[&handle];
            for (before, data) in &node.dependencies {
                let known = self.exits.get(before).or_else(|| self.index.get(before));
                let before = *known.ok_or_else(wrong)?;
                self.predecessors[at].push(before);
                let kind = match data.kind {
                    PROGRAMMATIC => &mut self.programmatic,
                    _ => &mut self.full,
                };
                kind[at].push(before);
            }
            if let (Some(child), true) = (child, node.dependencies.is_empty()) {
                self.order(child.entry, at);
            }
        }
        if let Some(ChildNode { entry, exit }) = child {
            (first..last).chain([entry]).for_each(|at| self.order(at, exit));
        }
        Ok(())
    }

    fn finish(self) -> Result<FlatGraph, InstantiationError> {
        let FlatGraphBuilder {
            nodes,
            predecessors,
            full,
            programmatic,
            index,
            children,
            mut scopes,
            conditions,
            ..
        } = self;
        if schedule::order(&predecessors, None).is_none() {
            let node = nodes.first().map_or(0, |node| node.node);
            let status = log::log_error(Status::INVALID_VALUE, "the graph has a cycle");
            return Err(InstantiationError(status, RESULT_STRUCTURE, node));
        }
        for node in &nodes {
            if let Operation::Kernel(launch) = &node.op
                && self.state.code.functions.get(launch.function).is_none()
            {
                return Err(InstantiationError(Status::INVALID_HANDLE, RESULT_OPERATION, node.node));
            }
        }
        let members = |node: &ExecNode| node.members.as_ref().map_or(0, |members| members.notes.len());
        let actors = Actors::new(nodes.iter().map(members));
        let users = |buffer: &Buffer| {
            let known = buffer.users.iter().filter_map(|&(user, member)| Some((*index.get(&user)?, member)));
            known.flat_map(|(user, member)| actors.users(user, member)).collect::<Vec<_>>()
        };
        let mut described = self.buffers;
        described.sort_by_key(|(buffer, _)| buffer.number);
        scopes.buffers = described.iter().map(|(_, scope)| *scope).collect();
        let buffers =
            described.into_iter().map(|(buffer, _)| UsedBuffer { users: users(&buffer), buffer }).collect();
        let precedence = OnceLock::new();
        let shape = ExecShape {
            predecessors,
            full,
            programmatic,
            precedence,
            index,
            children,
            scopes,
            actors,
            buffers,
        };
        Ok((nodes, shape, conditions))
    }
}

/// Returns the flat list of a graph, its child graphs and its bodies. The nodes of a body directly precede those
/// of the bodies inside it.
pub(super) fn flatten(state: &State, top: u64) -> Result<FlatGraph, InstantiationError> {
    let mut flat = FlatGraphBuilder {
        state,
        nodes: Vec::new(),
        predecessors: Vec::new(),
        full: Vec::new(),
        programmatic: Vec::new(),
        index: BTreeMap::new(),
        exits: BTreeMap::new(),
        children: BTreeMap::new(),
        scopes: Scopes::default(),
        conditions: Conditions::default(),
        buffers: Vec::new(),
    };
    let mut work = vec![(top, None)];
    while let Some((graph, parent)) = work.pop() {
        let bodies = flat.scope(graph, parent)?;
        work.extend(bodies.into_iter().rev().map(|of| (of.graph, Some(of.body))));
    }
    flat.finish()
}
