//! Generates the crate that declares the entries of many files and launches each in a graph.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;

use super::entries::{Entry, Kind, Parameter};
use super::sizes::Size;

/// The size of each buffer in bytes.
pub const BYTES: u64 = 1 << 17;

/// A file, its entries, and their launches.
pub struct File {
    pub path: PathBuf,
    /// Its path in the repository.
    pub short: String,
    pub entries: Vec<(Entry, Size)>,
}

/// Returns the manifest of the crate. Profiles and features of other crates are those of this workspace, so that cargo
/// finds them compiled in the same target folder. It compiles this workspace's crates again, without optimisation.
pub fn manifest(root: &str) -> String {
    let members = ["", "-check", "-core", "-inspect", "-macros", "-runtime"];
    let profiles =
        members.map(|name| format!("[profile.dev.package.cuweave{name}]\ndebug = \"line-tables-only\"\n"));
    format!(
        "[package]\nname = \"corpus\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies]\ncuweave = {{ path = {root:?} }}\n\
         cudarc = {{ version = \"0.19\", default-features = false, features = [\"cufft\"] }}\n\n\
         [profile.dev]\ndebug = \"line-tables-only\"\n[profile.dev.package.\"*\"]\ndebug = false\n{}\
         [profile.dev.package.cuweave-ptx]\nopt-level = 2\ndebug = \"line-tables-only\"\n",
        profiles.concat()
    )
}

/// The root file of the crate without its modules: the helpers for launches, and the loop over all launches.
const MAIN: &str = r#"
use std::error::Error;
use std::sync::Arc;

use cuweave::cudarc::driver::{CudaContext, CudaSlice, CudaStream, DeviceRepr, ValidAsZeroBits};

pub struct Device {
    pub ctx: Arc<CudaContext>,
    pub stream: Arc<CudaStream>,
}

impl Device {
    pub fn buffer<T: DeviceRepr + ValidAsZeroBits>(&self, len: usize, value: impl Fn(usize) -> T) -> Result<CudaSlice<T>, Box<dyn Error>> {
        let values: Vec<T> = (0..len).map(value).collect();
        Ok(self.stream.clone_htod(&values)?)
    }
}

/// Launches the entries from the given number on, and prints the outcome of each. The first that breaks the context is
/// the last.
fn main() {
    let first: usize = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(0);
    let ctx = cuweave::context(0).expect("a context");
    let stream = ctx.new_stream().expect("a stream");
    let device = Device { ctx, stream };
    for (at, (name, launch)) in ALL.iter().enumerate().skip(first) {
        eprintln!("launch {at} {name}");
        match launch(&device) {
            Ok(()) => eprintln!("done {at}"),
            Err(error) => eprintln!("failed {at} {}", error.to_string().replace('\n', " ")),
        }
        if device.stream.synchronize().is_err() {
            eprintln!("broken {at}");
            return;
        }
    }
    eprintln!("end");
}
"#;

/// Returns the sources of the crate, as files below `src`. Each PTX file has its own module, so that they compile
/// in parallel.
pub fn sources(files: &[File]) -> Vec<(String, String)> {
    let mut main = String::from("#![allow(unused, non_snake_case, non_camel_case_types)]\n");
    let mut all = String::new();
    let mut aggregates: BTreeSet<(u64, u64)> = BTreeSet::new();
    let mut sources = Vec::new();
    for (number, file) in files.iter().enumerate() {
        writeln!(main, "mod f{number};").unwrap();
        for (at, (entry, _)) in file.entries.iter().enumerate() {
            writeln!(all, "    (\"{} {}\", f{number}::launch{at}),", file.short, entry.name).unwrap();
            aggregates.extend(entry.parameters.iter().filter_map(|parameter| match parameter.kind {
                Kind::Aggregate(size, align) => Some((size, align)),
                _ => None,
            }));
        }
        sources.push((format!("f{number}.rs"), module(file)));
    }
    main.push_str(MAIN);
    for (size, align) in aggregates {
        writeln!(
            main,
            "#[repr(C, align({align}))]\n#[derive(Clone, Copy)]\npub struct Bytes{size}Align{align}(pub \
            [u8; {size}]);"
        )
        .unwrap();
        writeln!(main, "unsafe impl DeviceRepr for Bytes{size}Align{align} {{}}").unwrap();
    }
    let list = "static ALL: &[(&str, fn(&Device) -> Result<(), Box<dyn Error>>)]";
    writeln!(main, "\n{list} = &[\n{all}];").unwrap();
    sources.push(("main.rs".to_owned(), main));
    sources
}

/// Returns the declarations of a file, and a graph function and a launch for each.
fn module(file: &File) -> String {
    let mut text = String::from("use cuweave::prelude::*;\nuse crate::*;\n\n");
    writeln!(text, "#[cuweave::kernels({:?})]", file.path.display().to_string()).unwrap();
    text.push_str("unsafe extern \"ptx-kernel\" {\n");
    for (entry, _) in &file.entries {
        let list: Vec<String> =
            numbered(entry).map(|(at, p)| format!("p{at}: {}", declared(p, true))).collect();
        writeln!(text, "    pub fn {}({});", entry.name, list.join(", ")).unwrap();
    }
    text.push_str("}\n");
    for (at, (entry, size)) in file.entries.iter().enumerate() {
        graph(&mut text, at, entry, size);
        launch(&mut text, at, entry, size);
    }
    text
}

fn numbered(entry: &Entry) -> impl Iterator<Item = (usize, &Parameter)> {
    entry.parameters.iter().enumerate()
}

fn elements(parameter: &Parameter) -> u64 {
    let bytes = match parameter.ty {
        "u8" | "i8" => 1,
        "u16" | "i16" => 2,
        "u64" | "i64" | "f64" => 8,
        _ => 4,
    };
    BYTES / bytes
}

/// Returns the type of a parameter, for the kernel or for the graph function.
fn declared(parameter: &Parameter, kernel: bool) -> String {
    let (ty, len) = (parameter.ty, elements(parameter));
    match (&parameter.kind, kernel) {
        (Kind::Read, _) => format!("&[{ty}; {len}]"),
        (Kind::Write, true) => format!("&mut [MaybeUninit<{ty}>; {len}]"),
        (Kind::Atomic, true) => format!("&[Atomic<{ty}>; {len}]"),
        (Kind::ReadWrite | Kind::Write | Kind::Atomic, _) => format!("&mut [{ty}; {len}]"),
        (Kind::Scalar, _) => ty.to_owned(),
        (Kind::Aggregate(size, align), _) => format!("Bytes{size}Align{align}"),
    }
}

fn graph(text: &mut String, at: usize, entry: &Entry, size: &Size) {
    let list: Vec<String> = numbered(entry).map(|(at, p)| format!("p{at}: {}", declared(p, false))).collect();
    let arguments: Vec<String> = numbered(entry)
        .map(|(at, parameter)| match parameter.kind {
            Kind::Read => format!("&p{at}"),
            Kind::ReadWrite | Kind::Write => format!("&mut p{at}"),
            Kind::Atomic => format!("atomic(&mut p{at})"),
            Kind::Scalar | Kind::Aggregate(..) => format!("p{at}"),
        })
        .collect();
    let three = |[x, y, z]: [u32; 3]| format!("({x}, {y}, {z})");
    let (grid, block) = (three(size.grid), three(size.block));
    let config = match size.shared {
        0 => format!("({grid}, {block})"),
        bytes => format!(
            "cuweave::cudarc::driver::LaunchConfig {{ grid_dim: {grid}, block_dim: {block}, shared_mem_bytes: \
             {bytes} }}"
        ),
    };
    writeln!(text, "\n#[cuweave::graph]\nfn graph{at}({}) {{", list.join(", ")).unwrap();
    writeln!(text, "    {}[{config}]({});\n}}", entry.name, arguments.join(", ")).unwrap();
}

fn launch(text: &mut String, at: usize, entry: &Entry, size: &Size) {
    writeln!(text, "\npub fn launch{at}(device: &Device) -> Result<(), Box<dyn Error>> {{").unwrap();
    let mut arguments = String::new();
    for (at, parameter) in numbered(entry) {
        let ty = parameter.ty;
        let value = size.values.get(&at).copied();
        match parameter.kind {
            Kind::Scalar | Kind::Aggregate(..) => {
                let integer = value.unwrap_or(size.integer);
                let value = match (&parameter.kind, ty) {
                    (Kind::Aggregate(size, align), _) => format!("Bytes{size}Align{align}([0; {size}])"),
                    (_, "f32" | "f64") => format!("{}.5", value.unwrap_or(1)),
                    (_, ty) => format!("{integer}_i64 as {ty}"),
                };
                write!(arguments, ", {value}").unwrap();
            }
            _ => {
                let mutable = if matches!(parameter.kind, Kind::Read) { "" } else { "mut " };
                let each = match value {
                    Some(value) => format!("|_| {value} as {ty}"),
                    None => format!("|_| 0 as {ty}"),
                };
                let len = elements(parameter);
                writeln!(text, "    let {mutable}b{at} = device.buffer::<{ty}>({len}, {each})?;").unwrap();
                write!(arguments, ", &{mutable}b{at}").unwrap();
            }
        }
    }
    writeln!(text, "    let mut exec = graph{at}(&device.ctx{arguments})?.instantiate()?;").unwrap();
    text.push_str("    exec.launch(&device.stream)?;\n    device.stream.synchronize()?;\n    Ok(())\n}\n");
}
