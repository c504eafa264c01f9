//! The places of a program's buffers, statements and diagnostics in the source.

use cuweave_core::diagnostic::{Diagnostic, Site};
use cuweave_core::index::size;
use cuweave_core::ir::{BufferId, Program, StatementId};

use super::parts::{At, Refusal};

/// Returns the place of a buffer's declaration.
pub(crate) fn at_buffer(program: &Program, buffer: BufferId) -> Box<At> {
    let declared = &program.buffers[buffer];
    let file = declared.file.as_ref().unwrap_or(&program.file).to_string();
    Box::new(At { name: declared.name.to_string(), file, line: declared.line, column: declared.column })
}

/// Returns the place of a statement.
pub(crate) fn at_statement(program: &Program, statement: StatementId) -> Box<At> {
    let statement = &program.statements[statement];
    let file = statement.file.as_ref().unwrap_or(&program.file).to_string();
    Box::new(At { name: statement.name.to_string(), file, line: statement.line, column: statement.column })
}

/// Returns diagnostics with their source lines.
pub(crate) fn refusals<'d>(
    program: &Program,
    found: impl IntoIterator<Item = &'d Diagnostic>,
) -> Vec<Refusal> {
    let refusal = |diagnostic: &Diagnostic| {
        let at = match diagnostic.site {
            Site::Statement(id) | Site::Access(id, _) | Site::Freed(id) | Site::After(id, _) => {
                at_statement(program, id)
            }
            Site::Output(index) => at_buffer(program, program.outputs[size(index)]),
            Site::Argument(buffer) => at_buffer(program, buffer),
        };
        Refusal { code: diagnostic.code, at: *at, text: diagnostic.render() }
    };
    found.into_iter().map(refusal).collect()
}
