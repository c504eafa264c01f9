//! Placing buffers one after the other, in several orders, each into a gap that is there.

use super::Problem;
use crate::reach::has;
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

/// Places the buffers in the order given: each as low as `fit` says among the gaps that those before it leave.
pub(super) fn place(problem: &Problem, order: &[u32], fit: Fit) -> Layout {
    let mut offsets = vec![0; problem.sizes.len()];
    let mut total = 0;
    // What is placed, by offset.
    let mut placed: Vec<(u64, u64, u32)> = Vec::with_capacity(order.len());
    for &b in order {
        let (size, align) = (problem.sizes[b as usize], problem.aligns[b as usize]);
        if size == 0 {
            continue;
        }
        let row = problem.conflicts.row(b);
        // Where the buffer would start if nothing more were in its way.
        let mut start = 0u64;
        let mut best: Option<(u64, u64)> = None;
        for &(from, to, other) in &placed {
            if !has(row, other) {
                continue;
            }
            if from >= start + size {
                let left = from - start - size;
                if best.is_none_or(|(least, _)| left < least) {
                    best = Some((left, start));
                }
                if fit == Fit::First || left == 0 {
                    break;
                }
            }
            start = start.max(to.next_multiple_of(align));
        }
        let offset = best.map_or(start, |(_, gap)| gap);
        offsets[b as usize] = offset;
        total = total.max(offset + size);
        let at = placed.partition_point(|&(from, ..)| from <= offset);
        placed.insert(at, (offset, offset + size, b));
    }
    Layout { offsets, total }
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
