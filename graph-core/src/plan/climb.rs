//! Climbing by order moves: a buffer of those that make the height goes to the front or to another place, and what
//! is no worse is kept.

use super::Problem;
use super::greedy::{Fit, Layout, place};

/// A small generator of numbers, the same on every machine (xorshift64*).
pub(super) struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        ((self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % end as u64) as usize
    }
}

/// Moves within `order` that lower `best`, at most `moves` of them are tried.
pub(super) fn climb(
    problem: &Problem,
    order: &[u32],
    fit: Fit,
    best: Layout,
    goal: u64,
    moves: u64,
) -> Layout {
    let mut order = order.to_vec();
    let mut current = best.clone();
    let mut best = best;
    let mut random = Random::new(problem.sizes.len() as u64);
    // Work is limited by the moves.
    let mut steps = u64::MAX;
    for _ in 0..moves {
        if best.total <= goal || order.len() < 2 {
            break;
        }
        // What ends at the top, or one of its neighbours, has to get a better turn.
        let at_top: Vec<usize> = (0..order.len())
            .filter(|&at| {
                let b = order[at] as usize;
                current.offsets[b] + problem.sizes[b] == current.total && problem.sizes[b] > 0
            })
            .collect();
        let mut from = at_top[random.below(at_top.len())];
        if random.below(2) == 0 {
            let near: Vec<usize> =
                (0..order.len()).filter(|&at| problem.conflicts.conflict(order[from], order[at])).collect();
            if !near.is_empty() {
                from = near[random.below(near.len())];
            }
        }
        let anywhere = random.below(4) == 0;
        let to = random.below(if anywhere { order.len() } else { from + 1 });
        let mut tried = order.clone();
        let b = tried.remove(from);
        tried.insert(to, b);
        let layout = place(problem, &tried, fit, &mut steps);
        if layout.total <= current.total {
            order = tried;
            current = layout;
            if current.total < best.total {
                best = current.clone();
            }
        }
    }
    best
}
