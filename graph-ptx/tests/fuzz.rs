//! Mutated PTX is parsed and analysed in bounded time, without a panic.

use cuweave_ptx::{self as ptx, report};
use cuweave_testkit::{files, random::Random};
use std::time::{Duration, Instant};

/// The number of mutations; about one in six is still valid PTX.
const CASES: usize = 1_200;

/// Returns single kernels of the corpus, each with the head of its file and its functions.
fn seeds() -> Vec<String> {
    let corpus = files::root().join("tests/ptx-corpus");
    let mut seeds = Vec::new();
    for file in [
        "nvrtc/basic.ptx",
        "nvrtc/hopper.ptx",
        "nvrtc/basic.debug.ptx",
        "nvrtc/reduce.ptx",
        "rewrite/grid.80.ptx",
    ] {
        let text = std::fs::read_to_string(corpus.join(file)).unwrap();
        let module = ptx::parse(&text).unwrap();
        let entries: Vec<_> = module.entries().collect();
        let head = entries[0].span.start as usize;
        for entry in entries.iter().step_by(2) {
            let body = module.source(entry.span);
            if body.len() < 12_000 {
                seeds.push(format!("{}{body}\n", &text[..head]));
            }
        }
    }
    seeds
}

fn mutate(seed: &str, random: &mut Random) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = seed.lines().map(|line| line.as_bytes().to_vec()).collect();
    for _ in 0..1 + random.below(6) {
        let (at, other) = (random.below(lines.len()), random.below(lines.len()));
        match random.below(7) {
            0 => lines[at] = lines[other].clone(),
            1 => lines.swap(at, other),
            2 => lines[at].clear(),
            3 => {
                // A word from elsewhere.
                let words: Vec<Vec<u8>> =
                    lines[other].split(|&byte| byte == b' ' || byte == b'\t').map(<[u8]>::to_vec).collect();
                let word = words[random.below(words.len())].clone();
                let place = random.below(lines[at].len() + 1);
                lines[at].splice(place..place, word);
            }
            4 if !lines[at].is_empty() => {
                let place = random.below(lines[at].len());
                lines[at][place] = b" {}[]();,.:%@!_09afrdx\"/*"[random.below(25)];
            }
            5 => {
                let copies: Vec<Vec<u8>> = lines[at.min(other)..at.max(other)].to_vec();
                lines.splice(at..at, copies);
            }
            _ => {
                let place = random.below(lines[at].len() + 1);
                lines[at].truncate(place);
            }
        }
    }
    lines.join(&b'\n')
}

/// Rewrites a module and parses the result again. Returns the number of variants.
fn rewritten(module: &ptx::Module<'_>) -> usize {
    use cuweave_ptx::rewrite::{Axis, Batch, GridShape, Refusal, batchable, batched, free_name, waiting};

    let read = |text: &str| match ptx::parse(text) {
        Ok(module) => module.entries().count(),
        Err(error) => panic!("{error}\n{text}"),
    };
    let made = waiting(module);
    assert_eq!(read(&made.text), made.waits.len() + made.unchanged.len());
    let name = free_name(module, "variant");
    let mut variants = 0;
    for entry in module.entries() {
        let may = batchable(module, entry.name).is_ok();
        for shape in [GridShape::Axis(Axis::Z), GridShape::Flat] {
            for waits in [false, true] {
                let batch = Batch {
                    entry: entry.name.to_owned(),
                    name: name.clone(),
                    capacity: 3,
                    shape,
                    waits,
                    registers: None,
                };
                match batched(module, &[batch]) {
                    Ok(text) => variants += read(&text),
                    // One member fits, and three do not.
                    Err(why) => assert!(
                        !may || waits || matches!(why, Refusal::Table { .. } | Refusal::Overlap { .. }),
                        "{why}"
                    ),
                }
            }
        }
    }
    variants
}

#[test]
fn mutated_files_are_analysed_or_refused() {
    let seeds = seeds();
    assert!(seeds.len() > 20);
    let mut random = Random::new(41);
    let (mut read, mut variants) = (0, 0usize);
    let mut longest = (Duration::ZERO, String::new());
    for case in 0..CASES {
        let bytes = mutate(&seeds[case % seeds.len()], &mut random);
        let start = Instant::now();
        if let Ok(module) = ptx::parse_bytes(&bytes) {
            read += 1;
            let _ = report::table(&module);
            variants += rewritten(&module);
        }
        if start.elapsed() > longest.0 {
            longest = (start.elapsed(), String::from_utf8_lossy(&bytes).into_owned());
        }
    }
    println!("{read} of {CASES} read, {variants} variants; the longest took {:?}", longest.0);
    assert!(read > 100 && variants > 300, "only {read} mutations are still PTX, {variants} variants");
    assert!(longest.0 < Duration::from_secs(5), "{:?} for\n{}", longest.0, longest.1);
}

/// Inputs on which a naive analysis takes forever or overflows the stack.
#[test]
fn hostile_shapes_end() {
    let head = ".version 8.0\n.target sm_90\n.address_size 64\n";
    let mut shapes = Vec::new();
    // A long chain of additions, a long ladder of branches to one label, and nested loops.
    let mut chain = format!(
        "{head}.entry k(.param .u64 p) {{ .reg .b64 %rd<9>; .reg .pred %p; ld.param.u64 %rd1, [p];\n"
    );
    let mut ladder = chain.clone();
    let mut loops = chain.clone();
    for at in 0..4000 {
        chain.push_str("add.s64 %rd1, %rd1, 4;\n");
        ladder.push_str("@%p bra END;\nadd.s64 %rd1, %rd1, 4;\n");
        loops.push_str(&format!("L{at}: add.s64 %rd1, %rd1, 4;\n"));
    }
    for at in (0..4000).rev() {
        loops.push_str(&format!("@%p bra L{at};\n"));
    }
    for shape in [chain, ladder, loops] {
        shapes.push(format!("{shape}END: st.global.u32 [%rd1], 1; ret; }}"));
    }
    // Functions that each call the next one twice: 2^24 paths.
    let mut calls = head.to_owned();
    for at in 0..24 {
        let next =
            if at == 0 { "ret;".to_owned() } else { format!("call f{0}, (a); call f{0}, (a); ret;", at - 1) };
        calls.push_str(&format!(".func f{at}(.param .b64 a) {{ {next} }}\n"));
    }
    calls.push_str(
        ".entry k(.param .u64 p) { .reg .b64 %rd1; .param .b64 a; ld.param.u64 %rd1, [p]; \
        st.param.b64 [a], %rd1; call f23, (a); ret; }",
    );
    shapes.push(calls);
    // More nested calls than fit on a stack.
    let mut deep = head.to_owned();
    for at in 0..3000 {
        deep.push_str(&format!(".func f{at}(.param .b64 a) {{ call f{}, (a); ret; }}\n", at + 1));
    }
    deep.push_str(
        ".entry k(.param .u64 p) { .reg .b64 %rd1; .param .b64 a; ld.param.u64 %rd1, [p]; \
        st.param.b64 [a], %rd1; call f0, (a); ret; }",
    );
    shapes.push(deep);
    // Indices computed from indices.
    let mut product = format!(
        "{head}.entry k(.param .u64 p, .param .u32 n) {{ .reg .b64 %rd<9>; .reg .b32 %r<99>; ld.param.u64 %rd1, [p]; \
            ld.param.u32 %r1, [n];\n"
    );
    for at in 1..60 {
        product
            .push_str(&format!("add.s32 %r{}, %r{at}, %r{at}; mul.lo.s32 %r{0}, %r{0}, %r{at};\n", at + 1));
    }
    product.push_str("mul.wide.u32 %rd2, %r60, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], 1; ret; }");
    shapes.push(product);
    // Nested loops that all poll, and one loop with many compare-and-swaps.
    let atomics = format!(
        "{head}.entry k(.param .u64 p) {{ .reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .pred %p; ld.param.u64 %rd1, [p];\n"
    );
    let mut looks = atomics.clone();
    for at in 0..600 {
        looks.push_str(&format!("L{at}: ld.volatile.global.u32 %r1, [%rd1];\n"));
    }
    for at in (0..600).rev() {
        looks.push_str(&format!("add.u32 %r{}, %r{}, %r1; @%p bra L{at};\n", 2 + at % 6, 2 + (at + 1) % 6));
    }
    shapes.push(format!("{looks} ret; }}"));
    let swap = "atom.global.cas.b32 %r1, [%rd1], %r2, %r3; add.u32 %r2, %r1, 1;\n";
    shapes.push(format!("{atomics}L:\n{} @%p bra L; ret; }}", swap.repeat(2000)));
    for (at, shape) in shapes.iter().enumerate() {
        let start = Instant::now();
        let module = ptx::parse(shape).unwrap();
        let _ = report::table(&module);
        rewritten(&module);
        println!("shape {at}: {:?}", start.elapsed());
        assert!(start.elapsed() < Duration::from_secs(10), "shape {at}: {:?}", start.elapsed());
    }
}
