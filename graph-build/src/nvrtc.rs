//! Bindings to NVRTC, which is loaded at run time.
//!
//! Functions are looked up by name at each call, with the signatures of nvrtc.h. Apart from
//! [`crate::version`], which asks the driver for its version, this is the only `unsafe` code of the crate.
#![allow(unsafe_code)]

use crate::version::Version;
use libloading::Library;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};

type Program = *mut c_void;

/// The loaded library.
pub struct Nvrtc {
    library: Library,
    /// The library of built-in functions. NVRTC opens it by name only, so it must be loaded already.
    _builtins: Option<Library>,
    path: PathBuf,
    version: Version,
}

impl Nvrtc {
    /// Opens NVRTC by its path, or by a name that the system's loader finds.
    ///
    /// # Errors
    /// Returns the reason, with the path.
    pub fn open(path: &Path) -> Result<Nvrtc, String> {
        let shown = path.display();
        // SAFETY: NVRTC has no load-time code that depends on the state of this process.
        let library = unsafe { Library::new(path) }.map_err(|error| {
            let text = cause(&error);
            let text = text.strip_prefix(&format!("{shown}: ")).unwrap_or(&text).to_owned();
            format!("`{shown}` cannot be loaded: {text}")
        })?;
        let (mut major, mut minor) = (0 as c_int, 0 as c_int);
        // SAFETY: the signature is that of nvrtc.h. Both pointers are valid for the call.
        let status = unsafe {
            let version: libloading::Symbol<'_, unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int> =
                library
                    .get(b"nvrtcVersion\0")
                    .map_err(|_| format!("`{shown}` is not NVRTC: it has no `nvrtcVersion`"))?;
            version(&mut major, &mut minor)
        };
        let version = match (status, u32::try_from(major), u32::try_from(minor)) {
            (0, Ok(major), Ok(minor)) => Version::new(major, minor),
            _ => return Err(format!("`{shown}` does not say its version: error {status}")),
        };
        // The loader resolves a name to a library that is already open, even if another thread opened it by
        // its path.
        let path = file_of(&library).unwrap_or_else(|| path.to_owned());
        // Some versions, such as the wheel of 13.0, search only the system's folders for it, not their own.
        let builtins = path.parent().filter(|folder| !folder.as_os_str().is_empty()).and_then(|folder| {
            let file = folder.join(format!("libnvrtc-builtins.so.{version}"));
            // SAFETY: the builtins library only holds data for NVRTC.
            file.is_file().then(|| unsafe { Library::new(file) }.ok()).flatten()
        });
        Ok(Nvrtc { library, _builtins: builtins, path, version })
    }

    /// Returns the library's file, or the name given to the system's loader.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn version(&self) -> Version {
        self.version
    }

    /// Returns the supported architectures, such as `compute_75`. Empty if NVRTC is too old to report them.
    pub fn architectures(&self) -> Vec<String> {
        let mut count = 0 as c_int;
        let mut numbers;
        // SAFETY: signatures as in nvrtc.h. The array has as many elements as the library reports.
        let status = unsafe {
            let counted =
                self.library.get::<unsafe extern "C" fn(*mut c_int) -> c_int>(b"nvrtcGetNumSupportedArchs\0");
            let listed =
                self.library.get::<unsafe extern "C" fn(*mut c_int) -> c_int>(b"nvrtcGetSupportedArchs\0");
            let (Ok(counted), Ok(listed)) = (counted, listed) else { return Vec::new() };
            let status = counted(&mut count);
            numbers = vec![0 as c_int; usize::try_from(count).unwrap_or(0).max(1)];
            if status == 0 { listed(numbers.as_mut_ptr()) } else { status }
        };
        if status != 0 {
            return Vec::new();
        }
        numbers.iter().map(|number| format!("compute_{number}")).collect()
    }

    /// Compiles a source text. `headers` holds names and texts, and takes precedence over files of the same
    /// names. Returns the PTX and the log. The error is the log.
    pub fn compile(
        &self,
        source: &Path,
        text: &[u8],
        options: &[String],
        headers: &[(String, String)],
    ) -> Result<(String, String), String> {
        let text = CString::new(text).map_err(|_| "the file has a NUL byte".to_owned())?;
        let name = CString::new(source.to_string_lossy().as_bytes()).map_err(|error| error.to_string())?;
        // A header that contains a NUL byte is not passed. NVRTC reads it from its file.
        let headers: Vec<(CString, CString)> = headers
            .iter()
            .filter_map(|(name, text)| {
                Some((CString::new(name.as_str()).ok()?, CString::new(text.as_str()).ok()?))
            })
            .collect();
        let options: Vec<CString> = options
            .iter()
            .map(|option| CString::new(option.as_bytes()).map_err(|error| error.to_string()))
            .collect::<Result<_, _>>()?;
        let program = self.program(&text, &name, &headers)?;
        let result = self.run(program, &options);
        let mut program = program;
        // SAFETY: signature as in nvrtc.h. The program was created by `program` and is not used afterwards.
        unsafe {
            if let Ok(destroy) =
                self.library.get::<unsafe extern "C" fn(*mut Program) -> c_int>(b"nvrtcDestroyProgram\0")
            {
                destroy(&mut program);
            }
        }
        result
    }

    fn program(&self, text: &CStr, name: &CStr, headers: &[(CString, CString)]) -> Result<Program, String> {
        type Create = unsafe extern "C" fn(
            *mut Program,
            *const c_char,
            *const c_char,
            c_int,
            *const *const c_char,
            *const *const c_char,
        ) -> c_int;
        let mut program: Program = std::ptr::null_mut();
        let names: Vec<*const c_char> = headers.iter().map(|(name, _)| name.as_ptr()).collect();
        let texts: Vec<*const c_char> = headers.iter().map(|(_, text)| text.as_ptr()).collect();
        let count = c_int::try_from(headers.len()).map_err(|error| error.to_string())?;
        // SAFETY: signature as in nvrtc.h. The strings are NUL-terminated and outlive the call. Both lists
        // have `count` elements.
        let status = unsafe {
            let create: libloading::Symbol<'_, Create> =
                self.library.get(b"nvrtcCreateProgram\0").map_err(|error| error.to_string())?;
            create(&mut program, text.as_ptr(), name.as_ptr(), count, texts.as_ptr(), names.as_ptr())
        };
        if status == 0 { Ok(program) } else { Err(format!("nvrtcCreateProgram: error {status}")) }
    }

    fn run(&self, program: Program, options: &[CString]) -> Result<(String, String), String> {
        let pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        // SAFETY: signature as in nvrtc.h. The count is that of the pointers, and each points to a
        // NUL-terminated string.
        let status = unsafe {
            let compile: libloading::Symbol<
                '_,
                unsafe extern "C" fn(Program, c_int, *const *const c_char) -> c_int,
            > = self.library.get(b"nvrtcCompileProgram\0").map_err(|error| error.to_string())?;
            compile(program, pointers.len() as c_int, pointers.as_ptr())
        };
        let log =
            self.text(program, b"nvrtcGetProgramLogSize\0", b"nvrtcGetProgramLog\0").unwrap_or_default();
        if status != 0 {
            return Err(if log.trim().is_empty() {
                format!("NVRTC {}: error {status}", self.version)
            } else {
                log
            });
        }
        self.text(program, b"nvrtcGetPTXSize\0", b"nvrtcGetPTX\0").map(|ptx| (ptx, log))
    }

    /// Returns a text of the program. `size_of` and `get` are the names of the functions that return its
    /// size and its bytes.
    fn text(&self, program: Program, size_of: &[u8], get: &[u8]) -> Result<String, String> {
        let mut size = 0usize;
        let mut bytes;
        // SAFETY: signatures as in nvrtc.h. The buffer has the size that the library reports, including the
        // final NUL.
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
            return Err(format!("NVRTC {}: error {status}", self.version));
        }
        bytes.truncate(bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len()));
        String::from_utf8(bytes).map_err(|error| error.to_string())
    }
}

/// Returns the file that a library was loaded from. None if the system does not know it.
#[cfg(unix)]
fn file_of(library: &Library) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;

    /// `Dl_info` of dlfcn.h.
    #[repr(C)]
    struct Info {
        file: *const c_char,
        base: *mut c_void,
        symbol: *const c_char,
        address: *mut c_void,
    }
    unsafe extern "C" {
        fn dladdr(address: *const c_void, info: *mut Info) -> c_int;
    }
    let null = std::ptr::null_mut::<c_void>();
    let mut info = Info { file: null.cast(), base: null, symbol: null.cast(), address: null };
    // SAFETY: signature as in dlfcn.h. The name is NUL-terminated and valid while the library is open.
    let file = unsafe {
        let symbol = library.get::<unsafe extern "C" fn()>(b"nvrtcVersion\0").ok()?;
        if dladdr(*symbol as *const c_void, &mut info) == 0 || info.file.is_null() {
            return None;
        }
        CStr::from_ptr(info.file)
    };
    let file = PathBuf::from(std::ffi::OsStr::from_bytes(file.to_bytes()));
    file.is_absolute().then_some(file)
}

#[cfg(not(unix))]
fn file_of(_: &Library) -> Option<PathBuf> {
    None
}

/// Returns the system's message for a library that cannot be loaded.
fn cause(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}
