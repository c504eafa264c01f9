//! Rewritten PTX as text: kernels from NVRTC and Triton with the wait and as batched variants. A change of the
//! rewriting changes a snapshot (`tests/snapshots`).

use std::fmt::Write;

use cuweave_ptx::rewrite::{Axis, Batch, GridShape, batched, free_name, waiting};
use cuweave_ptx::{self as ptx, Module};
use cuweave_testkit::files;

/// Returns both rewritings of a kernel of the corpus.
fn rewritten(file: &str, entry: &str) -> String {
    let text = std::fs::read_to_string(files::root().join("tests/ptx-corpus").join(file)).unwrap();
    let module = ptx::parse(&text).unwrap();
    let mut out = String::new();
    waits(&text, &module, entry, &mut out);
    for (shape, how) in [(GridShape::Axis(Axis::Z), "along z"), (GridShape::Flat, "flat")] {
        variant(&module, entry, shape, how, &mut out);
    }
    out
}

/// Writes the changed lines of the file's head and of the kernel with the wait.
fn waits(text: &str, module: &Module<'_>, entry: &str, out: &mut String) {
    let made = waiting(module);
    if let Some((_, why)) = made.unchanged.iter().find(|(name, _)| name == entry) {
        return writeln!(out, "does not wait: {why}").unwrap();
    }
    writeln!(out, "as it waits:").unwrap();
    let again = ptx::parse(&made.text).unwrap();
    let head = |text: &str, module: &Module<'_>| {
        text[..module.entries().next().unwrap().span.start as usize].to_owned()
    };
    let body = |module: &Module<'_>| module.source(module.entry(entry).unwrap().span).to_owned();
    for (before, after) in [(head(text, module), head(&made.text, &again)), (body(module), body(&again))] {
        assert_eq!(before.lines().count(), after.lines().count());
        for (at, (before, after)) in before.lines().zip(after.lines()).enumerate() {
            if before != after {
                writeln!(out, "{at:4} - {}\n     + {}", before.trim(), after.trim()).unwrap();
            }
        }
    }
}

/// Writes the variant that batches three launches, or the reason that there is none.
fn variant(module: &Module<'_>, entry: &str, shape: GridShape, how: &str, out: &mut String) {
    let name = free_name(module, "batch");
    let batch = Batch {
        entry: entry.to_owned(),
        name: name.clone(),
        capacity: 3,
        shape,
        waits: true,
        registers: None,
    };
    match batched(module, &[batch]) {
        Ok(text) => {
            let made = ptx::parse(&text).unwrap();
            let source = made.source(made.entry(&name).unwrap().span);
            writeln!(out, "\nas a batch of three, {how}:\n{}", source.trim()).unwrap();
        }
        Err(why) => writeln!(out, "\nno batch, {how}: {why}").unwrap(),
    }
}

macro_rules! snapshots {
    ($($name:ident $file:literal $entry:literal;)*) => {$(
        #[test]
        fn $name() {
            cuweave_testkit::assert_snapshot!(rewritten($file, $entry));
        }
    )*};
}
snapshots! {
    plain "nvrtc/basic.ptx" "saxpy";
    two_dimensions "nvrtc/basic.ptx" "heat2d";
    lines_of_the_source "nvrtc/lines.ptx" "saxpy";
    constant_loads "nvrtc/basic.ptx" "gather";
    global_atomics "nvrtc/reduce.ptx" "histogram_global";
    shared_memory_and_barriers "nvrtc/reduce.ptx" "reduce_block";
    two_products "nvrtc/basic.ptx" "complex_multiply";
    written_variables "nvrtc/state.ptx" "accumulate";
    clusters "nvrtc/hopper.ptx" "cluster_sum";
    of_triton "triton/triton_add.90.ptx" "triton_add";
    of_triton_with_atomics "triton/triton_histogram.90.ptx" "triton_histogram";
    of_triton_for_ampere "triton/triton_scale.80.ptx" "triton_scale";
}
