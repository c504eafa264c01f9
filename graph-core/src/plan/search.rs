//! Complete search for buffers with any conflict graph: whether they fit into a capacity, and where. Branch and bound with
//! propagation of lower bounds and conflict-directed backjumping.
//!
//! The search looks for a canonical solution: the one with the least sum of offsets, each weighted by the size of the buffer and a factor
//! that falls with its priority. In it
//! - each buffer lies at 0 or on top of a conflicting one;
//! - no buffer fits into free bytes below it;
//! - of two twins (buffers with equal closed neighbourhoods in the conflict graph) that lie on top of one another, the one of higher
//!   priority is below.
//!
//! Partial placements that violate one of the three are pruned.
//!
//! The unplaced buffers of a clique lie on top of one another. So they need the sum of their sizes above the *floor* of the
//! clique, the lowest offset that any of them can have. A step takes a clique with a low floor and branches: one of its buffers
//! that can lie on the floor is placed there, or all of these are *deferred*: none of them lies there, each waits for an
//! unplaced neighbour to be placed below it. The alternatives are exhaustive and exclude each other. Cliques with few alternatives
//! come first.
//!
//! Each lower bound on an offset carries a reason: the set of decisions, by level, that it follows from. The conflict set of a
//! dead end is the union of the reasons of the bounds involved, and the search jumps back to the latest decision in it. Independent
//! components of the conflict graph are thus solved independently.
//!
//! Work is counted in steps, not timed: equal inputs give equal results.

mod state;
#[cfg(test)]
mod tests;

use super::indices::{DecisionLevel, Rank};
use super::instance::{CliqueIndex, ProblemTables};
use crate::bits::{self, clear, has, last, ones, or_into, set};
use crate::index::{Index, Vector};
pub(super) use state::Rule;
use state::{CliqueSearch, OldReason, SearchFrame};

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Offsets within the capacity.
    Found(Vector<Rank, u64>),
    /// No such offsets exist.
    Impossible,
    /// The steps or the patience ran out.
    Unknown,
}

/// Searches for offsets at which all buffers end at or below `capacity`. Subtracts the work from `steps`; gives up when no steps are
/// left, or after `patience` dead ends.
pub(super) fn search(
    instance: &ProblemTables<'_>,
    capacity: u64,
    priority: &Vector<Rank, u32>,
    rule: Rule,
    patience: u64,
    steps: &mut u64,
) -> Outcome {
    let mut search = CliqueSearch::new(instance, capacity, priority, rule, *steps);
    let outcome = search.run(patience);
    *steps = search.steps;
    outcome
}

/// The result of propagation.
enum Next {
    /// All buffers are placed.
    Done,
    /// The clique to branch on.
    Branch(CliqueIndex),
    /// The decisions contradict each other.
    DeadEnd,
}

impl CliqueSearch<'_> {
    fn run(&mut self, mut patience: u64) -> Outcome {
        loop {
            match self.propagate() {
                Next::Done => return Outcome::Found(std::mem::take(&mut self.offsets)),
                Next::Branch(clique) => {
                    if self.frames.len() == self.row_words * 64 {
                        return Outcome::Unknown;
                    }
                    self.open(clique);
                    self.advance();
                }
                Next::DeadEnd => {
                    if !self.backjump() {
                        return Outcome::Impossible;
                    }
                    patience = patience.saturating_sub(1);
                }
            }
            if self.steps == 0 || patience == 0 {
                return Outcome::Unknown;
            }
        }
    }

    /// Propagates the bounds and chooses the clique to branch on. At a dead end `dead_end` is its conflict set.
    fn propagate(&mut self) -> Next {
        if self.deferred_count > 0 && !self.lift_deferred() {
            return Next::DeadEnd;
        }
        let problem = self.problem;
        let lowest_top = ones(&self.free).map(|b: Rank| self.low[b] + problem.sizes[b]).min();
        let Some(lowest_top) = lowest_top else {
            return Next::Done;
        };
        self.spend(self.free.len() * 8 + problem.cliques.len());
        let mut best = ((u64::MAX, u64::MAX, u64::MAX), CliqueIndex::NONE);
        for s in self.unplaced_bytes.ids() {
            if self.unplaced_bytes[s] == 0 {
                continue;
            }
            if self.floors[s].stale {
                self.refresh(s);
            }
            let floor = self.floors[s];
            let top = floor.at + self.unplaced_bytes[s];
            if top > self.capacity {
                self.dead_end.fill(0);
                self.spend(self.unplaced_count[s] * self.row_words / 4);
                for &(b, _) in &self.members[s].as_slice()[..self.unplaced_count[s]] {
                    or_into(&mut self.dead_end, self.reasons.row(b));
                }
                return Next::DeadEnd;
            }
            // Unplaced buffers fit below this floor: the cliques of lower floors come first.
            if !floor.settled || floor.at >= lowest_top {
                continue;
            }
            let room = self.capacity - top;
            let alternatives = u64::from(floor.alternatives);
            let key = match self.rule {
                Rule::Fewest => (alternatives, room, floor.at),
                Rule::Lowest => (floor.at, alternatives, room),
                Rule::Tightest => (floor.at, room, alternatives),
                Rule::Priority => (floor.at, u64::from(floor.best_priority), room),
            };
            if key < best.0 || best.1 == CliqueIndex::NONE {
                best = (key, s);
            }
        }
        // The lowest unplaced buffer is not deferred, so its clique is settled, and its floor is below every top.
        debug_assert_ne!(best.1, CliqueIndex::NONE);
        Next::Branch(best.1)
    }

    /// Raises the bounds of deferred buffers: each lies on top of a neighbour that is not placed. Returns false at a dead end.
    fn lift_deferred(&mut self) -> bool {
        let problem = self.problem;
        let mut again = true;
        while again {
            again = false;
            for b in self.deferred.ids() {
                if !self.deferred[b] || !has(&self.free, b) {
                    continue;
                }
                let (mut lowest, mut lowest_top) = (u64::MAX, u64::MAX);
                let neighbours = problem.conflicts.row(b);
                for (w, (&near, &free)) in neighbours.iter().zip(&self.free).enumerate() {
                    let mut left = near & free;
                    while left != 0 {
                        let i: Rank = bits::lowest(w, left);
                        left &= left - 1;
                        lowest = lowest.min(self.low[i]);
                        lowest_top = lowest_top.min(self.low[i] + problem.sizes[i]);
                    }
                }
                self.spend(neighbours.len() * 8);
                // All unplaced neighbours lie above the free bytes that this buffer was deferred from: it would fit there.
                let slides = lowest >= self.resting[b] + problem.sizes[b];
                // Without an unplaced neighbour it can lie nowhere else.
                let low = if lowest_top == u64::MAX {
                    u64::MAX
                } else {
                    lowest_top.next_multiple_of(problem.aligns[b])
                };
                if !slides && low <= self.low[b] {
                    continue;
                }
                self.dead_end.fill(0);
                or_into(&mut self.dead_end, self.reasons.row(b));
                self.spend(neighbours.len() * 8 * self.row_words);
                for i in problem.conflicts.neighbours(b) {
                    if has(&self.free, i) {
                        or_into(&mut self.dead_end, self.reasons.row(i));
                    } else if self.level[i] != DecisionLevel::NONE {
                        set(&mut self.dead_end, self.level[i]);
                    }
                }
                if slides || low > self.capacity {
                    return false;
                }
                let reason = OldReason::new(self.old_reasons.len());
                self.old_reasons.extend_from_slice(self.reasons.row(b));
                self.record(b, reason);
                self.reasons.row_mut(b).copy_from_slice(&self.dead_end);
                self.low[b] = low;
                self.invalidate_floors(b, 0);
                again = true;
            }
        }
        true
    }

    /// Pushes a frame for a clique whose floor is settled.
    fn open(&mut self, clique: CliqueIndex) {
        let candidates = self.candidates.len();
        let floor = self.floors[clique].at;
        let level = self.conflict_sets.len();
        self.conflict_sets.resize(level + self.row_words, 0);
        let unplaced_count = self.unplaced_count[clique];
        self.spend(unplaced_count * self.row_words / 4);
        for &(b, _) in &self.members[clique].as_slice()[..unplaced_count] {
            or_into(&mut self.conflict_sets[level..], self.reasons.row(b));
            if self.low[b] == floor {
                self.candidates.push(b);
            }
        }
        let priority = self.priority;
        self.candidates[candidates..].sort_unstable_by_key(|&b| priority[b]);
        let count = self.candidates.len() - candidates;
        self.frames.push(SearchFrame {
            candidates,
            count,
            next: 0,
            trail: self.trail.len(),
            placed: Rank::NONE,
        });
    }

    /// Applies the next alternative of the top frame: each buffer that can lie on the floor, then to defer all of them.
    fn advance(&mut self) {
        let level = self.top();
        while let Some(frame) = self.frames.last_mut() {
            let at = frame.next;
            frame.next += 1;
            let (candidates, count) = (frame.candidates, frame.count);
            if at == count {
                for k in candidates..candidates + count {
                    self.defer(self.candidates[k], level);
                }
                return;
            }
            let b = self.candidates[candidates + at];
            if !self.swaps(b) {
                if let Some(frame) = self.frames.last_mut() {
                    frame.placed = b;
                }
                self.place(b, level);
                return;
            }
            let start = level.index() * self.row_words;
            or_into(&mut self.conflict_sets[start..], self.reasons.row(b));
        }
    }

    fn defer(&mut self, b: Rank, level: DecisionLevel) {
        self.record(b, OldReason::NONE);
        self.set_deferred(b, true);
        set(self.reasons.row_mut(b), level);
        self.invalidate_floors(b, self.low[b]);
    }

    /// Returns true if `b` would lie right on top of a twin of lower priority: the two can be swapped.
    fn swaps(&self, b: Rank) -> bool {
        // Only then is the end of `b` aligned for the twin.
        let exact = self.problem.sizes[b].is_multiple_of(self.problem.aligns[b]);
        exact
            && self.twins[b].iter().any(|&a| {
                let top = self.offsets[a] + self.problem.sizes[a];
                self.level[a] != DecisionLevel::NONE
                    && top == self.resting[b]
                    && self.priority[a] > self.priority[b]
            })
    }

    /// Jumps back to the latest decision in the conflict set `dead_end` that has an alternative left, and applies that one. Returns
    /// false if none has.
    fn backjump(&mut self) -> bool {
        loop {
            let Some(level) = last::<DecisionLevel>(&self.dead_end) else {
                return false;
            };
            while self.frames.len() > level.index() + 1 {
                self.undo();
                self.close();
            }
            self.undo();
            clear(&mut self.dead_end, level);
            let start = level.index() * self.row_words;
            or_into(&mut self.conflict_sets[start..], &self.dead_end);
            if self.frames.last().is_some_and(|frame| frame.next <= frame.count) {
                self.advance();
                return true;
            }
            self.dead_end.copy_from_slice(&self.conflict_sets[start..]);
            self.close();
        }
    }
}
