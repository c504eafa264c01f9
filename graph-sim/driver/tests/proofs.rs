//! Compares the proofs about kernels with their accesses: every kernel of the corpus that can be
//! run here is run, and each byte that it touches must be within the bounds of its proof.

use cuweave_ptx::poly::Poly;
use cuweave_ptx::{self as ptx, Access, Analysis, Function, ParameterFacts};
use cuweave_sim_driver::interp::{ATOMIC, Launch, Options, Program, READ, WRITTEN, run};
use cuweave_testkit::files;

mod buffers;

use buffers::{arguments, for_launch};

/// Bytes of each buffer.
const SIZE: usize = 1 << 16;

/// Returns the flags that any byte has.
fn all_flags(shadow: &[u8]) -> u8 {
    shadow.iter().fold(0, |all, flags| all | flags)
}

/// Returns a block that a kernel can be launched with.
fn block_of(function: &Function<'_>) -> [u32; 3] {
    let rule = function.performance(".reqntid").map(<[u32]>::to_vec);
    match rule {
        Some(rule) => [0, 1, 2].map(|at| rule.get(at).copied().unwrap_or(1)),
        None if function.performance(".maxntid").is_some_and(|most| most[0] < 64) => [32, 1, 1],
        None => [32, 2, 1],
    }
}

/// Returns the ways in which the accesses of a launch contradict a proof. Every number is passed as 40.
fn contradictions(facts: &ParameterFacts, shadow: &[u8]) -> Vec<String> {
    let flags = all_flags(shadow);
    let (read, written) = (flags & READ != 0, flags & (WRITTEN | ATOMIC) != 0);
    let mut wrong = Vec::new();
    // No byte past the bound, where there is one.
    if let Some(reach) = &facts.reach {
        let value =
            |poly: &Poly| poly.substitute(&|_| Some(Poly::constant(40))).and_then(|sum| sum.as_constant());
        let bound = reach.iter().filter_map(|reach| reach.bytes.iter().filter_map(value).min()).max();
        let last = shadow.iter().rposition(|&flags| flags & (READ | WRITTEN | ATOMIC) != 0);
        if last.is_some_and(|last| bound.is_none_or(|bound| last as i128 >= bound)) {
            wrong.push(format!("byte {last:?} is behind {bound:?}"));
        }
    }
    let right = match facts.access() {
        Access::Nothing => !read && !written,
        Access::Reads => !written,
        Access::Writes => !read,
        Access::Atomics => flags & WRITTEN == 0 || flags & ATOMIC != 0,
        Access::ReadsAndWrites | Access::Unknown => true,
    };
    if !right {
        wrong.push(format!("{:?}, read {read}, written {written}", facts.access()));
    }
    wrong
}

#[test]
fn kernels_touch_what_their_proof_says() {
    let (mut ran, mut seen, mut unsupported) = (0, 0, 0);
    let mut wrong = Vec::new();
    for file in files::ptx(files::CORPUS) {
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
            let (parameters, _) = arguments(function, entry, &pointers, &buffers, 40);
            let variables: Vec<u64> =
                (0..program.variables.len()).map(|at| buffers.regions[pointers.len() + at].base).collect();
            let launch = Launch {
                program: &program,
                entry: number,
                grid: [2, 2, 1],
                block: block_of(function),
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
                let shadow = &buffers.shadow[at];
                seen += usize::from(all_flags(shadow) & (READ | WRITTEN | ATOMIC) != 0);
                for what in contradictions(facts, shadow) {
                    wrong.push(format!("{}: {} {at}: {what}", file.display(), entry.name));
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
    assert!(ran >= 160 && seen >= 370, "{ran} kernels run, {seen} parameters touched");
}
