//! Syntactic predicates on expressions, independent of what their names are bound to.

use proc_macro2::Ident;
use syn::{Expr, ExprMethodCall};

/// Strips the invisible groups that `macro_rules!` puts around its arguments.
pub(super) fn ungrouped(mut expr: &Expr) -> &Expr {
    while let Expr::Group(group) = expr {
        expr = &group.expr;
    }
    expr
}

/// Returns the name if the callee is a constructor of `Result` or `Option`.
pub(super) fn result_word(function: &Expr) -> Option<String> {
    let Expr::Path(path) = ungrouped(function) else { return None };
    let name = path.path.get_ident()?.to_string();
    ["Ok", "Err", "Some"].contains(&name.as_str()).then_some(name)
}

pub(super) fn is_named(function: &Expr, name: &str) -> bool {
    matches!(function, Expr::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == name))
}

/// Returns the name at the root of `w`, `w[i]` and `w[lo..hi]`.
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

/// Returns the name if the expression is only a name, possibly borrowed or in parentheses.
pub(super) fn name_alone(expr: &Expr) -> Option<&Ident> {
    match expr {
        Expr::Path(path) => path.path.get_ident(),
        Expr::Paren(inner) => name_alone(&inner.expr),
        Expr::Group(inner) => name_alone(&inner.expr),
        Expr::Reference(inner) => name_alone(&inner.expr),
        _ => None,
    }
}

/// Returns true if the syntax alone shows that the expression is a scalar.
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

/// Strips `.rev()` from the iterated expression of a loop. The second result is true if the order is
/// reversed.
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

/// Returns true if the last expression of a body is its tail, not a statement with a forgotten semicolon.
pub(super) fn is_tail(expr: &Expr) -> bool {
    matches!(expr, Expr::Path(_) | Expr::Tuple(_) | Expr::Paren(_))
}

/// The method calls of rows, and the buffer that they are taken of.
pub(super) struct RowsCall<'e> {
    pub buffer: &'e Expr,
    pub rows: &'e ExprMethodCall,
    pub planes: Option<&'e ExprMethodCall>,
}

/// Returns the calls `rows` and `planes` of an expression. `rows` is the outer call if there is no inner one.
pub(super) fn rows_call(expr: &Expr) -> Option<RowsCall<'_>> {
    match expr {
        Expr::Paren(inner) => rows_call(&inner.expr),
        Expr::Group(inner) => rows_call(&inner.expr),
        Expr::MethodCall(call) if call.method == "rows" => {
            Some(RowsCall { buffer: &call.receiver, rows: call, planes: None })
        }
        Expr::MethodCall(call) if call.method == "planes" => match rows_call(&call.receiver) {
            Some(RowsCall { buffer, rows, planes: None }) => {
                Some(RowsCall { buffer, rows, planes: Some(call) })
            }
            _ => Some(RowsCall { buffer: &call.receiver, rows: call, planes: None }),
        },
        _ => None,
    }
}

/// Returns the buffer of which an expression takes rows. None for other expressions.
pub(super) fn buffer_of_rows(expr: &Expr) -> Option<&Expr> {
    rows_call(expr).map(|call| call.buffer)
}
