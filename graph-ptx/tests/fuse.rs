//! Fuses every kernel of the corpus with its neighbours. The result is parsed again, and assembled by `ptxas` for
//! sm_90 if `$CUWEAVE_PTXAS` has its path. If `$CUWEAVE_ASSEMBLE` is `all`, every pair is.

#[allow(dead_code)]
#[path = "common/corpus.rs"]
mod corpus;

use corpus::texts;
use cuweave_ptx::rewrite::{Axis, Fusion, GridShape, Refusal, free_name, fused, fusible, stacked};
use cuweave_ptx::{self as ptx, Module};
use cuweave_testkit::files::name;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Assembles a text.
fn assemble(assembler: &str, text: &str) -> Result<String, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let file = folder.join(format!("fuse-{}.ptx", std::process::id()));
    // The assembler may be older than some files.
    let newer = ["9.1", "9.2", "9.3", "9.4", "9.5"].map(|version| format!(".version {version}"));
    let text = newer.iter().fold(text.to_owned(), |text, newer| text.replacen(newer, ".version 9.0", 1));
    std::fs::write(&file, &text).unwrap();
    let mut command = Command::new(assembler);
    let target = text.split(".target ").nth(1).and_then(|rest| rest.split([',', '\n', ' ']).next()).unwrap();
    let target = if target.len() > "sm_90".len() && target.starts_with("sm_1") { target } else { "sm_90a" };
    let output =
        command.args(["-v", &format!("-arch={target}"), "-o", "/dev/null"]).arg(&file).output().unwrap();
    let said =
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    if output.status.success() { Ok(said) } else { Err(format!("{}: {said}", file.display())) }
}

/// Returns the block that a kernel requires, or one that all accept.
fn block(module: &Module<'_>, entry: &str) -> [u32; 3] {
    let required = module.entry(entry).unwrap().performance(".reqntid");
    let mut block = [32, 1, 1];
    for (extent, required) in block.iter_mut().zip(required.unwrap_or_default()) {
        *extent = *required;
    }
    block
}

#[test]
fn neighbours_of_the_corpus_are_fused() {
    let texts = texts();
    let modules: Vec<(String, Module<'_>)> =
        texts.iter().filter_map(|(file, text)| Some((name(file), ptx::parse(text).ok()?))).collect();
    let mut kept = BTreeMap::new();
    let mut parts: Vec<(&Module<'_>, &str)> = Vec::new();
    for (_, module) in &modules {
        for entry in module.entries() {
            match fusible(module, entry.name) {
                Ok(_) => parts.push((module, entry.name)),
                Err(why) => {
                    let why = why.to_string();
                    *kept.entry(why.split(", in line").next().unwrap().to_owned()).or_insert(0) += 1;
                }
            }
        }
    }
    let assembler = std::env::var("CUWEAVE_PTXAS").ok();
    let all = std::env::var("CUWEAVE_ASSEMBLE").is_ok_and(|which| which == "all");
    let (mut made, mut differ, mut stacks) = (0, 0, 0);
    let mut unstacked: BTreeMap<String, usize> = BTreeMap::new();
    for (at, &(module, entry)) in parts.iter().enumerate() {
        let same: Vec<_> = parts[at..]
            .iter()
            .copied()
            .filter(|part| block(part.0, part.1) == block(module, entry))
            .take(3)
            .collect();
        let waits = at % 2 == 0;
        let fresh = free_name(module, "fused_kernels");
        let fusion = Fusion { parts: &same, name: &fresh, block: block(module, entry), waits, forward: None };
        let (text, table) = match fused(&fusion) {
            Ok(made) => made,
            Err(Refusal::Head(_)) => {
                differ += 1;
                continue;
            }
            Err(why) => panic!("{entry}: {why}"),
        };
        let again = ptx::parse(&text).unwrap_or_else(|error| panic!("{entry}: {error}\n{text}"));
        assert_eq!(again.entry(&fresh).unwrap().layout().1, u64::from(table.bytes));
        assert_eq!(table.parts.len(), same.len());
        made += 1;
        // Chains of them, side by side.
        let shape = [GridShape::Axis(Axis::Z), GridShape::Flat][at / 2 % 2];
        let text = match stacked(&fusion, 3, shape) {
            Ok((text, places)) => {
                let again = ptx::parse(&text).unwrap_or_else(|error| panic!("{entry}: {error}\n{text}"));
                assert_eq!(again.entry(&fresh).unwrap().layout().1, u64::from(places.chains.bytes));
                assert_eq!(places.parts.parts, table.parts, "{entry}");
                assert!(places.record(2) + places.parts.bytes <= places.chains.bytes, "{entry}");
                assert_eq!(again.entries().count(), 1, "{entry}");
                stacks += 1;
                text
            }
            Err(why) => {
                *unstacked
                    .entry(why.to_string().split(", in line").next().unwrap().to_owned())
                    .or_insert(0) += 1;
                text
            }
        };
        if let Some(assembler) = &assembler
            && (all || at % 16 == 0)
        {
            let said = assemble(assembler, &text).unwrap_or_else(|why| panic!("{entry}: {why}"));
            let used = said.lines().filter(|line| line.contains("Used") || line.contains("spill"));
            println!(
                "{}: {}",
                same.iter().map(|part| part.1).collect::<Vec<_>>().join(" + "),
                used.collect::<Vec<_>>().join("")
            );
        }
    }
    for (why, count) in &kept {
        println!("{count} {why}");
    }
    println!("{made} fused of {} kernels, {differ} of different targets", parts.len());
    println!("{stacks} stacked; not: {unstacked:?}");
    assert!(made > 400 && stacks > 400, "{made}, {stacks}");
}
