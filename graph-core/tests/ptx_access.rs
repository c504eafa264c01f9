//! The access proof against what the CUDA source of the corpus does, written by hand.

use cuweave_core::ptx::{self, Access, Analysis};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/ptx-corpus")
}

/// Kernel to its parameters, one word each.
fn expected() -> BTreeMap<String, Vec<String>> {
    let text = std::fs::read_to_string(corpus().join("expected.txt")).unwrap();
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let mut words = line.split_whitespace().map(str::to_owned);
            (words.next().unwrap(), words.collect())
        })
        .collect()
}

fn files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    for folder in std::fs::read_dir(corpus()).unwrap() {
        let folder = folder.unwrap().path();
        if folder.is_dir() {
            files.extend(std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()));
        }
    }
    files.retain(|file| file.extension().is_some_and(|extension| extension == "ptx"));
    files.sort();
    files
}

#[test]
fn every_verdict_is_that_of_the_source() {
    let expected = expected();
    assert!(expected.len() >= 60);
    let mut wrong = Vec::new();
    let (mut decided, mut all) = (0u32, 0u32);
    for file in files() {
        let text = std::fs::read_to_string(&file).unwrap();
        let module = ptx::parse(&text).unwrap();
        let mut analysis = Analysis::new(&module);
        let file = file.strip_prefix(corpus()).unwrap().display().to_string();
        for entry in module.entries() {
            let words = &expected[entry.name];
            assert_eq!(words.len(), entry.parameters.len(), "{}", entry.name);
            let pointers: Vec<bool> = words.iter().map(|word| word != "s" && word != "b").collect();
            let kernel = analysis.kernel(entry.name, &pointers);
            for (at, word) in words.iter().enumerate() {
                let found = &kernel.parameters[at];
                let place = format!("{file}: {} {at}", entry.name);
                if word == "s" || word == "b" {
                    if found.base.is_some() != (word == "b") {
                        wrong.push(format!("{place}: the base of an address: {:?}", found.base));
                    }
                    continue;
                }
                let access = found.access();
                // What is not decided on purpose does not count.
                if word != "?" && word != "p" {
                    all += 1;
                    decided += u32::from(access != Access::Unknown);
                }
                let (kind, first) = (&word[..1], word.ends_with('f'));
                let right = match kind {
                    "n" => access == Access::Nothing,
                    "r" => access == Access::Reads,
                    "w" => access == Access::Writes,
                    "m" => access == Access::ReadsAndWrites,
                    "a" => access == Access::Atomics,
                    "p" => access == Access::ReadsAndWrites,
                    _ => access == Access::Unknown,
                };
                if access == Access::Unknown && kind == "p" {
                    continue;
                }
                if access == Access::Unknown && kind != "?" {
                    let cause = found.may_write.as_ref().unwrap();
                    eprintln!("{place}: not decided: {}: {}", cause.line, cause.text);
                } else if !right {
                    wrong.push(format!("{place}: expected {word}, found {access:?}: {found:?}"));
                }
                if found.reads_first.is_some() && !first && kind != "r" {
                    wrong.push(format!("{place}: is read first: {:?}", found.reads_first));
                }
                if first && found.reads_first.is_none() && access != Access::Unknown {
                    wrong.push(format!("{place}: is not seen to be read first"));
                }
            }
        }
    }
    let share = 100.0 * f64::from(decided) / f64::from(all);
    println!("decided: {decided} of {all} pointer parameters ({share:.1} %)");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(decided * 100 >= all * 95, "decided: {decided} of {all}");
}
