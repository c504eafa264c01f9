//! Messages on standard error.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// Prints a line with one write. The program has its own copy of the standard library, whose output lock is not
/// ours.
pub fn print(text: &str) {
    use std::io::Write;
    let _ = std::io::stderr().write_all(format!("cuweave-sim: {text}\n").as_bytes());
}

/// Prints a line, unless the same line was printed before.
pub fn print_once(text: String) {
    static PRINTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut said = PRINTED.lock().unwrap_or_else(PoisonError::into_inner);
    if !said.contains(&text) {
        print(&text);
        said.insert(text);
    }
}
