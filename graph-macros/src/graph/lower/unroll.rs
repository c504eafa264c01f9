//! Unrolls loops whose iterations are known at compile time: each iteration is lowered separately.

use cuweave_core::codes::Code;
use proc_macro2::Span;
use syn::{Expr, RangeLimits};

use super::lowering::Lowering;
use super::nesting::MAX_STATEMENTS;
use crate::graph::scope::Scope;
use crate::substitution::constant;

/// Lowers an iteration per number, up to the limits of [`super::nesting`].
pub(super) fn unroll(
    lowering: &mut Lowering<'_>,
    span: Span,
    iterations: std::ops::Range<i128>,
    mut iteration: impl FnMut(&mut Lowering<'_>, i128),
) {
    let outermost = lowering.nesting.begin_unrolling(lowering.program.next_statement(), span);
    for value in iterations {
        iteration(lowering, value);
        if let Some(span) = lowering.nesting.count_iteration(lowering.program.next_statement()) {
            // The rest of the loop is not lowered, so its effects are unknown.
            lowering.program.poison_all();
            lowering.report.error(
                span,
                Code::CW001,
                &format!("this loop unrolls to more than {MAX_STATEMENTS} statements"),
                &[],
                Some("launch a graph of fewer steps several times"),
            );
        }
        if lowering.nesting.is_too_long() {
            break;
        }
    }
    if outermost {
        lowering.nesting.end_unrolling();
    }
}

/// Returns the ends of `0..4` or `0..=3`, as a half-open range.
pub(super) fn literal_range(scope: &Scope, expr: &Expr) -> Option<(i128, i128)> {
    let range = match expr {
        Expr::Paren(inner) => return literal_range(scope, &inner.expr),
        Expr::Group(inner) => return literal_range(scope, &inner.expr),
        Expr::Range(range) => range,
        _ => return None,
    };
    let from = constant(range.start.as_deref()?, scope.substitutions())?;
    let to = constant(range.end.as_deref()?, scope.substitutions())?;
    Some(match range.limits {
        RangeLimits::HalfOpen(_) => (from, to),
        RangeLimits::Closed(_) => (from, to.checked_add(1)?),
    })
}
