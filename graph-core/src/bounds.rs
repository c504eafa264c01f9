//! The bounds of a program's ranges, with fast comparison.
//!
//! A large function compares its ranges about 10^7 times, and without optimisation one comparison of two
//! polynomials takes microseconds. Each bound is therefore split into `k * axis + c` plus a rest; bounds with the
//! same axis and rest are on one line. Two bounds on a line differ by `dk * axis + dc`. If neither number is
//! negative, the comparison holds. Otherwise the facts answer for that difference, and the answer is cached. The
//! answers equal those of [`Facts`].

use std::cell::RefCell;
use std::collections::HashMap;

use crate::index::{Index, Vector, indices};
use crate::ir::{Access, DimId};
use crate::spans::NumericRange;
use cuweave_ptx::poly::{Facts, Poly};

indices! {
    /// A set of bounds that differ only by multiples of one product and by constants.
    struct LineIndex;
    /// The product that the bounds of a line are multiples of.
    struct AxisIndex;
}

/// The bounds of a program and the facts about them.
#[derive(Clone, Debug)]
pub struct RangeBounds {
    polys: Vector<DimId, Poly>,
    facts: Facts,
    places: Vector<DimId, LinePoint>,
    lines: Vector<LineIndex, Line>,
    /// Cached answers for `0 <= k * axis + c`. Never iterated.
    asked: RefCell<HashMap<(AxisIndex, i64, i64), bool>>,
}

/// The point `k * axis + c` on a line.
#[derive(Clone, Copy, Debug)]
struct LinePoint {
    line: LineIndex,
    k: i64,
    c: i64,
}

/// A set of bounds that differ in the coefficient of one product, and in their constants.
#[derive(Clone, Debug)]
struct Line {
    /// The product. `NONE` for the two special lines.
    axis: AxisIndex,
    /// True if the bounds have no other terms. Constants are then on this line too, with coefficient 0.
    plain: bool,
}

/// The line of constants.
const CONSTANTS: LineIndex = LineIndex::from_u32(0);
/// The line of all bounds with a coefficient that does not fit into 64 bits. The cache does not serve them.
const OVERFLOWED: LineIndex = LineIndex::from_u32(1);

impl RangeBounds {
    /// Makes the bounds of these polynomials under these facts.
    pub fn new(polys: Vector<DimId, Poly>, facts: Facts) -> RangeBounds {
        let mut lines: Vector<LineIndex, Line> =
            [true, false].map(|plain| Line { axis: AxisIndex::NONE, plain }).into_iter().collect();
        let mut numbers: HashMap<(Vec<u32>, Poly), LineIndex> = HashMap::new();
        let mut axes: HashMap<Vec<u32>, AxisIndex> = HashMap::new();
        let places = polys
            .iter()
            .map(|poly| {
                let Some(SplitPoly { axis, k, c, rest }) = split(poly) else {
                    return LinePoint { line: OVERFLOWED, k: 0, c: 0 };
                };
                if axis.is_empty() {
                    return LinePoint { line: CONSTANTS, k: 0, c };
                }
                let next = AxisIndex::new(axes.len());
                let number = *axes.entry(axis.clone()).or_insert(next);
                let plain = rest == Poly::default();
                let line =
                    *numbers.entry((axis, rest)).or_insert_with(|| lines.push(Line { axis: number, plain }));
                LinePoint { line, k, c }
            })
            .collect();
        RangeBounds { polys, facts, places, lines, asked: RefCell::default() }
    }

    /// Returns true if `a <= b` is proved.
    pub fn at_most(&self, a: DimId, b: DimId) -> bool {
        let Some(LinePoint { line, k, c }) = self.difference(a, b) else {
            return self.facts.at_most(&self.polys[a], &self.polys[b]);
        };
        if k >= 0 && c >= 0 {
            return true;
        }
        // Both are numbers, and `a` is greater.
        if line == CONSTANTS && self.facts.is_empty() {
            return false;
        }
        let key = (self.lines[line].axis, k, c);
        if let Some(&known) = self.asked.borrow().get(&key) {
            return known;
        }
        let answer = self.facts.at_most(&self.polys[a], &self.polys[b]);
        self.asked.borrow_mut().insert(key, answer);
        answer
    }

    /// Returns true if two accesses are proved to touch different elements: one range ends before the other begins, or
    /// the rows of each lie between the rows of the other.
    pub fn disjoint(&self, a: &Access, b: &Access) -> bool {
        // Cheap comparisons first: one of the two nearly always succeeds.
        self.plainly_at_most(a.hi, b.lo)
            || self.plainly_at_most(b.hi, a.lo)
            || self.at_most(a.hi, b.lo)
            || self.at_most(b.hi, a.lo)
            || self.in_other_columns(a, b)
    }

    /// Returns true if two pitched accesses of equal pitch touch different columns. Planes begin at multiples of the
    /// pitch, so they make no difference.
    fn in_other_columns(&self, a: &Access, b: &Access) -> bool {
        let (Some(one), Some(other)) = (a.rows, b.rows) else { return false };
        let pitch = &self.polys[one.pitch];
        if *pitch != self.polys[other.pitch] {
            return false;
        }
        let [lo_a, lo_b] = [a.lo, b.lo].map(|dim| &self.polys[dim]);
        let [width_a, width_b] = [one.width, other.width].map(|dim| &self.polys[dim]);
        let numbers = [lo_b.minus(lo_a), Some(width_a.clone()), Some(width_b.clone()), Some(pitch.clone())];
        if let [Some(by), Some(width_a), Some(width_b), Some(pitch)] =
            numbers.map(|poly| poly.and_then(|poly| poly.as_constant()))
        {
            let by = by.checked_rem_euclid(pitch);
            return by.is_some_and(|by| width_a <= by && by + width_b <= pitch);
        }
        let follows = |lo: &Poly, width: &Poly, next: &Poly, next_width: &Poly| {
            let ends = lo.plus(width).zip(next.plus(next_width)).zip(lo.plus(pitch));
            ends.is_some_and(|((end, next_end), next_row)| {
                self.facts.at_most(&end, next) && self.facts.at_most(&next_end, &next_row)
            })
        };
        follows(lo_a, width_a, lo_b, width_b) || follows(lo_b, width_b, lo_a, width_a)
    }

    /// Returns true if `a <= b` is proved.
    pub fn at_most_poly(&self, a: &Poly, b: &Poly) -> bool {
        self.facts.at_most(a, b)
    }

    /// Returns true if the polynomials of two bounds are equal.
    pub fn equal(&self, a: DimId, b: DimId) -> bool {
        self.polys[a] == self.polys[b]
    }

    /// Returns the polynomial of a bound.
    pub fn poly(&self, dim: DimId) -> &Poly {
        &self.polys[dim]
    }

    /// Returns the numeric bounds of a range. `None` if a bound depends on an argument.
    pub fn span(&self, lo: DimId, hi: DimId) -> Option<NumericRange> {
        let (lo, hi) = (self.places[lo], self.places[hi]);
        (lo.line == CONSTANTS && hi.line == CONSTANTS).then_some(NumericRange { lo: lo.c, hi: hi.c })
    }

    fn plainly_at_most(&self, a: DimId, b: DimId) -> bool {
        self.difference(a, b).is_some_and(|by| by.k >= 0 && by.c >= 0)
    }

    /// Returns `b - a`, if both are on one line.
    fn difference(&self, a: DimId, b: DimId) -> Option<LinePoint> {
        let (from, to) = (self.places[a], self.places[b]);
        let line = if from.line == to.line || from.line == CONSTANTS && self.lines[to.line].plain {
            to.line
        } else if to.line == CONSTANTS && self.lines[from.line].plain {
            from.line
        } else {
            return None;
        };
        if line == OVERFLOWED {
            return None;
        }
        Some(LinePoint { line, k: to.k.checked_sub(from.k)?, c: to.c.checked_sub(from.c)? })
    }
}

/// A polynomial: `k * axis + c + rest`.
struct SplitPoly {
    /// The last product. Empty if the polynomial is constant.
    axis: Vec<u32>,
    k: i64,
    c: i64,
    rest: Poly,
}

/// Splits a polynomial. `None` if a coefficient does not fit into 64 bits.
fn split(poly: &Poly) -> Option<SplitPoly> {
    let (axis, k) = poly.terms().last().map_or((&[][..], 0), |(product, coefficient)| (product, coefficient));
    let c = poly.terms().find(|(product, _)| product.is_empty()).map_or(0, |(_, coefficient)| coefficient);
    let c = i64::try_from(c).ok()?;
    if axis.is_empty() {
        return Some(SplitPoly { axis: Vec::new(), k: 0, c, rest: Poly::default() });
    }
    let rest = poly.terms().filter(|(product, _)| !product.is_empty() && *product != axis);
    Some(SplitPoly { axis: axis.to_vec(), k: i64::try_from(k).ok()?, c, rest: Poly::from_products(rest) })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ir::{BufferId, Mode};

    /// Polynomials over two variables and their product, as in the ranges of large functions.
    fn polys() -> impl Strategy<Value = Vec<Poly>> {
        let coefficient = || prop_oneof![Just(0i128), 0..4i128, Just(1i128 << 70)];
        let one = (coefficient(), coefficient(), coefficient(), -2..4i128);
        let poly = one.prop_map(|(n, k, nk, c)| {
            Poly::from_products([(&[][..], c), (&[0][..], n), (&[0, 1][..], nk), (&[1][..], k)])
        });
        proptest::collection::vec(poly, 2..12)
    }

    proptest! {
        /// Every query, in any order, gets the answer of the facts.
        #[test]
        fn the_answers_are_those_of_the_facts(
            polys in polys(),
            known in proptest::collection::vec((0..12usize, 0..12usize), 0..6),
            asked in proptest::collection::vec((0..12usize, 0..12usize, 0..12usize, 0..12usize), 1..40),
        ) {
            let at = |index: usize| &polys[index % polys.len()];
            let mut facts = Facts::default();
            for (low, high) in known {
                if let Some(difference) = at(high).minus(at(low)) {
                    facts.add(&difference);
                }
            }
            let bounds = RangeBounds::new(polys.clone().into(), facts.clone());
            let id = |index: usize| DimId::new(index % polys.len());
            for (a, b, c, d) in asked {
                prop_assert_eq!(bounds.at_most(id(a), id(b)), facts.at_most(at(a), at(b)));
                let (buffer, mode) = (BufferId::new(0), Mode::Read);
                let range = |lo, hi| Access { buffer, mode, lo, hi, relied_on: false, rows: None };
                let (one, two) = (range(id(a), id(b)), range(id(c), id(d)));
                let apart = facts.at_most(at(b), at(c)) || facts.at_most(at(d), at(a));
                prop_assert_eq!(bounds.disjoint(&one, &two), apart);
            }
        }
    }
}
