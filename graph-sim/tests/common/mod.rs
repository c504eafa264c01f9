//! Helpers of the tests that call the driver directly.

#![allow(dead_code)]

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};

use cudarc::driver::sys::{self, CUresult};

pub const OK: CUresult = CUresult::CUDA_SUCCESS;
pub const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
pub const UNSUPPORTED: CUresult = CUresult::CUDA_ERROR_NOT_SUPPORTED;
pub const NO_MEMORY: CUresult = CUresult::CUDA_ERROR_OUT_OF_MEMORY;

/// A call that must succeed.
macro_rules! ok {
    ($call:expr) => {
        assert_eq!(unsafe { $call }, sys::CUresult::CUDA_SUCCESS, stringify!($call))
    };
}

/// A call that must give that code.
#[allow(unused_macros)]
macro_rules! gives {
    ($code:expr, $call:expr) => {
        assert_eq!(unsafe { $call }, $code, stringify!($call))
    };
}

/// A context of the test's own, so that a test breaks no other test's context.
pub struct Context {
    pub context: sys::CUcontext,
    pub stream: sys::CUstream,
    pub simulated: bool,
}

impl Context {
    pub fn new() -> Self {
        let simulated = cuweave_sim::load().unwrap().is_simulated();
        let (mut context, mut stream) = (null_mut(), null_mut());
        ok!(sys::cuInit(0));
        ok!(sys::cuCtxCreate_v4(&mut context, null_mut(), 0, 0));
        ok!(sys::cuStreamCreate(&mut stream, 1));
        Context { context, stream, simulated }
    }

    pub fn sync(&self) -> CUresult {
        unsafe { sys::cuStreamSynchronize(self.stream) }
    }

    pub fn alloc(&self, bytes: usize) -> u64 {
        let mut address = 0;
        ok!(sys::cuMemAlloc_v2(&mut address, bytes));
        address
    }

    pub fn upload<T: Copy>(&self, data: &[T]) -> u64 {
        let address = self.alloc(size_of_val(data));
        ok!(sys::cuMemcpyHtoD_v2(address, data.as_ptr().cast(), size_of_val(data)));
        address
    }

    pub fn download<T: Copy + Default>(&self, address: u64, count: usize) -> Vec<T> {
        let mut data = vec![T::default(); count];
        ok!(sys::cuMemcpyDtoH_v2(data.as_mut_ptr().cast(), address, size_of_val(&data[..])));
        data
    }

    pub fn module(&self, ptx: &str) -> sys::CUmodule {
        let text = std::ffi::CString::new(ptx).unwrap();
        let mut module = null_mut();
        ok!(sys::cuModuleLoadData(&mut module, text.as_ptr().cast()));
        module
    }

    pub fn function(&self, module: sys::CUmodule, name: &str) -> sys::CUfunction {
        let name = std::ffi::CString::new(name).unwrap();
        let mut function = null_mut();
        ok!(sys::cuModuleGetFunction(&mut function, module, name.as_ptr()));
        function
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        unsafe {
            sys::cuStreamDestroy_v2(self.stream);
            sys::cuCtxDestroy_v2(self.context);
        }
    }
}

/// A graph, destroyed at the end.
pub struct Graph(pub sys::CUgraph);

impl Drop for Graph {
    fn drop(&mut self) {
        unsafe { sys::cuGraphDestroy(self.0) };
    }
}

/// An instance, destroyed at the end.
pub struct Exec(pub sys::CUgraphExec);

impl Drop for Exec {
    fn drop(&mut self) {
        unsafe { sys::cuGraphExecDestroy(self.0) };
    }
}

/// The simulated driver's own calls, as `ANNOTATE.md` documents them.
pub struct Notes {
    name_node: unsafe extern "C" fn(sys::CUgraphNode, Text, Text, u32) -> CUresult,
    name_members: unsafe extern "C" fn(sys::CUgraphNode, u32, *const Member, usize) -> CUresult,
    move_members: unsafe extern "C" fn(sys::CUgraphExec, sys::CUgraphNode, *const u32, usize) -> CUresult,
    add_buffer: unsafe extern "C" fn(sys::CUgraph, *const Buffer) -> CUresult,
    name_memory: unsafe extern "C" fn(u64, Text) -> CUresult,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Text(*const u8, usize);

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Text(text.as_ptr(), text.len())
    }
}

#[repr(C)]
struct Buffer {
    name: Text,
    file: Text,
    line: u32,
    flags: u32,
    address: u64,
    bytes: u64,
    users: *const Node,
    members: *const u32,
    count: usize,
}

#[repr(C)]
struct Member {
    name: Text,
    file: Text,
    line: u32,
    first: u32,
}

impl Notes {
    pub fn new() -> Self {
        unsafe {
            let library = sys::culib();
            Notes {
                name_node: *library.get(b"cuweaveSimNameNode").unwrap(),
                name_members: *library.get(b"cuweaveSimNameMembers").unwrap(),
                move_members: *library.get(b"cuweaveSimMoveMembers").unwrap(),
                add_buffer: *library.get(b"cuweaveSimAddBuffer").unwrap(),
                name_memory: *library.get(b"cuweaveSimNameMemory").unwrap(),
            }
        }
    }

    pub fn node(&self, node: Node, name: &str, line: u32) {
        ok!((self.name_node)(node, name.into(), "src/plan.rs".into(), line));
    }

    pub fn memory(&self, address: u64, name: &str) {
        ok!((self.name_memory)(address, name.into()));
    }

    pub fn buffer(&self, graph: &Graph, name: &str, address: u64, bytes: u64, users: &[Node]) {
        let (name, file, flags) = (name.into(), "src/plan.rs".into(), 1);
        let (users, members, count) = (users.as_ptr(), null(), users.len());
        let buffer = Buffer { name, file, line: 0, flags, address, bytes, users, members, count };
        ok!((self.add_buffer)(graph.0, &buffer));
    }

    /// A planned buffer of one member of a node.
    pub fn buffer_of_member(
        &self,
        graph: &Graph,
        name: &str,
        at: (u64, u64),
        node: Node,
        member: u32,
    ) -> CUresult {
        let (name, file, (address, bytes)) = (name.into(), "src/plan.rs".into(), at);
        let (users, members) = (&raw const node, &raw const member);
        let buffer = Buffer { name, file, line: 0, flags: 1, address, bytes, users, members, count: 1 };
        unsafe { (self.add_buffer)(graph.0, &buffer) }
    }

    /// Members by their names, lines and first blocks.
    pub fn members(&self, node: Node, axis: u32, members: &[(&str, u32, u32)]) -> CUresult {
        let file = "src/plan.rs".into();
        let raw = |&(name, line, first): &(&str, u32, u32)| Member { name: name.into(), file, line, first };
        let raw: Vec<Member> = members.iter().map(raw).collect();
        unsafe { (self.name_members)(node, axis, raw.as_ptr(), raw.len()) }
    }

    pub fn move_members(&self, exec: &Exec, node: Node, firsts: &[u32]) -> CUresult {
        unsafe { (self.move_members)(exec.0, node, firsts.as_ptr(), firsts.len()) }
    }
}

/// The reports that name this, without those of tests that run at the same time.
pub fn reports_of(name: &str) -> Vec<cuweave_sim::Report> {
    let all = cuweave_sim::reports().unwrap();
    all.into_iter().filter(|report| report.text.contains(name)).collect()
}

pub type Node = sys::CUgraphNode;

pub fn alloc_params(bytes: usize) -> sys::CUDA_MEM_ALLOC_NODE_PARAMS {
    // SAFETY: a struct of numbers and pointers, for which zero is a value; enumerators are set below.
    let mut params: sys::CUDA_MEM_ALLOC_NODE_PARAMS = unsafe {
        let mut params = MaybeUninit::<sys::CUDA_MEM_ALLOC_NODE_PARAMS>::zeroed();
        let props = &raw mut (*params.as_mut_ptr()).poolProps;
        (&raw mut (*props).allocType).write(sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED);
        (&raw mut (*props).handleTypes).write(sys::CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE);
        (&raw mut (*props).location.type_).write(sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE);
        params.assume_init()
    };
    params.bytesize = bytes;
    params
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
        let params = fill_params(address, value, bytes);
        let mut node = null_mut();
        ok!(sys::cuGraphAddMemsetNode(
            &mut node,
            self.0,
            after.as_ptr(),
            after.len(),
            &params,
            context.context
        ));
        node
    }

    pub fn copy(&self, context: &Context, after: &[Node], to: u64, from: u64, bytes: usize) -> Node {
        let params = copy_params(to, from, bytes);
        let mut node = null_mut();
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

pub fn kernel_params(
    function: sys::CUfunction,
    blocks: u32,
    threads: u32,
    pointers: &mut [*mut c_void],
) -> sys::CUDA_KERNEL_NODE_PARAMS_v2_st {
    sys::CUDA_KERNEL_NODE_PARAMS_v2_st {
        func: function,
        gridDimX: blocks,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: threads,
        blockDimY: 1,
        blockDimZ: 1,
        sharedMemBytes: 0,
        kernelParams: pointers.as_mut_ptr(),
        extra: null_mut(),
        kern: null_mut(),
        ctx: null_mut(),
    }
}

pub fn fill_params(address: u64, value: u8, bytes: usize) -> sys::CUDA_MEMSET_NODE_PARAMS {
    sys::CUDA_MEMSET_NODE_PARAMS {
        dst: address,
        pitch: 0,
        value: u32::from(value),
        elementSize: 1,
        width: bytes,
        height: 1,
    }
}

pub fn copy_params(to: u64, from: u64, bytes: usize) -> sys::CUDA_MEMCPY3D {
    sys::CUDA_MEMCPY3D {
        srcXInBytes: 0,
        srcY: 0,
        srcZ: 0,
        srcLOD: 0,
        srcMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_DEVICE,
        srcHost: null(),
        srcDevice: from,
        srcArray: null_mut(),
        reserved0: null_mut(),
        srcPitch: bytes,
        srcHeight: 1,
        dstXInBytes: 0,
        dstY: 0,
        dstZ: 0,
        dstLOD: 0,
        dstMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_DEVICE,
        dstHost: null_mut(),
        dstDevice: to,
        dstArray: null_mut(),
        reserved1: null_mut(),
        dstPitch: bytes,
        dstHeight: 1,
        WidthInBytes: bytes,
        Height: 1,
        Depth: 1,
    }
}

impl Exec {
    pub fn launch(&self, context: &Context) -> CUresult {
        unsafe { sys::cuGraphLaunch(self.0, context.stream) }
    }
}
