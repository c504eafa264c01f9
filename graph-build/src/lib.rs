//! CUDA C++ to PTX in a build script, so that `#[cuweave::kernels("kernels/nn.cu")]` can prove its declaration.
//!
//! ```no_run
//! // build.rs; in Cargo.toml: [build-dependencies] cuweave-build = "0.1"
//! cuweave_build::ptx("kernels/*.cu");
//! ```
//!
//! The compiler is NVRTC if it is found, else nvcc. NVRTC is looked for at `CUWEAVE_NVRTC` (a file), where the system
//! looks for libraries, and below `CUDA_PATH`, `CUDA_HOME` and `/usr/local/cuda`; nvcc at `NVCC`, in `PATH` and in the
//! same folders. The PTX of `kernels/nn.cu` is `cuweave/kernels/nn.ptx` in `OUT_DIR`, where the macro looks for it. A
//! file is compiled again when it, a header that it includes by name (`#include "x.cuh"`), the options or the compiler
//! have changed.

mod nvrtc;
mod sources;

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The reason that there is no PTX. `Debug` prints its text, so that `main` can return it.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A variable that cargo sets for build scripts is missing.
    #[error("`{0}` is not set: this runs in a build script only")]
    NoBuildScript(&'static str),
    /// A pattern matches nothing.
    #[error("no file matches `{0}` in the folder of `Cargo.toml`")]
    NoSource(String),
    /// A file cannot be read or written.
    #[error("`{path}`: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// Neither NVRTC nor nvcc is there.
    #[error(
        "neither NVRTC nor nvcc is found: install the CUDA toolkit, or set `CUWEAVE_NVRTC` to the path of libnvrtc, \
         or `NVCC` to the path of nvcc, or declare a file of PTX instead"
    )]
    NoCompiler,
    /// The compiler refuses a file.
    #[error("`{path}` does not compile:\n{log}")]
    Compile {
        /// The file.
        path: PathBuf,
        /// The output of the compiler.
        log: String,
    },
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Compiles the files that match a pattern. On an error the build fails with its message.
pub fn ptx(pattern: &str) {
    if let Err(error) = Build::new().files(pattern).compile() {
        for line in error.to_string().lines() {
            println!("cargo::error={line}");
        }
        std::process::exit(1);
    }
}

/// A compilation: the files, the architectures and the options.
#[derive(Clone, Debug)]
pub struct Build {
    patterns: Vec<String>,
    architectures: Vec<String>,
    includes: Vec<PathBuf>,
    options: Vec<String>,
}

impl Default for Build {
    fn default() -> Self {
        Self::new()
    }
}

impl Build {
    /// Returns a build without files. The architecture is `CUWEAVE_ARCHITECTURE`, or `compute_75` if that is not set.
    pub fn new() -> Build {
        let architecture = std::env::var("CUWEAVE_ARCHITECTURE").unwrap_or_else(|_| "compute_75".to_owned());
        Build {
            patterns: Vec::new(),
            architectures: vec![architecture],
            includes: Vec::new(),
            options: Vec::new(),
        }
    }

    /// Adds files: a path below the folder of `Cargo.toml`, with `*` in its last part for any characters.
    #[must_use]
    pub fn files(mut self, pattern: &str) -> Build {
        self.patterns.push(pattern.to_owned());
        self
    }

    /// Compiles for these virtual architectures, such as `compute_90`. The macro reads the PTX of the first; the PTX of
    /// each other one is written beside it, as `nn.compute_90.ptx`.
    #[must_use]
    pub fn architectures<'n>(mut self, names: impl IntoIterator<Item = &'n str>) -> Build {
        self.architectures = names.into_iter().map(str::to_owned).collect();
        self
    }

    /// Adds a folder of headers.
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

    /// Compiles the files that have changed. Returns the PTX files, in the order of the sources.
    ///
    /// # Errors
    /// The first [`Error`]; later files are not compiled.
    pub fn compile(&self) -> Result<Vec<PathBuf>, Error> {
        let folder = |name| std::env::var_os(name).map(PathBuf::from).ok_or(Error::NoBuildScript(name));
        let (manifest, out) = (folder("CARGO_MANIFEST_DIR")?, folder("OUT_DIR")?);
        for variable in ["CUWEAVE_ARCHITECTURE", "CUWEAVE_NVRTC", "NVCC", "CUDA_PATH", "CUDA_HOME"] {
            println!("cargo::rerun-if-env-changed={variable}");
        }
        let compiler = Compiler::find();
        // NVRTC has no default include folder: CUDA's headers, such as `cuda_fp16.h`, are below the toolkit's root.
        let mut build = self.clone();
        build
            .includes
            .extend(roots().into_iter().map(|root| root.join("include")).filter(|folder| folder.is_dir()));
        let (made, seen) = build.compile_in(&manifest, &out, compiler.as_ref())?;
        for path in seen {
            println!("cargo::rerun-if-changed={}", path.display());
        }
        Ok(made)
    }

    /// Returns the PTX files, and the files and folders that they depend on.
    fn compile_in(
        &self,
        manifest: &Path,
        out: &Path,
        compiler: Option<&Compiler>,
    ) -> Result<(Vec<PathBuf>, Vec<PathBuf>), Error> {
        let (mut made, mut seen) = (Vec::new(), Vec::new());
        for pattern in &self.patterns {
            let files = sources::matching(manifest, pattern)?;
            // The folder itself: a file that is added later may match the pattern.
            seen.extend(manifest.join(pattern).parent().map(Path::to_owned));
            for file in files {
                let inputs = sources::with_headers(manifest, &file, &self.includes)?;
                for (at, architecture) in self.architectures.iter().enumerate() {
                    let mut target = out.join("cuweave").join(&file).with_extension("ptx");
                    if at > 0 {
                        target.set_extension(format!("{architecture}.ptx"));
                    }
                    self.one(manifest, &file, architecture, &target, &inputs, compiler)?;
                    made.push(target);
                }
                seen.extend(inputs.into_iter().map(|input| input.path));
            }
        }
        Ok((made, seen))
    }

    fn one(
        &self,
        manifest: &Path,
        file: &Path,
        architecture: &str,
        target: &Path,
        inputs: &[sources::Input],
        compiler: Option<&Compiler>,
    ) -> Result<(), Error> {
        let compiler = compiler.ok_or(Error::NoCompiler)?;
        let source = manifest.join(file);
        let mut options = vec![format!("--gpu-architecture={architecture}")];
        let folders = source.parent().into_iter().map(Path::to_owned).chain(self.includes.iter().cloned());
        options.extend(folders.map(|folder| format!("--include-path={}", manifest.join(folder).display())));
        options.extend(self.options.iter().cloned());
        // The hash of the inputs and of the compiler is kept in a file beside the PTX.
        let key = sources::key(&[compiler.name(), &options.join("\n")], inputs);
        let key_file = target.with_extension("key");
        if target.is_file() && std::fs::read_to_string(&key_file).is_ok_and(|old| old == key) {
            return Ok(());
        }
        let ptx = compiler
            .compile(&source, &options, target)
            .map_err(|log| Error::Compile { path: file.to_owned(), log })?;
        let write = |path: &Path, text: &str| {
            let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
            folder
                .and_then(|()| std::fs::write(path, text))
                .map_err(|source| Error::File { path: path.to_owned(), source })
        };
        write(target, &ptx)?;
        write(&key_file, &key)
    }
}

/// Returns the folders in which a CUDA toolkit may be installed.
fn roots() -> Vec<PathBuf> {
    let named = ["CUDA_PATH", "CUDA_HOME"].iter().filter_map(std::env::var_os).map(PathBuf::from);
    named.chain([PathBuf::from("/usr/local/cuda")]).collect()
}

/// The compiler in use.
enum Compiler {
    Nvrtc(nvrtc::Nvrtc),
    /// The path of nvcc, and its output for `--version`.
    Nvcc(PathBuf, String),
}

impl Compiler {
    fn find() -> Option<Compiler> {
        let roots = roots();
        if let Some(nvrtc) = nvrtc::Nvrtc::find(&roots) {
            return Some(Compiler::Nvrtc(nvrtc));
        }
        let named = std::env::var_os("NVCC").map(PathBuf::from);
        let below = roots.iter().map(|root| root.join("bin").join("nvcc"));
        named.into_iter().chain([PathBuf::from("nvcc")]).chain(below).find_map(Compiler::nvcc)
    }

    fn nvcc(program: PathBuf) -> Option<Compiler> {
        let output =
            Command::new(&program).arg("--version").output().ok().filter(|output| output.status.success())?;
        Some(Compiler::Nvcc(program, String::from_utf8_lossy(&output.stdout).into_owned()))
    }

    fn name(&self) -> &str {
        match self {
            Compiler::Nvrtc(nvrtc) => nvrtc.version(),
            Compiler::Nvcc(_, version) => version,
        }
    }

    /// Compiles a file. Returns the PTX, or the compiler's output as the error.
    fn compile(&self, source: &Path, options: &[String], target: &Path) -> Result<String, String> {
        match self {
            Compiler::Nvrtc(nvrtc) => nvrtc.compile(source, options),
            Compiler::Nvcc(program, _) => {
                let folder = target.parent().unwrap_or(Path::new("."));
                std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
                let output = Command::new(program)
                    .arg("--ptx")
                    .args(options)
                    .arg("--output-file")
                    .arg(target)
                    .arg(source)
                    .output()
                    .map_err(|error| error.to_string())?;
                if !output.status.success() {
                    return Err(String::from_utf8_lossy(&output.stderr).into_owned());
                }
                std::fs::read_to_string(target).map_err(|error| error.to_string())
            }
        }
    }
}

#[cfg(test)]
mod tests;
