//! The pipeline.
//!
//! ```text
//! tokens -> Source -> Ordered -> Checked -> Decision -> Placed -> Layout -> Operations -> driver calls
//!           lower     order      check      launches    place     layout    emit          runtime
//! ```
//!
//! The macro runs [`front`] and prints the checked program; the runtime runs [`back`] on it, once the sizes are known.

#[cfg(feature = "back")]
mod back;

use crate::check::{self, Checked};
use crate::diagnostic::Diagnostic;
use crate::order::{self, Source};

#[cfg(feature = "back")]
pub use back::{BackError, Wishes, back, budget_curve, memory_svg};

/// Orders and checks a program: the program, unless there are faults, and all that is wrong with it.
pub fn front(source: Source) -> (Option<Checked>, Vec<Diagnostic>) {
    let (ordered, mut found) = order::order(source);
    let (checked, faults) = check::check(ordered);
    let cyclic = !found.is_empty();
    found.extend(faults);
    (checked.filter(|_| !cyclic), found)
}
