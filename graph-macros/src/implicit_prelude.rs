//! Detects modules with `#![no_implicit_prelude]`.
//!
//! rustc resolves `#[diagnostic::..]` through the prelude, and an unresolved attribute is an error. A macro
//! cannot ask if there is a prelude, so it searches the surrounding files for the words. Only the texts of
//! errors depend on the result.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use proc_macro2::{Span, TokenStream};
use quote::quote;

/// Generates the attribute that sets rustc's message for an unimplemented trait. Empty if rustc would not
/// resolve the attribute.
pub fn on_unimplemented(message: &str, label: &str, note: &str) -> TokenStream {
    if !has_prelude() {
        return TokenStream::new();
    }
    quote!(#[diagnostic::on_unimplemented(message = #message, label = #label, note = #note)])
}

/// Returns false if the file of the macro call, a file that may declare its module, or the crate root turns
/// the prelude off.
fn has_prelude() -> bool {
    /// The results for the files of this compiler process.
    static FILES: Mutex<BTreeMap<PathBuf, bool>> = Mutex::new(BTreeMap::new());
    let Some(file) = Span::call_site().local_file() else { return true };
    let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    *files
        .entry(file)
        .or_insert_with_key(|file| !declaring_files(file).iter().any(|file| disables_prelude(file)))
}

fn disables_prelude(file: &Path) -> bool {
    std::fs::read_to_string(file).is_ok_and(|text| text.contains("no_implicit_prelude"))
}

/// Returns the file itself, the files that may declare its module, and the crate root, which is an argument
/// of rustc.
fn declaring_files(file: &Path) -> Vec<PathBuf> {
    let root = std::env::args_os()
        .map(PathBuf::from)
        .find(|argument| argument.extension().is_some_and(|extension| extension == "rs"));
    let mut files: Vec<PathBuf> = root.into_iter().chain([file.to_owned()]).collect();
    for folder in file.ancestors().skip(1).filter(|folder| folder.file_name().is_some()) {
        files.extend([folder.with_extension("rs"), folder.join("mod.rs")]);
    }
    files
}
