//! Lowers the tail of a body: the allocations that the graph returns, its own and those that it has taken over.

use syn::Expr;
use syn::spanned::Spanned;

use super::accesses::report_unknown_name;
use super::lowering::{Lowering, Reported};
use super::shapes::result_word;
use super::unsupported;
use super::views::view_of;
use crate::graph::signature::{ReturnedBuffer, Signature};

pub(super) fn lower_tail(lowering: &mut Lowering<'_>, tail: &Expr, signature: &Signature) {
    if let (Expr::Path(path), []) = (tail, signature.returned.as_slice())
        && path.path.get_ident().is_none_or(|name| lowering.scope.get(name).is_none())
    {
        let _ = lowering.refuse_as(tail, unsupported::expression(tail, false));
        return;
    }
    let names: Vec<&Expr> = match tail {
        Expr::Tuple(tuple) => tuple.elems.iter().collect(),
        Expr::Paren(inner) => vec![&*inner.expr],
        one => vec![one],
    };
    if names.len() != signature.returned.len() {
        let message = format!(
            "the function returns {}, but its body ends with {}",
            count(signature.returned.len()),
            count(names.len())
        );
        let help = match signature.returned.as_slice() {
            [] => "declare the return type: `-> [T; len]` for each allocation, in parentheses for several",
            _ => "return each allocation by its name, in the order of the return type",
        };
        let _ = lowering.refuse(tail, &message, help);
        return;
    }
    for (name, returned) in names.into_iter().zip(&signature.returned) {
        lower_output(lowering, name, returned);
    }
}

/// Lowers the name of a returned allocation.
fn lower_output(lowering: &mut Lowering<'_>, name: &Expr, returned: &ReturnedBuffer) {
    let Ok(view) = view_of(lowering, name) else { return };
    // rustc reports an unbound name.
    if let (None, Expr::Path(path)) = (&view, name)
        && let Some(unknown) = path.path.get_ident().filter(|name| !lowering.scope.is_scalar(name))
    {
        let Reported = report_unknown_name(lowering, unknown);
        return;
    }
    let Some(view) = view.filter(|view| lowering.program.is_whole(view)) else {
        let help = match name {
            Expr::Call(call) if result_word(&call.func).is_some() => {
                "write the name of the allocation alone: errors are those of the function that builds the graph"
            }
            _ => "end the body with the name of an allocation",
        };
        let _ = lowering.refuse(name, "only whole allocations leave a graph", help);
        return;
    };
    let buffer = lowering.program.buffer(view.buffer);
    if !buffer.origin.is_owned() {
        let message = format!(
            "`{}` is borrowed: only allocations leave a graph, its own and those that it has taken over",
            buffer.name
        );
        let _ = lowering.refuse(name, &message, "`copy` it into an allocation and return that");
        return;
    }
    if lowering.program.is_condition(view.buffer) {
        let _ = lowering.refuse(name, "a condition does not leave its graph", "return buffers only");
        return;
    }
    let declared = lowering.bound(&returned.len);
    let declared = lowering.program.dims.intern(declared);
    lowering.program.add_output(view.buffer, declared, name.span());
}

fn count(n: usize) -> String {
    match n {
        0 => "nothing".to_owned(),
        1 => "one value".to_owned(),
        n => format!("{n} values"),
    }
}
