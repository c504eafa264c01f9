//! The shapes of expressions, whatever their names are bound to.

use proc_macro2::Ident;
use syn::Expr;

/// Returns the expression inside the groups that `macro_rules!` puts around its arguments.
pub(super) fn ungrouped(mut expr: &Expr) -> &Expr {
    while let Expr::Group(group) = expr {
        expr = &group.expr;
    }
    expr
}

/// Returns the constructor of a `Result` or an `Option` that an expression calls.
pub(super) fn result_word(function: &Expr) -> Option<String> {
    let Expr::Path(path) = ungrouped(function) else { return None };
    let name = path.path.get_ident()?.to_string();
    ["Ok", "Err", "Some"].contains(&name.as_str()).then_some(name)
}

pub(super) fn is_named(function: &Expr, name: &str) -> bool {
    matches!(function, Expr::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == name))
}

/// Returns the name at the root of `w`, `w[i]`, `w[lo..hi]`.
pub(super) fn root(expr: &Expr) -> Option<&Ident> {
    let mut expr = expr;
    loop {
        match expr {
            Expr::Path(path) => return path.path.get_ident(),
            Expr::Index(index) => expr = &index.expr,
            Expr::Paren(inner) => expr = &inner.expr,
            _ => return None,
        }
    }
}

/// Returns the name that an expression is, also borrowed or in parentheses.
pub(super) fn name_alone(expr: &Expr) -> Option<&Ident> {
    match expr {
        Expr::Path(path) => path.path.get_ident(),
        Expr::Paren(inner) => name_alone(&inner.expr),
        Expr::Group(inner) => name_alone(&inner.expr),
        Expr::Reference(inner) => name_alone(&inner.expr),
        _ => None,
    }
}

/// Returns true if the syntax of an expression is that of a scalar.
pub(super) fn is_scalar_expression(expr: &Expr) -> bool {
    match expr {
        Expr::Paren(inner) => is_scalar_expression(&inner.expr),
        Expr::Group(inner) => is_scalar_expression(&inner.expr),
        Expr::Unary(unary) => !matches!(unary.op, syn::UnOp::Deref(_)),
        Expr::MethodCall(call) => call.method != "split_at_mut",
        Expr::Binary(_) | Expr::Lit(_) | Expr::Cast(_) => true,
        _ => false,
    }
}

/// Returns the iterated expression of a loop without its `.rev()`, and true if it has one.
pub(super) fn reversed(over: &Expr) -> (&Expr, bool) {
    match over {
        Expr::Paren(inner) => reversed(&inner.expr),
        Expr::Group(inner) => reversed(&inner.expr),
        Expr::MethodCall(call) if call.method == "rev" && call.args.is_empty() => {
            let (inner, backwards) = reversed(&call.receiver);
            (inner, !backwards)
        }
        inner => (inner, false),
    }
}

/// Returns true if the last expression of a body is a tail rather than a statement without a semicolon.
pub(super) fn is_tail(expr: &Expr) -> bool {
    matches!(expr, Expr::Path(_) | Expr::Tuple(_) | Expr::Paren(_))
}
