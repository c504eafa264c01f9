//! Converts errors of programs that are checked and planned at build.

use cuweave_core::compile::BackError;
use cuweave_core::diagnostic::Diagnostic;
use cuweave_core::ir::{BufferId, Program};
use cuweave_core::layout::LayoutError;

use super::{Error, Fault, PlanFault, Quantity, at_attribute, at_buffer, refusals};

/// Converts an error of the stages that run at build time.
pub(crate) fn plan_error(program: &Program, error: BackError) -> Error {
    match error {
        BackError::Layout(LayoutError::Overflow { buffer, len, element }) => {
            let at = program.buffers.position(|declared| declared.name == buffer.as_str());
            let at = at_buffer(program, at.unwrap_or(BufferId::from_u32(0)));
            let text = format!("{len} * {element} bytes");
            Error::Size { what: Quantity::Size, at, text, fault: Fault::Overflow }
        }
        BackError::Budget(reason) => Error::Budget { at: at_attribute(program), reason },
        other => PlanFault::Stage {
            function: program.name.to_string(),
            file: program.file.to_string(),
            reason: other,
        }
        .into(),
    }
}

/// Returns the error for the faults of a program that the build found. Warnings are dropped: they depend on
/// sizes, which may differ at the next build.
pub(crate) fn refused_program(program: &Program, found: &[Diagnostic]) -> Error {
    let faults = found.iter().filter(|diagnostic| !diagnostic.is_warning());
    Error::Refused(refusals(program, faults))
}
