//! Conditions of choices over scalars, and their values in one loop iteration.

use crate::table::Op;
use cuweave_ptx::poly::{Facts, Poly};

/// The conditions of a choice. The first arm whose test is true is taken.
#[derive(Clone, Debug, Default)]
pub struct Condition {
    /// The test of each arm.
    pub arms: Vec<Test>,
    /// True if one of the arms always runs.
    pub total: bool,
}

/// A condition over scalars.
#[derive(Clone, Debug)]
pub enum Test {
    /// True or false for all scalars.
    Known(bool),
    /// A comparison of integers.
    Compare(Number, Relation, Number),
    /// All of these are true.
    All(Vec<Test>),
    /// At least one of these is true.
    Any(Vec<Test>),
    /// The inner test is false.
    Not(Box<Test>),
    /// An expression that the check does not model.
    Opaque,
}

/// A comparison of two integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `a == b`.
    Equal,
    /// `a < b`.
    Less,
    /// `a <= b`.
    AtMost,
}

/// An integer.
#[derive(Clone, Debug)]
pub enum Number {
    /// A polynomial.
    Poly(Poly),
    /// An operation on two integers.
    Operation(Op, Box<(Number, Number)>),
}

impl Condition {
    /// Returns polynomials that are non-negative if an arm is taken: its test is true and the tests before it are
    /// false.
    pub fn implied(&self, arm: usize, put_in: &impl Fn(&Poly) -> Poly) -> Vec<Poly> {
        let mut found = Vec::new();
        for (at, test) in self.arms.iter().enumerate().take(arm + 1) {
            test.imply(at == arm, put_in, &mut found);
        }
        found
    }
}

impl Number {
    /// Returns its polynomial with values put in. `None` if it is not a polynomial.
    pub fn poly(&self, put_in: &impl Fn(&Poly) -> Poly) -> Option<Poly> {
        let (op, sides) = match self {
            Number::Poly(poly) => return Some(put_in(poly)),
            Number::Operation(op, sides) => (op, sides),
        };
        let (left, right) = (sides.0.poly(put_in)?, sides.1.poly(put_in)?);
        match op {
            Op::Rem => left.as_constant()?.checked_rem(right.as_constant()?).map(Poly::constant),
            _ => op.poly(&left, &right),
        }
    }
}

impl Test {
    /// Returns the result of the test if values and facts decide it.
    pub fn decide(&self, put_in: &impl Fn(&Poly) -> Poly, facts: &Facts) -> Option<bool> {
        match self {
            Test::Known(known) => Some(*known),
            Test::Opaque => None,
            Test::Not(inner) => inner.decide(put_in, facts).map(|known| !known),
            Test::All(list) => all(list.iter().map(|one| one.decide(put_in, facts))),
            Test::Any(list) => {
                all(list.iter().map(|one| one.decide(put_in, facts).map(|known| !known))).map(|known| !known)
            }
            Test::Compare(left, relation, right) => {
                let (left, right) = (left.poly(put_in)?, right.poly(put_in)?);
                let less =
                    |a: &Poly, b: &Poly| a.plus(&Poly::constant(1)).is_some_and(|a| facts.at_most(&a, b));
                let (yes, no) = match relation {
                    Relation::Equal => (
                        left == right || facts.at_most(&left, &right) && facts.at_most(&right, &left),
                        less(&left, &right) || less(&right, &left),
                    ),
                    Relation::Less => (less(&left, &right), facts.at_most(&right, &left)),
                    Relation::AtMost => (facts.at_most(&left, &right), less(&right, &left)),
                };
                // Contradictory facts decide nothing.
                if yes == no { None } else { Some(yes) }
            }
        }
    }

    /// Adds the polynomials that are non-negative if the test equals `holds`.
    pub fn imply(&self, holds: bool, put_in: &impl Fn(&Poly) -> Poly, found: &mut Vec<Poly>) {
        match self {
            Test::Known(_) | Test::Opaque => {}
            Test::Not(inner) => inner.imply(!holds, put_in, found),
            Test::All(list) if holds => list.iter().for_each(|one| one.imply(true, put_in, found)),
            Test::Any(list) if !holds => list.iter().for_each(|one| one.imply(false, put_in, found)),
            Test::All(_) | Test::Any(_) => {}
            Test::Compare(left, relation, right) => {
                let (Some(left), Some(right)) = (left.poly(put_in), right.poly(put_in)) else { return };
                let mut add = |low: &Poly, high: &Poly, by: i128| {
                    found.extend(high.minus(low).and_then(|poly| poly.minus(&Poly::constant(by))));
                };
                match (relation, holds) {
                    (Relation::Equal, true) => {
                        add(&left, &right, 0);
                        add(&right, &left, 0);
                    }
                    // Integer expressions over lengths are non-negative, so a nonzero one is at least 1.
                    (Relation::Equal, false) if right.as_constant() == Some(0) => add(&right, &left, 1),
                    (Relation::Equal, false) => {}
                    (Relation::Less, true) => add(&left, &right, 1),
                    (Relation::Less, false) => add(&right, &left, 0),
                    (Relation::AtMost, true) => add(&left, &right, 0),
                    (Relation::AtMost, false) => add(&right, &left, 1),
                }
            }
        }
    }

    /// Calls `with` with both sides of each comparison.
    pub fn comparisons(&self, with: &mut dyn FnMut(&Number, &Number)) {
        match self {
            Test::Known(_) | Test::Opaque => {}
            Test::Not(inner) => inner.comparisons(with),
            Test::All(list) | Test::Any(list) => list.iter().for_each(|one| one.comparisons(with)),
            Test::Compare(left, _, right) => with(left, right),
        }
    }
}

/// Three-valued conjunction: false if one test is false, `None` if any is unknown, otherwise true.
fn all(mut tests: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    tests
        .try_fold(Some(true), |so_far, test| match test {
            Some(false) => Err(()),
            Some(true) => Ok(so_far),
            None => Ok(None),
        })
        .unwrap_or(Some(false))
}
