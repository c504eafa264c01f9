//! Graphs made by hand: driver calls as a careful C programmer would make them, without cuweave.

#![allow(unsafe_code)]
// SAFETY, for the whole file: handles are used between their creation and their drop, in the context that made
// them. Kernels get the parameters that their declarations require, and addresses of buffers that the benchmark
// keeps alive while its graphs run.

use std::ffi::{CStr, CString, c_void};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaSlice, CudaStream, DevicePtr, sys};

use super::Result;

pub mod conditional;

/// A node.
pub type Node = sys::CUgraphNode;

/// The kernels of the benchmarks.
const PTX: &str = include_str!("../kernels/bench.ptx");

/// The maximum number of parameters of a benchmark kernel.
const MOST: usize = 20;

fn check(call: &str, code: sys::CUresult) -> Result<()> {
    if code == sys::CUresult::CUDA_SUCCESS { Ok(()) } else { Err(format!("`{call}` gives {code:?}").into()) }
}

/// Returns the address of a buffer.
pub fn address<T>(buffer: &CudaSlice<T>) -> u64 {
    // The guard is not needed, because benchmarks synchronise before they launch.
    buffer.device_ptr(buffer.stream()).0
}

/// The loaded module.
pub struct Module {
    // The context outlives its module.
    ctx: Arc<CudaContext>,
    module: sys::CUmodule,
}

/// A kernel with a launch configuration.
#[derive(Clone, Copy)]
pub struct Kernel {
    function: sys::CUfunction,
    /// The number of blocks.
    pub grid: [u32; 3],
    /// The number of threads per block.
    pub block: [u32; 3],
    /// The dynamic shared memory per block in bytes. At most 48 KiB, so that no attribute must be set.
    pub shared: u32,
}

impl Module {
    /// Loads the kernels of most benchmarks.
    pub fn load(ctx: &Arc<CudaContext>) -> Result<Module> {
        Module::of(ctx, PTX)
    }

    /// Loads PTX.
    pub fn of(ctx: &Arc<CudaContext>, ptx: &str) -> Result<Module> {
        ctx.bind_to_thread()?;
        let text = CString::new(ptx)?;
        let mut module = ptr::null_mut();
        check("cuModuleLoadData", unsafe {
            sys::cuModuleLoadData(&mut module, text.as_ptr().cast::<c_void>())
        })?;
        Ok(Module { ctx: ctx.clone(), module })
    }

    /// Returns a kernel of one thread.
    pub fn single(&self, name: &CStr) -> Result<Kernel> {
        self.kernel(name, [1, 1, 1], [1, 1, 1])
    }

    /// Returns a kernel for `n` items, in blocks of 256.
    pub fn per_item(&self, name: &CStr, n: u32) -> Result<Kernel> {
        self.kernel(name, [n.div_ceil(256), 1, 1], [256, 1, 1])
    }

    /// Returns a kernel with this configuration.
    pub fn kernel(&self, name: &CStr, grid: [u32; 3], block: [u32; 3]) -> Result<Kernel> {
        let mut function = ptr::null_mut();
        check("cuModuleGetFunction", unsafe {
            sys::cuModuleGetFunction(&mut function, self.module, name.as_ptr())
        })?;
        Ok(Kernel { function, grid, block, shared: 0 })
    }
}

impl Kernel {
    /// Returns the registers and the bytes of local memory per thread, and the number of blocks that fit on a
    /// multiprocessor.
    pub fn resources(&self) -> Result<[i32; 3]> {
        let (mut registers, mut local, mut blocks) = (0, 0, 0);
        let threads: u32 = self.block.iter().product();
        check("cuFuncGetAttribute", unsafe {
            sys::cuFuncGetAttribute(
                &mut registers,
                sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_NUM_REGS,
                self.function,
            )
        })?;
        check("cuFuncGetAttribute", unsafe {
            sys::cuFuncGetAttribute(
                &mut local,
                sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,
                self.function,
            )
        })?;
        check("cuOccupancyMaxActiveBlocksPerMultiprocessor", unsafe {
            sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(
                &mut blocks,
                self.function,
                threads as i32,
                self.shared as usize,
            )
        })?;
        Ok([registers, local, blocks])
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        if self.ctx.bind_to_thread().is_ok() {
            let _ = unsafe { sys::cuModuleUnload(self.module) };
        }
    }
}

/// Returns pointers to arguments. Smaller arguments are read from the low bytes of their words.
fn pointers(arguments: &[u64]) -> [*mut c_void; MOST] {
    let mut pointers = [ptr::null_mut(); MOST];
    for (pointer, argument) in pointers.iter_mut().zip(arguments) {
        *pointer = ptr::from_ref(argument).cast_mut().cast::<c_void>();
    }
    pointers
}

fn kernel_params(kernel: Kernel, pointers: &mut [*mut c_void; MOST]) -> sys::CUDA_KERNEL_NODE_PARAMS {
    sys::CUDA_KERNEL_NODE_PARAMS {
        func: kernel.function,
        gridDimX: kernel.grid[0],
        gridDimY: kernel.grid[1],
        gridDimZ: kernel.grid[2],
        blockDimX: kernel.block[0],
        blockDimY: kernel.block[1],
        blockDimZ: kernel.block[2],
        sharedMemBytes: kernel.shared,
        kernelParams: pointers.as_mut_ptr(),
        extra: ptr::null_mut(),
        kern: ptr::null_mut(),
        ctx: ptr::null_mut(),
    }
}

/// A graph.
pub struct Graph {
    graph: sys::CUgraph,
    /// The number of its nodes.
    pub nodes: usize,
    /// The number of its edges.
    pub edges: usize,
}

impl Graph {
    /// Returns an empty graph in the thread's context.
    pub fn new() -> Result<Graph> {
        let mut graph = ptr::null_mut();
        check("cuGraphCreate", unsafe { sys::cuGraphCreate(&mut graph, 0) })?;
        Ok(Graph { graph, nodes: 0, edges: 0 })
    }

    /// Adds a kernel node.
    pub fn add(&mut self, kernel: Kernel, arguments: &[u64], after: &[Node]) -> Result<Node> {
        let mut pointers = pointers(arguments);
        let params = kernel_params(kernel, &mut pointers);
        let mut node = ptr::null_mut();
        check("cuGraphAddKernelNode", unsafe {
            sys::cuGraphAddKernelNode_v2(&mut node, self.graph, after.as_ptr(), after.len(), &params)
        })?;
        self.nodes += 1;
        self.edges += after.len();
        Ok(node)
    }

    /// Adds a copy on the device.
    pub fn add_copy(&mut self, from: u64, to: u64, bytes: usize, after: &[Node]) -> Result<Node> {
        self.add_memcpy(from, bytes, after, |copy| copy.dstDevice = to)
    }

    /// Adds a copy from the device. `to` sets the target, which is on the device by default.
    fn add_memcpy(
        &mut self,
        from: u64,
        bytes: usize,
        after: &[Node],
        to: impl FnOnce(&mut sys::CUDA_MEMCPY3D),
    ) -> Result<Node> {
        let device = sys::CUmemorytype::CU_MEMORYTYPE_DEVICE;
        let mut copy = sys::CUDA_MEMCPY3D {
            srcXInBytes: 0,
            srcY: 0,
            srcZ: 0,
            srcLOD: 0,
            srcMemoryType: device,
            srcHost: ptr::null(),
            srcDevice: from,
            srcArray: ptr::null_mut(),
            reserved0: ptr::null_mut(),
            srcPitch: 0,
            srcHeight: 0,
            dstXInBytes: 0,
            dstY: 0,
            dstZ: 0,
            dstLOD: 0,
            dstMemoryType: device,
            dstHost: ptr::null_mut(),
            dstDevice: 0,
            dstArray: ptr::null_mut(),
            reserved1: ptr::null_mut(),
            dstPitch: 0,
            dstHeight: 0,
            WidthInBytes: bytes,
            Height: 1,
            Depth: 1,
        };
        to(&mut copy);
        let (mut ctx, mut node) = (ptr::null_mut(), ptr::null_mut());
        check("cuCtxGetCurrent", unsafe { sys::cuCtxGetCurrent(&mut ctx) })?;
        check("cuGraphAddMemcpyNode", unsafe {
            sys::cuGraphAddMemcpyNode(&mut node, self.graph, after.as_ptr(), after.len(), &copy, ctx)
        })?;
        self.nodes += 1;
        self.edges += after.len();
        Ok(node)
    }

    /// Adds an empty node.
    pub fn add_empty(&mut self, after: &[Node]) -> Result<Node> {
        let mut node = ptr::null_mut();
        check("cuGraphAddEmptyNode", unsafe {
            sys::cuGraphAddEmptyNode(&mut node, self.graph, after.as_ptr(), after.len())
        })?;
        self.nodes += 1;
        self.edges += after.len();
        Ok(node)
    }

    /// Adds an alloc node on device 0. Returns the node and the address of its memory.
    pub fn add_alloc(&mut self, bytes: u64, after: &[Node]) -> Result<(Node, u64)> {
        let mut params = MaybeUninit::<sys::CUDA_MEM_ALLOC_NODE_PARAMS>::zeroed();
        // Zero is valid for numbers and pointers; enumerators are set before they are read.
        let params = unsafe {
            let props = &raw mut (*params.as_mut_ptr()).poolProps;
            (&raw mut (*props).allocType).write(sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED);
            (&raw mut (*props).handleTypes).write(sys::CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE);
            (&raw mut (*props).location.type_).write(sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE);
            (*params.as_mut_ptr()).bytesize = bytes as usize;
            params.assume_init_mut()
        };
        let mut node = ptr::null_mut();
        check("cuGraphAddMemAllocNode", unsafe {
            sys::cuGraphAddMemAllocNode(&mut node, self.graph, after.as_ptr(), after.len(), params)
        })?;
        self.nodes += 1;
        self.edges += after.len();
        Ok((node, params.dptr))
    }

    /// Adds a free node.
    pub fn add_free(&mut self, address: u64, after: &[Node]) -> Result<Node> {
        let mut node = ptr::null_mut();
        check("cuGraphAddMemFreeNode", unsafe {
            sys::cuGraphAddMemFreeNode(&mut node, self.graph, after.as_ptr(), after.len(), address)
        })?;
        self.nodes += 1;
        self.edges += after.len();
        Ok(node)
    }

    /// Returns the numbers of nodes and edges, for a table.
    pub fn size(&self) -> String {
        format!("{} / {}", self.nodes, self.edges)
    }

    /// Instantiates it. Its nodes stay valid as long as the exec.
    pub fn instantiate(self) -> Result<Exec> {
        let mut exec = ptr::null_mut();
        check("cuGraphInstantiate", unsafe { sys::cuGraphInstantiateWithFlags(&mut exec, self.graph, 0) })?;
        Ok(Exec { exec, _graph: self })
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        let _ = unsafe { sys::cuGraphDestroy(self.graph) };
    }
}

/// A graph that can be launched.
pub struct Exec {
    exec: sys::CUgraphExec,
    _graph: Graph,
}

impl Exec {
    /// Launches it.
    pub fn launch(&self, stream: &CudaStream) -> Result<()> {
        check("cuGraphLaunch", unsafe { sys::cuGraphLaunch(self.exec, stream.cu_stream()) })
    }

    /// Sets the arguments of a kernel node.
    pub fn set(&self, node: Node, kernel: Kernel, arguments: &[u64]) -> Result<()> {
        let mut pointers = pointers(arguments);
        let params = kernel_params(kernel, &mut pointers);
        check("cuGraphExecKernelNodeSetParams", unsafe {
            sys::cuGraphExecKernelNodeSetParams_v2(self.exec, node, &params)
        })
    }
}

impl Drop for Exec {
    fn drop(&mut self) {
        let _ = unsafe { sys::cuGraphExecDestroy(self.exec) };
    }
}

/// Launches a kernel on a stream, without a graph.
pub fn launch(kernel: Kernel, arguments: &[u64], stream: &CudaStream) -> Result<()> {
    let mut pointers = pointers(arguments);
    check("cuLaunchKernel", unsafe {
        sys::cuLaunchKernel(
            kernel.function,
            kernel.grid[0],
            kernel.grid[1],
            kernel.grid[2],
            kernel.block[0],
            kernel.block[1],
            kernel.block[2],
            kernel.shared,
            stream.cu_stream(),
            pointers.as_mut_ptr(),
            ptr::null_mut(),
        )
    })
}

/// Enqueues a copy on the device.
pub fn copy(from: u64, to: u64, bytes: usize, stream: &CudaStream) -> Result<()> {
    check("cuMemcpyDtoDAsync", unsafe { sys::cuMemcpyDtoDAsync_v2(to, from, bytes, stream.cu_stream()) })
}

/// Enqueues so many 32-bit zeros.
pub fn zero(to: u64, count: usize, stream: &CudaStream) -> Result<()> {
    check("cuMemsetD32Async", unsafe { sys::cuMemsetD32Async(to, 0, count, stream.cu_stream()) })
}

/// An event without timing.
pub struct Event(sys::CUevent);

impl Event {
    /// Creates an event.
    pub fn new() -> Result<Event> {
        let mut event = ptr::null_mut();
        let flags = sys::CUevent_flags::CU_EVENT_DISABLE_TIMING as u32;
        check("cuEventCreate", unsafe { sys::cuEventCreate(&mut event, flags) })?;
        Ok(Event(event))
    }

    /// Makes `to` wait for the work enqueued on `from` so far.
    pub fn order(&self, from: &CudaStream, to: &CudaStream) -> Result<()> {
        self.record(from)?;
        self.wait(to)
    }

    /// Notes the work enqueued on `from` so far.
    pub fn record(&self, from: &CudaStream) -> Result<()> {
        check("cuEventRecord", unsafe { sys::cuEventRecord(self.0, from.cu_stream()) })
    }

    /// Makes `to` wait for the work that was noted last.
    pub fn wait(&self, to: &CudaStream) -> Result<()> {
        check("cuStreamWaitEvent", unsafe { sys::cuStreamWaitEvent(to.cu_stream(), self.0, 0) })
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        let _ = unsafe { sys::cuEventDestroy_v2(self.0) };
    }
}

/// Captures the launches on a stream.
pub fn capture(stream: &CudaStream, work: impl FnOnce() -> Result<()>) -> Result<Graph> {
    let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    check("cuStreamBeginCapture", unsafe { sys::cuStreamBeginCapture_v2(stream.cu_stream(), mode) })?;
    let worked = work();
    let mut graph = ptr::null_mut();
    let ended =
        check("cuStreamEndCapture", unsafe { sys::cuStreamEndCapture(stream.cu_stream(), &mut graph) });
    worked?;
    ended?;
    let mut nodes = 0;
    check("cuGraphGetNodes", unsafe { sys::cuGraphGetNodes(graph, ptr::null_mut(), &mut nodes) })?;
    Ok(Graph { graph, nodes, edges: 0 })
}
