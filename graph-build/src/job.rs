//! Compiles the source files one after the other, with up-to-date checks and rendering of errors.
//!
//! A file's PTX is reused if the hash of its inputs, options and compiler has not changed. Errors of all
//! files are collected and returned together by [`Job::finish`].

use crate::compiler::Compiler;
use crate::device::{self, CompileFailure};
use crate::environment::Environment;
use crate::headers::{self, Headers};
use crate::log::{self, Diagnostic};
use crate::substitutes;
use crate::version::Version;
use crate::{Build, Error, Outcome, sources};
use std::path::{Path, PathBuf};

/// A compilation in progress.
pub struct Job<'b> {
    build: &'b Build,
    manifest: &'b Path,
    out: &'b Path,
    compiler: Compiler,
    headers: Headers,
    /// Substitutes for the C library's headers: name and contents.
    library: Vec<(String, String)>,
    architectures: Vec<String>,
    limit: Option<Version>,
    line_info: bool,
    /// The files that do not compile, and the rendered errors without duplicates.
    failed: Vec<PathBuf>,
    errors: Vec<String>,
}

impl<'b> Job<'b> {
    /// Finds a compiler and CUDA's headers.
    pub fn new(
        build: &'b Build,
        manifest: &'b Path,
        out: &'b Path,
        environment: &Environment,
    ) -> Result<Job<'b>, Error> {
        let limit = match (build.limit, environment.variable("CUWEAVE_PTX_VERSION")) {
            (Some(limit), _) => Some(limit),
            (None, None) => None,
            (None, Some(value)) => {
                let value = value.to_string_lossy().into_owned();
                let wanted = "a version such as `9.0`";
                let parsed = Version::parse(&value);
                Some(parsed.ok_or(Error::Variable { name: "CUWEAVE_PTX_VERSION", value, wanted })?)
            }
        };
        let compiler = Compiler::find(environment, limit)?;
        let headers = match &compiler {
            Compiler::Nvrtc(nvrtc) => Headers::find(environment, nvrtc.path(), nvrtc.version()),
            Compiler::Nvcc(_) => Headers::default(),
        };
        let mut architectures = build.architectures.clone();
        if architectures.is_empty() {
            let named = environment.variable("CUWEAVE_ARCHITECTURE");
            architectures.push(
                named.map_or_else(|| "compute_75".to_owned(), |name| name.to_string_lossy().into_owned()),
            );
        }
        let debug = environment
            .variable("DEBUG")
            .is_some_and(|value| !["false", "0", "none"].iter().any(|off| value == off));
        let line_info = build.line_info.unwrap_or(debug);
        let given = build.includes.iter().map(|folder| manifest.join(folder));
        let library = match &compiler {
            Compiler::Nvrtc(_) => {
                substitutes::header_texts(&given.chain(headers.folders.iter().cloned()).collect::<Vec<_>>())
            }
            Compiler::Nvcc(_) => Vec::new(),
        };
        let (failed, errors) = (Vec::new(), Vec::new());
        Ok(Job {
            build,
            manifest,
            out,
            compiler,
            headers,
            library,
            architectures,
            limit,
            line_info,
            failed,
            errors,
        })
    }

    /// Compiles a file for each architecture.
    pub fn compile_file(
        &mut self,
        file: &Path,
        inputs: &[sources::Input],
        outcome: &mut Outcome,
    ) -> Result<(), Error> {
        for at in 0..self.architectures.len() {
            let mut target = self.out.join("cuweave").join(sources::below(file)).with_extension("ptx");
            if at > 0 {
                target.set_extension(format!("{}.ptx", self.architectures[at]));
            }
            let options = self.options(&self.architectures[at], file, inputs);
            self.compile_unless_fresh(file, &options, &target, inputs, outcome)?;
            outcome.ptx_files.push(target);
        }
        Ok(())
    }

    /// Returns the outcome, or the errors of all files together.
    pub fn finish(self, outcome: Outcome) -> Result<Outcome, Error> {
        if self.failed.is_empty() {
            return Ok(outcome);
        }
        let names: Vec<String> = self.failed.iter().map(|file| format!("`{}`", file.display())).collect();
        let do_not = if names.len() == 1 { "does not" } else { "do not" };
        let mut log = self.errors.join("\n\n");
        log += &format!("\n\n{} {do_not} compile", names.join(", "));
        Err(Error::Compile { files: self.failed, log })
    }

    fn options(&self, architecture: &str, file: &Path, inputs: &[sources::Input]) -> Vec<String> {
        let mut options = vec![format!("--gpu-architecture={architecture}")];
        if self.line_info {
            options.push("--generate-line-info".to_owned());
        }
        let source = self.manifest.join(file);
        let own = source.parent().map(Path::to_owned);
        let given = self.build.includes.iter().map(|folder| self.manifest.join(folder));
        let folders = own.into_iter().chain(given).chain(self.headers.folders.iter().cloned());
        options.extend(folders.map(|folder| format!("--include-path={}", folder.display())));
        options.extend(self.build.options.iter().cloned());
        // The compilers declare the functions of the device's runtime in relocatable code only.
        let is_about_it =
            |option: &String| option.contains("rdc") || option.contains("relocatable-device-code");
        let decides = {
            let name = b"cudaGraphSetConditional";
            inputs.iter().any(|input| input.text.windows(name.len()).any(|part| part == name))
        };
        if decides && !options.iter().any(is_about_it) {
            options.push("--relocatable-device-code=true".to_owned());
        }
        options
    }

    /// Compiles a file, unless its PTX exists and was made from the same inputs.
    fn compile_unless_fresh(
        &mut self,
        file: &Path,
        options: &[String],
        target: &Path,
        inputs: &[sources::Input],
        outcome: &mut Outcome,
    ) -> Result<(), Error> {
        // The `.key` file beside the PTX holds the hash of the inputs and the compiler, followed by the
        // warnings.
        let key = sources::key(&[&self.compiler.name(), &options.join("\n")], inputs);
        let key_file = target.with_extension("key");
        let kept = std::fs::read_to_string(&key_file).unwrap_or_default();
        if let Some(log) = kept.strip_prefix(&key)
            && target.is_file()
        {
            self.warnings(log, outcome);
            let ptx = std::fs::read_to_string(target).unwrap_or_default();
            outcome.warn(no_kernel(file, &ptx, inputs));
            return Ok(());
        }
        let made = match &self.compiler {
            Compiler::Nvcc(nvcc) => {
                nvcc.compile(&self.manifest.join(file), options, target).map_err(CompileFailure::new)
            }
            Compiler::Nvrtc(nvrtc) => device::compile(nvrtc, inputs, options, &self.library),
        };
        let (ptx, log) = match made {
            Ok(made) => made,
            Err(failed) => {
                // Otherwise the stale PTX would pass for that of the current source.
                let _ = std::fs::remove_file(target);
                self.failed.push(file.to_owned());
                self.failed.dedup();
                self.errors(&failed);
                return Ok(());
            }
        };
        self.check_version(file, &ptx)?;
        write(target, &ptx)?;
        write(&key_file, &format!("{key}{log}"))?;
        self.warnings(&log, outcome);
        outcome.warn(no_kernel(file, &ptx, inputs));
        Ok(())
    }

    fn warnings(&self, log: &str, outcome: &mut Outcome) {
        for diagnostic in log::parse(log, false) {
            let text = diagnostic.render(self.manifest);
            if !diagnostic.is_error && !self.is_of_cuda(&diagnostic) {
                outcome.warn(Some(text));
            }
        }
    }

    /// Returns true for a warning inside a CUDA header, which the user cannot fix.
    fn is_of_cuda(&self, diagnostic: &Diagnostic) -> bool {
        diagnostic
            .file()
            .is_some_and(|file| self.headers.folders.iter().any(|folder| file.starts_with(folder)))
    }

    fn errors(&mut self, failed: &CompileFailure) {
        for mut diagnostic in log::parse(&failed.log, true) {
            if !diagnostic.is_error {
                continue;
            }
            failed.explain(&mut diagnostic, self.manifest);
            let version = self.compiler.version().unwrap_or(Version::new(13, 0));
            if let (Some(header), Compiler::Nvrtc(_)) =
                (diagnostic.missing_header().map(str::to_owned), &self.compiler)
            {
                diagnostic.message = format!("the header `{header}` is not found");
                diagnostic.mark(&header);
                diagnostic.more.extend(headers::help(&header, version, &self.headers));
            }
            if let (true, Compiler::Nvrtc(nvrtc)) =
                (diagnostic.message.contains("--gpu-architecture"), &self.compiler)
            {
                diagnostic.message =
                    format!("NVRTC {version} does not compile for `{}`", self.architectures.join("`, `"));
                let names = nvrtc.architectures().join("`, `");
                diagnostic.more.push(format!(
                    "help: it compiles for `{names}`, and for some of them with the suffix `a` or `f`"
                ));
            }
            let text = diagnostic.render(self.manifest);
            if !self.errors.contains(&text) {
                self.errors.push(text);
            }
        }
    }

    /// Checks the PTX's version against the limit.
    fn check_version(&self, file: &Path, ptx: &str) -> Result<(), Error> {
        match (self.limit, Version::from_ptx(ptx)) {
            (Some(limit), Some(found)) if found > limit => Err(Error::TooNew {
                path: file.to_owned(),
                found: found.to_string(),
                wanted: limit.to_string(),
                driver: found.driver_of_ptx().to_string(),
                help: format!("`pip install \"{}\"`", limit.driver_of_ptx().newest_package()),
            }),
            _ => Ok(()),
        }
    }
}

/// Returns a warning if the source has kernels but its PTX has none.
fn no_kernel(file: &Path, ptx: &str, inputs: &[sources::Input]) -> Option<String> {
    let holds = |text: &[u8]| String::from_utf8_lossy(text).contains("__global__");
    let is_missing = !ptx.contains(".entry") && inputs.iter().any(|input| holds(&input.text));
    is_missing.then(|| {
        format!(
            "the PTX of `{}` has no kernel: those that are templates are not instantiated, since launches of host \
                code are left out\n  = help: \
             instantiate them, `template __global__ void scale<float>(float *, int);`, or call their body from an `extern \"C\"` kernel",
            file.display()
        )
    })
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    folder
        .and_then(|()| std::fs::write(path, text))
        .map_err(|source| Error::File { path: path.to_owned(), source })
}
