//! Runs all PTX of this repository through the public interface. The test generates a crate that declares the
//! entries of every file and has a graph function for each. The crate launches each graph once on the simulated
//! driver, which must not report anything.
//!
//! `CORPUS_ONLY=name` selects the kernels whose file and name contain `name`.

mod entries;
mod program;
mod sizes;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use program::File;
use sizes::Sizes;

/// The folders of PTX files. `tests/kernels/bad` has no valid files, and `runtime_load.rs` tests the files that
/// fail to load.
const FOLDERS: [&str; 9] = [
    "tests/ptx-corpus/nvrtc",
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
    let launches: Vec<Launched> = files.iter().flat_map(launched).collect();
    let start = Instant::now();
    let binary = compile(root, &files);
    let compiled = start.elapsed();
    let Outcome { done, reported, refused, faults } = run(&binary, &launches);
    println!("{} files, {} entries, {} not declared: {left:?}", files.len(), launches.len(), left.len());
    println!(
        "{done} without a report, {reported} with theirs; {compiled:.1?} compiled, {:.1?} in all",
        start.elapsed()
    );
    for (why, names) in &refused {
        println!("not simulated, {}: {why}", names.len());
    }
    assert!(faults.is_empty(), "{} entries:\n{}", faults.len(), faults.join("\n"));
    let not_simulated: usize = refused.values().map(Vec::len).sum();
    assert_eq!(done + reported + not_simulated, launches.len());
    if std::env::var_os("CORPUS_ONLY").is_none() {
        assert!(done >= 600 && reported >= 2, "{done} launches without a report, {reported} with theirs");
        // Textures and pointers in structures cannot be declared; tables of pointers, multicast objects and kernels that
        // set conditions have tests of their own.
        assert!(
            not_simulated <= 6 && left.len() <= 24,
            "{not_simulated} not simulated, {left:?} not declared"
        );
    }
}

/// A launch by the generated program.
struct Launched {
    /// The file and the entry.
    name: String,
    /// The kind of report that is expected.
    report: Option<String>,
}

fn launched(file: &File) -> impl Iterator<Item = Launched> {
    file.entries.iter().map(|(entry, size)| Launched {
        name: format!("{} {}", file.short, entry.name),
        report: size.report.clone(),
    })
}

/// Returns the files with their entries, and the entries without a possible declaration.
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
        let (entries, not_declared) =
            entries::of(&text, |name| sizes.pointers(name)).unwrap_or_else(|why| panic!("{short}: {why}"));
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

/// Compiles the crate of the entries with cargo. Returns the program. The target folder and the profile are those of
/// the tests, so that the crates of others are not compiled again.
fn compile(root: &Path, files: &[File]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("corpus");
    fs::create_dir_all(folder.join("src")).expect("a folder below the target folder");
    write(&folder.join("Cargo.toml"), &program::manifest(&root.display().to_string()));
    // The versions of this workspace; cargo omits unused packages.
    if !folder.join("Cargo.lock").is_file() {
        fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).expect("the lock file of the workspace");
    }
    for (name, text) in program::sources(files) {
        write(&folder.join("src").join(name), &text);
    }
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("..");
    let output = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".into()))
        .args(["build", "--offline", "--quiet", "--manifest-path"])
        .arg(folder.join("Cargo.toml"))
        .env("CARGO_TARGET_DIR", &target)
        .output()
        .expect("cargo runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the declared entries do not compile:\n{said}");
    target.join("debug").join(format!("corpus{}", std::env::consts::EXE_SUFFIX))
}

/// Writes a file if its contents changed, so that unchanged files are not recompiled.
fn write(path: &Path, text: &str) {
    if fs::read_to_string(path).is_ok_and(|before| before == text) {
        return;
    }
    fs::write(path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

/// The outcome of the launches.
#[derive(Default)]
struct Outcome {
    /// Launches without a report.
    done: usize,
    /// Launches with the expected report.
    reported: usize,
    /// Entries that the simulator refuses to run, by reason.
    refused: BTreeMap<String, Vec<String>>,
    faults: Vec<String>,
}

/// Runs the program. After an entry that broke the context, runs it again from the next one on.
fn run(binary: &Path, launches: &[Launched]) -> Outcome {
    let driver = cuweave_sim::library_folder().expect("the simulated driver");
    let mut outcome = Outcome::default();
    let mut next = 0;
    while next < launches.len() {
        let output = Command::new(binary)
            .arg(next.to_string())
            .env("LD_LIBRARY_PATH", &driver)
            .env("CUWEAVE_SIM_VERSION", "13.5")
            .env("CUWEAVE_SIM_INSTRUCTIONS", "200000")
            .output()
            .expect("the program runs");
        let said = String::from_utf8_lossy(&output.stderr);
        let before = next;
        next = read(&said, launches, &mut outcome);
        assert!(next > before, "the program ended early: {:?}\n{said}", output.status);
    }
    outcome
}

/// Reads the program's output. Returns the number of the next entry.
fn read(said: &str, launches: &[Launched], outcome: &mut Outcome) -> usize {
    let mut parts: Vec<(usize, Vec<&str>)> = Vec::new();
    for line in said.lines() {
        let begun = line.strip_prefix("launch ").and_then(|rest| rest.split_once(' ')?.0.parse().ok());
        match (begun, parts.last_mut()) {
            (Some(at), _) => parts.push((at, Vec::new())),
            (None, Some((_, lines))) => lines.push(line),
            (None, None) => {}
        }
    }
    for (at, lines) in &parts {
        outcome.count(&launches[*at], lines, *at);
    }
    parts.last().map_or(0, |(at, _)| at + 1)
}

impl Outcome {
    /// Evaluates the launch of an entry by the output during the launch.
    fn count(&mut self, launched: &Launched, lines: &[&str], at: usize) {
        let done = lines.contains(&format!("done {at}").as_str());
        let reports: Vec<&str> = lines.iter().filter_map(|line| line.strip_prefix("cuweave-sim: ")).collect();
        let refused = reports.iter().find_map(|line| line.split_once("cannot be simulated: "));
        let newer = lines.iter().find_map(|line| line.split_once("[CUDA_ERROR_NO_BINARY_FOR_GPU] "));
        let fault = || format!("{}: {}", launched.name, lines.join("; "));
        match (refused.or(newer), &launched.report) {
            (Some((_, why)), _) => {
                let why =
                    why.strip_prefix("line ").and_then(|why| why.split_once(": ")).map_or(why, |why| why.1);
                self.refused.entry(why.to_owned()).or_default().push(launched.name.clone());
            }
            (None, Some(kind))
                if reports.iter().all(|report| report.contains(&format!("[{kind}]"))) && !done =>
            {
                self.reported += 1;
            }
            (None, None) if done && reports.is_empty() => self.done += 1,
            _ => self.faults.push(fault()),
        }
    }
}
