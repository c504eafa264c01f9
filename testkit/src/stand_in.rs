//! Stand-ins for NVIDIA's libraries, for tests on the simulated driver.
//!
//! `driver_calls!` and `CallCounts` are for the sources of the stand-ins; `folder` and `StandInControl` are for their
//! tests. A stand-in is loaded by the name of the real library, so its tests run in a separate process
//! (`process::ignored`). Its functions `..TestFail`, `..TestLive` and `..TestTake` are for tests.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_void};
use std::path::PathBuf;

use libloading::os::unix::{Library, RTLD_NOW};

/// Returns the address of a function of the driver that the process has loaded.
pub fn driver_function(name: &CStr) -> *mut c_void {
    // SAFETY: the driver is already loaded and is never unloaded.
    let driver = unsafe { Library::open(Some("libcuda.so"), RTLD_NOW) }.expect("the driver");
    // SAFETY: only the address is read.
    let found = unsafe { driver.get::<*mut c_void>(name.to_bytes()) };
    *found.unwrap_or_else(|_| panic!("the driver has no {name:?}"))
}

/// Declares functions that call the driver: `name = c"symbol"(argument: type, ..);`. They return a failing code as
/// an error.
#[macro_export]
macro_rules! driver_calls {
    ($($name:ident = $symbol:literal($($arg:ident: $ty:ty),*);)*) => {$(
        fn $name($($arg: $ty),*) -> Result<(), u32> {
            let found = $crate::stand_in::driver_function($symbol);
            // SAFETY: the symbol is the function of that name, which has this signature.
            let call = unsafe { std::mem::transmute::<*mut std::ffi::c_void, extern "C" fn($($ty),*) -> u32>(found) };
            match call($($arg),*) {
                0 => Ok(()),
                code => Err(code),
            }
        }
    )*};
}

driver_calls! {
    capturing = c"cuStreamIsCapturing"(stream: u64, status: *mut u32);
}

/// Returns true if a stream is capturing.
pub fn is_capturing(stream: u64) -> bool {
    let mut status = 0;
    capturing(stream, &mut status).is_ok() && status == 1
}

/// The calls of a library's functions, and the failure that a test has requested.
#[derive(Debug, Default)]
pub struct CallCounts {
    counts: BTreeMap<String, u32>,
    fault: Option<(String, u32, u32)>,
}

impl CallCounts {
    pub const fn new() -> CallCounts {
        CallCounts { counts: BTreeMap::new(), fault: None }
    }

    /// Counts a call of a function. Returns the status to fail with, if a test has requested it.
    pub fn enter(&mut self, name: &str) -> Option<u32> {
        let count = self.counts.entry(name.to_owned()).or_default();
        *count += 1;
        match &self.fault {
            Some((fails, nth, status)) if fails == name && nth == count => Some(*status),
            _ => None,
        }
    }

    /// Lets the `nth` next call of a function fail with a status. 0 requests no failure.
    ///
    /// # Safety
    ///
    /// `name` must be a C string.
    pub unsafe fn fail(&mut self, name: *const c_char, nth: u32, status: u32) {
        self.counts.clear();
        // SAFETY: the caller's promise.
        let name = unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned();
        self.fault = Some((name, nth, status));
    }

    /// Returns a line `count NAME NUMBER` for each function, and resets the counts.
    pub fn take(&mut self) -> Vec<String> {
        let counts = std::mem::take(&mut self.counts);
        counts.iter().map(|(name, count)| format!("count {name} {count}")).collect()
    }
}

/// A callback that receives a line.
pub type LineCallback = extern "C" fn(data: *mut c_void, start: *const u8, bytes: usize);

/// Passes lines on to a test.
pub fn pass(lines: &[String], hear: LineCallback, data: *mut c_void) {
    lines.iter().for_each(|line| hear(data, line.as_ptr(), line.len()));
}

/// Returns a folder that contains the library `libcuweave_testkit_KIND.so`, which cargo builds next to the program,
/// under the given names.
pub fn folder(kind: &str, names: &[&str]) -> PathBuf {
    let this = std::env::current_exe().expect("the path of this program");
    let file = this.with_file_name(format!("libcuweave_testkit_{kind}.so"));
    let folder = std::env::temp_dir().join(format!("cuweave-{kind}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    for name in names {
        let link = folder.join(format!("lib{name}.so"));
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(&file, link).expect("a link");
    }
    folder
}

/// The functions of a stand-in that are for tests.
#[derive(Debug)]
pub struct StandInControl {
    library: Library,
    prefix: &'static str,
}

extern "C" fn hear(data: *mut c_void, start: *const u8, bytes: usize) {
    // SAFETY: `data` is the list that `take` passes, and the bytes are the text of a line.
    let (lines, text) =
        unsafe { (&mut *data.cast::<Vec<String>>(), std::slice::from_raw_parts(start, bytes)) };
    lines.push(String::from_utf8_lossy(text).into_owned());
}

impl StandInControl {
    /// Opens the library `libNAME.so`. The names of its test functions begin with `prefix`.
    pub fn open(name: &str, prefix: &'static str) -> StandInControl {
        // SAFETY: the library has no initialisers.
        let library = unsafe { Library::open(Some(format!("lib{name}.so")), RTLD_NOW) };
        StandInControl { library: library.expect("the library of the tests"), prefix }
    }

    /// Returns a test function.
    ///
    /// # Safety
    ///
    /// `F` must be the type of the function with that name, which is given without the prefix.
    pub unsafe fn function<F: Copy>(&self, name: &str) -> F {
        let name = format!("{}{name}", self.prefix);
        // SAFETY: the caller's promise.
        unsafe { *self.library.get::<F>(name.as_bytes()).expect("a function of the tests") }
    }

    /// Lets the `nth` next call of a function fail with a status. 0 requests no failure.
    pub fn fail(&self, name: &str, nth: u32, status: u32) {
        let name = CString::new(name).expect("a name");
        // SAFETY: all stand-ins have this function.
        (unsafe { self.function::<extern "C" fn(*const c_char, u32, u32)>("Fail") })(
            name.as_ptr(),
            nth,
            status,
        );
    }

    /// Returns the number of live objects.
    pub fn live(&self) -> u64 {
        // SAFETY: as above.
        (unsafe { self.function::<extern "C" fn() -> u64>("Live") })()
    }

    /// Returns the lines since the last call.
    pub fn take(&self) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        // SAFETY: as above.
        let take: extern "C" fn(LineCallback, *mut c_void) = unsafe { self.function("Take") };
        take(hear, std::ptr::from_mut(&mut lines).cast());
        lines
    }
}

/// Returns the number of calls of each function from the lines `count NAME NUMBER`. Other lines are ignored.
pub fn counts(lines: &[String]) -> Vec<(String, u32)> {
    let count = |line: &String| {
        let (name, count) = line.strip_prefix("count ")?.split_once(' ')?;
        Some((name.to_owned(), count.parse().ok()?))
    };
    lines.iter().filter_map(count).collect()
}
