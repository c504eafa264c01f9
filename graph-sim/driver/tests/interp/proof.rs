//! What the corpus' kernels do when they run, against what is proved of their parameters.
//!
//! The arguments are made up, so a kernel may end with a fault; what it did until then counts all the same. A store through a
//! parameter that is proved to be only read, and the like, fails the test.

use crate::support::{Device, Loaded};
use cuweave_core::ptx::{Access, Analysis, Class, parse};
use cuweave_sim_driver::interp::{ATOMIC, FaultKind, Launch, READ, WRITTEN, run};
use std::path::{Path, PathBuf};

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "ptx") {
            found.push(path);
        }
    }
}

/// Bytes of each buffer.
const BYTES: usize = 1 << 16;

#[test]
fn proofs_hold_when_kernels_run() {
    let mut paths = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/ptx-corpus"), &mut paths);
    paths.sort();
    assert!(paths.len() > 20, "the corpus is there");
    let (mut kernels, mut ended, mut parameters, mut seen) = (0, 0, 0, 0);
    let mut wrong = Vec::new();
    for path in &paths {
        let text = std::fs::read_to_string(path).unwrap();
        let module = parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut analysis = Analysis::new(&module);
        for source in module.entries() {
            let mut device = Device::default();
            let mut loaded = Loaded::new(&text, &mut device);
            let number = loaded.program.entry(source.name).unwrap();
            if loaded.program.entries[number].supported.is_err() {
                continue;
            }
            kernels += 1;
            let pointers = analysis.pointers(source);
            let facts = analysis.kernel(source.name, &pointers);
            let mut arguments = vec![0u8; loaded.program.entries[number].parameter_bytes];
            let mut buffers = Vec::new();
            for (at, parameter) in source.parameters.iter().enumerate() {
                let (offset, size) = loaded.program.entries[number].parameters[at];
                let bytes = if pointers[at] {
                    let values: Vec<u32> = (0..BYTES as u32 / 4).map(|i| i % 7).collect();
                    let buffer = device.put(&values);
                    buffers.push((at, buffer));
                    buffer.to_le_bytes().to_vec()
                } else if parameter.class() == Class::Float && size == 4 {
                    1f32.to_le_bytes().to_vec()
                } else {
                    let word = if at % 2 == 0 { 64u32 } else { 32 };
                    word.to_le_bytes().into_iter().chain([0; 4]).cycle().take(size.max(8)).collect()
                };
                arguments[offset..offset + size].copy_from_slice(&bytes[..size]);
            }
            let most = source.performance(".reqntid").or(source.performance(".maxntid")).unwrap_or(&[64]);
            let required = source.performance(".reqntid").is_some();
            let axis = |at: usize| most.get(at).copied().unwrap_or(1);
            let block = if required { [axis(0), axis(1), axis(2)] } else { [axis(0).min(64), 1, 1] };
            loaded.options.limit = 6_000;
            loaded.options.initialised = false;
            let launch = Launch {
                program: &loaded.program,
                entry: number,
                grid: [2, 1, 1],
                block,
                dynamic_shared: 32 << 10,
                parameters: &arguments,
                variables: &loaded.variables,
            };
            match run(&launch, &device, &loaded.options) {
                Ok(_) => ended += 1,
                Err(fault) => assert!(
                    matches!(
                        fault.kind,
                        FaultKind::Bounds
                            | FaultKind::Limit
                            | FaultKind::Misaligned
                            | FaultKind::Barrier
                            | FaultKind::Trap
                    ),
                    "{}: {fault}",
                    path.display()
                ),
            }
            for (at, buffer) in buffers {
                let did = device.flags(buffer).into_iter().fold(0, |sum, flags| sum | flags);
                parameters += 1;
                seen += u32::from(did & (READ | WRITTEN | ATOMIC) != 0);
                let access = facts.parameters[at].access();
                let allowed = match access {
                    Access::Nothing => 0,
                    Access::Reads => READ,
                    Access::Writes => WRITTEN,
                    Access::Atomics => READ | ATOMIC,
                    Access::ReadsAndWrites | Access::Unknown => READ | WRITTEN | ATOMIC,
                };
                if did & (READ | WRITTEN | ATOMIC) & !allowed != 0 {
                    let file = path.file_name().unwrap_or_default().to_string_lossy();
                    wrong.push(format!(
                        "{file}: `{}` parameter {at}: proved {}, did {did:#x}",
                        source.name,
                        access.name()
                    ));
                }
            }
        }
    }
    println!("{kernels} kernels, {ended} ran to their end; {seen} of {parameters} buffers were touched");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(
        kernels > 100 && ended > kernels / 2 && seen > parameters / 2,
        "{kernels} {ended} {seen} {parameters}"
    );
}
