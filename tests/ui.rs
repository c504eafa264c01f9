//! Wrong programs: each is refused with the right code on the right line, and with no other error.
//!
//! `tests/ui/*.rs` are whole crates. A line that must be refused ends in `//~ CW102`; the text of the messages is in
//! the `.stderr` file beside the program. Two tests: the messages are the recorded ones (trybuild), and the recorded
//! ones are, in number, line and code, what the programs say.
//!
//! Errors that rustc reports itself (traits, constants) differ in wording between its versions. Those programs are in
//! `tests/ui/rustc`, and their text is compared with one version of rustc only. `tests/ui/ptx` has the programs whose
//! declarations contradict the PTX.
//!
//! `UPDATE=1 cargo test --test ui` records the messages again; a second time, and the pages of the error codes show
//! them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cuweave_core::codes::Code;
use cuweave_testkit::process::updating;

/// The version of rustc whose messages `tests/ui/rustc/*.stderr` record.
const RUSTC: &str = "rustc 1.95.";

/// The folders of the programs.
const FOLDERS: [&str; 3] = ["tests/ui", "tests/ui/ptx", "tests/ui/rustc"];

/// A message as `.stderr` files show it: its line in the program and its whole text.
#[derive(Debug)]
struct Message {
    line: usize,
    text: String,
}

/// A line of a program that must be refused, and the code.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Expected {
    line: usize,
    code: String,
}

#[test]
fn messages_are_as_recorded() {
    if recorded_elsewhere() {
        return;
    }
    updating();
    lend_kernels();
    let version = Command::new(std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into()))
        .arg("--version")
        .output()
        .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
        .unwrap_or_default();
    let cases = trybuild::TestCases::new();
    for folder in FOLDERS {
        if folder != "tests/ui/rustc" || version.starts_with(RUSTC) {
            cases.compile_fail(format!("{folder}/*.rs"));
        } else {
            println!("{folder} not run: recorded with {RUSTC}x, this is {version}");
        }
    }
}

#[test]
fn recorded_messages_are_the_expected_ones() {
    let mut faults = Vec::new();
    let programs = programs();
    assert!(programs.len() > 100, "only {} programs found", programs.len());
    for program in programs {
        if let Err(fault) = check(&program) {
            faults.push(format!("{}: {fault}", program.display()));
        }
    }
    assert!(faults.is_empty(), "{} programs:\n{}", faults.len(), faults.join("\n"));
}

/// Every code has a page, and the page shows one of the wrong programs here with its recorded message.
#[test]
fn every_code_has_a_page_with_a_program_and_its_message() {
    if recorded_elsewhere() {
        return;
    }
    for code in Code::ALL {
        let (page, number) = (&format!("docs/errors/{code}.md"), &code.name()["CW".len()..]);
        let text = fs::read_to_string(page).unwrap_or_else(|error| panic!("{page}: {error}"));
        assert_eq!(text.lines().next(), Some(format!("# {code}: {}", code.title()).as_str()), "{page}");
        let program = text.lines().find_map(|line| line.strip_prefix('`')?.strip_suffix(".rs`"));
        let program = program.unwrap_or_else(|| panic!("{page} names no program")).to_owned();
        if FOLDERS.iter().all(|folder| Path::new(&program).parent() != Some(Path::new(folder))) {
            println!("{page}: {program} is not run");
            continue;
        }
        assert!(program.contains(number), "{page} shows {program}");
        let source = fs::read_to_string(format!("{program}.rs")).expect("the program that the page names");
        let message = fs::read_to_string(format!("{program}.stderr")).expect("the message of that program");
        let shown = block(&block(&text, "```rust,compile_fail", &unmarked(&source)), "```text", &message);
        if updating() {
            fs::write(page, shown).expect("the page is written");
        } else {
            assert_eq!(text, shown, "{page} shows {program} or its message as it no longer is");
        }
    }
}

/// Returns a page with the contents of its first block of this kind replaced.
fn block(page: &str, fence: &str, contents: &str) -> String {
    let start =
        page.find(&format!("{fence}\n")).map(|at| at + fence.len() + 1).expect("a block of this kind");
    let end = page[start..].find("```").map(|at| start + at).expect("a closed block");
    format!("{}{}\n{}", &page[..start], contents.trim_end(), &page[end..])
}

/// Returns a program as a page shows it: without its first comment and the marks.
fn unmarked(source: &str) -> String {
    source
        .lines()
        .skip_while(|line| line.starts_with("//!") || line.is_empty())
        .map(|line| line.split("//~").next().unwrap_or_default().trim_end())
        .collect::<Vec<_>>()
        .join("\n")
}

fn check(program: &Path) -> Result<(), String> {
    let source = fs::read_to_string(program).map_err(|error| error.to_string())?;
    let expected = expected(&source);
    if expected.is_empty() {
        return Err("no line is marked `//~`".into());
    }
    let stderr = fs::read_to_string(program.with_extension("stderr")).map_err(|_| "no .stderr file")?;
    let messages = messages(&stderr)?;
    let mut found = Vec::new();
    for message in &messages {
        let on_line: Vec<_> = expected.iter().filter(|expected| expected.line == message.line).collect();
        match on_line.iter().find(|expected| message.text.contains(&expected.code)) {
            Some(expected) => found.push(*expected),
            None => return Err(format!("line {}: not expected: {}", message.line, message.text)),
        }
    }
    found.sort();
    if found == expected.iter().collect::<Vec<_>>() {
        Ok(())
    } else {
        Err(format!("expected {expected:?}, found {found:?}"))
    }
}

/// The marked lines of a program. A line may be marked with several codes: `//~ CW101 CW205`.
fn expected(source: &str) -> Vec<Expected> {
    let mut expected = Vec::new();
    for (index, line) in source.lines().enumerate() {
        let Some((_, codes)) = line.split_once("//~") else { continue };
        for code in codes.split_whitespace() {
            expected.push(Expected { line: index + 1, code: code.into() });
        }
    }
    expected.sort();
    expected
}

/// The errors and warnings of a `.stderr` file: each begins at the left margin and names its place once.
fn messages(stderr: &str) -> Result<Vec<Message>, String> {
    let mut messages: Vec<String> = Vec::new();
    for line in stderr.lines() {
        if line.starts_with("error") || line.starts_with("warning") {
            messages.push(String::new());
        }
        // Lines of the program itself contain marks too; they do not count.
        if let Some(text) = messages.last_mut().filter(|_| !line.contains("//~")) {
            text.push_str(line);
            text.push('\n');
        }
    }
    messages
        .into_iter()
        .map(|text| {
            let place = text.lines().find_map(|line| line.trim_start().strip_prefix("--> "));
            let line = place.and_then(|place| place.rsplit(':').nth(1)).and_then(|line| line.parse().ok());
            line.map(|line| Message { line, text: text.clone() }).ok_or(format!("no place: {text}"))
        })
        .collect()
}

fn programs() -> Vec<PathBuf> {
    let mut programs: Vec<PathBuf> = FOLDERS
        .iter()
        .flat_map(|folder| fs::read_dir(folder).into_iter().flatten())
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect();
    programs.sort();
    programs
}

/// Trybuild compiles the programs in a crate of its own, below the target folder: the PTX that they name must be there,
/// too.
fn lend_kernels() {
    let target = target_folder().join("tests/trybuild/cuweave");
    for folder in ["tests/kernels", "tests/kernels/bad", "tests/ptx-corpus/triton"] {
        let to = target.join(folder);
        fs::create_dir_all(&to).expect("a folder below the target folder");
        for entry in fs::read_dir(folder).expect("a folder of PTX") {
            let from = entry.expect("an entry").path();
            if from.is_file() {
                let name = from.file_name().expect("a file has a name");
                fs::copy(&from, to.join(name)).expect("a copy below the target folder");
            }
        }
    }
}

/// Returns the target folder that cargo reports.
fn target_folder() -> PathBuf {
    let output = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".into()))
        .args(["metadata", "--no-deps", "--format-version=1", "--offline"])
        .output()
        .expect("cargo runs");
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON of cargo");
    metadata["target_directory"].as_str().expect("cargo says where the target folder is").into()
}

/// Returns true if the sources are missing: the test binary was moved to another machine.
fn recorded_elsewhere() -> bool {
    let elsewhere = !Path::new("tests/ui").is_dir();
    if elsewhere {
        println!("not run: no sources here");
    }
    elsewhere
}
