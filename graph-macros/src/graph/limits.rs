//! The limit on arrays in signatures, and the error for rejected types.

use cuweave_core::codes::Code;
use syn::spanned::Spanned;

use crate::report::Report;

/// The maximum number of elements of an array of buffers or records. The macro makes one buffer per
/// element, and an unrolled loop over the array makes one statement per element.
pub const MAX_ELEMENTS: usize = 10_000;

/// Reports an array with more than [`MAX_ELEMENTS`] elements. `slice` is the same type without a length.
pub fn too_long(at: &impl Spanned, slice: &str, report: &mut Report) -> TypeRejected {
    let message = format!("this array has more than {MAX_ELEMENTS} elements");
    refuse(at, &message, &format!("take a slice, whose length the build knows: `{slice}`"), report)
}

/// Proof that a fault was reported.
pub struct TypeRejected;

/// Reports a type that is not part of the language.
pub(super) fn refuse(at: &impl Spanned, message: &str, help: &str, report: &mut Report) -> TypeRejected {
    report.error(at.span(), Code::CW001, message, &[], Some(help));
    TypeRejected
}
