//! The rewritten corpus, assembled by `ptxas` for sm_90, with its registers and spills.
//!
//! `ptxas` is part of the Python wheel nvidia-cuda-nvcc-cu12. `$CUWEAVE_PTXAS` has its path; otherwise it is searched
//! in `$PATH`. If it is missing, the test prints this and passes. If `$CUWEAVE_REGISTERS` is set, the table of
//! registers goes to that file: `scripts/rewritten_registers.sh` makes it. If `$CUWEAVE_ASSEMBLE` is `all`, every
//! file and form is assembled, which takes minutes.

#[path = "common/corpus.rs"]
mod corpus;

use corpus::{all_forms, texts};
use cuweave_ptx as ptx;
use cuweave_ptx::rewrite::{GridShape, batched, waiting};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The resources that an entry uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Usage {
    registers: u32,
    /// Bytes of spill stores and loads.
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

/// Assembles a text. Returns the resources of its entries, or the assembler's message.
fn assemble(assembler: &Path, text: &str, name: &str) -> Result<BTreeMap<String, Usage>, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let file = folder.join(format!("{}-{name}.ptx", std::process::id()));
    std::fs::write(&file, text).unwrap();
    // sm_90a also accepts code for sm_90.
    let arch = if text.contains(".target sm_1") { "-arch=sm_100a" } else { "-arch=sm_90a" };
    let output = Command::new(assembler).args(["-v", arch, "-o", "/dev/null"]).arg(&file).output().unwrap();
    let said =
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        return Err(format!("{}: {said}", file.display()));
    }
    std::fs::remove_file(&file).unwrap();
    Ok(usages(&said))
}

/// Parses `Compiling entry function 'k'`, then its stack frame and spills, then its registers.
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

/// Returns a text that this assembler can read as written: with its version, and without names left over in sections.
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

/// A kernel as written, with the wait, and as batches of 16 with the wait, with equal grids and flat.
struct Row {
    written: Usage,
    waits: Option<Usage>,
    axis: Option<Usage>,
    flat: Option<Usage>,
}

impl Usage {
    /// Returns the number of blocks of 256 threads per multiprocessor of sm_90, limited by registers: 65,536,
    /// allocated 256 at a time per warp.
    fn blocks(self) -> u32 {
        let warp = (self.registers * 32).next_multiple_of(256).max(256);
        (65_536 / warp / 8).min(8)
    }
}

#[test]
fn everything_assembles() {
    let Some(assembler) = assembler() else {
        println!("no ptxas: set CUWEAVE_PTXAS to the one of the wheel nvidia-cuda-nvcc-cu12");
        return;
    };
    let (mut assembled, mut unread) = (0, Vec::new());
    let mut rows: BTreeMap<(String, String), Row> = BTreeMap::new();
    let all = std::env::var("CUWEAVE_ASSEMBLE").is_ok_and(|value| value == "all");
    for (file, text) in texts() {
        let name = cuweave_testkit::files::name(&file);
        // One architecture says what another does, too.
        let path = file.to_string_lossy();
        let another = [".75.", ".80.", ".debug."].iter().any(|part| path.contains(part));
        if another && !path.contains("ptx-corpus/rewrite/") && !all {
            continue;
        }
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
        let early = made.waits;
        let mut forms = all_forms(&module);
        // The wait and the number of members are independent.
        forms.retain(|form| all || (form.capacity != 2 && form.waits == (form.capacity == 16)));
        let mut made = batched(&module, &forms);
        if made.is_err() {
            // The target cannot be raised.
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
            let waits = waits.get(&entry).filter(|_| early.contains(&entry)).copied();
            rows.insert((name.clone(), entry), Row { written: usage, waits, axis, flat });
        }
    }
    println!("{assembled} rewritten kernels assembled");
    println!("not assembled as they are written:\n{}", unread.join("\n"));
    assert!(assembled > 600, "{assembled}");
    if let Some(file) = std::env::var_os("CUWEAVE_REGISTERS") {
        std::fs::write(file, table(&rows, &version(&assembler))).unwrap();
    }
}

fn table(rows: &BTreeMap<(String, String), Row>, version: &str) -> String {
    let mut text = format!(
        "# Registers of rewritten kernels\n\n`scripts/rewritten_registers.sh`, {version}, sm_90. A kernel as it is \
         written; with `griddepcontrol.wait` in\nfront; as a batch of 16 with the wait, of equal grids and of unequal \
         ones. In parentheses bytes of spills and of local\nmemory, where there are any; `-` where it is left as \
         written. Fewer blocks: of 256 threads on a multiprocessor, by registers.\n\n\
         | form | kernels | fewer registers | same | 1 to 2 more | 3 to 5 | 6 to 8 | 9 and more | fewer blocks | \
         more spills | more local memory |\n|---|---|---|---|---|---|---|---|---|---|---|\n"
    );
    type Form = fn(&Row) -> Option<Usage>;
    let forms: [(&str, Form); 3] =
        [("wait", |row| row.waits), ("equal grids", |row| row.axis), ("unequal grids", |row| row.flat)];
    for (name, form) in forms {
        let made: Vec<(Usage, Usage)> =
            rows.values().filter_map(|row| Some((row.written, form(row)?))).collect();
        let count = |is: &dyn Fn(Usage, Usage) -> bool| made.iter().filter(|(a, b)| is(*a, *b)).count();
        let more = |from: i64, to: i64| {
            count(&|a, b| (from..=to).contains(&(i64::from(b.registers) - i64::from(a.registers))))
        };
        writeln!(
            text,
            "| {name} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            made.len(),
            more(-255, -1),
            more(0, 0),
            more(1, 2),
            more(3, 5),
            more(6, 8),
            more(9, 255),
            count(&|a, b| b.blocks() < a.blocks()),
            count(&|a, b| b.spills > a.spills),
            count(&|a, b| b.frame > a.frame),
        )
        .unwrap();
    }
    text.push_str(
        "\n| file | kernel | as written | wait | equal grids | unequal grids |\n|---|---|---|---|---|---|\n",
    );
    let cell = |usage: Option<Usage>| match usage {
        Some(Usage { registers, spills: 0, frame: 0 }) => registers.to_string(),
        Some(Usage { registers, spills, frame }) => format!("{registers} ({spills}, {frame})"),
        None => "-".to_owned(),
    };
    for ((file, entry), row) in rows {
        let cells = [Some(row.written), row.waits, row.axis, row.flat].map(cell).join(" | ");
        writeln!(text, "| {file} | `{entry}` | {cells} |").unwrap();
    }
    text
}

/// `ptxas 12.9.86`
fn version(assembler: &Path) -> String {
    let output = Command::new(assembler).arg("--version").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let number = said.split_whitespace().find_map(|word| word.strip_prefix('V')).unwrap_or("unknown");
    format!("ptxas {number}")
}
