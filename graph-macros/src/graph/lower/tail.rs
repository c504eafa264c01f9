//! Lowers the tail: the allocations that leave the graph.

use cuweave_core::ir::Origin;
use syn::Expr;
use syn::spanned::Spanned;

use super::calls::result_word;
use super::{Lowering, Reported, refused};
use crate::graph::signature::{Returned, Signature};

impl Lowering<'_> {
    pub(super) fn tail(&mut self, tail: &Expr, signature: &Signature) {
        if let (Expr::Path(path), []) = (tail, signature.returned.as_slice())
            && path.path.get_ident().is_none_or(|name| self.scopes.get(name).is_none())
        {
            let _ = self.refuse_as(tail, refused::expression(tail, false));
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
                [] => {
                    "declare the return type: `-> [T; len]` for each allocation, in parentheses for several"
                }
                _ => "return each allocation by its name, in the order of the return type",
            };
            let _ = self.refuse(tail, &message, help);
            return;
        }
        for (name, returned) in names.into_iter().zip(&signature.returned) {
            self.output(name, returned);
        }
    }

    /// Lowers the name of a returned allocation.
    fn output(&mut self, name: &Expr, returned: &Returned) {
        let Ok(view) = self.view(name) else { return };
        // rustc reports an unbound name.
        if let (None, Expr::Path(path)) = (&view, name)
            && let Some(unknown) = path.path.get_ident().filter(|name| !self.is_scalar(name))
        {
            let Reported = self.no_such_buffer(unknown);
            return;
        }
        let Some(view) = view.filter(|view| self.is_whole(view)) else {
            let help = match name {
                Expr::Call(call) if result_word(&call.func).is_some() => {
                    "write the name of the allocation alone: errors are those of the function that builds the graph"
                }
                _ => "end the body with the name of an allocation",
            };
            let _ = self.refuse(name, "only whole allocations leave a graph", help);
            return;
        };
        if !matches!(self.buffers[view.buffer].origin, Origin::Alloc(_)) {
            let message = format!(
                "`{}` is an argument: only allocations of this graph leave it",
                self.buffers[view.buffer].name
            );
            let _ = self.refuse(name, &message, "`copy` it into an allocation and return that");
            return;
        }
        let declared = self.bound(&returned.len);
        let declared = self.dim(declared);
        let len = self.buffers[view.buffer].len;
        if declared != len {
            self.returned_lengths.push((view.buffer, declared, len));
        }
        self.outputs.push(view.buffer);
        self.spans.outputs.push(name.span());
    }
}

fn count(n: usize) -> String {
    match n {
        0 => "nothing".to_owned(),
        1 => "one value".to_owned(),
        n => format!("{n} values"),
    }
}

/// Returns true if the last expression of a body is a tail rather than a statement without a semicolon.
pub(super) fn is_tail(expr: &Expr) -> bool {
    matches!(expr, Expr::Path(_) | Expr::Tuple(_) | Expr::Paren(_))
}
