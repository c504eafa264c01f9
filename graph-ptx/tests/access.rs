//! Compares the access proofs with a hand-written description of the corpus's CUDA source.

use cuweave_ptx::declare::{self, Declaration, DeclaredKind, DeclaredParameter, Difference, PrimitiveType};
use cuweave_ptx::poly::Poly;
use cuweave_ptx::{self as ptx, AccessClass, Analysis, FloatFormat};
use std::collections::BTreeMap;
use std::path::PathBuf;

fn corpus() -> PathBuf {
    cuweave_testkit::files::root().join("tests/ptx-corpus")
}

/// Returns the parameters of each kernel, one word per parameter.
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
            let pointers: Vec<bool> =
                words.iter().map(|word| !matches!(word.as_str(), "s" | "b" | "h")).collect();
            let kernel = analysis.kernel(entry.name, &pointers);
            for (at, word) in words.iter().enumerate() {
                let found = &kernel.parameters[at];
                let place = format!("{file}: {} {at}", entry.name);
                if matches!(word.as_str(), "s" | "b" | "h") {
                    if found.base.is_some() != (word == "b") {
                        wrong.push(format!("{place}: the base of an address: {:?}", found.base));
                    }
                    continue;
                }
                if found.table.is_some() != (word == "t") {
                    wrong.push(format!("{place}: a table of pointers: {:?}", found.table));
                }
                let access = found.access();
                // Deliberately undecided parameters are not counted.
                if word != "?" && word != "p" {
                    all += 1;
                    decided += u32::from(access != AccessClass::Unknown);
                }
                let (kind, first) = (&word[..1], word.ends_with('f'));
                let right = match kind {
                    "n" => access == AccessClass::Nothing,
                    "r" | "t" => access == AccessClass::Reads,
                    "w" => access == AccessClass::Writes,
                    "m" => access == AccessClass::ReadsAndWrites,
                    "a" => access == AccessClass::Atomics,
                    "p" => access == AccessClass::ReadsAndWrites,
                    _ => access == AccessClass::Unknown,
                };
                if access == AccessClass::Unknown && kind == "p" {
                    continue;
                }
                if access == AccessClass::Unknown && kind != "?" {
                    let cause = found.may_write.as_ref().unwrap();
                    eprintln!("{place}: not decided: {}: {}", cause.line, cause.text);
                } else if !right {
                    wrong.push(format!("{place}: expected {word}, found {access:?}: {found:?}"));
                }
                if found.reads_first.is_some() && !first && !matches!(kind, "r" | "t") {
                    wrong.push(format!("{place}: is read first: {:?}", found.reads_first));
                }
                if first && found.reads_first.is_none() && access != AccessClass::Unknown {
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

/// Returns true for a struct or buffer that contains pointers, and for a texture handle.
fn holds_pointers(word: &str) -> bool {
    matches!(word, "b" | "t" | "h")
}

/// Returns the declaration of a kernel from the words of `expected.txt`.
fn declaration(name: &str, words: &[String]) -> Declaration {
    let kind = |word: &String| match &word[..1] {
        "s" | "b" | "h" => DeclaredKind::Scalar(None),
        word => buffer(match word {
            "r" | "n" | "t" => declare::DeclaredAccess::Read,
            "w" => declare::DeclaredAccess::Write,
            "a" => declare::DeclaredAccess::Atomic,
            _ => declare::DeclaredAccess::ReadWrite,
        }),
    };
    let parameters = words.iter().enumerate().map(|(at, word)| DeclaredParameter {
        name: format!("p{at}"),
        kind: kind(word),
        nullable: false,
    });
    Declaration {
        name: name.to_owned(),
        parameters: parameters.collect(),
        rounded: Vec::new(),
        quotients: Vec::new(),
        tables: Vec::new(),
    }
}

fn buffer(access: declare::DeclaredAccess) -> DeclaredKind {
    DeclaredKind::Buffer {
        access,
        element: None,
        multimem: false,
        extent: Poly::constant(1),
        text: "1".to_owned(),
    }
}

/// Correct declarations are accepted, all of a file at once. Each wrong one is rejected with its code at its
/// parameter, and nothing else is reported.
#[test]
fn declarations_are_refused_exactly_where_they_are_wrong() {
    let expected = expected();
    let (mut accepted, mut refused) = (0, 0);
    for file in files() {
        let text = std::fs::read_to_string(&file).unwrap();
        let module = ptx::parse(&text).unwrap();
        let words: Vec<(&str, &Vec<String>)> =
            module.entries().map(|entry| (entry.name, &expected[entry.name])).collect();
        let right: Vec<Declaration> = words.iter().map(|(name, words)| declaration(name, words)).collect();
        // Kernels with pointers or handles inside of parameters cannot be declared correctly.
        let wrong_anyway: Vec<usize> =
            words.iter().map(|(_, words)| words.iter().filter(|word| holds_pointers(word)).count()).collect();
        let (findings, _) = declare::check(&module, &right, &[]);
        let unexpected: Vec<_> = findings
            .iter()
            .filter(|finding| {
                finding.difference != Difference::Kind || wrong_anyway[finding.kernel.unwrap()] == 0
            })
            .collect();
        assert!(unexpected.is_empty(), "{}: {unexpected:?}", file.display());
        accepted += right.len();
        for ((name, words), _) in words.iter().zip(&wrong_anyway).filter(|(_, wrong)| **wrong == 0) {
            for (at, word) in words.iter().enumerate() {
                let mut wrong = Vec::new();
                if matches!(word.as_str(), "w" | "m" | "mf" | "a" | "af") {
                    wrong.push((declare::DeclaredAccess::Read, Difference::ReadOnly));
                }
                if word.ends_with('f') || word == "r" {
                    wrong.push((declare::DeclaredAccess::Write, Difference::WriteOnly));
                }
                for (access, code) in wrong {
                    let mut declared = declaration(name, words);
                    declared.parameters[at].kind = buffer(access);
                    let (findings, _) = declare::check(&module, &[declared], &[]);
                    let found: Vec<_> =
                        findings.iter().map(|finding| (finding.difference, finding.parameter)).collect();
                    // A read on only some paths is assumed, not refuted.
                    if word == "r" && found.is_empty() {
                        continue;
                    }
                    assert_eq!(found, [(code, Some(at))], "{}: {name} {at}", file.display());
                    refused += 1;
                }
            }
        }
    }
    println!("{accepted} declarations accepted, {refused} wrong ones refused");
    assert!(accepted >= 160 && refused >= 430, "{accepted} accepted, {refused} refused");
}

/// Floats of the declared width are accepted everywhere; other widths are rejected at the parameter.
#[test]
fn floats_of_another_width_are_refused() {
    let expected = expected();
    let (mut right, mut wrong) = (0, 0);
    for file in files() {
        let text = std::fs::read_to_string(&file).unwrap();
        let module = ptx::parse(&text).unwrap();
        let mut analysis = Analysis::new(&module);
        for entry in module.entries() {
            let words = &expected[entry.name];
            if words.iter().any(|word| holds_pointers(word)) {
                continue;
            }
            let pointers: Vec<bool> = words.iter().map(|word| word != "s").collect();
            let kernel = analysis.kernel(entry.name, &pointers);
            for (at, found) in kernel.parameters.iter().enumerate().filter(|(at, _)| pointers[*at]) {
                let formats: Vec<FloatFormat> = found.floats.iter().map(|(format, _)| *format).collect();
                assert!(formats.len() <= 1, "{}: {} {at}: {:?}", file.display(), entry.name, found.floats);
                for name in ["f16", "bf16", "f32", "f64", "u32"] {
                    let mut declared = declaration(entry.name, words);
                    let primitive = PrimitiveType::from_name(name).unwrap();
                    if let DeclaredKind::Buffer { element, .. } = &mut declared.parameters[at].kind {
                        *element = Some(primitive);
                    }
                    let (findings, _) = declare::check(&module, &[declared], &[]);
                    let codes: Vec<_> = findings
                        .iter()
                        .filter(|finding| finding.difference != Difference::Extent)
                        .map(|finding| (finding.difference, finding.parameter))
                        .collect();
                    let refused = primitive.float.is_some()
                        && formats.iter().any(|found| primitive.float != Some(*found));
                    let place = format!("{}: {} {at}: {name}", file.display(), entry.name);
                    match refused {
                        true => assert_eq!(codes, [(Difference::Kind, Some(at))], "{place}"),
                        false => assert_eq!(codes, [], "{place}"),
                    }
                    right += usize::from(!refused);
                    wrong += usize::from(refused);
                }
            }
        }
    }
    println!("{right} right and {wrong} wrong element types");
    assert!(right > 1000 && wrong > 500, "{right} right, {wrong} wrong");
}

/// Triton types its accesses by size only: the arithmetic shows the float format.
#[test]
fn bits_that_are_used_as_floats_are_floats() {
    let kernels = [
        ("triton_add", vec![(0, "f32"), (1, "f32"), (2, "f32")]),
        ("triton_scale", vec![(0, "f16")]),
        ("triton_softmax", vec![(0, "f32"), (1, "f32")]),
        ("triton_layer_norm", vec![(0, "f32"), (1, "f32"), (2, "f32"), (3, "f32")]),
        ("triton_maximum", vec![(0, "f32"), (1, "f32")]),
    ];
    for (name, pointers) in kernels {
        let text = std::fs::read_to_string(corpus().join(format!("triton/{name}.90.ptx"))).unwrap();
        let module = ptx::parse(&text).unwrap();
        for &(at, right) in &pointers {
            for element in ["f16", "f32", "f64", "u8", "u32"] {
                let mut declared = declaration(name, &expected()[name]);
                if let DeclaredKind::Buffer { element: of, .. } = &mut declared.parameters[at].kind {
                    *of = PrimitiveType::from_name(element);
                }
                let (findings, _) = declare::check(&module, &[declared], &[]);
                let refused = findings
                    .iter()
                    .any(|found| found.difference == Difference::Kind && found.parameter == Some(at));
                assert_eq!(refused, element.starts_with('f') && element != right, "{name} {at} {element}");
            }
        }
    }
}
