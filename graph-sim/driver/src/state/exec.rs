//! Instances of graphs: a flat copy of the nodes, children's included, that launches run and updates change.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use super::conditions::Conditions;
use super::graph::Buffer;
use super::members::{Actors, Members};
use super::op::Op;
use super::schedule::{self, Precedence};
use super::scopes::Scopes;
use crate::base::note::Note;
use crate::base::status::{Result, Status};

/// A node of an instance.
#[derive(Clone)]
pub struct ExecNode {
    /// The node of the definition.
    pub node: u64,
    /// The work.
    pub op: Op,
    /// True if the node is enabled.
    pub enabled: bool,
    /// The program's name for it.
    pub note: Option<Note>,
    /// Its members, if it is a batched node.
    pub members: Option<Arc<Members>>,
    /// The number of the node in its graph, for nodes without a name.
    pub local: u64,
}

/// The shape of an instance, which no update changes.
pub struct Shape {
    /// For each node its predecessors.
    pub predecessors: Vec<Vec<usize>>,
    /// For each node its predecessors along full edges.
    pub full: Vec<Vec<usize>>,
    /// For each node its predecessors along programmatic edges.
    pub programmatic: Vec<Vec<usize>>,
    pub precedence: OnceLock<Precedence>,
    /// The index of each node of the definition. A child or conditional node maps to its entry.
    pub index: BTreeMap<u64, usize>,
    /// For each child node of the definition, its graph.
    pub children: BTreeMap<u64, u64>,
    /// The graph and the bodies of conditional nodes.
    pub scopes: Scopes,
    /// Nodes and members.
    pub actors: Actors,
    /// Buffers described by the program.
    pub buffers: Vec<UsedBuffer>,
}

/// A buffer that the program described.
pub struct UsedBuffer {
    /// The buffer.
    pub buffer: Buffer,
    /// The actors that use it.
    pub users: Vec<usize>,
}

impl Shape {
    /// Returns a shape with full edges, for tests.
    #[cfg(test)]
    pub fn of(predecessors: Vec<Vec<usize>>, buffers: Vec<UsedBuffer>) -> Self {
        let none = vec![Vec::new(); predecessors.len()];
        Shape::with(predecessors, none, buffers)
    }

    /// Returns a shape with both kinds of edges, for tests.
    #[cfg(test)]
    pub fn with(full: Vec<Vec<usize>>, programmatic: Vec<Vec<usize>>, buffers: Vec<UsedBuffer>) -> Self {
        let actors = Actors::new(vec![0; full.len()].into_iter());
        let predecessors = full.iter().zip(&programmatic).map(|(a, b)| [&a[..], &b[..]].concat()).collect();
        let (index, children, precedence) = (BTreeMap::new(), BTreeMap::new(), OnceLock::new());
        let mut scopes = Scopes::default();
        scopes.add(0..full.len(), None);
        scopes.buffers = vec![0; buffers.len()];
        Shape { predecessors, full, programmatic, precedence, index, children, scopes, actors, buffers }
    }

    /// Returns true if there are programmatic edges.
    pub fn overlaps(&self) -> bool {
        self.programmatic.iter().any(|before| !before.is_empty())
    }

    /// Returns the precedence of nodes under the assumption that every consumer of a programmatic edge waits first.
    pub fn precedence(&self) -> &Precedence {
        self.precedence.get_or_init(|| {
            let order = schedule::order(&self.predecessors, None).unwrap_or_default();
            Precedence::new(&self.predecessors, &order)
        })
    }
}

/// An instance of a graph.
pub struct Exec {
    /// The graph, which may be gone.
    pub graph: u64,
    /// The flags of its instantiation.
    pub flags: u64,
    /// Its nodes.
    pub nodes: Vec<ExecNode>,
    /// Its shape.
    pub shape: Arc<Shape>,
    /// The conditions of its conditional nodes.
    pub conditions: Arc<Conditions>,
    /// Ranges of addresses that it keeps.
    pub ranges: Vec<u64>,
    /// The number of launches.
    pub launches: u64,
    /// The instance's part of the seed of its schedules.
    pub salt: u64,
    /// User objects that it holds, with the number of references.
    pub objects: Vec<(u64, u64)>,
    /// Its number.
    pub id: u64,
}

impl Exec {
    /// Returns the instance's node of a node of the definition.
    pub fn find(&mut self, node: u64) -> Result<&mut ExecNode> {
        let at = *self.shape.index.get(&node).ok_or(Status::INVALID_VALUE)?;
        self.nodes.get_mut(at).ok_or(Status::INVALID_VALUE)
    }
}
