//! The PTX files of the repository.

use std::path::{Path, PathBuf};

/// The folders of PTX files that are made with NVRTC and Triton or written by hand. `scripts/corpus.py` adds files
/// of other versions and architectures.
pub const CORPUS: &[&str] =
    &["tests/ptx-corpus/nvrtc", "tests/ptx-corpus/rewrite", "tests/ptx-corpus/triton"];

/// The folders of PTX files that other tests, examples and benchmarks run.
pub const KERNELS: &[&str] =
    &["tests/kernels", "benches/kernels", "examples/kernels", "graph-sim/driver/tests/ptx"];

/// The folders of PTX files for the simulated driver's own tests. Some of these kernels are deliberately wrong.
pub const SIMULATOR: &[&str] = &["graph-sim/benches", "graph-sim/tests"];

/// Returns the root folder of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a member of the workspace").to_owned()
}

/// Returns the PTX files in the given folders of the repository, sorted by path.
pub fn ptx<'f>(folders: impl IntoIterator<Item = &'f &'f str>) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for folder in folders {
        let all = std::fs::read_dir(root().join(folder)).unwrap_or_else(|error| panic!("{folder}: {error}"));
        let paths = all.map(|entry| entry.expect("an entry of a folder").path());
        files.extend(paths.filter(|path| path.extension().is_some_and(|end| end == "ptx")));
    }
    files.sort();
    files
}

pub fn name(file: &Path) -> String {
    file.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
