//! Finds CUDA's headers for NVRTC, which unlike nvcc has no include folder of its own, and explains missing
//! ones.

use crate::environment::{Environment, InstallFolder};
use crate::substitutes;
use crate::version::Version;
use std::path::{Path, PathBuf};

/// The include folders for a compiler.
#[derive(Default)]
pub struct Headers {
    pub folders: Vec<PathBuf>,
    /// The searched folders that contain no CUDA headers.
    pub without_headers: Vec<PathBuf>,
    /// Sentences about headers of other CUDA versions that were found.
    pub other_versions: Vec<String>,
}

/// One file of each part of CUDA's headers. A folder with any of them counts as a header folder.
const MARKER_FILES: [&str; 5] =
    ["cuda_runtime_api.h", "cuda_fp16.h", "nv/target", "crt/host_defines.h", "curand_kernel.h"];

impl Headers {
    /// Returns the folders that hold headers of the compiler's major version. Those of exactly its version
    /// come first. Within each group, folders beside the compiler come first, then the others in search
    /// order.
    pub fn find(environment: &Environment, library: &Path, version: Version) -> Headers {
        let mut headers = Headers::default();
        let mut groups = Vec::new();
        let own = InstallFolder::containing(library);
        for place in own.iter().chain(environment.install_folders()) {
            let found: Vec<_> =
                place.headers().into_iter().filter_map(|(major, folders)| group(major, folders)).collect();
            if found.is_empty() && !own.iter().any(|own| std::ptr::eq(own, place)) {
                headers.without_headers.push(place.folder.clone());
            }
            let beside = library.is_absolute() && library.starts_with(&place.folder);
            groups.extend(found.into_iter().map(|(found, folders)| (found, beside, folders)));
        }
        groups.sort_by_key(|(found, beside, _)| (*found != Ok(version), !beside));
        for (found, _, folders) in groups {
            let major = found.map_or_else(|major| major, |found| Some(found.major));
            if major.is_none_or(|major| major == version.major) {
                headers.folders.extend(
                    folders
                        .into_iter()
                        .filter(|folder| !headers.folders.contains(folder))
                        .collect::<Vec<_>>(),
                );
            } else if let (Some(major), Some(folder)) = (major, folders.first()) {
                headers.other_versions.push(format!(
                    "`{}` has headers of CUDA {major}, and NVRTC is of CUDA {version}",
                    folder.display()
                ));
            }
        }
        headers
    }
}

/// The version, or only the major version if just the layout tells it, and the folders.
type HeaderGroup = (Result<Version, Option<u32>>, Vec<PathBuf>);

/// Returns the folders of a group that contain CUDA headers, with the version that the headers state, or
/// else the major version of the layout.
fn group(major: Option<u32>, folders: Vec<PathBuf>) -> Option<HeaderGroup> {
    let folders: Vec<PathBuf> = folders
        .into_iter()
        .filter(|folder| MARKER_FILES.iter().any(|sign| folder.join(sign).is_file()))
        .collect();
    let version = folders.iter().find_map(|folder| version_of(folder));
    (!folders.is_empty()).then_some((version.ok_or(major), folders))
}

fn version_of(folder: &Path) -> Option<Version> {
    let text = std::fs::read(folder.join("cuda_runtime_api.h")).ok()?;
    let text = String::from_utf8_lossy(&text);
    let rest = text.split("#define CUDART_VERSION").nth(1)?;
    Some(Version::from_cuda_number(rest.split_whitespace().next()?.parse().ok()?))
}

/// Returns the name of the CUDA package part that contains a header.
fn part_of(header: &str, version: Version) -> Option<&'static str> {
    const RUNTIME: [&str; 7] = [
        "mma.h",
        "cooperative_groups",
        "cooperative_groups.h",
        "vector_types.h",
        "vector_functions.h",
        "math_constants.h",
        "device_launch_parameters.h",
    ];
    match header.split('/').next().unwrap_or(header) {
        "cub" | "thrust" | "cuda" | "nv" => Some("cccl"),
        "crt" if version.major < 13 => Some("nvcc"),
        "crt" => Some("crt"),
        name if RUNTIME.contains(&name) || name.starts_with("cuda") || name.starts_with("cuComplex") => {
            Some("runtime")
        }
        _ => None,
    }
}

/// Returns the help lines for a header that NVRTC does not find.
pub fn help(header: &str, version: Version, headers: &Headers) -> Vec<String> {
    if header.starts_with("curand") {
        return vec![format!("help: `{header}` is a header of cuRAND: `pip install nvidia-curand`")];
    }
    let Some(part) = part_of(header, version) else { return help_for_others(header, headers) };
    let mut lines = Vec::new();
    let list = |folders: &[PathBuf]| {
        folders.iter().map(|folder| format!("`{}`", folder.display())).collect::<Vec<_>>().join(", ")
    };
    if !headers.folders.is_empty() {
        lines.push(format!("note: CUDA's headers are taken from {}", list(&headers.folders)));
    } else if !headers.without_headers.is_empty() {
        lines.push(format!("note: none of CUDA's headers are in {}", list(&headers.without_headers)));
    }
    lines.extend(headers.other_versions.iter().map(|line| format!("note: {line}")));
    lines.push(format!(
        "help: `{header}` is one of CUDA's headers: `pip install \"{}\"`, or set `CUDA_HOME` to a toolkit of CUDA \
            {version}",
        version.package(part)
    ));
    lines
}

/// Returns the help for a header outside CUDA: one of the host's libraries or one of the user's.
fn help_for_others(header: &str, headers: &Headers) -> Vec<String> {
    if !substitutes::is_host_header(header) {
        return vec!["help: a folder of headers is added by `Build::include`".to_owned()];
    }
    let mut lines = vec![
        "note: NVRTC compiles device code only and has no host headers: for the C library there are substitutes with \
            what kernels use".to_owned(),
    ];
    let there =
        |name: &str| headers.folders.iter().any(|folder| folder.join("cuda/std").join(name).is_file());
    if there(header) {
        lines.push(format!("help: write `#include <cuda/std/{header}>`, whose names are in `cuda::std`"));
    } else if !header.contains('.') && !there("version") {
        lines.push(format!(
            "help: `<cuda/std/{header}>` of the package nvidia-cuda-cccl may have the same, in `cuda::std`"
        ));
    }
    lines
}
