//! Checks the documentation: the summary of the book lists each page, and links have targets. Only reads files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// A link of a page: its line, and its target as written.
struct Link {
    line: usize,
    target: String,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the Markdown files of a folder and its subfolders.
fn pages(folder: &Path) -> Vec<PathBuf> {
    files(folder, "md")
}

/// Returns the files of a folder and its subfolders with this extension.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Returns the lines of a page that are not code blocks, numbered from 1, without inline code.
fn prose(text: &str) -> Vec<(usize, String)> {
    let mut fenced = false;
    let mut lines = Vec::new();
    for (at, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            let plain: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
            lines.push((at + 1, plain));
        }
    }
    lines
}

/// Returns the links and images of a page.
fn links(text: &str) -> Vec<Link> {
    let mut found = Vec::new();
    for (line, prose) in prose(text) {
        for start in ["](", "src=\"", "href=\""] {
            let parts = prose.split(start).skip(1);
            let targets = parts.filter_map(|rest| rest.split([')', '"']).next());
            found.extend(targets.map(|target| Link { line, target: target.trim().to_owned() }));
        }
        // A definition, `[name]: target`.
        if let Some((name, target)) = prose.split_once("]: ").filter(|(name, _)| name.starts_with('[')) {
            let plain = !name.contains(char::is_whitespace);
            found.extend(plain.then(|| Link { line, target: target.trim().to_owned() }));
        }
    }
    found
}

/// Returns the anchors of a page's headings, as GitHub and rustdoc generate them.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut fenced = false;
    let mut found = BTreeSet::new();
    for line in text.lines() {
        fenced ^= line.trim_start().starts_with("```");
        if let (false, Some(heading)) = (fenced, line.strip_prefix('#')) {
            let heading = heading.trim_start_matches('#').trim().to_lowercase();
            let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
            found.insert(kept.map(|c| if c == ' ' { '-' } else { c }).collect());
        }
    }
    found
}

/// Normalizes a path without accessing the file system.
fn plain(path: &Path) -> PathBuf {
    let mut parts = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                parts.pop();
            }
            Component::CurDir => {}
            part => parts.push(part),
        }
    }
    parts
}

/// Returns the modules that a file declares on one line each: `pub mod name {}`.
fn modules(file: &str) -> BTreeSet<String> {
    let text = read(&root().join(file));
    let declared = text.lines().filter_map(|line| line.strip_prefix("pub mod "));
    declared.filter_map(|rest| rest.split([' ', ';']).next()).map(str::to_owned).collect()
}

#[test]
fn the_summary_lists_each_page_once() {
    let docs = root().join("docs");
    let summary = read(&docs.join("SUMMARY.md"));
    let mut listed: BTreeMap<PathBuf, usize> = BTreeMap::new();
    for link in links(&summary) {
        *listed.entry(plain(&docs.join(link.target))).or_default() += 1;
    }
    let pages: Vec<PathBuf> = pages(&docs).into_iter().filter(|page| !page.ends_with("SUMMARY.md")).collect();
    assert!(pages.len() > 40, "only {} pages were found", pages.len());
    let missing: Vec<_> = pages.iter().filter(|page| !listed.contains_key(*page)).collect();
    assert!(missing.is_empty(), "docs/SUMMARY.md does not list {missing:?}");
    let twice: Vec<_> = listed.iter().filter(|(_, count)| **count > 1).collect();
    assert!(twice.is_empty(), "docs/SUMMARY.md lists twice: {twice:?}");
}

/// Without a language, code is not highlighted, neither in the book nor on repository pages.
#[test]
fn code_has_a_language() {
    let root = root();
    let mut files = pages(&root.join("docs"));
    files.extend(["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(|file| root.join(file)));
    let (mut fences, mut bare) = (0, Vec::new());
    for file in &files {
        let text = read(file);
        let of_code = text.lines().enumerate().filter(|(_, line)| line.starts_with("```"));
        // Fences alternately open and close code.
        for (at, line) in of_code.step_by(2) {
            fences += 1;
            if line == "```" {
                bare.push(format!("{}:{}", file.display(), at + 1));
            }
        }
    }
    assert!(fences > 120, "only {fences} pieces of code were found");
    assert!(bare.is_empty(), "code without a language:\n{}", bare.join("\n"));
}

/// Returns the folders of all published packages except the root.
fn packages() -> Vec<String> {
    let manifest = read(&root().join("Cargo.toml"));
    let paths = manifest.lines().filter(|line| line.starts_with("cuweave-") && line.contains("version"));
    let named = |line: &str| {
        line.split("path = \"").nth(1).and_then(|rest| rest.split('"').next()).map(str::to_owned)
    };
    paths.filter_map(named).chain(["graph-new".to_owned()]).collect()
}

#[test]
fn each_package_has_its_licences_and_a_page() {
    let packages = packages();
    assert_eq!(packages.len(), 10, "{packages:?}");
    for package in packages {
        let folder = root().join(&package);
        for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
            assert_eq!(read(&folder.join(licence)), read(&root().join(licence)), "{package}");
        }
        let name = read(&folder.join("Cargo.toml"));
        let name = name
            .lines()
            .find_map(|line| line.strip_prefix("name = "))
            .expect("a name")
            .trim_matches('"')
            .to_owned();
        assert!(read(&folder.join("README.md")).starts_with(&format!("# {name}\n")), "{package}");
    }
}

#[test]
fn links_lead_somewhere() {
    let root = root();
    let mut files = pages(&root.join("docs"));
    files.extend(pages(&root.join("benches/results")));
    for file in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"] {
        files.push(root.join(file));
    }
    files.extend(packages().iter().map(|package| root.join(package).join("README.md")));
    let (mut checked, mut broken) = (0, Vec::new());
    for file in &files {
        let text = read(file);
        for Link { line, target } in links(&text) {
            if target.contains("://") {
                continue;
            }
            checked += 1;
            let (path, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let to = match path {
                "" => file.clone(),
                path => plain(&file.parent().expect("a folder").join(path)),
            };
            let is_page = to.extension().is_some_and(|extension| extension == "md");
            if !to.exists() || (is_page && !anchor.is_empty() && !anchors(&read(&to)).contains(anchor)) {
                broken.push(format!("{}:{line}: {target}", file.display()));
            }
        }
    }
    assert!(checked > 60, "only {checked} links were found");
    assert!(broken.is_empty(), "links that lead nowhere:\n{}", broken.join("\n"));
}

/// Pages of the book are modules in the crate's documentation, which link to each other by URL.
#[test]
fn addresses_of_the_crate_name_its_modules() {
    const CRATE: &str = "https://docs.rs/cuweave/latest/cuweave/";
    let root = root();
    let mut files = pages(&root.join("docs"));
    files.extend(
        ["README.md", "src", "graph-macros/src", "graph-core/src", "graph-runtime/src", "graph-ptx/src"]
            .map(|file| root.join(file)),
    );
    let files = files.into_iter().flat_map(|file| match file.is_dir() {
        true => self::files(&file, "rs"),
        false => vec![file],
    });
    // The help of each message names a page.
    let files: Vec<PathBuf> = files.chain(self::files(&root.join("tests/ui"), "stderr")).collect();
    let folders = [("guide", modules("src/guide.rs")), ("reference", modules("src/reference.rs"))];
    let of_the_crate = modules("src/lib.rs");
    let (mut checked, mut broken) = (0, Vec::new());
    for file in &files {
        let text = read(file);
        for (at, line) in text.lines().enumerate() {
            for target in line.split(CRATE).skip(1) {
                let target = target.split([')', ' ', '>', '"', '#', '`', ']']).next().unwrap_or_default();
                let parts: Vec<&str> = target.split('/').filter(|part| !part.is_empty()).collect();
                let known = match parts.as_slice() {
                    [] => true,
                    // An item of the root: `struct.Buffer.html`.
                    [item] if item.ends_with(".html") => true,
                    ["codes", code] => root.join(format!("docs/errors/{}.md", code.to_uppercase())).exists(),
                    [module, inner] if folders.iter().any(|(folder, _)| folder == module) => {
                        let found = folders.iter().find(|(folder, _)| folder == module);
                        found.is_some_and(|(_, modules)| modules.contains(*inner))
                    }
                    [module, ..] => of_the_crate.contains(*module),
                };
                checked += 1;
                if !known {
                    broken.push(format!("{}:{}: {target}", file.display(), at + 1));
                }
            }
        }
    }
    assert!(checked > 300, "only {checked} addresses were found");
    assert!(
        broken.is_empty(),
        "addresses that the crate's documentation does not have:\n{}",
        broken.join("\n")
    );
}

/// Returns the trimmed cells of a table row.
fn cells(row: &str) -> Vec<&str> {
    let row = row.trim().trim_start_matches('|').trim_end_matches('|');
    row.split('|').map(str::trim).collect()
}

/// Returns the words in backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The folders with the code that the table of driver rules refers to.
const CODE: [&str; 2] = ["graph-runtime/src", "graph-sim/driver/src"];
/// The folders with the tests that it refers to.
const TESTS: [&str; 3] = ["tests", "graph-sim/tests", "graph-sim/driver/src"];

/// Returns the names that follow one of these words in the Rust files of these folders, white space aside.
fn names_after(words: &[&str], folders: &[&str]) -> BTreeSet<String> {
    let root = root();
    let texts = folders.iter().flat_map(|folder| files(&root.join(folder), "rs")).map(|file| read(&file));
    let mut found = BTreeSet::new();
    for text in texts {
        let rests = words.iter().flat_map(|word| text.split(word).skip(1)).map(str::trim_start);
        let name = |rest: &str| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        found.extend(rests.map(|rest| name(rest.strip_prefix("fn ").unwrap_or(rest))));
    }
    found
}

/// Returns the numbers of a cell: `7`, `25–39`.
fn numbers(cell: &str) -> Option<std::ops::RangeInclusive<usize>> {
    let (first, last) = cell.split_once('–').unwrap_or((cell, cell));
    Some(first.parse().ok()?..=last.parse().ok()?)
}

/// The table of driver rules has a row for each entry. It names the tests that show the entry, and the code.
#[test]
fn the_rules_name_tests_and_files_that_exist() {
    let root = root();
    let text = read(&root.join("docs/reference-rules.md"));
    let items = names_after(&["fn ", "struct ", "enum "], &CODE);
    let tests = names_after(&["#[test]\n"], &TESTS);
    let (mut named, mut wrong) = (0, Vec::new());
    let (mut entries, mut rows) = (0, 0);
    for (at, line) in text.lines().enumerate() {
        let mut fault = |what: String| wrong.push(format!("docs/reference-rules.md:{}: {what}", at + 1));
        if line.starts_with('#') {
            if entries != rows {
                fault(format!("{entries} entries, and a table of {rows} above"));
            }
            (entries, rows) = (0, 0);
        } else if line.split_once(". ").is_some_and(|(number, _)| number.parse() == Ok(entries + 1)) {
            entries += 1;
        }
        let [number, how, code, shown] = *cells(line).as_slice() else { continue };
        let Some(numbers) = numbers(number).filter(|_| line.starts_with('|')) else { continue };
        if *numbers.start() != rows + 1 {
            fault(format!("row {number} after row {rows}"));
        }
        rows = *numbers.end();
        let needs = ["check", "error", "call", "simulated"].iter().any(|word| how.contains(word));
        if needs && !how.contains("not called") && !shown.contains('`') && !shown.contains("as ") {
            fault(format!("row {number} names no test"));
        }
        // A file of tests, or the start of the names of several: `tests/ui/cw101_*`.
        let is_file = |test: &str| match test.rsplit_once('/') {
            Some((folder, name)) => fs::read_dir(root.join(folder)).is_ok_and(|entries| {
                let name = name.trim_end_matches('*');
                entries.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with(name))
            }),
            None => false,
        };
        for test in quoted(shown).filter(|test| !tests.contains(*test) && !is_file(test)) {
            fault(format!("no test `{test}`"));
        }
        for code in quoted(code) {
            let known = match code.ends_with(".rs") {
                true => ["."].iter().chain(&CODE).any(|place| root.join(place).join(code).exists()),
                false => code.split("::").all(|item| items.contains(item)),
            };
            if !known {
                fault(format!("no code `{code}`"));
            }
        }
        named += quoted(shown).chain(quoted(code)).count();
    }
    assert!(named > 150, "only {named} names were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the first time in a cell as written: `505.7` of `505.7 us by hand`.
fn time(cell: &str) -> Option<&str> {
    let (number, _) = cell.split_once(" us")?;
    let number = number.rsplit(' ').next()?;
    (!number.is_empty() && number.chars().all(|c| c.is_ascii_digit() || ".,".contains(c))).then_some(number)
}

/// Each pair of times in the README occurs in one row of a results table.
#[test]
fn the_times_of_the_readme_are_measured() {
    let root = root();
    let results: Vec<String> = pages(&root.join("benches/results")).iter().map(|page| read(page)).collect();
    let measured = |number: &str, row: &str| {
        let plain = number.replace(',', "");
        let cells = row.split(|c: char| !(c.is_ascii_digit() || ".,".contains(c)));
        cells.into_iter().any(|word| word == number || word == plain)
    };
    let readme = read(&root.join("README.md"));
    let rows = readme.lines().skip_while(|line| !line.starts_with("| work | other side |")).skip(2);
    let mut checked = 0;
    for row in rows.take_while(|line| line.starts_with('|')) {
        let [_, other, own, _] = *cells(row) else { panic!("a row of other columns: {row}") };
        let (Some(other), Some(own)) = (time(other), time(own)) else { panic!("a row without times: {row}") };
        let mut found = results.iter().flat_map(|page| page.lines()).filter(|line| line.starts_with('|'));
        assert!(
            found.any(|line| measured(other, line) && measured(own, line)),
            "no table of results has {row}"
        );
        checked += 1;
    }
    assert!(checked >= 8, "only {checked} rows were found");
}
