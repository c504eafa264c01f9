//! Reads the file that `#[kernels("path")]` names.
//!
//! A `.cu` path refers to the PTX that `cuweave_build` compiled from it.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use cuweave_core::codes::Code;
use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::spanned::Spanned;
use syn::{Expr, Lit};

use crate::report::Report;

/// A file that contains kernels.
pub struct KernelFile {
    /// The path as written.
    pub path: String,
    /// An expression that evaluates to its bytes. `include_bytes!` makes cargo recompile the crate when the
    /// file changes.
    pub bytes: TokenStream,
    /// Its contents. None if it could not be read.
    pub contents: Option<Vec<u8>>,
    /// The attribute's argument.
    pub span: Span,
}

impl KernelFile {
    /// Parses the attribute's argument and reads the file. Reports faults.
    pub fn read(attribute: TokenStream, report: &mut Report) -> KernelFile {
        let span = attribute.span();
        let mut image = KernelFile { path: String::new(), bytes: quote!(&[]), contents: None, span };
        let path = syn::parse2::<Expr>(attribute).ok().and_then(|expr| text(&expr));
        let Some(path) = path else {
            report.error(
                span,
                Code::CW307,
                "`#[kernels]` needs the path of a file",
                &[],
                Some(
                    "write `#[cuweave::kernels(\"kernels/file.ptx\")]`, relative to the crate's manifest, or \
                    `concat!(env!(\"OUT_DIR\"), \"/file.ptx\")`",
                ),
            );
            return image;
        };
        let read = if is_source(&path) { compiled(&path) } else { Ok(located(&path)) };
        let read = read.and_then(|file| match std::fs::read(&file) {
            Ok(contents) => Ok((file, contents)),
            Err(error) => Err(FileFault {
                message: format!("the file `{path}` cannot be read: {error}"),
                help: "a path is relative to the crate's manifest",
            }),
        });
        match read {
            Ok((file, contents)) => {
                let absolute = file.to_string_lossy().into_owned();
                image.bytes = quote!(::core::include_bytes!(#absolute));
                image.contents = Some(contents);
            }
            Err(missing) => report.error(span, Code::CW307, &missing.message, &[], Some(missing.help)),
        }
        image.path = path;
        image
    }
}

/// The error if there is no file.
struct FileFault {
    message: String,
    help: &'static str,
}

/// Returns the file that the attribute's path names.
fn located(path: &str) -> PathBuf {
    let file = Path::new(path);
    match std::env::var_os("CARGO_MANIFEST_DIR") {
        Some(manifest) if file.is_relative() => Path::new(&manifest).join(file),
        _ => file.to_owned(),
    }
}

fn is_source(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == "cu")
}

/// Returns the PTX that the build script compiled from a CUDA C++ file. `cuweave_build::ptx` writes it to
/// the same path below `OUT_DIR`.
fn compiled(path: &str) -> Result<PathBuf, FileFault> {
    let help = "in `build.rs`, call `cuweave_build::ptx(\"kernels/*.cu\")` of the crate `cuweave-build`, which \
        compiles with NVRTC or nvcc; or declare the PTX";
    if !located(path).is_file() {
        let message = format!("the file `{path}` is not there");
        return Err(FileFault { message, help: "a path is relative to the crate's manifest" });
    }
    let made = std::env::var_os("OUT_DIR")
        .map(|out| Path::new(&out).join("cuweave").join(below(path)).with_extension("ptx"));
    match made {
        Some(made) if made.is_file() => Ok(made),
        _ => Err(FileFault {
            message: format!("the build script has made no PTX of `{path}`, which is CUDA C++"),
            help,
        }),
    }
}

/// Returns a source's path below `OUT_DIR/cuweave`, following the same rule as `cuweave_build`: relative to
/// the manifest's folder, with `__` for `..`.
fn below(path: &str) -> PathBuf {
    let path = Path::new(path);
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    let parts = path.strip_prefix(&manifest).unwrap_or(path).components().filter_map(|part| match part {
        Component::ParentDir => Some(OsStr::new("__")),
        Component::Normal(name) => Some(name),
        _ => None,
    });
    parts.collect()
}

/// Evaluates a string literal, `concat!` or `env!`.
fn text(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Paren(inner) => text(&inner.expr),
        Expr::Group(inner) => text(&inner.expr),
        Expr::Lit(literal) => match &literal.lit {
            Lit::Str(text) => Some(text.value()),
            Lit::Int(int) => Some(int.base10_digits().to_owned()),
            _ => None,
        },
        Expr::Macro(call) => {
            let parser = syn::punctuated::Punctuated::<Expr, syn::Token![,]>::parse_terminated;
            let parts = call.mac.parse_body_with(parser).ok()?;
            let mut parts = parts.iter().map(text);
            if call.mac.path.segments.last()?.ident == "concat" {
                return parts.collect();
            }
            if call.mac.path.segments.last()?.ident == "env" {
                return std::env::var(parts.next()??).ok();
            }
            None
        }
        _ => None,
    }
}
