//! Names that are free in a module.

use crate::syntax::Module;

/// Returns `wanted`, or `wanted` with a number appended, such that it occurs nowhere in the module's text.
///
/// # Complexity
///
/// Linear in the text for each candidate.
pub fn free_name(module: &Module<'_>, wanted: &str) -> String {
    let mut name = wanted.to_owned();
    let mut number = 0u64;
    while module.text.contains(&name) {
        name = format!("{wanted}_{number}");
        number += 1;
    }
    name
}
