//! Source files: those that match a pattern, the headers that they include, and a hash of both.

use super::Error;
use std::path::{Path, PathBuf};

/// A file with its contents.
pub struct Input {
    pub path: PathBuf,
    pub text: Vec<u8>,
}

/// Returns the files that match a pattern, relative to the manifest's folder, sorted.
pub fn matching(manifest: &Path, pattern: &str) -> Result<Vec<PathBuf>, Error> {
    let path = Path::new(pattern);
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let folder = path.parent().unwrap_or(Path::new(""));
    let full = manifest.join(folder);
    let listing = std::fs::read_dir(&full).map_err(|source| Error::File { path: full.clone(), source })?;
    let mut files: Vec<PathBuf> = listing
        .filter_map(Result::ok)
        .filter(|entry| entry.path().is_file())
        .filter(|entry| entry.file_name().to_str().is_some_and(|file| fits(name, file)))
        .map(|entry| folder.join(entry.file_name()))
        .collect();
    files.sort();
    if files.is_empty() { Err(Error::NoSource(pattern.to_owned())) } else { Ok(files) }
}

/// Returns true if a name matches a pattern in which `*` stands for any characters.
pub fn fits(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// Returns a source and all headers that it includes by name, each once. Headers that are not found are left out: the
/// compiler reports them.
pub fn with_headers(manifest: &Path, file: &Path, includes: &[PathBuf]) -> Result<Vec<Input>, Error> {
    let source = manifest.join(file);
    let text = std::fs::read(&source).map_err(|error| Error::File { path: source.clone(), source: error })?;
    let mut inputs = vec![Input { path: source, text }];
    let mut at = 0;
    while at < inputs.len() {
        let text = String::from_utf8_lossy(&inputs[at].text).into_owned();
        let beside = inputs[at].path.parent().unwrap_or(Path::new("")).to_owned();
        for name in text.lines().filter_map(included) {
            let folders =
                [beside.clone()].into_iter().chain(includes.iter().map(|folder| manifest.join(folder)));
            let found = folders.map(|folder| folder.join(name)).find(|path| path.is_file());
            if let Some(path) = found
                && inputs.iter().all(|input| input.path != path)
                && let Ok(text) = std::fs::read(&path)
            {
                inputs.push(Input { path, text });
            }
        }
        at += 1;
    }
    Ok(inputs)
}

/// Returns `x.cuh` for the line `#include "x.cuh"`.
fn included(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?.trim_start();
    rest.strip_prefix('"')?.split('"').next()
}

/// Returns the FNV-1a hash of the settings and the contents of the inputs.
pub fn key(settings: &[&str], inputs: &[Input]) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let mut add = |bytes: &[u8]| {
        for byte in (bytes.len() as u64).to_le_bytes().iter().chain(bytes) {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    settings.iter().for_each(|setting| add(setting.as_bytes()));
    inputs.iter().for_each(|input| add(&input.text));
    format!("{hash:016x}\n")
}
