//! What the rewriting makes of the corpus, assembled by `ptxas` for sm_90, with registers and spills.
//!
//! `ptxas` comes in the Python wheel nvidia-cuda-nvcc-cu12; `$CUWEAVE_PTXAS` says where it is, else it is looked for
//! in `$PATH`. Where there is none, the test says so and passes. With `$CUWEAVE_REGISTERS` set, the table of registers
//! goes to that file. `scripts/rewritten_registers.sh` does both.
#![cfg(feature = "rewrite")]

#[path = "common/corpus.rs"]
mod corpus;

use corpus::{all_forms, texts};
use cuweave_core::ptx;
use cuweave_core::ptx::rewrite::{GridShape, batched, waiting};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What an entry takes of a multiprocessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Usage {
    registers: u32,
    /// Bytes of spills, stores and loads.
    spills: u32,
    /// Bytes of local memory.
    frame: u32,
}

fn assembler() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("CUWEAVE_PTXAS") {
        return Some(path.into());
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join("ptxas")).find(|file| file.is_file())
}

/// The entries of a text, assembled, or what the assembler says.
fn assemble(assembler: &Path, text: &str, name: &str) -> Result<BTreeMap<String, Usage>, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let file = folder.join(format!("{}-{name}.ptx", std::process::id()));
    std::fs::write(&file, text).unwrap();
    // The `a` of sm_90a takes what sm_90 takes, and the code of both targets.
    let output =
        Command::new(assembler).args(["-v", "-arch=sm_90a", "-o", "/dev/null"]).arg(&file).output().unwrap();
    let said =
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        return Err(format!("{}: {said}", file.display()));
    }
    std::fs::remove_file(&file).unwrap();
    Ok(usages(&said))
}

/// `Compiling entry function 'k'`, then its stack frame and spills, then its registers.
fn usages(said: &str) -> BTreeMap<String, Usage> {
    let mut found = BTreeMap::new();
    let mut name = None;
    let number_before = |line: &str, word: &str| -> u32 {
        let before = line.split(word).next().unwrap_or("").trim_end();
        before
            .rsplit(|c: char| !c.is_ascii_digit())
            .next()
            .and_then(|digits| digits.parse().ok())
            .unwrap_or(0)
    };
    let mut usage = Usage { registers: 0, spills: 0, frame: 0 };
    for line in said.lines() {
        if line.contains("Compiling entry function") {
            name = line.split('\'').nth(1).map(str::to_owned);
            usage = Usage { registers: 0, spills: 0, frame: 0 };
        } else if line.contains("bytes stack frame") && usage.registers == 0 {
            usage.frame = number_before(line, "bytes stack frame");
            usage.spills =
                number_before(line, "bytes spill stores") + number_before(line, "bytes spill loads");
        } else if line.contains("Used ")
            && line.contains(" registers")
            && let Some(name) = name.take()
        {
            usage.registers = number_before(line, "registers");
            found.insert(name, usage);
        }
    }
    found
}

/// A text that this assembler can read as it is written: of its version, and without names that were left in sections.
fn readable(assembler: &Path, text: &str, name: &str) -> Result<String, String> {
    let module = ptx::parse(text).map_err(|error| error.to_string())?;
    let mut text = text.to_owned();
    if module.version > (8, 7) {
        let version = module.source(module.version_span);
        text = text.replacen(version, ".version 8.7", 1);
    }
    if !module.text.contains(".section") {
        let lines: Vec<&str> =
            text.lines().map(|line| line.split(", function_name").next().unwrap_or("")).collect();
        text = lines.join("\n");
    }
    assemble(assembler, &text, name).map(|_| text)
}

struct Row {
    written: Usage,
    waits: Option<Usage>,
    axis: Option<Usage>,
    flat: Option<Usage>,
}

#[test]
fn everything_assembles() {
    let Some(assembler) = assembler() else {
        println!("no ptxas: set CUWEAVE_PTXAS to the one of the wheel nvidia-cuda-nvcc-cu12");
        return;
    };
    let (mut assembled, mut unread) = (0, Vec::new());
    let mut rows: BTreeMap<(String, String), Row> = BTreeMap::new();
    // One architecture says what another does, too.
    let all = std::env::var_os("CUWEAVE_REGISTERS").is_some();
    for (file, text) in texts() {
        let name = corpus::name(&file);
        let Ok(text) =
            readable(&assembler, &text, &name).inspect_err(|why| unread.push(format!("{name}: {why}")))
        else {
            continue;
        };
        let written = assemble(&assembler, &text, &name).unwrap();
        let module = ptx::parse(&text).unwrap();
        let made = waiting(&module);
        let waits = assemble(&assembler, &made.text, &name).unwrap();
        assembled += made.waits.len();
        let mut forms = all_forms(&module);
        forms.retain(|form| all || form.capacity != 2);
        let mut made = batched(&module, &forms);
        if made.is_err() {
            // A target that cannot be raised.
            forms.retain(|form| !form.waits);
            made = batched(&module, &forms);
        }
        let variants = assemble(&assembler, &made.unwrap(), &name).unwrap();
        assembled += forms.len();
        let of = |entry: &str, flat: bool| {
            let form = forms.iter().find(|form| {
                form.entry == entry
                    && form.capacity == 16
                    && form.waits
                    && (form.shape == GridShape::Flat) == flat
            });
            form.and_then(|form| variants.get(&form.name)).copied()
        };
        for (entry, usage) in written {
            let (axis, flat) = (of(&entry, false), of(&entry, true));
            let waits = waits.get(&entry).copied();
            rows.insert((name.clone(), entry), Row { written: usage, waits, axis, flat });
        }
    }
    println!("{assembled} rewritten kernels assembled");
    println!("not assembled as they are written:\n{}", unread.join("\n"));
    assert!(assembled > 600, "{assembled}");
    if let Some(file) = std::env::var_os("CUWEAVE_REGISTERS") {
        std::fs::write(file, table(&rows)).unwrap();
    }
}

fn table(rows: &BTreeMap<(String, String), Row>) -> String {
    let cell = |usage: Option<Usage>| match usage {
        Some(Usage { registers, spills: 0, frame: 0 }) => registers.to_string(),
        Some(Usage { registers, spills, frame }) => format!("{registers} ({spills}/{frame})"),
        None => "-".to_owned(),
    };
    let mut text = String::new();
    for ((file, entry), row) in rows {
        writeln!(
            text,
            "| {file} | `{entry}` | {} | {} | {} | {} |",
            cell(Some(row.written)),
            cell(row.waits),
            cell(row.axis),
            cell(row.flat)
        )
        .unwrap();
    }
    text
}
