//! Lowers expressions to views: ranges of buffers.

use cuweave_core::ir::Origin;
use proc_macro2::Ident;
use syn::spanned::Spanned;
use syn::{Expr, RangeLimits};

use super::hosts::report_misplaced_host_value;
use super::lowering::{LowerResult, Lowering, Reported};
use super::places::place_view;
use super::shapes::buffer_of_rows;
use crate::dims::DimExpr;
use crate::graph::scope::{Binding, Borrow, View};
use crate::substitution::constant;

/// Returns the view that an expression denotes: `b`, `b[lo..hi]`, `w[2]`, `w[i][..k]`, with or without `&`.
pub(super) fn view_of(lowering: &mut Lowering<'_>, expr: &Expr) -> LowerResult<Option<View>> {
    match expr {
        Expr::Paren(inner) => view_of(lowering, &inner.expr),
        Expr::Group(inner) => view_of(lowering, &inner.expr),
        Expr::Reference(inner) => view_of(lowering, &inner.expr),
        Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => view_of(lowering, &unary.expr),
        Expr::Path(path) => match path.path.get_ident().and_then(|name| lowering.scope.get(name)) {
            Some(Binding::View(view)) => Ok(Some(view.clone())),
            Some(Binding::Unknown) => Err(Reported),
            Some(Binding::Moved(to, _)) => {
                let message = format!("this name was moved from: its buffer is now called `{to}`");
                Err(lowering.refuse(
                    expr,
                    &message,
                    "give the name an allocation again, or use the other name",
                ))
            }
            Some(Binding::Part(place)) => {
                let place = place.clone();
                lowering.place(expr)?;
                place_view(lowering, &place, expr).map(Some)
            }
            Some(Binding::Array(..)) => Err(lowering.refuse(
                expr,
                "an array of buffers is not a buffer",
                "index it with a literal or with the variable of a loop",
            )),
            Some(Binding::Statement) => Err(lowering.refuse(
                expr,
                "this names a statement, not a buffer",
                "pass an allocation or an argument",
            )),
            Some(Binding::Host { .. }) => match path.path.get_ident() {
                Some(name) => Err(report_misplaced_host_value(lowering, name)),
                None => Ok(None),
            },
            Some(Binding::Number) | None => Ok(None),
        },
        Expr::Field(_) => match lowering.place(expr)? {
            Some(place) => place_view(lowering, &place, expr).map(Some),
            None => Ok(None),
        },
        Expr::Index(index) => indexed_view(lowering, expr, index),
        Expr::MethodCall(_) => match buffer_of_rows(expr) {
            Some(buffer) if view_of(lowering, buffer)?.is_some() => Err(lowering.refuse(
                expr,
                "rows of a buffer are arguments of `copy` and `fill` only",
                "`copy` them into an allocation and use that, or pass the buffer, and the pitch as a scalar",
            )),
            _ => Ok(None),
        },
        _ => Ok(None),
    }
}

pub(super) fn indexed_view(
    lowering: &mut Lowering<'_>,
    expr: &Expr,
    index: &syn::ExprIndex,
) -> LowerResult<Option<View>> {
    if let Expr::Path(path) = &*index.expr
        && let Some(Binding::Array(views, array)) =
            path.path.get_ident().and_then(|name| lowering.scope.get(name))
        && !matches!(&*index.index, Expr::Range(_))
    {
        let (views, array) = (views.clone(), array.clone());
        lowering.names(&index.index);
        let Some(at) = constant(&index.index, lowering.scope.substitutions()) else {
            let (bound, written) = (lowering.bound(&index.index), lowering.substituted(&index.index));
            let dim = lowering.program.dims.intern(bound);
            lowering.arguments.mention_root(&array);
            return place_view(lowering, &array.element(dim, &written), expr).map(Some);
        };
        return match usize::try_from(at).ok().and_then(|at| views.get(at)) {
            Some(view) => Ok(Some(view.clone())),
            None => {
                let message = format!("the index is {at}, but the array has {} buffers", views.len());
                Err(lowering.refuse(&index.index, &message, "stay below the length of the array"))
            }
        };
    }
    if !matches!(&*index.index, Expr::Range(_))
        && let Some(place) = lowering.place(expr)?
    {
        return place_view(lowering, &place, expr).map(Some);
    }
    let Some(view) = view_of(lowering, &index.expr)? else { return Ok(None) };
    let Expr::Range(range) = &*index.index else {
        let help = match lowering.program.buffer(view.buffer).origin {
            Origin::Taken => {
                "an argument `[T; len]` is an allocation of another graph: for numbers, take scalars or a struct by \
                    value"
            }
            _ => {
                "take a range of it: `&x[i..i + 1]`; for a number that the host knows, take a scalar argument"
            }
        };
        return Err(lowering.refuse(expr, "an element of a buffer is neither a buffer nor a scalar", help));
    };
    let lo = match &range.start {
        Some(start) => {
            let start = lowering.bound(start);
            lowering.program.dims.sum(&view.lo, &start)
        }
        None => view.lo.clone(),
    };
    let hi = match &range.end {
        Some(end) => {
            let end = lowering.bound(end);
            let end = match range.limits {
                RangeLimits::HalfOpen(_) => end,
                RangeLimits::Closed(_) => lowering.program.dims.sum(&end, &DimExpr::constant(1)),
            };
            lowering.program.dims.sum(&view.lo, &end)
        }
        None => view.hi.clone(),
    };
    if range.start.is_some() || range.end.is_some() {
        lowering.program.check_part(&view, &lo, &hi, expr.span());
    }
    Ok(Some(View { lo, hi, ..view }))
}

pub(super) fn split_at(
    lowering: &mut Lowering<'_>,
    names: [Option<&Ident>; 2],
    receiver: &Expr,
    at: &Expr,
) -> LowerResult<()> {
    let Some(view) = view_of(lowering, receiver)? else {
        return Err(lowering.refuse(
            receiver,
            "`split_at_mut` needs a buffer",
            "split an allocation, an argument or a part of one",
        ));
    };
    let middle = lowering.bound(at);
    let middle = lowering.program.dims.sum(&view.lo, &middle);
    lowering.program.check_part(&view, &view.lo, &middle, at.span());
    let borrow = Some(match view.borrow {
        Some(Borrow::Shared) => Borrow::Shared,
        _ => Borrow::Mutable,
    });
    let low = View { buffer: view.buffer, lo: view.lo, hi: middle.clone(), borrow };
    let high = View { buffer: view.buffer, lo: middle, hi: view.hi, borrow };
    for (name, half) in names.into_iter().zip([low, high]) {
        if let Some(name) = name {
            lowering.scope.bind(name, Binding::View(half));
        }
    }
    Ok(())
}
