//! The error type. Its texts are made for the terminal: an error line, then notes and help.

use std::fmt;
use std::path::PathBuf;

/// Why there is no PTX. The text has several lines: the error, then notes and help. `Debug` prints the same
/// text, so that `main` can return it.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A variable that cargo sets for build scripts is missing.
    #[error("`{0}` is not set: this runs in a build script only")]
    NoBuildScript(&'static str),
    /// A variable has an invalid value.
    #[error("`{name}` is `{value}`, which is not {wanted}")]
    Variable {
        /// The variable.
        name: &'static str,
        /// Its value.
        value: String,
        /// The valid values.
        wanted: &'static str,
    },
    /// A pattern matches nothing.
    #[error("no file matches `{pattern}` in the folder of `Cargo.toml`{}", listed(.nearby))]
    NoSource {
        /// The pattern.
        pattern: String,
        /// The `.cu` files of the pattern's folder, or nearby ones if that folder has none.
        nearby: Vec<PathBuf>,
    },
    /// A path is absolute and not below the folder of `Cargo.toml`.
    #[error(
        "`{0}` is an absolute path\n  = help: write it relative to the folder of `Cargo.toml`, as in \
            `#[cuweave::kernels(..)]`"
    )]
    AbsolutePath(String),
    /// A file cannot be read or written.
    #[error("`{path}`: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// Neither NVRTC nor nvcc was found, or none that was found can be used.
    #[error("{message}{}{help}", notes(.tried))]
    NoCompiler {
        /// The error, one line.
        message: String,
        /// The places searched, each with the reason why it failed.
        tried: Vec<String>,
        /// The help, starting with a line break.
        help: String,
    },
    /// The compiler rejects one or more files.
    #[error("{log}")]
    Compile {
        /// The files, relative to the folder of `Cargo.toml`.
        files: Vec<PathBuf>,
        /// The errors, each with its file and line.
        log: String,
    },
    /// The PTX is newer than the requested version.
    #[error(
        "the PTX of `{path}` is of version {found}, newer than {wanted}: it needs a driver of CUDA {driver} or \
            newer\n  = help: {help}"
    )]
    TooNew {
        /// The source.
        path: PathBuf,
        /// The version of the PTX.
        found: String,
        /// The newest version allowed.
        wanted: String,
        /// The oldest driver version that accepts the PTX.
        driver: String,
        /// The help.
        help: String,
    },
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn notes(lines: &[String]) -> String {
    lines.iter().map(|line| format!("\n  = note: {line}")).collect()
}

fn listed(files: &[PathBuf]) -> String {
    if files.is_empty() {
        return String::new();
    }
    let names: Vec<String> = files.iter().map(|file| format!("`{}`", file.display())).collect();
    format!("\n  = note: there is {}", names.join(", "))
}
