//! Conditions of choices over scalars, and their values in one loop iteration.

use crate::table::BoundOp;
use cuweave_ptx::poly::{Facts, Poly};

/// The conditions of a choice. The first arm whose test is true is taken.
#[derive(Clone, Debug, Default)]
pub struct ChoiceCondition {
    /// The test of each arm.
    pub arms: Vec<ChoiceTest>,
    /// True if one of the arms always runs.
    pub total: bool,
}

/// A condition over scalars.
#[derive(Clone, Debug)]
pub enum ChoiceTest {
    /// True or false for all scalars.
    Known(bool),
    /// A comparison of integers.
    Compare(IntegerExpression, Relation, IntegerExpression),
    /// All of these are true.
    All(Vec<ChoiceTest>),
    /// At least one of these is true.
    Any(Vec<ChoiceTest>),
    /// The inner test is false.
    Not(Box<ChoiceTest>),
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
pub enum IntegerExpression {
    /// A polynomial.
    Poly(Poly),
    /// An operation on two integers.
    Operation(BoundOp, Box<(IntegerExpression, IntegerExpression)>),
}

impl ChoiceCondition {
    /// Returns polynomials that are non-negative if an arm is taken: its test is true and the tests before it are
    /// false.
    pub fn implied(&self, arm: usize, substituted: &impl Fn(&Poly) -> Poly) -> Vec<Poly> {
        let mut found = Vec::new();
        for (at, test) in self.arms.iter().enumerate().take(arm + 1) {
            test.imply(at == arm, substituted, &mut found);
        }
        found
    }
}

impl IntegerExpression {
    /// Returns its polynomial with values put in. `None` if it is not a polynomial.
    pub fn poly(&self, substituted: &impl Fn(&Poly) -> Poly) -> Option<Poly> {
        let (op, sides) = match self {
            IntegerExpression::Poly(poly) => return Some(substituted(poly)),
            IntegerExpression::Operation(op, sides) => (op, sides),
        };
        let (left, right) = (sides.0.poly(substituted)?, sides.1.poly(substituted)?);
        match op {
            BoundOp::Rem => left.as_constant()?.checked_rem(right.as_constant()?).map(Poly::constant),
            _ => op.poly(&left, &right),
        }
    }
}

impl ChoiceTest {
    /// Returns the result of the test if values and facts decide it.
    pub fn decide(&self, substituted: &impl Fn(&Poly) -> Poly, facts: &Facts) -> Option<bool> {
        match self {
            ChoiceTest::Known(known) => Some(*known),
            ChoiceTest::Opaque => None,
            ChoiceTest::Not(inner) => inner.decide(substituted, facts).map(|known| !known),
            ChoiceTest::All(list) => all(list.iter().map(|one| one.decide(substituted, facts))),
            ChoiceTest::Any(list) => {
                all(list.iter().map(|one| one.decide(substituted, facts).map(|known| !known)))
                    .map(|known| !known)
            }
            ChoiceTest::Compare(left, relation, right) => {
                let (left, right) = (left.poly(substituted)?, right.poly(substituted)?);
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
    pub fn imply(&self, holds: bool, substituted: &impl Fn(&Poly) -> Poly, found: &mut Vec<Poly>) {
        match self {
            ChoiceTest::Known(_) | ChoiceTest::Opaque => {}
            ChoiceTest::Not(inner) => inner.imply(!holds, substituted, found),
            ChoiceTest::All(list) if holds => list.iter().for_each(|one| one.imply(true, substituted, found)),
            ChoiceTest::Any(list) if !holds => {
                list.iter().for_each(|one| one.imply(false, substituted, found))
            }
            ChoiceTest::All(_) | ChoiceTest::Any(_) => {}
            ChoiceTest::Compare(left, relation, right) => {
                let (Some(left), Some(right)) = (left.poly(substituted), right.poly(substituted)) else {
                    return;
                };
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
    pub fn comparisons(&self, with: &mut dyn FnMut(&IntegerExpression, &IntegerExpression)) {
        match self {
            ChoiceTest::Known(_) | ChoiceTest::Opaque => {}
            ChoiceTest::Not(inner) => inner.comparisons(with),
            ChoiceTest::All(list) | ChoiceTest::Any(list) => {
                list.iter().for_each(|one| one.comparisons(with))
            }
            ChoiceTest::Compare(left, _, right) => with(left, right),
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
