//! Checks the uses of sizes, the scalars with `#[at_most(n)]`: nothing but lengths and values may depend on them, and
//! lengths must rise with them, since memory is planned for the largest values.

use cuweave_core::codes::Code;
use cuweave_core::ids::ScalarId;
use cuweave_core::table::Trend;

use super::lower::Lowered;
use super::setters::{length_reasons, structure_reasons};
use super::signature::{NumberedArgument, Signature};
use super::trend::trend;
use crate::report::Report;

/// Reports the sizes that something fixed depends on, and those with which a length may fall.
pub(super) fn check(lowered: &Lowered, signature: &Signature, report: &mut Report) {
    let sizes: Vec<NumberedArgument<'_>> =
        signature.numbered().filter(|one| one.argument.at_most.is_some()).collect();
    if sizes.is_empty() {
        return;
    }
    let names: Vec<String> = signature.numbered().map(|argument| argument.name()).collect();
    let structure = structure_reasons(lowered, &names);
    let lengths = length_reasons(lowered);
    for size in sizes {
        let (name, number): (String, ScalarId) = (size.name(), size.number);
        let span = size.argument.name.span();
        if let Some((_, reason)) = structure.iter().find(|(of, _)| of.contains(&number)) {
            let message = format!("`{name}` cannot be a size: {reason}");
            let notes =
                ["a graph is built once for all values of a size, so only lengths and values depend on it"
                    .into()];
            let help = "take a second scalar for it, or keep a graph for each value";
            report.error(span, Code::CW001, &message, &notes, Some(help));
            continue;
        }
        let falls = lengths.iter().find_map(|reason| {
            let trend = trend(lowered, reason.dim, &name);
            trend.may_fall().then_some((reason, trend))
        });
        if let Some((reason, trend)) = falls {
            let text = &lowered.source.program.dims[reason.dim];
            let verb = if trend == Trend::Falls { "falls" } else { "may fall" };
            let message =
                format!("the length of `{}` {verb} where the size `{name}` rises: `{text}`", reason.buffer);
            let notes = ["memory is planned for the largest value of a size".into()];
            let help = "give the length a scalar of its own, with its own `#[at_most(..)]`";
            report.error(span, Code::CW001, &message, &notes, Some(help));
        }
    }
}
