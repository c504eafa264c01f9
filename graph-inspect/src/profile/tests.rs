//! Tests of profiles with known times: the critical path, rows, and pictures of many statements.

use super::critical;
use super::types::{Entry, IterationStats, Member, Profile, TimeStats};
use cuweave_core::location::SourceLocation;

fn at(name: &str, line: u32) -> SourceLocation {
    SourceLocation::new(name, "src/model.rs", line)
}

/// An entry that takes `time` microseconds.
fn entry(name: &str, line: u32, time: f64, after: &[usize]) -> Entry {
    Entry {
        name: name.to_owned(),
        at: Some(at(name, line)),
        statement: "launch",
        node: "kernel",
        kernel: Some("kernel".to_owned()),
        launches: 2,
        time: TimeStats { mean: time, min: time, max: time },
        runs: 1.0,
        iterations: None,
        bytes: 1_000_000,
        critical: false,
        members: Vec::new(),
        body: None,
        after: after.to_vec(),
        start: 0.0,
    }
}

fn profile(mut entries: Vec<Entry>) -> Profile {
    critical::mark_critical_path(&mut entries);
    Profile {
        at: at("step", 1),
        launches: 2,
        simulated: false,
        total: TimeStats { mean: 8.0, min: 7.0, max: 9.0 },
        empty_kernel: 1.0,
        empty_pair: 0.5,
        entries,
    }
}

fn on_path(profile: &Profile) -> Vec<&str> {
    profile.entries.iter().filter(|entry| entry.critical).map(|entry| entry.name.as_str()).collect()
}

#[test]
fn the_longest_path_is_marked() {
    let profile = profile(vec![
        entry("a", 1, 1.0, &[]),
        entry("b", 2, 5.0, &[0]),
        entry("c", 3, 2.0, &[0]),
        entry("d", 4, 1.0, &[1, 2]),
        entry("alone", 5, 6.5, &[]),
    ]);
    assert_eq!(on_path(&profile), ["a", "b", "d"]);
    assert_eq!(
        profile.entries.iter().map(|entry| entry.start).collect::<Vec<_>>(),
        [0.0, 1.0, 1.0, 6.0, 0.0]
    );
    assert_eq!((profile.sum(), profile.critical_path()), (15.5, 7.0));
    let slowest: Vec<&str> = profile.slowest().iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(slowest, ["alone", "b", "c", "a", "d"]);
    assert_eq!(profile.entries[1].bandwidth(), Some(2e11));
    let text = profile.to_string();
    assert!(text.contains("the nodes in series    15.50 us   1.94 of a launch"), "{text}");
    assert!(text.contains("*  5.00 us  32.3%") && text.contains("   6.50 us  41.9%"), "{text}");
}

#[test]
fn bodies_have_paths_of_their_own() {
    let inside = |name: &str, time: f64, body: usize, after: &[usize]| Entry {
        body: Some(body),
        iterations: Some(IterationStats { mean: 3.0, min: 3, max: 3 }),
        ..entry(name, 9, time, after)
    };
    let condition =
        |name: &str, time: f64| Entry { node: "condition", statement: "while", ..entry(name, 8, time, &[]) };
    let profile = profile(vec![
        condition("long", 10.0),
        inside("one", 4.0, 0, &[]),
        inside("other", 3.0, 0, &[]),
        inside("last", 1.0, 0, &[1, 2]),
        condition("short", 9.0),
        inside("beside", 8.0, 4, &[]),
    ]);
    assert_eq!(on_path(&profile), ["long", "one", "last"]);
    // The conditional node's time includes that of its body.
    assert_eq!((profile.sum(), profile.critical_path()), (19.0, 10.0));
    assert_eq!(profile.entries[3].start, 4.0);
    let text = profile.to_string();
    let rows: Vec<&str> =
        text.lines().skip(6).filter_map(|line| line.split("kernel kernel").nth(1)).collect();
    assert!(rows[0].trim_start().starts_with("one  src/model.rs:9  3 iterations"), "{text}");
}

#[test]
fn the_slowest_iteration_is_named() {
    let mut entries: Vec<Entry> = (0..20).map(|i| entry(&format!("layers[{i}].up"), 7, 2.0, &[])).collect();
    entries[13].time.mean = 20.0;
    let text = profile(entries).to_string();
    assert_eq!(text.matches("layers").count(), 2, "{text}");
    assert!(text.contains("layers[..].up  src/model.rs:7  slowest: `layers[13].up`, 20.00 us"), "{text}");
}

#[test]
fn a_picture_of_many_statements_has_the_slowest_ones() {
    let mut entries: Vec<Entry> = Vec::new();
    for i in 0..334_usize {
        let before: Vec<usize> = i.checked_sub(1).into_iter().collect();
        entries.push(entry(&format!("<s{i}>"), 1, 1.0 + f64::from(u32::try_from(i % 97).unwrap()), &before));
    }
    entries[50].members = vec![
        Member { name: "first".to_owned(), at: at("first", 2), bytes: 1, share: 0.25, time: 12.75 },
        Member { name: "second".to_owned(), at: at("second", 3), bytes: 3, share: 0.75, time: 38.25 },
    ];
    let profile = profile(entries);
    let svg = profile.svg();
    assert!(svg.contains("&lt;s96&gt;") && !svg.contains("<s96>"));
    assert!(svg.contains("254 more rows, in all"), "{}", svg.len());
    assert_eq!(svg.matches("kernel kernel").count(), 80);
    let trace = profile.chrome_trace();
    assert_eq!(trace.matches("(estimated share)").count(), 4);
    assert!(!trace.contains("NaN") && !svg.contains("NaN"));
}

#[test]
fn nothing_is_drawn_of_no_nodes() {
    let profile = profile(Vec::new());
    assert_eq!((profile.sum(), profile.critical_path()), (0.0, 0.0));
    assert!(profile.svg().ends_with("</svg>\n") && !profile.svg().contains("NaN"));
    assert!(profile.chrome_trace().ends_with("]}\n") && profile.to_string().contains("the critical path"));
}
