//! Mutated PTX causes an error or a fault in bounded time, and never a panic.

use cuweave_testkit::random::Random;

use crate::support::{Arg, Device, Loaded};
use cuweave_ptx::{parse, parse_bytes};
use cuweave_sim_driver::interp::{Launch, Program, RunOptions, run};

const CORPUS: [&str; 3] =
    [include_str!("../ptx/basic.ptx"), include_str!("../ptx/misc.ptx"), include_str!("../ptx/tensor.ptx")];

/// Returns each kernel, preceded by the declarations that the kernels of its file share.
fn pieces() -> Vec<(String, String)> {
    let mut pieces = Vec::new();
    for text in CORPUS {
        let module = parse(text).unwrap();
        let mut shared = ".version 8.5\n.target sm_90\n.address_size 64\n".to_owned();
        let functions = module.functions().filter(|function| !function.entry).map(|function| function.span);
        for span in module.variables().map(|variable| variable.span).chain(functions) {
            shared.push_str(module.source(span));
            shared.push('\n');
        }
        for entry in module.entries() {
            pieces.push((shared.clone(), module.source(entry.span).to_owned()));
        }
    }
    pieces
}

/// Deletes, doubles, swaps or overwrites a few bytes or words.
fn mutate(text: &str, random: &mut Random) -> Vec<u8> {
    const WORDS: [&str; 24] = [
        "%r1",
        "%rd2",
        "{",
        "}",
        "0",
        "-1",
        ";",
        "[",
        "]",
        ".u32",
        ".f16x2",
        "bar.sync",
        "%p1",
        "@",
        "1.5",
        "0x7fffffff",
        "ret;",
        "\"",
        "/*",
        ".v4",
        "<99999999999>",
        "bra",
        ".b8",
        "%tid.x",
    ];
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..1 + random.bits() % 3 {
        let at = random.bits() as usize % bytes.len().max(1);
        let length = (random.bits() as usize % 12).min(bytes.len().saturating_sub(at));
        match random.bits() % 8 {
            0 => drop(bytes.drain(at..at + length)),
            1 => {
                let copy = bytes[at..at + length].to_vec();
                bytes.splice(at..at, copy);
            }
            2 if at < bytes.len() => bytes[at] = random.bits() as u8,
            3 => bytes.truncate(at.max(1)),
            // Replaces a word by another one of the text: most results can still be parsed.
            4..=6 => {
                let (from, to) = (word_at(&bytes, random), word_at(&bytes, random));
                let word = bytes[from].to_vec();
                bytes.splice(to, word);
            }
            _ => {
                let word = WORDS[random.bits() as usize % WORDS.len()].as_bytes().to_vec();
                bytes.splice(at..at + length, word);
            }
        }
    }
    bytes
}

/// Returns the range of a word: letters, digits, and other characters of names.
fn word_at(bytes: &[u8], random: &mut Random) -> std::ops::Range<usize> {
    let part = |byte: &u8| byte.is_ascii_alphanumeric() || b"%_$.".contains(byte);
    let at = random.bits() as usize % bytes.len().max(1);
    let Some(start) = (at..bytes.len()).find(|&at| part(&bytes[at])) else { return 0..0 };
    let end = (start..bytes.len()).find(|&at| !part(&bytes[at])).unwrap_or(bytes.len());
    start..end
}

#[test]
fn mutated_files() {
    let pieces = pieces();
    let mut random = Random::new(2024);
    let (mut read, mut decoded, mut ran) = (0, 0, 0);
    for case in 0..3000 {
        let (shared, kernel) = &pieces[case % pieces.len()];
        let bytes = [shared.as_bytes(), &mutate(kernel, &mut random)].concat();
        let Ok(module) = parse_bytes(&bytes) else { continue };
        read += 1;
        let program = Program::decode(&module);
        let Some(entry) = program.entries.first().filter(|entry| entry.supported.is_ok()) else { continue };
        decoded += 1;
        let mut device = Device::default();
        let mut parameters = Vec::new();
        while parameters.len() < entry.parameter_bytes {
            parameters.extend(device.put(&[1u32; 64]).to_le_bytes());
        }
        let variables: Vec<u64> = program.variables.iter().map(|_| device.put(&[0u8; 256])).collect();
        let launch = Launch {
            program: &program,
            entry: 0,
            grid: [2, 1, 1],
            block: [33, 1, 1],
            dynamic_shared: 64,
            parameters: &parameters,
            variables: &variables,
        };
        let options = RunOptions { limit: 2_000, threads: Some(1), ..RunOptions::default() };
        ran += u32::from(run(&launch, &device, &options, None).is_ok());
    }
    println!("{read} read, {decoded} decoded, {ran} ran to their end");
    assert!(read > 300 && decoded > 150 && ran > 20, "{read} {decoded} {ran}");
}

#[test]
fn random_bytes_and_truncations() {
    let mut random = Random::new(7);
    for text in CORPUS {
        for _ in 0..40 {
            let end = random.bits() as usize % text.len();
            if parse(&text[..end]).is_ok() {
                assert!(end > 40, "a head is needed");
            }
        }
    }
    for _ in 0..2000 {
        let bytes: Vec<u8> = (0..random.bits() % 200).map(|_| random.bits() as u8).collect();
        assert!(parse_bytes(&bytes).is_err());
    }
}

#[test]
fn wild_arguments() {
    let mut device = Device::default();
    let mut loaded = Loaded::new(CORPUS[0], &mut device);
    loaded.options.limit = 50_000;
    let mut random = Random::new(9);
    for _ in 0..200 {
        let mut wild = || Arg::P(random.bits() << (random.bits() % 33));
        let (a, b) = (wild(), wild());
        let n = Arg::I(random.bits() as i32);
        assert!(loaded.launch(&device, "saxpy", [1, 1, 1], [64, 1, 1], 0, &[Arg::F(1.0), a, b, n]).is_err());
    }
}

#[test]
fn pieces_are_whole() {
    for (shared, kernel) in pieces() {
        let text = shared + &kernel;
        let program = Program::decode(&parse(&text).unwrap());
        assert_eq!(program.entries[0].supported, Ok(()), "{}", program.entries[0].name);
    }
}
