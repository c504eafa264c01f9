//! Graphs, their nodes and their execs.

use std::ffi::c_void;
use std::ptr::null_mut;

use cudarc::driver::sys::{self, CUresult};

use super::codes::OK;
use super::context::Context;
use super::params::{alloc_params, copy_params, fill_params, kernel_params};

/// A node of a graph.
pub type Node = sys::CUgraphNode;

/// A graph, which is destroyed on drop.
pub struct Graph(pub sys::CUgraph);

impl Drop for Graph {
    fn drop(&mut self) {
        unsafe { sys::cuGraphDestroy(self.0) };
    }
}

/// An executable graph, which is destroyed on drop.
pub struct Exec(pub sys::CUgraphExec);

impl Drop for Exec {
    fn drop(&mut self) {
        unsafe { sys::cuGraphExecDestroy(self.0) };
    }
}

impl Graph {
    pub fn new() -> Self {
        let mut graph = null_mut();
        ok!(sys::cuGraphCreate(&mut graph, 0));
        Graph(graph)
    }

    pub fn try_alloc(&self, after: &[Node], bytes: usize) -> Result<(Node, u64), CUresult> {
        let mut params = alloc_params(bytes);
        let mut node = null_mut();
        let code = unsafe {
            sys::cuGraphAddMemAllocNode(&mut node, self.0, after.as_ptr(), after.len(), &mut params)
        };
        if code == OK { Ok((node, params.dptr)) } else { Err(code) }
    }

    pub fn alloc(&self, after: &[Node], bytes: usize) -> (Node, u64) {
        self.try_alloc(after, bytes).unwrap()
    }

    pub fn try_free(&self, after: &[Node], address: u64) -> Result<Node, CUresult> {
        let mut node = null_mut();
        let code =
            unsafe { sys::cuGraphAddMemFreeNode(&mut node, self.0, after.as_ptr(), after.len(), address) };
        if code == OK { Ok(node) } else { Err(code) }
    }

    pub fn free(&self, after: &[Node], address: u64) -> Node {
        self.try_free(after, address).unwrap()
    }

    pub fn empty(&self, after: &[Node]) -> Node {
        let mut node = null_mut();
        ok!(sys::cuGraphAddEmptyNode(&mut node, self.0, after.as_ptr(), after.len()));
        node
    }

    pub fn fill(&self, context: &Context, after: &[Node], address: u64, value: u8, bytes: usize) -> Node {
        self.memset(context, after, &fill_params(address, value, bytes))
    }

    /// Adds a fill with `count` 32-bit values.
    pub fn fill_words(
        &self,
        context: &Context,
        after: &[Node],
        address: u64,
        value: u32,
        count: usize,
    ) -> Node {
        let params = sys::CUDA_MEMSET_NODE_PARAMS { value, elementSize: 4, ..fill_params(address, 0, count) };
        self.memset(context, after, &params)
    }

    fn memset(&self, context: &Context, after: &[Node], params: &sys::CUDA_MEMSET_NODE_PARAMS) -> Node {
        let (mut node, count) = (null_mut(), after.len());
        ok!(sys::cuGraphAddMemsetNode(&mut node, self.0, after.as_ptr(), count, params, context.context));
        node
    }

    pub fn copy(&self, context: &Context, after: &[Node], to: u64, from: u64, bytes: usize) -> Node {
        let (params, mut node) = (copy_params(to, from, bytes), null_mut());
        ok!(sys::cuGraphAddMemcpyNode(
            &mut node,
            self.0,
            after.as_ptr(),
            after.len(),
            &params,
            context.context
        ));
        node
    }

    pub fn kernel(
        &self,
        after: &[Node],
        function: sys::CUfunction,
        blocks: u32,
        threads: u32,
        args: &[u64],
    ) -> Node {
        let mut pointers: Vec<*mut c_void> =
            args.iter().map(|arg| std::ptr::from_ref(arg) as *mut c_void).collect();
        let params = kernel_params(function, blocks, threads, &mut pointers);
        let mut node = null_mut();
        ok!(sys::cuGraphAddKernelNode_v2(&mut node, self.0, after.as_ptr(), after.len(), &params));
        node
    }

    pub fn try_exec(&self, flags: u64) -> Result<Exec, CUresult> {
        let mut exec = null_mut();
        let code = unsafe { sys::cuGraphInstantiateWithFlags(&mut exec, self.0, flags) };
        if code == OK { Ok(Exec(exec)) } else { Err(code) }
    }

    pub fn exec(&self) -> Exec {
        self.try_exec(0).unwrap()
    }
}

impl Exec {
    pub fn launch(&self, context: &Context) -> CUresult {
        unsafe { sys::cuGraphLaunch(self.0, context.stream) }
    }
}
