//! Ranges of NVTX, which profilers show: one for each node while it is added, and one for each launch.
//!
//! A profiler that injects itself names a library in the environment variable `NVTX_INJECTION64_PATH`. It writes the
//! addresses of its functions to a table of the program. Without one, nothing is loaded and ranges do nothing. The
//! protocol is that of the headers of NVTX 3, `nvtxDetail/nvtxInit.h` and `nvtxTypes.h`, which all tools support, so no
//! library of CUDA is needed.

use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::marker::PhantomData;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use libloading::Library;

/// `NVTX_ETID_CALLBACKS` and `NVTX_ETID_VERSIONINFO`.
const CALLBACKS: u32 = 1;
const VERSION_INFO: u32 = 3;
/// `NVTX_CB_MODULE_CORE`, the number of its functions, and the indices of `nvtxRangePushA` and `nvtxRangePop`.
const CORE: c_int = 1;
const CORE_FUNCTIONS: usize = 16;
const CORE_COUNT: c_uint = 16;
const RANGE_PUSH: usize = 9;
const RANGE_POP: usize = 11;

type ExportTable = extern "C" fn(u32) -> *const c_void;
type Initialize = unsafe extern "C" fn(ExportTable) -> c_int;
type Push = unsafe extern "C" fn(*const c_char) -> c_int;
type Pop = unsafe extern "C" fn() -> c_int;

/// The functions of the profiler, by their indices. Null until one sets them.
static FUNCTIONS: [AtomicPtr<c_void>; CORE_FUNCTIONS] =
    [const { AtomicPtr::new(ptr::null_mut()) }; CORE_FUNCTIONS];

/// Where the profiler finds the places of its functions: a pointer to each, and null after the last one.
#[repr(transparent)]
struct Places([*const AtomicPtr<c_void>; CORE_FUNCTIONS + 1]);

// SAFETY: the pointers are to statics that are atomics.
unsafe impl Sync for Places {}

static PLACES: Places = {
    let mut places = [ptr::null(); CORE_FUNCTIONS + 1];
    // The function of index 0 is none.
    let mut at = 1;
    while at < CORE_FUNCTIONS {
        places[at] = &raw const FUNCTIONS[at];
        at += 1;
    }
    Places(places)
};

#[repr(C)]
struct CallbackTable {
    size: usize,
    module_functions: extern "C" fn(c_int, *mut *const Places, *mut c_uint) -> c_int,
}

#[repr(C)]
struct VersionTable {
    size: usize,
    version: u32,
    reserved: u32,
    set_injection_version: extern "C" fn(u32),
}

static CALLBACK_TABLE: CallbackTable = CallbackTable { size: size_of::<CallbackTable>(), module_functions };

static VERSION_TABLE: VersionTable =
    VersionTable { size: size_of::<VersionTable>(), version: 3, reserved: 0, set_injection_version };

extern "C" fn set_injection_version(_: u32) {}

/// Tells the profiler the places of the functions of a module. Returns 0 for other modules than the core.
extern "C" fn module_functions(module: c_int, table: *mut *const Places, count: *mut c_uint) -> c_int {
    if module != CORE || table.is_null() {
        return 0;
    }
    // SAFETY: the profiler's pointers are valid or null.
    unsafe {
        *table = &raw const PLACES;
        if let Some(count) = count.as_mut() {
            *count = CORE_COUNT;
        }
    }
    1
}

extern "C" fn export_table(id: u32) -> *const c_void {
    match id {
        CALLBACKS => (&raw const CALLBACK_TABLE).cast(),
        VERSION_INFO => (&raw const VERSION_TABLE).cast(),
        _ => ptr::null(),
    }
}

/// Loads the profiler that the environment names. Returns its functions that begin and end a range.
fn load() -> Option<(Push, Pop)> {
    let path = std::env::var_os("NVTX_INJECTION64_PATH")?;
    // SAFETY: who starts the program names a profiler, and its initialisation may run in any program.
    let library = unsafe { Library::new(path) }.ok()?;
    // SAFETY: the symbol is the function of that name of the protocol.
    let initialized = match unsafe { library.get::<Initialize>(b"InitializeInjectionNvtx2") } {
        // SAFETY: the tables are valid for the life of the program.
        Ok(initialize) => (unsafe { initialize(export_table) }) != 0,
        Err(_) => false,
    };
    if !initialized {
        return None;
    }
    // Its functions are called until the program ends.
    std::mem::forget(library);
    let function = |at: usize| {
        let function = FUNCTIONS[at].load(Ordering::Relaxed);
        (!function.is_null()).then_some(function)
    };
    let (push, pop) = (function(RANGE_PUSH)?, function(RANGE_POP)?);
    // SAFETY: the profiler has set the functions of these indices, which have these signatures.
    Some(unsafe {
        (std::mem::transmute::<*mut c_void, Push>(push), std::mem::transmute::<*mut c_void, Pop>(pop))
    })
}

/// A range of the current thread, until it is dropped.
#[must_use = "the range ends where this is dropped"]
pub struct NvtxRange {
    pop: Pop,
    /// A range ends on the thread where it began.
    not_send: PhantomData<*const ()>,
}

/// Begins a range if there is a profiler. `name` is called only then.
pub fn nvtx_range(name: impl FnOnce() -> String) -> Option<NvtxRange> {
    static PROFILER: OnceLock<Option<(Push, Pop)>> = OnceLock::new();
    let (push, pop) = (*PROFILER.get_or_init(load))?;
    let name = CString::new(name()).ok()?;
    // SAFETY: the text is valid during the call, and ends in 0.
    unsafe { push(name.as_ptr()) };
    Some(NvtxRange { pop, not_send: PhantomData })
}

impl Drop for NvtxRange {
    fn drop(&mut self) {
        // SAFETY: the range has begun on this thread.
        unsafe { (self.pop)() };
    }
}
