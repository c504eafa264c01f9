//! Sets the library's SONAME, computes the nonce that matches the library with the crate `cuweave-sim`, and
//! generates the symbol tables: the version and address of each symbol, and an error stub for each symbol without
//! an implementation.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            sources(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// FNV-1a. The hash tells builds apart; it need not be secure.
fn hash(mut state: u64, bytes: &[u8]) -> u64 {
    for &byte in bytes {
        state = (state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    state
}

/// Returns the names of the functions that the sources define, each on a line as `Kind fn name(`.
fn implemented(text: &str) -> BTreeSet<String> {
    let kinds = ["Call fn ", "Release fn ", "Basic fn ", "Query fn "];
    let rest =
        text.lines().filter_map(|line| kinds.iter().find_map(|kind| line.trim_start().strip_prefix(kind)));
    rest.filter_map(|rest| rest.split_once('(')).map(|(name, _)| name.to_owned()).collect()
}

fn main() {
    println!("cargo::rerun-if-changed=src");
    println!("cargo::rerun-if-changed=symbols.txt");
    println!("cargo::rerun-if-changed=build.rs");
    if env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libcuda.so");
    }

    let mut files = Vec::new();
    sources(Path::new("src"), &mut files);
    let mut nonce = 0xcbf2_9ce4_8422_2325;
    let mut defined = BTreeSet::new();
    for file in &files {
        let text = fs::read_to_string(file).unwrap_or_default();
        nonce = hash(nonce, text.as_bytes());
        if file.components().any(|part| part.as_os_str() == "abi") {
            defined.append(&mut implemented(&text));
        }
    }
    nonce = hash_settings(nonce);
    let folder = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    // Builds of the same source in different target folders must differ.
    nonce = hash(nonce, folder.as_os_str().as_encoded_bytes());
    println!("cargo::rustc-env=CUWEAVE_SIM_NONCE={nonce:016x}");
    println!("cargo::rustc-env=CUWEAVE_SIM_OPT_LEVEL={}", env::var("OPT_LEVEL").unwrap_or_default());
    println!("cargo::metadata=nonce={nonce:016x}");

    write_symbols(&folder, &defined);
}

/// Adds the compiler and the build settings to a hash.
fn hash_settings(mut nonce: u64) -> u64 {
    for variable in ["CARGO_PKG_VERSION", "TARGET", "OPT_LEVEL", "RUSTC", "PROFILE", "DEBUG"] {
        nonce = hash(nonce, env::var(variable).unwrap_or_default().as_bytes());
    }
    let rustc = std::process::Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
        .arg("-vV")
        .output();
    hash(nonce, &rustc.map(|output| output.stdout).unwrap_or_default())
}

/// Writes the symbol tables, and an error stub for each symbol that is not in `defined`.
fn write_symbols(folder: &Path, defined: &BTreeSet<String>) {
    let symbols = fs::read_to_string("symbols.txt").unwrap_or_default();
    let mut known: Vec<(&str, &str)> = symbols.lines().filter_map(|line| line.split_once(' ')).collect();
    let listed: BTreeSet<&str> = known.iter().map(|symbol| symbol.0).collect();
    known.extend(
        defined.iter().filter(|name| !listed.contains(name.as_str())).map(|name| (name.as_str(), "11.4")),
    );
    known.sort();
    let mut versions = String::from(
        "/// Every symbol of the driver interface and the first CUDA version that has it, sorted by name.\n\
         static VERSIONS: &[(&str, (u32, u32))] = &[\n",
    );
    let mut code = String::from(
        "/// Every symbol of the driver interface, sorted by name.\npub static SYMBOLS: &[Symbol] = &[\n",
    );
    for (name, version) in &known {
        if name.starts_with("cu") && !name.starts_with("cuweave") {
            let version = version.replace('.', ", ");
            let _ = writeln!(versions, "    ({name:?}, ({version})),");
            let path = if defined.contains(*name) { "crate::abi" } else { "refused" };
            // Casts through a pointer, because the signatures differ. The table only returns the address.
            let _ = writeln!(
                code,
                "    Symbol {{ name: {name:?}, first: ({version}), address: unsafe {{ std::mem::transmute::<*const \
                 (), unsafe extern \"C\" fn()>({path}::{name} as *const ()) }} }},"
            );
        }
    }
    versions.push_str("];\n");
    code.push_str("];\n\n/// The calls that have no implementation.\npub mod refused {\n");
    for (name, _) in known.iter().filter(|symbol| !defined.contains(symbol.0)) {
        let _ = writeln!(
            code,
            "    #[allow(non_snake_case, missing_docs)]\n    #[unsafe(no_mangle)]\n    \
             pub extern \"C\" fn {name}() -> u32 {{ super::unsupported({name:?}) }}"
        );
    }
    code.push_str("}\n");
    fs::write(folder.join("versions.rs"), versions).expect("the build folder can be written");
    fs::write(folder.join("symbols.rs"), code).expect("the build folder can be written");
}
