//! Lowers host statements, `host(&a, &mut b, |a, b| ..)`, and event statements, `record(&event)` and
//! `wait(&event)`.

use cuweave_core::ir::{Mode, Origin, StatementId, StatementKind};
use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprCall};

use super::after::{apply_attributes, name_statement};
use super::hosts::{HostValue, host_value, passed_value, report_misplaced_host_value};
use super::lowering::{LowerResult, Lowering, Reported};
use super::names::ExprNames;
use super::program::SpannedAccess;
use super::syntax::{LaunchArgument, StatementSyntax};
use super::views::view_of;
use crate::dims::compact;
use crate::graph::scope::{Binding, Borrow};

/// Lowers `host(&a, &mut b, |a, b| ..);`.
pub(super) fn host(
    lowering: &mut Lowering<'_>,
    call: &ExprCall,
    name: Option<&Ident>,
    attributes: &[Attribute],
) -> LowerResult<()> {
    reject_in_device_body(lowering, call, "a host statement")?;
    let given = call.args.len() - 1;
    let (mut accesses, mut arguments) = (Vec::new(), Vec::new());
    let mut faulty = false;
    for argument in call.args.iter().take(given) {
        match host_argument(lowering, argument) {
            Ok(HostArgument::Buffer(access)) => {
                arguments.push(LaunchArgument::Buffer(accesses.len() as u32));
                accesses.push(access);
            }
            Ok(HostArgument::Value(value)) => arguments.push(LaunchArgument::Scalar(value)),
            Err(Reported) => faulty = true,
        }
    }
    let work = &call.args[given];
    if matches!(bare(work), Expr::Reference(_)) {
        return Err(lowering.refuse(
            work,
            "the last argument of `host` is the function that the host runs",
            "write `host(&a, &mut b, |a, b| ..);`",
        ));
    }
    match reject_captured_host_values(lowering, work) {
        Ok(()) => arguments.push(LaunchArgument::Scalar(Box::new(lowering.substituted(work)))),
        Err(Reported) => faulty = true,
    }
    if faulty {
        lowering.poison(call.args.to_token_stream());
        return Err(Reported);
    }
    push_word(lowering, call, name, attributes, StatementKind::Host(()), arguments, accesses);
    Ok(())
}

/// Lowers `record(&event);` or `wait(&event);`.
pub(super) fn event(
    lowering: &mut Lowering<'_>,
    call: &ExprCall,
    name: Option<&Ident>,
    attributes: &[Attribute],
    kind: StatementKind,
) -> LowerResult<()> {
    let word = kind.name();
    let what = if word == "record" { "the record of an event" } else { "the wait for an event" };
    reject_in_device_body(lowering, call, what)?;
    let Some(host) = host_value(&lowering.scope, &call.args[0]) else {
        return Err(lowering.refuse(
            &call.args[0],
            &format!("`{word}` takes an event of the caller"),
            &format!("declare it as an argument, `event: &CudaEvent`, and write `{word}(&event);`"),
        ));
    };
    let event = kept_value(lowering, &host, "an event")?;
    let arguments = vec![LaunchArgument::Scalar(Box::new(event))];
    push_word(lowering, call, name, attributes, kind, arguments, Vec::new());
    Ok(())
}

/// An argument of a host statement.
enum HostArgument {
    Buffer(SpannedAccess),
    /// A host value that the exec keeps alive.
    Value(Box<Expr>),
}

/// Rejects a statement inside a body that the device decides about.
pub(super) fn reject_in_device_body(
    lowering: &mut Lowering<'_>,
    at: &ExprCall,
    what: &str,
) -> LowerResult<()> {
    let Some(body) = lowering.nesting.body() else { return Ok(()) };
    let message = format!("{what} cannot stand in the body of an `if`, `while` or `match` on a buffer");
    let notes: Vec<String> = arm_text(lowering, body).into_iter().collect();
    let help = "the device runs such a body by itself: write the statement before it or after it";
    Err(lowering.refuse_with(at, &message, &notes, help))
}

/// Describes the conditional body that contains a statement.
fn arm_text(lowering: &Lowering<'_>, body: StatementId) -> Option<String> {
    let around = lowering.program.statement(body);
    let StatementKind::Condition(condition) = around.kind else { return None };
    Some(format!("it stands in {} on line {}", condition.body(), around.line))
}

/// Rejects a closure that captures a host value instead of receiving it as an argument: it may run after
/// the graph function's arguments are gone.
fn reject_captured_host_values(lowering: &mut Lowering<'_>, work: &Expr) -> LowerResult<()> {
    let names = ExprNames::from_expr(work);
    let mut mentioned = Vec::new();
    identifiers(work.to_token_stream(), &mut mentioned);
    let free = |name: &&Ident| !names.is_bound(name);
    let is_host = |name: &&Ident| matches!(lowering.scope.get(name), Some(Binding::Host { .. }));
    match mentioned.iter().filter(free).find(is_host) {
        Some(name) => Err(report_misplaced_host_value(lowering, name)),
        None => Ok(()),
    }
}

/// Adds a statement for a built-in word.
pub(super) fn push_word(
    lowering: &mut Lowering<'_>,
    call: &ExprCall,
    name: Option<&Ident>,
    attributes: &[Attribute],
    kind: StatementKind,
    arguments: Vec<LaunchArgument>,
    accesses: Vec<SpannedAccess>,
) {
    let syntax = StatementSyntax { arguments, ..StatementSyntax::default() };
    let text = name.map_or_else(|| kind.name().to_owned(), ToString::to_string);
    let span = name.map_or_else(|| call.func.span(), Ident::span);
    let id = lowering.push(text, span, kind, syntax, accesses);
    apply_attributes(lowering, id, attributes);
    name_statement(lowering, name, id);
}

/// Returns the expression of a host value that the exec keeps alive.
pub(super) fn kept_value(lowering: &mut Lowering<'_>, host: &HostValue, what: &str) -> LowerResult<Expr> {
    let value = passed_value(lowering, host, &[])?;
    if host.is_resource() {
        let name = &host.name;
        let message = format!("`{name}` is taken by `&mut`, and {what} is shared with the exec");
        return Err(lowering.refuse(name, &message, "take it by `&`, with a lock inside if it changes"));
    }
    lowering.arguments.kept.insert(host.name.to_string());
    Ok(value)
}

/// Lowers an argument of a host statement: pinned memory, an argument that may be bound to managed memory,
/// or a host value.
fn host_argument(lowering: &mut Lowering<'_>, argument: &Expr) -> LowerResult<HostArgument> {
    if let Some(host) = host_value(&lowering.scope, argument) {
        return Ok(HostArgument::Value(Box::new(kept_value(
            lowering,
            &host,
            "what a host statement is given",
        )?)));
    }
    let (inner, borrow) = match bare(argument) {
        Expr::Reference(reference) => {
            let mutable = reference.mutability.is_some();
            (&*reference.expr, Some(if mutable { Borrow::Mutable } else { Borrow::Shared }))
        }
        inner => (inner, None),
    };
    let Some(view) = view_of(lowering, inner)? else {
        return Err(lowering.refuse(
            argument,
            "a host statement is given pinned or managed memory and host values",
            "scalars need not be given: name them in the function, `move |a| .. n ..`",
        ));
    };
    let buffer = lowering.program.buffer(view.buffer);
    // The build rejects an argument that is bound to device-only memory.
    if !matches!(buffer.origin, Origin::Pinned { .. } | Origin::Device { .. }) {
        let message =
            format!("`{}` is memory of the device, which the host statement cannot reach", buffer.name);
        return Err(lowering.refuse(
            argument,
            &message,
            "`copy` it to an argument `&mut Pinned<[T; len]>` first, and give that to `host`, or take it as an \
                argument that is bound to a `Managed`",
        ));
    }
    let mode = match borrow.or(view.borrow) {
        Some(Borrow::Mutable) => Mode::ReadWrite,
        Some(Borrow::Shared) => Mode::Read,
        None => {
            let text = compact(inner);
            return Err(lowering.refuse(
                argument,
                "a buffer is passed by reference",
                &format!("write `&{text}` or `&mut {text}`"),
            ));
        }
    };
    Ok(HostArgument::Buffer(lowering.program.access(&view, mode, inner.span())))
}

/// Collects the identifiers in tokens, except those after a dot.
fn identifiers(tokens: TokenStream, names: &mut Vec<Ident>) {
    let mut member = false;
    for token in tokens {
        let of_a_value = std::mem::replace(
            &mut member,
            matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '.'),
        );
        match token {
            TokenTree::Group(group) => identifiers(group.stream(), names),
            TokenTree::Ident(name) if !of_a_value => names.push(name),
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

/// Strips parentheses and groups.
fn bare(expr: &Expr) -> &Expr {
    match expr {
        Expr::Paren(inner) => bare(&inner.expr),
        Expr::Group(inner) => bare(&inner.expr),
        expr => expr,
    }
}
