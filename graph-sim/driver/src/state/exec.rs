//! Graph instances: a flat copy of the nodes, including those of child graphs, which launches run and updates
//! change.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use super::conditions::Conditions;
use super::graph::Buffer;
use super::members::{Actors, Members};
use super::operation::Operation;
use super::schedule::{self, Precedence};
use super::scopes::Scopes;
use crate::base::note::Note;
use crate::base::status::{Result, Status};

/// A node of an instance.
#[derive(Clone)]
pub struct ExecNode {
    /// The node of the graph definition.
    pub node: u64,
    pub op: Operation,
    pub enabled: bool,
    /// The name that the program gave it.
    pub note: Option<Note>,
    /// The member launches of a batched node.
    pub members: Option<Arc<Members>>,
    /// The number of the node in its graph, which names nodes without a name.
    pub local: u64,
}

/// The shape of an instance. No update changes it.
#[derive(Clone)]
pub struct ExecShape {
    /// The predecessors of each node.
    pub predecessors: Vec<Vec<usize>>,
    /// The predecessors of each node along full edges.
    pub full: Vec<Vec<usize>>,
    /// The predecessors of each node along programmatic edges.
    pub programmatic: Vec<Vec<usize>>,
    pub precedence: OnceLock<Precedence>,
    /// The index of each node of the definition. A child node or conditional node maps to its entry.
    pub index: BTreeMap<u64, usize>,
    /// The graph of each child node of the definition.
    pub children: BTreeMap<u64, u64>,
    /// The scopes: the graph and the bodies of conditional nodes.
    pub scopes: Scopes,
    /// The actors: nodes and members.
    pub actors: Actors,
    /// The buffers that the program described.
    pub buffers: Vec<UsedBuffer>,
}

/// A buffer that the program described.
#[derive(Clone)]
pub struct UsedBuffer {
    pub buffer: Buffer,
    /// The actors that use the buffer.
    pub users: Vec<usize>,
}

impl ExecShape {
    /// Returns the shape in which these nodes have no predecessors.
    pub fn without_predecessors(&self, nodes: &[usize]) -> ExecShape {
        let mut shape = ExecShape { precedence: OnceLock::new(), ..self.clone() };
        for &node in nodes {
            for predecessors in [&mut shape.predecessors, &mut shape.full, &mut shape.programmatic] {
                predecessors[node].clear();
            }
        }
        shape
    }

    /// Returns a shape with full edges only, for tests.
    #[cfg(test)]
    pub fn with_full_edges(predecessors: Vec<Vec<usize>>, buffers: Vec<UsedBuffer>) -> Self {
        let none = vec![Vec::new(); predecessors.len()];
        ExecShape::with_edges(predecessors, none, buffers)
    }

    /// Returns a shape with full and programmatic edges, for tests.
    #[cfg(test)]
    pub fn with_edges(
        full: Vec<Vec<usize>>,
        programmatic: Vec<Vec<usize>>,
        buffers: Vec<UsedBuffer>,
    ) -> Self {
        let actors = Actors::new(vec![0; full.len()].into_iter());
        let predecessors = full.iter().zip(&programmatic).map(|(a, b)| [&a[..], &b[..]].concat()).collect();
        let (index, children, precedence) = (BTreeMap::new(), BTreeMap::new(), OnceLock::new());
        let mut scopes = Scopes::default();
        scopes.add(0..full.len(), None);
        scopes.buffers = vec![0; buffers.len()];
        ExecShape { predecessors, full, programmatic, precedence, index, children, scopes, actors, buffers }
    }

    /// Returns true if there are programmatic edges.
    pub fn has_programmatic_edges(&self) -> bool {
        self.programmatic.iter().any(|before| !before.is_empty())
    }

    /// Returns the precedence of nodes, under the assumption that every consumer of a programmatic edge waits
    /// before its first access.
    pub fn precedence(&self) -> &Precedence {
        self.precedence.get_or_init(|| {
            let order = schedule::order(&self.predecessors, None).unwrap_or_default();
            Precedence::new(&self.predecessors, &order)
        })
    }
}

/// An instance of a graph.
pub struct Exec {
    /// The handle of the graph. The graph may have been destroyed.
    pub graph: u64,
    pub flags: u64,
    pub nodes: Vec<ExecNode>,
    pub shape: Arc<ExecShape>,
    pub conditions: Arc<Conditions>,
    /// The reserved address ranges that the instance holds.
    pub ranges: Vec<u64>,
    /// The number of launches so far.
    pub launches: u64,
    /// A number mixed into the seeds of the instance's schedules.
    pub salt: u64,
    /// The user objects that the instance holds, with the number of references.
    pub objects: Vec<(u64, u64)>,
    /// The id reported by `cuGraphExecGetId`.
    pub id: u64,
}

impl Exec {
    /// Returns the instance's node for a node of the definition.
    pub fn find(&mut self, node: u64) -> Result<&mut ExecNode> {
        let at = *self.shape.index.get(&node).ok_or(Status::INVALID_VALUE)?;
        self.nodes.get_mut(at).ok_or(Status::INVALID_VALUE)
    }
}
