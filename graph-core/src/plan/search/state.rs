//! The state of the search: the lower bounds of the buffers with their reasons, the decisions, and the trail that undoes them.

use crate::bits::{Matrix, clear, lowest, set, words};
use crate::index::{Index, Vector, indices, wide};
use crate::plan::indices::{DecisionLevel, Rank};
use crate::plan::instance::{CliqueIndex, Membership, ProblemTables};
use crate::plan::problem::Problem;

indices! {
    /// The index of a buffer among the members of a clique.
    pub(super) struct Slot;
    /// The index of a reason in `old_reasons`.
    pub(super) struct OldReason;
}

/// The choice of the clique to branch on, among those whose floor is settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The one with the fewest alternatives.
    Fewest,
    /// The one with the lowest floor; of several, the one with the fewest alternatives.
    Lowest,
    /// The one with the lowest floor; of several, the one with the least room below the capacity.
    Tightest,
    /// The one with the lowest floor; of several, the one with the buffer of highest priority.
    Priority,
}

/// The bounds of a buffer before a change.
pub(super) struct TrailEntry {
    pub buffer: Rank,
    pub resting: u64,
    pub low: u64,
    pub deferred: bool,
    /// The previous reason in `old_reasons`; `NONE` if only the level of the decision was added to it.
    pub reason: OldReason,
}

/// A decision: the buffer that lies on the floor of a clique.
pub(super) struct SearchFrame {
    /// The index of its first alternative in `candidates`; they end where those of the next frame begin.
    pub candidates: usize,
    pub count: usize,
    pub next: usize,
    pub trail: usize,
    pub placed: Rank,
}

/// The floor of a clique: the lowest offset of its unplaced buffers.
#[derive(Clone, Copy, Default)]
pub(super) struct CliqueFloor {
    pub at: u64,
    /// The number of its unplaced buffers whose bound is the floor.
    pub alternatives: u32,
    pub best_priority: u32,
    /// True if none of these is deferred.
    pub settled: bool,
    /// True if it must be computed anew.
    pub stale: bool,
}

/// The search below one capacity.
pub(super) struct CliqueSearch<'p> {
    pub problem: &'p Problem,
    pub cliques_of: &'p Vector<Rank, Vector<Membership, CliqueIndex>>,
    pub twins: &'p Vector<Rank, Vec<Rank>>,
    pub capacity: u64,
    pub priority: &'p Vector<Rank, u32>,
    pub rule: Rule,
    pub steps: u64,
    /// The number of words of a set of levels.
    pub row_words: usize,
    pub free: Vec<u64>,
    pub offsets: Vector<Rank, u64>,
    pub level: Vector<Rank, DecisionLevel>,
    /// The lowest offset above all placed neighbours.
    pub resting: Vector<Rank, u64>,
    /// The lower bound on the offset: above `resting` if the buffer is deferred.
    pub low: Vector<Rank, u64>,
    pub deferred: Vector<Rank, bool>,
    pub deferred_count: usize,
    /// Row `b`: the levels of the decisions that `low[b]` follows from.
    pub reasons: Matrix<Rank>,
    /// The unplaced bytes of each clique.
    pub unplaced_bytes: Vector<CliqueIndex, u64>,
    /// The buffers of each clique, each with the index of the clique among those of the buffer; the unplaced ones come first.
    pub members: Vector<CliqueIndex, Vector<Slot, (Rank, Membership)>>,
    /// The number of unplaced members of each clique.
    pub unplaced_count: Vector<CliqueIndex, usize>,
    /// The index of each buffer in the `members` of each of its cliques.
    pub slots: Vector<Rank, Vector<Membership, Slot>>,
    pub floors: Vector<CliqueIndex, CliqueFloor>,
    pub trail: Vec<TrailEntry>,
    pub old_reasons: Vec<u64>,
    pub frames: Vec<SearchFrame>,
    pub candidates: Vec<Rank>,
    /// Row `d`: the conflict set of decision `d`: the decisions that its failed alternatives, and the lack of others, follow from.
    pub conflict_sets: Vec<u64>,
    pub dead_end: Vec<u64>,
}

impl<'p> CliqueSearch<'p> {
    pub fn new(
        instance: &'p ProblemTables<'p>,
        capacity: u64,
        priority: &'p Vector<Rank, u32>,
        rule: Rule,
        steps: u64,
    ) -> CliqueSearch<'p> {
        let problem = instance.problem;
        let n = problem.sizes.len();
        let mut free = vec![0; words(n)];
        problem.sizes.ids().filter(|&b| problem.sizes[b] > 0).for_each(|b| set(&mut free, b));
        let bytes = |clique: &Vec<Rank>| clique.iter().map(|&b| problem.sizes[b]).sum();
        let mut members = Vector::filled(Vector::new(), problem.cliques.len());
        let mut slots = Vector::filled(Vector::new(), n);
        for (b, cliques) in instance.cliques_of.enumerate() {
            for (k, &s) in cliques.enumerate() {
                slots[b].push(members[s].push((b, k)));
            }
        }
        let unplaced_count = members.iter().map(Vector::len).collect();
        // A branch has at most one level for each placed buffer, and those at which buffers are deferred.
        let row_words = words(2 * n + 64);
        CliqueSearch {
            problem,
            cliques_of: &instance.cliques_of,
            twins: &instance.twins,
            capacity,
            priority,
            rule,
            steps,
            row_words,
            free,
            offsets: Vector::filled(0, n),
            level: Vector::filled(DecisionLevel::NONE, n),
            resting: Vector::filled(0, n),
            low: Vector::filled(0, n),
            deferred: Vector::filled(false, n),
            deferred_count: 0,
            reasons: Matrix::from_words(row_words, vec![0; n * row_words]),
            unplaced_bytes: problem.cliques.iter().map(bytes).collect(),
            members,
            unplaced_count,
            slots,
            floors: Vector::filled(
                CliqueFloor { stale: true, ..CliqueFloor::default() },
                problem.cliques.len(),
            ),
            trail: Vec::new(),
            old_reasons: Vec::new(),
            frames: Vec::new(),
            candidates: Vec::new(),
            conflict_sets: Vec::new(),
            dead_end: vec![0; row_words],
        }
    }

    pub fn spend(&mut self, steps: usize) {
        self.steps = self.steps.saturating_sub(wide(steps));
    }

    /// Returns the level of the top frame.
    pub fn top(&self) -> DecisionLevel {
        DecisionLevel::new(self.frames.len() - 1)
    }

    /// Returns the unplaced members of a clique.
    pub fn unplaced_members(&self, s: CliqueIndex) -> &[(Rank, Membership)] {
        &self.members[s].as_slice()[..self.unplaced_count[s]]
    }

    pub fn refresh(&mut self, s: CliqueIndex) {
        let members = self.unplaced_members(s);
        let at = members.iter().map(|&(b, _)| self.low[b]).min().unwrap_or(u64::MAX);
        let mut floor =
            CliqueFloor { at, alternatives: 0, best_priority: u32::MAX, settled: true, stale: false };
        for &(b, _) in members {
            if self.low[b] == at {
                floor.alternatives += 1;
                floor.best_priority = floor.best_priority.min(self.priority[b]);
                floor.settled &= !self.deferred[b];
            }
        }
        self.floors[s] = floor;
        self.spend(self.unplaced_count[s]);
    }

    pub fn record(&mut self, buffer: Rank, reason: OldReason) {
        let b = buffer;
        let (resting, low, deferred) = (self.resting[b], self.low[b], self.deferred[b]);
        self.trail.push(TrailEntry { buffer, resting, low, deferred, reason });
    }

    /// Invalidates the floors that depend on `b`: those at or above `from`.
    pub fn invalidate_floors(&mut self, b: Rank, from: u64) {
        let cliques = &self.cliques_of[b];
        for &s in cliques {
            let floor = &mut self.floors[s];
            floor.stale |= floor.at >= from;
        }
        self.spend(cliques.len());
    }

    pub fn set_deferred(&mut self, b: Rank, deferred: bool) {
        self.deferred_count = self.deferred_count + usize::from(deferred) - usize::from(self.deferred[b]);
        self.deferred[b] = deferred;
    }

    pub fn place(&mut self, b: Rank, level: DecisionLevel) {
        let problem = self.problem;
        let offset = self.resting[b];
        let size = problem.sizes[b];
        self.offsets[b] = offset;
        self.level[b] = level;
        clear(&mut self.free, b);
        for (k, &s) in self.cliques_of[b].enumerate() {
            self.unplaced_bytes[s] -= size;
            self.floors[s].stale |= self.floors[s].at >= offset;
            self.unplaced_count[s] -= 1;
            let (from, to) = (self.slots[b][k], Slot::new(self.unplaced_count[s]));
            let (other, its) = self.members[s][to];
            self.slots[other][its] = from;
            self.slots[b][k] = to;
            self.members[s].swap(from, to);
        }
        let neighbours = problem.conflicts.row(b);
        let mut touched = self.cliques_of[b].len() + neighbours.len();
        for (w, &near) in neighbours.iter().enumerate() {
            let mut left = near & self.free[w];
            while left != 0 {
                let i: Rank = lowest(w, left);
                left &= left - 1;
                let resting = (offset + size).next_multiple_of(problem.aligns[i]);
                touched += 4;
                if resting <= self.resting[i] {
                    continue;
                }
                touched += 8 + self.cliques_of[i].len();
                self.record(i, OldReason::NONE);
                // Only floors at the old bound depend on this buffer.
                let (before, was_deferred) = (self.low[i], self.deferred[i]);
                self.resting[i] = resting;
                self.set_deferred(i, false);
                set(self.reasons.row_mut(i), level);
                if resting > before || was_deferred {
                    self.low[i] = resting.max(before);
                    for &s in &self.cliques_of[i] {
                        let floor = &mut self.floors[s];
                        floor.stale |= floor.at == before;
                    }
                }
            }
        }
        self.spend(touched);
    }

    /// Undoes the applied alternative of the top frame.
    pub fn undo(&mut self) {
        let level = self.top();
        let Some(frame) = self.frames.last_mut() else {
            return;
        };
        let (trail, placed) = (frame.trail, frame.placed);
        frame.placed = Rank::NONE;
        while self.trail.len() > trail {
            let Some(change) = self.trail.pop() else {
                break;
            };
            let b = change.buffer;
            let low_before = self.low[b];
            self.resting[b] = change.resting;
            self.low[b] = change.low;
            self.set_deferred(b, change.deferred);
            if change.reason == OldReason::NONE {
                clear(self.reasons.row_mut(b), level);
            } else {
                let old = change.reason.index();
                self.reasons.row_mut(b).copy_from_slice(&self.old_reasons[old..]);
                self.old_reasons.truncate(old);
            }
            self.invalidate_floors(b, change.low.min(low_before));
        }
        if placed != Rank::NONE {
            set(&mut self.free, placed);
            self.level[placed] = DecisionLevel::NONE;
            for &s in &self.cliques_of[placed] {
                self.unplaced_bytes[s] += self.problem.sizes[placed];
                // Decisions are undone in reverse order, so the buffer is the first placed member.
                self.unplaced_count[s] += 1;
                self.floors[s].stale = true;
            }
        }
    }

    pub fn close(&mut self) {
        if let Some(frame) = self.frames.pop() {
            self.candidates.truncate(frame.candidates);
            self.conflict_sets.truncate(self.frames.len() * self.row_words);
        }
    }
}
