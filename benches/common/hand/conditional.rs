//! Conditional nodes made by hand, and copies to pinned memory.

use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::ptr;

use cudarc::driver::sys;

use super::{Graph, Node, Result, check};

// Each benchmark uses only a part of it.
#[allow(unused_imports)]
pub use sys::CUgraphConditionalNodeType::{
    CU_GRAPH_COND_TYPE_IF as IF, CU_GRAPH_COND_TYPE_SWITCH as SWITCH, CU_GRAPH_COND_TYPE_WHILE as WHILE,
};

/// Kernels with one thread that set a condition: to 1 if the flag is not 0, or to the minimum of the index and
/// `most`.
pub const SETTERS: &str = "
.version 6.0
.target sm_50
.address_size 64
.extern .func cudaGraphSetConditional (.param .b64 handle, .param .b32 value);
.visible .entry set_flag(.param .u64 handle, .param .u64 flag)
{
	.reg .pred %p;
	.reg .b32 %r<3>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [handle];
	ld.param.u64 %rd2, [flag];
	cvta.to.global.u64 %rd2, %rd2;
	ld.global.u32 %r1, [%rd2];
	setp.ne.u32 %p, %r1, 0;
	selp.u32 %r2, 1, 0, %p;
	{
		.param .b64 a;
		.param .b32 b;
		st.param.b64 [a], %rd1;
		st.param.b32 [b], %r2;
		call.uni cudaGraphSetConditional, (a, b);
	}
	ret;
}
.visible .entry set_index(.param .u64 handle, .param .u64 index, .param .u32 most)
{
	.reg .b32 %r<4>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [handle];
	ld.param.u64 %rd2, [index];
	ld.param.u32 %r2, [most];
	cvta.to.global.u64 %rd2, %rd2;
	ld.global.u32 %r1, [%rd2];
	min.u32 %r3, %r1, %r2;
	{
		.param .b64 a;
		.param .b32 b;
		st.param.b64 [a], %rd1;
		st.param.b32 [b], %r3;
		call.uni cudaGraphSetConditional, (a, b);
	}
	ret;
}
";

/// A body of a conditional node, which owns the body.
pub struct Body(ManuallyDrop<Graph>);

impl Deref for Body {
    type Target = Graph;

    fn deref(&self) -> &Graph {
        &self.0
    }
}

impl DerefMut for Body {
    fn deref_mut(&mut self) -> &mut Graph {
        &mut self.0
    }
}

fn current() -> Result<sys::CUcontext> {
    let mut ctx = ptr::null_mut();
    check("cuCtxGetCurrent", unsafe { sys::cuCtxGetCurrent(&mut ctx) })?;
    Ok(ctx)
}

impl Graph {
    /// Makes a conditional handle.
    pub fn handle(&self) -> Result<u64> {
        let (mut handle, ctx) = (0, current()?);
        check("cuGraphConditionalHandleCreate", unsafe {
            sys::cuGraphConditionalHandleCreate(&mut handle, self.graph, ctx, 0, 0)
        })?;
        Ok(handle)
    }

    /// Adds a conditional node with this number of bodies.
    pub fn add_conditional(
        &mut self,
        kind: sys::CUgraphConditionalNodeType,
        (handle, bodies): (u64, usize),
        after: &[Node],
    ) -> Result<(Node, Vec<Body>)> {
        // A struct of numbers and pointers, for which all zeros are valid.
        let mut params = unsafe { std::mem::zeroed::<sys::CUgraphNodeParams>() };
        params.type_ = sys::CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL;
        params.__bindgen_anon_1.conditional = sys::CUDA_CONDITIONAL_NODE_PARAMS {
            handle,
            type_: kind,
            size: bodies as u32,
            phGraph_out: ptr::null_mut(),
            ctx: current()?,
        };
        let mut node = ptr::null_mut();
        check("cuGraphAddNode", unsafe {
            sys::cuGraphAddNode_v2(
                &mut node,
                self.graph,
                after.as_ptr(),
                ptr::null(),
                after.len(),
                &mut params,
            )
        })?;
        self.nodes += 1;
        self.edges += after.len();
        let graphs =
            unsafe { std::slice::from_raw_parts(params.__bindgen_anon_1.conditional.phGraph_out, bodies) };
        let body = |&graph: &sys::CUgraph| Body(ManuallyDrop::new(Graph { graph, nodes: 0, edges: 0 }));
        Ok((node, graphs.iter().map(body).collect()))
    }

    /// Adds a copy to pinned memory.
    pub fn add_copy_to_host(
        &mut self,
        from: u64,
        to: *mut u32,
        bytes: usize,
        after: &[Node],
    ) -> Result<Node> {
        self.add_memcpy(from, bytes, after, |copy| {
            copy.dstMemoryType = sys::CUmemorytype::CU_MEMORYTYPE_HOST;
            copy.dstHost = to.cast();
        })
    }
}
