//! Compiles a source file with NVRTC, which accepts device code only.
//!
//! A file is first compiled as written. If NVRTC rejects it, the host code found by [`crate::host`] is
//! blanked out, and each further error may blank out one more declaration or replace a missing host header
//! by an empty one.

use crate::host::{self, RemovedDeclaration, Source};
use crate::log::{self, Diagnostic};
use crate::nvrtc::Nvrtc;
use crate::sources::{self, Input};
use crate::substitutes;
use std::path::{Path, PathBuf};

/// The maximum number of compilations of one file. NVRTC reports up to 100 errors in each.
const MAX_COMPILATIONS: usize = 48;

/// A compilation that failed.
pub struct CompileFailure {
    pub log: String,
    /// The host declarations blanked out so far, each with its file.
    removed: Vec<(PathBuf, RemovedDeclaration)>,
    /// The missing headers that were replaced by empty ones.
    empty: Vec<String>,
}

impl CompileFailure {
    /// Returns a failure of a file that was compiled as written.
    pub fn new(log: String) -> CompileFailure {
        CompileFailure { log, removed: Vec::new(), empty: Vec::new() }
    }

    /// Adds to an error how removed host code relates to it.
    pub fn explain(&self, error: &mut Diagnostic, manifest: &Path) {
        const FUNCTION: &str = "A function without execution space annotations";
        const VARIABLE: &str = "A namespace scope variable without memory space annotations";
        if error.message.starts_with(FUNCTION) {
            error.message = "the function is host code: it has no `__device__`".to_owned();
            error.more.push(
                "help: write `__device__`, or compile all such functions for the device: \
                `Build::option(\"-default-device\")`"
                    .to_owned(),
            );
            return;
        }
        if error.message.starts_with(VARIABLE) {
            error.message =
                "the variable is host code: it has neither `__device__` nor `__constant__`".to_owned();
            return;
        }
        let named = |name: &str| error.message.contains(&format!("`{name}`"));
        if let Some((file, removed)) = self.removed.iter().find(|(_, removed)| named(&removed.name)) {
            let file = file.strip_prefix(manifest).unwrap_or(file).display();
            let RemovedDeclaration { name, line, error: reason } = removed;
            error.more.push(match reason {
                None => format!("note: `{name}`, {file}:{line}, is host code, which was removed"),
                Some(reason) => format!("note: `{name}`, {file}:{line}, was removed as host code: {reason}"),
            });
            error.more.push("help: mark what kernels use with `__device__`".to_owned());
        } else if !self.empty.is_empty() && error.message.contains("undefined") {
            let names: Vec<String> = self.empty.iter().map(|name| format!("`{name}`")).collect();
            error.more.push(format!(
                "note: {} are headers of host code that were not found: they are replaced by empty ones",
                names.join(", ")
            ));
        }
    }
}

/// Compiles a file and its headers; `inputs` starts with the file. If NVRTC rejects the file as written, it
/// is compiled again without its host code. Returns the PTX and the log.
pub fn compile(
    nvrtc: &Nvrtc,
    inputs: &[Input],
    options: &[String],
    library: &[(String, String)],
) -> Result<(String, String), CompileFailure> {
    let Some(file) = inputs.first() else { return Err(CompileFailure::new("no file".to_owned())) };
    let log = match nvrtc.compile(&file.path, &file.text, options, library) {
        Ok(made) => return Ok(made),
        Err(log) => log,
    };
    // An error without a file is about the options: editing the source cannot help.
    if log::parse(&log, true).iter().all(|error| error.file().is_none()) {
        return Err(CompileFailure::new(log));
    }
    let mut attempt = DeviceCompilation::new(inputs, options, library);
    let (result, changed) = attempt.run(nvrtc);
    match result {
        Ok(made) => Ok(made),
        // Nothing was removed, so the first log describes the same errors, and describes the file as
        // written.
        Err(_) if !changed => Err(CompileFailure::new(log)),
        Err(log) => Err(attempt.failed(log)),
    }
}

/// A file and its headers, from which host code is being removed.
struct DeviceCompilation<'i> {
    inputs: &'i [Input],
    sources: Vec<Source>,
    options: Vec<String>,
    library: &'i [(String, String)],
    empty: Vec<String>,
}

impl<'i> DeviceCompilation<'i> {
    fn new(
        inputs: &'i [Input],
        options: &[String],
        library: &'i [(String, String)],
    ) -> DeviceCompilation<'i> {
        // Bytes that are not UTF-8 occur only in comments and string literals.
        let texts: Vec<_> = inputs.iter().map(|input| String::from_utf8_lossy(&input.text)).collect();
        let macros = host::macros(texts.iter().map(AsRef::as_ref));
        let mut sources: Vec<Source> = texts.iter().map(|text| Source::new(text, &macros)).collect();
        let mut options = options.to_vec();
        let is_for_device =
            |option: &String| option.contains("default-device") || option.contains("device-as-default");
        if !options.iter().any(is_for_device) {
            sources.iter_mut().for_each(Source::remove_host_code);
            // Host code that is still there has no marks and does no harm: class members, templates,
            // constants.
            options.push("-default-device".to_owned());
        }
        options.push(format!("--pre-include={}", substitutes::IMPLIED));
        // 177: "declared but never referenced", for variables that only the host code used.
        options.push("--diag-suppress=177".to_owned());
        DeviceCompilation { inputs, sources, options, library, empty: Vec::new() }
    }

    /// Compiles until nothing more can be removed. The second result is true if anything was.
    fn run(&mut self, nvrtc: &Nvrtc) -> (Result<(String, String), String>, bool) {
        let mut round = 0;
        loop {
            round += 1;
            let headers = self.headers();
            let text = self.sources[0].text().as_bytes();
            let log = match nvrtc.compile(&self.inputs[0].path, text, &self.options, &headers) {
                Ok(made) => return (Ok(made), true),
                Err(log) => log,
            };
            let mut again = false;
            for error in log::parse(&log, true).iter().filter(|error| error.is_error) {
                again |= self.remove_erroneous_host_code(error);
            }
            if !again || round == MAX_COMPILATIONS {
                let changed = !self.empty.is_empty() || self.sources.iter().any(Source::is_changed);
                return (Err(log), changed);
            }
        }
    }

    /// Removes the host code that contains an error. Returns true if there was any.
    fn remove_erroneous_host_code(&mut self, error: &Diagnostic) -> bool {
        if let Some(header) = error.missing_header() {
            let is_new =
                substitutes::is_host_header(header) && !self.empty.iter().any(|known| known == header);
            if is_new {
                self.empty.push(header.to_owned());
            }
            return is_new;
        }
        let (Some(file), Some((line, column))) = (error.file(), error.position()) else { return false };
        match self.inputs.iter().position(|input| input.path == file) {
            Some(at) => self.sources[at].remove_at(line, column, &error.message),
            None if file.components().any(|part| part.as_os_str() == "thrust") => self.empty_thrust(),
            None => false,
        }
    }

    /// Replaces the Thrust headers by empty ones, because almost all of Thrust is host code. Returns true
    /// if any was included.
    fn empty_thrust(&mut self) -> bool {
        let known = self.empty.len();
        for source in &self.sources {
            for (_, header) in source.text().lines().filter_map(sources::included) {
                if header.starts_with("thrust/") && !self.empty.iter().any(|known| known == header) {
                    self.empty.push(header.to_owned());
                }
            }
        }
        self.empty.len() > known
    }

    /// Returns the contents of all headers by name: the user's as edited so far, the library's, and the
    /// empty ones.
    fn headers(&self) -> Vec<(String, String)> {
        let mut headers = Vec::new();
        for (input, source) in self.inputs.iter().zip(&self.sources).skip(1) {
            // If several files share a name, NVRTC resolves the `#include` itself.
            let is_clear =
                |name: &&String| self.inputs.iter().filter(|input| input.names.contains(name)).count() == 1;
            let mut names = input.names.iter().filter(is_clear);
            if let Some(first) = names.next() {
                let path = input.path.display();
                headers.push((first.clone(), format!("#line 1 \"{path}\"\n{}", source.text())));
                headers.extend(names.map(|name| (name.clone(), format!("#include \"{first}\"\n"))));
            }
        }
        let others =
            self.library.iter().filter(|(name, _)| headers.iter().all(|(own, _)| own != name)).cloned();
        let others: Vec<_> = others.collect();
        headers.extend(others);
        headers
            .extend(self.empty.iter().map(|name| (name.clone(), substitutes::replacement(name).to_owned())));
        headers
    }

    fn failed(self, log: String) -> CompileFailure {
        let removed = self.inputs.iter().zip(self.sources).flat_map(|(input, source)| {
            source.removed.into_iter().map(|removed| (input.path.clone(), removed))
        });
        CompileFailure { log, removed: removed.collect(), empty: self.empty }
    }
}
