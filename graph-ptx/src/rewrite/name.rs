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

/// The maximum length of one kernel's name in that of a generated kernel, and the maximum number of names.
const MAX_NAME: usize = 40;
const MAX_NAMES: usize = 3;

/// Returns the name of a kernel that is generated from others, for profilers: `prefix_gate_up_x3` for three launches.
/// Each name occurs once.
pub fn combined_name<'n>(
    prefix: &str,
    kernels: impl IntoIterator<Item = &'n str>,
    launches: usize,
) -> String {
    let mut names: Vec<&str> = Vec::new();
    for kernel in kernels {
        // Names of PTX are ASCII.
        let name = kernel.get(..MAX_NAME).unwrap_or(kernel);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.len() > MAX_NAMES {
        names.truncate(MAX_NAMES);
        names.push("others");
    }
    format!("{prefix}_{}_x{launches}", names.join("_"))
}
