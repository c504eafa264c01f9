//! The order in which operations are added: theirs, but for what waits for a collective of another device.

use cuweave_core::index::{Index, Vector};
use cuweave_core::ir::BufferId;
use cuweave_core::operation::{MemoryId, Operation, OperationId};

use crate::build::arguments::body::Body;
use crate::build::conditional::bodies::Bodies;
use crate::cuda::Node;
use crate::error::{Error, Result};

use super::definition::Definition;
use super::nodes::Nodes;

impl Nodes {
    /// Adds the nodes in their order. `full` receives the operations whose programmatic edge comes out of a library call that does
    /// not end in one kernel, and is a full one therefore.
    pub(crate) fn add_all(
        &mut self,
        definition: &mut Definition,
        body: &dyn Body,
        list: &[Operation],
        memories: &mut Vector<MemoryId, u64>,
        inside: &Vector<MemoryId, Vec<BufferId>>,
        full: &mut Vec<OperationId>,
    ) -> Result<()> {
        let mut bodies = Bodies::of(definition);
        self.into = self.graph;
        self.nodes = Vector::filled(Node::NONE, list.len());
        self.begin_stamps(definition)?;
        let mut left: Vec<OperationId> = (0..list.len()).map(OperationId::new).collect();
        let mut again = false;
        while !left.is_empty() {
            let (count, mut late) = (left.len(), Vec::new());
            for at in left {
                // A collective has its nodes as soon as its last rank is reached.
                if again && !self.is_late(at) {
                    continue;
                }
                let of = (at, &list[at.index()]);
                if self.is_behind_late(of.1)
                    || !self.add_one((definition, body), &mut bodies, of, (&mut *memories, inside), full)?
                {
                    self.put_off(at);
                    late.push(at);
                }
            }
            late.retain(|&at| self.is_late(at));
            if late.len() == count {
                return Err(self.crossed(definition, late[0]));
            }
            (left, again) = (late, true);
        }
        self.bodies = bodies.graphs;
        self.conditions = bodies.nodes;
        Ok(())
    }

    /// Adds the nodes of an operation. Returns false for a collective that other ranks have not reached: it is added with theirs.
    fn add_one(
        &mut self,
        (definition, body): (&mut Definition, &dyn Body),
        bodies: &mut Bodies,
        (at, operation): (OperationId, &Operation),
        (memories, inside): (&mut Vector<MemoryId, u64>, &Vector<MemoryId, Vec<BufferId>>),
        full: &mut Vec<OperationId>,
    ) -> Result<bool> {
        let mut after = Vec::new();
        let programmatic = operation.programmatic.filter(|before| match self.captured.get(before) {
            Some(captured) => captured.ends_in_kernel,
            None => true,
        });
        let behind = self.put_behind(bodies, operation, programmatic, &mut after)?;
        if self.is_collective(operation) {
            let all = self.arrive(definition, body, at, operation, &after)?;
            let arrived = !all.is_empty();
            for (member, captured) in all {
                self.nodes[member] = captured.frontier.first().copied().unwrap_or(Node::NONE);
                self.captured.insert(member, captured);
            }
            if arrived {
                self.added(at);
                self.stamp(definition, bodies, operation)?;
            }
            return Ok(arrived);
        }
        if programmatic != operation.programmatic {
            full.push(at);
        }
        let several = self.add_several(definition, body, bodies, operation, &after)?;
        if !bodies.is_empty() && several.as_ref().is_none_or(|captured| !captured.nodes.is_empty()) {
            let scope = bodies.around(&self.operations, operation);
            bodies.fill(scope);
        }
        let (node, first) = if let Some(captured) = several {
            let node = captured.frontier.first().copied().unwrap_or(Node::NONE);
            let first = captured.nodes.first().copied().unwrap_or(node);
            self.captured.insert(at, captured);
            (node, first)
        } else {
            let node = self.add(definition, operation, &after, memories, inside)?;
            (node, node)
        };
        if let Some(before) = programmatic {
            definition
                .driver
                .add_programmatic_edge(behind, self.nodes[before], first, operation.launch_order)
                .map_err(|failure| Error::driver(failure, Some(self.at(definition.program(), operation))))?;
        }
        self.nodes[at] = node;
        self.added(at);
        self.stamp(definition, bodies, operation)?;
        Ok(true)
    }
}
