//! How expressions of the user change where a size rises.

use cuweave_core::index::Index;
use cuweave_core::ir::DimId;
use cuweave_core::table::Trend;
use syn::{BinOp, Expr};

use super::lower::{ExprNames, Lowered, expression};

/// Returns the trend of an expression over a scalar.
pub fn of_expr(expr: &Expr, size: &str) -> Trend {
    let of = |expr: &Expr| of_expr(expr, size);
    match expr {
        Expr::Paren(inner) => of(&inner.expr),
        Expr::Group(inner) => of(&inner.expr),
        Expr::Cast(cast) => of(&cast.expr),
        Expr::Path(path) if path.path.is_ident(size) => Trend::Rises,
        Expr::Binary(binary) => {
            let (left, right) = (of(&binary.left), of(&binary.right));
            match binary.op {
                BinOp::Add(_) | BinOp::Mul(_) | BinOp::Shl(_) => left.with(right),
                BinOp::Sub(_) | BinOp::Div(_) | BinOp::Shr(_) => left.with(right.reversed()),
                _ if left == Trend::Constant && right == Trend::Constant => Trend::Constant,
                _ => Trend::Unknown,
            }
        }
        Expr::MethodCall(call) => {
            let mut arguments = call.args.iter().map(of);
            let (receiver, first) = (of(&call.receiver), arguments.next().unwrap_or(Trend::Constant));
            if arguments.any(|argument| argument != Trend::Constant) {
                return Trend::Unknown;
            }
            match call.method.to_string().as_str() {
                "min" | "max" | "saturating_add" | "saturating_mul" => receiver.with(first),
                "saturating_sub" | "div_ceil" => receiver.with(first.reversed()),
                _ if first != Trend::Constant => Trend::Unknown,
                "next_multiple_of" | "clamp" | "pow" | "saturating_pow" | "next_power_of_two" | "isqrt"
                | "ilog2" | "ilog10" | "into" | "clone" | "get" => receiver,
                _ if receiver == Trend::Constant => Trend::Constant,
                _ => Trend::Unknown,
            }
        }
        Expr::Call(call) => {
            let is_from = matches!(&*call.func, Expr::Path(path)
                if path.path.segments.last().is_some_and(|last| last.ident == "from"));
            match call.args.first() {
                Some(argument) if is_from && call.args.len() == 1 => of(argument),
                _ => of_mention(expr, size),
            }
        }
        _ => of_mention(expr, size),
    }
}

fn of_mention(expr: &Expr, size: &str) -> Trend {
    if ExprNames::from_expr(expr).mentioned.contains(size) { Trend::Unknown } else { Trend::Constant }
}

/// Returns the trend of a bound over a scalar.
pub(super) fn trend(lowered: &Lowered, dim: DimId, size: &str) -> Trend {
    Trend::of_code(&lowered.dims[dim.index()], &mut |leaf| {
        let leaf = lowered.leaves.get(leaf.index()).map(expression);
        let parsed = leaf.and_then(|leaf| syn::parse2::<Expr>(leaf).ok());
        parsed.map_or(Trend::Unknown, |expr| of_expr(&expr, size))
    })
}
