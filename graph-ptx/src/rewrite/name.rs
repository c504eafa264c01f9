//! Names that a module does not have.

use crate::syntax::Module;

/// `wanted`, or with a number behind it, so that no name of the module is or begins with it.
///
/// Time: linear in the text, for each number that is tried.
pub fn free_name(module: &Module<'_>, wanted: &str) -> String {
    let mut name = wanted.to_owned();
    let mut number = 0u64;
    while module.text.contains(&name) {
        name = format!("{wanted}_{number}");
        number += 1;
    }
    name
}
