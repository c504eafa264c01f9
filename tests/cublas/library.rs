//! The library of the tests in the place of cuBLAS (`testkit/cublas`), as a test sees it.

use std::ffi::{CString, c_char, c_void};
use std::path::{Path, PathBuf};

use libloading::os::unix::{Library, RTLD_NOW};

/// The file of the library, which cargo builds beside this program.
fn file() -> PathBuf {
    let this = std::env::current_exe().expect("the path of this program");
    this.with_file_name("libcuweave_testkit_cublas.so")
}

/// Returns a folder with the library under the names that cuweave and cudarc look for.
pub fn folder() -> PathBuf {
    let folder = std::env::temp_dir().join(format!("cuweave-cublas-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    for name in ["cublas_simulated", "cublasLt_simulated", "cublas", "cublasLt"] {
        let link = folder.join(format!("lib{name}.so"));
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(file(), link).expect("a link");
    }
    folder
}

/// The notes of the library since the last time.
#[derive(Debug, Default)]
pub struct Notes(pub Vec<String>);

impl Notes {
    /// Returns the notes that begin with a word, without it.
    pub fn of(&self, word: &str) -> Vec<&str> {
        self.0.iter().filter_map(|note| note.strip_prefix(word)?.strip_prefix(' ')).collect()
    }

    /// Returns what follows a word in each note of a kind.
    pub fn values(&self, kind: &str, word: &str) -> Vec<&str> {
        let value = |note: &&str| {
            let mut words = note.split(' ').skip_while(|at| *at != word);
            words.nth(1).map(|value| value.as_ptr() as usize - note.as_ptr() as usize)
        };
        let notes = self.of(kind);
        notes.iter().filter_map(|note| Some(note[value(note)?..].split(' ').next().unwrap_or(""))).collect()
    }

    /// Returns the functions that were called, each with the number of its calls.
    pub fn counts(&self) -> Vec<(String, u32)> {
        let count = |note: &&str| {
            let (name, count) = note.split_once(' ').expect("a name and a count");
            (name.to_owned(), count.parse().expect("a number"))
        };
        self.of("count").iter().map(count).collect()
    }
}

/// The calls of the library that are the test's.
pub struct Control(Library);

extern "C" fn hear(data: *mut c_void, start: *const u8, bytes: usize) {
    // SAFETY: the list of `notes`, and the text of a note.
    let (notes, text) = unsafe { (&mut *data.cast::<Notes>(), std::slice::from_raw_parts(start, bytes)) };
    notes.0.push(String::from_utf8_lossy(text).into_owned());
}

impl Control {
    pub fn open() -> Control {
        let name: &Path = Path::new("libcublasLt_simulated.so");
        // SAFETY: the library has no initialisers.
        Control(unsafe { Library::open(Some(name), RTLD_NOW) }.expect("the library of the tests"))
    }

    fn call<F: Copy>(&self, name: &str) -> F {
        // SAFETY: the signatures are those of the library's source.
        unsafe { *self.0.get::<F>(name.as_bytes()).expect("a function of the tests") }
    }

    /// Lets the `nth` call of a function from now on fail with a status; 0 is none.
    pub fn fail(&self, name: &str, nth: u32, status: u32) {
        let name = CString::new(name).expect("a name");
        self.call::<extern "C" fn(*const c_char, u32, u32)>("cublasTestFail")(name.as_ptr(), nth, status);
    }

    /// Sets the workspace that the heuristic asks for.
    pub fn workspace(&self, bytes: u64) {
        self.call::<extern "C" fn(u64)>("cublasTestWorkspace")(bytes);
    }

    /// Returns the number of handles and descriptions that live.
    pub fn live(&self) -> u64 {
        self.call::<extern "C" fn() -> u64>("cublasTestLive")()
    }

    /// Returns the notes since the last time.
    pub fn notes(&self) -> Notes {
        let mut notes = Notes::default();
        let take: extern "C" fn(extern "C" fn(*mut c_void, *const u8, usize), *mut c_void) =
            self.call("cublasTestTake");
        take(hear, std::ptr::from_mut(&mut notes).cast());
        assert_eq!(notes.of("violation"), [""; 0]);
        notes
    }
}
