//! CUDA C++ to PTX in a build script, so that `#[cuweave::kernels("kernels/nn.cu")]` can prove its declaration.
//!
//! ```no_run
//! // main of build.rs; in Cargo.toml: [build-dependencies] cuweave-build = "0.1"
//! cuweave_build::ptx("kernels/*.cu");
//! ```
//!
//! The PTX of `kernels/nn.cu` is `cuweave/kernels/nn.ptx` in `OUT_DIR`, where the macro looks for it. A file is compiled
//! again when it, a header that it includes by name (`#include "x.cuh"`, or `<x.cuh>` from a folder of
//! [`Build::include`]), the options or the compiler have changed.
//!
//! # Compiler
//!
//! NVRTC, or nvcc where there is no NVRTC. `pip install "nvidia-cuda-nvrtc<13.1"` is enough: NVRTC needs neither a GPU, a
//! driver, a toolkit nor a host compiler. Its version decides which drivers take the PTX, see [below](#defaults). These are
//! searched in turn, and an error says what each of them lacks:
//!
//! 1. the file `CUWEAVE_NVRTC`; no other is taken if it is set;
//! 2. the toolkits `CUDA_PATH` and `CUDA_HOME`;
//! 3. Python's packages in `VIRTUAL_ENV`, and packages and libraries in `CONDA_PREFIX`;
//! 4. the libraries that the system's loader knows;
//! 5. the toolkits `/usr/local/cuda`, `/opt/cuda`, `/usr`, and that of nvcc in `PATH`;
//! 6. the packages of `python3` in `PATH`;
//! 7. the program `NVCC`, and nvcc in those toolkits and in `PATH`.
//!
//! # Sources for nvcc
//!
//! NVRTC compiles device code alone, and knows no headers of the host. So that sources compile as they are:
//!
//! - **Headers of the C library** (`stdint.h`, `stddef.h`, `limits.h`, `float.h`, `math.h`, `assert.h`, `stdio.h`,
//!   `stdlib.h`, `string.h` and a few more, also as `cstdint` and so on) are there with what kernels use of them,
//!   unless a folder of [`Build::include`] has one of that name. `algorithm`, `limits`, `tuple`, `type_traits`,
//!   `utility` and their like are those of `cuda::std`, where CCCL is installed. NVRTC has the contents of
//!   `cuda_runtime.h` built in, so that it need not be installed.
//! - **Host code is left out.** A file that NVRTC refuses as it is, is compiled once more without functions and
//!   variables that are the host's: those that neither `__global__`, `__device__`, `__constant__` nor `constexpr`
//!   marks, directly or through a macro. The same holds for the headers that it includes from its own folder and from
//!   those of [`Build::include`]. What else does not compile (classes of host code, prototypes with its types) is
//!   left out after it, and headers of the system and of CUDA's libraries are taken as empty. Nothing that is marked
//!   is ever left out: an error in it stays an error, which says what is missing.
//! - Kernels that are templates are in the PTX if the source instantiates them, `template __global__ void
//!   scale<float>(float *, int);`: launches are host code. A file with kernels, of which none is in the PTX, is a
//!   warning.
//!
//! # Headers
//!
//! nvcc knows CUDA's headers. For NVRTC they are taken from the same places, if they are of its major version:
//! `cuda_fp16.h` and `cuda_bf16.h` are in `nvidia-cuda-runtime`, `<cub/..>`, `<cuda/std/..>` and what
//! `cooperative_groups.h` includes in `nvidia-cuda-cccl`, what `mma.h` includes in `nvidia-cuda-crt`; for CUDA 12 in
//! `nvidia-cuda-runtime-cu12`, `nvidia-cuda-cccl-cu12` and `nvidia-cuda-nvcc-cu12`.
//!
//! # Defaults
//!
//! | | default | otherwise |
//! |---|---|---|
//! | architecture | `compute_75`, which all devices since Turing run | [`Build::architecture`], `CUWEAVE_ARCHITECTURE` |
//! | version of PTX | the compiler's; a warning where this machine's driver is older | [`Build::max_ptx_version`], `CUWEAVE_PTX_VERSION` |
//! | line information | with cargo's debug information: on in `dev`, off in `release` | [`Build::line_info`] |
//!
//! Compilers emit the newest version of PTX that they know, whatever the architecture, and a driver takes those up to its
//! own: the PTX of NVRTC 13.5 is of version 9.5 and needs a driver of CUDA 13.5. A limit on the version therefore chooses
//! among the compilers.
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
mod library;
mod log;
mod nvrtc;
mod sources;
mod tokens;
mod version;

pub use error::Error;

use environment::Environment;
use job::Job;
use std::path::{Path, PathBuf};
use version::Version;

/// Compiles the files that match a pattern. On an error the build fails with its message.
pub fn ptx(pattern: &str) {
    Build::new().files(pattern).run();
}

/// A compilation: the files, the architectures and the options.
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
    /// Returns a build without files, with the defaults of the crate's documentation.
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

    /// Adds files: a path relative to the folder of `Cargo.toml`, with `*` in its last part for any characters.
    #[must_use]
    pub fn files(mut self, pattern: &str) -> Build {
        self.patterns.push(pattern.to_owned());
        self
    }

    /// Compiles for a virtual architecture, such as `compute_80`, instead of that of `CUWEAVE_ARCHITECTURE` or the default,
    /// `compute_75`. Devices of this compute capability and newer ones run the PTX.
    #[must_use]
    pub fn architecture(self, name: &str) -> Build {
        self.architectures([name])
    }

    /// Compiles for these virtual architectures. The macro reads the PTX of the first; the PTX of each other one is
    /// written beside it, as `nn.compute_90.ptx`.
    #[must_use]
    pub fn architectures<'n>(mut self, names: impl IntoIterator<Item = &'n str>) -> Build {
        self.architectures = names.into_iter().map(str::to_owned).collect();
        self
    }

    /// Passes by compilers whose PTX is of a newer version, instead of the limit in `CUWEAVE_PTX_VERSION` or none. If no
    /// compiler remains, the error names those found and the package to install.
    #[must_use]
    pub fn max_ptx_version(mut self, major: u32, minor: u32) -> Build {
        self.limit = Some(Version::new(major, minor));
        self
    }

    /// Puts the lines of the source into the PTX (`-lineinfo`) or leaves them out. Profilers, compute-sanitizer and errors
    /// about the PTX name them; the code is the same.
    #[must_use]
    pub fn line_info(mut self, on: bool) -> Build {
        self.line_info = Some(on);
        self
    }

    /// Adds a folder of headers, relative to the folder of `Cargo.toml`. It is searched before CUDA's.
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

    /// Compiles the files that have changed. On an error the build script ends, and the build fails with its message.
    pub fn run(&self) {
        if let Err(error) = self.compile() {
            say("error", &error.to_string());
            // Cargo fails the build for the lines; for another status it would print them twice.
            std::process::exit(0);
        }
    }

    /// Compiles the files that have changed. Returns the PTX files, in the order of the sources. Warnings are printed for
    /// cargo.
    ///
    /// # Errors
    /// An [`Error`]. Those that the compiler finds in the files come together.
    pub fn compile(&self) -> Result<Vec<PathBuf>, Error> {
        let environment = Environment::of_process();
        let folder = |name| environment.variable(name).map(PathBuf::from).ok_or(Error::NoBuildScript(name));
        let (manifest, out) = (folder("CARGO_MANIFEST_DIR")?, folder("OUT_DIR")?);
        for variable in environment::VARIABLES {
            println!("cargo::rerun-if-env-changed={variable}");
        }
        let outcome = self.compile_in(&manifest, &out, &environment)?;
        for path in outcome.seen {
            println!("cargo::rerun-if-changed={}", path.display());
        }
        outcome.warnings.iter().for_each(|warning| say("warning", warning));
        if let Some(warning) = self.older_driver(&outcome.made) {
            say("warning", &warning);
        }
        Ok(outcome.made)
    }

    /// Returns a warning if the driver of this machine does not take the PTX.
    fn older_driver(&self, made: &[PathBuf]) -> Option<String> {
        let ptx =
            made.iter().filter_map(|path| Version::of_ptx(&std::fs::read_to_string(path).ok()?)).max()?;
        let driver = version::of_driver()?;
        too_old(ptx, driver)
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
            // The folder itself: a file that is added later may match the pattern.
            outcome.seen.extend(manifest.join(pattern).parent().map(Path::to_owned));
        }
        let mut job = Job::new(self, manifest, out, environment)?;
        for file in &files {
            let inputs = sources::with_headers(manifest, file, &self.includes)?;
            job.file(file, &inputs, &mut outcome)?;
            outcome.seen.extend(inputs.into_iter().map(|input| input.path));
        }
        job.finish(outcome)
    }
}

/// Returns the warning about PTX that a driver does not take.
fn too_old(ptx: Version, driver: Version) -> Option<String> {
    let needed = ptx.driver_of_ptx();
    // CUDA 12.5 and 12.6 have one version of PTX.
    (ptx > driver.ptx_of_cuda()).then(|| {
        format!(
            "the PTX is of version {ptx}, which needs a driver of CUDA {needed} or newer, and this machine's is of CUDA {driver}\n  = help: \
             to run it here, `pip install \"{}\"`, or update the driver; `Build::max_ptx_version({}, {})` makes it an error",
            driver.newest_package(),
            driver.ptx_of_cuda().major,
            driver.ptx_of_cuda().minor
        )
    })
}

/// Prints the lines of a message for cargo, without the word that cargo puts before each.
fn say(kind: &str, message: &str) {
    for line in message.lines() {
        let line = line.strip_prefix(kind).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(line);
        println!("cargo::{kind}={line}");
    }
}

/// The results of a compilation.
#[derive(Default)]
struct Outcome {
    made: Vec<PathBuf>,
    /// The files and folders that the PTX depends on.
    seen: Vec<PathBuf>,
    /// The texts of warnings, each once.
    warnings: Vec<String>,
}

impl Outcome {
    fn warn(&mut self, text: Option<String>) {
        self.warnings.extend(text.filter(|text| !self.warnings.contains(text)));
    }
}

#[cfg(test)]
mod tests;
