//! The ranges of a buffer that are written at a program point, and the proof that they cover an access.

use std::collections::BTreeSet;

use crate::bounds::RangeBounds;
use crate::index::{narrow, size};
use crate::ir::{Access, DimId, Rows};
use crate::spans::{FEW, NumericRange, Spans};
use cuweave_ptx::poly::Poly;

/// The ranges that are written at a program point.
#[derive(Clone, Default)]
pub(super) struct WrittenRanges {
    /// The first write of each range. Repeated writes of a range add nothing.
    pub distinct: Vec<WrittenRange>,
    known: Pairs,
    /// Ranges covered by several writes together. These writes are marked as relied on already.
    covered: Pairs,
    /// An index of `distinct` by numeric bounds, once there are many ranges.
    spans: Option<Spans>,
    /// The pitched writes, and unions of those whose rows are adjacent.
    pitched: Vec<PitchedRange>,
}

/// Rows that are written, of a width in elements.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PitchedRange {
    lo: DimId,
    hi: DimId,
    width: Poly,
    /// The rows, with the width of one of the writes.
    rows: Rows,
}

impl PitchedRange {
    /// Returns true if the rows leave no gap.
    fn is_solid(&self, bounds: &RangeBounds) -> bool {
        let Rows { count, pitch, planes, height, .. } = self.rows;
        let one_plane = bounds.poly(planes).as_constant() == Some(1);
        self.width == *bounds.poly(pitch) && (one_plane || bounds.equal(count, height))
    }

    /// Returns the union with rows that begin where these end, of as many rows at the same pitch.
    fn with(&self, next: &PitchedRange, bounds: &RangeBounds) -> Option<PitchedRange> {
        let same = |dims: [DimId; 4], others: [DimId; 4]| {
            dims.into_iter().zip(others).all(|(one, other)| bounds.equal(one, other))
        };
        let shape = |of: &Rows| [of.count, of.pitch, of.planes, of.height];
        let adjacent = bounds.poly(self.lo).plus(&self.width).is_some_and(|end| end == *bounds.poly(next.lo));
        if !adjacent || !same(shape(&self.rows), shape(&next.rows)) {
            return None;
        }
        let width = self.width.plus(&next.width)?;
        Some(PitchedRange { lo: self.lo, hi: next.hi, width, rows: self.rows })
    }

    /// Returns true if these rows provably contain those of an access that begins at the same element.
    fn contains(&self, bounds: &RangeBounds, lo: DimId, rows: &Rows) -> bool {
        let one_plane = || bounds.poly(rows.planes).as_constant() == Some(1);
        bounds.equal(self.lo, lo)
            && bounds.equal(self.rows.pitch, rows.pitch)
            && bounds.at_most_poly(bounds.poly(rows.width), &self.width)
            && bounds.at_most(rows.count, self.rows.count)
            && bounds.at_most(rows.planes, self.rows.planes)
            && (one_plane() || bounds.equal(self.rows.height, rows.height))
    }
}

/// The maximum number of pitched writes of a buffer, and unions of them, that are kept.
const MAX_PITCHED: usize = 256;

/// A written range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WrittenRange {
    pub lo: DimId,
    pub hi: DimId,
    /// The write. `None` for a range that the iterations of a loop write together.
    pub write: Option<usize>,
}

/// A set of ranges: a list while it is small, as usual.
#[derive(Clone, Default)]
struct Pairs {
    few: Vec<(DimId, DimId)>,
    more: BTreeSet<(DimId, DimId)>,
}

impl Pairs {
    fn contains(&self, lo: DimId, hi: DimId) -> bool {
        self.few.contains(&(lo, hi)) || self.more.contains(&(lo, hi))
    }

    fn insert(&mut self, lo: DimId, hi: DimId) {
        if self.few.len() < FEW {
            self.few.push((lo, hi));
        } else {
            self.more.insert((lo, hi));
        }
    }
}

impl WrittenRanges {
    pub fn add(&mut self, bounds: &RangeBounds, lo: DimId, hi: DimId, write: Option<usize>) {
        if self.known.contains(lo, hi) {
            return;
        }
        self.known.insert(lo, hi);
        self.distinct.push(WrittenRange { lo, hi, write });
        let from = match &self.spans {
            Some(_) => self.distinct.len() - 1,
            None if self.distinct.len() > FEW => 0,
            None => return,
        };
        let spans = self.spans.get_or_insert_default();
        for (slot, range) in self.distinct.iter().enumerate().skip(from) {
            spans.add(narrow(slot), bounds.span(range.lo, range.hi));
        }
    }

    /// Adds the rows of a pitched write, and their unions with adjacent rows of earlier ones. Rows without gaps are a
    /// range.
    pub fn add_rows(&mut self, bounds: &RangeBounds, access: &Access, rows: Rows, write: Option<usize>) {
        let width = bounds.poly(rows.width).clone();
        let mut new = vec![PitchedRange { lo: access.lo, hi: access.hi, width, rows }];
        while let Some(one) = new.pop() {
            if one.is_solid(bounds) {
                self.add(bounds, one.lo, one.hi, write);
            }
            if self.pitched.len() >= MAX_PITCHED || self.pitched.contains(&one) {
                continue;
            }
            for other in &self.pitched {
                new.extend(other.with(&one, bounds));
                new.extend(one.with(other, bounds));
            }
            self.pitched.push(one);
        }
    }

    /// Returns true if earlier pitched writes provably cover the rows of an access.
    pub fn cover_rows(&self, bounds: &RangeBounds, access: &Access) -> bool {
        let Some(rows) = access.rows else { return false };
        self.pitched.iter().any(|written| written.contains(bounds, access.lo, &rows))
    }

    /// Returns ranges that provably cover an access together. Empty if an earlier call has covered it. `None` if
    /// there are none.
    pub fn cover(&mut self, bounds: &RangeBounds, access: &Access) -> Option<Vec<WrittenRange>> {
        if self.covered.contains(access.lo, access.hi) {
            return Some(Vec::new());
        }
        let span = bounds.span(access.lo, access.hi);
        let chain = match (&self.spans, span) {
            (Some(spans), Some(span)) if spans.all_known() => self.chain_of_numbers(spans, bounds, span),
            _ => self.chain(bounds, access),
        }?;
        self.covered.insert(access.lo, access.hi);
        Some(chain)
    }

    /// Searches a chain of ranges that covers an access: from the start of the access, each range that begins at or
    /// before a reached point reaches its own end. O(distinct writes²) bound comparisons in the worst case.
    fn chain(&self, bounds: &RangeBounds, access: &Access) -> Option<Vec<WrittenRange>> {
        let contains = |range: &&WrittenRange| {
            bounds.at_most(range.lo, access.lo) && bounds.at_most(access.hi, range.hi)
        };
        if let Some(&one) = self.distinct.iter().find(contains) {
            return Some(vec![one]);
        }
        if bounds.at_most(access.hi, access.lo) {
            return Some(Vec::new());
        }
        // Reached points, each with the write that ends there and the point that it was reached from.
        let mut points: Vec<(DimId, Option<(WrittenRange, usize)>)> = vec![(access.lo, None)];
        let mut unused = self.distinct.clone();
        let mut at = 0;
        while at < points.len() {
            let point = points[at].0;
            if bounds.at_most(access.hi, point) {
                return Some(steps(&points, at));
            }
            unused.retain(|&range| {
                let reached = bounds.at_most(range.lo, point);
                if reached {
                    points.push((range.hi, Some((range, at))));
                }
                !reached
            });
            at += 1;
        }
        None
    }

    /// Computes [`WrittenRanges::chain`] for numeric bounds, with the same result. Only ranges that touch the access
    /// can contribute. O(n log n) in their number.
    fn chain_of_numbers(
        &self,
        spans: &Spans,
        bounds: &RangeBounds,
        asked: NumericRange,
    ) -> Option<Vec<WrittenRange>> {
        let NumericRange { lo, hi } = asked;
        let near = spans.near(asked).into_iter().filter_map(|slot| {
            let range = self.distinct[size(slot)];
            Some((bounds.span(range.lo, range.hi)?, slot))
        });
        let mut near: Vec<(NumericRange, u32)> = near.collect();
        let range = |slot: u32| self.distinct[size(slot)];
        if let Some(&(_, one)) = near.iter().find(|(range, _)| range.lo <= lo && hi <= range.hi) {
            return Some(vec![range(one)]);
        }
        if hi <= lo {
            return Some(Vec::new());
        }
        near.sort_by_key(|(range, _)| range.lo);
        let mut points: Vec<(i64, Option<(WrittenRange, usize)>)> = vec![(lo, None)];
        let mut unused = near.as_mut_slice();
        let mut at = 0;
        while at < points.len() {
            let point = points[at].0;
            if hi <= point {
                return Some(steps(&points, at));
            }
            let (reached, rest) = unused.split_at_mut(unused.partition_point(|(range, _)| range.lo <= point));
            reached.sort_by_key(|(_, slot)| *slot);
            points
                .extend(reached.iter().map(|&(NumericRange { hi, .. }, slot)| (hi, Some((range(slot), at)))));
            unused = rest;
            at += 1;
        }
        None
    }

    /// Returns the ranges for another name of this buffer, whose length has the same value.
    pub fn of_length(&self, len: DimId, own: DimId, bounds: &RangeBounds) -> WrittenRanges {
        let ends = |hi: DimId| bounds.at_most(hi, len) && bounds.at_most(len, hi);
        let mut state = WrittenRanges::default();
        for range in &self.distinct {
            state.add(bounds, range.lo, if ends(range.hi) { own } else { range.hi }, None);
        }
        state
    }

    /// Returns the ranges that are also in `other`.
    pub fn common(&self, other: &[WrittenRange], bounds: &RangeBounds) -> Vec<WrittenRange> {
        let equal = |one: DimId, other: DimId| bounds.at_most(one, other) && bounds.at_most(other, one);
        let same =
            |one: &WrittenRange, other: &WrittenRange| equal(one.lo, other.lo) && equal(one.hi, other.hi);
        self.distinct.iter().filter(|one| other.iter().any(|other| same(one, other))).copied().collect()
    }
}

/// Returns the ranges on the path to a point, last one first.
fn steps<P>(points: &[(P, Option<(WrittenRange, usize)>)], to: usize) -> Vec<WrittenRange> {
    let mut chain = Vec::new();
    let mut step = points[to].1;
    while let Some((range, from)) = step {
        chain.push(range);
        step = points[from].1;
    }
    chain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::Vector;
    use crate::ir::{BufferId, Mode};
    use cuweave_ptx::poly::Facts;
    use proptest::prelude::*;

    proptest! {
        /// The numeric search finds the same ranges as the comparison of all ranges.
        #[test]
        fn numbers_make_the_same_chain(
            ranges in proptest::collection::vec((0..300i64, 1..20i64), 0..150),
            asked in proptest::collection::vec((0..300i64, 0..60i64), 1..20),
        ) {
            let mut polys: Vector<DimId, Poly> = Vector::new();
            let mut pair = |(lo, len): (i64, i64)| {
                (polys.push(Poly::constant(lo.into())), polys.push(Poly::constant((lo + len).into())))
            };
            let ranges: Vec<_> = ranges.into_iter().map(&mut pair).collect();
            let asked: Vec<_> = asked.into_iter().map(&mut pair).collect();
            let bounds = RangeBounds::new(polys, Facts::default());
            let mut state = WrittenRanges::default();
            for (write, &(lo, hi)) in ranges.iter().enumerate() {
                state.add(&bounds, lo, hi, Some(write));
            }
            prop_assert_eq!(state.spans.is_some(), ranges.len() > FEW);
            for (lo, hi) in asked {
                let (buffer, mode) = (BufferId::from_u32(0), Mode::Read);
                let access = Access { buffer, mode, lo, hi, relied_on: false, rows: None };
                prop_assert_eq!(state.cover(&bounds, &access), state.chain(&bounds, &access));
            }
        }
    }
}
