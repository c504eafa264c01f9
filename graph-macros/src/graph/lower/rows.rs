//! Lowers rows of a buffer, which `copy` and `fill` take: `&b[lo..].rows(h, w, pitch)`, and
//! `&b.rows(h, w, pitch).planes(d, height)`.

use cuweave_core::ir::{Access, Mode, Rows};
use syn::spanned::Spanned;
use syn::{Expr, ExprMethodCall};

use super::accesses::buffer_argument;
use super::lowering::{LowerResult, Lowering};
use super::program::SpannedAccess;
use super::shapes::{RowsCall, rows_call};
use crate::dims::{DimExpr, compact};
use crate::graph::scope::View;

const USAGE: &str = "write `&b.rows(h, w, pitch)`: h rows of w elements, each beginning `pitch` elements after the one \
    before; and `.planes(d, height)` after it: d planes, each beginning `height` rows after the one before";

/// Returns the access of an argument of `fill` or `copy`: a buffer, a range of one, or rows of one.
pub(super) fn transfer_argument(
    lowering: &mut Lowering<'_>,
    argument: &Expr,
    statement: &str,
    mode: Mode,
) -> LowerResult<SpannedAccess> {
    let (reference, inner) = match argument {
        Expr::Reference(reference) => (Some(reference), &*reference.expr),
        other => (None, other),
    };
    let Some(RowsCall { buffer, rows, planes }) = rows_call(inner) else {
        return buffer_argument(lowering, argument, statement, mode);
    };
    let counts = |call: &ExprMethodCall, name: &str, count: usize| {
        call.method == name && call.args.len() == count && call.turbofish.is_none()
    };
    if !counts(rows, "rows", 3) || !planes.is_none_or(|planes| counts(planes, "planes", 2)) {
        let call = planes.filter(|_| counts(rows, "rows", 3)).unwrap_or(rows);
        let message = format!("`{}` does not take these arguments here", call.method);
        return Err(lowering.refuse(argument, &message, USAGE));
    }
    if let Some(planes) = planes.filter(|_| statement == "fill") {
        let help = format!(
            "no memset node fills planes: `fill` the rows of each plane in a loop, or `{}.rows(..)` of all planes if \
                they have no rows between them",
            compact(buffer)
        );
        return Err(lowering.refuse(&planes.method, "`fill` takes rows, and no planes", &help));
    }
    let of = match reference {
        Some(reference) => {
            Expr::Reference(syn::ExprReference { expr: Box::new(buffer.clone()), ..reference.clone() })
        }
        None => buffer.clone(),
    };
    let SpannedAccess { access, span } = buffer_argument(lowering, &of, statement, mode)?;
    let given = [&rows.args[0], &rows.args[1], &rows.args[2]].map(|number| lowering.bound(number));
    let [count, width, pitch] = given;
    let (planes, height) = match planes {
        Some(call) => (lowering.bound(&call.args[0]), lowering.bound(&call.args[1])),
        None => (DimExpr::constant(1), count.clone()),
    };
    let program = &mut lowering.program;
    let [lo, end] = [access.lo, access.hi].map(|dim| program.dims.bound(dim).clone());
    let view = View { buffer: access.buffer, lo: lo.clone(), hi: end, borrow: None };
    let numbers = [count, width, pitch, planes, height];
    let hi = program.dims.end_of_rows(&lo, &numbers);
    program.check_part(&view, &lo, &hi, rows.span());
    let hi = program.dims.intern(hi);
    let rows = Some(Rows::from_dims(numbers.map(|number| program.dims.intern(number))));
    Ok(SpannedAccess { access: Access { hi, rows, ..access }, span })
}
