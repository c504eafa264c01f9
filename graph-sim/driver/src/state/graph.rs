//! Graphs as the program defines them: nodes, edges and buffers.

use std::sync::Arc;

use super::members::Members;
use super::op::Op;
use super::place;
use crate::base::note::Note;
use crate::base::types::CUgraphEdgeData;

/// A node's dependencies: the nodes, and what their edges carry.
pub type Dependencies = Vec<(u64, CUgraphEdgeData)>;

/// `CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC`.
pub const PROGRAMMATIC: u8 = 1;

/// An edge that is complete order, as almost all are.
pub fn full(nodes: &[u64]) -> Dependencies {
    nodes.iter().map(|&node| (node, CUgraphEdgeData::default())).collect()
}

/// Who destroys a graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owner {
    /// The program.
    Program,
    /// The child node that holds a clone of the program's graph.
    Cloned(u64),
    /// The child node that the program's graph was moved into.
    Moved(u64),
}

/// A graph.
pub struct Graph {
    /// Its nodes, oldest first.
    pub nodes: Vec<u64>,
    /// The addresses of its allocations.
    pub place: place::Placement,
    /// Who destroys it.
    pub owner: Owner,
    /// Live instances.
    pub execs: u32,
    /// User objects that it holds, with the number of references.
    pub objects: Vec<(u64, u64)>,
    /// The graph that it is a clone of.
    pub original: u64,
    /// Buffers that the program told us about.
    pub buffers: Vec<Buffer>,
    /// Its number.
    pub id: u64,
}

/// A node.
pub struct Node {
    /// Its graph.
    pub graph: u64,
    /// What it does.
    pub op: Op,
    /// The nodes before it.
    pub dependencies: Vec<(u64, CUgraphEdgeData)>,
    /// The nodes behind it.
    pub dependents: Vec<u64>,
    /// The free nodes that precede it, as it was added.
    pub freed: place::Row,
    /// What the program calls it.
    pub note: Option<Note>,
    /// The launches that it stands for, if it was told to be several.
    pub members: Option<Arc<Members>>,
    /// The node that it is a clone of.
    pub original: u64,
    /// Its number within the graph.
    pub local: u64,
}

/// A buffer planned inside an allocation, or one of the program's that a graph uses.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// What the program calls it.
    pub note: Note,
    /// Its address.
    pub address: u64,
    /// Its length.
    pub bytes: u64,
    /// Whether its life is this graph's business: it begins, with no byte written, before the first of its users,
    /// and ends with the last of them.
    pub planned: bool,
    /// The nodes that may touch it, each with the number of one of its members, or [`WHOLE`](super::members::WHOLE).
    pub users: Vec<(u64, u32)>,
}
