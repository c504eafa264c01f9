//! Limits the arrays of buffers in a signature.

use cuweave_core::codes::Code;

use super::limits::MAX_ELEMENTS;
use super::signature::{ArgumentKind, Signature, rejected_kind};
use crate::report::Report;

/// Rejects the first array that takes the total number of elements above the limit: the macro makes one
/// buffer per element.
pub fn limit(signature: &mut Signature, report: &mut Report) {
    let mut elements = 0usize;
    for argument in &mut signature.arguments {
        let ArgumentKind::Array(buffer, count) = &argument.kind else { continue };
        elements = elements.saturating_add(*count);
        if elements > MAX_ELEMENTS {
            report.error(
                argument.name.span(),
                Code::CW001,
                &format!("the arrays of buffers have more than {MAX_ELEMENTS} elements together"),
                &[],
                Some(&format!("take a slice, whose length the build knows: `{}`", buffer.slice())),
            );
            signature.unknown.push(argument.name.clone());
            argument.kind = rejected_kind();
        }
    }
}
