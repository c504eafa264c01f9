//! The state of the search: the limits of each buffer with their reasons, the decisions, and how both are taken back.

use crate::bits::{Matrix, clear, lowest, set, words};
use crate::index::{Index, Vector, indices, wide};
use crate::plan::indices::{Level, Rank};
use crate::plan::instance::{Instance, Membership, SectionIndex};
use crate::plan::problem::Problem;

indices! {
    /// The place of a buffer among the members of a section.
    pub(super) struct Slot;
    /// The place of a reason in `old_reasons`.
    pub(super) struct OldReason;
}

/// How the next section is chosen, among those of which it can be settled who lies lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The one with the fewest alternatives.
    Fewest,
    /// The lowest one, then the one with the fewest alternatives.
    Lowest,
    /// The lowest one, then the one with the least room to lose.
    Tightest,
    /// The lowest one, then the one with the buffer of highest priority.
    Foremost,
}

/// A limit of one buffer before a decision changed it.
pub(super) struct Change {
    pub buffer: Rank,
    pub least: u64,
    pub low: u64,
    pub passed: bool,
    /// The index of the previous reason in `old_reasons`; `NONE` if only the deciding level was added to it.
    pub reason: OldReason,
}

/// One decision: who lies lowest in a section.
pub(super) struct Frame {
    /// The first alternative in `kids`; they end where the next frame's begin.
    pub kids: usize,
    pub count: usize,
    pub next: usize,
    pub trail: usize,
    pub placed: Rank,
}

/// The floor of a section; valid until one of its buffers changes.
#[derive(Clone, Copy, Default)]
pub(super) struct Floor {
    pub at: u64,
    pub alternatives: u32,
    pub foremost: u32,
    pub settled: bool,
    pub stale: bool,
}

/// The search below one capacity.
pub(super) struct Search<'p> {
    pub problem: &'p Problem,
    pub sections_of: &'p Vector<Rank, Vector<Membership, SectionIndex>>,
    pub twins: &'p Vector<Rank, Vec<Rank>>,
    pub capacity: u64,
    pub priority: &'p Vector<Rank, u32>,
    pub rule: Rule,
    pub steps: u64,
    /// The words of a row of levels.
    pub deep: usize,
    pub free: Vec<u64>,
    pub offsets: Vector<Rank, u64>,
    pub level: Vector<Rank, Level>,
    /// The lowest offset on top of all that lies under the buffer so far.
    pub least: Vector<Rank, u64>,
    /// The lowest offset that the decisions leave: above `least` where the buffer was passed over.
    pub low: Vector<Rank, u64>,
    pub passed: Vector<Rank, bool>,
    pub passed_count: usize,
    /// Row `b`: the levels that `low[b]` follows from.
    pub reasons: Matrix<Rank>,
    /// The unplaced bytes of each section.
    pub unplaced: Vector<SectionIndex, u64>,
    /// The buffers of each section, and which of the buffer's sections it is; the unplaced ones come first.
    pub members: Vector<SectionIndex, Vector<Slot, (Rank, Membership)>>,
    /// The number of unplaced `members`.
    pub waiting: Vector<SectionIndex, usize>,
    /// For each buffer and each of its sections, where it stands in `members`.
    pub slots: Vector<Rank, Vector<Membership, Slot>>,
    pub floors: Vector<SectionIndex, Floor>,
    pub trail: Vec<Change>,
    pub old_reasons: Vec<u64>,
    pub frames: Vec<Frame>,
    pub kids: Vec<Rank>,
    /// Row `d`: why the alternatives of frame `d` that were tried failed, and that there are no others.
    pub conflicts: Vec<u64>,
    pub dead_end: Vec<u64>,
}

impl<'p> Search<'p> {
    pub fn new(
        instance: &'p Instance<'p>,
        capacity: u64,
        priority: &'p Vector<Rank, u32>,
        rule: Rule,
        steps: u64,
    ) -> Search<'p> {
        let problem = instance.problem;
        let n = problem.sizes.len();
        let mut free = vec![0; words(n)];
        problem.sizes.ids().filter(|&b| problem.sizes[b] > 0).for_each(|b| set(&mut free, b));
        let bytes = |section: &Vec<Rank>| section.iter().map(|&b| problem.sizes[b]).sum();
        let mut members = Vector::filled(Vector::new(), problem.sections.len());
        let mut slots = Vector::filled(Vector::new(), n);
        for (b, sections) in instance.sections_of.enumerate() {
            for (k, &s) in sections.enumerate() {
                slots[b].push(members[s].push((b, k)));
            }
        }
        let waiting = members.iter().map(Vector::len).collect();
        // A path has at most one level a buffer, and those at which a section was passed over.
        let deep = words(2 * n + 64);
        Search {
            problem,
            sections_of: &instance.sections_of,
            twins: &instance.twins,
            capacity,
            priority,
            rule,
            steps,
            deep,
            free,
            offsets: Vector::filled(0, n),
            level: Vector::filled(Level::NONE, n),
            least: Vector::filled(0, n),
            low: Vector::filled(0, n),
            passed: Vector::filled(false, n),
            passed_count: 0,
            reasons: Matrix::from_words(deep, vec![0; n * deep]),
            unplaced: problem.sections.iter().map(bytes).collect(),
            members,
            waiting,
            slots,
            floors: Vector::filled(Floor { stale: true, ..Floor::default() }, problem.sections.len()),
            trail: Vec::new(),
            old_reasons: Vec::new(),
            frames: Vec::new(),
            kids: Vec::new(),
            conflicts: Vec::new(),
            dead_end: vec![0; deep],
        }
    }

    pub fn spend(&mut self, steps: usize) {
        self.steps = self.steps.saturating_sub(wide(steps));
    }

    /// Returns the level of the top frame.
    pub fn top(&self) -> Level {
        Level::new(self.frames.len() - 1)
    }

    /// Returns the unplaced members of a section.
    pub fn unplaced_members(&self, s: SectionIndex) -> &[(Rank, Membership)] {
        &self.members[s].as_slice()[..self.waiting[s]]
    }

    pub fn refresh(&mut self, s: SectionIndex) {
        let members = self.unplaced_members(s);
        let at = members.iter().map(|&(b, _)| self.low[b]).min().unwrap_or(u64::MAX);
        let mut floor = Floor { at, alternatives: 0, foremost: u32::MAX, settled: true, stale: false };
        for &(b, _) in members {
            if self.low[b] == at {
                floor.alternatives += 1;
                floor.foremost = floor.foremost.min(self.priority[b]);
                floor.settled &= !self.passed[b];
            }
        }
        self.floors[s] = floor;
        self.spend(self.waiting[s]);
    }

    pub fn note(&mut self, buffer: Rank, reason: OldReason) {
        let b = buffer;
        let (least, low, passed) = (self.least[b], self.low[b], self.passed[b]);
        self.trail.push(Change { buffer, least, low, passed, reason });
    }

    /// Forgets the floors that `b` may have changed: those at or above `from`.
    pub fn stale_from(&mut self, b: Rank, from: u64) {
        let sections = &self.sections_of[b];
        for &s in sections {
            let floor = &mut self.floors[s];
            floor.stale |= floor.at >= from;
        }
        self.spend(sections.len());
    }

    pub fn set_passed(&mut self, b: Rank, passed: bool) {
        self.passed_count = self.passed_count + usize::from(passed) - usize::from(self.passed[b]);
        self.passed[b] = passed;
    }

    pub fn place(&mut self, b: Rank, level: Level) {
        let problem = self.problem;
        let offset = self.least[b];
        let size = problem.sizes[b];
        self.offsets[b] = offset;
        self.level[b] = level;
        clear(&mut self.free, b);
        for (k, &s) in self.sections_of[b].enumerate() {
            self.unplaced[s] -= size;
            self.floors[s].stale |= self.floors[s].at >= offset;
            self.waiting[s] -= 1;
            let (from, to) = (self.slots[b][k], Slot::new(self.waiting[s]));
            let (other, its) = self.members[s][to];
            self.slots[other][its] = from;
            self.slots[b][k] = to;
            self.members[s].swap(from, to);
        }
        let neighbours = problem.conflicts.row(b);
        let mut touched = self.sections_of[b].len() + neighbours.len();
        for (w, &near) in neighbours.iter().enumerate() {
            let mut left = near & self.free[w];
            while left != 0 {
                let i: Rank = lowest(w, left);
                left &= left - 1;
                let least = (offset + size).next_multiple_of(problem.aligns[i]);
                touched += 4;
                if least <= self.least[i] {
                    continue;
                }
                touched += 8 + self.sections_of[i].len();
                self.note(i, OldReason::NONE);
                // A floor above the old limit does not rest on this buffer.
                let (before, was_passed) = (self.low[i], self.passed[i]);
                self.least[i] = least;
                self.set_passed(i, false);
                set(self.reasons.row_mut(i), level);
                if least > before || was_passed {
                    self.low[i] = least.max(before);
                    for &s in &self.sections_of[i] {
                        let floor = &mut self.floors[s];
                        floor.stale |= floor.at == before;
                    }
                }
            }
        }
        self.spend(touched);
    }

    /// Takes back the top frame's alternative.
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
            self.least[b] = change.least;
            self.low[b] = change.low;
            self.set_passed(b, change.passed);
            if change.reason == OldReason::NONE {
                clear(self.reasons.row_mut(b), level);
            } else {
                let old = change.reason.index();
                self.reasons.row_mut(b).copy_from_slice(&self.old_reasons[old..]);
                self.old_reasons.truncate(old);
            }
            self.stale_from(b, change.low.min(low_before));
        }
        if placed != Rank::NONE {
            set(&mut self.free, placed);
            self.level[placed] = Level::NONE;
            for &s in &self.sections_of[placed] {
                self.unplaced[s] += self.problem.sizes[placed];
                // Decisions are taken back in reverse, so it is the first of those that are placed.
                self.waiting[s] += 1;
                self.floors[s].stale = true;
            }
        }
    }

    pub fn close(&mut self) {
        if let Some(frame) = self.frames.pop() {
            self.kids.truncate(frame.kids);
            self.conflicts.truncate(self.frames.len() * self.deep);
        }
    }
}
