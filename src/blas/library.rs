//! cuBLAS and cuBLASLt: loaded on first use, kept forever, never linked.
//!
//! The functions are resolved here and not by cudarc, which panics if a library or a symbol is missing. Types
//! and constants are cudarc's. Statuses are read as numbers, because a newer library may return one that the
//! bindings do not know.

#![allow(unsafe_code)]

use std::error::Error as _;
use std::ffi::{c_int, c_void};
use std::sync::OnceLock;

use cudarc::cublas::sys::cublasHandle_t;
use cudarc::cublaslt::sys::{
    cublasLtHandle_t, cublasLtMatmulAlgo_t, cublasLtMatmulDesc_t, cublasLtMatmulPreference_t,
    cublasLtMatrixLayout_t,
};
use cudarc::driver::CudaContext;
use cudarc::driver::sys::CUstream;
use libloading::Library as Loaded;

use super::error::Error;

/// A result of cuBLASLt's heuristic: cudarc's type, but with the status as a number.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct HeuristicResult {
    pub algorithm: cublasLtMatmulAlgo_t,
    pub workspace: usize,
    pub state: u32,
    pub waves: f32,
    pub reserved: [c_int; 4],
}

/// The open files of one version.
struct Files {
    cublas: Loaded,
    lt: Loaded,
}

macro_rules! functions {
    ($($name:ident($($ty:ty),* $(,)?) in $library:ident;)*) => {
        /// The functions of the two libraries.
        #[allow(non_snake_case)]
        pub(super) struct Library {
            $(pub $name: unsafe extern "C" fn($($ty),*) -> u32,)*
            /// The version of cuBLASLt: 130100 for 13.1.0.
            pub version: usize,
        }

        impl Library {
            fn resolve(files: &Files) -> Result<Library, libloading::Error> {
                // SAFETY: each symbol is the function of that name. Its C signature is the field's type, with
                // a C enum for each `u32`. After success the files are never closed.
                unsafe {
                    let version = *files.lt.get::<unsafe extern "C" fn() -> usize>(b"cublasLtGetVersion\0")?;
                    Ok(Library {
                        $($name: *files.$library.get(concat!(stringify!($name), "\0").as_bytes())?,)*
                        version: version(),
                    })
                }
            }
        }
    };
}
functions! {
    cublasGetProperty(u32, *mut c_int) in cublas;
    cublasCreate_v2(*mut cublasHandle_t) in cublas;
    cublasDestroy_v2(cublasHandle_t) in cublas;
    cublasSetStream_v2(cublasHandle_t, CUstream) in cublas;
    cublasSetWorkspace_v2(cublasHandle_t, *mut c_void, usize) in cublas;
    cublasLtCreate(*mut cublasLtHandle_t) in lt;
    cublasLtDestroy(cublasLtHandle_t) in lt;
    cublasLtMatmulDescCreate(*mut cublasLtMatmulDesc_t, u32, u32) in lt;
    cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t) in lt;
    cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t, u32, *const c_void, usize) in lt;
    cublasLtMatrixLayoutCreate(*mut cublasLtMatrixLayout_t, u32, u64, u64, i64) in lt;
    cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t) in lt;
    cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t, u32, *const c_void, usize) in lt;
    cublasLtMatmulPreferenceCreate(*mut cublasLtMatmulPreference_t) in lt;
    cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t) in lt;
    cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t, u32, *const c_void, usize) in lt;
    cublasLtMatmulAlgoGetHeuristic(
        cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
        cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatmulPreference_t, c_int,
        *mut HeuristicResult, *mut c_int,
    ) in lt;
    cublasLtMatmul(
        cublasLtHandle_t, cublasLtMatmulDesc_t, *const c_void, *const c_void, cublasLtMatrixLayout_t, *const c_void,
        cublasLtMatrixLayout_t, *const c_void, *const c_void, cublasLtMatrixLayout_t, *mut c_void,
        cublasLtMatrixLayout_t, *const cublasLtMatmulAlgo_t, *mut c_void, usize, CUstream,
    ) in lt;
}

impl Library {
    /// Returns the libraries in a version that fits a driver of this CUDA version (13000 for 13.0). `None` is
    /// the simulator.
    ///
    /// # Errors
    ///
    /// They cannot be loaded. The first result is kept.
    pub fn get(driver: Option<i32>) -> Result<&'static Library, Error> {
        static LIBRARY: OnceLock<Result<Library, Error>> = OnceLock::new();
        LIBRARY.get_or_init(|| Library::load(driver)).as_ref().map_err(Clone::clone)
    }

    fn load(driver: Option<i32>) -> Result<Library, Error> {
        let mut tried = Vec::new();
        for [cublas, lt] in candidates(driver) {
            // SAFETY: loading libraries of these names runs no code with preconditions.
            let opened =
                unsafe { Loaded::new(&lt).and_then(|lt| Ok(Files { cublas: Loaded::new(&cublas)?, lt })) };
            match opened.and_then(|files| Ok((Library::resolve(&files)?, files))) {
                Ok((library, files)) => {
                    std::mem::forget(files);
                    return Ok(library);
                }
                // The loader's own text is the source of the crate's error.
                Err(error) => {
                    tried.push(error.source().map_or_else(|| error.to_string(), ToString::to_string))
                }
            }
        }
        Err(if driver.is_none() { Error::simulated() } else { Error::missing(&tried.join("; ")) })
    }
}

/// Returns the names of both libraries for each version that may fit: first the toolkit's, which cudarc also tries
/// first, then the newest. cuBLAS cannot run on the simulator; only tests provide a library with the name for it.
fn candidates(driver: Option<i32>) -> Vec<[String; 2]> {
    let majors: &[&str] = match driver {
        None => return vec![["libcublas_simulated.so".to_owned(), "libcublasLt_simulated.so".to_owned()]],
        Some(13_000..) => &["", "13", "12"],
        Some(_) => &["", "12"],
    };
    let named = |major: &&str| {
        ["cublas", "cublasLt"].map(|name| match (cfg!(windows), major.is_empty()) {
            (true, true) => format!("{name}.dll"),
            (true, false) => format!("{name}64_{major}.dll"),
            (false, true) => format!("lib{name}.so"),
            (false, false) => format!("lib{name}.so.{major}"),
        })
    };
    majors.iter().map(named).collect()
}

impl Library {
    /// Checks that cudarc's bindings loaded the same version. Their functions get the handles of this library.
    pub fn check_same_as_cudarc(&self) -> Result<(), Error> {
        use cudarc::cublas::sys::{cublasGetProperty, libraryPropertyType_t as Property};
        for property in [Property::MAJOR_VERSION, Property::MINOR_VERSION, Property::PATCH_LEVEL] {
            let (mut own, mut theirs) = (0, 0);
            // SAFETY: the pointers are to locals.
            unsafe {
                check_status("cublasGetProperty", (self.cublasGetProperty)(property as u32, &mut own))?;
                check_status("cublasGetProperty", cublasGetProperty(property, &mut theirs) as u32)?;
            }
            if own != theirs {
                return Err(Error::other_library());
            }
        }
        Ok(())
    }
}

/// Returns an error for a status that is not success.
pub(super) fn check_status(call: &'static str, status: u32) -> Result<(), Error> {
    if status == 0 { Ok(()) } else { Err(Error::status(call, status)) }
}

/// Returns the CUDA version of the driver.
pub(super) fn driver_version() -> Result<i32, Error> {
    let mut version = 0;
    // SAFETY: the pointer is to a local; a context exists, so the driver is loaded.
    unsafe { cudarc::driver::sys::cuDriverGetVersion(&mut version) }.result()?;
    Ok(version)
}

/// Waits for the work of a context.
pub(super) fn wait(ctx: &CudaContext) -> Result<(), Error> {
    ctx.bind_to_thread()?;
    // SAFETY: a context is current.
    unsafe { cudarc::driver::sys::cuCtxSynchronize() }.result()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_is_in_the_library_that_is_installed() {
        match Library::get(Some(13_000)) {
            Ok(library) => {
                assert!(library.version >= 120_000, "{}", library.version);
                println!("cuBLASLt {}", library.version);
            }
            Err(error) => {
                assert!(error.is_missing() && error.to_string().contains("nvidia-cublas"), "{error}");
                println!("not run: {error}");
            }
        }
    }

    #[test]
    fn libraries_are_not_newer_than_the_driver() {
        let majors =
            |driver| candidates(Some(driver)).into_iter().map(|[cublas, _]| cublas).collect::<Vec<_>>();
        if cfg!(not(windows)) {
            assert_eq!(majors(12_080), ["libcublas.so", "libcublas.so.12"]);
            assert_eq!(majors(13_000), ["libcublas.so", "libcublas.so.13", "libcublas.so.12"]);
        }
    }
}
