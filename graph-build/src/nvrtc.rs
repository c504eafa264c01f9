//! NVRTC, loaded at run time: the one module here with `unsafe`.
#![allow(unsafe_code)]

use libloading::Library;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};

type Program = *mut c_void;

/// The loaded library.
pub struct Nvrtc {
    library: Library,
    version: String,
}

impl Nvrtc {
    /// Opens the first library found: `CUWEAVE_NVRTC`, then the system's folders, then those below `roots`; new
    /// versions first.
    pub fn find(roots: &[PathBuf]) -> Option<Nvrtc> {
        let names = if cfg!(windows) {
            ["nvrtc64_130_0.dll", "nvrtc64_120_0.dll", "nvrtc64_112_0.dll"]
        } else {
            ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"]
        };
        let named = std::env::var_os("CUWEAVE_NVRTC").map(PathBuf::from);
        let folders = ["lib64", "lib", "bin"];
        let below = roots.iter().flat_map(|root| folders.map(|folder| root.join(folder)));
        let below = below.flat_map(|folder| names.map(|name| folder.join(name)));
        named.into_iter().chain(names.map(PathBuf::from)).chain(below).find_map(|path| Nvrtc::open(&path))
    }

    fn open(path: &Path) -> Option<Nvrtc> {
        // SAFETY: loading NVRTC runs no code that depends on this process.
        let library = unsafe { Library::new(path) }.ok()?;
        let (mut major, mut minor) = (0 as c_int, 0 as c_int);
        // SAFETY: the signature is that of nvrtc.h; both pointers are valid for the call.
        let status = unsafe {
            let version: libloading::Symbol<'_, unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int> =
                library.get(b"nvrtcVersion\0").ok()?;
            version(&mut major, &mut minor)
        };
        (status == 0).then(|| Nvrtc { library, version: format!("NVRTC {major}.{minor}") })
    }

    /// Returns its name and version.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Compiles a file. Returns the PTX, or the log as the error.
    pub fn compile(&self, source: &Path, options: &[String]) -> Result<String, String> {
        let text = std::fs::read(source).map_err(|error| error.to_string())?;
        let text = CString::new(text).map_err(|_| "the file has a NUL byte".to_owned())?;
        let name = CString::new(source.to_string_lossy().as_bytes()).map_err(|error| error.to_string())?;
        let options: Vec<CString> = options
            .iter()
            .map(|option| CString::new(option.as_bytes()).map_err(|error| error.to_string()))
            .collect::<Result<_, _>>()?;
        let program = self.program(&text, &name)?;
        let result = self.run(program, &options);
        let mut program = program;
        // SAFETY: as in nvrtc.h; the program was made by `program` and is not used afterwards.
        unsafe {
            if let Ok(destroy) =
                self.library.get::<unsafe extern "C" fn(*mut Program) -> c_int>(b"nvrtcDestroyProgram\0")
            {
                destroy(&mut program);
            }
        }
        result
    }

    fn program(&self, text: &CStr, name: &CStr) -> Result<Program, String> {
        type Create = unsafe extern "C" fn(
            *mut Program,
            *const c_char,
            *const c_char,
            c_int,
            *const *const c_char,
            *const *const c_char,
        ) -> c_int;
        let mut program: Program = std::ptr::null_mut();
        // SAFETY: as in nvrtc.h; the strings end in NUL and outlive the call, no headers are given.
        let status = unsafe {
            let create: libloading::Symbol<'_, Create> =
                self.library.get(b"nvrtcCreateProgram\0").map_err(|error| error.to_string())?;
            create(&mut program, text.as_ptr(), name.as_ptr(), 0, std::ptr::null(), std::ptr::null())
        };
        if status == 0 { Ok(program) } else { Err(format!("nvrtcCreateProgram: error {status}")) }
    }

    fn run(&self, program: Program, options: &[CString]) -> Result<String, String> {
        let pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        // SAFETY: as in nvrtc.h; the count is that of the pointers, each to a string that ends in NUL.
        let status = unsafe {
            let compile: libloading::Symbol<
                '_,
                unsafe extern "C" fn(Program, c_int, *const *const c_char) -> c_int,
            > = self.library.get(b"nvrtcCompileProgram\0").map_err(|error| error.to_string())?;
            compile(program, pointers.len() as c_int, pointers.as_ptr())
        };
        if status != 0 {
            let log =
                self.text(program, b"nvrtcGetProgramLogSize\0", b"nvrtcGetProgramLog\0").unwrap_or_default();
            return Err(format!("{log}\n{}: error {status}", self.version).trim_start().to_owned());
        }
        self.text(program, b"nvrtcGetPTXSize\0", b"nvrtcGetPTX\0")
    }

    /// Returns a text of the program; `size_of` and `get` name the functions that return its size and its bytes.
    fn text(&self, program: Program, size_of: &[u8], get: &[u8]) -> Result<String, String> {
        let mut size = 0usize;
        let mut bytes;
        // SAFETY: as in nvrtc.h; the buffer has the size that the library asked for, its last byte a NUL.
        let status = unsafe {
            let size_of: libloading::Symbol<'_, unsafe extern "C" fn(Program, *mut usize) -> c_int> =
                self.library.get(size_of).map_err(|error| error.to_string())?;
            let get: libloading::Symbol<'_, unsafe extern "C" fn(Program, *mut c_char) -> c_int> =
                self.library.get(get).map_err(|error| error.to_string())?;
            let status = size_of(program, &mut size);
            bytes = vec![0u8; size.max(1)];
            if status == 0 { get(program, bytes.as_mut_ptr().cast()) } else { status }
        };
        if status != 0 {
            return Err(format!("{}: error {status}", self.version));
        }
        bytes.truncate(bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len()));
        String::from_utf8(bytes).map_err(|error| error.to_string())
    }
}
