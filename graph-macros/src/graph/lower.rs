//! Lowers the body of a graph function to the IR: statements in program order, with loops unrolled, names
//! resolved, and views as ranges of their buffers.
//!
//! Syntax outside the language is CW001. Statements that depend on a faulty name are dropped without
//! further errors.
//!
//! A [`Lowering`] owns its parts separately: the names in scope, the arguments, the program under
//! construction, the nesting of its statements, its calls. A function that needs only one part takes only
//! that part. Statements and expressions are mutually recursive, so lowering them takes the whole; still,
//! modules import each other in one direction only.

use cuweave_core::ir::{Options, Order};
use proc_macro2::{Ident, Span};
use syn::Block;

use super::options::OptionValues;
use super::scope::Binding;
use super::signature::Signature;
use crate::report::Report;

mod accesses;
mod after;
mod argument_facts;
mod arguments;
mod array_loops;
mod assignments;
pub mod builtins;
mod call_table;
mod calls;
mod conditionals;
mod conditions;
mod devices;
mod dim_table;
mod expressions;
mod functions;
mod host_statements;
mod hosts;
mod lets;
pub mod library;
mod list_loops;
mod lowered;
mod lowering;
mod names;
mod nesting;
mod numbers;
mod optional;
mod own_conditions;
mod places;
mod pointers;
mod program;
mod rows;
mod scalars;
mod shapes;
mod spans;
mod statements;
mod structure;
mod syncs;
mod syntax;
mod tail;
mod unroll;
mod unsupported;
mod views;

use after::report_unknown_statement;
use arguments::lower_arguments;
pub use lowered::Lowered;
use lowering::Lowering;
pub use names::{ExprNames, collect_names, collect_record_scalars, wrap_indices};
pub use numbers::{expression, indices_in};
use statements::lower_body;
pub use syntax::{LaunchArgument, StatementSyntax};

/// Lowers a function. `body` is None if it could not be parsed.
pub fn lower(
    name: &Ident,
    file: String,
    options: Options,
    values: &OptionValues,
    signature: &Signature,
    body: Option<&Block>,
    report: &mut Report,
) -> Lowered {
    let mut lowering = Lowering::new(name, signature, report);
    lowering.explicit = options.order == Order::Explicit;
    lower_arguments(&mut lowering, signature);
    signature.unknown.iter().for_each(|name| lowering.scope.bind(name, Binding::Unknown));
    for bound in signature.arguments.iter().flat_map(|argument| argument.hints.bounds()) {
        lowering.names(bound);
    }
    let mut dim = |expr| {
        let bound = lowering.bound(expr);
        lowering.program.dims.intern(bound)
    };
    let options = Options {
        line: Span::call_site().start().line as u32,
        budget: values.budget.as_ref().map(&mut dim),
        width: values.width.as_ref().map(&mut dim),
        devices: values.devices.as_ref().map(&mut dim),
        ..options
    };
    lowering.devices.clone_from(&values.devices);
    if let Some(body) = body {
        lower_body(&mut lowering, body, signature);
    }
    own_conditions::check_uses(&mut lowering);
    let (resolved, unknown) = lowering.scope.leave();
    lowering.program.add_after_edges(resolved);
    for after in unknown {
        lowering.program.mark_order_unknown();
        report_unknown_statement(&mut lowering, &after.name);
    }
    lowering.finish(file, options)
}
