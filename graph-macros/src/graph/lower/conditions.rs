//! Conditions of choices: tests that the check decides in a turn, and the patterns of `match`.

use cuweave_core::sample::{Number, Relation, Test};
use cuweave_core::table::Op;
use proc_macro2::Ident;
use syn::{BinOp, Expr, Lit, Pat, RangeLimits, UnOp};

use super::refused;
use super::{Lower, Lowering};
use crate::dims::Bound;

impl Lowering<'_> {
    /// Returns the test of a condition.
    pub(super) fn test(&mut self, condition: &Expr) -> Test {
        match condition {
            Expr::Paren(inner) => self.test(&inner.expr),
            Expr::Group(inner) => self.test(&inner.expr),
            Expr::Unary(unary) if matches!(unary.op, UnOp::Not(_)) => {
                Test::Not(Box::new(self.test(&unary.expr)))
            }
            Expr::Lit(literal) => match &literal.lit {
                Lit::Bool(known) => Test::Known(known.value),
                _ => Test::Opaque,
            },
            Expr::Binary(binary) => {
                let (left, right) = (&*binary.left, &*binary.right);
                match binary.op {
                    BinOp::And(_) => Test::All(vec![self.test(left), self.test(right)]),
                    BinOp::Or(_) => Test::Any(vec![self.test(left), self.test(right)]),
                    BinOp::Eq(_) => self.compared(left, Relation::Equal, right),
                    BinOp::Ne(_) => Test::Not(Box::new(self.compared(left, Relation::Equal, right))),
                    BinOp::Lt(_) => self.compared(left, Relation::Less, right),
                    BinOp::Le(_) => self.compared(left, Relation::AtMost, right),
                    BinOp::Gt(_) => self.compared(right, Relation::Less, left),
                    BinOp::Ge(_) => self.compared(right, Relation::AtMost, left),
                    _ => Test::Opaque,
                }
            }
            _ => Test::Opaque,
        }
    }

    fn compared(&mut self, left: &Expr, relation: Relation, right: &Expr) -> Test {
        Test::Compare(self.number(left), relation, self.number(right))
    }

    /// Returns the number of an expression.
    fn number(&mut self, expr: &Expr) -> Number {
        match expr {
            Expr::Paren(inner) => self.number(&inner.expr),
            Expr::Group(inner) => self.number(&inner.expr),
            Expr::Binary(binary) => {
                let op = match binary.op {
                    BinOp::Add(_) => Op::Add,
                    BinOp::Sub(_) => Op::Sub,
                    BinOp::Mul(_) => Op::Mul,
                    BinOp::Div(_) => Op::Div,
                    BinOp::Rem(_) => Op::Rem,
                    _ => return Number::Poly(self.opaque(expr)),
                };
                Number::Operation(op, Box::new((self.number(&binary.left), self.number(&binary.right))))
            }
            _ => Number::Poly(self.opaque(expr)),
        }
    }

    fn opaque(&mut self, expr: &Expr) -> cuweave_ptx::poly::Poly {
        Bound::of(expr, true, &self.integers, &mut self.symbols).poly
    }

    /// Returns the test of a pattern for the value of an expression.
    pub(super) fn pattern_test(&mut self, pattern: &Pat, of: &Expr) -> Test {
        match pattern {
            Pat::Wild(_) => Test::Known(true),
            Pat::Ident(name) => match &name.subpat {
                Some((_, inner)) => self.pattern_test(inner, of),
                // A name without a lower-case letter is that of a constant.
                None if name.ident.to_string().contains(char::is_lowercase) => Test::Known(true),
                None => {
                    let name = &name.ident;
                    self.compared(of, Relation::Equal, &syn::parse_quote!(#name))
                }
            },
            Pat::Lit(literal) => match &literal.lit {
                Lit::Int(_) => self.compared(of, Relation::Equal, &Expr::Lit(literal.clone())),
                Lit::Bool(known) if known.value => self.test(of),
                Lit::Bool(_) => Test::Not(Box::new(self.test(of))),
                _ => Test::Opaque,
            },
            Pat::Paren(inner) => self.pattern_test(&inner.pat, of),
            Pat::Or(or) => Test::Any(or.cases.iter().map(|case| self.pattern_test(case, of)).collect()),
            Pat::Range(range) => {
                let mut ends = Vec::new();
                if let Some(start) = &range.start {
                    ends.push(self.compared(start, Relation::AtMost, of));
                }
                if let Some(end) = &range.end {
                    let relation = match range.limits {
                        RangeLimits::HalfOpen(_) => Relation::Less,
                        RangeLimits::Closed(_) => Relation::AtMost,
                    };
                    ends.push(self.compared(of, relation, end));
                }
                Test::All(ends)
            }
            Pat::Tuple(tuple) => match elements(of).filter(|of| of.len() == tuple.elems.len()) {
                Some(of) => Test::All(
                    tuple.elems.iter().zip(&of).map(|(one, of)| self.pattern_test(one, of)).collect(),
                ),
                None => Test::Opaque,
            },
            _ => Test::Opaque,
        }
    }

    /// Adds the names that a pattern binds, with the expressions that they stand for.
    pub(super) fn bound_by(&mut self, pattern: &Pat, of: &Expr, names: &mut Vec<(Ident, Expr)>) -> Lower<()> {
        match pattern {
            Pat::Wild(_) | Pat::Lit(_) | Pat::Range(_) | Pat::Path(_) | Pat::Const(_) => Ok(()),
            Pat::Ident(name) if name.by_ref.is_none() => {
                names.push((name.ident.clone(), of.clone()));
                match &name.subpat {
                    Some((_, inner)) => self.bound_by(inner, of, names),
                    None => Ok(()),
                }
            }
            Pat::Paren(inner) => self.bound_by(&inner.pat, of, names),
            Pat::Or(or) => {
                let mut cases = Vec::new();
                for case in &or.cases {
                    let mut names = Vec::new();
                    self.bound_by(case, of, &mut names)?;
                    names.sort_by(|one, other| one.0.cmp(&other.0));
                    cases.push(names);
                }
                // All cases must bind the same names to the same parts.
                if cases.windows(2).any(|pair| pair[0] != pair[1]) {
                    return Err(self.not_in_language(
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
                    tuple.elems.iter().zip(&of).try_for_each(|(one, of)| self.bound_by(one, of, names))
                }
                None => Err(self.not_in_language(
                    pattern,
                    refused::ARM.what,
                    &["a `match` is on scalars, or on a tuple of them that is written where it stands"
                        .into()],
                )),
            },
            _ => Err(self.not_in_language(
                pattern,
                refused::ARM.what,
                &["the arms of a `match` are literals, ranges, names and `_`, joined by `|`".into()],
            )),
        }
    }
}

/// Returns the elements of a tuple.
fn elements(of: &Expr) -> Option<Vec<Expr>> {
    match of {
        Expr::Paren(inner) => elements(&inner.expr),
        Expr::Group(inner) => elements(&inner.expr),
        Expr::Tuple(tuple) => Some(tuple.elems.iter().cloned().collect()),
        _ => None,
    }
}
