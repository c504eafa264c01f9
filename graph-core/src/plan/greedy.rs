//! Greedy placement: first fit, with several orders of the buffers.

use super::indices::Rank;
use super::problem::Problem;
use crate::bits::{count_common, has, lowest, set, words};
use crate::index::{Vector, wide};
use std::cmp::Reverse;

/// The offset of each buffer, and the end of the highest one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GreedyLayout {
    pub offsets: Vector<Rank, u64>,
    pub total: u64,
}

/// Places the buffers in the given order, each at the lowest offset where it shares no bytes with conflicting
/// buffers placed before.
///
/// Subtracts the work from `steps`, saturating; all buffers are placed in any case. O(n² / 64 + conflicts · log n).
pub(super) fn place(problem: &Problem, order: &[Rank], steps: &mut u64) -> GreedyLayout {
    let n = problem.sizes.len();
    let mut offsets = Vector::filled(0, n);
    let mut total = 0;
    let mut placed: Vec<(u64, u64, Rank)> = Vec::with_capacity(order.len());
    let mut is_placed = vec![0u64; words(n)];
    // The maximal byte ranges of the placed buffers, ascending. They block a buffer that conflicts with all of
    // them.
    let mut taken: Vec<(u64, u64)> = Vec::new();
    let mut in_the_way: Vec<(u64, u64)> = Vec::new();
    let mut looked = 0;
    for &b in order {
        let (bytes, align) = (problem.sizes[b], problem.aligns[b]);
        if bytes == 0 {
            continue;
        }
        let row = problem.conflicts.row(b);
        let count = count_common(row, &is_placed);
        let mut gap = Gap { size: bytes, align, top: 0, found: None };
        if count * 8 < placed.len() {
            looked += 2 * is_placed.len() + 8 * count;
            // A few conflicts are collected from the bit rows and sorted faster than all placed buffers are
            // scanned.
            in_the_way.clear();
            for (w, (row, placed)) in row.iter().zip(&is_placed).enumerate().filter(|_| count > 0) {
                let mut left = row & placed;
                while left != 0 {
                    let other: Rank = lowest(w, left);
                    left &= left - 1;
                    in_the_way.push((offsets[other], offsets[other] + problem.sizes[other]));
                }
            }
            in_the_way.sort_unstable();
            gap.find(in_the_way.iter().map(|&(from, to)| PlacedBytes { conflicts: true, from, to }));
        } else if count == placed.len() {
            looked += placed.len();
            gap.find(taken.iter().map(|&(from, to)| PlacedBytes { conflicts: true, from, to }));
        } else {
            looked += placed.len();
            gap.find(placed.iter().map(|&(from, to, b)| PlacedBytes { conflicts: has(row, b), from, to }));
        }
        let offset = gap.offset();
        offsets[b] = offset;
        total = total.max(offset + bytes);
        set(&mut is_placed, b);
        let at = placed.partition_point(|&(from, ..)| from <= offset);
        placed.insert(at, (offset, offset + bytes, b));
        unite(&mut taken, offset, offset + bytes);
    }
    *steps = steps.saturating_sub(wide(looked));
    GreedyLayout { offsets, total }
}

/// Adds a range to ascending disjoint ranges, merging those that it touches.
fn unite(ranges: &mut Vec<(u64, u64)>, mut from: u64, mut to: u64) {
    let first = ranges.partition_point(|range| range.1 < from);
    let end = ranges.partition_point(|range| range.0 <= to);
    if let Some(met) = ranges.get(first..end).filter(|met| !met.is_empty()) {
        from = from.min(met[0].0);
        to = to.max(met[met.len() - 1].1);
    }
    ranges.splice(first..end, [(from, to)]);
}

/// The byte range of a placed buffer.
struct PlacedBytes {
    /// True if the buffer being placed must not share these bytes.
    conflicts: bool,
    from: u64,
    to: u64,
}

/// A scan for the lowest gap between conflicting buffers that is large enough.
struct Gap {
    size: u64,
    align: u64,
    /// The highest end so far.
    top: u64,
    /// The start of the gap.
    found: Option<u64>,
}

impl Gap {
    /// Scans the placed buffers by ascending offset.
    fn find(&mut self, placed: impl Iterator<Item = PlacedBytes>) {
        for PlacedBytes { conflicts, from, to } in placed {
            // Rarely true. The rest of the loop body is branchless.
            if conflicts & (from > self.top) && self.end_at(from) {
                return;
            }
            self.top = if conflicts { self.top.max(to) } else { self.top };
        }
    }

    /// Returns true if the gap that ends at `from` is large enough.
    fn end_at(&mut self, from: u64) -> bool {
        let start = self.top.next_multiple_of(self.align);
        let fits = from.checked_sub(start).is_some_and(|room| room >= self.size);
        if fits {
            self.found = Some(start);
        }
        fits
    }

    fn offset(&self) -> u64 {
        self.found.unwrap_or_else(|| self.top.next_multiple_of(self.align))
    }
}

/// The sort keys of the greedy orders, for each buffer: its size, the number of its cliques (`width`), the weight
/// of its heaviest clique (`contention`), size times width (`area`), and the rank of its begin.
pub(super) struct PlacementKeys {
    pub size: Vector<Rank, u64>,
    pub width: Vector<Rank, u64>,
    pub contention: Vector<Rank, u64>,
    pub area: Vector<Rank, u64>,
    pub begins: Vector<Rank, i64>,
}

impl PlacementKeys {
    pub fn new(problem: &Problem) -> PlacementKeys {
        let n = problem.sizes.len();
        let (mut width, mut contention) = (Vector::filled(0u64, n), Vector::filled(0u64, n));
        for clique in &problem.cliques {
            let bytes: u64 = clique.iter().map(|&b| problem.sizes[b]).sum();
            for &b in clique {
                width[b] += 1;
                contention[b] = contention[b].max(bytes);
            }
        }
        let area =
            width.iter().zip(&problem.sizes).map(|(width, size)| width.saturating_mul(*size)).collect();
        PlacementKeys { size: problem.sizes.clone(), width, contention, area, begins: problem.begins.clone() }
    }

    /// Returns the buffers in descending lexicographic order of the keys.
    pub fn order(&self, keys: [&Vector<Rank, u64>; 3]) -> Vec<Rank> {
        let mut order: Vec<Rank> = self.size.ids().collect();
        order.sort_by_key(|&b| Reverse(keys.map(|key| key[b])));
        order
    }

    /// Returns the orders to try, most promising first. Each is computed lazily.
    pub fn orders(&self, first_by_size: bool) -> impl Iterator<Item = Vec<Rank>> + '_ {
        let PlacementKeys { size, width, contention, area, begins } = self;
        let order = move |nth: usize| match nth {
            0 => self.order([contention, area, width]),
            1 => self.order([size, width, contention]),
            2 => {
                let mut by_begin = self.order([area, size, width]);
                by_begin.sort_by_key(|&b| begins[b]);
                by_begin
            }
            3 => self.order([area, size, contention]),
            _ => self.order([width, area, contention]),
        };
        let sequence = if first_by_size { [1, 0, 2, 3, 4] } else { [0, 1, 2, 3, 4] };
        sequence.into_iter().map(order)
    }
}
