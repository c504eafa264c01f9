//! Compiles CUDA C++ to PTX in a build script, so that `#[cuweave::kernels("kernels/nn.cu")]` can check
//! declarations against it.
//!
//! ```no_run
//! // main of build.rs; in Cargo.toml: [build-dependencies] cuweave-build = "0.1"
//! cuweave_build::ptx("kernels/*.cu");
//! ```
//!
//! The PTX of `kernels/nn.cu` becomes `cuweave/kernels/nn.ptx` in `OUT_DIR`, where the macro looks for it.
//! A file is recompiled if it, a header that it includes by name (`#include "x.cuh"`, or `<x.cuh>` from a
//! folder of [`Build::include`]), the options or the compiler changed.
//!
//! # Compiler
//!
//! NVRTC is used if it is installed, otherwise nvcc. `pip install "nvidia-cuda-nvrtc<13.1"` is enough:
//! NVRTC needs no GPU, no driver, no toolkit and no host compiler. Its version decides which drivers accept
//! the PTX, see [below](#defaults). The search order is as follows. If nothing is found, the error says why
//! each place was rejected.
//!
//! 1. the file that `CUWEAVE_NVRTC` names; if it is set, nothing else is tried;
//! 2. the toolkits `CUDA_PATH` and `CUDA_HOME`;
//! 3. Python's packages in `VIRTUAL_ENV`, and packages and libraries in `CONDA_PREFIX`;
//! 4. the libraries that the system's loader finds;
//! 5. the toolkits `/usr/local/cuda`, `/opt/cuda`, `/usr`, and that of nvcc in `PATH`;
//! 6. the packages of `python3` in `PATH`;
//! 7. the program `NVCC`, and nvcc in those toolkits and in `PATH`.
//!
//! # Sources for nvcc
//!
//! NVRTC compiles device code only and has no headers of the host. To let sources for nvcc compile
//! unchanged:
//!
//! - **Headers of the C library** (`stdint.h`, `stddef.h`, `limits.h`, `float.h`, `math.h`, `assert.h`,
//!   `stdio.h`, `stdlib.h`, `string.h` and a few more, also as `cstdint` and so on) are provided, with the
//!   parts that kernels use. A header of that name in a folder of [`Build::include`] takes precedence.
//!   `algorithm`, `limits`, `tuple`, `type_traits`, `utility` and similar headers map to those of
//!   `cuda::std` if CCCL is installed. NVRTC has the contents of `cuda_runtime.h` built in, so it need not
//!   be installed.
//! - **Host code is removed.** If NVRTC rejects a file as written, the file is compiled again without its
//!   host functions and variables: those that neither `__global__`, `__device__`, `__constant__` nor
//!   `constexpr` marks, directly or through a macro. The same applies to the headers that it includes from
//!   its own folder and from the folders of [`Build::include`]. Other declarations that do not compile
//!   (host classes, prototypes that use their types) are removed next, and missing headers of the system
//!   and of CUDA's libraries are replaced by empty ones. Nothing that is marked is ever removed: an error
//!   in marked code stays an error, and the message says what it lacks.
//! - Template kernels are in the PTX only if the source instantiates them, as in `template __global__ void
//!   scale<float>(float *, int);`, because launches are host code. A file with kernels whose PTX contains
//!   none of them causes a warning.
//!
//! # Headers
//!
//! nvcc knows CUDA's headers. For NVRTC they are searched for in the same places and must be of its major
//! version. `cuda_fp16.h` and `cuda_bf16.h` are in `nvidia-cuda-runtime`. `<cub/..>`, `<cuda/std/..>` and
//! the headers that `cooperative_groups.h` includes are in `nvidia-cuda-cccl`. The headers that `mma.h`
//! includes are in `nvidia-cuda-crt`. For CUDA 12 the packages are `nvidia-cuda-runtime-cu12`,
//! `nvidia-cuda-cccl-cu12` and `nvidia-cuda-nvcc-cu12`.
//!
//! # Defaults
//!
//! | | default | otherwise |
//! |---|---|---|
//! | architecture | `compute_75`, for Turing and newer devices | [`Build::architecture`], `CUWEAVE_ARCHITECTURE` |
//! | PTX version | the compiler's; warns if the driver is older | [`Build::max_ptx_version`], `CUWEAVE_PTX_VERSION` |
//! | line information | with cargo's debug information: on in `dev`, off in `release` | [`Build::line_info`] |
//!
//! A compiler always emits the newest PTX version that it knows, whatever the architecture, and a driver
//! accepts versions up to its own: the PTX of NVRTC 13.5 has version 9.5 and needs a driver of CUDA 13.5. A
//! limit on the version therefore selects among the compilers.
//!
//! | CUDA | 12.4 | 12.5, 12.6 | 12.8 | 12.9 | 13.0 | 13.n |
//! |---|---|---|---|---|---|---|
//! | PTX | 8.4 | 8.5 | 8.7 | 8.8 | 9.0 | 9.n |

#![deny(unsafe_code)]

mod compiler;
mod device;
mod environment;
mod error;
mod headers;
mod host;
mod job;
mod log;
mod nvrtc;
mod sources;
mod substitutes;
mod tokens;
mod version;

pub use error::Error;

use environment::Environment;
use job::Job;
use std::path::{Path, PathBuf};
use version::Version;

/// Compiles the files that match a pattern. If that fails, the build fails with the error's message.
pub fn ptx(pattern: &str) {
    Build::new().files(pattern).run();
}

/// A compilation: its files, architectures and options.
///
/// ```no_run
/// cuweave_build::Build::new()
///     .files("kernels/*.cu")
///     .include("kernels/include")
///     .architecture("compute_80")     // for `__nv_bfloat16` arithmetic
///     .max_ptx_version(9, 0)          // has to load on drivers of CUDA 13.0
///     .line_info(true)                // in release builds too, for Nsight Compute
///     .option("--use_fast_math")
///     .run();
/// ```
#[derive(Clone, Debug)]
pub struct Build {
    patterns: Vec<String>,
    architectures: Vec<String>,
    includes: Vec<PathBuf>,
    options: Vec<String>,
    limit: Option<Version>,
    line_info: Option<bool>,
}

impl Default for Build {
    fn default() -> Self {
        Self::new()
    }
}

impl Build {
    /// Returns a build without files, with the [defaults](crate#defaults).
    #[must_use]
    pub fn new() -> Build {
        Build {
            patterns: Vec::new(),
            architectures: Vec::new(),
            includes: Vec::new(),
            options: Vec::new(),
            limit: None,
            line_info: None,
        }
    }

    /// Adds files: a path relative to the folder of `Cargo.toml`. A `*` in its last component matches any
    /// characters.
    #[must_use]
    pub fn files(mut self, pattern: &str) -> Build {
        self.patterns.push(pattern.to_owned());
        self
    }

    /// Compiles for one virtual architecture, such as `compute_80`. The default is `CUWEAVE_ARCHITECTURE`,
    /// or else `compute_75`. Devices of this compute capability or newer can run the PTX.
    #[must_use]
    pub fn architecture(self, name: &str) -> Build {
        self.architectures([name])
    }

    /// Compiles for several virtual architectures. The macro reads the PTX of the first one. The PTX of
    /// each other one is written beside it, as `nn.compute_90.ptx`.
    #[must_use]
    pub fn architectures<'n>(mut self, names: impl IntoIterator<Item = &'n str>) -> Build {
        self.architectures = names.into_iter().map(str::to_owned).collect();
        self
    }

    /// Skips compilers that emit a newer PTX version. The default is `CUWEAVE_PTX_VERSION`, or else no
    /// limit. If no compiler remains, the error names those that were found and the package to install.
    #[must_use]
    pub fn max_ptx_version(mut self, major: u32, minor: u32) -> Build {
        self.limit = Some(Version::new(major, minor));
        self
    }

    /// Includes source lines in the PTX (`-lineinfo`), or omits them. Profilers, compute-sanitizer and
    /// errors about the PTX show them. The generated code is the same.
    #[must_use]
    pub fn line_info(mut self, on: bool) -> Build {
        self.line_info = Some(on);
        self
    }

    /// Adds an include folder, relative to the folder of `Cargo.toml`. It is searched before CUDA's.
    #[must_use]
    pub fn include(mut self, folder: impl Into<PathBuf>) -> Build {
        self.includes.push(folder.into());
        self
    }

    /// Adds an option that both compilers take, such as `--use_fast_math` or `-DROWS=4`.
    #[must_use]
    pub fn option(mut self, option: &str) -> Build {
        self.options.push(option.to_owned());
        self
    }

    /// Compiles the files that changed. If that fails, the build script exits and the build fails with the
    /// error's message.
    pub fn run(&self) {
        if let Err(error) = self.compile() {
            print_directive("error", &error.to_string());
            // Cargo fails the build because of the `error` lines. With a nonzero status it would print them
            // twice.
            std::process::exit(0);
        }
    }

    /// Compiles the files that changed. Returns the PTX files in the order of the sources. Prints warnings
    /// for cargo.
    ///
    /// # Errors
    /// Returns an [`Error`]. Errors that the compiler reports are collected over all files.
    pub fn compile(&self) -> Result<Vec<PathBuf>, Error> {
        let environment = Environment::from_process();
        let folder = |name| environment.variable(name).map(PathBuf::from).ok_or(Error::NoBuildScript(name));
        let (manifest, out) = (folder("CARGO_MANIFEST_DIR")?, folder("OUT_DIR")?);
        for variable in environment::VARIABLES {
            println!("cargo::rerun-if-env-changed={variable}");
        }
        let outcome = self.compile_in(&manifest, &out, &environment)?;
        for path in outcome.dependencies {
            println!("cargo::rerun-if-changed={}", path.display());
        }
        outcome.warnings.iter().for_each(|warning| print_directive("warning", warning));
        if let Some(warning) = self.driver_warning(&outcome.ptx_files) {
            print_directive("warning", &warning);
        }
        Ok(outcome.ptx_files)
    }

    /// Returns a warning if this machine's driver does not accept the PTX.
    fn driver_warning(&self, made: &[PathBuf]) -> Option<String> {
        let ptx =
            made.iter().filter_map(|path| Version::from_ptx(&std::fs::read_to_string(path).ok()?)).max()?;
        let driver = version::driver_version()?;
        too_old_warning(ptx, driver)
    }

    fn compile_in(&self, manifest: &Path, out: &Path, environment: &Environment) -> Result<Outcome, Error> {
        let mut files = Vec::new();
        let mut outcome = Outcome::default();
        for pattern in &self.patterns {
            for file in sources::matching(manifest, pattern)? {
                if !files.contains(&file) {
                    files.push(file);
                }
            }
            // Watch the folder too: a file added later may match the pattern.
            outcome.dependencies.extend(manifest.join(pattern).parent().map(Path::to_owned));
        }
        let mut job = Job::new(self, manifest, out, environment)?;
        for file in &files {
            let inputs = sources::with_headers(manifest, file, &self.includes)?;
            job.compile_file(file, &inputs, &mut outcome)?;
            outcome.dependencies.extend(inputs.into_iter().map(|input| input.path));
        }
        job.finish(outcome)
    }
}

/// Returns the warning about PTX that is too new for a driver.
fn too_old_warning(ptx: Version, driver: Version) -> Option<String> {
    let needed = ptx.driver_of_ptx();
    // Compare PTX versions, because CUDA 12.5 and 12.6 share one.
    (ptx > driver.ptx_of_cuda()).then(|| {
        format!(
            "the PTX is of version {ptx}, which needs a driver of CUDA {needed} or newer, and this machine's is of \
                CUDA {driver}\n  = help: \
             to run it here, `pip install \"{}\"`, or update the driver; `Build::max_ptx_version({}, {})` makes it an \
             error",
            driver.newest_package(),
            driver.ptx_of_cuda().major,
            driver.ptx_of_cuda().minor
        )
    })
}

/// Prints each line of a message as a cargo directive, without the severity that cargo adds itself.
fn print_directive(kind: &str, message: &str) {
    for line in message.lines() {
        let line = line.strip_prefix(kind).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(line);
        println!("cargo::{kind}={line}");
    }
}

/// The results of a compilation.
#[derive(Default)]
struct Outcome {
    ptx_files: Vec<PathBuf>,
    /// The files and folders that the PTX depends on.
    dependencies: Vec<PathBuf>,
    /// The warnings, without duplicates.
    warnings: Vec<String>,
}

impl Outcome {
    fn warn(&mut self, text: Option<String>) {
        self.warnings.extend(text.filter(|text| !self.warnings.contains(text)));
    }
}

#[cfg(test)]
mod tests;
