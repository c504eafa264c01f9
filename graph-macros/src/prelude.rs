//! Crates and modules with `#![no_implicit_prelude]`. rustc resolves `#[diagnostic::..]` by a prelude, and an attribute
//! that it does not resolve is an error. A macro is not told whether there is one: it looks for the words in the files
//! around the item. Only the text of errors rests on this.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use proc_macro2::{Span, TokenStream};
use quote::quote;

/// Returns the attribute with the text that rustc shows where a trait is not implemented, if rustc resolves it.
pub fn on_unimplemented(message: &str, label: &str, note: &str) -> TokenStream {
    if !is_there() {
        return TokenStream::new();
    }
    quote!(#[diagnostic::on_unimplemented(message = #message, label = #label, note = #note)])
}

/// Returns false if the file of the macro's call, one that may declare its module, or the root of the crate does
/// without a prelude.
fn is_there() -> bool {
    /// The answers for the files of this compiler process.
    static FILES: Mutex<BTreeMap<PathBuf, bool>> = Mutex::new(BTreeMap::new());
    let Some(file) = Span::call_site().local_file() else { return true };
    let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    *files.entry(file).or_insert_with_key(|file| !around(file).iter().any(|file| has_none(file)))
}

fn has_none(file: &Path) -> bool {
    std::fs::read_to_string(file).is_ok_and(|text| text.contains("no_implicit_prelude"))
}

/// Returns the files that may declare the module of a file, itself, and the root of the crate, which is an argument of
/// rustc.
fn around(file: &Path) -> Vec<PathBuf> {
    let root = std::env::args_os()
        .map(PathBuf::from)
        .find(|argument| argument.extension().is_some_and(|it| it == "rs"));
    let mut files: Vec<PathBuf> = root.into_iter().chain([file.to_owned()]).collect();
    for folder in file.ancestors().skip(1).filter(|folder| folder.file_name().is_some()) {
        files.extend([folder.with_extension("rs"), folder.join("mod.rs")]);
    }
    files
}
