//! Resolves the driver's entry points, checks that the driver is new enough, and reads its error texts and its
//! log.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{null, null_mut};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use cudarc::driver::sys;

use super::failure::{Failure, NOT_FOUND, Outcome, code_of};
use super::handles::{Context, Event, Function, Node, RawExec, RawGraph, RawModule, RawSemaphore, Stream};
use super::params::{
    AllocParams, BatchParams, DeviceAccess, DeviceLocation, EdgeData, HostParams, InstantiateParams,
    KernelParams, MemLocation, MemcpyParams, MemoryProperties, MemsetParams, ObjectProperties,
    SemaphoreDescription, SemaphoreParams,
};

/// The oldest supported CUDA version.
pub const MIN_VERSION: (u32, u32) = (12, 4);

macro_rules! entry_points {
    (needed { $($name:ident($($type:ty),*);)* } exported { $($symbol:ident($($part:ty),*);)* }
        optional { $($newer:ident = $version:literal($($kind:ty),*);)* }) => {
        /// The driver's entry points.
        #[allow(non_snake_case)]
        pub struct Driver {
            $(pub(super) $name: unsafe extern "C" fn($($type),*) -> u32,)*
            $(pub(super) $symbol: Option<unsafe extern "C" fn($($part),*) -> u32>,)*
            $(pub(super) $newer: Option<unsafe extern "C" fn($($kind),*) -> u32>,)*
        }

        impl std::fmt::Debug for Driver {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("Driver")
            }
        }

        impl Driver {
            fn resolve() -> Outcome<Driver> {
                // SAFETY: each address is that of the function of the same name, whose C signature is the
                // field's type.
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

/// Returns the address of a symbol in a CUDA version, or a failure that names the symbol.
fn find(symbol: &'static str, version: c_int) -> Outcome<*mut c_void> {
    let mut name = [0u8; 64];
    let missing = Failure { call: symbol, code: NOT_FOUND };
    name.get_mut(..symbol.len()).ok_or(missing)?.copy_from_slice(symbol.as_bytes());
    let mut address = null_mut();
    // SAFETY: the name is shorter than its zeroed buffer, so it ends with a nul.
    let code =
        unsafe { sys::cuGetProcAddress_v2(name.as_ptr().cast(), &mut address, version, 0, null_mut()) };
    if code_of(code) == 0 && !address.is_null() { Ok(address) } else { Err(missing) }
}

/// Returns the address of a symbol that the library exports. Only for symbols of the simulated driver, and for
/// names with a version suffix, which not every version of `cuGetProcAddress` accepts.
pub(super) fn exported(name: &CStr) -> Option<*mut c_void> {
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
        cuDevicePrimaryCtxGetState(c_int, *mut u32, *mut c_int);
        cuModuleLoadDataEx(*mut RawModule, *const c_void, u32, *mut u32, *mut *mut c_void);
        cuModuleUnload(RawModule);
        cuModuleGetFunction(*mut Function, RawModule, *const c_char);
        cuModuleGetGlobal(*mut u64, *mut usize, RawModule, *const c_char);
        cuFuncGetAttribute(*mut c_int, u32, Function);
        cuFuncSetAttribute(Function, u32, c_int);
        cuKernelGetFunction(*mut Function, usize);
        cuFuncGetParamInfo(Function, usize, *mut usize, *mut usize);
        cuFuncGetName(*mut *const c_char, Function);
        cuFuncGetModule(*mut RawModule, Function);
        cuOccupancyMaxActiveBlocksPerMultiprocessor(*mut c_int, Function, c_int, usize);
        cuCtxGetCurrent(*mut Context);
        cuCtxSetCurrent(Context);
        cuCtxSynchronize();
        cuThreadExchangeStreamCaptureMode(*mut u32);
        cuStreamCreate(*mut Stream, u32);
        cuStreamDestroy(Stream);
        cuStreamGetId(Stream, *mut u64);
        cuStreamIsCapturing(Stream, *mut u32);
        cuStreamBeginCapture(Stream, u32);
        cuStreamBeginCaptureToGraph(Stream, RawGraph, *const Node, *const EdgeData, usize, u32);
        cuStreamEndCapture(Stream, *mut RawGraph);
        cuStreamWaitEvent(Stream, Event, u32);
        cuStreamSynchronize(Stream);
        cuEventCreate(*mut Event, u32);
        cuEventDestroy(Event);
        cuEventRecord(Event, Stream);
        cuEventQuery(Event);
        cuEventSynchronize(Event);
        cuEventElapsedTime(*mut f32, Event, Event);
        cuMemcpyDtoHAsync(*mut c_void, u64, usize, Stream);
        cuMemcpyDtoDAsync(u64, u64, usize, Stream);
        cuMemFreeAsync(u64, Stream);
        cuMemAllocManaged(*mut u64, usize, u32);
        cuMemFree(u64);
        cuMemsetD8Async(u64, u8, usize, Stream);
        cuStreamAttachMemAsync(Stream, u64, usize, u32);
        cuMemRangeGetAttributes(*mut *mut c_void, *mut usize, *mut u32, usize, u64, usize);
        cuDeviceTotalMem(*mut usize, c_int);
        cuMemGetAllocationGranularity(*mut usize, *const MemoryProperties, u32);
        cuMemAddressReserve(*mut u64, usize, usize, u64, u64);
        cuMemAddressFree(u64, usize);
        cuMemCreate(*mut u64, usize, *const MemoryProperties, u64);
        cuMemRelease(u64);
        cuMemMap(u64, usize, usize, u64, u64);
        cuMemUnmap(u64, usize);
        cuMemSetAccess(u64, usize, *const DeviceAccess, usize);
        cuMemGetAccess(*mut u64, *const DeviceLocation, u64);
        cuPointerGetAttribute(*mut c_void, u32, u64);
        cuMemGetAddressRange(*mut u64, *mut usize, u64);
        cuMemPoolGetAccess(*mut u32, usize, *mut DeviceLocation);
        cuMemPoolSetAccess(usize, *const DeviceAccess, usize);
        cuDeviceCanAccessPeer(*mut c_int, c_int, c_int);
        cuCtxEnablePeerAccess(Context, u32);
        cuGraphCreate(*mut RawGraph, u32);
        cuGraphDestroy(RawGraph);
        cuGraphAddKernelNode(*mut Node, RawGraph, *const Node, usize, *const KernelParams);
        cuGraphAddMemsetNode(*mut Node, RawGraph, *const Node, usize, *const MemsetParams, Context);
        cuGraphAddMemcpyNode(*mut Node, RawGraph, *const Node, usize, *const MemcpyParams, Context);
        cuGraphAddMemAllocNode(*mut Node, RawGraph, *const Node, usize, *mut AllocParams);
        cuGraphAddMemFreeNode(*mut Node, RawGraph, *const Node, usize, u64);
        cuGraphKernelNodeGetParams(Node, *mut KernelParams);
        cuGraphMemsetNodeGetParams(Node, *mut MemsetParams);
        cuGraphMemcpyNodeGetParams(Node, *mut MemcpyParams);
        cuGraphKernelNodeGetAttribute(Node, u32, *mut [u64; 8]);
        cuGraphKernelNodeSetAttribute(Node, u32, *const [u64; 8]);
        cuGraphKernelNodeCopyAttributes(Node, Node);
        cuGraphHostNodeGetParams(Node, *mut HostParams);
        cuGraphEventRecordNodeGetEvent(Node, *mut Event);
        cuGraphEventWaitNodeGetEvent(Node, *mut Event);
        cuGraphKernelNodeSetParams(Node, *const KernelParams);
        cuGraphMemsetNodeSetParams(Node, *const MemsetParams);
        cuGraphMemcpyNodeSetParams(Node, *const MemcpyParams);
        cuGraphMemAllocNodeGetParams(Node, *mut AllocParams);
        cuGraphMemFreeNodeGetParams(Node, *mut u64);
        cuGraphAddEventRecordNode(*mut Node, RawGraph, *const Node, usize, Event);
        cuGraphAddEventWaitNode(*mut Node, RawGraph, *const Node, usize, Event);
        cuGraphExecEventRecordNodeSetEvent(RawExec, Node, Event);
        cuGraphExecEventWaitNodeSetEvent(RawExec, Node, Event);
        cuGraphNodeSetEnabled(RawExec, Node, u32);
        cuGraphAddHostNode(*mut Node, RawGraph, *const Node, usize, *const HostParams);
        cuGraphAddEmptyNode(*mut Node, RawGraph, *const Node, usize);
        cuGraphAddChildGraphNode(*mut Node, RawGraph, *const Node, usize, RawGraph);
        cuGraphChildGraphNodeGetGraph(Node, *mut RawGraph);
        cuGraphConditionalHandleCreate(*mut u64, RawGraph, Context, u32, u32);
        cuGraphNodeGetType(Node, *mut u32);
        cuGraphGetNodes(RawGraph, *mut Node, *mut usize);
        cuGraphInstantiateWithParams(*mut RawExec, RawGraph, *mut InstantiateParams);
        cuGraphExecDestroy(RawExec);
        cuGraphUpload(RawExec, Stream);
        cuGraphLaunch(RawExec, Stream);
        cuGraphExecKernelNodeSetParams(RawExec, Node, *const KernelParams);
        cuGraphExecMemsetNodeSetParams(RawExec, Node, *const MemsetParams, Context);
        cuGraphExecMemcpyNodeSetParams(RawExec, Node, *const MemcpyParams, Context);
        cuGraphExecChildGraphNodeSetParams(RawExec, Node, RawGraph);
        cuGraphExecHostNodeSetParams(RawExec, Node, *const HostParams);
        cuGraphHostNodeSetParams(Node, *const HostParams);
        cuDeviceGraphMemTrim(c_int);
        cuDeviceGetGraphMemAttribute(c_int, u32, *mut c_void);
        cuDeviceSetGraphMemAttribute(c_int, u32, *mut c_void);
    }
    exported {
        cuMemAdvise_v2(u64, usize, u32, MemLocation);
        cuMemPrefetchAsync_v2(u64, usize, MemLocation, u32, Stream);
        cuMulticastBindMem_v2(u64, c_int, usize, u64, usize, usize, u64);
        cuMulticastBindAddr_v2(u64, c_int, usize, u64, usize, u64);
        cuGraphAddNode_v2(*mut Node, RawGraph, *const Node, *const EdgeData, usize, *mut c_void);
        cuGraphAddDependencies_v2(RawGraph, *const Node, *const Node, *const EdgeData, usize);
        cuGraphNodeGetDependencies_v2(Node, *mut Node, *mut EdgeData, *mut usize);
        cuStreamUpdateCaptureDependencies_v2(Stream, *mut Node, *const EdgeData, usize, u32);
        cuStreamGetCaptureInfo_v2(Stream, *mut u32, *mut u64, *mut RawGraph, *mut *const Node, *mut usize);
        cuStreamGetCaptureInfo_v3(Stream, *mut u32, *mut u64, *mut RawGraph, *mut *const Node,
            *mut *const EdgeData, *mut usize);
    }
    optional {
        cuMemHostAlloc = 12040(*mut *mut c_void, usize, u32);
        cuMemFreeHost = 12040(*mut c_void);
        cuMemcpyHtoDAsync = 12040(u64, *const c_void, usize, Stream);
        cuMulticastGetGranularity = 12040(*mut usize, *const ObjectProperties, u32);
        cuMulticastCreate = 12040(*mut u64, *const ObjectProperties);
        cuMulticastAddDevice = 12040(u64, c_int);
        cuMulticastBindMem = 12040(u64, usize, u64, usize, usize, u64);
        cuMulticastBindAddr = 12040(u64, usize, u64, usize, u64);
        cuMulticastUnbind = 12040(u64, c_int, usize, usize);
        cuGraphAddBatchMemOpNode = 12040(*mut Node, RawGraph, *const Node, usize, *const BatchParams);
        cuGraphExecBatchMemOpNodeSetParams = 12040(RawExec, Node, *const BatchParams);
        cuImportExternalSemaphore = 12040(*mut RawSemaphore, *const SemaphoreDescription);
        cuDestroyExternalSemaphore = 12040(RawSemaphore);
        cuGraphAddExternalSemaphoresSignalNode = 12040(*mut Node, RawGraph, *const Node, usize, *const SemaphoreParams);
        cuGraphAddExternalSemaphoresWaitNode = 12040(*mut Node, RawGraph, *const Node, usize, *const SemaphoreParams);
        cuGraphExecExternalSemaphoresSignalNodeSetParams = 12040(RawExec, Node, *const SemaphoreParams);
        cuGraphExecExternalSemaphoresWaitNodeSetParams = 12040(RawExec, Node, *const SemaphoreParams);
        cuLinkCreate = 12040(u32, *mut u32, *mut *mut c_void, *mut usize);
        cuLinkAddData = 12040(usize, u32, *mut c_void, usize, *const c_char, u32, *mut u32, *mut *mut c_void);
        cuLinkComplete = 12040(usize, *mut *mut c_void, *mut usize);
        cuLinkDestroy = 12040(usize);
        cuMemPrefetchBatchAsync = 13000(*mut u64, *mut usize, usize, *mut MemLocation, *mut usize, usize, u64, Stream);
        cuMemDiscardBatchAsync = 13000(*mut u64, *mut usize, usize, u64, Stream);
        cuMemDiscardAndPrefetchBatchAsync = 13000(*mut u64, *mut usize, usize, *mut MemLocation, *mut usize,
            usize, u64, Stream);
        cuLogsCurrent = 12090(*mut u32, u32);
        cuLogsDumpToMemory = 12090(*mut u32, *mut c_char, *mut usize, u32);
    }
}

macro_rules! call {
    ($driver:expr, $name:ident($($argument:expr),* $(,)?)) => {{
        // SAFETY: the handles and addresses are live (see the module's docs). Pointers are to locals of the
        // types that the entry point expects.
        let code = unsafe { ($driver.$name)($($argument),*) };
        if code == 0 { Ok(()) } else { Err(Failure { call: stringify!($name), code }) }
    }};
}

/// Calls an entry point that a driver may lack.
macro_rules! call_newer {
    ($driver:expr, $name:ident($($argument:expr),* $(,)?)) => {{
        match $driver.$name {
            None => Err(Failure { call: stringify!($name), code: NOT_FOUND }),
            Some(entry) => {
                // SAFETY: as in `call`.
                let code = unsafe { entry($($argument),*) };
                if code == 0 { Ok(()) } else { Err(Failure { call: stringify!($name), code }) }
            }
        }
    }};
}

pub(super) use {call, call_newer};

static DRIVER: OnceLock<Driver> = OnceLock::new();

/// The driver's CUDA version.
static VERSION: OnceLock<(u32, u32)> = OnceLock::new();

impl Driver {
    /// Returns true if the driver has this CUDA version or a later one.
    pub fn has_version(&self, version: (u32, u32)) -> bool {
        *VERSION.get().unwrap_or(&MIN_VERSION) >= version
    }
}

/// The reason that no driver can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unavailable {
    /// The library of this name could not be loaded.
    NoDriver(&'static str),
    /// The driver has this CUDA version, which is older than [`MIN_VERSION`].
    TooOld((u32, u32)),
    /// A call failed, or an entry point is missing.
    Failed(Failure),
}

/// Returns the driver if it is installed and new enough. Failures are not cached: the next call tries again.
pub fn driver() -> Result<&'static Driver, Unavailable> {
    if let Some(driver) = DRIVER.get() {
        return Ok(driver);
    }
    let found = version()?;
    if found < MIN_VERSION {
        return Err(Unavailable::TooOld(found));
    }
    let driver = Driver::resolve().map_err(Unavailable::Failed)?;
    VERSION.get_or_init(|| found);
    Ok(DRIVER.get_or_init(|| driver))
}

/// Returns the driver's CUDA version. Checks its presence first, since cudarc's own calls panic without a
/// driver.
pub fn version() -> Result<(u32, u32), Unavailable> {
    if library().is_null() {
        return Err(Unavailable::NoDriver(LIBRARIES[LIBRARIES.len() - 1]));
    }
    let mut version: c_int = 0;
    // SAFETY: the library is loaded, and every CUDA driver has this call.
    let code = code_of(unsafe { sys::cuDriverGetVersion(&mut version) });
    if code != 0 {
        return Err(Unavailable::Failed(Failure { call: "cuDriverGetVersion", code }));
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

/// Returns the handle of the driver's library, or null. Opens it by the names that cudarc uses: cudarc itself
/// cannot check its presence if another crate makes it link the driver. A library that is loaded already is
/// found by its SONAME.
fn library() -> *mut c_void {
    for name in LIBRARIES {
        let mut text = [0u8; 32];
        text[..name.len()].copy_from_slice(name.as_bytes());
        // SAFETY: the name ends with a nul. Opening a CUDA driver runs only its initialisers.
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

/// Returns the name and the description of an error.
pub fn error_name(code: u32) -> (String, String) {
    let Some(driver) = DRIVER.get() else { return ("CUDA error".to_owned(), String::new()) };
    let text = |ask: unsafe extern "C" fn(u32, *mut *const c_char) -> u32| {
        let mut text: *const c_char = null();
        // SAFETY: the driver returns null or a text of static lifetime.
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

/// The position up to which the driver's log has been read.
static LOG_MARK: AtomicU32 = AtomicU32::new(0);

/// Skips the current contents of the driver's log.
pub fn mark_log(driver: &Driver) {
    if let Some(current) = driver.cuLogsCurrent {
        let mut mark = 0;
        // SAFETY: the pointer is to a local.
        if unsafe { current(&mut mark, 0) } == 0 {
            LOG_MARK.store(mark, Ordering::Relaxed);
        }
    }
}

/// Returns the text that the driver has written to its log since the mark. Empty if there is no log.
pub fn log_since_mark() -> String {
    let Some(dump) = DRIVER.get().and_then(|driver| driver.cuLogsDumpToMemory) else { return String::new() };
    let mut mark = LOG_MARK.load(Ordering::Relaxed);
    let mut text = vec![0u8; 25_600];
    let mut size = text.len();
    // SAFETY: `size` is the length of the buffer.
    if unsafe { dump(&mut mark, text.as_mut_ptr().cast(), &mut size, 0) } != 0 {
        return String::new();
    }
    LOG_MARK.store(mark, Ordering::Relaxed);
    text.truncate(size);
    let text = String::from_utf8_lossy(&text);
    text.trim_matches(|c: char| c == '\0' || c.is_whitespace()).to_owned()
}
