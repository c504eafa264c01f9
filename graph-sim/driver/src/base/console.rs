//! Lines for the user, on standard error.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// Prints a line on standard error, in one piece: the program has a standard library of its own, whose output is
/// not synchronised with ours.
pub fn print(text: &str) {
    use std::io::Write;
    let _ = std::io::stderr().write_all(format!("cuweave-sim: {text}\n").as_bytes());
}

/// Prints a line once for each text.
pub fn say_once(text: String) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    if !said.contains(&text) {
        print(&text);
        said.insert(text);
    }
}
