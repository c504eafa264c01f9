//! Translates conditions and `match` patterns to tests that the checker can decide for a given iteration.
//!
//! Everything that is not a comparison of integers becomes [`ChoiceTest::Opaque`].

use cuweave_core::sample::{ChoiceTest, IntegerExpression, Relation};
use proc_macro2::Ident;
use syn::{BinOp, Expr, Lit, Pat, RangeLimits, UnOp};

use super::dim_table::DimTable;
use super::lowering::{LowerResult, Lowering};
use super::unsupported;
use crate::dims::checked;

/// Returns the test of a condition.
pub(super) fn test_of(dims: &mut DimTable, condition: &Expr) -> ChoiceTest {
    match condition {
        Expr::Paren(inner) => test_of(dims, &inner.expr),
        Expr::Group(inner) => test_of(dims, &inner.expr),
        Expr::Unary(unary) if matches!(unary.op, UnOp::Not(_)) => {
            ChoiceTest::Not(Box::new(test_of(dims, &unary.expr)))
        }
        Expr::Lit(literal) => match &literal.lit {
            Lit::Bool(known) => ChoiceTest::Known(known.value),
            _ => ChoiceTest::Opaque,
        },
        Expr::Binary(binary) => {
            let (left, right) = (&*binary.left, &*binary.right);
            match binary.op {
                BinOp::And(_) => ChoiceTest::All(vec![test_of(dims, left), test_of(dims, right)]),
                BinOp::Or(_) => ChoiceTest::Any(vec![test_of(dims, left), test_of(dims, right)]),
                BinOp::Eq(_) => comparison(dims, left, Relation::Equal, right),
                BinOp::Ne(_) => ChoiceTest::Not(Box::new(comparison(dims, left, Relation::Equal, right))),
                BinOp::Lt(_) => comparison(dims, left, Relation::Less, right),
                BinOp::Le(_) => comparison(dims, left, Relation::AtMost, right),
                BinOp::Gt(_) => comparison(dims, right, Relation::Less, left),
                BinOp::Ge(_) => comparison(dims, right, Relation::AtMost, left),
                _ => ChoiceTest::Opaque,
            }
        }
        _ => ChoiceTest::Opaque,
    }
}

fn comparison(dims: &mut DimTable, left: &Expr, relation: Relation, right: &Expr) -> ChoiceTest {
    ChoiceTest::Compare(number_expr(dims, left), relation, number_expr(dims, right))
}

/// Returns an integer expression as the checker evaluates it: operators, with polynomials at the leaves.
fn number_expr(dims: &mut DimTable, expr: &Expr) -> IntegerExpression {
    match expr {
        Expr::Paren(inner) => number_expr(dims, &inner.expr),
        Expr::Group(inner) => number_expr(dims, &inner.expr),
        Expr::Binary(binary) => match checked(&binary.op) {
            Some(op) => {
                let sides = (number_expr(dims, &binary.left), number_expr(dims, &binary.right));
                IntegerExpression::Operation(op, Box::new(sides))
            }
            None => IntegerExpression::Poly(opaque(dims, expr)),
        },
        _ => IntegerExpression::Poly(opaque(dims, expr)),
    }
}

fn opaque(dims: &mut DimTable, expr: &Expr) -> cuweave_ptx::poly::Poly {
    dims.bound_of(expr, true).poly
}

/// Returns the test that `of` matches a pattern.
pub(super) fn pattern_test(dims: &mut DimTable, pattern: &Pat, of: &Expr) -> ChoiceTest {
    match pattern {
        Pat::Wild(_) => ChoiceTest::Known(true),
        Pat::Ident(name) => match &name.subpat {
            Some((_, inner)) => pattern_test(dims, inner, of),
            // A name without a lower-case letter is a constant.
            None if name.ident.to_string().contains(char::is_lowercase) => ChoiceTest::Known(true),
            None => {
                let name = &name.ident;
                comparison(dims, of, Relation::Equal, &syn::parse_quote!(#name))
            }
        },
        Pat::Lit(literal) => match &literal.lit {
            Lit::Int(_) => comparison(dims, of, Relation::Equal, &Expr::Lit(literal.clone())),
            Lit::Bool(known) if known.value => test_of(dims, of),
            Lit::Bool(_) => ChoiceTest::Not(Box::new(test_of(dims, of))),
            _ => ChoiceTest::Opaque,
        },
        Pat::Paren(inner) => pattern_test(dims, &inner.pat, of),
        Pat::Or(or) => ChoiceTest::Any(or.cases.iter().map(|case| pattern_test(dims, case, of)).collect()),
        Pat::Range(range) => {
            let mut ends = Vec::new();
            if let Some(start) = &range.start {
                ends.push(comparison(dims, start, Relation::AtMost, of));
            }
            if let Some(end) = &range.end {
                let relation = match range.limits {
                    RangeLimits::HalfOpen(_) => Relation::Less,
                    RangeLimits::Closed(_) => Relation::AtMost,
                };
                ends.push(comparison(dims, of, relation, end));
            }
            ChoiceTest::All(ends)
        }
        Pat::Tuple(tuple) => match elements(of).filter(|of| of.len() == tuple.elems.len()) {
            Some(of) => ChoiceTest::All(
                tuple.elems.iter().zip(&of).map(|(one, of)| pattern_test(dims, one, of)).collect(),
            ),
            None => ChoiceTest::Opaque,
        },
        _ => ChoiceTest::Opaque,
    }
}

/// A name that a pattern binds, and the expression that it denotes.
#[derive(PartialEq)]
pub(super) struct PatternName {
    pub name: Ident,
    pub value: Expr,
}

/// Collects the names that a pattern binds.
pub(super) fn collect_pattern_names(
    lowering: &mut Lowering<'_>,
    pattern: &Pat,
    of: &Expr,
    names: &mut Vec<PatternName>,
) -> LowerResult<()> {
    match pattern {
        Pat::Wild(_) | Pat::Lit(_) | Pat::Range(_) | Pat::Path(_) | Pat::Const(_) => Ok(()),
        Pat::Ident(name) if name.by_ref.is_none() => {
            names.push(PatternName { name: name.ident.clone(), value: of.clone() });
            match &name.subpat {
                Some((_, inner)) => collect_pattern_names(lowering, inner, of, names),
                None => Ok(()),
            }
        }
        Pat::Paren(inner) => collect_pattern_names(lowering, &inner.pat, of, names),
        Pat::Or(or) => {
            let mut cases = Vec::new();
            for case in &or.cases {
                let mut names = Vec::new();
                collect_pattern_names(lowering, case, of, &mut names)?;
                names.sort_by(|one, other| one.name.cmp(&other.name));
                cases.push(names);
            }
            // All cases must bind the same names to the same parts.
            if cases.windows(2).any(|pair| pair[0] != pair[1]) {
                return Err(lowering.not_in_language(
                    pattern,
                    unsupported::ARM_PATTERN.what,
                    &["a name stands for another part of the value in each case".into()],
                ));
            }
            names.extend(cases.pop().unwrap_or_default());
            Ok(())
        }
        Pat::Tuple(tuple) => match elements(of).filter(|of| of.len() == tuple.elems.len()) {
            Some(of) => tuple
                .elems
                .iter()
                .zip(&of)
                .try_for_each(|(one, of)| collect_pattern_names(lowering, one, of, names)),
            None => Err(lowering.not_in_language(
                pattern,
                unsupported::ARM_PATTERN.what,
                &["a `match` is on scalars, or on a tuple of them that is written where it stands".into()],
            )),
        },
        _ => Err(lowering.not_in_language(
            pattern,
            unsupported::ARM_PATTERN.what,
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
