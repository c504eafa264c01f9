//! The PTX files of the repository, for tests that process all of them.

use cuweave_ptx::Module;
use cuweave_ptx::rewrite::{Axis, Batch, BatchTable, GridShape, SMALL_TABLE_BYTES, batchable, free_name};
use cuweave_testkit::files;
use std::path::PathBuf;

/// Returns the files without debug data, so that their kernels can be batched.
pub fn texts() -> Vec<(PathBuf, String)> {
    let read = |file: PathBuf| {
        let text = std::fs::read_to_string(&file).unwrap();
        (file, text.replacen(", debug", "", 1))
    };
    files::ptx(files::CORPUS.iter().chain(files::KERNELS)).into_iter().map(read).collect()
}

const SHAPES: [GridShape; 3] = [GridShape::Axis(Axis::Y), GridShape::Axis(Axis::Z), GridShape::Flat];

/// Returns every form of a kernel, without a name: each shape with and without the wait, for 2, 16 and the maximum
/// number of members.
fn forms(module: &Module<'_>, entry: &str) -> Vec<Batch> {
    let parameters = &module.entry(entry).unwrap().parameters;
    let mut forms = Vec::new();
    for shape in SHAPES {
        let most = BatchTable::max_members(parameters, shape, SMALL_TABLE_BYTES);
        for capacity in [2, 16, most].into_iter().filter(|&capacity| capacity > 0 && capacity <= most) {
            for waits in [false, true] {
                let name = String::new();
                forms.push(Batch { entry: entry.to_owned(), name, capacity, shape, waits, registers: None });
            }
        }
    }
    forms
}

/// Returns every form of every kernel that can be batched.
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
