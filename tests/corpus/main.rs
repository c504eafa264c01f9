//! All PTX of this repository through the front door: a program declares the entries of every file as the file says,
//! writes a crate with a graph function for each, and launches each once on the simulated driver, without a report.
//!
//! `CORPUS_ONLY=name` keeps the kernels whose file and name contain that.

mod entries;
mod program;
mod sizes;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use program::File;
use sizes::Sizes;

/// Where PTX lies. Files of `tests/kernels/bad` are none, and what `load` refuses is tested in `runtime_load.rs`.
const FOLDERS: [&str; 10] = [
    "tests/ptx-corpus/12.9",
    "tests/ptx-corpus/13.5",
    "tests/ptx-corpus/rewrite",
    "tests/ptx-corpus/triton",
    "tests/kernels",
    "benches/kernels",
    "examples/kernels",
    "graph-sim/benches",
    "graph-sim/driver/tests/ptx",
    "graph-sim/tests",
];

#[test]
fn every_entry_is_declared_compiled_and_launched() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    if !root.join("tests/ptx-corpus").is_dir() {
        println!("not run: no sources here");
        return;
    }
    let (files, left) = files(root);
    let entries: usize = files.iter().map(|file| file.entries.len()).sum();
    let binary = compile(root, &files);
    let names: Vec<String> = files
        .iter()
        .flat_map(|file| file.entries.iter().map(|(entry, _)| format!("{} {}", file.short, entry.name)))
        .collect();
    let outcome = run(&binary, &names);
    println!(
        "{} files, {entries} entries launched: {} done, {} not simulated; {} not declared",
        files.len(),
        outcome.done,
        outcome.refused.len(),
        left.len()
    );
    for (why, names) in &outcome.refused {
        println!("not simulated, {}: {why}", names.len());
    }
    assert!(outcome.faults.is_empty(), "{} entries:\n{}", outcome.faults.len(), outcome.faults.join("\n"));
}

/// The files with their entries, and the entries that no declaration fits.
fn files(root: &Path) -> (Vec<File>, Vec<String>) {
    let sizes = Sizes::read(include_str!("sizes.txt"));
    let only = std::env::var("CORPUS_ONLY").unwrap_or_default();
    let mut paths = Vec::new();
    for folder in FOLDERS {
        let all = fs::read_dir(root.join(folder)).unwrap_or_else(|error| panic!("{folder}: {error}"));
        let ptx = all.map(|file| file.expect("a folder's entry").path());
        paths.extend(ptx.filter(|path| path.extension().is_some_and(|extension| extension == "ptx")));
    }
    paths.sort();
    let (mut files, mut left) = (Vec::new(), Vec::new());
    for path in paths {
        let text = fs::read_to_string(&path).expect("a file that can be read");
        let short = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        let (entries, not_declared) = entries::of(&text).unwrap_or_else(|why| panic!("{short}: {why}"));
        left.extend(not_declared.into_iter().map(|name| format!("{short} {name}")));
        let entries = entries.into_iter().map(|entry| {
            let size = sizes.of(&entry);
            (entry, size)
        });
        let wanted = |name: &str| format!("{short} {name}").contains(&only);
        let entries: Vec<_> = entries.filter(|(entry, _)| wanted(&entry.name)).collect();
        if !entries.is_empty() {
            files.push(File { path, short, entries });
        }
    }
    let known: Vec<&str> =
        files.iter().flat_map(|file| &file.entries).map(|(entry, _)| &*entry.name).collect();
    if only.is_empty() {
        let unknown: Vec<&str> = sizes.names().filter(|name| !known.contains(name)).collect();
        assert!(unknown.is_empty(), "`sizes.txt` names what is no kernel: {unknown:?}");
    }
    (files, left)
}

/// Compiles the crate of the entries with cargo, beside what this test was compiled with. Returns the program.
fn compile(root: &Path, files: &[File]) -> PathBuf {
    let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let folder = temporary.join("corpus");
    fs::create_dir_all(folder.join("src")).expect("a folder below the target folder");
    write(&folder.join("Cargo.toml"), &program::manifest(&root.display().to_string()));
    // The versions of this workspace; cargo leaves out what is not needed.
    if !folder.join("Cargo.lock").is_file() {
        fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).expect("the lock file of the workspace");
    }
    for (name, text) in program::sources(files) {
        write(&folder.join("src").join(name), &text);
    }
    let target = temporary.parent().expect("the target folder");
    let output = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".into()))
        .args(["build", "--offline", "--quiet", "--manifest-path"])
        .arg(folder.join("Cargo.toml"))
        .env("CARGO_TARGET_DIR", target)
        .output()
        .expect("cargo runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the declared entries do not compile:\n{said}");
    target.join("debug").join(format!("corpus{}", std::env::consts::EXE_SUFFIX))
}

/// Writes a file if it is another: what is unchanged is not compiled again.
fn write(path: &Path, text: &str) {
    if fs::read_to_string(path).is_ok_and(|before| before == text) {
        return;
    }
    fs::write(path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

/// What came of the launches.
#[derive(Default)]
struct Outcome {
    done: usize,
    /// Entries that the simulator does not run, by its reason.
    refused: BTreeMap<String, Vec<String>>,
    faults: Vec<String>,
}

/// Runs the program, again from the next entry on where one has broken the context.
fn run(binary: &Path, names: &[String]) -> Outcome {
    let driver = cuweave_sim::library_folder().expect("the simulated driver");
    let mut outcome = Outcome::default();
    let mut next = 0;
    while next < names.len() {
        let output = Command::new(binary)
            .arg(next.to_string())
            .env("LD_LIBRARY_PATH", &driver)
            .env("CUWEAVE_SIM_VERSION", "13.5")
            .env("CUWEAVE_SIM_INSTRUCTIONS", "200000")
            .output()
            .expect("the program runs");
        let said = String::from_utf8_lossy(&output.stderr);
        let before = next;
        next = read(&said, names, &mut outcome);
        assert!(next > before, "the program ended early: {:?}\n{said}", output.status);
    }
    outcome
}

/// Reads what the program said, and returns the number of the entry after the last.
fn read(said: &str, names: &[String], outcome: &mut Outcome) -> usize {
    let mut next = 0;
    for part in said.split("launch ").skip(1) {
        let mut lines = part.lines();
        let Some(at) = lines.next().and_then(|line| line.split_whitespace().next()?.parse::<usize>().ok())
        else {
            continue;
        };
        next = at + 1;
        let lines: Vec<&str> = lines.collect();
        let done = lines.contains(&format!("done {at}").as_str());
        let told: Vec<&str> = lines.iter().filter_map(|line| line.strip_prefix("cuweave-sim: ")).collect();
        let refused = told.iter().find_map(|line| line.split_once("cannot be simulated: "));
        match refused {
            Some((_, why)) => {
                outcome.refused.entry(why.to_owned()).or_default().push(names[at].clone());
            }
            None if done && told.is_empty() => outcome.done += 1,
            None => outcome.faults.push(format!("{}: {}", names[at], lines.join("; "))),
        }
    }
    next
}
