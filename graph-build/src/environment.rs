//! The environment variables and the folders in which a compiler and CUDA's headers may be installed.
//!
//! [`Environment`] is injected, so that tests can build one by hand. [`InstallFolder`] knows the two folder
//! layouts: a toolkit's and that of NVIDIA's Python packages.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The variables that affect a compilation, besides those that cargo sets.
pub const VARIABLES: [&str; 8] = [
    "CUWEAVE_NVRTC",
    "CUWEAVE_ARCHITECTURE",
    "CUWEAVE_PTX_VERSION",
    "NVCC",
    "CUDA_PATH",
    "CUDA_HOME",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
];

/// The environment variables of a process and the folders of its machine. Tests build their own.
#[derive(Default)]
pub struct Environment {
    pub variables: HashMap<String, OsString>,
    /// The usual toolkit roots, searched although no variable names them.
    pub default_roots: Vec<PathBuf>,
    /// True if the system's loader may be asked for NVRTC and the driver by library name.
    pub use_system_loader: bool,
    places: OnceCell<Vec<InstallFolder>>,
}

/// The folder layout of an installation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// The root of a toolkit: `bin`, `lib64`, `include`.
    Toolkit,
    /// A folder of Python packages, with `nvidia/cu13` or `nvidia/cuda_nvrtc` in it.
    Packages,
}

/// A folder that may contain CUDA or a part of it.
pub struct InstallFolder {
    /// The reason to search there, for messages.
    pub why: String,
    pub folder: PathBuf,
    pub layout: Layout,
    /// True if one of the user's variables names it. Such places are searched before the system's loader.
    pub named: bool,
}

impl Environment {
    /// Returns the environment of this process.
    pub fn from_process() -> Environment {
        let variables = std::env::vars_os()
            .filter_map(|(name, value)| name.into_string().ok().map(|name| (name, value)))
            .collect();
        let default_roots = ["/usr/local/cuda", "/opt/cuda", "/usr"].map(PathBuf::from).to_vec();
        Environment { variables, default_roots, use_system_loader: true, places: OnceCell::new() }
    }

    /// Returns the value of a variable that is set and not empty.
    pub fn variable(&self, name: &str) -> Option<&OsString> {
        self.variables.get(name).filter(|value| !value.is_empty())
    }

    /// Returns the places in the order in which they are searched.
    pub fn install_folders(&self) -> &[InstallFolder] {
        self.places.get_or_init(|| self.find_install_folders())
    }

    fn find_install_folders(&self) -> Vec<InstallFolder> {
        let mut places: Vec<InstallFolder> = Vec::new();
        let mut add = |why: &str, folder: PathBuf, layout| {
            if places.iter().all(|place| place.folder != folder || place.layout != layout) {
                places.push(InstallFolder {
                    why: why.to_owned(),
                    folder,
                    layout,
                    named: why.starts_with('`'),
                });
            }
        };
        for name in ["CUDA_PATH", "CUDA_HOME"] {
            if let Some(folder) = self.variable(name) {
                add(&format!("`{name}`"), folder.into(), Layout::Toolkit);
            }
        }
        for name in ["VIRTUAL_ENV", "CONDA_PREFIX"] {
            let Some(root) = self.variable(name).map(PathBuf::from) else { continue };
            if name == "CONDA_PREFIX" {
                add("`CONDA_PREFIX`", root.clone(), Layout::Toolkit);
            }
            for packages in environment_packages(&root) {
                add(&format!("`{name}`"), packages, Layout::Packages);
            }
        }
        for folder in &self.default_roots {
            add("the usual folder", folder.clone(), Layout::Toolkit);
        }
        if let Some(root) = self.in_path("nvcc").and_then(|nvcc| nvcc.parent()?.parent().map(Path::to_owned))
        {
            add("nvcc in `PATH`", root, Layout::Toolkit);
        }
        for folder in self.python_packages() {
            add("the packages of python3 in `PATH`", folder, Layout::Packages);
        }
        places
    }

    /// Returns the path of a program in `PATH`, with links resolved.
    pub fn in_path(&self, program: &str) -> Option<PathBuf> {
        let name = format!("{program}{}", std::env::consts::EXE_SUFFIX);
        let file = std::env::split_paths(self.variable("PATH")?)
            .map(|folder| folder.join(&name))
            .find(|file| file.is_file())?;
        Some(std::fs::canonicalize(&file).unwrap_or(file))
    }

    /// Returns the package folders in Python's `sys.path`.
    fn python_packages(&self) -> Vec<PathBuf> {
        let Some(path) = self.variable("PATH") else { return Vec::new() };
        let python = ["python3", "python"].into_iter().find(|name| {
            let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
            std::env::split_paths(path).any(|folder| folder.join(&name).is_file())
        });
        let Some(python) = python else { return Vec::new() };
        let output = Command::new(python)
            .env("PATH", path)
            .args(["-c", "import sys; print('\\n'.join(sys.path))"])
            .output();
        let Ok(output) = output else { return Vec::new() };
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines().map(PathBuf::from).filter(|folder| holds_packages(folder)).collect()
    }
}

/// Returns true if packages, or NVIDIA's, are installed in the folder.
fn holds_packages(folder: &Path) -> bool {
    folder.is_absolute()
        && folder.is_dir()
        && (folder.ends_with("site-packages")
            || folder.ends_with("dist-packages")
            || folder.join("nvidia").is_dir())
}

/// Returns the package folders of a virtual environment.
fn environment_packages(root: &Path) -> Vec<PathBuf> {
    let versions = entries(&root.join("lib")).into_iter().filter(|(name, _)| name.starts_with("python"));
    let unix = versions.map(|(_, folder)| folder.join("site-packages"));
    unix.chain([root.join("Lib").join("site-packages")]).filter(|folder| folder.is_dir()).collect()
}

/// Returns the names and paths in a folder, sorted. Empty if the folder cannot be read.
pub fn entries(folder: &Path) -> Vec<(String, PathBuf)> {
    let listing = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let mut all: Vec<_> =
        listing.filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path()))).collect();
    all.sort();
    all
}

impl InstallFolder {
    /// Returns the toolkit or package folder that contains a library.
    pub fn containing(library: &Path) -> Vec<InstallFolder> {
        let Some(root) = library.parent().and_then(Path::parent).filter(|_| library.is_absolute()) else {
            return Vec::new();
        };
        let why = "beside the compiler".to_owned();
        let packages = root.parent().filter(|nvidia| nvidia.ends_with("nvidia")).and_then(Path::parent);
        let (folder, layout) = match packages {
            Some(packages) => (packages, Layout::Packages),
            None => (root, Layout::Toolkit),
        };
        vec![InstallFolder { why, folder: folder.to_owned(), layout, named: false }]
    }

    /// Returns the folders that may contain the libraries.
    pub fn libraries(&self) -> Vec<PathBuf> {
        match self.layout {
            Layout::Toolkit => {
                let below = ["lib64", "lib", "bin", "bin/x64"].map(|name| self.folder.join(name));
                below.into_iter().chain(self.targets().into_iter().map(|target| target.join("lib"))).collect()
            }
            Layout::Packages => {
                let parts = self
                    .parts()
                    .into_iter()
                    .filter(|(name, _)| name == "cuda_nvrtc" || numbered(name).is_some());
                parts.flat_map(|(_, part)| ["lib", "bin", "bin/x86_64"].map(|name| part.join(name))).collect()
            }
        }
    }

    /// Returns groups of header folders, one group per CUDA version. The major version is None if the
    /// layout does not say it.
    pub fn headers(&self) -> Vec<(Option<u32>, Vec<PathBuf>)> {
        let with_cccl = |folder: PathBuf| vec![folder.join("include"), folder.join("include").join("cccl")];
        match self.layout {
            Layout::Toolkit => {
                let roots = [self.folder.clone()].into_iter().chain(self.targets());
                roots.map(|root| (None, with_cccl(root))).collect()
            }
            Layout::Packages => {
                let parts = self.parts();
                let numbered = parts.iter().filter_map(|(name, part)| Some((numbered(name)?, part.clone())));
                let mut groups: Vec<_> =
                    numbered.map(|(major, part)| (Some(major), with_cccl(part))).collect();
                let names = ["cuda_runtime", "cuda_cccl", "cuda_nvcc", "cuda_crt", "curand"];
                groups.push((
                    Some(12),
                    names.map(|name| self.folder.join("nvidia").join(name).join("include")).to_vec(),
                ));
                groups
            }
        }
    }

    /// Returns a toolkit's folders for this processor, such as `targets/x86_64-linux`.
    fn targets(&self) -> Vec<PathBuf> {
        let processor = match std::env::consts::ARCH {
            "aarch64" => "sbsa",
            other => other,
        };
        let all = entries(&self.folder.join("targets")).into_iter();
        all.filter(|(name, _)| name.starts_with(processor)).map(|(_, folder)| folder).collect()
    }

    /// Returns NVIDIA's packages by name. Those with a version in their name come first, newest first.
    fn parts(&self) -> Vec<(String, PathBuf)> {
        let mut all = entries(&self.folder.join("nvidia"));
        all.sort_by_key(|(name, _)| std::cmp::Reverse(numbered(name)));
        all
    }
}

/// Returns 13 for `cu13`.
fn numbered(name: &str) -> Option<u32> {
    name.strip_prefix("cu")?.parse().ok()
}
