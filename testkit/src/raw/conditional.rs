//! Conditional nodes and their bodies.

use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr::{null, null_mut};

use cudarc::driver::sys::{self, CUresult};

use super::codes::OK;
use super::context::Context;
use super::graph::{Exec, Graph, Node};

pub use sys::CUgraphConditionalNodeType::{
    CU_GRAPH_COND_TYPE_IF, CU_GRAPH_COND_TYPE_SWITCH, CU_GRAPH_COND_TYPE_WHILE,
};

/// PTX of a kernel that sets a condition with `cudaGraphSetConditional(handle, value)`. The function is only
/// declared; the driver links it when it loads the module.
pub const SET_CONDITION: &str =
    ".extern .func cudaGraphSetConditional (.param .b64 handle, .param .b32 value);\n";

/// A body of a conditional node. The node owns the graph.
pub struct Body(ManuallyDrop<Graph>);

impl Deref for Body {
    type Target = Graph;

    fn deref(&self) -> &Graph {
        &self.0
    }
}

impl Graph {
    /// Creates a conditional handle. `default` is its value at the start of each launch.
    pub fn handle(&self, context: &Context, default: Option<u32>) -> u64 {
        let mut handle = 0;
        let (value, flags) = (default.unwrap_or(0), u32::from(default.is_some()));
        ok!(sys::cuGraphConditionalHandleCreate(&mut handle, self.0, context.context, value, flags));
        handle
    }

    /// Adds a conditional node with `size` bodies.
    pub fn try_conditional(
        &self,
        context: &Context,
        after: &[Node],
        handle: u64,
        (kind, size): (sys::CUgraphConditionalNodeType, u32),
    ) -> Result<(Node, Vec<Body>), CUresult> {
        // SAFETY: a struct of numbers and pointers, for which all zeros are valid.
        let mut params = unsafe { std::mem::zeroed::<sys::CUgraphNodeParams>() };
        params.type_ = sys::CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL;
        params.__bindgen_anon_1.conditional = sys::CUDA_CONDITIONAL_NODE_PARAMS {
            handle,
            type_: kind,
            size,
            phGraph_out: null_mut(),
            ctx: context.context,
        };
        let mut node = null_mut();
        let (nodes, count) = (after.as_ptr(), after.len());
        let code = unsafe { sys::cuGraphAddNode_v2(&mut node, self.0, nodes, null(), count, &mut params) };
        if code != OK {
            return Err(code);
        }
        let bodies = unsafe {
            std::slice::from_raw_parts(params.__bindgen_anon_1.conditional.phGraph_out, size as usize)
        };
        Ok((node, bodies.iter().map(|&body| Body(ManuallyDrop::new(Graph(body)))).collect()))
    }

    /// Adds an `IF` node with one body.
    pub fn run_if(&self, context: &Context, after: &[Node], handle: u64) -> (Node, Body) {
        self.one_body(context, after, handle, CU_GRAPH_COND_TYPE_IF)
    }

    /// Adds a `WHILE` node.
    pub fn run_while(&self, context: &Context, after: &[Node], handle: u64) -> (Node, Body) {
        self.one_body(context, after, handle, CU_GRAPH_COND_TYPE_WHILE)
    }

    fn one_body(
        &self,
        context: &Context,
        after: &[Node],
        handle: u64,
        kind: sys::CUgraphConditionalNodeType,
    ) -> (Node, Body) {
        let (node, mut bodies) = self.try_conditional(context, after, handle, (kind, 1)).unwrap();
        (node, bodies.remove(0))
    }

    /// Adds a `SWITCH` node, which requires a driver of CUDA 12.8 or later.
    pub fn run_switch(&self, context: &Context, after: &[Node], handle: u64, size: u32) -> (Node, Vec<Body>) {
        self.try_conditional(context, after, handle, (CU_GRAPH_COND_TYPE_SWITCH, size)).unwrap()
    }
}

impl Exec {
    /// Launches it and waits. Returns the first error.
    pub fn run(&self, context: &Context) -> CUresult {
        match self.launch(context) {
            OK => context.sync(),
            code => code,
        }
    }
}
