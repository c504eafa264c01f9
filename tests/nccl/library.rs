//! The library of the tests in the place of NCCL (`testkit/nccl`), as a test sees it, and the devices.

use std::ffi::{CString, c_char, c_void};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaStream};
use cuweave_testkit::device::driver;
use libloading::os::unix::{Library, RTLD_NOW};

/// Returns a folder with the library under the name that cuweave looks for.
pub fn folder() -> PathBuf {
    let this = std::env::current_exe().expect("the path of this program");
    let file = this.with_file_name("libcuweave_testkit_nccl.so");
    let folder = std::env::temp_dir().join(format!("cuweave-nccl-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let link = folder.join("libnccl_simulated.so");
    let _ = std::fs::remove_file(&link);
    std::os::unix::fs::symlink(file, link).expect("a link");
    folder
}

/// Contexts, and a stream of each.
type Devices = (Vec<Arc<CudaContext>>, Vec<Arc<CudaStream>>);

/// Contexts with a stream each; `None` where there are fewer devices.
pub fn devices(count: usize) -> Option<Devices> {
    driver();
    let found = CudaContext::device_count().expect("a count");
    if (found as usize) < count {
        println!("not run: it needs {count} devices, and there are {found}");
        return None;
    }
    let contexts: Vec<_> = (0..count).map(|device| cuweave::context(device).expect("a context")).collect();
    let streams = contexts.iter().map(|ctx| ctx.new_stream().expect("a stream")).collect();
    Some((contexts, streams))
}

/// Checks that the simulated driver has nothing to report.
pub fn silent() {
    if driver().is_simulated() {
        let reports = cuweave_sim::take_reports().expect("reports");
        assert!(reports.is_empty(), "{reports:?}");
    }
}

/// The calls of the library that are the test's.
pub struct Control(Library);

extern "C" fn hear(data: *mut c_void, start: *const u8, bytes: usize) {
    // SAFETY: the list of `notes`, and the text of a note.
    let (notes, text) =
        unsafe { (&mut *data.cast::<Vec<String>>(), std::slice::from_raw_parts(start, bytes)) };
    notes.push(String::from_utf8_lossy(text).into_owned());
}

impl Control {
    /// Opens the library; `None` on real devices.
    pub fn open() -> Option<Control> {
        if !driver().is_simulated() {
            println!("not run: it needs the simulated driver");
            return None;
        }
        let name: &Path = Path::new("libnccl_simulated.so");
        // SAFETY: the library has no initialisers.
        let control =
            Control(unsafe { Library::open(Some(name), RTLD_NOW) }.expect("the library of the tests"));
        control.fail("", 0, 0);
        control.patience(20_000);
        control.counts();
        Some(control)
    }

    fn call<F: Copy>(&self, name: &str) -> F {
        // SAFETY: the signatures are those of the library's source.
        unsafe { *self.0.get::<F>(name.as_bytes()).expect("a function of the tests") }
    }

    /// Lets the `nth` call of a function from now on fail with a status; 0 is none.
    pub fn fail(&self, name: &str, nth: u32, status: u32) {
        let name = CString::new(name).expect("a name");
        self.call::<extern "C" fn(*const c_char, u32, u32)>("ncclTestFail")(name.as_ptr(), nth, status);
    }

    /// Sets the time after which ranks that do not come are an error.
    pub fn patience(&self, milliseconds: u64) {
        self.call::<extern "C" fn(u64)>("ncclTestPatience")(milliseconds);
    }

    /// Gives all communicators an error.
    pub fn break_all(&self, status: u32) {
        self.call::<extern "C" fn(u32)>("ncclTestBreak")(status);
    }

    /// Returns the number of communicators that live.
    pub fn live(&self) -> u64 {
        self.call::<extern "C" fn() -> u64>("ncclTestLive")()
    }

    /// Returns the functions that were called since the last time, each with the number of its calls.
    pub fn counts(&self) -> Vec<(String, u32)> {
        let mut notes: Vec<String> = Vec::new();
        let take: extern "C" fn(extern "C" fn(*mut c_void, *const u8, usize), *mut c_void) =
            self.call("ncclTestTake");
        take(hear, std::ptr::from_mut(&mut notes).cast());
        let count = |note: &String| {
            let note = note.strip_prefix("count ").unwrap_or_else(|| panic!("{note}"));
            let (name, count) = note.split_once(' ').expect("a name and a count");
            (name.to_owned(), count.parse().expect("a number"))
        };
        notes.iter().map(count).collect()
    }
}
