//! Graphs as the program defines them: nodes, edges and described buffers.

use std::sync::Arc;

use super::members::Members;
use super::operation::Operation;
use super::placement;
use crate::base::note::Note;
use crate::base::types::CUgraphEdgeData;

/// The dependencies of a node, with the data of their edges.
pub type Dependencies = Vec<(u64, CUgraphEdgeData)>;

/// An edge.
pub struct Edge {
    /// The predecessor.
    pub from: u64,
    /// The successor.
    pub to: u64,
    pub data: CUgraphEdgeData,
}

/// `CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC`.
pub const PROGRAMMATIC: u8 = 1;

/// Returns dependencies with full edges.
pub fn full(nodes: &[u64]) -> Dependencies {
    nodes.iter().map(|&node| (node, CUgraphEdgeData::default())).collect()
}

/// The owner of a graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GraphOwner {
    /// The program.
    Program,
    /// A child node that holds a clone of the program's graph.
    Cloned(u64),
    /// A child node into which the program's graph was moved.
    Moved(u64),
    /// The conditional node of which the graph is a body.
    Body(u64),
}

/// A graph.
pub struct Graph {
    /// Oldest first.
    pub nodes: Vec<u64>,
    /// The placement of its allocations.
    pub place: placement::Placement,
    pub owner: GraphOwner,
    /// The number of live instances.
    pub execs: u32,
    /// The user objects that the graph holds, with the number of references.
    pub objects: Vec<(u64, u64)>,
    /// The graph of which this one is a clone.
    pub original: u64,
    /// The buffers that the program described.
    pub buffers: Vec<Buffer>,
    /// The id reported by `cuGraphGetId`.
    pub id: u64,
}

/// A node.
pub struct Node {
    pub graph: u64,
    pub op: Operation,
    /// The predecessors, with the data of the edges.
    pub dependencies: Vec<(u64, CUgraphEdgeData)>,
    /// The successors.
    pub dependents: Vec<u64>,
    /// The free nodes that preceded the node when it was added.
    pub freed: placement::NodeSet,
    /// The name that the program gave it.
    pub note: Option<Note>,
    /// The member launches of a batched node.
    pub members: Option<Arc<Members>>,
    /// The node of which this one is a clone.
    pub original: u64,
    /// The number of the node in its graph.
    pub local: u64,
}

/// A buffer that the graph uses: planned inside an allocation, or owned by the program.
#[derive(Clone, Debug)]
pub struct Buffer {
    pub note: Note,
    pub address: u64,
    /// The length in bytes.
    pub bytes: u64,
    /// True if the graph manages the buffer's live range. The live range begins before the first user, with no
    /// byte written, and ends with the last user.
    pub planned: bool,
    /// A number that rises in the order of description.
    pub number: u64,
    /// The nodes that may access the buffer, each with a member number or [`WHOLE_NODE`](super::members::WHOLE_NODE).
    pub users: Vec<(u64, u32)>,
}
