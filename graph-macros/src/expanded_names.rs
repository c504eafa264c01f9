//! The names of the kernels and graph functions that this compiler process has expanded, for suggestions in
//! errors. Names expanded later or in another crate are missing, so only errors of rustc and suggestions may depend on
//! this.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use cuweave_core::ir::StatementKind;
use cuweave_ptx::nearest::nearest;

/// The kind of an item that a statement can name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ItemKind {
    Kernel,
    Graph,
}

static EXPANDED_NAMES: Mutex<BTreeMap<String, ItemKind>> = Mutex::new(BTreeMap::new());

/// Names from other languages and crates, each with the statement to use instead.
const FOREIGN_WORDS: [(&str, &str); 12] = [
    ("drop", "free(b);"),
    ("dealloc", "free(b);"),
    ("cudaFree", "free(b);"),
    ("memcpy", "copy(&a, &mut b);"),
    ("memcpy_dtod", "copy(&a, &mut b);"),
    ("cudaMemcpy", "copy(&a, &mut b);"),
    ("clone", "copy(&a, &mut b);"),
    ("memset", "fill(&mut b, value);"),
    ("memset_zeros", "fill(&mut b, 0.0);"),
    ("cudaMemset", "fill(&mut b, value);"),
    ("zeros", "let b = alloc::<f32>(len);` and `fill(&mut b, 0.0);"),
    ("malloc", "let b = alloc::<f32>(len);"),
];

/// Records the name of an expanded item.
pub fn add(name: &str, kind: ItemKind) {
    EXPANDED_NAMES.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), kind);
}

/// Returns true if the name was last that of a kernel.
pub fn is_kernel(name: &str) -> bool {
    EXPANDED_NAMES.lock().unwrap_or_else(PoisonError::into_inner).get(name) == Some(&ItemKind::Kernel)
}

/// Returns a suggestion for a name that may be unresolved: a statement to write, or a similar name. None if
/// the name is known.
pub fn suggestion(name: &str, kind: ItemKind) -> Option<String> {
    let names = EXPANDED_NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if names.contains_key(name) {
        return None;
    }
    let foreign = FOREIGN_WORDS.iter().find(|(word, _)| kind == ItemKind::Graph && *word == name);
    if let Some((_, written)) = foreign {
        return Some(format!("write `{written}`"));
    }
    let words: Vec<&str> =
        StatementKind::words().chain(["swap"]).filter(|_| kind == ItemKind::Graph).collect();
    let known = names.iter().filter(|(_, of)| **of == kind).map(|(name, _)| name.as_str());
    // Any other one-letter name is equally near to a one-letter name.
    let near = nearest(name, words.into_iter().chain(known)).filter(|_| name.len() > 2)?;
    Some(format!("did you mean `{near}`?"))
}
