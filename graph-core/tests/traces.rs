//! The planner on the MiniMalloc traces.

use cuweave_core::plan::{Effort, place_all};
use cuweave_testkit::traces;

/// The public traces, if available: all but two are packed to the bound at the default effort.
#[test]
fn minimalloc_traces() {
    let folder = ["../shared/data/minimalloc/challenging", "../../shared/data/minimalloc/challenging"]
        .map(|folder| std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(folder))
        .into_iter()
        .find(|folder| folder.is_dir());
    let Some(folder) = folder else {
        println!("skipped: no MiniMalloc traces in ../shared/data/minimalloc beside the checkout");
        return;
    };
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut sum = 0.0;
    for file in &files {
        let rows = traces::read(&std::fs::read_to_string(file).unwrap()).unwrap();
        let problem = traces::problem(&rows);
        let placed = place_all(&problem, Effort::Default);
        assert_eq!(traces::check(&rows, &placed.offsets, placed.total), Ok(()));
        sum += placed.total as f64 / problem.bound.bytes as f64;
    }
    let mean = sum / files.len() as f64;
    println!("{} traces, {mean:.4} of the bound on average", files.len());
    assert!(mean < 1.17);
}
