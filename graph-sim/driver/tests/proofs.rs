//! Compares the proofs about kernels with their accesses: every kernel of the corpus that can be
//! run here is run, and each byte that it touches must be within the bounds of its proof.

use cuweave_ptx::poly::Poly;
use cuweave_ptx::{self as ptx, Access, Analysis, Class};
use cuweave_sim_driver::interp::{ATOMIC, Launch, Options, Program, READ, WRITTEN, run};
use cuweave_testkit::files;

mod buffers;

use buffers::for_launch;

/// Bytes of each buffer.
const SIZE: usize = 1 << 16;

/// Returns the flags that any byte has.
fn all_flags(shadow: &[u8]) -> u8 {
    shadow.iter().fold(0, |all, flags| all | flags)
}

#[test]
fn kernels_touch_what_their_proof_says() {
    let (mut ran, mut seen, mut unsupported) = (0, 0, 0);
    let mut wrong = Vec::new();
    for file in files::ptx_of_one_architecture(files::CORPUS) {
        let text = std::fs::read_to_string(&file).unwrap();
        let module = ptx::parse(&text).unwrap();
        let program = Program::decode(&module);
        let mut analysis = Analysis::new(&module);
        for (number, entry) in program.entries.iter().enumerate() {
            if entry.supported.is_err() {
                unsupported += 1;
                continue;
            }
            let function = module.entry(&entry.name).unwrap();
            let pointers = analysis.pointers(function);
            let proof = analysis.kernel(&entry.name, &pointers);
            let buffers = for_launch(&program, pointers.len(), SIZE);
            let mut parameters = vec![0u8; entry.parameter_bytes];
            for (at, &(offset, size)) in entry.parameters.iter().enumerate() {
                let parameter = &function.parameters[at];
                let value: u64 = match (pointers[at], parameter.class()) {
                    (true, _) => buffers.regions[at].base,
                    (_, Class::Float) if size == 4 => u64::from(1.5f32.to_bits()),
                    (_, Class::Float) => 1.5f64.to_bits(),
                    _ => 40,
                };
                let bytes = value.to_le_bytes();
                let count = size.min(8);
                parameters[offset..offset + count].copy_from_slice(&bytes[..count]);
            }
            let variables: Vec<u64> =
                (0..program.variables.len()).map(|at| buffers.regions[pointers.len() + at].base).collect();
            let rule = function.performance(".reqntid").map(<[u32]>::to_vec);
            let block = match rule {
                Some(rule) => [0, 1, 2].map(|at| rule.get(at).copied().unwrap_or(1)),
                None if function.performance(".maxntid").is_some_and(|most| most[0] < 64) => [32, 1, 1],
                None => [32, 2, 1],
            };
            let launch = Launch {
                program: &program,
                entry: number,
                grid: [2, 2, 1],
                block,
                dynamic_shared: 4096,
                parameters: &parameters,
                variables: &variables,
            };
            // A fault ends a launch; the accesses before it are checked too.
            let options = Options {
                limit: 100_000,
                threads: Some(1),
                initialised: false,
                conflicts: false,
                ..Options::default()
            };
            let _ = run(&launch, &buffers, &options, None);
            ran += 1;
            for (at, facts) in proof.parameters.iter().enumerate().filter(|(at, _)| pointers[*at]) {
                let flags = all_flags(&buffers.shadow[at]);
                let (read, written) = (flags & READ != 0, flags & (WRITTEN | ATOMIC) != 0);
                seen += usize::from(read || written);
                let right = match facts.access() {
                    Access::Nothing => !read && !written,
                    Access::Reads => !written,
                    Access::Writes => !read,
                    Access::Atomics => flags & WRITTEN == 0 || flags & ATOMIC != 0,
                    Access::ReadsAndWrites | Access::Unknown => true,
                };
                // No byte past the bound, where there is one. Every number is passed as 40.
                if let Some(reach) = &facts.reach {
                    let value = |poly: &Poly| {
                        poly.substitute(&|_| Some(Poly::constant(40))).and_then(|sum| sum.as_constant())
                    };
                    let bound =
                        reach.iter().filter_map(|reach| reach.bytes.iter().filter_map(value).min()).max();
                    let last =
                        buffers.shadow[at].iter().rposition(|&flags| flags & (READ | WRITTEN | ATOMIC) != 0);
                    if last.is_some_and(|last| bound.is_none_or(|bound| last as i128 >= bound)) {
                        wrong.push(format!(
                            "{}: {} {at}: byte {last:?} is behind {bound:?}",
                            file.display(),
                            entry.name
                        ));
                    }
                }
                if !right {
                    wrong.push(format!(
                        "{}: {} {at}: {:?}, read {read}, written {written}",
                        file.display(),
                        entry.name,
                        facts.access()
                    ));
                }
            }
            for (at, variable) in program.variables.iter().enumerate() {
                let flags = all_flags(&buffers.shadow[pointers.len() + at]);
                if flags & (WRITTEN | ATOMIC) != 0 && !proof.variables_written.contains(&variable.name) {
                    wrong.push(format!("{}: {} writes `{}`", file.display(), entry.name, variable.name));
                }
            }
        }
    }
    println!("{ran} kernels run, {unsupported} not; {seen} parameters touched");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(ran >= 200 && seen >= 400, "{ran} kernels run, {seen} parameters touched");
}
