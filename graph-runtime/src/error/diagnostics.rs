//! Adds source locations to diagnostics.

use cuweave_core::diagnostic::{Diagnostic, DiagnosticSite};
use cuweave_core::index::size;
use cuweave_core::ir::{AccessId, Program};
pub(crate) use cuweave_core::location::{at_attribute, at_buffer, at_function, at_statement};

use super::parts::Refusal;

/// Converts diagnostics to refusals with source locations.
pub(crate) fn refusals<'d>(
    program: &Program,
    found: impl IntoIterator<Item = &'d Diagnostic>,
) -> Vec<Refusal> {
    let refusal = |diagnostic: &Diagnostic| {
        let at = match diagnostic.site {
            DiagnosticSite::Statement(id)
            | DiagnosticSite::Access(AccessId { statement: id, .. })
            | DiagnosticSite::Freed(id)
            | DiagnosticSite::After(id, _) => at_statement(program, id),
            DiagnosticSite::Output(index) => at_buffer(program, program.outputs[size(index)]),
            DiagnosticSite::Argument(buffer) => at_buffer(program, buffer),
        };
        Refusal { code: diagnostic.code, at: *at, text: diagnostic.render() }
    };
    found.into_iter().map(refusal).collect()
}
