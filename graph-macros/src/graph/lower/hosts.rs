//! Lowers host values: arguments that are only passed on to calls, host statements and events.

use cuweave_core::ids::ArgumentId;
use cuweave_core::structure::Argument;
use proc_macro2::Ident;
use syn::Expr;

use super::lowering::{LowerResult, Lowering, Reported};
use super::shapes::name_alone;
use crate::graph::scope::{Binding, Scope};

/// A host value as the argument of a call.
pub(super) struct HostValue {
    pub name: Ident,
    pub argument: ArgumentId,
    resource: bool,
    /// The borrow at the call: `Some(true)` for `&mut`, None if it is passed bare.
    borrow: Option<bool>,
}

impl HostValue {
    /// Returns true if it is passed as `&mut x`.
    pub fn is_borrowed_mutably(&self) -> bool {
        self.borrow == Some(true)
    }

    /// Returns true if the graph function takes it by `&mut`.
    pub fn is_resource(&self) -> bool {
        self.resource
    }
}

/// Returns the host value that an argument names: `x`, `&x` or `&mut x`.
pub(super) fn host_value(scope: &Scope, argument: &Expr) -> Option<HostValue> {
    match argument {
        Expr::Paren(paren) => host_value(scope, &paren.expr),
        Expr::Group(group) => host_value(scope, &group.expr),
        Expr::Reference(reference) => {
            let borrow = Some(reference.mutability.is_some());
            host_value(scope, &reference.expr)
                .filter(|host| host.borrow.is_none())
                .map(|host| HostValue { borrow, ..host })
        }
        Expr::Path(path) => {
            let name = path.path.get_ident()?;
            match *scope.get(name)? {
                Binding::Host { argument, resource } => {
                    Some(HostValue { name: name.clone(), argument, resource, borrow: None })
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// Returns the expression that passes a host value to a call. `earlier` are the preceding arguments of the
/// call.
pub(super) fn passed_value(
    lowering: &mut Lowering<'_>,
    host: &HostValue,
    earlier: &[Argument],
) -> LowerResult<Expr> {
    let name = &host.name;
    lowering.arguments.mention(&name.to_string());
    match host {
        HostValue { resource: true, borrow: Some(false), .. } => Err(lowering.refuse(
            name,
            &format!("`{name}` is taken by `&mut`, and so it is passed"),
            &format!("write `&mut {name}`"),
        )),
        HostValue { resource: false, borrow: Some(true), .. } => Err(lowering.refuse(
            name,
            &format!("`{name}` is taken by `&`, and cannot be passed by `&mut`"),
            "take it by `&mut`: the calls that are given it stay in the order of the program",
        )),
        HostValue { resource: true, .. } if earlier.contains(&Argument::Host(host.argument)) => Err(lowering
            .refuse(
                name,
                &format!("`{name}` is taken by `&mut`, and is passed to one call twice"),
                "pass it once",
            )),
        _ => Ok(syn::parse_quote!(#name)),
    }
}

/// Reports a host value used as a buffer or a scalar.
pub(super) fn report_misplaced_host_value(lowering: &mut Lowering<'_>, name: &Ident) -> Reported {
    lowering.arguments.mention(&name.to_string());
    let resource = matches!(lowering.scope.get(name), Some(Binding::Host { resource: true, .. }));
    let scalar = match resource {
        true => "a scalar, also one that it returns, by value".to_owned(),
        false => format!("a scalar by value, or by an expression such as `{name}.method()`"),
    };
    lowering.refuse(
        name,
        &format!("`{name}` is a host value, which only calls and host statements take"),
        &format!("pass it to a library call, to a graph function or to `host`; a buffer is declared as `&[T; len]`, \
            and {scalar}"),
    )
}

/// Returns true for the name of a host value whose methods may occur in scalar expressions.
pub(super) fn is_host_value_name(scope: &Scope, expr: &Expr) -> bool {
    let host = |name: &Ident| matches!(scope.get(name), Some(Binding::Host { resource: false, .. }));
    name_alone(expr).is_some_and(host)
}
