//! Lowers the buffer arguments of statements to accesses.

use cuweave_core::ir::{Mode, Origin};
use proc_macro2::Ident;
use syn::spanned::Spanned;
use syn::{Expr, ExprCall};

use super::lowering::{LowerResult, Lowering, Reported};
use super::program::SpannedAccess;
use super::shapes::{is_named, root};
use super::views::view_of;
use crate::dims::compact;
use crate::graph::scope::{Borrow, View};

/// Returns the access of a launch argument. None for a scalar.
pub(super) fn launch_argument(
    lowering: &mut Lowering<'_>,
    argument: &Expr,
    kernel: &str,
) -> LowerResult<Option<SpannedAccess>> {
    let (inner, mode) = match argument {
        Expr::Paren(paren) => return launch_argument(lowering, &paren.expr, kernel),
        Expr::Group(group) => return launch_argument(lowering, &group.expr, kernel),
        Expr::Call(call) if is_named(&call.func, "atomic") && call.args.len() == 1 => match &call.args[0] {
            Expr::Reference(reference) if reference.mutability.is_some() => (&*reference.expr, Mode::Atomic),
            inner => match view_of(lowering, inner)? {
                Some(View { borrow: Some(Borrow::Mutable), .. }) => (inner, Mode::Atomic),
                _ => {
                    return Err(lowering.refuse(
                        argument,
                        "`atomic` takes a buffer by `&mut`",
                        "write `atomic(&mut b)`",
                    ));
                }
            },
        },
        Expr::Reference(reference) if reference.mutability.is_some() => (&*reference.expr, Mode::ReadWrite),
        Expr::Reference(reference) => (&*reference.expr, Mode::Read),
        bare => match bare_view(lowering, bare)? {
            Some(View { borrow: Some(Borrow::Shared), .. }) => (bare, Mode::Read),
            Some(View { borrow: Some(Borrow::Mutable), .. }) => (bare, Mode::ReadWrite),
            // A launch can only set it.
            Some(View { borrow: None, buffer, .. }) if lowering.program.is_condition(buffer) => {
                (bare, Mode::ReadWrite)
            }
            Some(View { borrow: None, buffer, .. }) => {
                let what = match lowering.program.buffer(buffer).origin {
                    Origin::Part(_) => "a part of a buffer of a record is passed by reference",
                    _ => "a buffer that the graph owns is passed by reference",
                };
                let mut help = format!("write `&{0}`, `&mut {0}` or `atomic(&mut {0})`", compact(bare));
                if let Some(function) = lowering.program.returning_call(buffer) {
                    help.push_str(&format!(
                        "; if `{function}` is an ordinary function of scalars, write the type: `let {}: T = \
                            {function}(..);`",
                        compact(bare)
                    ));
                }
                return Err(lowering.refuse(bare, what, &help));
            }
            None => return Ok(None),
        },
    };
    let Some(view) = view_of(lowering, inner)? else {
        return match inner {
            Expr::Path(_) | Expr::Index(_)
                if root(inner).is_some_and(|name| !lowering.scope.is_scalar(name)) =>
            {
                Err(report_not_a_buffer(lowering, inner, kernel))
            }
            _ => Ok(None),
        };
    };
    Ok(Some(lowering.program.access(&view, mode, inner.span())))
}

/// Returns the view that an expression without `&` denotes. None for a scalar, including a bare field of a
/// record.
pub(super) fn bare_view(lowering: &mut Lowering<'_>, expr: &Expr) -> LowerResult<Option<View>> {
    match lowering.place(expr)? {
        Some(place) if !place.is_whole() && place.implied_borrow().is_none() => Ok(None),
        _ => view_of(lowering, expr),
    }
}

/// Returns the access of a buffer argument of `fill` or `copy`.
pub(super) fn buffer_argument(
    lowering: &mut Lowering<'_>,
    argument: &Expr,
    statement: &str,
    mode: Mode,
) -> LowerResult<SpannedAccess> {
    let reference = match argument {
        Expr::Reference(reference) => Some(reference),
        _ => None,
    };
    let inner = reference.map_or(argument, |reference| &reference.expr);
    let view = if reference.is_some() { view_of(lowering, inner)? } else { bare_view(lowering, inner)? };
    let Some(view) = view else { return Err(report_not_a_buffer(lowering, inner, statement)) };
    let mutable = match (reference, view.borrow) {
        (Some(reference), _) => reference.mutability.is_some(),
        (None, Some(borrow)) => borrow == Borrow::Mutable,
        (None, None) => {
            let borrow = if mode == Mode::Write { "&mut " } else { "&" };
            return Err(lowering.refuse(
                argument,
                "a buffer that the graph owns is passed by reference",
                &format!("write `{borrow}{}`", compact(inner)),
            ));
        }
    };
    // A shared argument passed bare but written is reported later by CW205, like one passed by `&mut`.
    if mode == Mode::Write && !mutable && reference.is_some() {
        return Err(lowering.refuse(
            argument,
            &format!("`{statement}` writes this argument"),
            &format!("write `&mut {}`", compact(inner)),
        ));
    }
    Ok(lowering.program.access(&view, mode, inner.span()))
}

/// Reports a copy whose arguments are in the order of C's `memcpy`.
pub(super) fn reject_swapped_copy(lowering: &mut Lowering<'_>, call: &ExprCall) -> LowerResult<()> {
    let (Some(Expr::Reference(to)), Some(Expr::Reference(from))) = (call.args.first(), call.args.get(1))
    else {
        return Ok(());
    };
    if to.mutability.is_none() || from.mutability.is_some() {
        return Ok(());
    }
    let help = format!("write `copy(&{}, &mut {})`", compact(&from.expr), compact(&to.expr));
    let reported =
        lowering.refuse(call, "`copy` takes what it reads first, and what it writes second", &help);
    lowering.poison(quote::ToTokens::to_token_stream(&call.args));
    Err(reported)
}

/// Reports an argument that is not a buffer. A name that is not bound in the function is left for rustc to
/// report.
pub(super) fn report_not_a_buffer(lowering: &mut Lowering<'_>, at: &Expr, user: &str) -> Reported {
    if let Some(name) =
        root(at).filter(|name| !lowering.scope.is_scalar(name) && lowering.scope.get(name).is_none())
    {
        return report_unknown_name(lowering, &name.clone());
    }
    let (message, help) = match root(at).filter(|name| lowering.scope.is_scalar(name)) {
        Some(name) => (
            format!("`{name}` is a scalar, and this argument of `{user}` is a buffer"),
            "pass an allocation, `let b = alloc::<T>(len);`, or an argument by `&` or `&mut`",
        ),
        None => (
            format!("this argument of `{user}` is not a buffer"),
            "pass an allocation or an argument by `&` or `&mut`",
        ),
    };
    lowering.refuse(at, &message, help)
}

/// Records a name that is not bound in the function, for rustc to report.
pub(super) fn report_unknown_name(lowering: &mut Lowering<'_>, name: &Ident) -> Reported {
    lowering.program.poison_nearest(&name.to_string());
    lowering.unknown.push(name.clone());
    Reported
}

pub(super) fn reject_pinned(
    lowering: &mut Lowering<'_>,
    access: &SpannedAccess,
    at: &Expr,
    user: &str,
) -> LowerResult<()> {
    let buffer = lowering.program.buffer(access.access.buffer);
    if buffer.origin.is_pinned() {
        let message = format!("`{}` is pinned host memory, which `{user}` does not take", buffer.name);
        return Err(lowering.refuse(at, &message, "`copy` it to or from a device buffer"));
    }
    Ok(())
}
