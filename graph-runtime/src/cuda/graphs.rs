//! Driver calls that build, instantiate, launch and update graphs.

use std::ffi::c_int;

use cudarc::driver::CudaContext;
use cuweave_core::index::size;

use super::entry::{Driver, call};
use super::failure::{Failure, INVALID_VALUE, NOT_FOUND, Outcome};
use super::handles::{Context, Event, Node, RawExec, RawGraph, Stream};
use super::params::{
    AllocParams, ConditionParams, DeviceAccess, EdgeData, InstantiateParams, KernelLaunch, Memcpy, Memset,
    ParameterValues, Scratch, WordCount, host_size, kernel_params, memcpy_params, memset_params,
};

/// The kind of a conditional node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConditionalKind {
    /// The first body runs if the condition is not 0. The second, if it exists, runs if it is 0.
    If,
    /// The body runs repeatedly until the condition is 0.
    While,
    /// The condition selects the body by its index. An index out of range runs none.
    Switch,
}

impl ConditionalKind {
    /// Returns `CU_GRAPH_COND_TYPE_*`.
    fn number(self) -> u32 {
        match self {
            ConditionalKind::If => 0,
            ConditionalKind::While => 1,
            ConditionalKind::Switch => 2,
        }
    }
}

impl Driver {
    /// Creates a graph.
    pub fn create_graph(&self) -> Outcome<RawGraph> {
        let mut graph = RawGraph::NONE;
        call!(self, cuGraphCreate(&mut graph, 0))?;
        Ok(graph)
    }

    /// Destroys a graph.
    pub fn destroy_graph(&self, graph: RawGraph) -> Outcome<()> {
        call!(self, cuGraphDestroy(graph))
    }

    /// Adds a kernel node.
    pub fn add_kernel(
        &self,
        graph: RawGraph,
        after: &[Node],
        launch: &KernelLaunch,
        values: ParameterValues<'_, impl WordCount>,
        scratch: &mut Scratch,
    ) -> Outcome<Node> {
        let mut node = Node::NONE;
        let params = kernel_params(launch, values, scratch);
        call!(self, cuGraphAddKernelNode(&mut node, graph, after.as_ptr(), after.len(), &params))?;
        if launch.cooperative {
            // CU_LAUNCH_ATTRIBUTE_COOPERATIVE. Its value is an integer in a union of 64 bytes.
            call!(self, cuGraphKernelNodeSetAttribute(node, 2, &[1, 0, 0, 0, 0, 0, 0, 0]))?;
        }
        Ok(node)
    }

    /// Returns true if edges between kernels can be programmatic.
    pub fn has_programmatic_edges(&self) -> bool {
        self.cuGraphAddDependencies_v2.is_some()
    }

    /// Adds a programmatic edge between two kernel nodes. It starts at the launch-order port (all blocks of
    /// `from` have begun) if `launch_order` is true, otherwise at the programmatic port. `to` must execute
    /// `griddepcontrol.wait` first.
    pub fn add_programmatic_edge(
        &self,
        graph: RawGraph,
        from: Node,
        to: Node,
        launch_order: bool,
    ) -> Outcome<()> {
        const CALL: &str = "cuGraphAddDependencies_v2";
        let add = self.cuGraphAddDependencies_v2.ok_or(Failure { call: CALL, code: NOT_FOUND })?;
        // CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC or CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER,
        // CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC
        let data = EdgeData { from_port: 1 + u8::from(launch_order), to_port: 0, kind: 1, reserved: [0; 5] };
        // SAFETY: the nodes belong to the graph; the pointers are to locals.
        match unsafe { add(graph, &from, &to, &data, 1) } {
            0 => Ok(()),
            code => Err(Failure { call: CALL, code }),
        }
    }

    /// Adds a child-graph node with a copy of `child`, which may be destroyed afterwards. Returns the node and
    /// the copied nodes.
    pub fn add_child(&self, graph: RawGraph, after: &[Node], child: RawGraph) -> Outcome<(Node, Vec<Node>)> {
        let (mut node, mut copy) = (Node::NONE, RawGraph::NONE);
        call!(self, cuGraphAddChildGraphNode(&mut node, graph, after.as_ptr(), after.len(), child))?;
        call!(self, cuGraphChildGraphNodeGetGraph(node, &mut copy))?;
        let nodes = self.graph_nodes(copy, self.node_count(copy)?)?;
        Ok((node, nodes))
    }

    /// Adds a memset node.
    pub fn add_fill(&self, graph: RawGraph, after: &[Node], fill: &Memset, ctx: Context) -> Outcome<Node> {
        let mut node = Node::NONE;
        let params = memset_params(fill);
        call!(self, cuGraphAddMemsetNode(&mut node, graph, after.as_ptr(), after.len(), &params, ctx))?;
        Ok(node)
    }

    /// Adds a memcpy node.
    pub fn add_copy(&self, graph: RawGraph, after: &[Node], copy: &Memcpy, ctx: Context) -> Outcome<Node> {
        let mut node = Node::NONE;
        let params = memcpy_params(copy);
        call!(self, cuGraphAddMemcpyNode(&mut node, graph, after.as_ptr(), after.len(), &params, ctx))?;
        Ok(node)
    }

    /// Adds an alloc node for memory of a device that the devices `others` can access too. Returns the node and
    /// the address, which is the same in each launch.
    pub fn add_alloc(
        &self,
        graph: RawGraph,
        after: &[Node],
        bytes: u64,
        device: &CudaContext,
        others: &[c_int],
    ) -> Outcome<(Node, u64)> {
        let mut node = Node::NONE;
        let accesses: Vec<DeviceAccess> =
            others.iter().map(|&other| DeviceAccess::for_device(other)).collect();
        // CU_MEM_ALLOCATION_TYPE_PINNED on CU_MEM_LOCATION_TYPE_DEVICE.
        let mut params = AllocParams {
            allocation_type: 1,
            handle_types: 0,
            location_type: 1,
            location: device.cu_device(),
            reserved: [0; 9],
            accesses: if accesses.is_empty() { std::ptr::null() } else { accesses.as_ptr() },
            access_count: accesses.len(),
            bytes: host_size(bytes),
            address: 0,
        };
        call!(self, cuGraphAddMemAllocNode(&mut node, graph, after.as_ptr(), after.len(), &mut params))?;
        Ok((node, params.address))
    }

    /// Adds a free node.
    pub fn add_free(&self, graph: RawGraph, after: &[Node], address: u64) -> Outcome<Node> {
        let mut node = Node::NONE;
        call!(self, cuGraphAddMemFreeNode(&mut node, graph, after.as_ptr(), after.len(), address))?;
        Ok(node)
    }

    /// Adds an event record node.
    pub fn add_event_record(&self, graph: RawGraph, after: &[Node], event: Event) -> Outcome<Node> {
        let mut node = Node::NONE;
        call!(self, cuGraphAddEventRecordNode(&mut node, graph, after.as_ptr(), after.len(), event))?;
        Ok(node)
    }

    /// Adds an event wait node.
    pub fn add_event_wait(&self, graph: RawGraph, after: &[Node], event: Event) -> Outcome<Node> {
        let mut node = Node::NONE;
        call!(self, cuGraphAddEventWaitNode(&mut node, graph, after.as_ptr(), after.len(), event))?;
        Ok(node)
    }

    /// Enables or disables a kernel, copy or fill node of an exec.
    pub fn enable_node(&self, exec: RawExec, node: Node, on: bool) -> Outcome<()> {
        call!(self, cuGraphNodeSetEnabled(exec, node, u32::from(on)))
    }

    /// Changes the event that a node of an exec records.
    pub fn set_event_record(&self, exec: RawExec, node: Node, event: Event) -> Outcome<()> {
        call!(self, cuGraphExecEventRecordNodeSetEvent(exec, node, event))
    }

    /// Changes the event for which a node of an exec waits.
    pub fn set_event_wait(&self, exec: RawExec, node: Node, event: Event) -> Outcome<()> {
        call!(self, cuGraphExecEventWaitNodeSetEvent(exec, node, event))
    }

    /// Creates the handle of a condition. A kernel of the graph must set its value before the conditional node
    /// runs.
    pub fn create_condition(&self, graph: RawGraph, ctx: Context) -> Outcome<u64> {
        let mut handle = 0;
        call!(self, cuGraphConditionalHandleCreate(&mut handle, graph, ctx, 0, 0))?;
        Ok(handle)
    }

    /// Adds a conditional node with `bodies` bodies. Returns the node and the graphs of its bodies.
    pub fn add_condition(
        &self,
        graph: RawGraph,
        after: &[Node],
        handle: u64,
        node_kind: ConditionalKind,
        bodies: u32,
        ctx: Context,
    ) -> Outcome<(Node, Vec<RawGraph>)> {
        const CALL: &str = "cuGraphAddNode_v2";
        let add = self.cuGraphAddNode_v2.ok_or(Failure { call: CALL, code: NOT_FOUND })?;
        // CU_GRAPH_NODE_TYPE_CONDITIONAL.
        let mut params = ConditionParams {
            kind: 13,
            reserved: [0; 3],
            handle,
            test: node_kind.number(),
            bodies,
            graphs: std::ptr::null(),
            ctx,
            rest: [0; 26],
        };
        let mut node = Node::NONE;
        let params_of_node = (&raw mut params).cast();
        // SAFETY: the nodes belong to the graph. The pointers are to locals, and the parameters have the layout
        // of a conditional node's. Without edge data all edges are full.
        let code =
            unsafe { add(&mut node, graph, after.as_ptr(), std::ptr::null(), after.len(), params_of_node) };
        if code != 0 || params.graphs.is_null() {
            return Err(Failure { call: CALL, code: if code == 0 { INVALID_VALUE } else { code } });
        }
        // SAFETY: the driver has set the pointer to an array with one graph per body, which lives as long as
        // the node.
        Ok((node, unsafe { std::slice::from_raw_parts(params.graphs, size(bodies)) }.to_vec()))
    }

    /// Instantiates a graph. A failure has the node that the driver reports, or the null handle.
    pub fn instantiate(&self, graph: RawGraph) -> std::result::Result<RawExec, (Failure, Node)> {
        let mut exec = RawExec::NONE;
        let mut params = InstantiateParams { flags: 0, upload_stream: 0, error_node: Node::NONE, result: 0 };
        call!(self, cuGraphInstantiateWithParams(&mut exec, graph, &mut params))
            .map_err(|failure| (failure, params.error_node))?;
        if params.result != 0 {
            return Err((
                Failure { call: "cuGraphInstantiateWithParams", code: INVALID_VALUE },
                params.error_node,
            ));
        }
        Ok(exec)
    }

    /// Destroys an instantiated graph. The driver waits for launches in flight.
    pub fn destroy_exec(&self, exec: RawExec) -> Outcome<()> {
        call!(self, cuGraphExecDestroy(exec))
    }

    /// Maps the memory of an instantiated graph, and uploads the graph to the device.
    pub fn upload(&self, exec: RawExec, stream: Stream) -> Outcome<()> {
        call!(self, cuGraphUpload(exec, stream))
    }

    /// Launches an instantiated graph.
    pub fn launch(&self, exec: RawExec, stream: Stream) -> Outcome<()> {
        call!(self, cuGraphLaunch(exec, stream))
    }

    /// Updates a kernel node of an instantiated graph.
    pub fn set_kernel(
        &self,
        exec: RawExec,
        node: Node,
        launch: &KernelLaunch,
        values: ParameterValues<'_, impl WordCount>,
        scratch: &mut Scratch,
    ) -> Outcome<()> {
        let params = kernel_params(launch, values, scratch);
        call!(self, cuGraphExecKernelNodeSetParams(exec, node, &params))?;
        if scratch.mirrors() {
            call!(self, cuGraphKernelNodeSetParams(node, &params))?;
        }
        Ok(())
    }

    /// Updates a memset node of an instantiated graph.
    pub fn set_fill(
        &self,
        exec: RawExec,
        node: Node,
        fill: &Memset,
        ctx: Context,
        scratch: &mut Scratch,
    ) -> Outcome<()> {
        let params = memset_params(fill);
        call!(self, cuGraphExecMemsetNodeSetParams(exec, node, &params, ctx))?;
        if scratch.mirrors() {
            call!(self, cuGraphMemsetNodeSetParams(node, &params))?;
        }
        Ok(())
    }

    /// Updates a memcpy node of an instantiated graph.
    pub fn set_copy(
        &self,
        exec: RawExec,
        node: Node,
        copy: &Memcpy,
        ctx: Context,
        scratch: &mut Scratch,
    ) -> Outcome<()> {
        let params = memcpy_params(copy);
        call!(self, cuGraphExecMemcpyNodeSetParams(exec, node, &params, ctx))?;
        if scratch.mirrors() {
            call!(self, cuGraphMemcpyNodeSetParams(node, &params))?;
        }
        Ok(())
    }
}
