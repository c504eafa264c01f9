//! The CUDA driver: the one module that calls it, and the only one with `unsafe`.
//!
//! Entry points come from `cuGetProcAddress_v2`, once for the process, so that a symbol that the driver lacks is
//! an error and no panic. They return plain numbers: a driver newer than the bindings may return errors that
//! no Rust enum of today has. Handles are plain numbers too; structures are zeroed and of the size that the
//! bindings know.
//!
//! The functions here are safe to call only as this runtime calls them: a handle is used while what owns it
//! lives, an address is that of a live allocation of the operand or the graph it stands for. Nothing outside
//! the runtime reaches them. `params` has what nodes are given, `graphs` the calls about graphs, `buffers` what
//! opens or makes cudarc's own types, `aside` what ends while its stream captures, `quiet` cudarc's context object of the runtime's own, `streams` the calls about
//! contexts, streams, events and memory in stream order, `simulator` the calls that only the simulated driver has.
#![allow(unsafe_code)]

mod any_bits;
mod aside;
mod buffers;
mod graphs;
mod params;
mod quiet;
mod simulator;
mod streams;

pub use any_bits::{AnyBits, Bits, NotAnyBits, any_bits};
pub use aside::Own;
pub use buffers::{Keep, Lent, Made, guarded, held, pinned_parts};
pub use params::{
    Filling, Launching, Packed, Place, Scratch, Values, Word, address_word, number, push_value, write_value,
};
pub use quiet::Quiet;
pub use simulator::{Member, PlannedBuffer, Simulator};

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{null, null_mut};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use cudarc::driver::{CudaContext, CudaStream, DriverError, sys};

use super::error::{Error, Result};
use params::{AllocParams, EdgeData, InstantiateParams, KernelParams, MemcpyParams, MemsetParams};

/// The CUDA version that graphs need.
pub const NEEDED: (u32, u32) = (12, 4);

/// `CUDA_ERROR_NOT_FOUND`: no such symbol.
pub const NOT_FOUND: u32 = 500;
/// `CUDA_ERROR_NOT_READY`: work is still in flight.
pub const NOT_READY: u32 = 600;
/// `CUDA_ERROR_INVALID_VALUE`.
pub const INVALID_VALUE: u32 = 1;
/// `CUDA_ERROR_OUT_OF_MEMORY`.
const OUT_OF_MEMORY: u32 = 2;
/// `CUDA_ERROR_NO_DEVICE`.
pub const NO_DEVICE: u32 = 100;
/// `CUDA_ERROR_INVALID_IMAGE`.
pub const INVALID_IMAGE: u32 = 200;
/// `CUDA_ERROR_NO_BINARY_FOR_GPU`.
pub const NO_BINARY_FOR_GPU: u32 = 209;
/// `CUDA_ERROR_INVALID_PTX`.
pub const INVALID_PTX: u32 = 218;
/// `CUDA_ERROR_UNSUPPORTED_PTX_VERSION`.
pub const UNSUPPORTED_PTX_VERSION: u32 = 222;
/// `CUDA_ERROR_CAPTURED_EVENT`: the event was last recorded in a capture.
const CAPTURED_EVENT: u32 = 907;
/// `CUDA_ERROR_UNKNOWN`.
pub const UNKNOWN: u32 = 999;
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

    /// Whether the device has no room.
    pub fn is_out_of_memory(self) -> bool {
        self.code == OUT_OF_MEMORY
    }

    /// Whether it is the end of all work of the context: a kernel's fault, or the end of the context itself. All calls fail
    /// with it from then on, and nothing is in flight any more.
    pub fn ends_the_context(self) -> bool {
        // Uncorrectable ECC and NVLink errors, an illegal address, a timeout, a destroyed context, an assertion, faults of
        // instructions and addresses, a failed launch, CUDA_ERROR_DEINITIALIZED.
        matches!(self.code, 4 | 214 | 220 | 700 | 702 | 709 | 710 | 714..=719)
    }

    /// Whether the event that was asked about was last recorded in a stream capture.
    pub fn is_captured_event(self) -> bool {
        self.code == CAPTURED_EVENT
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

macro_rules! entry_points {
    (needed { $($name:ident($($type:ty),*);)* } exported { $($symbol:ident($($part:ty),*);)* } optional { $($newer:ident = $version:literal($($kind:ty),*);)* }) => {
        /// The driver's entry points.
        #[allow(non_snake_case)]
        pub struct Driver {
            $($name: unsafe extern "C" fn($($type),*) -> u32,)*
            $($symbol: Option<unsafe extern "C" fn($($part),*) -> u32>,)*
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
                    $($symbol: CStr::from_bytes_with_nul(concat!(stringify!($symbol), "\0").as_bytes())
                        .ok().and_then(exported).map(|address| {
                        std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($part),*) -> u32>(address)
                    }),)*
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

/// The address of a symbol that the library exports: for those that only one driver has, or whose name with a number
/// `cuGetProcAddress` does not take from every version.
fn exported(name: &CStr) -> Option<*mut c_void> {
    let library = library();
    if library.is_null() {
        return None;
    }
    #[cfg(not(windows))]
    // SAFETY: the library is open and is never closed.
    let address = unsafe { dlsym(library, name.as_ptr()) };
    #[cfg(windows)]
    // SAFETY: as above.
    let address = unsafe { GetProcAddress(library, name.as_ptr()) };
    (!address.is_null()).then_some(address)
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
        cuOccupancyMaxActiveBlocksPerMultiprocessor(*mut c_int, Function, c_int, usize);
        cuCtxGetCurrent(*mut Context);
        cuCtxSetCurrent(Context);
        cuCtxSynchronize();
        cuThreadExchangeStreamCaptureMode(*mut u32);
        cuStreamCreate(*mut Stream, u32);
        cuStreamDestroy(Stream);
        cuStreamGetId(Stream, *mut u64);
        cuStreamIsCapturing(Stream, *mut u32);
        cuStreamWaitEvent(Stream, Event, u32);
        cuStreamSynchronize(Stream);
        cuEventCreate(*mut Event, u32);
        cuEventDestroy(Event);
        cuEventRecord(Event, Stream);
        cuEventQuery(Event);
        cuEventSynchronize(Event);
        cuMemAllocAsync(*mut u64, usize, Stream);
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
    exported {
        cuGraphAddDependencies_v2(RawGraph, *const Node, *const Node, *const EdgeData, usize);
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

use call;

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
pub fn version() -> Result<(u32, u32)> {
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

    /// Unloads a module, whatever is being captured.
    pub fn unload_module(&self, module: RawModule) -> Outcome<()> {
        self.relaxed(|| call!(self, cuModuleUnload(module)))
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

    /// Gives a function the settings of another: the shared memory that it may ask for, and the share of the cache.
    pub fn copy_attributes(&self, from: Function, to: Function) -> Outcome<()> {
        // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT
        for attribute in [8, 9] {
            let mut value = 0;
            call!(self, cuFuncGetAttribute(&mut value, attribute, from))?;
            call!(self, cuFuncSetAttribute(to, attribute, value))?;
        }
        Ok(())
    }

    /// The blocks of a function, of so many threads and so much dynamic shared memory, that an SM holds at once.
    pub fn blocks_per_sm(&self, function: Function, threads: u32, shared: u32) -> Outcome<u32> {
        let mut blocks = 0;
        let threads = c_int::try_from(threads).unwrap_or(c_int::MAX);
        call!(
            self,
            cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, function, threads, shared as usize)
        )?;
        Ok(u32::try_from(blocks).unwrap_or(0))
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
