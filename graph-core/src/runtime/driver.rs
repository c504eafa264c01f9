//! The CUDA driver: the one module that calls it, and the only one with `unsafe`.
//!
//! Entry points come from `cuGetProcAddress_v2`, once for the process, so that a symbol that the driver lacks is
//! an error and no panic. They return plain numbers: a driver newer than the bindings may return errors that
//! no Rust enum of today has. Handles are plain numbers too; structures are zeroed and of the size that the
//! bindings know.
//!
//! The functions here are safe to call only as this runtime calls them: a handle is used while what owns it
//! lives, an address is that of a live allocation of the operand or the graph it stands for. Nothing outside
//! the runtime reaches them.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ptr::{null, null_mut};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use cudarc::driver::{
    CudaContext, CudaSlice, CudaStream, DriverError, HostSlice, PinnedHostSlice, SyncOnDrop, sys,
};
use std::sync::Arc;

use super::error::{Error, Result};

/// The CUDA version that graphs need.
pub const NEEDED: (u32, u32) = (12, 4);

/// `CUDA_ERROR_NOT_FOUND`: no such symbol.
pub const NOT_FOUND: u32 = 500;
/// `CUDA_ERROR_NOT_READY`: work is still in flight.
pub const NOT_READY: u32 = 600;
/// `CUDA_ERROR_INVALID_VALUE`.
pub const INVALID_VALUE: u32 = 1;
/// `CUDA_ERROR_NO_DEVICE`.
pub const NO_DEVICE: u32 = 100;
/// `CUDA_ERROR_INVALID_DEVICE`.
pub const INVALID_DEVICE: u32 = 101;
/// `CUDA_ERROR_UNSUPPORTED_PTX_VERSION`.
pub const UNSUPPORTED_PTX_VERSION: u32 = 222;
/// `CUDA_ERROR_NOT_SUPPORTED`.
const NOT_SUPPORTED: u32 = 801;

/// A driver call that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Which.
    pub call: &'static str,
    /// Its result.
    pub code: u32,
}

impl Failure {
    /// What cudarc's failed call says.
    pub fn of(call: &'static str, error: DriverError) -> Failure {
        Failure { call, code: error.0 as u32 }
    }
}

type Outcome<T> = std::result::Result<T, Failure>;

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[repr(transparent)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name(usize);

        #[allow(dead_code)]
        impl $name {
            /// The handle of nothing.
            pub const NONE: $name = $name(0);
        }
    )*};
}
handles! {
    /// A `CUgraph`.
    RawGraph;
    /// A `CUgraphNode`.
    Node;
    /// A `CUgraphExec`.
    RawExec;
    /// A `CUmodule`.
    RawModule;
    /// A `CUfunction`.
    Function;
    /// A `CUstream`.
    Stream;
    /// A `CUevent`.
    Event;
    /// A `CUcontext`.
    Context;
}

impl Stream {
    /// The legacy default stream.
    pub const LEGACY: Stream = Stream(0);

    /// The stream's handle.
    pub fn of(stream: &CudaStream) -> Stream {
        Stream(stream.cu_stream() as usize)
    }

    /// Whether this is the handle that stands for another stream on each thread.
    pub fn is_per_thread(self) -> bool {
        self.0 == 2
    }
}

impl Event {
    /// The event's handle.
    pub fn of(event: &cudarc::driver::CudaEvent) -> Event {
        Event(event.cu_event() as usize)
    }
}

impl Context {
    /// The context's handle.
    pub fn of(ctx: &CudaContext) -> Context {
        Context(ctx.cu_ctx() as usize)
    }
}

#[repr(C)]
struct KernelParams {
    function: Function,
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    values: *mut *mut c_void,
    extra: *mut *mut c_void,
    kernel: usize,
    context: usize,
}

#[repr(C)]
struct MemsetParams {
    target: u64,
    pitch: usize,
    value: u32,
    element: u32,
    width: usize,
    height: usize,
}

#[repr(C)]
struct End {
    x_in_bytes: usize,
    y: usize,
    z: usize,
    lod: usize,
    memory_type: u32,
    host: usize,
    device: u64,
    array: usize,
    reserved: usize,
    pitch: usize,
    height: usize,
}

#[repr(C)]
struct MemcpyParams {
    source: End,
    target: End,
    width: usize,
    height: usize,
    depth: usize,
}

#[repr(C)]
struct AllocParams {
    allocation_type: u32,
    handle_types: u32,
    location_type: u32,
    location: i32,
    reserved: [u64; 9],
    accesses: usize,
    access_count: usize,
    bytes: usize,
    address: u64,
}

#[repr(C)]
struct InstantiateParams {
    flags: u64,
    upload_stream: usize,
    error_node: Node,
    result: u32,
}

const _: () = {
    assert!(size_of::<KernelParams>() == 72 && size_of::<sys::CUDA_KERNEL_NODE_PARAMS_v2>() == 72);
    assert!(size_of::<MemsetParams>() == size_of::<sys::CUDA_MEMSET_NODE_PARAMS>());
    assert!(size_of::<MemcpyParams>() == size_of::<sys::CUDA_MEMCPY3D>());
    assert!(size_of::<AllocParams>() == 120 && size_of::<sys::CUDA_MEM_ALLOC_NODE_PARAMS>() == 120);
    assert!(size_of::<InstantiateParams>() == size_of::<sys::CUDA_GRAPH_INSTANTIATE_PARAMS>());
    assert!(size_of::<usize>() == 8, "graphs need a 64-bit host");
};

macro_rules! entry_points {
    (needed { $($name:ident($($type:ty),*);)* } optional { $($newer:ident = $version:literal($($kind:ty),*);)* }) => {
        /// The driver's entry points.
        #[allow(non_snake_case)]
        pub struct Driver {
            $($name: unsafe extern "C" fn($($type),*) -> u32,)*
            $($newer: Option<unsafe extern "C" fn($($kind),*) -> u32>,)*
        }

        impl std::fmt::Debug for Driver {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("Driver")
            }
        }

        impl Driver {
            fn resolve() -> Outcome<Driver> {
                // SAFETY: each address is that of the function of that name, whose C signature is the field's type.
                Ok(unsafe { Driver {
                    $($name: std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($type),*) -> u32>(
                        find(stringify!($name), 12040)?),)*
                    $($newer: find(stringify!($newer), $version).ok().map(|address| {
                        std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($kind),*) -> u32>(address)
                    }),)*
                } })
            }
        }
    };
}

/// The address of a symbol as it is in a CUDA version; not found is a failure that names the symbol.
fn find(symbol: &'static str, version: c_int) -> Outcome<*mut c_void> {
    let mut name = [0u8; 64];
    let missing = Failure { call: symbol, code: NOT_FOUND };
    name.get_mut(..symbol.len()).ok_or(missing)?.copy_from_slice(symbol.as_bytes());
    let mut address = null_mut();
    // SAFETY: the name is shorter than its zeroed room, so it ends with a nul.
    let code =
        unsafe { sys::cuGetProcAddress_v2(name.as_ptr().cast(), &mut address, version, 0, null_mut()) };
    if code as u32 == 0 && !address.is_null() { Ok(address) } else { Err(missing) }
}

entry_points! {
    needed {
        cuGetErrorName(u32, *mut *const c_char);
        cuGetErrorString(u32, *mut *const c_char);
        cuDeviceGetAttribute(*mut c_int, u32, c_int);
        cuModuleLoadDataEx(*mut RawModule, *const c_void, u32, *mut u32, *mut *mut c_void);
        cuModuleUnload(RawModule);
        cuModuleGetFunction(*mut Function, RawModule, *const c_char);
        cuFuncGetAttribute(*mut c_int, u32, Function);
        cuFuncSetAttribute(Function, u32, c_int);
        cuFuncGetParamInfo(Function, usize, *mut usize, *mut usize);
        cuStreamIsCapturing(Stream, *mut u32);
        cuStreamWaitEvent(Stream, Event, u32);
        cuStreamSynchronize(Stream);
        cuEventRecord(Event, Stream);
        cuEventQuery(Event);
        cuEventSynchronize(Event);
        cuMemFreeAsync(u64, Stream);
        cuGraphCreate(*mut RawGraph, u32);
        cuGraphDestroy(RawGraph);
        cuGraphAddKernelNode(*mut Node, RawGraph, *const Node, usize, *const KernelParams);
        cuGraphAddMemsetNode(*mut Node, RawGraph, *const Node, usize, *const MemsetParams, Context);
        cuGraphAddMemcpyNode(*mut Node, RawGraph, *const Node, usize, *const MemcpyParams, Context);
        cuGraphAddMemAllocNode(*mut Node, RawGraph, *const Node, usize, *mut AllocParams);
        cuGraphAddMemFreeNode(*mut Node, RawGraph, *const Node, usize, u64);
        cuGraphInstantiateWithParams(*mut RawExec, RawGraph, *mut InstantiateParams);
        cuGraphExecDestroy(RawExec);
        cuGraphUpload(RawExec, Stream);
        cuGraphLaunch(RawExec, Stream);
        cuGraphExecKernelNodeSetParams(RawExec, Node, *const KernelParams);
        cuGraphExecMemsetNodeSetParams(RawExec, Node, *const MemsetParams, Context);
        cuGraphExecMemcpyNodeSetParams(RawExec, Node, *const MemcpyParams, Context);
        cuDeviceGraphMemTrim(c_int);
        cuDeviceGetGraphMemAttribute(c_int, u32, *mut c_void);
        cuDeviceSetGraphMemAttribute(c_int, u32, *mut c_void);
    }
    optional {
        cuLogsCurrent = 12090(*mut u32, u32);
        cuLogsDumpToMemory = 12090(*mut u32, *mut c_char, *mut usize, u32);
    }
}

macro_rules! call {
    ($driver:expr, $name:ident($($argument:expr),* $(,)?)) => {{
        // SAFETY: the handles and addresses are live (see the module's page); pointers are to locals of the
        // types that the entry point takes.
        let code = unsafe { ($driver.$name)($($argument),*) };
        if code == 0 { Ok(()) } else { Err(Failure { call: stringify!($name), code }) }
    }};
}

static DRIVER: OnceLock<Driver> = OnceLock::new();

/// The driver, if one is there that is new enough. Asked again each time until there is one.
pub fn driver() -> Result<&'static Driver> {
    if let Some(driver) = DRIVER.get() {
        return Ok(driver);
    }
    let found = version()?;
    if found < NEEDED {
        return Err(Error::DriverTooOld { found });
    }
    let driver = Driver::resolve().map_err(Error::from)?;
    Ok(DRIVER.get_or_init(|| driver))
}

/// The CUDA version of the driver, presence checked first: cudarc's own calls panic without one.
fn version() -> Result<(u32, u32)> {
    if library().is_null() {
        return Err(Error::NoDriver(LIBRARIES[LIBRARIES.len() - 1]));
    }
    let mut version: c_int = 0;
    // SAFETY: the library is loaded, and every CUDA driver has this call.
    let code = unsafe { sys::cuDriverGetVersion(&mut version) } as u32;
    if code != 0 {
        return Err(Error::from(Failure { call: "cuDriverGetVersion", code }));
    }
    let version = u32::try_from(version).unwrap_or(0);
    Ok((version / 1000, version % 1000 / 10))
}

#[cfg(not(windows))]
const LIBRARIES: [&str; 2] = ["libcuda.so", "libcuda.so.1"];
#[cfg(windows)]
const LIBRARIES: [&str; 2] = ["cuda.dll", "nvcuda.dll"];

#[cfg(not(windows))]
unsafe extern "C" {
    fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}
#[cfg(windows)]
unsafe extern "system" {
    fn LoadLibraryA(name: *const c_char) -> *mut c_void;
    fn GetProcAddress(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// The driver's library, or null. Under `fallback-dynamic-loading` another crate may have chosen that cudarc
/// links the driver, and then cudarc's own question for its presence does not exist: so this opens the library
/// itself, by names that cudarc opens too. A library that is loaded already is found by its name (SONAME).
fn library() -> *mut c_void {
    for name in LIBRARIES {
        let mut text = [0u8; 32];
        text[..name.len()].copy_from_slice(name.as_bytes());
        // SAFETY: the name ends with a nul; opening a CUDA driver runs only its initialisers.
        #[cfg(not(windows))]
        let library = unsafe { dlopen(text.as_ptr().cast(), 1) };
        #[cfg(windows)]
        // SAFETY: as above.
        let library = unsafe { LoadLibraryA(text.as_ptr().cast()) };
        if !library.is_null() {
            return library;
        }
    }
    null_mut()
}

/// A symbol that only the simulated driver has.
fn simulator_symbol(name: &CStr) -> *mut c_void {
    let library = library();
    if library.is_null() {
        return null_mut();
    }
    // SAFETY: the library is open and is never closed.
    #[cfg(not(windows))]
    return unsafe { dlsym(library, name.as_ptr()) };
    #[cfg(windows)]
    // SAFETY: as above.
    return unsafe { GetProcAddress(library, name.as_ptr()) };
}

/// The name and the description of an error.
pub fn error_name(code: u32) -> (String, String) {
    let Some(driver) = DRIVER.get() else { return ("CUDA error".to_owned(), String::new()) };
    let text = |ask: unsafe extern "C" fn(u32, *mut *const c_char) -> u32| {
        let mut text: *const c_char = null();
        // SAFETY: the driver gives null or a text of static life.
        unsafe {
            if ask(code, &mut text) != 0 || text.is_null() {
                return None;
            }
            Some(CStr::from_ptr(text).to_string_lossy().into_owned())
        }
    };
    (
        text(driver.cuGetErrorName).unwrap_or_else(|| "unknown CUDA error".to_owned()),
        text(driver.cuGetErrorString).unwrap_or_default(),
    )
}

/// Where the driver's log stood when it was read last.
static LOG_MARK: AtomicU32 = AtomicU32::new(0);

/// Forgets what the driver's log says so far.
pub fn mark_log(driver: &Driver) {
    if let Some(current) = driver.cuLogsCurrent {
        let mut mark = 0;
        // SAFETY: the pointer is to a local.
        if unsafe { current(&mut mark, 0) } == 0 {
            LOG_MARK.store(mark, Ordering::Relaxed);
        }
    }
}

/// What the driver wrote to its log since the mark, if it keeps one.
pub fn log_since_mark() -> String {
    let Some(dump) = DRIVER.get().and_then(|driver| driver.cuLogsDumpToMemory) else { return String::new() };
    let mut mark = LOG_MARK.load(Ordering::Relaxed);
    let mut text = vec![0u8; 25_600];
    let mut size = text.len();
    // SAFETY: `size` is the length of the room.
    if unsafe { dump(&mut mark, text.as_mut_ptr().cast(), &mut size, 0) } != 0 {
        return String::new();
    }
    LOG_MARK.store(mark, Ordering::Relaxed);
    text.truncate(size);
    let text = String::from_utf8_lossy(&text);
    text.trim_matches(|c: char| c == '\0' || c.is_whitespace()).to_owned()
}

/// A kernel launch: its function and configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launching {
    /// The function.
    pub function: Function,
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads a block.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block, in bytes.
    pub shared: u32,
}

/// A memset of `width` elements of 1, 2 or 4 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filling {
    /// Where.
    pub target: u64,
    /// The element's bits.
    pub value: u32,
    /// Its size.
    pub element: u32,
    /// How many.
    pub width: u64,
}

/// One end of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Device memory.
    Device(u64),
    /// Pinned host memory.
    Host(u64),
}

/// The values of launches' parameters: each starts at a word.
pub type Word = MaybeUninit<u64>;

/// The words of an address.
pub fn address_word(address: u64) -> Word {
    MaybeUninit::new(address)
}

/// Appends a value, byte for byte with its padding, and gives the word that it starts at.
pub fn push_value<T: Copy>(words: &mut Vec<Word>, value: T) -> usize {
    let start = words.len();
    words.resize(start + size_of::<T>().div_ceil(8).max(1), MaybeUninit::new(0));
    // SAFETY: the room was made above; padding stays uninitialised, which the words allow.
    unsafe { words.as_mut_ptr().add(start).cast::<T>().write_unaligned(value) };
    start
}

/// The bits of a value of 1, 2, 4 or 8 bytes.
pub fn bits_of<T: Copy>(value: T) -> u64 {
    const { assert!(matches!(size_of::<T>(), 1 | 2 | 4 | 8), "`fill` takes types of 1, 2, 4 and 8 bytes") };
    let mut bits = 0u64;
    // SAFETY: the value is no larger than the room. A type of these sizes that may stand in device memory has
    // no padding unless its author gave it some; the bytes of that are unspecified but written from `value`.
    unsafe { (&raw mut bits).cast::<T>().write_unaligned(value) };
    bits
}

/// Scratch space for the calls that take arrays of pointers.
#[derive(Default)]
pub struct Scratch {
    pointers: Vec<usize>,
}

impl Driver {
    /// An attribute of a device.
    pub fn device_attribute(&self, ctx: &CudaContext, attribute: u32) -> Outcome<u32> {
        let mut value = 0;
        call!(self, cuDeviceGetAttribute(&mut value, attribute, ctx.cu_device()))?;
        Ok(u32::try_from(value).unwrap_or(0))
    }

    /// Loads a module into the current context; a failure comes with the log of the driver's compiler.
    pub fn load_module(&self, image: &[u8]) -> std::result::Result<RawModule, (Failure, String)> {
        // Text has to end with a nul, and whatever else an image is, bytes after it do no harm.
        let mut image = image.to_vec();
        image.push(0);
        let mut log = vec![0u8; 8192];
        // CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES
        let mut options = [5u32, 6];
        let mut values = [log.as_mut_ptr().cast::<c_void>(), std::ptr::without_provenance_mut(log.len())];
        let mut module = RawModule::NONE;
        call!(
            self,
            cuModuleLoadDataEx(
                &mut module,
                image.as_ptr().cast(),
                2,
                options.as_mut_ptr(),
                values.as_mut_ptr()
            )
        )
        .map(|()| module)
        .map_err(|failure| {
            let end = log.iter().position(|&byte| byte == 0).unwrap_or(log.len());
            (failure, String::from_utf8_lossy(&log[..end]).trim().to_owned())
        })
    }

    /// Unloads a module.
    pub fn unload_module(&self, module: RawModule) -> Outcome<()> {
        call!(self, cuModuleUnload(module))
    }

    /// A function of a module, `None` where it has none of that name.
    pub fn function(&self, module: RawModule, name: &str) -> Outcome<Option<Function>> {
        let mut text = name.as_bytes().to_vec();
        text.push(0);
        let mut function = Function::NONE;
        match call!(self, cuModuleGetFunction(&mut function, module, text.as_ptr().cast())) {
            Ok(()) => Ok(Some(function)),
            Err(Failure { code: NOT_FOUND, .. }) => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// The sizes of a function's parameters; `None` where the driver does not tell.
    pub fn parameter_sizes(&self, function: Function) -> Outcome<Option<Vec<u64>>> {
        let mut sizes = Vec::new();
        loop {
            let (mut offset, mut size) = (0, 0);
            match call!(self, cuFuncGetParamInfo(function, sizes.len(), &mut offset, &mut size)) {
                Ok(()) => sizes.push(size as u64),
                Err(Failure { code: INVALID_VALUE, .. }) => return Ok(Some(sizes)),
                Err(Failure { code: NOT_SUPPORTED, .. }) => return Ok(None),
                Err(failure) => return Err(failure),
            }
        }
    }

    /// An attribute of a function.
    pub fn function_attribute(&self, function: Function, attribute: u32) -> Outcome<u32> {
        let mut value = 0;
        call!(self, cuFuncGetAttribute(&mut value, attribute, function))?;
        Ok(u32::try_from(value).unwrap_or(0))
    }

    /// Sets an attribute of a function.
    pub fn set_function_attribute(&self, function: Function, attribute: u32, value: u32) -> Outcome<()> {
        call!(self, cuFuncSetAttribute(function, attribute, c_int::try_from(value).unwrap_or(c_int::MAX)))
    }

    /// Whether a stream is capturing.
    pub fn is_capturing(&self, stream: Stream) -> Outcome<bool> {
        let mut status = 0;
        call!(self, cuStreamIsCapturing(stream, &mut status))?;
        Ok(status != 0)
    }

    /// Work that follows on the stream waits for what the event recorded last.
    pub fn wait(&self, stream: Stream, event: Event) -> Outcome<()> {
        call!(self, cuStreamWaitEvent(stream, event, 0))
    }

    /// Records what the stream has been given so far.
    pub fn record(&self, event: Event, stream: Stream) -> Outcome<()> {
        call!(self, cuEventRecord(event, stream))
    }

    /// Waits on the host for a stream.
    pub fn synchronize(&self, stream: Stream) -> Outcome<()> {
        call!(self, cuStreamSynchronize(stream))
    }

    /// Waits on the host for an event.
    pub fn synchronize_event(&self, event: Event) -> Outcome<()> {
        call!(self, cuEventSynchronize(event))
    }

    /// Whether what the event recorded is over.
    pub fn is_over(&self, event: Event) -> Outcome<bool> {
        match call!(self, cuEventQuery(event)) {
            Ok(()) => Ok(true),
            Err(Failure { code: NOT_READY, .. }) => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    /// Frees memory in stream order.
    pub fn free(&self, address: u64, stream: Stream) -> Outcome<()> {
        call!(self, cuMemFreeAsync(address, stream))
    }

    /// A new graph.
    pub fn create_graph(&self) -> Outcome<RawGraph> {
        let mut graph = RawGraph::NONE;
        call!(self, cuGraphCreate(&mut graph, 0))?;
        Ok(graph)
    }

    /// Destroys a graph.
    pub fn destroy_graph(&self, graph: RawGraph) -> Outcome<()> {
        call!(self, cuGraphDestroy(graph))
    }

    /// Adds a kernel node; each of `starts` is the word at which a parameter begins.
    pub fn add_kernel(
        &self,
        graph: RawGraph,
        after: &[Node],
        launch: &Launching,
        values: Values<'_>,
        scratch: &mut Scratch,
    ) -> Outcome<Node> {
        let mut node = Node::NONE;
        let params = kernel_params(launch, values, scratch);
        call!(self, cuGraphAddKernelNode(&mut node, graph, after.as_ptr(), after.len(), &params))?;
        Ok(node)
    }

    /// Adds a memset node.
    pub fn add_fill(&self, graph: RawGraph, after: &[Node], fill: &Filling, ctx: Context) -> Outcome<Node> {
        let mut node = Node::NONE;
        let params = memset_params(fill);
        call!(self, cuGraphAddMemsetNode(&mut node, graph, after.as_ptr(), after.len(), &params, ctx))?;
        Ok(node)
    }

    /// Adds a memcpy node.
    pub fn add_copy(
        &self,
        graph: RawGraph,
        after: &[Node],
        from: Place,
        to: Place,
        bytes: u64,
        ctx: Context,
    ) -> Outcome<Node> {
        let mut node = Node::NONE;
        let params = memcpy_params(from, to, bytes);
        call!(self, cuGraphAddMemcpyNode(&mut node, graph, after.as_ptr(), after.len(), &params, ctx))?;
        Ok(node)
    }

    /// Adds an alloc node, and gives the address of what it allocates at each launch.
    pub fn add_alloc(
        &self,
        graph: RawGraph,
        after: &[Node],
        bytes: u64,
        device: usize,
    ) -> Outcome<(Node, u64)> {
        let mut node = Node::NONE;
        // CU_MEM_ALLOCATION_TYPE_PINNED on CU_MEM_LOCATION_TYPE_DEVICE
        let mut params = AllocParams {
            allocation_type: 1,
            handle_types: 0,
            location_type: 1,
            location: i32::try_from(device).unwrap_or(i32::MAX),
            reserved: [0; 9],
            accesses: 0,
            access_count: 0,
            bytes: bytes as usize,
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

    /// Instantiates a graph; on failure with the node that the driver blames, if it blames one.
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

    /// Destroys an instantiated graph; the driver waits for launches in flight by itself.
    pub fn destroy_exec(&self, exec: RawExec) -> Outcome<()> {
        call!(self, cuGraphExecDestroy(exec))
    }

    /// Maps an instantiated graph's memory and brings it to the device.
    pub fn upload(&self, exec: RawExec, stream: Stream) -> Outcome<()> {
        call!(self, cuGraphUpload(exec, stream))
    }

    /// Launches.
    pub fn launch(&self, exec: RawExec, stream: Stream) -> Outcome<()> {
        call!(self, cuGraphLaunch(exec, stream))
    }

    /// Changes a kernel node of an instantiated graph.
    pub fn set_kernel(
        &self,
        exec: RawExec,
        node: Node,
        launch: &Launching,
        values: Values<'_>,
        scratch: &mut Scratch,
    ) -> Outcome<()> {
        let params = kernel_params(launch, values, scratch);
        call!(self, cuGraphExecKernelNodeSetParams(exec, node, &params))
    }

    /// Changes a memset node of an instantiated graph.
    pub fn set_fill(&self, exec: RawExec, node: Node, fill: &Filling, ctx: Context) -> Outcome<()> {
        let params = memset_params(fill);
        call!(self, cuGraphExecMemsetNodeSetParams(exec, node, &params, ctx))
    }

    /// Changes a memcpy node of an instantiated graph.
    pub fn set_copy(
        &self,
        exec: RawExec,
        node: Node,
        from: Place,
        to: Place,
        bytes: u64,
        ctx: Context,
    ) -> Outcome<()> {
        let params = memcpy_params(from, to, bytes);
        call!(self, cuGraphExecMemcpyNodeSetParams(exec, node, &params, ctx))
    }

    /// Gives memory of the device's graph pool that nothing uses back to the system.
    pub fn trim_graph_memory(&self, device: c_int) -> Outcome<()> {
        call!(self, cuDeviceGraphMemTrim(device))
    }

    /// An attribute of the device's graph pool.
    pub fn graph_memory(&self, device: c_int, attribute: u32) -> Outcome<u64> {
        let mut value = 0u64;
        call!(self, cuDeviceGetGraphMemAttribute(device, attribute, (&raw mut value).cast()))?;
        Ok(value)
    }

    /// Sets a high-water mark of the device's graph pool back to what is current.
    pub fn reset_graph_memory(&self, device: c_int, attribute: u32) -> Outcome<()> {
        let mut value = 0u64;
        call!(self, cuDeviceSetGraphMemAttribute(device, attribute, (&raw mut value).cast()))
    }
}

/// Where a launch's parameters lie.
#[derive(Clone, Copy)]
pub struct Values<'w> {
    /// All words.
    pub words: &'w [Word],
    /// The word at which each parameter begins.
    pub starts: &'w [u32],
}

fn kernel_params(launch: &Launching, values: Values<'_>, scratch: &mut Scratch) -> KernelParams {
    scratch.pointers.clear();
    let base = values.words.as_ptr();
    // The driver reads the values within the call, and does not write them.
    scratch
        .pointers
        .extend(values.starts.iter().map(|&start| base.wrapping_add(start as usize).expose_provenance()));
    KernelParams {
        function: launch.function,
        grid: launch.grid,
        block: launch.block,
        shared: launch.shared,
        values: scratch.pointers.as_mut_ptr().cast(),
        extra: null_mut(),
        kernel: 0,
        context: 0,
    }
}

fn memset_params(fill: &Filling) -> MemsetParams {
    MemsetParams {
        target: fill.target,
        pitch: 0,
        value: fill.value,
        element: fill.element,
        width: fill.width as usize,
        height: 1,
    }
}

fn memcpy_params(from: Place, to: Place, bytes: u64) -> MemcpyParams {
    let end = |place| {
        // CU_MEMORYTYPE_HOST is 1, CU_MEMORYTYPE_DEVICE 2.
        let (memory_type, host, device) = match place {
            Place::Host(address) => (1, address as usize, 0),
            Place::Device(address) => (2, 0, address),
        };
        End {
            x_in_bytes: 0,
            y: 0,
            z: 0,
            lod: 0,
            memory_type,
            host,
            device,
            array: 0,
            reserved: 0,
            pitch: 0,
            height: 0,
        }
    };
    MemcpyParams { source: end(from), target: end(to), width: bytes as usize, height: 1, depth: 1 }
}

/// Where a pinned slice lies and the event that guards it. `stream` is made to wait for that event.
pub fn pinned_parts<T>(slice: &PinnedHostSlice<T>, stream: &CudaStream) -> (u64, Event) {
    // SAFETY: only the address of the elements is taken, none is read or written.
    let (elements, guard) = unsafe { slice.stream_synced_slice(stream) };
    let address = elements.as_ptr().expose_provenance() as u64;
    let event = guarded(&guard);
    // Nothing was done with the slice: there is nothing to record.
    std::mem::forget(guard);
    (address, event)
}

/// The event that a guard of cudarc would record.
pub fn guarded(guard: &SyncOnDrop<'_>) -> Event {
    match guard {
        SyncOnDrop::Record(Some((event, _))) => Event::of(event),
        _ => Event::NONE,
    }
}

/// A device buffer for cudarc at an address that the graph owns.
///
/// The caller sees to it that the allocation lives as long as what is made here, and that this is never
/// dropped as it is: its drop would free the allocation.
pub fn device_buffer<T>(
    stream: &Arc<CudaStream>,
    address: u64,
    len: u64,
) -> Result<ManuallyDrop<CudaSlice<T>>> {
    // cudarc unwraps the creation of two events: fail here where it would panic.
    stream.context().new_event(None).map_err(|error| Error::from(Failure::of("cuEventCreate", error)))?;
    // SAFETY: see above.
    Ok(ManuallyDrop::new(unsafe { stream.upgrade_device_ptr(address, len as usize) }))
}

/// Ends a buffer made by [`device_buffer`] without freeing its allocation. Its stream waits for its uses.
pub fn end_device_buffer<T>(buffer: &mut ManuallyDrop<CudaSlice<T>>) {
    // SAFETY: called once, in the drop of what holds the buffer.
    let _ = unsafe { ManuallyDrop::take(buffer) }.leak();
}

/// Memory of the exec's own, uninitialised.
pub fn allocate(stream: &Arc<CudaStream>, bytes: u64) -> Outcome<CudaSlice<u8>> {
    // SAFETY: the checker proved that the graph writes each byte before it reads it.
    unsafe { stream.alloc(bytes as usize) }.map_err(|error| Failure::of("cuMemAllocAsync", error))
}

/// An error code as cudarc's enum, `CUDA_ERROR_UNKNOWN` for all but the ones met in drops.
pub fn known_code(code: u32) -> sys::CUresult {
    use sys::CUresult as Code;
    let known = [
        Code::CUDA_ERROR_INVALID_VALUE,
        Code::CUDA_ERROR_OUT_OF_MEMORY,
        Code::CUDA_ERROR_NOT_INITIALIZED,
        Code::CUDA_ERROR_DEINITIALIZED,
        Code::CUDA_ERROR_INVALID_CONTEXT,
        Code::CUDA_ERROR_INVALID_HANDLE,
        Code::CUDA_ERROR_ILLEGAL_ADDRESS,
        Code::CUDA_ERROR_LAUNCH_FAILED,
        Code::CUDA_ERROR_NOT_PERMITTED,
        Code::CUDA_ERROR_NOT_SUPPORTED,
        Code::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
        Code::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
    ];
    known.into_iter().find(|&known| known as u32 == code).unwrap_or(Code::CUDA_ERROR_UNKNOWN)
}

/// Whether the driver is the simulated one, which has calls of its own.
pub fn is_simulated() -> bool {
    !simulator_symbol(c"cuweaveSimAnnotate").is_null()
}
