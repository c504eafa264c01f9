//! Translates conditions and `match` patterns to tests that the checker can decide for a given iteration.
//!
//! Everything that is not a comparison of integers becomes [`Test::Opaque`].

use cuweave_core::sample::{Number, Relation, Test};
use proc_macro2::Ident;
use syn::{BinOp, Expr, Lit, Pat, RangeLimits, UnOp};

use super::dim_table::DimTable;
use super::lowering::{Lower, Lowering};
use super::refused;
use crate::dims::checked;

/// Returns the test of a condition.
pub(super) fn test_of(dims: &mut DimTable, condition: &Expr) -> Test {
    match condition {
        Expr::Paren(inner) => test_of(dims, &inner.expr),
        Expr::Group(inner) => test_of(dims, &inner.expr),
        Expr::Unary(unary) if matches!(unary.op, UnOp::Not(_)) => {
            Test::Not(Box::new(test_of(dims, &unary.expr)))
        }
        Expr::Lit(literal) => match &literal.lit {
            Lit::Bool(known) => Test::Known(known.value),
            _ => Test::Opaque,
        },
        Expr::Binary(binary) => {
            let (left, right) = (&*binary.left, &*binary.right);
            match binary.op {
                BinOp::And(_) => Test::All(vec![test_of(dims, left), test_of(dims, right)]),
                BinOp::Or(_) => Test::Any(vec![test_of(dims, left), test_of(dims, right)]),
                BinOp::Eq(_) => compared(dims, left, Relation::Equal, right),
                BinOp::Ne(_) => Test::Not(Box::new(compared(dims, left, Relation::Equal, right))),
                BinOp::Lt(_) => compared(dims, left, Relation::Less, right),
                BinOp::Le(_) => compared(dims, left, Relation::AtMost, right),
                BinOp::Gt(_) => compared(dims, right, Relation::Less, left),
                BinOp::Ge(_) => compared(dims, right, Relation::AtMost, left),
                _ => Test::Opaque,
            }
        }
        _ => Test::Opaque,
    }
}

fn compared(dims: &mut DimTable, left: &Expr, relation: Relation, right: &Expr) -> Test {
    Test::Compare(number_of(dims, left), relation, number_of(dims, right))
}

/// Returns an integer expression as the checker evaluates it: operators, with polynomials at the leaves.
fn number_of(dims: &mut DimTable, expr: &Expr) -> Number {
    match expr {
        Expr::Paren(inner) => number_of(dims, &inner.expr),
        Expr::Group(inner) => number_of(dims, &inner.expr),
        Expr::Binary(binary) => match checked(&binary.op) {
            Some(op) => {
                let sides = (number_of(dims, &binary.left), number_of(dims, &binary.right));
                Number::Operation(op, Box::new(sides))
            }
            None => Number::Poly(opaque(dims, expr)),
        },
        _ => Number::Poly(opaque(dims, expr)),
    }
}

fn opaque(dims: &mut DimTable, expr: &Expr) -> cuweave_ptx::poly::Poly {
    dims.bound_of(expr, true).poly
}

/// Returns the test that `of` matches a pattern.
pub(super) fn pattern_test(dims: &mut DimTable, pattern: &Pat, of: &Expr) -> Test {
    match pattern {
        Pat::Wild(_) => Test::Known(true),
        Pat::Ident(name) => match &name.subpat {
            Some((_, inner)) => pattern_test(dims, inner, of),
            // A name without a lower-case letter is a constant.
            None if name.ident.to_string().contains(char::is_lowercase) => Test::Known(true),
            None => {
                let name = &name.ident;
                compared(dims, of, Relation::Equal, &syn::parse_quote!(#name))
            }
        },
        Pat::Lit(literal) => match &literal.lit {
            Lit::Int(_) => compared(dims, of, Relation::Equal, &Expr::Lit(literal.clone())),
            Lit::Bool(known) if known.value => test_of(dims, of),
            Lit::Bool(_) => Test::Not(Box::new(test_of(dims, of))),
            _ => Test::Opaque,
        },
        Pat::Paren(inner) => pattern_test(dims, &inner.pat, of),
        Pat::Or(or) => Test::Any(or.cases.iter().map(|case| pattern_test(dims, case, of)).collect()),
        Pat::Range(range) => {
            let mut ends = Vec::new();
            if let Some(start) = &range.start {
                ends.push(compared(dims, start, Relation::AtMost, of));
            }
            if let Some(end) = &range.end {
                let relation = match range.limits {
                    RangeLimits::HalfOpen(_) => Relation::Less,
                    RangeLimits::Closed(_) => Relation::AtMost,
                };
                ends.push(compared(dims, of, relation, end));
            }
            Test::All(ends)
        }
        Pat::Tuple(tuple) => match elements(of).filter(|of| of.len() == tuple.elems.len()) {
            Some(of) => {
                Test::All(tuple.elems.iter().zip(&of).map(|(one, of)| pattern_test(dims, one, of)).collect())
            }
            None => Test::Opaque,
        },
        _ => Test::Opaque,
    }
}

/// A name that a pattern binds, and the expression that it denotes.
#[derive(PartialEq)]
pub(super) struct PatternName {
    pub name: Ident,
    pub value: Expr,
}

/// Collects the names that a pattern binds.
pub(super) fn bound_by(
    lowering: &mut Lowering<'_>,
    pattern: &Pat,
    of: &Expr,
    names: &mut Vec<PatternName>,
) -> Lower<()> {
    match pattern {
        Pat::Wild(_) | Pat::Lit(_) | Pat::Range(_) | Pat::Path(_) | Pat::Const(_) => Ok(()),
        Pat::Ident(name) if name.by_ref.is_none() => {
            names.push(PatternName { name: name.ident.clone(), value: of.clone() });
            match &name.subpat {
                Some((_, inner)) => bound_by(lowering, inner, of, names),
                None => Ok(()),
            }
        }
        Pat::Paren(inner) => bound_by(lowering, &inner.pat, of, names),
        Pat::Or(or) => {
            let mut cases = Vec::new();
            for case in &or.cases {
                let mut names = Vec::new();
                bound_by(lowering, case, of, &mut names)?;
                names.sort_by(|one, other| one.name.cmp(&other.name));
                cases.push(names);
            }
            // All cases must bind the same names to the same parts.
            if cases.windows(2).any(|pair| pair[0] != pair[1]) {
                return Err(lowering.not_in_language(
                    pattern,
                    refused::ARM.what,
                    &["a name stands for another part of the value in each case".into()],
                ));
            }
            names.extend(cases.pop().unwrap_or_default());
            Ok(())
        }
        Pat::Tuple(tuple) => match elements(of).filter(|of| of.len() == tuple.elems.len()) {
            Some(of) => {
                tuple.elems.iter().zip(&of).try_for_each(|(one, of)| bound_by(lowering, one, of, names))
            }
            None => Err(lowering.not_in_language(
                pattern,
                refused::ARM.what,
                &["a `match` is on scalars, or on a tuple of them that is written where it stands".into()],
            )),
        },
        _ => Err(lowering.not_in_language(
            pattern,
            refused::ARM.what,
            &["the arms of a `match` are literals, ranges, names and `_`, joined by `|`".into()],
        )),
    }
}

/// Returns the elements of a tuple expression.
fn elements(of: &Expr) -> Option<Vec<Expr>> {
    match of {
        Expr::Paren(inner) => elements(&inner.expr),
        Expr::Group(inner) => elements(&inner.expr),
        Expr::Tuple(tuple) => Some(tuple.elems.iter().cloned().collect()),
        _ => None,
    }
}
