//! The PTX of the repository, for tests that go through all of it.

use cuweave_ptx::Module;
use cuweave_ptx::rewrite::{Axis, Batch, GridShape, SMALL_TABLE, Table, batchable, free_name};
use std::path::{Path, PathBuf};

/// The corpus, and other files of the repository.
fn files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for folder in [
        "tests/ptx-corpus/12.9",
        "tests/ptx-corpus/13.5",
        "tests/ptx-corpus/triton",
        "tests/ptx-corpus/rewrite",
        "tests/kernels",
        "examples/kernels",
        "benches/kernels",
        "graph-sim/driver/tests/ptx",
    ] {
        let Ok(all) = std::fs::read_dir(root.join(folder)) else { continue };
        files.extend(all.map(|file| file.unwrap().path()));
    }
    files.retain(|file| file.extension().is_some_and(|end| end == "ptx"));
    files.sort();
    files
}

/// The files without what a debugger needs, so that their kernels can be batched.
pub fn texts() -> Vec<(PathBuf, String)> {
    let read = |file: PathBuf| {
        let text = std::fs::read_to_string(&file).unwrap();
        (file, text.replacen(", debug", "", 1))
    };
    files().into_iter().map(read).collect()
}

/// The last part of a path.
pub fn name(file: &Path) -> String {
    file.file_name().unwrap().to_string_lossy().into_owned()
}

const SHAPES: [GridShape; 3] = [GridShape::Axis(Axis::Y), GridShape::Axis(Axis::Z), GridShape::Flat];

/// Every form of a kernel, without a name: each shape with and without the wait, for 2, 16, and as many members as fit.
fn forms(module: &Module<'_>, entry: &str) -> Vec<Batch> {
    let parameters = &module.entry(entry).unwrap().parameters;
    let mut forms = Vec::new();
    for shape in SHAPES {
        let most = Table::most(parameters, shape, SMALL_TABLE);
        for capacity in [2, 16, most].into_iter().filter(|&capacity| capacity > 0 && capacity <= most) {
            for waits in [false, true] {
                let name = String::new();
                forms.push(Batch { entry: entry.to_owned(), name, capacity, shape, waits });
            }
        }
    }
    forms
}

/// Every form of every kernel that can be batched.
pub fn all_forms(module: &Module<'_>) -> Vec<Batch> {
    let mut all: Vec<Batch> = Vec::new();
    for entry in module.entries().filter(|entry| batchable(module, entry.name).is_ok()) {
        all.extend(forms(module, entry.name));
    }
    let stem = free_name(module, "variant");
    for (at, form) in all.iter_mut().enumerate() {
        form.name = format!("{stem}_{at}");
    }
    all
}
