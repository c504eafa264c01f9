//! An index of numeric ranges that finds those near a given range.
//!
//! An unrolled program has thousands of ranges of one buffer, and an access overlaps few of them. Ranges are
//! grouped by the magnitude of their lengths and sorted by their starts, so that the ranges of one magnitude that
//! overlap an access are adjacent.

use std::collections::BTreeSet;

use crate::index::size;

/// Up to this number of ranges, comparing all is faster than an index.
pub const FEW: usize = 48;

/// A half-open range of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumericRange {
    /// The start.
    pub lo: i64,
    /// The end, exclusive.
    pub hi: i64,
}

/// An index of ranges, each identified by its slot. Some ranges have unknown bounds.
#[derive(Clone, Debug, Default)]
pub struct Spans {
    /// The ranges of each magnitude: start, slot, end.
    magnitudes: Vec<BTreeSet<(i64, u32, i64)>>,
    /// The slots of ranges with unknown bounds.
    unknown: BTreeSet<u32>,
}

/// Returns the magnitude of a length: its number of bits.
fn magnitude(NumericRange { lo, hi }: NumericRange) -> usize {
    let length = hi.saturating_sub(lo).max(0).unsigned_abs();
    size(u64::BITS - length.leading_zeros())
}

impl Spans {
    /// Adds a range. The slot must be unused. O(log n).
    pub fn add(&mut self, slot: u32, span: Option<NumericRange>) {
        let Some(span) = span else {
            self.unknown.insert(slot);
            return;
        };
        let magnitude = magnitude(span);
        if magnitude >= self.magnitudes.len() {
            self.magnitudes.resize(magnitude + 1, BTreeSet::new());
        }
        self.magnitudes[magnitude].insert((span.lo, slot, span.hi));
    }

    /// Removes a range that was added. O(log n).
    pub fn remove(&mut self, slot: u32, span: Option<NumericRange>) {
        match span {
            None => drop(self.unknown.remove(&slot)),
            Some(span) => {
                if let Some(ranges) = self.magnitudes.get_mut(magnitude(span)) {
                    ranges.remove(&(span.lo, slot, span.hi));
                }
            }
        }
    }

    /// Returns true if the bounds of all ranges are known.
    pub fn all_known(&self) -> bool {
        self.unknown.is_empty()
    }

    /// Returns the slots, ascending, of all ranges that overlap or touch a range, and of all with unknown bounds.
    /// O(found × log n), unless thousands of ranges of one magnitude are nested.
    pub fn near(&self, NumericRange { lo, hi }: NumericRange) -> Vec<u32> {
        let mut slots: Vec<u32> = self.unknown.iter().copied().collect();
        for (bits, ranges) in (0u32..).zip(&self.magnitudes) {
            // The length of the largest magnitude does not fit into an `i64`.
            let from = if bits < 63 { lo.saturating_sub(1 << bits) } else { i64::MIN };
            let touching = ranges.range((from, 0, i64::MIN)..).take_while(|range| range.0 <= hi);
            slots.extend(touching.filter(|range| range.2 >= lo).map(|range| range.1));
        }
        slots.sort_unstable();
        slots
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn numbers() -> impl Strategy<Value = i64> {
        prop_oneof![-20..20i64, Just(i64::MIN), Just(i64::MAX), -5000..5000i64]
    }

    fn range() -> impl Strategy<Value = NumericRange> {
        (numbers(), numbers()).prop_map(|(lo, hi)| NumericRange { lo, hi })
    }

    proptest! {
        /// The index finds the same ranges as a linear search.
        #[test]
        fn near_is_its_definition(
            ranges in proptest::collection::vec(proptest::option::of(range()), 0..60),
            removed in proptest::collection::vec(any::<bool>(), 60),
            asked in proptest::collection::vec(range(), 1..20),
        ) {
            let mut spans = Spans::default();
            (0..).zip(&ranges).for_each(|(slot, &range)| spans.add(slot, range));
            let all = || (0..).zip(ranges.iter().zip(&removed));
            all().filter(|(_, (_, removed))| **removed).for_each(|(slot, (&range, _))| spans.remove(slot, range));
            for one in asked {
                let touches = |range: &Option<NumericRange>| {
                    range.is_none_or(|range| range.lo <= one.hi && range.hi >= one.lo)
                };
                let expected: Vec<u32> = all()
                    .filter(|(_, (range, removed))| !**removed && touches(range))
                    .map(|(slot, _)| slot)
                    .collect();
                prop_assert_eq!(spans.near(one), expected);
            }
        }
    }
}
