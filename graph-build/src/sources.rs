//! Finds source files and the headers that they include, and hashes their contents.

use crate::Error;
use crate::environment::entries;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

/// A file with its contents.
pub struct Input {
    pub path: PathBuf,
    pub text: Vec<u8>,
    /// The names by which it is included. Empty for the source file itself.
    pub names: Vec<String>,
}

/// Returns the files that match a pattern, relative to the manifest's folder. Sorted.
pub fn matching(manifest: &Path, pattern: &str) -> Result<Vec<PathBuf>, Error> {
    let path = Path::new(pattern);
    let path = path.strip_prefix(manifest).unwrap_or(path);
    if path.has_root() {
        return Err(Error::AbsolutePath(pattern.to_owned()));
    }
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let folder = path.parent().unwrap_or(Path::new(""));
    let files = in_folder(manifest, folder, name);
    if !files.is_empty() {
        return Ok(files);
    }
    Err(Error::NoSource { pattern: pattern.to_owned(), nearby: nearby(manifest, folder) })
}

/// Returns the `.cu` files of a folder. If there are none, returns those of the manifest's folder and its
/// subfolders, at most 8.
fn nearby(manifest: &Path, folder: &Path) -> Vec<PathBuf> {
    let files = in_folder(manifest, folder, "*.cu");
    if !files.is_empty() {
        return files;
    }
    let below = entries(manifest).into_iter().filter(|(name, path)| path.is_dir() && !name.starts_with('.'));
    let folders = [PathBuf::new()].into_iter().chain(below.map(|(name, _)| PathBuf::from(name)));
    folders.flat_map(|folder| in_folder(manifest, &folder, "*.cu")).take(8).collect()
}

/// Returns the files of a folder whose names match a pattern. Sorted.
fn in_folder(manifest: &Path, folder: &Path, pattern: &str) -> Vec<PathBuf> {
    let all = entries(&manifest.join(folder)).into_iter();
    all.filter(|(name, path)| path.is_file() && fits(pattern, name))
        .map(|(name, _)| folder.join(name))
        .collect()
}

/// Returns a source's path below `OUT_DIR/cuweave`, where `#[cuweave::kernels]` looks for its PTX. `..`
/// becomes `__`, so that nothing is written outside that folder.
pub fn below(file: &Path) -> PathBuf {
    let parts = file.components().filter_map(|part| match part {
        Component::ParentDir => Some(OsStr::new("__")),
        Component::Normal(name) => Some(name),
        _ => None,
    });
    parts.collect()
}

/// Returns true if a name matches a pattern. Each `*` matches any characters.
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

/// Returns a source and all headers that it includes by name, without duplicates. `"x.cuh"` is searched for
/// beside the including file and in the folders, `<x.cuh>` in the folders only. Headers that are not found
/// are skipped: they are CUDA's, or the compiler will report them.
pub fn with_headers(manifest: &Path, file: &Path, includes: &[PathBuf]) -> Result<Vec<Input>, Error> {
    let source = manifest.join(file);
    let text = std::fs::read(&source).map_err(|error| Error::File { path: source.clone(), source: error })?;
    let own = source.parent().map(Path::to_owned);
    let folders: Vec<PathBuf> =
        own.into_iter().chain(includes.iter().map(|folder| manifest.join(folder))).collect();
    let mut inputs = vec![Input { path: source, text, names: Vec::new() }];
    let mut at = 0;
    while at < inputs.len() {
        let text = String::from_utf8_lossy(&inputs[at].text).into_owned();
        let beside = inputs[at].path.parent().map(Path::to_owned);
        for (quoted, name) in text.lines().filter_map(included) {
            let first = beside.iter().filter(|_| quoted);
            let found = first.chain(&folders).map(|folder| folder.join(name)).find(|path| path.is_file());
            let Some(path) = found else { continue };
            if let Some(known) = inputs.iter_mut().find(|input| input.path == path) {
                if !known.names.iter().any(|known| known == name) {
                    known.names.push(name.to_owned());
                }
            } else if let Ok(text) = std::fs::read(&path) {
                inputs.push(Input { path, text, names: vec![name.to_owned()] });
            }
        }
        at += 1;
    }
    Ok(inputs)
}

/// Parses an `#include` line. Returns true for `#include "x.cuh"`, false for `#include <x.cuh>`, and the
/// name.
pub fn included(line: &str) -> Option<(bool, &str)> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?.trim_start();
    match rest.strip_prefix('"') {
        Some(name) => Some((true, name.split_once('"')?.0)),
        None => Some((false, rest.strip_prefix('<')?.split_once('>')?.0)),
    }
}

/// Returns the FNV-1a hash of the settings and the contents of the inputs. Lengths are hashed, too.
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
