//! Libraries in the place of NVIDIA's, for tests on the simulated driver: what their sources share (`driver_calls!`, `Calls`), and what the
//! tests do with them (`folder`, `Control`).
//!
//! Such a library is loaded by its name, so its tests run in a process of their own (`process::ignored`). Its functions `..TestFail`,
//! `..TestLive` and `..TestTake` are for tests.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_void};
use std::path::PathBuf;

use libloading::os::unix::{Library, RTLD_NOW};

/// Returns the address of a function of the driver that the process has loaded.
pub fn driver_function(name: &CStr) -> *mut c_void {
    // SAFETY: the driver is loaded already, and is not unloaded.
    let driver = unsafe { Library::open(Some("libcuda.so"), RTLD_NOW) }.expect("the driver");
    // SAFETY: an address is all that is read.
    let found = unsafe { driver.get::<*mut c_void>(name.to_bytes()) };
    *found.unwrap_or_else(|_| panic!("the driver has no {name:?}"))
}

/// Declares functions that call the driver: `name = c"symbol"(argument: type, ..);`. They return the driver's code as an error.
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

/// Returns true if a stream captures.
pub fn is_capturing(stream: u64) -> bool {
    let mut status = 0;
    capturing(stream, &mut status).is_ok() && status == 1
}

/// The calls of a library's functions, and the fault that a test asked for.
#[derive(Debug, Default)]
pub struct Calls {
    counts: BTreeMap<String, u32>,
    fault: Option<(String, u32, u32)>,
}

impl Calls {
    pub const fn new() -> Calls {
        Calls { counts: BTreeMap::new(), fault: None }
    }

    /// Counts a call of a function. Returns the status that it has to fail with, if the test asked for that.
    pub fn enter(&mut self, name: &str) -> Option<u32> {
        let count = self.counts.entry(name.to_owned()).or_default();
        *count += 1;
        match &self.fault {
            Some((fails, nth, status)) if fails == name && nth == count => Some(*status),
            _ => None,
        }
    }

    /// Lets the `nth` call of a function from now on fail with a status; 0 is none.
    ///
    /// # Safety
    ///
    /// `name` must be a text of C.
    pub unsafe fn fail(&mut self, name: *const c_char, nth: u32, status: u32) {
        self.counts.clear();
        // SAFETY: the caller's.
        let name = unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned();
        self.fault = Some((name, nth, status));
    }

    /// Returns a line for each function, `count NAME NUMBER`, and counts from 0.
    pub fn take(&mut self) -> Vec<String> {
        let counts = std::mem::take(&mut self.counts);
        counts.iter().map(|(name, count)| format!("count {name} {count}")).collect()
    }
}

/// Receives a line.
pub type Hear = extern "C" fn(data: *mut c_void, start: *const u8, bytes: usize);

/// Passes lines on to a test.
pub fn pass(lines: &[String], hear: Hear, data: *mut c_void) {
    lines.iter().for_each(|line| hear(data, line.as_ptr(), line.len()));
}

/// Returns a folder with the library `libcuweave_testkit_KIND.so`, which cargo builds beside the program, under these names.
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

/// The functions of a library that are the test's.
#[derive(Debug)]
pub struct Control {
    library: Library,
    prefix: &'static str,
}

extern "C" fn hear(data: *mut c_void, start: *const u8, bytes: usize) {
    // SAFETY: the list of `take`, and the text of a line.
    let (lines, text) =
        unsafe { (&mut *data.cast::<Vec<String>>(), std::slice::from_raw_parts(start, bytes)) };
    lines.push(String::from_utf8_lossy(text).into_owned());
}

impl Control {
    /// Opens the library `libNAME.so`, whose functions for tests begin with `prefix`.
    pub fn open(name: &str, prefix: &'static str) -> Control {
        // SAFETY: the library has no initialisers.
        let library = unsafe { Library::open(Some(format!("lib{name}.so")), RTLD_NOW) };
        Control { library: library.expect("the library of the tests"), prefix }
    }

    /// Returns a function.
    ///
    /// # Safety
    ///
    /// `F` must be the type of the function of that name, without its prefix.
    pub unsafe fn function<F: Copy>(&self, name: &str) -> F {
        let name = format!("{}{name}", self.prefix);
        // SAFETY: the caller's.
        unsafe { *self.library.get::<F>(name.as_bytes()).expect("a function of the tests") }
    }

    /// Lets the `nth` call of a function from now on fail with a status; 0 is none.
    pub fn fail(&self, name: &str, nth: u32, status: u32) {
        let name = CString::new(name).expect("a name");
        // SAFETY: all these libraries have this function.
        (unsafe { self.function::<extern "C" fn(*const c_char, u32, u32)>("Fail") })(
            name.as_ptr(),
            nth,
            status,
        );
    }

    /// Returns the number of objects that live.
    pub fn live(&self) -> u64 {
        // SAFETY: as above.
        (unsafe { self.function::<extern "C" fn() -> u64>("Live") })()
    }

    /// Returns the lines since the last time.
    pub fn take(&self) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        // SAFETY: as above.
        let take: extern "C" fn(Hear, *mut c_void) = unsafe { self.function("Take") };
        take(hear, std::ptr::from_mut(&mut lines).cast());
        lines
    }
}

/// Returns the functions of lines `count NAME NUMBER`, each with the number of its calls. Other lines are left out.
pub fn counts(lines: &[String]) -> Vec<(String, u32)> {
    let count = |line: &String| {
        let (name, count) = line.strip_prefix("count ")?.split_once(' ')?;
        Some((name.to_owned(), count.parse().ok()?))
    };
    lines.iter().filter_map(count).collect()
}
