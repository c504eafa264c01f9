//! Limits of the arrays in signatures.

use cuweave_core::codes::Code;
use proc_macro2::Ident;
use syn::spanned::Spanned;

use super::parts::{BufferType, Refused, refuse};
use super::signature::{Argument, ArgumentKind, refused};
use crate::report::Report;

/// The most elements of an array of buffers or records: the macro has a buffer for each, and an unrolled loop over them has a
/// statement for each.
pub const MOST_ELEMENTS: usize = 10_000;

/// Reports an array of more elements than [`MOST_ELEMENTS`]; `slice` is the type without a length.
pub fn too_long(at: &impl Spanned, slice: &str, report: &mut Report) -> Refused {
    let message = format!("this array has more than {MOST_ELEMENTS} elements");
    refuse(at, &message, &format!("take a slice, whose length the build knows: `{slice}`"), report)
}

/// Refuses arrays of buffers that are too long together: the macro has a buffer for each element.
pub fn limit_arrays(arguments: &mut [Argument], unknown: &mut Vec<Ident>, report: &mut Report) {
    let mut elements = 0usize;
    for argument in arguments {
        let ArgumentKind::Array(buffer, count) = &argument.kind else { continue };
        elements = elements.saturating_add(*count);
        if elements > MOST_ELEMENTS {
            report.error(
                argument.name.span(),
                Code::CW001,
                &format!("the arrays of buffers have more than {MOST_ELEMENTS} elements together"),
                &[],
                Some(&format!("take a slice, whose length the build knows: `{}`", slice_of(buffer))),
            );
            unknown.push(argument.name.clone());
            argument.kind = refused();
        }
    }
}

/// Returns the type of a slice of such buffers.
pub fn slice_of(buffer: &BufferType) -> &'static str {
    if buffer.mutable { "&[&mut [T; len]]" } else { "&[&[T; len]]" }
}
