//! Binds names of scalars, as in `let dim = heads * head_dim;`, and classifies expressions that yield
//! scalars.
//!
//! A scalar's name is not a variable in generated code: its expression is substituted at each use.

use proc_macro2::Ident;
use syn::{Expr, Type};

use super::hosts::is_host_value_name;
use super::lowering::Lowering;
use super::shapes::{is_scalar_expression, name_alone, ungrouped};
use crate::dims::typed;
use crate::graph::scope::{Binding, Scope};

/// Lowers `let dim = heads * head_dim;`.
pub(super) fn name_scalar(lowering: &mut Lowering<'_>, name: &Ident, value: &Expr) {
    let value = lowering.substituted(value);
    bind_scalar_expr(lowering, name, &value);
}

/// Binds a name to a scalar expression. Names in the expression must be substituted already.
pub(super) fn bind_scalar_expr(lowering: &mut Lowering<'_>, name: &Ident, value: &Expr) {
    lowering.scope.bind_scalar(name, syn::parse_quote!((#value)));
}

/// Lowers `let dim: u64 = n as u64 * 2;`. rustc checks the expression against the type.
pub(super) fn typed_scalar(lowering: &mut Lowering<'_>, name: &Ident, ty: &Type, value: &Expr) {
    let value = lowering.substituted(value);
    bind_typed_scalar(lowering, name, ty, &value);
}

/// Binds a name to a scalar expression of a given type. Names in the expression must be substituted
/// already.
pub(super) fn bind_typed_scalar(lowering: &mut Lowering<'_>, name: &Ident, ty: &Type, value: &Expr) {
    let typed: Expr = typed(ty, value);
    lowering.typed.push(typed.clone());
    lowering.scope.bind_scalar(name, typed);
}

/// Returns true if the expression yields a scalar, by its syntax, or because it is a scalar's name or an
/// element of one.
pub(super) fn is_scalar_value(scope: &Scope, expr: &Expr) -> bool {
    let mut whole = expr;
    while let Expr::Field(syn::ExprField { base: inner, .. })
    | Expr::Index(syn::ExprIndex { expr: inner, .. }) = ungrouped(whole)
    {
        whole = inner;
    }
    // A bare host value is not a scalar, but its fields may be.
    let of_host = is_host_value_name(scope, whole) && name_alone(expr).is_none();
    is_scalar_expression(expr) || of_host || is_scalar_name(scope, ungrouped(whole))
}

/// Returns true for a launch configuration or a part of one: `(grid, block)`, `per_item(n)`.
pub(super) fn is_launch_config(scope: &Scope, expr: &Expr) -> bool {
    match ungrouped(expr) {
        Expr::Tuple(tuple) => {
            let part = |part: &Expr| {
                is_scalar_value(scope, part) || is_unbound_path(scope, part) || is_launch_config(scope, part)
            };
            !tuple.elems.is_empty() && tuple.elems.iter().all(part)
        }
        Expr::Call(call) => match ungrouped(&call.func) {
            Expr::Path(path) => {
                let configures = |name: &Ident| name == "per_item" || name == "LaunchConfig";
                path.path.segments.iter().any(|segment| configures(&segment.ident))
            }
            _ => false,
        },
        Expr::Struct(literal) => {
            literal.path.segments.last().is_some_and(|last| last.ident == "LaunchConfig")
        }
        _ => false,
    }
}

/// Returns true for the name of a scalar.
pub(super) fn is_scalar_name(scope: &Scope, expr: &Expr) -> bool {
    matches!(expr, Expr::Path(path) if path.path.get_ident().is_some_and(|name| {
        scope.is_scalar(name) && matches!(scope.get(name), Some(Binding::Number) | None)
    }))
}

/// Returns true for a path that the function does not bind: a constant, or a name that rustc will not find.
pub(super) fn is_unbound_path(scope: &Scope, expr: &Expr) -> bool {
    matches!(ungrouped(expr), Expr::Path(path) if path.qself.is_none()
        && path.path.get_ident().is_none_or(|name| !scope.is_scalar(name) && scope.get(name).is_none()))
}
