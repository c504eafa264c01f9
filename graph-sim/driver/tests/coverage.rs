//! Compares the writes that a kernel's backward slice predicts for a launch with the writes of its run, byte for
//! byte: for every kernel of the corpus and of this repository, and for random kernels.

use cuweave_ptx::coverage::{BackwardSlice, Extent, LaunchInputs as Judged, RangedInputs, Verdict};
use cuweave_ptx::{self as ptx, AccessClass, Analysis, Function, ParameterKinds};
use cuweave_sim_driver::interp::{ATOMIC, Launch, Program, RunOptions, WRITTEN, run};
use cuweave_testkit::{files, random::Random};
use std::collections::BTreeMap;

mod buffers;

use buffers::{arguments, for_launch};

/// The size of each buffer in bytes.
const SIZE: usize = 1 << 16;

/// The comparisons so far.
#[derive(Debug, Default)]
struct Tally {
    covered: usize,
    short: usize,
    unknown: usize,
    wrong: Vec<String>,
    reasons: BTreeMap<String, usize>,
}

impl Tally {
    /// Counts a verdict on some elements. `full` tells which of them were written. A wrong verdict is an error
    /// with the first missing element.
    fn add(
        &mut self,
        verdict: &Verdict,
        elements: usize,
        full: &dyn Fn(usize) -> bool,
    ) -> Result<(), Option<usize>> {
        let missing = (0..elements).find(|&at| !full(at));
        let right = match verdict {
            Verdict::Covered => {
                self.covered += 1;
                missing.is_none()
            }
            Verdict::Short { written, missing: first } => {
                self.short += 1;
                missing == Some(*first as usize)
                    && (0..elements).filter(|&at| full(at)).count() == *written as usize
            }
            Verdict::Unknown(why) => {
                self.unknown += 1;
                *self.reasons.entry(why.to_string()).or_default() += 1;
                true
            }
        };
        if right { Ok(()) } else { Err(missing) }
    }
}

/// Runs an entry once and compares every parameter that was analysed.
fn compare(
    (module, program): (&ptx::Module<'_>, &Program),
    (name, pointers, outline): (&str, &[bool], &BackwardSlice),
    (grid, block, number): ([u32; 3], [u32; 3], u64),
    tally: &mut Tally,
) {
    let function = module.entry(name).unwrap();
    let entry = program.entries.iter().position(|entry| entry.name == name).unwrap();
    let decoded = &program.entries[entry];
    if decoded.supported.is_err() {
        return;
    }
    let buffers = for_launch(program, pointers.len(), SIZE);
    let (parameters, values) = arguments(function, decoded, pointers, &buffers, number);
    let variables: Vec<u64> =
        (0..program.variables.len()).map(|at| buffers.regions[pointers.len() + at].base).collect();
    let launch = Launch {
        program,
        entry,
        grid,
        block,
        dynamic_shared: 8192,
        parameters: &parameters,
        variables: &variables,
    };
    let options = RunOptions {
        limit: 300_000,
        threads: Some(1),
        initialised: false,
        conflicts: false,
        ..RunOptions::default()
    };
    if run(&launch, &buffers, &options, None).is_err() {
        return;
    }
    let scalar = |at: u32| Some(values[at as usize]);
    let judged = Judged { grid, block, scalar: &scalar, ranged: RangedInputs::default() };
    for (nth, followed) in outline.parameters.iter().enumerate() {
        let shadow = &buffers.shadow[followed.parameter as usize];
        let written = |at: usize| shadow[at] & (WRITTEN | ATOMIC) != 0;
        let prefix = (0..SIZE).find(|&at| !written(at)).unwrap_or(SIZE);
        let last = (0..SIZE).rposition(written).map_or(0, |last| last + 1);
        for (bytes, sizes) in
            [(prefix, 1..=1), (prefix + 4, 4..=4), (last, 1..=1), (4 * number as usize, 4..=4)]
        {
            let bytes = bytes.min(SIZE);
            for size in sizes {
                let extent = Extent { elements: (bytes / size) as u64, size: size as u32, dense: true };
                let mut extents = vec![extent; outline.parameters.len()];
                extents[nth] = extent;
                let verdict = &outline.verdicts(&judged, &extents)[nth];
                let full = |at: usize| (at * size..(at + 1) * size).all(written);
                if let Err(missing) = tally.add(verdict, extent.elements as usize, &full) {
                    tally.wrong.push(format!(
                        "{name} {}: grid {grid:?}, block {block:?}, numbers {number}: {} elements of {size}: \
                         {verdict:?}, and {missing:?} is the first that is missing",
                        followed.parameter, extent.elements
                    ));
                }
            }
        }
    }
}

fn outlines(module: &ptx::Module<'_>, function: &Function<'_>) -> (Vec<bool>, BackwardSlice) {
    let mut analysis = Analysis::new(module);
    let pointers = analysis.pointers(function);
    let kernel = analysis.kernel(function.name, &pointers);
    let written: Vec<u32> = (0..pointers.len() as u32)
        .filter(|&at| pointers[at as usize] && kernel.parameters[at as usize].access() == AccessClass::Writes)
        .collect();
    let scalars: Vec<bool> = pointers.iter().map(|pointer| !pointer).collect();
    let taken = ParameterKinds {
        pointers: &pointers,
        never_null: &pointers,
        scalars: &scalars,
        ..ParameterKinds::default()
    };
    let (_, outline) = analysis.kernel_and_slice(function.name, taken, &written);
    let bytes = outline.encode();
    let encoded = BackwardSlice { instructions: Vec::new(), loops: false, ..outline.clone() };
    assert_eq!(BackwardSlice::decode(&bytes), Some(encoded), "{}", function.name);
    (pointers, outline)
}

fn shapes(function: &Function<'_>) -> Vec<([u32; 3], [u32; 3])> {
    let required =
        function.performance(".reqntid").map(|rule| [0, 1, 2].map(|at| rule.get(at).copied().unwrap_or(1)));
    let most = function.performance(".maxntid").map_or(1024, |most| most.iter().product::<u32>());
    let blocks: Vec<[u32; 3]> = match required {
        Some(block) => vec![block],
        None => [[32, 1, 1], [128, 1, 1], [8, 8, 1], [33, 3, 1], [16, 2, 2]]
            .into_iter()
            .filter(|block| block.iter().product::<u32>() <= most)
            .collect(),
    };
    let grids = [[3, 1, 1], [1, 1, 1], [2, 3, 1], [5, 2, 2], [2, 1, 1]];
    (0..5).map(|at| (grids[at], blocks[at % blocks.len()])).collect()
}

/// The write-only parameters of the kernels in a group of files.
#[derive(Debug, Default)]
struct Share {
    decided: usize,
    never: usize,
}

/// Prints the shares of the folders. Returns the sums of those without `-G`: the decidable parameters, and all.
fn print_shares(shares: &BTreeMap<String, Share>) -> (usize, usize) {
    println!("{:<40} {:>9} {:>9}", "parameters that are only written", "decidable", "unknown");
    let (mut decided, mut every) = (0, 0);
    for (group, share) in shares {
        println!("{group:<40} {:>9} {:>9}", share.decided, share.never);
        if !group.ends_with("-G") {
            decided += share.decided;
            every += share.decided + share.never;
        }
    }
    println!("decidable without -G: {decided} of {every}");
    (decided, every)
}

#[test]
fn verdicts_are_what_the_corpus_writes() {
    let mut tally = Tally::default();
    let mut shares: BTreeMap<String, Share> = BTreeMap::new();
    let root = files::root();
    let mut all = files::ptx(files::CORPUS);
    all.extend(files::ptx(&["examples/kernels", "tests/kernels", "benches/kernels"]));
    for file in all {
        let text = std::fs::read_to_string(&file).unwrap();
        let Ok(module) = ptx::parse(&text) else { continue };
        let program = Program::decode(&module);
        let folder = file.parent().unwrap();
        let group = folder.strip_prefix(&root).unwrap_or(folder).display().to_string();
        let group = if file.to_string_lossy().contains(".debug.") { format!("{group} -G") } else { group };
        for function in module.entries() {
            let (pointers, outline) = outlines(&module, function);
            let share = shares.entry(group.clone()).or_default();
            for at in 0..outline.parameters.len() {
                match outline.reason_never_covered(at) {
                    None => share.decided += 1,
                    Some(why) => {
                        share.never += 1;
                        if std::env::var_os("COVERAGE").is_some() {
                            let parameter = outline.parameters[at].parameter;
                            println!("{}: {} {parameter}: {why}", file.display(), function.name);
                        }
                    }
                }
            }
            // Code without optimisation keeps everything in local memory and takes long.
            if outline.parameters.is_empty() || group.ends_with("-G") {
                continue;
            }
            for (nth, &(grid, block)) in shapes(function).iter().enumerate() {
                let number = [16, 40, 64, 7][nth % 4];
                let kernel = (function.name, &pointers[..], &outline);
                compare((&module, &program), kernel, (grid, block, number), &mut tally);
            }
        }
    }
    let (decided, every) = print_shares(&shares);
    println!("compared: {} covered, {} short, {} unknown", tally.covered, tally.short, tally.unknown);
    if std::env::var_os("COVERAGE").is_some() {
        tally.reasons.iter().for_each(|(why, count)| println!("{count:6} {why}"));
    }
    assert!(
        tally.wrong.is_empty(),
        "{} wrong:\n{}",
        tally.wrong.len(),
        tally.wrong[..tally.wrong.len().min(20)].join("\n")
    );
    assert!(decided * 100 >= every * 80, "{decided} of {every}");
    assert!(tally.covered > 500 && tally.short > 500, "{} covered, {} short", tally.covered, tally.short);
}

/// Returns an instruction that defines the register `next` from earlier registers.
fn arithmetic(random: &mut Random, next: u64) -> String {
    let (a, b) = (random.below(next), random.below(next));
    let constant =
        random.choose(&["1", "2", "3", "4", "5", "8", "12", "31", "32", "-1", "100", "-7", "1000000007"]);
    let small = random.choose(&["1", "2", "3", "5", "30"]);
    let mask = random.choose(&["1", "7", "31", "28", "-4", "255", "6"]);
    let ty = random.choose(&["u32", "s32"]);
    match random.below(19) {
        0 | 1 => format!("add.{ty} %r{next}, %r{a}, %r{b};"),
        2 => format!("sub.{ty} %r{next}, %r{a}, %r{b};"),
        3 => format!("mul.lo.{ty} %r{next}, %r{a}, {constant};"),
        4 => format!("mad.lo.{ty} %r{next}, %r{a}, {constant}, %r{b};"),
        5 => format!("shl.b32 %r{next}, %r{a}, {small};"),
        6 => format!("shr.{ty} %r{next}, %r{a}, {small};"),
        7 => format!("and.b32 %r{next}, %r{a}, {mask};"),
        8 => format!("or.b32 %r{next}, %r{a}, {mask};"),
        9 => format!("xor.b32 %r{next}, %r{a}, {mask};"),
        10 => format!("div.{ty} %r{next}, %r{a}, {};", random.choose(&["2", "3", "7", "32"])),
        11 => format!("rem.{ty} %r{next}, %r{a}, {};", random.choose(&["2", "3", "7", "32"])),
        12 => format!("min.{ty} %r{next}, %r{a}, %r{b};"),
        13 => format!("max.{ty} %r{next}, %r{a}, {constant};"),
        14 => format!(
            "setp.{}.{ty} %p7, %r{a}, %r{b}; selp.b32 %r{next}, %r{a}, %r{b}, %p7;",
            random.choose(&["lt", "le", "gt", "ge", "eq", "ne"])
        ),
        15 => format!("bfe.u32 %r{next}, %r{a}, {}, {};", random.below(5), 1 + random.below(6)),
        16 => format!("cvt.u16.u32 %h1, %r{a}; cvt.{ty}.{} %r{next}, %h1;", random.choose(&["u16", "s16"])),
        17 => format!("bfi.b32 %r{next}, %r{a}, %r{b}, {}, {};", random.below(5), 1 + random.below(4)),
        _ => format!("mul.hi.{ty} %r{next}, %r{a}, {constant};"),
    }
}

/// Returns a kernel with arithmetic on thread indices, followed by guarded stores, in one of a few shapes.
fn random_kernel(random: &mut Random) -> String {
    let mut text = String::from(
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 x, .param .u32 n) {\n\
         .reg .pred %p<9>; .reg .b32 %r<99>; .reg .b64 %rd<9>; .reg .b16 %h<9>;\n\
         ld.param.u64 %rd1, [x]; ld.param.u32 %r0, [n];\n\
         mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ctaid.y;\n\
         mov.u32 %r5, %ntid.x; mov.u32 %r6, %nctaid.x; mov.u32 %r7, %laneid;\n\
         mad.lo.s32 %r8, %r3, %r5, %r1; mad.lo.u32 %r9, %r4, %r6, %r3;\n",
    );
    let mut next = 10;
    for _ in 0..random.below(7) {
        let line = arithmetic(random, next);
        text.push_str(&line);
        text.push('\n');
        next += 1;
    }
    let index = if random.below(3) == 0 { 8 } else { next - 1 };
    let ty = random.choose(&["u32", "s32"]);
    let vector = random.below(4) == 0;
    let (bytes, store) =
        if vector { (8, "st.global.v2.u32 [%rd3], {%r1, %r1};") } else { (4, "st.global.u32 [%rd3], %r1;") };
    // The guard keeps the store inside the buffer for every index.
    let body = format!(
        "setp.gt.u32 %p6, %r90, 4095; @%p6 bra SKIP; mul.wide.u32 %rd2, %r90, {bytes}; add.s64 %rd3, %rd1, \
         %rd2; {store}\nSKIP:\n"
    );
    match random.below(4) {
        0 => text.push_str(&format!("mov.u32 %r90, %r{index}; setp.ge.{ty} %p1, %r90, %r0; @%p1 ret;\n{body}")),
        1 => text.push_str(&format!(
            "mov.u32 %r90, %r{index}; setp.lt.{ty} %p1, %r90, %r0; setp.ne.s32 %p2, %r{}, 3; and.pred %p3, %p1, \
             %p2; @!%p3 bra END;\n{body}",
            random.below(next)
        )),
        2 => text.push_str(&format!(
            "mov.u32 %r90, %r{index}; mul.lo.u32 %r91, %r5, %r6; mov.u32 %r92, 0;\n\
             LOOP: setp.ge.{ty} %p1, %r90, %r0; @%p1 bra END;\n{body}\
             add.u32 %r90, %r90, %r91; add.u32 %r92, %r92, 1; setp.lt.u32 %p2, %r92, 50; @%p2 bra LOOP;\n"
        )),
        _ => text.push_str(&format!(
            "mov.u32 %r90, %r{index}; setp.lt.{ty} %p1, %r90, %r{}; @%p1 add.u32 %r90, %r90, 3;\n{body}",
            random.below(next)
        )),
    }
    text.push_str("END: ret; }\n");
    text
}

#[test]
fn verdicts_are_what_random_kernels_write() {
    let mut random = Random::new(0x5eed);
    let mut tally = Tally::default();
    for _ in 0..400 {
        let text = random_kernel(&mut random);
        let module = ptx::parse(&text).unwrap();
        let program = Program::decode(&module);
        let function = module.entry("k").unwrap();
        let mut analysis = Analysis::new(&module);
        let taken = ParameterKinds {
            pointers: &[true, false],
            never_null: &[true, false],
            scalars: &[false, true],
            ..ParameterKinds::default()
        };
        let (_, outline) = analysis.kernel_and_slice("k", taken, &[0]);
        let before = tally.wrong.len();
        for _ in 0..3 {
            let grid = [1 + random.below(5) as u32, 1 + random.below(3) as u32, 1];
            let block = [1 + random.below(40) as u32, 1 + random.below(3) as u32, 1];
            let number = [7, 32, 64, 100][random.below(4) as usize];
            compare(
                (&module, &program),
                (function.name, taken.pointers, &outline),
                (grid, block, number),
                &mut tally,
            );
        }
        if tally.wrong.len() > before && before == 0 {
            println!("{text}");
        }
    }
    println!("compared: {} covered, {} short, {} unknown", tally.covered, tally.short, tally.unknown);
    assert!(
        tally.wrong.is_empty(),
        "{} wrong:\n{}",
        tally.wrong.len(),
        tally.wrong[..tally.wrong.len().min(9)].join("\n")
    );
    assert!(tally.covered > 400 && tally.short > 1000, "{} covered, {} short", tally.covered, tally.short);
    assert!(tally.unknown * 4 < tally.covered + tally.short, "{} unknown", tally.unknown);
}
