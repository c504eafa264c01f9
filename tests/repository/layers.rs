//! Checks the import graph of each crate: modules must not form cycles, and rooms are only imported from above.
//! Also checks the length of files.
//!
//! Imports are read as text, outside of test modules: paths that begin with `crate`, `self`, `super` or the name of
//! a child module. A name that is not a module counts as the module that it is imported from, even if that module
//! only re-exports it. So modules import from the module that defines a name, and a parent module defines nothing
//! that its children use.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The crates and their rooms, from the lowest layer up. A room only imports rooms before it. A crate without rooms
/// is only checked for cycles.
const CRATES: [(&str, &[&str]); 10] = [
    (
        "graph-check/src",
        &["certificate", "text", "spans", "refusal", "order", "form", "check", "memory", "registers"],
    ),
    (
        "graph-ptx/src",
        &["nearest", "poly", "isa", "syntax", "coverage", "analysis", "declare", "report", "rewrite"],
    ),
    (
        "graph-core/src",
        &[
            "index",
            "bits",
            "rows",
            "spans",
            "ids",
            "condition",
            "kind",
            "structure",
            "ir",
            "location",
            "codes",
            "diagnostic",
            "paths",
            "reach",
            "bounds",
            "table",
            "scopes",
            "order",
            "check",
            "sample",
            "expand",
            "launches",
            "picture",
            "plan",
            "place",
            "operation",
            "settable_bounds",
            "flattened",
            "layout",
            "emit",
            "overlap",
            "dump",
            "compile",
        ],
    ),
    (
        "graph-inspect/src",
        &[
            "folding",
            "subject",
            "unbatched",
            "unfused",
            "explainer",
            "report",
            "grouped",
            "brief",
            "text",
            "lists",
            "profile",
            "drawing",
        ],
    ),
    (
        "graph-runtime/src",
        &[
            "cuda",
            "waits",
            "watch",
            "ranges",
            "error",
            "context",
            "token",
            "pool",
            "bind",
            "kernels",
            "statements",
            "build",
            "certificate",
            "exec",
            "builder",
            "lift",
        ],
    ),
    (
        "graph-macros/src",
        &[
            "prelude_words",
            "implicit_prelude",
            "expanded_names",
            "dims",
            "substitution",
            "report",
            "expression_limit",
            "kernel_file",
            "parameters",
            "variables",
            "proof",
            "kernels",
            "graph",
            "record",
        ],
    ),
    ("src", &[]),
    ("graph-sim/src", &["driver", "error", "find", "real", "simulator"]),
    (
        "graph-sim/driver/src",
        &["base", "interp", "memory", "state", "work", "check", "graph", "stream", "call", "abi"],
    ),
    (
        "testkit/src",
        &[
            "random", "multimem", "files", "process", "programs", "raw", "stand_in", "device", "faults",
            "timeline", "traces",
        ],
    ),
];

/// The path of a module from the root of its crate.
type Module = Vec<String>;

#[test]
fn modules_import_downwards() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut faults = Vec::new();
    for (folder, rooms) in CRATES {
        let graph = imports(&root.join(folder));
        assert!(graph.values().any(|imported| !imported.is_empty()), "{folder} has imports");
        faults.extend(cycle(&graph).map(|text| format!("{folder}: {text}")));
        faults.extend(upward(&graph, rooms).into_iter().map(|text| format!("{folder}: {text}")));
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn the_picture_of_the_architecture_has_these_rooms() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("ARCHITECTURE.md"))
        .expect("a description of the architecture");
    // Names of features appear in the list of the core's rooms.
    let words = text.split_whitespace().filter(|word| !["feature", "`back`"].contains(word));
    let picture: Vec<&str> = words.collect();
    let picture = picture.join(" ");
    for (folder, rooms) in
        CRATES.iter().filter(|(folder, _)| !["graph-sim/src", "testkit/src"].contains(folder))
    {
        let row = rooms.iter().rev().copied().collect::<Vec<_>>().join(" > ");
        assert!(picture.contains(&row), "ARCHITECTURE.md does not draw the rooms of {folder}: {row}");
    }
}

/// Returns the paths that a text in backticks names; `a/{b,c}.rs` is two paths. Empty if the text is not a path or
/// has a placeholder.
fn named_paths(quoted: &str) -> Vec<String> {
    let is_path =
        quoted.contains('/') || [".rs", ".md", ".txt", ".cu"].iter().any(|end| quoted.ends_with(end));
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-{},".contains(c);
    if !is_path || !quoted.chars().all(is_plain) || quoted.contains("nnn") {
        return Vec::new();
    }
    let Some((before, rest)) = quoted.split_once('{') else { return vec![quoted.to_owned()] };
    let (names, behind) = rest.split_once('}').expect("a closed list");
    names.split(',').map(|name| format!("{before}{name}{behind}")).collect()
}

#[test]
fn the_files_that_contributors_are_told_of_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut checked, mut missing) = (0, Vec::new());
    for page in ["ARCHITECTURE.md", "CONTRIBUTING.md"] {
        let text = std::fs::read_to_string(root.join(page)).expect("a page");
        let prose: String = text.split("```").step_by(2).collect();
        for path in prose.split('`').skip(1).step_by(2).flat_map(named_paths) {
            checked += 1;
            // Build outputs.
            if path.starts_with("target/") {
                continue;
            }
            let roots = ["", "graph-core/src", "graph-runtime/src"];
            if !roots.iter().any(|below| root.join(below).join(&path).exists()) {
                missing.push(format!("{page}: {path}"));
            }
        }
    }
    assert!(checked > 150, "only {checked} paths were found");
    assert!(missing.is_empty(), "files that do not exist:\n{}", missing.join("\n"));
    let text = std::fs::read_to_string(root.join("ARCHITECTURE.md")).expect("a page");
    let widest = text.lines().map(|line| line.chars().count()).max();
    assert!(text.lines().count() <= 126 && widest <= Some(120), "ARCHITECTURE.md is two pages");
}

#[test]
fn no_source_is_too_long() {
    const MOST: usize = 600;
    let mut files = Vec::new();
    sources(Path::new(env!("CARGO_MANIFEST_DIR")), &mut files);
    assert!(files.len() > 1000, "only {} sources were found", files.len());
    let lines = |path: &PathBuf| std::fs::read_to_string(path).expect("a source file").lines().count();
    let long: Vec<String> = files
        .iter()
        .map(|path| (path, lines(path)))
        .filter(|&(_, lines)| lines > MOST)
        .map(|(path, lines)| format!("{}: {lines} lines", path.display()))
        .collect();
    assert!(long.is_empty(), "files of more than {MOST} lines:\n{}", long.join("\n"));
}

/// Adds the Rust sources below a folder, except in hidden folders and build outputs.
fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            sources(&path, files);
        } else if name.ends_with(".rs") {
            files.push(path);
        }
    }
}

/// Returns the modules that each module of a folder imports.
fn imports(folder: &Path) -> BTreeMap<Module, BTreeSet<Module>> {
    let mut files = Vec::new();
    collect(folder, &mut files);
    let modules: BTreeMap<Module, PathBuf> =
        files.into_iter().map(|file| (module_of(folder, &file), file)).collect();
    let resolve = |path: &[String]| {
        (0..=path.len()).rev().map(|end| path[..end].to_vec()).find(|prefix| modules.contains_key(prefix))
    };
    let imported = |(module, file): (&Module, &PathBuf)| {
        let text = std::fs::read_to_string(file).expect("a source file");
        let paths = paths(&text, module);
        let found: BTreeSet<Module> =
            paths.iter().filter_map(|path| resolve(path)).filter(|other| other != module).collect();
        (module.clone(), found)
    };
    modules.iter().map(imported).collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            collect(&path, files);
        } else if name.ends_with(".rs") && name != "tests.rs" {
            files.push(path);
        }
    }
}

fn module_of(folder: &Path, file: &Path) -> Module {
    let relative = file.strip_prefix(folder).expect("a file of the folder").with_extension("");
    let parts = relative.components().map(|part| part.as_os_str().to_string_lossy().into_owned());
    let mut module: Module = parts.collect();
    if module.last().is_some_and(|last| last == "mod" || last == "lib") {
        module.pop();
    }
    module
}

/// Returns the paths in a source, from the root of its crate. Each path ends at its last name or at its braces.
fn paths(text: &str, module: &Module) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let inline = text
        .match_indices("#[cfg(test)]\nmod ")
        .find(|(at, _)| text[*at..].lines().nth(1).is_some_and(|line| line.ends_with('{')));
    let end = inline.map_or(text.len(), |(at, _)| at);
    let code =
        text[..end].lines().map(|line| line.split("//").next().unwrap_or("")).collect::<Vec<_>>().join("\n");
    let code = unquoted(&code);
    let children = code.lines().filter_map(|line| {
        let line = line
            .trim_start_matches("pub ")
            .trim_start_matches("pub(crate) ")
            .trim_start_matches("pub(super) ");
        line.strip_prefix("mod ")?.strip_suffix(';').map(|name| format!("{name}::"))
    });
    let words: Vec<String> =
        ["crate::", "super::", "self::"].map(str::to_owned).into_iter().chain(children).collect();
    for (start, first) in words
        .iter()
        .flat_map(|word| code.match_indices(word.as_str()).collect::<Vec<_>>())
        .filter(|(at, _)| !code[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':'))
    {
        let mut base = if first == "crate::" { Vec::new() } else { module.clone() };
        let is_child = !["crate::", "super::", "self::"].contains(&first);
        let mut rest = &code[if is_child { start } else { start + first.len() }..];
        if first == "super::" {
            base.pop();
            while let Some(next) = rest.strip_prefix("super::") {
                base.pop();
                rest = next;
            }
        }
        expand(&base, rest, &mut found);
    }
    found
}

/// Removes the contents of `quote! { .. }` from a source, which name paths of other crates.
fn unquoted(code: &str) -> String {
    let mut kept = String::new();
    let mut rest = code;
    while let Some(at) = ["quote! {", "quote!(", "quote_spanned! {", "quote_spanned!("]
        .iter()
        .filter_map(|start| rest.find(start).map(|at| at + start.len()))
        .min()
    {
        kept.push_str(&rest[..at]);
        let mut depth = 1;
        let end = rest[at..].find(|c: char| {
            depth += i32::from("([{".contains(c)) - i32::from(")]}".contains(c));
            depth == 0
        });
        rest = &rest[end.map_or(rest.len(), |end| at + end)..];
    }
    kept.push_str(rest);
    kept
}

/// Adds the paths of an import tree, or of a path in an expression.
fn expand(base: &[String], text: &str, found: &mut Vec<Vec<String>>) {
    let name: String = text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    let rest = text[name.len()..].trim_start();
    let mut path = base.to_vec();
    if !name.is_empty() && name != "self" {
        path.push(name);
    }
    if let Some(rest) = rest.strip_prefix("::") {
        return expand(&path, rest.trim_start(), found);
    }
    if let Some(list) = rest.strip_prefix('{').filter(|_| text.starts_with('{')) {
        let mut depth = 0;
        let mut start = 0;
        for (at, c) in list.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => {
                    expand(&path, list[start..at].trim(), found);
                    return;
                }
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    expand(&path, list[start..at].trim(), found);
                    start = at + 1;
                }
                _ => {}
            }
        }
    }
    found.push(path);
}

/// Returns the imports that are part of a cycle: those whose target reaches the importing module.
fn cycle(graph: &BTreeMap<Module, BTreeSet<Module>>) -> Option<String> {
    let reaches = |from: &Module, to: &Module| {
        let mut seen = BTreeSet::from([from]);
        let mut next = vec![from];
        while let Some(module) = next.pop() {
            if module == to {
                return true;
            }
            next.extend(graph[module].iter().filter(|other| seen.insert(other)));
        }
        false
    };
    let edges = graph.iter().flat_map(|(from, imported)| imported.iter().map(move |to| (from, to)));
    let on_cycle = edges
        .filter(|(from, to)| reaches(to, from))
        .map(|(from, to)| format!("{} -> {}", from.join("::"), to.join("::")));
    let on_cycle: Vec<String> = on_cycle.collect();
    (!on_cycle.is_empty()).then(|| format!("cycles:\n  {}", on_cycle.join("\n  ")))
}

/// Returns imports of a room from a higher layer, and modules without a room.
fn upward(graph: &BTreeMap<Module, BTreeSet<Module>>, rooms: &[&str]) -> Vec<String> {
    if rooms.is_empty() {
        return Vec::new();
    }
    let floor =
        |module: &Module| rooms.iter().position(|room| module.first().is_some_and(|first| first == room));
    let mut faults = Vec::new();
    for (module, imported) in graph.iter().filter(|(module, _)| !module.is_empty()) {
        let Some(own) = floor(module) else {
            faults.push(format!("{} stands in no room", module.join("::")));
            continue;
        };
        let above = imported.iter().filter(|other| floor(other).is_none_or(|floor| floor > own));
        faults.extend(
            above.map(|other| format!("{} imports {} above it", module.join("::"), other.join("::"))),
        );
    }
    faults
}

#[test]
fn imports_from_a_higher_floor_are_found() {
    let module = |path: &str| -> Module { path.split("::").map(str::to_owned).collect() };
    let graph = BTreeMap::from([
        (module("cuda::entry"), BTreeSet::from([module("exec")])),
        (module("exec"), BTreeSet::from([module("cuda::entry")])),
        (module("stray"), BTreeSet::new()),
    ]);
    let faults = upward(&graph, &["cuda", "exec"]);
    assert_eq!(faults, ["cuda::entry imports exec above it", "stray stands in no room"]);
}

#[test]
fn trees_of_imports_are_read() {
    let module = vec!["a".to_owned(), "b".to_owned()];
    let text = "use super::{c::{self, D}, e};\nuse crate::f::g;\nlet x = self::h::i(); // crate::no\n";
    let paths: Vec<String> = paths(text, &module).iter().map(|path| path.join("::")).collect();
    assert_eq!(paths, ["f::g", "a::c", "a::c::D", "a::e", "a::b::h::i"]);
}
