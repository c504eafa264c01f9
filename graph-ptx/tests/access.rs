//! The access proof against what the CUDA source of the corpus does, written by hand.

use cuweave_ptx::declare::{self, Declaration, Declared, Difference, Kind, Primitive};
use cuweave_ptx::poly::Poly;
use cuweave_ptx::{self as ptx, Access, Analysis, FloatFormat};
use std::collections::BTreeMap;
use std::path::PathBuf;

fn corpus() -> PathBuf {
    cuweave_testkit::files::root().join("tests/ptx-corpus")
}

/// Kernel to its parameters, one word each.
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
                // Parameters that are undecided on purpose are not counted.
                if word != "?" && word != "p" {
                    all += 1;
                    decided += u32::from(access != Access::Unknown);
                }
                let (kind, first) = (&word[..1], word.ends_with('f'));
                let right = match kind {
                    "n" => access == Access::Nothing,
                    "r" | "t" => access == Access::Reads,
                    "w" => access == Access::Writes,
                    "m" => access == Access::ReadsAndWrites,
                    "a" => access == Access::Atomics,
                    "p" => access == Access::ReadsAndWrites,
                    _ => access == Access::Unknown,
                };
                if access == Access::Unknown && kind == "p" {
                    continue;
                }
                if access == Access::Unknown && kind != "?" {
                    let cause = found.may_write.as_ref().unwrap();
                    eprintln!("{place}: not decided: {}: {}", cause.line, cause.text);
                } else if !right {
                    wrong.push(format!("{place}: expected {word}, found {access:?}: {found:?}"));
                }
                if found.reads_first.is_some() && !first && !matches!(kind, "r" | "t") {
                    wrong.push(format!("{place}: is read first: {:?}", found.reads_first));
                }
                if first && found.reads_first.is_none() && access != Access::Unknown {
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

/// True for a structure or a buffer with pointers in it, and for the handle of a texture.
fn holds_pointers(word: &str) -> bool {
    matches!(word, "b" | "t" | "h")
}

/// A declaration of a kernel from the words of `expected.txt`.
fn declaration(name: &str, words: &[String]) -> Declaration {
    let kind = |word: &String| match &word[..1] {
        "s" | "b" | "h" => Kind::Scalar(None),
        word => buffer(match word {
            "r" | "n" | "t" => declare::Access::Read,
            "w" => declare::Access::Write,
            "a" => declare::Access::Atomic,
            _ => declare::Access::ReadWrite,
        }),
    };
    let parameters = words.iter().enumerate().map(|(at, word)| Declared {
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

fn buffer(access: declare::Access) -> Kind {
    Kind::Buffer { access, element: None, extent: Poly::constant(1), text: "1".to_owned() }
}

/// Right declarations are accepted, all of a file at once; each wrong one is refused with its code at its parameter,
/// and nothing besides.
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
        // What holds pointers, or is a handle of memory, cannot be declared rightly.
        let wrong_anyway: Vec<usize> =
            words.iter().map(|(_, words)| words.iter().filter(|word| holds_pointers(word)).count()).collect();
        let (findings, _) = declare::check(&module, &right);
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
                    wrong.push((declare::Access::Read, Difference::ReadOnly));
                }
                if word.ends_with('f') || word == "r" {
                    wrong.push((declare::Access::Write, Difference::WriteOnly));
                }
                for (access, code) in wrong {
                    let mut declared = declaration(name, words);
                    declared.parameters[at].kind = buffer(access);
                    let (findings, _) = declare::check(&module, &[declared]);
                    let found: Vec<_> =
                        findings.iter().map(|finding| (finding.difference, finding.parameter)).collect();
                    // A read on some paths alone is vouched for.
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

/// Floats of the declared width are accepted everywhere, and of another width refused, at the parameter.
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
                    let primitive = Primitive::of(name).unwrap();
                    if let Kind::Buffer { element, .. } = &mut declared.parameters[at].kind {
                        *element = Some(primitive);
                    }
                    let (findings, _) = declare::check(&module, &[declared]);
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

/// Triton types its accesses by size alone: the arithmetic tells which floats they are.
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
                if let Kind::Buffer { element: of, .. } = &mut declared.parameters[at].kind {
                    *of = Primitive::of(element);
                }
                let (findings, _) = declare::check(&module, &[declared]);
                let refused = findings
                    .iter()
                    .any(|found| found.difference == Difference::Kind && found.parameter == Some(at));
                assert_eq!(refused, element.starts_with('f') && element != right, "{name} {at} {element}");
            }
        }
    }
}
