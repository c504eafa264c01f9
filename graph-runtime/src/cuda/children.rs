//! Child graphs of an exec that are replaced by graphs with other parameters.
//!
//! The driver takes over the functions and parameters of the new nodes, but neither edges nor attributes, and it cannot
//! read all attributes of a kernel. So a graph replaces another one only if their [`GraphShape`]s are equal.
//!
//! Clusters: some drivers report success but keep the old cluster dimensions on devices of capability 10, where a kernel
//! may also have preferred ones, which cannot be read (<https://github.com/ml-explore/mlx/issues/2748>). On capability 9
//! all updates took effect, also to other dimensions, but a kernel in clusters of 2 blocks takes up to twice as long
//! after one in larger clusters (benches/results/h200-2026-11-29/README.md).

use std::sync::atomic::{AtomicU32, Ordering};

use super::capture::CallNodes;
use super::entry::{Driver, call};
use super::failure::{Failure, INVALID_VALUE, NOT_SUPPORTED, Outcome};
use super::handles::{Context, Function, Node, RawExec, RawGraph};

/// The attributes of kernel nodes but the cluster dimension: access policy window, cooperative, cluster scheduling
/// policy, priority, map of memory synchronisation domains, memory synchronisation domain, preferred cluster dimension,
/// updatable by devices, shared-memory carveout, NVLink utilisation.
const ATTRIBUTES: [u32; 10] = [1, 2, 5, 8, 9, 10, 11, 13, 14, 16];
/// A bit for each attribute that the driver has refused: tools report each refused call.
static UNKNOWN_ATTRIBUTES: AtomicU32 = AtomicU32::new(0);
/// The last major compute capability on which updates of kernels in clusters took effect.
const LAST_REPLACING_CLUSTERS: u32 = 9;
/// `CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE`.
const CLUSTER_SCHEDULING: u32 = 5;
/// `CU_LAUNCH_ATTRIBUTE_PRIORITY`.
const PRIORITY: u32 = 8;
/// `CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION`.
const CLUSTER_DIMENSION: u32 = 4;
/// `CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET`, and `CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_*`.
const CLUSTERED: [u32; 4] = [10, 11, 12, 13];
/// `CU_GRAPH_NODE_TYPE_KERNEL`.
const KERNEL: u32 = 0;
/// `CU_GRAPH_NODE_TYPE_MEMSET`.
const FILL: u32 = 2;
/// `CU_GRAPH_NODE_TYPE_GRAPH` and `CU_GRAPH_NODE_TYPE_CONDITIONAL`.
const WITH_GRAPHS: [u32; 2] = [4, 13];
/// `CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE`.
const UPDATE_FAILURE: u32 = 910;

/// The nodes and edges of a graph, without the parameters that an update of an exec changes.
#[derive(Clone, Debug)]
pub struct GraphShape {
    nodes: Vec<NodeShape>,
    /// False if a kernel runs in clusters, or a node has graphs of its own.
    pub is_replaceable: bool,
}

/// A node without its parameters.
#[derive(Clone, Debug)]
struct NodeShape {
    kind: u32,
    /// The number of blocks of a kernel's clusters, which an update changes. 1 without clusters.
    cluster: u32,
    /// The attributes of a kernel but the cluster dimensions. An attribute is `None` if the driver does not know it.
    attributes: Vec<Option<[u64; 8]>>,
    /// The indices of its predecessors. True for programmatic edges.
    after: Vec<(Option<usize>, bool)>,
}

impl GraphShape {
    /// Returns true if its first node is a fill that comes after no other.
    pub fn begins_with_fill(&self) -> bool {
        self.nodes.first().is_some_and(|first| first.kind == FILL && first.after.is_empty())
    }

    /// Returns its nodes if they are a fill, or none, and kernels.
    pub fn call_nodes(&self) -> Option<CallNodes> {
        let fill = self.begins_with_fill();
        let kernels = &self.nodes[usize::from(fill)..];
        let all = kernels.iter().all(|node| node.kind == KERNEL);
        let cluster = kernels.iter().map(|node| node.cluster).max().unwrap_or(1);
        all.then_some(CallNodes { fill, kernels: kernels.len(), cluster })
    }

    /// Returns what another graph has that this one has not. `None` if they are equal.
    pub fn difference(&self, other: &GraphShape) -> Option<String> {
        if self.kinds() != other.kinds() {
            return Some(format!("{} instead of {}", other.kinds(), self.kinds()));
        }
        self.nodes.iter().zip(&other.nodes).enumerate().find_map(|(at, (one, two))| {
            if one.after != two.after {
                return Some(format!("other edges into node {at}"));
            }
            let mut attributes = one.attributes.iter().zip(&two.attributes).zip(ATTRIBUTES);
            let (_, number) = attributes.find(|((one, two), _)| one != two)?;
            Some(format!("another attribute {number} of node {at}"))
        })
    }

    /// Returns the kinds of the nodes as a text: `fill, kernel`.
    fn kinds(&self) -> String {
        let kind = |node: &NodeShape| match node.kind {
            0 => "kernel",
            1 => "copy",
            2 => "fill",
            3 => "host function",
            4 => "graph",
            5 => "empty",
            _ => "other",
        };
        self.nodes.iter().map(kind).collect::<Vec<_>>().join(", ")
    }
}

impl Driver {
    /// Returns the shape of a graph. `major` is the compute capability of its device.
    pub fn shape_of(&self, graph: RawGraph, major: u32) -> Outcome<GraphShape> {
        let nodes = self.graph_nodes(graph, self.node_count(graph)?)?;
        let mut shape = GraphShape { nodes: Vec::with_capacity(nodes.len()), is_replaceable: true };
        for &node in &nodes {
            let mut kind = 0;
            call!(self, cuGraphNodeGetType(node, &mut kind))?;
            let (mut attributes, mut cluster) = (Vec::new(), 1);
            if kind == KERNEL {
                cluster = self.cluster_of(node)?;
                attributes = self.attributes_of(node, &ATTRIBUTES)?;
                shape.is_replaceable &= major <= LAST_REPLACING_CLUSTERS || !self.is_clustered(node)?;
            }
            shape.is_replaceable &= !WITH_GRAPHS.contains(&kind);
            let index = |before: Node| nodes.iter().position(|&other| other == before);
            let dependencies = self.dependencies(node)?;
            let after = dependencies.into_iter().map(|(before, programmatic)| (index(before), programmatic));
            let mut after: Vec<_> = after.collect();
            after.sort_unstable();
            shape.nodes.push(NodeShape { kind, cluster, attributes, after });
        }
        Ok(shape)
    }

    /// Returns the function of a kernel node.
    pub fn function_of(&self, node: Node) -> Outcome<Function> {
        Ok(self.function_and_context_of(node)?.0)
    }

    /// Returns the function of a kernel node, and its context, if the node tells it.
    pub fn function_and_context_of(&self, node: Node) -> Outcome<(Function, Option<Context>)> {
        let mut params = self.kernel_params_of(node)?;
        if params.function == Function::NONE {
            call!(self, cuKernelGetFunction(&mut params.function, params.kernel))?;
        }
        let context = (params.context != 0).then_some(Context(params.context));
        Ok((params.function, context))
    }

    /// Returns the attributes of a kernel node on which its results may depend: but its priority, and the scheduling
    /// policy of clusters, which captures set for kernels without clusters, too.
    pub fn kernel_attributes(&self, node: Node) -> Outcome<Vec<Option<[u64; 8]>>> {
        let numbers = std::iter::once(CLUSTER_DIMENSION).chain(ATTRIBUTES);
        let numbers: Vec<u32> =
            numbers.filter(|number| ![CLUSTER_SCHEDULING, PRIORITY].contains(number)).collect();
        self.attributes_of(node, &numbers)
    }

    /// Returns the priority of a kernel node.
    pub fn priority_of(&self, node: Node) -> Outcome<Option<[u64; 8]>> {
        Ok(self.attributes_of(node, &[PRIORITY])?.pop().flatten())
    }

    /// Returns attributes of a kernel node.
    fn attributes_of(&self, node: Node, attributes: &[u32]) -> Outcome<Vec<Option<[u64; 8]>>> {
        let attribute = |&number: &u32| {
            let is_known_refused = UNKNOWN_ATTRIBUTES.load(Ordering::Relaxed) & 1 << number != 0;
            if number != CLUSTER_DIMENSION && is_known_refused {
                return Ok(None);
            }
            let mut value = [0; 8];
            match call!(self, cuGraphKernelNodeGetAttribute(node, number, &mut value)) {
                Ok(()) => Ok(Some(value)),
                Err(Failure { code: INVALID_VALUE | NOT_SUPPORTED, .. }) => {
                    UNKNOWN_ATTRIBUTES.fetch_or(1 << number, Ordering::Relaxed);
                    Ok(None)
                }
                Err(failure) => Err(failure),
            }
        };
        attributes.iter().map(attribute).collect()
    }

    /// Returns the number of blocks in a cluster by the attribute of a kernel node, 1 without one.
    fn cluster_of(&self, node: Node) -> Outcome<u32> {
        let [Some([xy, z, ..])] = self.attributes_of(node, &[CLUSTER_DIMENSION])?[..] else { return Ok(1) };
        let extents = [xy & 0xffff_ffff, xy >> 32, z & 0xffff_ffff];
        let blocks = extents.into_iter().fold(1_u64, |blocks, extent| blocks.saturating_mul(extent.max(1)));
        Ok(u32::try_from(blocks).unwrap_or(u32::MAX))
    }

    /// Returns true if the blocks of a kernel node run in clusters.
    fn is_clustered(&self, node: Node) -> Outcome<bool> {
        let function = self.function_of(node)?;
        if self.cluster_of(node)? > 1 {
            return Ok(true);
        }
        for attribute in CLUSTERED {
            match self.function_attribute(function, attribute) {
                Ok(0) | Err(Failure { code: INVALID_VALUE | NOT_SUPPORTED, .. }) => {}
                Ok(_) => return Ok(true),
                Err(failure) => return Err(failure),
            }
        }
        Ok(false)
    }

    /// Adds an empty node.
    pub fn add_empty(&self, graph: RawGraph, after: &[Node]) -> Outcome<Node> {
        let mut node = Node::NONE;
        call!(self, cuGraphAddEmptyNode(&mut node, graph, after.as_ptr(), after.len()))?;
        Ok(node)
    }

    /// Gives the nodes of a child graph of an exec the parameters of `child`, which may be destroyed afterwards.
    /// Returns false if the driver cannot; some nodes may then have the new parameters.
    pub fn set_child(&self, exec: RawExec, node: Node, child: RawGraph) -> Outcome<bool> {
        match call!(self, cuGraphExecChildGraphNodeSetParams(exec, node, child)) {
            Ok(()) => Ok(true),
            Err(Failure { code: UPDATE_FAILURE | INVALID_VALUE | NOT_SUPPORTED, .. }) => Ok(false),
            Err(failure) => Err(failure),
        }
    }
}
