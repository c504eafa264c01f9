//! The limit of arrays in signatures, and the report of types that are refused.

use cuweave_core::codes::Code;
use syn::spanned::Spanned;

use crate::report::Report;

/// The most elements of an array of buffers or records: the macro has a buffer for each, and an unrolled loop over them
/// has a statement for each.
pub const MOST_ELEMENTS: usize = 10_000;

/// Reports an array of more elements than [`MOST_ELEMENTS`]; `slice` is the type without a length.
pub fn too_long(at: &impl Spanned, slice: &str, report: &mut Report) -> Refused {
    let message = format!("this array has more than {MOST_ELEMENTS} elements");
    refuse(at, &message, &format!("take a slice, whose length the build knows: `{slice}`"), report)
}

/// Marks a fault that was reported.
pub struct Refused;

/// Reports a type that is not part of the language.
pub(super) fn refuse(at: &impl Spanned, message: &str, help: &str, report: &mut Report) -> Refused {
    report.error(at.span(), Code::CW001, message, &[], Some(help));
    Refused
}
