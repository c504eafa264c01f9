//! Bounds of quotients, remainders, masks and selections: values that no comparison bounds but whose operands are
//! bounded.

use super::{ATOM, Bounds, MAX_BOUNDS, MAX_DEPTH};
use crate::analysis::bits;
use crate::analysis::code::{Referent, Source};
use crate::analysis::condition::Fact;
use crate::analysis::trace::{canonical, definition, parameter};
use crate::isa::{self, Arithmetic, Bitwise, Operation, Selection};
use crate::poly::Poly;
use crate::syntax::{Instruction, TypeClass};

impl<'a> Bounds<'_, '_, 'a> {
    /// Returns the value of an operation that is not a polynomial of its operands, or of a remainder computed as a
    /// difference.
    pub(super) fn derived(
        &mut self,
        value: u32,
        instruction: &Instruction<'a>,
        sources: &[Source<'a>],
        depth: u32,
    ) -> Option<Poly> {
        let small = |ty: crate::syntax::Type| ty.class() == TypeClass::Float || ty.size() < 4;
        if instruction.types().any(small) {
            return None;
        }
        let bits = 8 * instruction.types().next_back().map_or(4, |ty| ty.size());
        let bounds = match (isa::row(instruction.op()).operation, sources) {
            (Operation::Selection(Selection::ByPredicate), [a, b, _]) if a == b => {
                return self.source(a, depth);
            }
            (Operation::Arithmetic(Arithmetic::Rem), [a, by]) => {
                let signed = instruction.types().any(|ty| ty.name().starts_with('s'));
                if signed && !self.counts(a, depth) {
                    return None;
                }
                vec![self.argument(by, depth)?]
            }
            (Operation::Arithmetic(Arithmetic::Sub), [a, taken]) => vec![self.remainder(a, taken, depth)?],
            (Operation::Arithmetic(Arithmetic::Div), [a, by]) => {
                let by = self.argument(by, depth)?;
                self.quotients(a, &by, depth)?
            }
            (Operation::Bitwise(Bitwise::Shr), [a, Source::Constant(by)])
                if *by == i64::from(bits) - 1 && instruction.types().any(|ty| ty.name().starts_with('s')) =>
            {
                let poly = self.source(a, depth)?;
                return self.at_least_zero(&poly).then(Poly::default);
            }
            (Operation::Bitwise(Bitwise::Shr), [a, Source::Constant(by @ 0..=31)]) => {
                if self.source(a, depth)? == Poly::default() {
                    return Some(Poly::default());
                }
                self.quotients(a, &Poly::constant(1 << by), depth)?
            }
            (Operation::Bitwise(Bitwise::And), [a, Source::Constant(mask)] | [Source::Constant(mask), a]) => {
                let all = if *mask >= 0 { vec![Poly::constant(i128::from(*mask) + 1)] } else { Vec::new() };
                match self.most(a, depth) {
                    Some(mut more) => {
                        more.extend(all);
                        more
                    }
                    None => all,
                }
            }
            (Operation::Bitwise(Bitwise::Or), [a, b]) => {
                let (first, second) = (self.source(a, depth)?, self.source(b, depth)?);
                let sum = first.plus(&second)?;
                if bits::are_disjoint(self.code, a, b) {
                    return Some(sum);
                }
                let nonnegative = self.at_least_zero(&first) && self.at_least_zero(&second);
                nonnegative.then(|| self.above(&sum))??
            }
            (Operation::Arithmetic(Arithmetic::Min), [a, b]) => {
                let (first, second) = (self.most(a, depth), self.most(b, depth));
                first.into_iter().chain(second).flatten().collect()
            }
            _ => return None,
        };
        self.lost = None;
        if bounds.is_empty() {
            return None;
        }
        let bounds = bounds.into_iter().take(MAX_BOUNDS);
        self.facts.extend(bounds.map(|below| Fact { value, below, joined: true, tight: false }));
        Some(Poly::variable(ATOM + value))
    }

    /// Returns a source that is a polynomial over parameters only and at least 0.
    fn argument(&mut self, source: &Source<'a>, depth: u32) -> Option<Poly> {
        let poly = self.source(source, depth)?;
        let alone = poly.variables().iter().all(|&id| id < ATOM && !self.is_pointer(id));
        (alone && self.at_least_zero(&poly)).then_some(poly)
    }

    /// Returns exclusive upper bounds over parameters of a source that is at least 0.
    fn most(&mut self, source: &Source<'a>, depth: u32) -> Option<Vec<Poly>> {
        let poly = self.source(source, depth)?;
        if self.at_least_zero(&poly) { self.above(&poly) } else { None }
    }

    /// Returns polynomials over parameters that are greater than this one.
    fn above(&self, poly: &Poly) -> Option<Vec<Poly>> {
        let (most, _) = self.substitute(poly)?;
        most.iter().map(|most| most.plus(&Poly::constant(1))).collect()
    }

    /// Returns true for a number that is not negative because it is computed only from indices and arguments.
    fn counts(&self, source: &Source<'a>, depth: u32) -> bool {
        let value = match source {
            Source::Constant(value) => return *value >= 0,
            Source::Special(_) => return true,
            Source::Place(Referent::Value(value), 0) if depth < MAX_DEPTH => canonical(self.code, *value),
            _ => return false,
        };
        if self.facts.iter().any(|fact| fact.value == value) {
            return true;
        }
        let Some(step) = definition(self.code, value) else { return false };
        let Some(instruction) = step.instruction.filter(|_| step.guard.is_none()) else { return false };
        parameter(self.code, step).is_some()
            || matches!(
                isa::row(instruction.op()).operation,
                Operation::Move
                    | Operation::Arithmetic(
                        Arithmetic::Add
                            | Arithmetic::Mul
                            | Arithmetic::Mad
                            | Arithmetic::Div
                            | Arithmetic::Rem
                            | Arithmetic::Min
                    )
                    | Operation::Bitwise(Bitwise::Shl)
            ) && step.sources.iter().all(|source| self.counts(source, depth + 1))
    }

    fn quotients(&mut self, a: &Source<'a>, by: &Poly, depth: u32) -> Option<Vec<Poly>> {
        let most = self.most(a, depth)?;
        // If `a < by * n`, then `a / by < n`.
        Some(most.into_iter().map(|most| quotient(&most, by).unwrap_or(most)).collect())
    }

    /// Returns the divisor of a remainder computed as `a - a / by * by` or by a mask.
    fn remainder(&mut self, a: &Source<'a>, taken: &Source<'a>, depth: u32) -> Option<Poly> {
        let Source::Place(Referent::Value(taken), 0) = taken else { return None };
        let step = definition(self.code, canonical(self.code, *taken))?;
        let instruction = step.instruction.filter(|_| step.guard.is_none())?;
        match (isa::row(instruction.op()).operation, &step.sources[..]) {
            (Operation::Arithmetic(Arithmetic::Mul), [q, by]) if instruction.has("lo") => {
                let by = if self.divides(q, a, by, depth) { by } else { q };
                let other = if std::ptr::eq(by, q) { &step.sources[1] } else { q };
                if self.divides(other, a, by, depth) { self.argument(by, depth) } else { None }
            }
            (Operation::Bitwise(Bitwise::And), [masked, Source::Constant(mask)]) => {
                let by = mask.checked_neg().filter(|by| *by > 0 && by & (by - 1) == 0)?;
                let (masked, whole) = (self.source(masked, depth)?, self.source(a, depth)?);
                (masked == whole && self.at_least_zero(&whole)).then(|| Poly::constant(by.into()))
            }
            _ => None,
        }
    }

    /// Returns true if a value is `a / by`.
    fn divides(&mut self, value: &Source<'a>, a: &Source<'a>, by: &Source<'a>, depth: u32) -> bool {
        let Source::Place(Referent::Value(value), 0) = value else { return false };
        let Some(step) = definition(self.code, canonical(self.code, *value)) else { return false };
        let operation = step.instruction.map(|instruction| isa::row(instruction.op()).operation);
        let same = |one: &Source<'a>, other: &Source<'a>| match (one, other) {
            (Source::Place(Referent::Value(one), 0), Source::Place(Referent::Value(other), 0)) => {
                canonical(self.code, *one) == canonical(self.code, *other)
            }
            _ => one == other,
        };
        let is_quotient = operation == Some(Operation::Arithmetic(Arithmetic::Div)) && step.guard.is_none();
        let whole = is_quotient && same(&step.sources[0], a) && same(&step.sources[1], by);
        // The remainder of a negative number is negative.
        whole && self.source(a, depth).is_some_and(|poly| self.at_least_zero(&poly))
    }
}

/// Divides a polynomial by a polynomial of one term. Returns `None` unless the division is exact.
fn quotient(poly: &Poly, by: &Poly) -> Option<Poly> {
    let mut terms = by.terms();
    let (Some((divisor, times)), None) = (terms.next(), terms.next()) else { return None };
    let mut sum = Poly::default();
    for (product, coefficient) in poly.terms() {
        let mut left = product.to_vec();
        for id in divisor {
            left.remove(left.iter().position(|other| other == id)?);
        }
        if coefficient % times != 0 {
            return None;
        }
        sum = sum.plus(&Poly::from_products([(&left[..], coefficient / times)]))?;
    }
    Some(sum)
}
