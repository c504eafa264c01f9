//! Complete search for buffers with any interference graph: finds offsets within a capacity or proves that there
//! are none. Branch and bound with propagation of lower bounds and conflict-directed backjumping.
//!
//! The search looks for a canonical solution: one with the least weighted sum of offsets. The weight is the size of
//! the buffer times a factor that decreases with its priority. In a canonical solution
//! - each buffer is at 0 or on top of a conflicting buffer;
//! - no buffer fits into free bytes below it;
//! - of two twins (buffers with equal closed neighbourhoods in the interference graph) on top of one another, the
//!   one with higher priority is below.
//!
//! Partial placements that violate one of these are pruned.
//!
//! The unplaced buffers of a clique are on top of one another. So they need the sum of their sizes above the
//! *floor* of the clique, the lowest offset that any of them can have. A step branches on a clique with a low
//! floor: one of its buffers that can be at the floor is placed there, or all of these are *deferred*. A deferred
//! buffer waits for an unplaced neighbour to be placed below it. The alternatives are exhaustive and exclude each
//! other. Cliques with few alternatives come first.
//!
//! Each lower bound on an offset carries a reason: the set of decisions, by level, that imply it. The conflict set
//! of a dead end is the union of the reasons of the bounds involved, and the search jumps back to the latest
//! decision in it. So independent components of the interference graph are solved independently.
//!
//! Work is counted in steps, not timed: equal inputs give equal results.

mod bounds;
mod cliques;
mod decisions;
#[cfg(test)]
mod tests;

use super::indices::{DecisionLevel, Rank};
use super::instance::{CliqueIndex, ProblemTables};
use super::problem::Problem;
use crate::bits::{clear, has, last, lowest, or_into, words};
use crate::index::{Index, Vector, wide};
use bounds::OffsetBounds;
use cliques::CliqueTable;
use decisions::DecisionStack;

/// How to choose the clique to branch on, among the cliques with settled floors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BranchingRule {
    /// The clique with the fewest alternatives.
    Fewest,
    /// The lowest floor, then the fewest alternatives.
    Lowest,
    /// The lowest floor, then the least room below the capacity.
    Tightest,
    /// The lowest floor, then the buffer with the highest priority.
    Priority,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SearchOutcome {
    /// Offsets within the capacity.
    Found(Vector<Rank, u64>),
    /// No such offsets exist.
    Impossible,
    /// The steps or the patience ran out.
    Unknown,
}

/// Searches for offsets at which all buffers end at or below `capacity`. Subtracts the work from `steps`. Gives up
/// when no steps are left, or after `patience` dead ends.
pub(super) fn search(
    instance: &ProblemTables<'_>,
    capacity: u64,
    priority: &Vector<Rank, u32>,
    rule: BranchingRule,
    patience: u64,
    steps: &mut u64,
) -> SearchOutcome {
    let mut search = CliqueSearch::new(instance, capacity, priority, rule, *steps);
    let outcome = search.run(patience);
    *steps = search.steps;
    outcome
}

/// The result of propagation.
enum Propagated {
    /// All buffers are placed.
    Done,
    /// The clique to branch on.
    Branch(CliqueIndex),
    /// The decisions contradict each other.
    DeadEnd,
}

/// The search for offsets within one capacity.
struct CliqueSearch<'p> {
    problem: &'p Problem,
    twins: &'p Vector<Rank, Vec<Rank>>,
    capacity: u64,
    priority: &'p Vector<Rank, u32>,
    rule: BranchingRule,
    steps: u64,
    bounds: OffsetBounds,
    cliques: CliqueTable<'p>,
    decisions: DecisionStack,
    /// The conflict set of the last dead end.
    dead_end: Vec<u64>,
}

impl<'p> CliqueSearch<'p> {
    fn new(
        instance: &'p ProblemTables<'p>,
        capacity: u64,
        priority: &'p Vector<Rank, u32>,
        rule: BranchingRule,
        steps: u64,
    ) -> CliqueSearch<'p> {
        let problem = instance.problem;
        // A branch has at most one level for each placed buffer, plus the levels that defer buffers.
        let row_words = words(2 * problem.sizes.len() + 64);
        CliqueSearch {
            problem,
            twins: &instance.twins,
            capacity,
            priority,
            rule,
            steps,
            bounds: OffsetBounds::new(&problem.sizes, row_words),
            cliques: CliqueTable::new(instance),
            decisions: DecisionStack::new(row_words),
            dead_end: vec![0; row_words],
        }
    }

    fn spend(&mut self, steps: usize) {
        self.steps = self.steps.saturating_sub(wide(steps));
    }

    /// Returns the number of words in a set of levels.
    fn row_words(&self) -> usize {
        self.dead_end.len()
    }

    fn run(&mut self, mut patience: u64) -> SearchOutcome {
        loop {
            match self.propagate() {
                Propagated::Done => return SearchOutcome::Found(self.bounds.take_offsets()),
                Propagated::Branch(clique) => {
                    if self.decisions.len() == self.row_words() * 64 {
                        return SearchOutcome::Unknown;
                    }
                    self.open(clique);
                    self.advance();
                }
                Propagated::DeadEnd => {
                    if !self.backjump() {
                        return SearchOutcome::Impossible;
                    }
                    patience = patience.saturating_sub(1);
                }
            }
            if self.steps == 0 || patience == 0 {
                return SearchOutcome::Unknown;
            }
        }
    }

    /// Propagates the bounds and chooses the clique to branch on. At a dead end, sets `dead_end` to its conflict
    /// set.
    fn propagate(&mut self) -> Propagated {
        if self.bounds.any_deferred() && !self.lift_deferred() {
            return Propagated::DeadEnd;
        }
        let Some(lowest_top) = self.bounds.lowest_top(self.problem) else {
            return Propagated::Done;
        };
        self.spend(self.bounds.free().len() * 8 + self.problem.cliques.len());
        let mut best = ((u64::MAX, u64::MAX, u64::MAX), CliqueIndex::NONE);
        for s in self.cliques.ids() {
            let unplaced_bytes = self.cliques.unplaced_bytes(s);
            if unplaced_bytes == 0 {
                continue;
            }
            if self.cliques.floor(s).stale {
                self.cliques.refresh(s, &self.bounds, self.priority);
                self.spend(self.cliques.unplaced(s).len());
            }
            let floor = self.cliques.floor(s);
            let top = floor.at + unplaced_bytes;
            if top > self.capacity {
                self.dead_end.fill(0);
                let unplaced = self.cliques.unplaced(s);
                for &(b, _) in unplaced {
                    or_into(&mut self.dead_end, self.bounds.reason(b));
                }
                self.spend(unplaced.len() * self.row_words() / 4);
                return Propagated::DeadEnd;
            }
            // Unplaced buffers fit below this floor, so cliques with lower floors come first.
            if !floor.settled || floor.at >= lowest_top {
                continue;
            }
            let room = self.capacity - top;
            let alternatives = u64::from(floor.alternatives);
            let key = match self.rule {
                BranchingRule::Fewest => (alternatives, room, floor.at),
                BranchingRule::Lowest => (floor.at, alternatives, room),
                BranchingRule::Tightest => (floor.at, room, alternatives),
                BranchingRule::Priority => (floor.at, u64::from(floor.best_priority), room),
            };
            if key < best.0 || best.1 == CliqueIndex::NONE {
                best = (key, s);
            }
        }
        // The lowest unplaced buffer is not deferred. So its clique is settled, and the clique's floor is below
        // every top.
        debug_assert_ne!(best.1, CliqueIndex::NONE);
        Propagated::Branch(best.1)
    }

    /// Raises the bounds of deferred buffers, each of which is on top of an unplaced neighbour. Returns false at a
    /// dead end.
    fn lift_deferred(&mut self) -> bool {
        let problem = self.problem;
        let mut again = true;
        while again {
            again = false;
            for b in problem.sizes.ids() {
                if !self.bounds.is_deferred(b) || !has(self.bounds.free(), b) {
                    continue;
                }
                let beside = self.bounds.lowest_beside(b, problem);
                let conflict_words = problem.conflicts.row(b).len();
                self.spend(conflict_words * 8);
                // All unplaced neighbours are above the free bytes from which this buffer was deferred: it would
                // fit there.
                let slides = beside.low >= self.bounds.resting(b) + problem.sizes[b];
                let low = if beside.top == u64::MAX {
                    u64::MAX
                } else {
                    beside.top.next_multiple_of(problem.aligns[b])
                };
                if !slides && low <= self.bounds.low(b) {
                    continue;
                }
                self.dead_end.fill(0);
                self.bounds.explain_beside(b, problem, &mut self.dead_end);
                self.spend(conflict_words * 8 * self.row_words());
                if slides || low > self.capacity {
                    return false;
                }
                self.bounds.raise(b, low, &self.dead_end);
                self.invalidate_floors(b, 0);
                again = true;
            }
        }
        true
    }

    /// Marks the floors at or above `from` that depend on `b` as stale.
    fn invalidate_floors(&mut self, b: Rank, from: u64) {
        self.cliques.invalidate_from(b, from);
        self.spend(self.cliques.count_of(b));
    }

    /// Opens a decision on a clique with a settled floor.
    fn open(&mut self, clique: CliqueIndex) {
        let floor = self.cliques.floor(clique).at;
        self.decisions.open(self.bounds.trail_length());
        let unplaced = self.cliques.unplaced(clique);
        for &(b, _) in unplaced {
            self.decisions.blame(self.bounds.reason(b));
            if self.bounds.low(b) == floor {
                self.decisions.push(b);
            }
        }
        self.spend(unplaced.len() * self.row_words() / 4);
        self.decisions.sort_candidates(self.priority);
    }

    /// Applies the next alternative of the last decision: places the next buffer that can be at the floor, and
    /// finally defers all of them.
    fn advance(&mut self) {
        let level = self.decisions.top();
        while let Some(b) = self.decisions.next_candidate() {
            if !self.swaps(b) {
                self.decisions.note_placed(b);
                self.place(b, level);
                return;
            }
            self.decisions.blame(self.bounds.reason(b));
        }
        let mut touched = 0;
        for &b in self.decisions.candidates() {
            self.bounds.defer(b, level);
            self.cliques.invalidate_from(b, self.bounds.low(b));
            touched += self.cliques.count_of(b);
        }
        self.spend(touched);
    }

    fn place(&mut self, b: Rank, level: DecisionLevel) {
        let problem = self.problem;
        let (size, neighbours) = (problem.sizes[b], problem.conflicts.row(b));
        let offset = self.bounds.place(b, level);
        self.cliques.place(b, size, offset);
        let mut touched = self.cliques.count_of(b) + neighbours.len();
        for (w, &near) in neighbours.iter().enumerate() {
            let mut left = near & self.bounds.free()[w];
            while left != 0 {
                let i: Rank = lowest(w, left);
                left &= left - 1;
                let resting = (offset + size).next_multiple_of(problem.aligns[i]);
                touched += 4;
                if resting <= self.bounds.resting(i) {
                    continue;
                }
                touched += 8 + self.cliques.count_of(i);
                let before = self.bounds.low(i);
                // Only floors at the old bound depend on this buffer.
                if self.bounds.rest(i, resting, level) {
                    self.cliques.invalidate_at(i, before);
                }
            }
        }
        self.spend(touched);
    }

    /// Undoes the applied alternative of the last decision.
    fn undo(&mut self) {
        let level = self.decisions.top();
        let Some(applied) = self.decisions.take_applied() else {
            return;
        };
        while let Some((b, from)) = self.bounds.undo(applied.trail, level) {
            self.invalidate_floors(b, from);
        }
        if applied.placed != Rank::NONE {
            self.bounds.unplace(applied.placed);
            self.cliques.unplace(applied.placed, self.problem.sizes[applied.placed]);
        }
    }

    /// Returns true if `b` would be directly on top of a twin with lower priority: swapping them is canonical.
    fn swaps(&self, b: Rank) -> bool {
        let exact = self.problem.sizes[b].is_multiple_of(self.problem.aligns[b]);
        exact
            && self.twins[b].iter().any(|&a| {
                self.bounds.placed_top(a, self.problem) == Some(self.bounds.resting(b))
                    && self.priority[a] > self.priority[b]
            })
    }

    /// Jumps back to the latest decision in `dead_end` with a remaining alternative, and applies that alternative.
    /// Returns false if there is none.
    fn backjump(&mut self) -> bool {
        loop {
            let Some(level) = last::<DecisionLevel>(&self.dead_end) else {
                return false;
            };
            while self.decisions.len() > level.index() + 1 {
                self.undo();
                self.decisions.close();
            }
            self.undo();
            clear(&mut self.dead_end, level);
            self.decisions.blame(&self.dead_end);
            if self.decisions.has_next() {
                self.advance();
                return true;
            }
            self.dead_end.copy_from_slice(self.decisions.conflict_set());
            self.decisions.close();
        }
    }
}
