//! Placing buffers one after the other, in several orders, each into a gap that is there.

use super::Problem;
use crate::reach::{has, set};
use std::cmp::Reverse;

/// Which gap a buffer takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// The lowest one.
    First,
    /// The one that leaves the least over.
    Best,
}

/// Offsets, and the end of the highest buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub offsets: Vec<u64>,
    pub total: u64,
}

/// Places the buffers in the order given: each as low as `fit` says among the gaps that those before it leave. Takes
/// what it uses from `steps`, and does not mind if there are none left.
pub(super) fn place(problem: &Problem, order: &[u32], fit: Fit, steps: &mut u64) -> Layout {
    let n = problem.sizes.len();
    let mut offsets = vec![0; n];
    let mut total = 0;
    // What is placed, by offset; and as bits.
    let mut placed: Vec<(u64, u64, u32)> = Vec::with_capacity(order.len());
    let mut is_placed = vec![0u64; n.div_ceil(64)];
    let mut in_the_way: Vec<(u64, u64)> = Vec::new();
    let mut looked = 0;
    for &b in order {
        let (size, align) = (problem.sizes[b as usize], problem.aligns[b as usize]);
        if size == 0 {
            continue;
        }
        let row = problem.conflicts.row(b);
        let count: u32 = row.iter().zip(&is_placed).map(|(row, placed)| (row & placed).count_ones()).sum();
        let mut gap = Gap::new(size, align, fit);
        if u64::from(count) * 8 < placed.len() as u64 {
            looked += 2 * is_placed.len() + 8 * count as usize;
            // Few are found faster by their bits, and sorted, than by asking all.
            in_the_way.clear();
            for (w, (row, placed)) in row.iter().zip(&is_placed).enumerate() {
                let mut left = row & placed;
                while left != 0 {
                    let other = w * 64 + left.trailing_zeros() as usize;
                    left &= left - 1;
                    in_the_way.push((offsets[other], offsets[other] + problem.sizes[other]));
                }
            }
            in_the_way.sort_unstable();
            gap.find(in_the_way.iter().map(|&(from, to)| (true, from, to)));
        } else {
            looked += placed.len();
            gap.find(placed.iter().map(|&(from, to, other)| (has(row, other), from, to)));
        }
        let offset = gap.offset();
        offsets[b as usize] = offset;
        total = total.max(offset + size);
        set(&mut is_placed, b);
        let at = placed.partition_point(|&(from, ..)| from <= offset);
        placed.insert(at, (offset, offset + size, b));
    }
    *steps = steps.saturating_sub(looked as u64);
    Layout { offsets, total }
}

/// The search for a place among those that are in the way.
struct Gap {
    size: u64,
    align: u64,
    fit: Fit,
    /// The highest end so far.
    top: u64,
    /// What the best gap so far leaves over, and where it starts.
    best: Option<(u64, u64)>,
}

impl Gap {
    fn new(size: u64, align: u64, fit: Fit) -> Gap {
        Gap { size, align, fit, top: 0, best: None }
    }

    /// Looks through what is placed, by offset: whether it is in the way, from where and to where it reaches.
    fn find(&mut self, placed: impl Iterator<Item = (bool, u64, u64)>) {
        for (in_the_way, from, to) in placed {
            // Hardly ever so, and the rest takes no branch.
            if in_the_way & (from > self.top) && self.end_at(from) {
                return;
            }
            self.top = if in_the_way { self.top.max(to) } else { self.top };
        }
    }

    /// Notes the gap that ends at `from`; true if no better one needs to be looked for.
    fn end_at(&mut self, from: u64) -> bool {
        let start = self.top.next_multiple_of(self.align);
        let Some(left) = from.checked_sub(start).and_then(|room| room.checked_sub(self.size)) else {
            return false;
        };
        if self.best.is_none_or(|(least, _)| left < least) {
            self.best = Some((left, start));
        }
        self.fit == Fit::First || left == 0
    }

    fn offset(&self) -> u64 {
        self.best.map_or(self.top.next_multiple_of(self.align), |(_, start)| start)
    }
}

/// What orders are made from: for each buffer its size, how long it is in the way of others, the most that it meets
/// at once, size times width, and when it begins.
pub(super) struct Traits {
    pub size: Vec<u64>,
    pub width: Vec<u64>,
    pub contention: Vec<u64>,
    pub area: Vec<u64>,
    pub begins: Vec<i64>,
}

impl Traits {
    pub fn of(problem: &Problem) -> Traits {
        let n = problem.sizes.len();
        let (mut width, mut contention) = (vec![0u64; n], vec![0u64; n]);
        for section in &problem.sections {
            let bytes: u64 = section.iter().map(|&b| problem.sizes[b as usize]).sum();
            for &b in section {
                let b = b as usize;
                width[b] += 1;
                contention[b] = contention[b].max(bytes);
            }
        }
        let area =
            width.iter().zip(&problem.sizes).map(|(width, size)| width.saturating_mul(*size)).collect();
        Traits { size: problem.sizes.clone(), width, contention, area, begins: problem.begins.clone() }
    }

    /// The buffers by falling `keys`, the first one first; then by index.
    pub fn order(&self, keys: [&[u64]; 3]) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.size.len() as u32).collect();
        order.sort_by_key(|&b| Reverse(keys.map(|key| key[b as usize])));
        order
    }

    /// The orders that are tried, the most promising ones first.
    pub fn orders(&self) -> Vec<Vec<u32>> {
        let Traits { size, width, contention, area, begins } = self;
        let mut by_begin = self.order([area, size, width]);
        by_begin.sort_by_key(|&b| begins[b as usize]);
        vec![
            self.order([contention, area, width]),
            self.order([size, width, contention]),
            by_begin,
            self.order([area, size, contention]),
            self.order([width, area, contention]),
        ]
    }
}
