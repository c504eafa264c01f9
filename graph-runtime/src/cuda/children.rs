//! Child graphs of an exec that are replaced by graphs with other parameters.
//!
//! The driver takes over the parameters of the new nodes, but neither edges nor attributes, and it cannot read all
//! attributes of a kernel. So a graph replaces another one only if their [`GraphShape`]s are equal.

use std::ptr::null_mut;

use super::entry::{Driver, call};
use super::failure::{Failure, INVALID_VALUE, NOT_SUPPORTED, Outcome};
use super::handles::{Function, Node, RawExec, RawGraph};
use super::params::KernelParams;

/// The attributes of kernel nodes: access policy window, cooperative, cluster dimension, cluster scheduling policy,
/// priority, map of memory synchronisation domains, memory synchronisation domain, preferred cluster dimension,
/// updatable by devices, shared-memory carveout, NVLink utilisation.
const ATTRIBUTES: [u32; 11] = [1, 2, CLUSTER_DIMENSION, 5, 8, 9, 10, 11, 13, 14, 16];
/// `CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION`.
const CLUSTER_DIMENSION: u32 = 4;
/// `CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET`, and `CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_*`.
const CLUSTERED: [u32; 4] = [10, 11, 12, 13];
/// `CU_GRAPH_NODE_TYPE_KERNEL`.
const KERNEL: u32 = 0;
/// `CU_GRAPH_NODE_TYPE_GRAPH` and `CU_GRAPH_NODE_TYPE_CONDITIONAL`.
const WITH_GRAPHS: [u32; 2] = [4, 13];
/// `CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE`.
const UPDATE_FAILURE: u32 = 910;

/// The nodes and edges of a graph, without the parameters that an update of an exec changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphShape {
    nodes: Vec<NodeShape>,
    /// False if a kernel runs in clusters, or a node has graphs of its own.
    pub is_replaceable: bool,
}

/// A node without its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
struct NodeShape {
    kind: u32,
    /// The function and the attributes of a kernel. An attribute is `None` if the driver does not know it.
    kernel: Option<(Function, Vec<Option<[u64; 8]>>)>,
    /// The indices of its predecessors. True for programmatic edges.
    after: Vec<(Option<usize>, bool)>,
}

impl Driver {
    /// Returns the shape of a graph.
    pub fn shape_of(&self, graph: RawGraph) -> Outcome<GraphShape> {
        let nodes = self.graph_nodes(graph, self.node_count(graph)?)?;
        let mut shape = GraphShape { nodes: Vec::with_capacity(nodes.len()), is_replaceable: true };
        for &node in &nodes {
            let mut kind = 0;
            call!(self, cuGraphNodeGetType(node, &mut kind))?;
            let mut kernel = None;
            if kind == KERNEL {
                let function = self.function_of(node)?;
                let attributes = self.attributes_of(node)?;
                shape.is_replaceable &= !self.is_clustered(function, &attributes)?;
                kernel = Some((function, attributes));
            }
            shape.is_replaceable &= !WITH_GRAPHS.contains(&kind);
            let index = |before: Node| nodes.iter().position(|&other| other == before);
            let dependencies = self.dependencies(node)?;
            let after = dependencies.into_iter().map(|(before, programmatic)| (index(before), programmatic));
            let mut after: Vec<_> = after.collect();
            after.sort_unstable();
            shape.nodes.push(NodeShape { kind, kernel, after });
        }
        Ok(shape)
    }

    /// Returns the function of a kernel node.
    fn function_of(&self, node: Node) -> Outcome<Function> {
        let mut params = KernelParams {
            function: Function::NONE,
            grid: [0; 3],
            block: [0; 3],
            shared: 0,
            values: null_mut(),
            extra: null_mut(),
            kernel: 0,
            context: 0,
        };
        call!(self, cuGraphKernelNodeGetParams(node, &mut params))?;
        if params.function == Function::NONE {
            call!(self, cuKernelGetFunction(&mut params.function, params.kernel))?;
        }
        Ok(params.function)
    }

    /// Returns the attributes of a kernel node.
    fn attributes_of(&self, node: Node) -> Outcome<Vec<Option<[u64; 8]>>> {
        let attribute = |&number: &u32| {
            let mut value = [0; 8];
            match call!(self, cuGraphKernelNodeGetAttribute(node, number, &mut value)) {
                Ok(()) => Ok(Some(value)),
                Err(Failure { code: INVALID_VALUE | NOT_SUPPORTED, .. }) => Ok(None),
                Err(failure) => Err(failure),
            }
        };
        ATTRIBUTES.iter().map(attribute).collect()
    }

    /// Returns true if the blocks of a kernel run in clusters.
    fn is_clustered(&self, function: Function, attributes: &[Option<[u64; 8]>]) -> Outcome<bool> {
        let dimension = ATTRIBUTES.iter().zip(attributes).find(|(number, _)| **number == CLUSTER_DIMENSION);
        if let Some((_, Some([xy, z, ..]))) = dimension
            && [xy & 0xffff_ffff, xy >> 32, z & 0xffff_ffff].iter().any(|&blocks| blocks > 1)
        {
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
