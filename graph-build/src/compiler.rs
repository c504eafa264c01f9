//! Searches the machine for a compiler of CUDA C++, NVRTC first and nvcc second, and runs nvcc.
//!
//! The folders come from [`crate::environment`], in its order. A compiler that emits PTX newer than the
//! limit is passed over. The reasons against the others are kept for the error message. NVRTC itself is called in
//! [`crate::nvrtc`].

use crate::Error;
use crate::environment::{Environment, InstallFolder, Layout, entries};
use crate::nvrtc::Nvrtc;
use crate::version::{self, Version};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The compiler in use.
pub enum Compiler {
    Nvrtc(Nvrtc),
    Nvcc(Nvcc),
}

/// The compiler driver nvcc, a program.
pub struct Nvcc {
    program: PathBuf,
    /// The output of `nvcc --version`.
    text: String,
    version: Option<Version>,
}

/// The driver version that the advice assumes on a machine without a driver. The simulator reports CUDA
/// 13.0, too.
const USUAL_DRIVER: Version = Version { major: 13, minor: 0 };

/// Returns the advice to install an NVRTC whose PTX this machine's driver accepts.
fn install_advice(environment: &Environment) -> String {
    let driver =
        environment.use_system_loader.then(version::driver_version).flatten().unwrap_or(USUAL_DRIVER);
    format!(
        "`pip install \"{}\"` is enough, in an active virtual environment or for python3 in `PATH`: no toolkit and no \
            GPU is needed",
        driver.newest_package()
    )
}

impl Compiler {
    /// Returns the first usable compiler whose PTX is not newer than `limit`.
    pub fn find(environment: &Environment, limit: Option<Version>) -> Result<Compiler, Error> {
        let mut search = Search { limit, tried: Vec::new(), too_new: false };
        if let Some(found) = search.nvrtc(environment)? {
            return Ok(Compiler::Nvrtc(found));
        }
        if let Some(found) = search.nvcc(environment) {
            return Ok(Compiler::Nvcc(found));
        }
        Err(search.failure(environment))
    }

    /// Returns the compiler's name and version.
    pub fn name(&self) -> String {
        match self {
            Compiler::Nvrtc(nvrtc) => format!("NVRTC {}", nvrtc.version()),
            Compiler::Nvcc(nvcc) => nvcc.text.clone(),
        }
    }

    /// Returns the compiler's CUDA version. None if nvcc printed none.
    pub fn version(&self) -> Option<Version> {
        match self {
            Compiler::Nvrtc(nvrtc) => Some(nvrtc.version()),
            Compiler::Nvcc(nvcc) => nvcc.version,
        }
    }
}

/// The state of a search: the limit, and why each candidate so far was rejected.
struct Search {
    limit: Option<Version>,
    tried: Vec<String>,
    too_new: bool,
}

impl Search {
    fn nvrtc(&mut self, environment: &Environment) -> Result<Option<Nvrtc>, Error> {
        if let Some(named) = environment.variable("CUWEAVE_NVRTC") {
            let path = PathBuf::from(named);
            return match Nvrtc::open(&path) {
                Ok(found) => Ok(self.accept(found)),
                Err(reason) => Err(Error::NoCompiler {
                    message: format!(
                        "`CUWEAVE_NVRTC` is not an NVRTC library that can be loaded: `{}`",
                        path.display()
                    ),
                    tried: vec![reason],
                    help: format!(
                        "\n  = help: it is the path of a file such as `libnvrtc.so.13`\n  = help: {}",
                        install_advice(environment)
                    ),
                }),
            };
        }
        let unset: Vec<String> =
            ["CUWEAVE_NVRTC", "CUDA_PATH", "CUDA_HOME", "VIRTUAL_ENV", "CONDA_PREFIX", "NVCC"]
                .into_iter()
                .filter(|name| environment.variable(name).is_none())
                .map(|name| format!("`{name}`"))
                .collect();
        if !unset.is_empty() {
            self.tried.push(format!("not set: {}", unset.join(", ")));
        }
        let (named, others): (Vec<&InstallFolder>, Vec<&InstallFolder>) =
            environment.install_folders().iter().partition(|place| place.named);
        if let Some(found) = named.into_iter().find_map(|place| self.search_folder(place)) {
            return Ok(Some(found));
        }
        if environment.use_system_loader {
            let names = system_names();
            for name in names {
                if let Ok(found) = Nvrtc::open(Path::new(name))
                    && let Some(found) = self.accept(found)
                {
                    return Ok(Some(found));
                }
            }
            self.tried.push(format!(
                "the system's loader was asked for {}",
                names.map(|name| format!("`{name}`")).join(", ")
            ));
        }
        Ok(others.into_iter().find_map(|place| self.search_folder(place)))
    }

    fn search_folder(&mut self, place: &InstallFolder) -> Option<Nvrtc> {
        let folder = place.folder.display();
        if !place.folder.is_dir() {
            self.tried.push(format!("`{folder}` ({}) does not exist", place.why));
            return None;
        }
        let files: Vec<PathBuf> = place.libraries().iter().flat_map(|folder| libraries(folder)).collect();
        if files.is_empty() {
            let wanted = match place.layout {
                Layout::Toolkit => "libnvrtc in its `lib64` or `lib`",
                Layout::Packages => "`nvidia/cu13/lib` or `nvidia/cuda_nvrtc/lib` with libnvrtc",
            };
            self.tried.push(format!("`{folder}` ({}) has no {wanted}", place.why));
        }
        files.iter().find_map(|file| match Nvrtc::open(file) {
            Ok(found) => self.accept(found),
            Err(reason) => {
                self.tried.push(reason);
                None
            }
        })
    }

    fn accept(&mut self, found: Nvrtc) -> Option<Nvrtc> {
        let text = format!("`{}` is NVRTC {}", found.path().display(), found.version());
        self.is_within_limit(text, found.version()).then_some(found)
    }

    fn is_within_limit(&mut self, text: String, version: Version) -> bool {
        let ptx = version.ptx_of_cuda();
        let allowed = self.limit.is_none_or(|limit| ptx <= limit);
        if !allowed {
            self.too_new = true;
            self.tried.push(format!("{text}, which emits PTX {ptx}"));
        }
        allowed
    }

    fn nvcc(&mut self, environment: &Environment) -> Option<Nvcc> {
        let named = environment.variable("NVCC").map(PathBuf::from);
        let toolkits = environment.install_folders().iter().filter(|place| place.layout == Layout::Toolkit);
        let below = toolkits
            .map(|place| place.folder.join("bin").join(format!("nvcc{}", std::env::consts::EXE_SUFFIX)));
        let in_path = environment.in_path("nvcc");
        if in_path.is_none() {
            self.tried.push("no nvcc in `PATH`, nor in `bin` of these folders".to_owned());
        }
        for program in named.iter().cloned().chain(below.filter(|file| file.is_file())).chain(in_path) {
            match Nvcc::open(program) {
                Ok(found) => {
                    let text = format!(
                        "`{}` is nvcc {}",
                        found.program.display(),
                        found.version.map_or_else(String::new, |version| version.to_string())
                    );
                    if found.version.is_none_or(|version| self.is_within_limit(text, version)) {
                        return Some(found);
                    }
                }
                Err(reason) => self.tried.push(reason),
            }
        }
        None
    }

    fn failure(self, environment: &Environment) -> Error {
        let (message, help) = match self.limit {
            Some(limit) if self.too_new => (
                format!(
                    "no compiler found emits PTX {limit} or older, which a driver of CUDA {} needs",
                    limit.driver_of_ptx()
                ),
                format!(
                    "a compiler emits the newest PTX that it knows, and no option changes that: `pip install \"{}\"`",
                    limit.driver_of_ptx().newest_package()
                ),
            ),
            _ => (
                "neither NVRTC nor nvcc was found: one of them is needed to compile CUDA C++".to_owned(),
                format!(
                    "{}\n  = help: or set `CUDA_HOME` to a toolkit, `CUWEAVE_NVRTC` to the file libnvrtc or `NVCC` to \
                        nvcc; or declare PTX, \
                     `#[cuweave::kernels(\"kernels/file.ptx\")]`",
                    install_advice(environment)
                ),
            ),
        };
        Error::NoCompiler { message, tried: self.tried, help: format!("\n  = help: {help}") }
    }
}

/// Returns the names to ask the system's loader for, newest first.
fn system_names() -> [&'static str; 3] {
    if cfg!(windows) {
        ["nvrtc64_130_0.dll", "nvrtc64_120_0.dll", "nvrtc64_112_0.dll"]
    } else {
        ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"]
    }
}

/// Returns the NVRTC libraries in a folder, newest first: `libnvrtc.so.13`, but not
/// `libnvrtc-builtins.so.13.0`.
fn libraries(folder: &Path) -> Vec<PathBuf> {
    let of = |name: &str| {
        let dotted = name.strip_prefix("libnvrtc.so").map(|rest| rest.trim_start_matches('.').to_owned());
        let windows =
            name.strip_prefix("nvrtc64_").and_then(|rest| rest.strip_suffix("_0.dll")).map(str::to_owned);
        // A bare `libnvrtc.so` is a symbolic link: its version list is `[0]`, so it sorts last.
        dotted
            .or(windows)
            .map(|version| version.split('.').map(|part| part.parse().unwrap_or(0)).collect::<Vec<u32>>())
    };
    let mut files: Vec<_> =
        entries(folder).into_iter().filter_map(|(name, path)| Some((of(&name)?, path))).collect();
    files.sort_by(|a, b| b.cmp(a));
    files.into_iter().map(|(_, path)| path).collect()
}

impl Nvcc {
    /// Runs `program --version`. Returns the reason if that fails.
    pub fn open(program: PathBuf) -> Result<Nvcc, String> {
        let shown = program.display();
        let output = Command::new(&program)
            .arg("--version")
            .output()
            .map_err(|error| format!("`{shown}`: {error}"))?;
        if !output.status.success() {
            return Err(format!("`{shown} --version` fails: {}", output.status));
        }
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let version = text.split("release ").nth(1).and_then(|rest| Version::parse(rest.split(',').next()?));
        Ok(Nvcc { program, text, version })
    }

    /// Compiles a file to `target`. Returns the PTX and the log. The error is the log.
    pub fn compile(
        &self,
        source: &Path,
        options: &[String],
        target: &Path,
    ) -> Result<(String, String), String> {
        let folder = target.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
        let output = Command::new(&self.program)
            .arg("--ptx")
            .args(options)
            .arg("--output-file")
            .arg(target)
            .arg(source)
            .output()
            .map_err(|error| format!("{}: {error}", self.program.display()))?;
        let log =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        if !output.status.success() {
            return Err(if log.trim().is_empty() { format!("nvcc fails: {}", output.status) } else { log });
        }
        std::fs::read_to_string(target).map(|ptx| (ptx, log)).map_err(|error| error.to_string())
    }
}
