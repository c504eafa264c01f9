//! `cuweave-new PATH` creates a crate with a CUDA graph at PATH: kernels in CUDA C++, the build script that
//! compiles them, a graph, a test that needs no GPU, and a CI configuration.
//!
//! `cuweave-new PATH --cuweave CHECKOUT` creates one that depends on the crates in a checkout of cuweave's
//! repository. The folder `template` can also be used with cargo-generate.

#![deny(unsafe_code)]

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The files of the template: path in the new crate, and text.
const FILES: [(&str, &str); 9] = [
    ("Cargo.toml", include_str!("../template/Cargo.toml.liquid")),
    (".gitignore", include_str!("../template/.gitignore.liquid")),
    ("README.md", include_str!("../template/README.md")),
    ("build.rs", include_str!("../template/build.rs")),
    ("kernels/soften.cu", include_str!("../template/kernels/soften.cu")),
    ("src/lib.rs", include_str!("../template/src/lib.rs")),
    ("src/main.rs", include_str!("../template/src/main.rs")),
    ("tests/soften.rs", include_str!("../template/tests/soften.rs")),
    (".github/workflows/ci.yml", include_str!("../template/.github/workflows/ci.yml")),
];

/// The crates that a new crate depends on, and their folders in a checkout.
const DEPENDENCIES: [(&str, &str); 3] =
    [("cuweave", "."), ("cuweave-build", "graph-build"), ("cuweave-sim", "graph-sim")];

const USAGE: &str = "usage: cuweave-new PATH [--name NAME] [--cuweave CHECKOUT]";

/// Why a crate cannot be created.
enum Error {
    Usage(String),
    Name(String),
    Exists(PathBuf),
    NoCheckout(PathBuf),
    Io(PathBuf, std::io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Usage(text) => write!(f, "{text}\n{USAGE}"),
            Error::Name(name) => write!(
                f,
                "`{name}` is no name of a package: use letters, digits, `-` and `_`, and begin with a letter\n\
                 help: `--name` gives the package another name than its folder's"
            ),
            Error::Exists(path) => write!(f, "`{}` is there already", path.display()),
            Error::NoCheckout(path) => {
                write!(
                    f,
                    "`{}` is no checkout of cuweave's repository: it has no `graph-sim`",
                    path.display()
                )
            }
            Error::Io(path, error) => write!(f, "cannot write `{}`: {error}", path.display()),
        }
    }
}

/// The parsed command line.
#[derive(Default)]
struct Options {
    path: PathBuf,
    name: Option<String>,
    checkout: Option<PathBuf>,
}

impl Options {
    fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Options, Error> {
        let mut options = Options::default();
        while let Some(argument) = arguments.next() {
            let mut value =
                || arguments.next().ok_or_else(|| Error::Usage(format!("`{argument}` takes a value")));
            match argument.as_str() {
                "--name" => options.name = Some(value()?),
                "--cuweave" => options.checkout = Some(value()?.into()),
                option if option.starts_with('-') => {
                    return Err(Error::Usage(format!("there is no option `{option}`")));
                }
                path if options.path.as_os_str().is_empty() => options.path = path.into(),
                other => return Err(Error::Usage(format!("one crate at a time: `{other}` is another one"))),
            }
        }
        if options.path.as_os_str().is_empty() {
            return Err(Error::Usage("where?".to_owned()));
        }
        Ok(options)
    }

    /// Returns the name of the package. The default is the folder's name.
    fn name(&self) -> Result<String, Error> {
        let folder = || self.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let name = self.name.clone().unwrap_or_else(folder);
        let letters = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(letters) {
            Ok(name)
        } else {
            Err(Error::Name(name))
        }
    }

    /// Returns the manifest, with dependencies from the registry or from the checkout.
    fn manifest(&self, text: &str) -> Result<String, Error> {
        let Some(checkout) = &self.checkout else { return Ok(text.to_owned()) };
        let root = checkout.canonicalize().map_err(|error| Error::Io(checkout.clone(), error))?;
        if !root.join("graph-sim/Cargo.toml").is_file() {
            return Err(Error::NoCheckout(checkout.clone()));
        }
        Ok(DEPENDENCIES.iter().fold(text.to_owned(), |text, (name, folder)| {
            let path = format!("{:?}", root.join(folder));
            text.replace(&format!("\n{name} = \"0.1\""), &format!("\n{name} = {{ path = {path} }}"))
        }))
    }
}

/// Writes the crate. Returns its name.
fn create_crate(options: &Options) -> Result<String, Error> {
    let name = options.name()?;
    if options.path.exists() {
        return Err(Error::Exists(options.path.clone()));
    }
    let mut files = Vec::new();
    for (file, text) in FILES {
        let text = text.replace("{{project-name}}", &name).replace("{{crate_name}}", &name.replace('-', "_"));
        files.push((file, if file == "Cargo.toml" { options.manifest(&text)? } else { text }));
    }
    for (file, text) in files {
        write(&options.path.join(file), &text)?;
    }
    Ok(name)
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(path, text))
        .map_err(|error| Error::Io(path.to_owned(), error))
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--help" || argument == "-h") {
        println!(
            "{USAGE}\n\nMakes a crate with a CUDA graph: a kernel, a build script, a test without a GPU, CI."
        );
        return ExitCode::SUCCESS;
    }
    let made = Options::parse(arguments.into_iter())
        .and_then(|options| create_crate(&options).map(|name| (name, options.path)));
    match made {
        Ok((name, path)) => {
            println!("made `{name}`. Next:\n\n    cd {}", path.display());
            println!("    pip install \"nvidia-cuda-nvrtc<13.1\"    # unless there is a CUDA toolkit");
            println!("    cargo test                              # on a GPU, or without one");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}
