//! Checks declared module variables against the PTX.

use super::declaration::{Difference, Finding};
use crate::nearest::nearest;
use crate::syntax::{Linkage, Module, StateSpace, Variable};

/// Returns the size in bytes of the module variable that the host sets by this name.
///
/// # Errors
/// The module defines no global or constant variable of this name (CW301).
pub fn variable(module: &Module<'_>, name: &str) -> Result<u64, Finding> {
    let fault = |message: String, notes: Vec<String>, help: Option<String>| Finding {
        difference: Difference::Name,
        kernel: None,
        parameter: None,
        message,
        notes,
        help,
    };
    let is_settable = |variable: &&Variable<'_>| {
        matches!(variable.space, StateSpace::Global | StateSpace::Const)
            && variable.linkage != Linkage::Extern
    };
    let Some(found) = module.variables().find(|variable| variable.name == name) else {
        let kernel = module.function(name);
        let near = nearest(name, module.variables().filter(is_settable).map(|variable| variable.name));
        return Err(fault(
            format!("the PTX has no variable `{name}`"),
            kernel
                .map(|kernel| format!("line {} of the PTX: `{name}` is a function", kernel.line))
                .into_iter()
                .collect(),
            near.map(|near| format!("there is a variable `{near}`")).or_else(|| {
                Some(
                    "the compiler drops variables that no kernel uses; a `static` one, or one in a namespace, has a \
                     mangled name, which `#[link_name = \"..\"]` gives"
                        .to_owned(),
                )
            }),
        ));
    };
    if !is_settable(&found) {
        let message =
            format!("`{name}` is not a variable of global or constant memory that the file defines");
        return Err(fault(
            message,
            vec![format!("line {} of the PTX: `{}`", found.line, module.source(found.span))],
            None,
        ));
    }
    Ok(found.size())
}
