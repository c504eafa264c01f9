//! Compares the proofs of declared elements with the types in the corpus's CUDA and Triton sources.

use cuweave_ptx::declare::{
    self, Declaration, DeclaredAccess, DeclaredKind, DeclaredParameter, DeclaredPart, PrimitiveType,
};
use cuweave_ptx::poly::Poly;
use cuweave_ptx::{self as ptx, Analysis};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/ptx-corpus")
}

/// Returns the Rust name of a CUDA type; for a vector, that of its element.
fn rust(cuda: &str) -> Option<&'static str> {
    Some(match cuda {
        "float" | "float2" | "float4" => "f32",
        "double" | "double2" => "f64",
        "half" | "__half" | "half2" | "__half2" => "f16",
        "__nv_bfloat16" | "__nv_bfloat162" => "bf16",
        "int" | "int2" | "int4" => "i32",
        "unsigned" | "unsigned int" | "uint2" | "uint4" | "uint32_t" => "u32",
        "unsigned char" | "uchar4" | "uint8_t" => "u8",
        "char" | "signed char" | "int8_t" => "i8",
        "unsigned short" => "u16",
        "short" => "i16",
        "bool" => "bool",
        "long long" => "i64",
        "unsigned long long" | "size_t" | "uint64_t" => "u64",
        _ => return None,
    })
}

/// Returns the element types of each kernel's parameters; `None` unless it is a pointer to a type that Rust has.
fn elements() -> BTreeMap<String, Vec<Option<&'static str>>> {
    let mut all = BTreeMap::new();
    for file in std::fs::read_dir(corpus()).unwrap().map(|file| file.unwrap().path()) {
        if file.extension().is_none_or(|extension| extension != "cu") {
            continue;
        }
        let text = std::fs::read_to_string(&file).unwrap();
        for part in text.split("__global__").skip(1) {
            let (head, rest) = part.split_once('(').unwrap();
            // Skips `__launch_bounds__(256)` before a name.
            let (head, rest) = match head.contains("__launch_bounds__") {
                true => rest.split_once(')').unwrap().1.split_once('(').unwrap(),
                false => (head, rest),
            };
            let name = head.split_whitespace().last().unwrap();
            let parameters = rest.split_once(") {").unwrap().0;
            let element = |parameter: &str| {
                let (ty, _) = parameter.split_once('*').filter(|(_, rest)| !rest.contains('*'))?;
                let words = ty.split_whitespace().filter(|word| !matches!(*word, "const" | "volatile"));
                rust(&words.collect::<Vec<_>>().join(" "))
            };
            all.insert(name.to_owned(), parameters.split(',').map(element).collect());
        }
    }
    let triton = [
        ("triton_add", vec![Some("f32"); 3]),
        ("triton_scale", vec![Some("f16")]),
        ("triton_softmax", vec![Some("f32"); 2]),
        ("triton_histogram", vec![Some("i32"); 2]),
        ("triton_matmul", vec![Some("f16"), Some("f16"), Some("f32")]),
        ("triton_layer_norm", vec![Some("f32"); 4]),
        ("triton_cumsum", vec![Some("i32"); 2]),
        ("triton_transpose", vec![Some("f32"); 2]),
        ("triton_gather", vec![Some("f64"), Some("i64"), Some("f64")]),
        ("triton_maximum", vec![Some("f32"); 2]),
    ];
    all.extend(triton.map(|(name, elements)| (name.to_owned(), elements)));
    all
}

fn declared(name: &str, parameters: usize, elements: &[Option<&str>]) -> Declaration {
    let parameters = (0..parameters).map(|at| {
        let kind = match elements.get(at).copied().flatten() {
            None => DeclaredKind::Scalar(None),
            // Large enough for all accesses.
            Some(element) => DeclaredKind::Buffer {
                access: DeclaredAccess::ReadWrite,
                element: PrimitiveType::from_name(element),
                multimem: false,
                extent: Poly::variable(1000),
                text: "many".to_owned(),
            },
        };
        DeclaredParameter { name: format!("p{at}"), kind, nullable: false }
    });
    Declaration {
        name: name.to_owned(),
        parameters: parameters.collect(),
        rounded: Vec::new(),
        quotients: Vec::new(),
        tables: Vec::new(),
    }
}

/// The types with which each parameter is declared, besides its own.
const OTHERS: [&str; 8] = ["f32", "f64", "f16", "bf16", "u8", "u16", "u32", "bool"];

/// A parameter with a declared type, and the result.
struct Found {
    place: String,
    is: &'static str,
    declared: &'static str,
    refused: bool,
    open: Option<String>,
}

/// Declares the kernels of a file, one parameter after the other in each type.
fn found(file: &Path, elements: &BTreeMap<String, Vec<Option<&'static str>>>) -> Vec<Found> {
    let text = std::fs::read_to_string(file).unwrap();
    let module = ptx::parse(&text).unwrap();
    let mut analysis = Analysis::new(&module);
    let (mut declarations, mut about) = (Vec::new(), Vec::new());
    for entry in module.entries() {
        let Some(right) = elements.get(entry.name) else { continue };
        let count = entry.parameters.len();
        let pointers: Vec<bool> = (0..count).map(|at| right.get(at).is_some_and(Option::is_some)).collect();
        let facts = analysis.kernel(entry.name, &pointers);
        for at in (0..count).filter(|&at| facts.parameters[at].access() != ptx::AccessClass::Nothing) {
            let Some(is) = right.get(at).copied().flatten() else { continue };
            let same = |other: &str| PrimitiveType::from_name(other) == PrimitiveType::from_name(is);
            for other in OTHERS.into_iter().filter(|other| !same(other)).chain([is]) {
                let mut elements = right.clone();
                elements[at] = Some(other);
                declarations.push(declared(entry.name, count, &elements));
                about.push((at, entry.name, is, other));
            }
        }
    }
    let (findings, checked) = declare::check(&module, &declarations, &[]);
    let results = about.into_iter().zip(checked).enumerate();
    results
        .map(|(nth, ((at, name, is, declared), checked))| {
            let refused =
                findings.iter().any(|finding| (finding.kernel, finding.parameter) == (Some(nth), Some(at)));
            let proof = checked.unwrap().proofs[at].take();
            let open = proof.and_then(|proof| {
                proof.unproved.into_iter().find(|open| open.what == DeclaredPart::Elements)
            });
            let place = format!("{} {name} {at}", file.file_stem().unwrap().display());
            Found { place, is, declared, refused, open: open.map(|open| open.reason) }
        })
        .collect()
}

/// Correct types are confirmed, except for accesses meant to have another type. Wrong types are not confirmed unless
/// the bits are only copied or taken apart.
#[test]
fn elements_are_confirmed_where_they_are_those_of_the_source() {
    let elements = elements();
    let (mut confirmed, mut open, mut wrong) = (0, Vec::new(), BTreeMap::new());
    for folder in ["nvrtc", "triton", "rewrite"] {
        for file in std::fs::read_dir(corpus().join(folder)).unwrap().map(|file| file.unwrap().path()) {
            if file.extension().is_none_or(|extension| extension != "ptx") {
                continue;
            }
            for found in found(&file, &elements) {
                if found.is == found.declared {
                    assert!(!found.refused, "{} {}", found.place, found.is);
                    match found.open {
                        Some(reason) => open.push(format!("{} {}: {reason}", found.place, found.is)),
                        None => confirmed += 1,
                    }
                    continue;
                }
                let entry: &mut (usize, Vec<String>) = wrong.entry((found.is, found.declared)).or_default();
                entry.0 += 1;
                if !found.refused && found.open.is_none() {
                    entry.1.push(found.place);
                }
            }
        }
    }
    println!("{confirmed} confirmed, {} open:\n{}", open.len(), open.join("\n"));
    // Integers that represent floats in atomics, and a pointer kept in shared memory.
    let meant = |line: &String| {
        ["atomic_cas_add", "atomic_max_float", "through_shared"].iter().any(|name| line.contains(name))
    };
    assert!(open.iter().all(meant) && confirmed >= 390, "{open:?}");
    for ((is, other), (all, missed)) in &wrong {
        println!("{is} as {other}: {} of {all} not found", missed.len());
        let copied = missed.len() * 100 <= all * most_copied(is, other);
        assert!(copied, "{is} as {other}: {} of {all} not found: {missed:?}", missed.len());
    }
}

/// Returns the maximum percentage of accesses that only copy bits or take them apart, so that both types fit.
fn most_copied(is: &str, other: &str) -> usize {
    let (is, other) = (PrimitiveType::from_name(is).unwrap(), PrimitiveType::from_name(other).unwrap());
    match (is.float.is_some(), other.float.is_some()) {
        _ if other.size > is.size => 10,
        // Only arithmetic distinguishes bytes from larger elements, and booleans that are read.
        (false, false) => 75,
        (true, _) => 20,
        (false, true) => 35,
    }
}
