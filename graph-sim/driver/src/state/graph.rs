//! Graphs as the program defines them: nodes, edges and buffers.

use std::sync::Arc;

use super::members::Members;
use super::op::Op;
use super::place;
use crate::base::note::Note;
use crate::base::types::CUgraphEdgeData;

/// A node's dependencies, with the data of their edges.
pub type Dependencies = Vec<(u64, CUgraphEdgeData)>;

/// An edge.
pub struct Edge {
    /// The node that comes first.
    pub from: u64,
    /// The node that depends on it.
    pub to: u64,
    /// Its data.
    pub data: CUgraphEdgeData,
}

/// `CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC`.
pub const PROGRAMMATIC: u8 = 1;

/// Dependencies with full edges.
pub fn full(nodes: &[u64]) -> Dependencies {
    nodes.iter().map(|&node| (node, CUgraphEdgeData::default())).collect()
}

/// The owner of a graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owner {
    /// The program.
    Program,
    /// The child node that holds a clone of the program's graph.
    Cloned(u64),
    /// The child node that the program's graph was moved into.
    Moved(u64),
    /// The body of a conditional node.
    Body(u64),
}

/// A graph.
pub struct Graph {
    /// Its nodes, oldest first.
    pub nodes: Vec<u64>,
    /// The addresses of its allocations.
    pub place: place::Placement,
    /// Its owner.
    pub owner: Owner,
    /// Live instances.
    pub execs: u32,
    /// User objects that it holds, with the number of references.
    pub objects: Vec<(u64, u64)>,
    /// The graph that it is a clone of.
    pub original: u64,
    /// Buffers that the program described.
    pub buffers: Vec<Buffer>,
    /// Its number.
    pub id: u64,
}

/// A node.
pub struct Node {
    /// Its graph.
    pub graph: u64,
    /// The work.
    pub op: Op,
    /// Its predecessors, with the data of the edges.
    pub dependencies: Vec<(u64, CUgraphEdgeData)>,
    /// Its successors.
    pub dependents: Vec<u64>,
    /// The free nodes that preceded it when it was added.
    pub freed: place::Row,
    /// The program's name for it.
    pub note: Option<Note>,
    /// Its members, if it is a batched node.
    pub members: Option<Arc<Members>>,
    /// The node that it is a clone of.
    pub original: u64,
    /// Its number within the graph.
    pub local: u64,
}

/// A buffer planned inside an allocation, or a buffer of the program that a graph uses.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// The program's name for it.
    pub note: Note,
    /// Its address.
    pub address: u64,
    /// Its length.
    pub bytes: u64,
    /// True if the graph manages its live range: it begins, with no byte written, before the first of its users,
    /// and ends with the last of them.
    pub planned: bool,
    /// The number of the buffer, ascending in the order of description.
    pub number: u64,
    /// The nodes that may touch it, each with a member's number, or [`WHOLE`](super::members::WHOLE).
    pub users: Vec<(u64, u32)>,
}
