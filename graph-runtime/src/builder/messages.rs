//! The messages of a builder. Rewords the compiler's messages, which are about graph functions: their help
//! must name methods to call instead of attributes to write.

use cuweave_core::codes::Code;
use cuweave_core::diagnostic::render;
use cuweave_core::ids::ScalarId;
use cuweave_core::index::Vector;

use crate::build::Misfit;
use crate::error::{Error, PlanFault, Refusal, SourceLocation};

/// Returns an error with a code.
pub(super) fn refused(
    at: &SourceLocation,
    code: Code,
    message: &str,
    notes: &[String],
    help: Option<&str>,
) -> Error {
    Error::Refused(vec![refusal(at, code, message, notes, help)])
}

pub(super) fn refusal(
    at: &SourceLocation,
    code: Code,
    message: &str,
    notes: &[String],
    help: Option<&str>,
) -> Refusal {
    Refusal { code, at: at.clone(), text: render(code, message, notes, help) }
}

/// Returns the error for an argument that does not fit its parameter.
pub(super) fn misfit(
    at: &SourceLocation,
    callee: &str,
    parameter: &str,
    argument: Option<&String>,
    misfit: &Misfit,
) -> Error {
    let argument = argument.map_or("?", String::as_str);
    let (message, help) = match misfit {
        Misfit::Element { declared, given } => (
            format!(
                "`{argument}` has elements of type `{given}`, and the parameter `{parameter}` of `{callee}` is \
                    declared with `{declared}`"
            ),
            None,
        ),
        Misfit::Scalar { declared, given } => (
            format!(
                "`{argument}` is of type `{given}`, and the parameter `{parameter}` of `{callee}` is declared as \
                    `{declared}`"
            ),
            argument
                .parse::<i64>()
                .ok()
                .filter(|_| declared.starts_with('f'))
                .map(|_| format!("write `{argument}.0`")),
        ),
        Misfit::Number { value, declared } => (
            format!(
                "`{argument}` is {}no value of `{declared}`, the type of the parameter `{parameter}` of `{callee}`",
                if argument == value { String::new() } else { format!("{value}, which is ") }
            ),
            (*declared == "f32").then(|| "give it as an `f32`, as in `0.1_f32`".to_owned()),
        ),
        Misfit::Fault(fault) => {
            (format!("`{argument}`, the argument `{parameter}` of `{callee}`, {fault}"), None)
        }
        Misfit::Kind | Misfit::Missing => {
            (format!("`{argument}` does not fit the parameter `{parameter}` of `{callee}`"), None)
        }
    };
    refused(at, Code::CW401, &message, &[], help.as_deref())
}

/// Returns the error for a fill whose element type is not supported.
pub(super) fn not_fillable(at: &SourceLocation, element: &str) -> Error {
    let note = "`fill` takes the integers of up to 64 bits, `f32`, `f64` and `bool`, and with feature `half` also \
        `half::f16` and `half::bf16`";
    let message = format!("`fill` does not take elements of type `{element}`");
    refused(at, Code::CW401, &message, &[note.to_owned()], None)
}

/// Gives an error about a scalar the location of its declaration, which may be in another file than the builder's.
pub(super) fn at_scalars(mut error: Error, symbols: &Vector<ScalarId, SourceLocation>) -> Error {
    let at = match &mut error {
        Error::Range { at, .. } => &mut **at,
        Error::Plan(fault) => match &mut **fault {
            PlanFault::FixedSize { at, .. } => at,
            _ => return error,
        },
        _ => return error,
    };
    if let Some(symbol) = symbols.iter().find(|symbol| symbol.name == at.name && symbol.line == at.line) {
        *at = symbol.clone();
    }
    error
}

/// Rewords the refusals in an error of the build for a builder.
pub(super) fn reword_error(error: Error) -> Error {
    match error {
        Error::Refused(refusals) => Error::Refused(refusals.into_iter().map(reword_refusal).collect()),
        other => other,
    }
}

/// Rewords a refusal for a builder.
pub(super) fn reword_refusal(refusal: Refusal) -> Refusal {
    Refusal { text: reword(refusal.code, &refusal.text), ..refusal }
}

/// Rewords a message about a graph function for a builder.
fn reword(code: Code, text: &str) -> String {
    let text = text
        .replace("put `#[at_most(n)]` on the loop", "call `while_at_most`")
        .replace("remove `order = \"explicit\"`", "remove the call of `order`")
        .replace("`#[after(", "`after(")
        .replace(")]`", ")`")
        .replace("`#[after]`", "`after`")
        .replace("remove `#[discard]`", "do not call `discard`")
        .replace("`#[discard]` is on", "`discard` is called for")
        .replace("`#[discard]`", "`discard`");
    match code {
        Code::CW205 => text.replace("with `&` on", "as shared on").replace("with `&mut`", "by `exclusive`"),
        _ => text,
    }
}
