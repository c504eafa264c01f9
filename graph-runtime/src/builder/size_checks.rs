//! Checks the uses of sizes: nothing but lengths and values may depend on them, and lengths must rise with them, since
//! memory is planned for the largest values.

use std::collections::BTreeSet;

use cuweave_core::codes::Code;
use cuweave_core::ids::{BufferId, ScalarId};
use cuweave_core::index::Index;
use cuweave_core::kind::StatementKind;
use cuweave_core::structure::Argument;
use cuweave_core::table::{DecodedFunction, Parameter, Setting, Trend};

use crate::error::Refusal;

use super::messages;
use super::program::{BuilderScalar, Program};
use super::size::Size;

const STRUCTURE: &str =
    "a graph is built once for all values of a size, so only lengths and values depend on it";
const PLANNED: &str = "memory is planned for the largest value of a size";

/// Returns the scalars that a length, a largest value or the budget depends on.
pub(super) fn fixed_scalars(program: &Program) -> BTreeSet<ScalarId> {
    let mut fixed = BTreeSet::new();
    program.buffers.iter().for_each(|buffer| buffer.len.mentions(&mut fixed));
    structure(program).for_each(|(size, _)| size.mentions(&mut fixed));
    fixed
}

/// Returns the expressions other than lengths that are fixed when a graph is built, and what depends on them.
fn structure(program: &Program) -> impl Iterator<Item = (&Size, String)> {
    let budget = program.options.budget.map(|dim| (dim, "the budget depends on it".to_owned()));
    let largest = program.scalars.iter().filter_map(|scalar| {
        let most = scalar.limits.as_ref()?.most;
        Some((most, format!("the build reads the maximum of `{}` from it", scalar.name)))
    });
    budget.into_iter().chain(largest).map(|(dim, reason)| (&program.bounds.dims[dim].0, reason))
}

/// Reports the sizes that something fixed depends on, and those with which a length may fall.
pub(super) fn misused_sizes(program: &Program) -> Vec<Refusal> {
    let sizes = program.scalars.enumerate().filter(|(_, scalar)| scalar.limits.is_some());
    sizes.filter_map(|(id, scalar)| misused(program, id, scalar)).collect()
}

fn misused(program: &Program, id: ScalarId, scalar: &BuilderScalar) -> Option<Refusal> {
    let name = &scalar.name;
    let refuse = |message: String, note: &str, help: &str| {
        let at = program.at(scalar.place, name);
        Some(messages::refusal(&at, Code::CW001, &message, &[note.to_owned()], Some(help)))
    };
    let fixed = structure(program).find(|(size, _)| trend(size, id) != Trend::Constant);
    if let Some((_, reason)) = fixed {
        let help = "take a second scalar for it, or keep a graph for each value";
        return refuse(format!("`{name}` cannot be a size: {reason}"), STRUCTURE, help);
    }
    let falls = |what: String, size: &Size, trend: Trend| {
        let verb = if trend == Trend::Falls { "falls" } else { "may fall" };
        let message = format!("{what} {verb} where the size `{name}` rises: `{}`", program.text(size));
        refuse(message, PLANNED, "give it a scalar of its own, by `scalar_at_most`")
    };
    let lengths = program.buffers.iter().filter(|buffer| !buffer.poisoned);
    for buffer in lengths {
        let trend = trend(&buffer.len, id);
        if trend.may_fall() {
            return falls(format!("the length of `{}`", buffer.name), &buffer.len, trend);
        }
    }
    for statement in program.statements.iter() {
        let StatementKind::Call(call) = &statement.kind else { continue };
        let table = &*call.callee;
        let given = program.calls[call.id].arguments.iter().zip(&table.parameters).zip(&table.arguments);
        for ((argument, parameter), argument_name) in given {
            let (Argument::Scalar { value: Some(value), .. }, Parameter::Scalar(own)) = (argument, parameter)
            else {
                continue;
            };
            let size = &program.bounds.dims[*value].0;
            let trend = trend(size, id);
            if trend.may_fall() && may_reach_lengths(table, *own) {
                let what = format!("the argument `{argument_name}` of `{}`", table.program.name);
                return falls(what, size, trend);
            }
        }
    }
    None
}

/// Returns true if lengths may depend on a scalar of a graph function, or on what it passes on.
fn may_reach_lengths(table: &DecodedFunction, scalar: ScalarId) -> bool {
    let mut passed = table.structure.calls.iter().flat_map(|call| &call.arguments);
    table.scalars[scalar].setting != Setting::Free
        || passed.any(|argument| match argument {
            Argument::Scalar { of, .. } => of.contains(&scalar),
            _ => false,
        })
}

/// Returns how an expression changes where a size rises.
fn trend(size: &Size, of: ScalarId) -> Trend {
    let mut code = Vec::new();
    size.code(&mut code, &BufferId::new);
    Trend::of_code(&code, &mut |leaf| {
        if leaf.index() == of.index() { Trend::Rises } else { Trend::Constant }
    })
}
