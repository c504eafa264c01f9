//! The simulated driver: how it is loaded, and the functions that only it has.

use std::collections::BTreeMap;
use std::ffi::c_char;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::driver::Driver;
use crate::error::Error;
use crate::find;

/// A text in the simulated driver's C interface, by its start and length.
#[repr(C)]
#[derive(Clone, Copy)]
struct Text {
    start: *const c_char,
    bytes: usize,
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Text { start: text.as_ptr().cast(), bytes: text.len() }
    }
}

/// `CUDA_ERROR_INVALID_CONTEXT`.
const INVALID_CONTEXT: u32 = 201;

type HearCall = unsafe extern "C" fn(*mut u8, Text, u64);
type HearTraced = unsafe extern "C" fn(*mut u8, u64, Text, *const u64, usize, u32, u64);
type Hear = unsafe extern "C" fn(*mut u8, Text, u32, Text, Text);

/// The functions that only the simulated driver exports.
struct Calls {
    fail: unsafe extern "C" fn(Text, u64, u32) -> u32,
    clear_faults: unsafe extern "C" fn() -> u64,
    live: unsafe extern "C" fn(*mut [u64; 8]) -> u32,
    pages: unsafe extern "C" fn(*mut [u64; 6]) -> u32,
    evicted: unsafe extern "C" fn(*mut u64) -> u32,
    hold: unsafe extern "C" fn(u64, u32) -> u32,
    current: unsafe extern "C" fn(*mut u64) -> u32,
    resident: unsafe extern "C" fn(i32, *mut u64) -> u32,
    reports: unsafe extern "C" fn(u32, Hear, *mut u8) -> u32,
    seed: unsafe extern "C" fn(u64) -> u32,
    parallel: unsafe extern "C" fn(u32) -> u32,
    patience: unsafe extern "C" fn(u64) -> u32,
    registers: unsafe extern "C" fn(Text, u32) -> u32,
    calls: unsafe extern "C" fn(HearCall, *mut u8) -> u32,
    trace: unsafe extern "C" fn(u32) -> u32,
    take_trace: unsafe extern "C" fn(HearTraced, *mut u8) -> u32,
    path: PathBuf,
}

static CALLS: OnceLock<Calls> = OnceLock::new();

#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
pub(crate) fn open() -> Result<Driver, Error> {
    Err(Error::Platform)
}

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
pub(crate) fn open() -> Result<Driver, Error> {
    use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};

    // A program that links libcuda and was started with `library_folder` has the simulated driver already.
    for name in ["libcuda.so", "libcuda.so.1"] {
        // SAFETY: this opens only a library that is open already. If the symbol exists, it has this signature.
        let linked = unsafe { Library::open(Some(name), RTLD_NOW | RTLD_NOLOAD) };
        let Ok(linked) = linked else { continue };
        // SAFETY: as above.
        let nonce = unsafe { linked.get::<unsafe extern "C" fn() -> u64>(b"cuweaveSimNonce") };
        let Ok(nonce) = nonce else { continue };
        // SAFETY: as above.
        if format!("{:016x}", unsafe { nonce() }) != env!("CUWEAVE_SIM_NONCE") {
            return Err(Error::OtherBuild(format!("`{name}`, which the program has loaded")));
        }
        return take(linked, PathBuf::from(name));
    }
    let path = library()?;
    // SAFETY: the library has no initialisers. It is opened by its path and never closed, so its SONAME
    // `libcuda.so` makes every later `dlopen` of that name return it.
    let library = unsafe { Library::open(Some(&path), RTLD_NOW | RTLD_GLOBAL) };
    let library = library
        .map_err(|error| Error::Open { path: path.display().to_string(), reason: error.to_string() })?;
    take(library, path)
}

/// `RTLD_NOLOAD` of Linux: opens only a library that is loaded already.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
const RTLD_NOLOAD: i32 = 4;

/// Makes an open library the driver of the process, permanently.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
fn take(library: libloading::os::unix::Library, path: PathBuf) -> Result<Driver, Error> {
    use libloading::os::unix::{Library, RTLD_LAZY, RTLD_LOCAL};

    let failed = |error: libloading::Error| Error::Open {
        path: path.display().to_string(),
        reason: error.to_string(),
    };
    // SAFETY: these are the signatures in the library's source, and the nonce was compared.
    let (calls, is_slow, init, version) = unsafe {
        let calls = Calls {
            fail: *library.get(b"cuweaveSimFail").map_err(failed)?,
            clear_faults: *library.get(b"cuweaveSimClearFaults").map_err(failed)?,
            live: *library.get(b"cuweaveSimLive").map_err(failed)?,
            pages: *library.get(b"cuweaveSimPages").map_err(failed)?,
            hold: *library.get(b"cuweaveSimHold").map_err(failed)?,
            current: *library.get(b"cuCtxGetCurrent").map_err(failed)?,
            evicted: *library.get(b"cuweaveSimEvicted").map_err(failed)?,
            resident: *library.get(b"cuweaveSimResident").map_err(failed)?,
            reports: *library.get(b"cuweaveSimReports").map_err(failed)?,
            seed: *library.get(b"cuweaveSimSeed").map_err(failed)?,
            parallel: *library.get(b"cuweaveSimParallel").map_err(failed)?,
            patience: *library.get(b"cuweaveSimPatience").map_err(failed)?,
            registers: *library.get(b"cuweaveSimRegisters").map_err(failed)?,
            calls: *library.get(b"cuweaveSimCalls").map_err(failed)?,
            trace: *library.get(b"cuweaveSimTrace").map_err(failed)?,
            take_trace: *library.get(b"cuweaveSimTakeTrace").map_err(failed)?,
            path: path.clone(),
        };
        let is_slow = *library.get::<unsafe extern "C" fn() -> u32>(b"cuweaveSimIsSlow").map_err(failed)?;
        let init = *library.get::<unsafe extern "C" fn(u32) -> u32>(b"cuInit").map_err(failed)?;
        let version =
            *library.get::<unsafe extern "C" fn(*mut i32) -> u32>(b"cuDriverGetVersion").map_err(failed)?;
        (calls, is_slow, init, version)
    };
    // Checks that every later `dlopen` of the driver's name finds this library.
    // SAFETY: as above. If the library is open already, only its reference count changes.
    let named = unsafe { Library::open(Some("libcuda.so"), RTLD_LAZY | RTLD_LOCAL) }.map_err(failed)?;
    // SAFETY: the symbol is only looked up, not called.
    if unsafe { named.get::<unsafe extern "C" fn() -> u64>(b"cuweaveSimNonce") }.is_err() {
        return Err(Error::TooLate);
    }
    std::mem::forget((library, named));
    // SAFETY: these are the signatures of the driver API.
    let (code, number) = unsafe {
        let mut number = 0;
        let code = init(0);
        (if code == 0 { version(&mut number) } else { code }, number as u32)
    };
    if code != 0 {
        return Err(Error::Driver(code));
    }
    // SAFETY: as above.
    if unsafe { is_slow() } != 0 {
        eprintln!(
            "cuweave-sim: the simulated driver is built without optimisation and slow; in Cargo.toml:\n\n    \
             [profile.dev.package.cuweave-sim-driver]\n    opt-level = 3\n"
        );
    }
    let _ = CALLS.set(calls);
    Ok(Driver { simulated: true, version: (number / 1000, number % 1000 / 10) })
}

/// Returns the path of the library from the same build as this program.
fn library() -> Result<PathBuf, Error> {
    if let Some(path) = std::env::var_os("CUWEAVE_SIM_LIBRARY") {
        return Ok(PathBuf::from(path));
    }
    let folders = find::folders();
    let mut others = Vec::new();
    for path in folders.iter().flat_map(|folder| find::candidates(folder)) {
        match nonce(&path) {
            Some(nonce) if nonce == env!("CUWEAVE_SIM_NONCE") => return Ok(path),
            _ => others.push(format!("`{}`", path.display())),
        }
    }
    if others.is_empty() {
        let all: Vec<String> = folders.iter().map(|folder| format!("`{}`", folder.display())).collect();
        return Err(Error::NotFound(all.join(", ")));
    }
    Err(Error::OtherBuild(others.join(", ")))
}

/// Reads the nonce from the bytes of a library file, without loading the library.
fn nonce(path: &Path) -> Option<String> {
    const MARK: &[u8] = b"cuweave-sim nonce ";
    let bytes = std::fs::read(path).ok()?;
    let at = bytes.windows(MARK.len()).position(|window| window == MARK)? + MARK.len();
    String::from_utf8(bytes.get(at..at + 16)?.to_vec()).ok()
}

/// Returns a folder with the simulated driver under the names `libcuda.so` and `libcuda.so.1`. Creates it if it
/// does not exist.
///
/// For programs that link libcuda, which the loader resolves before their `main`: set `LD_LIBRARY_PATH` to this
/// folder.
///
/// ```no_run
/// let folder = cuweave_sim::library_folder()?;
/// std::process::Command::new("my-program").env("LD_LIBRARY_PATH", folder).status().unwrap();
/// # Ok::<(), cuweave_sim::Error>(())
/// ```
pub fn library_folder() -> Result<PathBuf, Error> {
    let library = CALLS.get().map_or_else(library, |calls| Ok(calls.path.clone()))?;
    let library = std::fs::canonicalize(&library).unwrap_or(library);
    let folder = library.with_file_name(format!("cuweave-sim-{}", env!("CUWEAVE_SIM_NONCE")));
    let failed =
        |error: std::io::Error| Error::Open { path: folder.display().to_string(), reason: error.to_string() };
    std::fs::create_dir_all(&folder).map_err(failed)?;
    for name in ["libcuda.so", "libcuda.so.1"] {
        let link = folder.join(name);
        if std::fs::canonicalize(&link).ok().as_ref() != Some(&library) {
            // Created under a name unique to this process and then renamed, so that other processes see either
            // the old or the new one.
            let fresh = folder.join(format!("{name}.{}", std::process::id()));
            let _ = std::fs::remove_file(&fresh);
            symlink(&library, &fresh).and_then(|()| std::fs::rename(&fresh, &link)).map_err(failed)?;
        }
    }
    Ok(folder)
}

#[cfg(unix)]
use std::os::unix::fs::symlink;

#[cfg(not(unix))]
fn symlink(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::copy(from, to).map(drop)
}

fn driver() -> Result<&'static Calls, Error> {
    CALLS.get().ok_or(Error::NotLoaded)
}

fn check(code: u32) -> Result<(), Error> {
    if code == 0 { Ok(()) } else { Err(Error::Driver(code)) }
}

/// Makes the `nth` call of a driver function from now on fail with a CUDA error, as in `fail("cuMemAlloc_v2", 1,
/// 2)`. Counts from 1.
///
/// A function that destroys or frees an object does so before it returns the error.
pub fn inject_fault(call: &str, nth: u64, error: u32) -> Result<(), Error> {
    // SAFETY: the library has this function with this signature. The text lives until the function returns.
    check(unsafe { (driver()?.fail)(call.into(), nth, error) })
}

/// Removes the failures that are still pending and returns their number.
pub fn clear_faults() -> Result<u64, Error> {
    // SAFETY: as in `inject_fault`.
    Ok(unsafe { (driver()?.clear_faults)() })
}

/// Sets the seed of the order in which a graph's nodes run. The initial value is `CUWEAVE_SIM_SEED`.
pub fn set_seed(seed: u64) -> Result<(), Error> {
    // SAFETY: as in `inject_fault`.
    check(unsafe { (driver()?.seed)(seed) })
}

/// Sets whether unordered nodes of a graph run concurrently. The initial value is `CUWEAVE_SIM_PARALLEL`.
pub fn set_parallel(parallel: bool) -> Result<(), Error> {
    // SAFETY: as in `inject_fault`.
    check(unsafe { (driver()?.parallel)(parallel.into()) })
}

/// Sets the timeout, in milliseconds, of a launch that waits for a value in memory or for a semaphore. After the
/// timeout the launch fails with the report `deadlock`. The initial value is `CUWEAVE_SIM_TIMEOUT`.
pub fn set_wait_timeout(milliseconds: u64) -> Result<(), Error> {
    // SAFETY: as in `inject_fault`.
    check(unsafe { (driver()?.patience)(milliseconds) })
}

/// Sets the registers per thread, at most 255, of the kernels whose names begin with `prefix`. 0 removes the
/// setting; the default is 32.
///
/// `.maxnreg` and `.minnctapersm` limit the registers. Each register above the limit takes 4 bytes of local
/// memory. Occupancy and the attributes of functions depend on these numbers; results of kernels do not.
pub fn set_registers(prefix: &str, count: u32) -> Result<(), Error> {
    // SAFETY: as in `inject_fault`.
    check(unsafe { (driver()?.registers)(prefix.into(), count) })
}

/// The numbers of live objects of the simulated driver, for leak tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct LiveObjects {
    /// Graphs, including those in child nodes.
    pub graphs: u64,
    /// Nodes of these graphs.
    pub nodes: u64,
    /// Instantiated graphs.
    pub execs: u64,
    /// Events.
    pub events: u64,
    /// Streams.
    pub streams: u64,
    /// Modules and libraries.
    pub modules: u64,
    /// Allocations of device, pinned and managed memory. Module variables are not counted.
    pub allocations: u64,
    /// The bytes of these allocations.
    pub bytes: u64,
}

/// Returns the numbers of live objects of the simulated driver.
pub fn live_objects() -> Result<LiveObjects, Error> {
    let mut counts = [0; 8];
    // SAFETY: as in `inject_fault`. The function writes eight numbers.
    check(unsafe { (driver()?.live)(&mut counts) })?;
    let [graphs, nodes, execs, events, streams, modules, allocations, bytes] = counts;
    Ok(LiveObjects { graphs, nodes, execs, events, streams, modules, allocations, bytes })
}

/// Holds up the work of a context, apparently, until it is dropped; see [`hold_work`].
#[derive(Debug)]
#[must_use = "the work is let go when this is dropped"]
pub struct HeldWork {
    context: u64,
}

impl Drop for HeldWork {
    fn drop(&mut self) {
        if let Ok(driver) = driver() {
            // SAFETY: the symbol has this signature. The call has no effect on a destroyed context.
            unsafe { (driver.hold)(self.context, 0) };
        }
    }
}

/// Makes all work of the calling thread's current context look pending until the returned guard is dropped.
///
/// Queries of streams and events report the work as pending. Host calls that wait for it return once another
/// thread drops the guard, or after `CUWEAVE_SIM_TIMEOUT`. The work itself is still done when it is enqueued, so
/// host memory has the results early.
///
/// # Errors
/// The driver is not the simulated one, or no context is current.
pub fn hold_work() -> Result<HeldWork, Error> {
    let driver = driver()?;
    let mut context = 0;
    // SAFETY: as in `inject_fault`. The function writes a handle.
    check(unsafe { (driver.current)(&mut context) })?;
    if context == 0 {
        return check(INVALID_CONTEXT).map(|()| HeldWork { context });
    }
    // SAFETY: as in `inject_fault`.
    check(unsafe { (driver.hold)(context, 1) })?;
    Ok(HeldWork { context })
}

/// Counts of managed-memory pages since the process began.
///
/// They come from the simulated driver's model: a page has 4 KiB, each fault moves, copies or maps one page, and
/// no pages are prefetched heuristically.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct PageCounts {
    /// Faults of devices: accesses to pages of which they have neither a copy nor a mapping.
    pub device_faults: u64,
    /// Faults of the host.
    pub host_faults: u64,
    /// Pages moved by faults.
    pub migrated: u64,
    /// Pages copied by faults, because they are mostly read.
    pub copied: u64,
    /// Pages moved, copied or populated by prefetches.
    pub prefetched: u64,
    /// Pages whose contents were discarded.
    pub discarded: u64,
    /// Pages evicted because a device's memory was full. `CUWEAVE_SIM_MEMORY` sets the size of that memory.
    pub evicted: u64,
}

impl std::ops::Sub for PageCounts {
    type Output = PageCounts;

    fn sub(self, before: PageCounts) -> PageCounts {
        PageCounts {
            device_faults: self.device_faults - before.device_faults,
            host_faults: self.host_faults - before.host_faults,
            migrated: self.migrated - before.migrated,
            copied: self.copied - before.copied,
            prefetched: self.prefetched - before.prefetched,
            discarded: self.discarded - before.discarded,
            evicted: self.evicted - before.evicted,
        }
    }
}

/// Returns the counts of managed-memory pages.
///
/// Host accesses are counted only for host statements and for the views that cuweave returns. A view counts as an
/// access to all of its memory.
pub fn page_counts() -> Result<PageCounts, Error> {
    let mut counts = [0; 6];
    // SAFETY: as in `inject_fault`. The function writes six numbers.
    check(unsafe { (driver()?.pages)(&mut counts) })?;
    let [device_faults, host_faults, migrated, copied, prefetched, discarded] = counts;
    let mut evicted = 0;
    // SAFETY: as in `inject_fault`. The function writes a number.
    check(unsafe { (driver()?.evicted)(&mut evicted) })?;
    Ok(PageCounts { device_faults, host_faults, migrated, copied, prefetched, discarded, evicted })
}

/// Returns the number of managed-memory pages that are in a device's memory now, or in host memory for `None`.
///
/// Read-mostly pages may be in several places. Pages that were never accessed, or that were discarded, are in no
/// place.
pub fn resident_pages(device: Option<u32>) -> Result<u64, Error> {
    let mut pages = 0;
    let device = device.map_or(-1, |device| i32::try_from(device).unwrap_or(i32::MAX));
    // SAFETY: as in `inject_fault`. The function writes a number.
    check(unsafe { (driver()?.resident)(device, &mut pages) })?;
    Ok(pages)
}

/// A finding of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// The kind of the check, such as `race`, `illegal-address` or `uninitialised-read`; see the README.
    pub kind: String,
    /// The CUDA error that the launch returned; 0 for a warning.
    pub error: u32,
    /// The names of the graph nodes involved.
    pub nodes: Vec<String>,
    /// The message.
    pub text: String,
}

impl Text {
    /// Copies a text of the driver, which must still be valid.
    fn read(self) -> String {
        // SAFETY: the driver's texts live until the callback that receives them returns.
        let bytes = unsafe { std::slice::from_raw_parts(self.start.cast::<u8>(), self.bytes) };
        String::from_utf8_lossy(bytes).into_owned()
    }
}

/// Returns the number of calls of each driver function in this process. Together with [`inject_fault`], a test can make
/// every call of an operation fail in turn.
pub fn call_counts() -> Result<BTreeMap<String, u64>, Error> {
    unsafe extern "C" fn hear(data: *mut u8, name: Text, count: u64) {
        // SAFETY: `data` is a pointer to `counts` below.
        let counts = unsafe { &mut *data.cast::<BTreeMap<String, u64>>() };
        counts.insert(name.read(), count);
    }
    let mut counts = BTreeMap::new();
    // SAFETY: as in `inject_fault`. `hear` receives `counts` as its data.
    check(unsafe { (driver()?.calls)(hear, (&raw mut counts).cast()) })?;
    Ok(counts)
}

/// A recorded driver call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DriverCall {
    /// The number of the calling thread.
    pub thread: u64,
    /// The name of the function.
    pub name: String,
    /// The arguments as numbers. Of a structure, only the first eight bytes.
    pub arguments: Vec<u64>,
    /// The CUDA error that it returned; 0 for success.
    pub result: u32,
    /// The handle or address that it created; 0 if it created none.
    pub created: u64,
}

/// Starts or stops recording the driver calls of this process. With [`take_trace`], tests can check their order.
pub fn set_trace(on: bool) -> Result<(), Error> {
    // SAFETY: as in `inject_fault`.
    check(unsafe { (driver()?.trace)(on.into()) })
}

/// Returns the recorded driver calls, oldest first, and clears them.
pub fn take_trace() -> Result<Vec<DriverCall>, Error> {
    unsafe extern "C" fn hear(
        data: *mut u8,
        thread: u64,
        name: Text,
        arguments: *const u64,
        count: usize,
        result: u32,
        created: u64,
    ) {
        // SAFETY: the driver passes `count` arguments.
        let arguments = unsafe { std::slice::from_raw_parts(arguments, count) }.to_vec();
        // SAFETY: `data` is a pointer to `calls` below.
        let calls = unsafe { &mut *data.cast::<Vec<DriverCall>>() };
        calls.push(DriverCall { thread, name: name.read(), arguments, result, created });
    }
    let mut calls: Vec<DriverCall> = Vec::new();
    // SAFETY: as in `inject_fault`. `hear` receives `calls` as its data.
    check(unsafe { (driver()?.take_trace)(hear, (&raw mut calls).cast()) })?;
    Ok(calls)
}

fn collect(forget: bool) -> Result<Vec<Report>, Error> {
    unsafe extern "C" fn hear(data: *mut u8, kind: Text, error: u32, nodes: Text, text: Text) {
        let nodes = nodes.read().lines().map(str::to_owned).collect();
        // SAFETY: `data` is a pointer to the list below.
        let reports = unsafe { &mut *data.cast::<Vec<Report>>() };
        reports.push(Report { kind: kind.read(), error, nodes, text: text.read() });
    }
    let mut reports: Vec<Report> = Vec::new();
    let data = (&raw mut reports).cast::<u8>();
    // SAFETY: as in `inject_fault`. `hear` receives the list as its data.
    check(unsafe { (driver()?.reports)(u32::from(forget), hear, data) })?;
    Ok(reports)
}

/// Returns the reports of this process so far. They were also printed on standard error.
pub fn reports() -> Result<Vec<Report>, Error> {
    collect(false)
}

/// Returns the reports of this process so far, and clears them.
pub fn take_reports() -> Result<Vec<Report>, Error> {
    collect(true)
}
