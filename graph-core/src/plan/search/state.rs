//! The state of the search: the limits of each buffer with their reasons, the decisions, and how both are taken back.

use crate::plan::instance::Instance;
use crate::plan::problem::Problem;
use crate::reach::{clear, set};

/// Marks the absence of a buffer or a level.
pub(super) const NONE: u32 = u32::MAX;

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
    pub buffer: u32,
    pub least: u64,
    pub low: u64,
    pub passed: bool,
    /// The index of the previous reason in `old_reasons`; `NONE` if only the deciding level was added to it.
    pub reason: u32,
}

/// One decision: who lies lowest in a section.
pub(super) struct Frame {
    /// The first alternative in `kids`; they end where the next frame's begin.
    pub kids: usize,
    pub count: u32,
    pub next: u32,
    pub trail: usize,
    pub placed: u32,
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
    pub sections_of: &'p [Vec<u32>],
    pub twins: &'p [Vec<u32>],
    pub capacity: u64,
    pub priority: &'p [u32],
    pub rule: Rule,
    pub steps: u64,
    /// The words of a row of levels.
    pub deep: usize,
    pub free: Vec<u64>,
    pub offsets: Vec<u64>,
    pub level: Vec<u32>,
    /// The lowest offset on top of all that lies under the buffer so far.
    pub least: Vec<u64>,
    /// The lowest offset that the decisions leave: above `least` where the buffer was passed over.
    pub low: Vec<u64>,
    pub passed: Vec<bool>,
    pub passed_count: usize,
    /// Row `b`: the levels that `low[b]` follows from.
    pub reasons: Vec<u64>,
    /// The unplaced bytes of each section.
    pub unplaced: Vec<u64>,
    /// The buffers of each section, and which of the buffer's sections it is; the unplaced ones come first.
    pub members: Vec<Vec<(u32, u32)>>,
    /// The number of unplaced `members`.
    pub waiting: Vec<u32>,
    /// For each buffer and each of its sections, where it stands in `members`.
    pub slots: Vec<Vec<u32>>,
    pub floors: Vec<Floor>,
    pub trail: Vec<Change>,
    pub old_reasons: Vec<u64>,
    pub frames: Vec<Frame>,
    pub kids: Vec<u32>,
    /// Row `d`: why the alternatives of frame `d` that were tried failed, and that there are no others.
    pub conflicts: Vec<u64>,
    pub dead_end: Vec<u64>,
}

impl<'p> Search<'p> {
    pub fn new(
        instance: &'p Instance<'p>,
        capacity: u64,
        priority: &'p [u32],
        rule: Rule,
        steps: u64,
    ) -> Search<'p> {
        let problem = instance.problem;
        let n = problem.sizes.len();
        let mut free = vec![0; n.div_ceil(64)];
        for (b, _) in problem.sizes.iter().enumerate().filter(|(_, size)| **size > 0) {
            set(&mut free, b as u32);
        }
        let bytes = |section: &Vec<u32>| section.iter().map(|&b| problem.sizes[b as usize]).sum();
        let mut members = vec![Vec::new(); problem.sections.len()];
        let mut slots = vec![Vec::new(); n];
        for (b, sections) in instance.sections_of.iter().enumerate() {
            for (k, &s) in sections.iter().enumerate() {
                slots[b].push(members[s as usize].len() as u32);
                members[s as usize].push((b as u32, k as u32));
            }
        }
        let waiting = members.iter().map(|members| members.len() as u32).collect();
        // A path has at most one level a buffer, and those at which a section was passed over.
        let deep = (2 * n + 64).div_ceil(64);
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
            offsets: vec![0; n],
            level: vec![NONE; n],
            least: vec![0; n],
            low: vec![0; n],
            passed: vec![false; n],
            passed_count: 0,
            reasons: vec![0; n * deep],
            unplaced: problem.sections.iter().map(bytes).collect(),
            members,
            waiting,
            slots,
            floors: vec![Floor { stale: true, ..Floor::default() }; problem.sections.len()],
            trail: Vec::new(),
            old_reasons: Vec::new(),
            frames: Vec::new(),
            kids: Vec::new(),
            conflicts: Vec::new(),
            dead_end: vec![0; deep],
        }
    }

    pub fn spend(&mut self, steps: usize) {
        self.steps = self.steps.saturating_sub(steps as u64);
    }

    pub fn refresh(&mut self, s: usize) {
        let members = &self.members[s][..self.waiting[s] as usize];
        let at = members.iter().map(|&(b, _)| self.low[b as usize]).min().unwrap_or(u64::MAX);
        let mut floor = Floor { at, alternatives: 0, foremost: NONE, settled: true, stale: false };
        for &(b, _) in members {
            if self.low[b as usize] == at {
                floor.alternatives += 1;
                floor.foremost = floor.foremost.min(self.priority[b as usize]);
                floor.settled &= !self.passed[b as usize];
            }
        }
        self.floors[s] = floor;
        self.spend(self.waiting[s] as usize);
    }

    pub fn note(&mut self, buffer: u32, reason: u32) {
        let b = buffer as usize;
        let (least, low, passed) = (self.least[b], self.low[b], self.passed[b]);
        self.trail.push(Change { buffer, least, low, passed, reason });
    }

    /// Forgets the floors that `b` may have changed: those at or above `from`.
    pub fn stale_from(&mut self, b: u32, from: u64) {
        let sections = &self.sections_of[b as usize];
        for &s in sections {
            let floor = &mut self.floors[s as usize];
            floor.stale |= floor.at >= from;
        }
        self.spend(sections.len());
    }

    pub fn set_passed(&mut self, b: usize, passed: bool) {
        self.passed_count = self.passed_count + usize::from(passed) - usize::from(self.passed[b]);
        self.passed[b] = passed;
    }

    pub fn place(&mut self, b: u32, level: u32) {
        let problem = self.problem;
        let offset = self.least[b as usize];
        let size = problem.sizes[b as usize];
        self.offsets[b as usize] = offset;
        self.level[b as usize] = level;
        clear(&mut self.free, b);
        for (k, &s) in self.sections_of[b as usize].iter().enumerate() {
            let s = s as usize;
            self.unplaced[s] -= size;
            self.floors[s].stale |= self.floors[s].at >= offset;
            self.waiting[s] -= 1;
            let (from, to) = (self.slots[b as usize][k] as usize, self.waiting[s] as usize);
            let (other, its) = self.members[s][to];
            self.slots[other as usize][its as usize] = from as u32;
            self.slots[b as usize][k] = to as u32;
            self.members[s].swap(from, to);
        }
        let neighbours = problem.conflicts.row(b);
        let mut touched = self.sections_of[b as usize].len() + neighbours.len();
        for (w, &near) in neighbours.iter().enumerate() {
            let mut left = near & self.free[w];
            while left != 0 {
                let i = w * 64 + left.trailing_zeros() as usize;
                left &= left - 1;
                let least = (offset + size).next_multiple_of(problem.aligns[i]);
                touched += 4;
                if least <= self.least[i] {
                    continue;
                }
                touched += 8 + self.sections_of[i].len();
                self.note(i as u32, NONE);
                // A floor above the old limit does not rest on this buffer.
                let (before, was_passed) = (self.low[i], self.passed[i]);
                self.least[i] = least;
                self.set_passed(i, false);
                set(row_mut(&mut self.reasons, self.deep, i as u32), level);
                if least > before || was_passed {
                    self.low[i] = least.max(before);
                    for &s in &self.sections_of[i] {
                        let floor = &mut self.floors[s as usize];
                        floor.stale |= floor.at == before;
                    }
                }
            }
        }
        self.spend(touched);
    }

    /// Takes back the top frame's alternative.
    pub fn undo(&mut self) {
        let level = self.frames.len() as u32 - 1;
        let Some(frame) = self.frames.last_mut() else {
            return;
        };
        let (trail, placed) = (frame.trail, frame.placed);
        frame.placed = NONE;
        while self.trail.len() > trail {
            let Some(change) = self.trail.pop() else {
                break;
            };
            let b = change.buffer as usize;
            let low_before = self.low[b];
            self.least[b] = change.least;
            self.low[b] = change.low;
            self.set_passed(b, change.passed);
            if change.reason == NONE {
                clear(row_mut(&mut self.reasons, self.deep, change.buffer), level);
            } else {
                let old = change.reason as usize;
                row_mut(&mut self.reasons, self.deep, change.buffer)
                    .copy_from_slice(&self.old_reasons[old..]);
                self.old_reasons.truncate(old);
            }
            self.stale_from(change.buffer, change.low.min(low_before));
        }
        if placed != NONE {
            set(&mut self.free, placed);
            self.level[placed as usize] = NONE;
            for &s in &self.sections_of[placed as usize] {
                self.unplaced[s as usize] += self.problem.sizes[placed as usize];
                // Decisions are taken back in reverse, so it is the first of those that are placed.
                self.waiting[s as usize] += 1;
                self.floors[s as usize].stale = true;
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

/// Returns row `b` of a matrix of bits.
pub(super) fn row(rows: &[u64], words: usize, b: u32) -> &[u64] {
    &rows[b as usize * words..(b as usize + 1) * words]
}

/// Returns row `b` of a matrix of bits.
pub(super) fn row_mut(rows: &mut [u64], words: usize, b: u32) -> &mut [u64] {
    &mut rows[b as usize * words..(b as usize + 1) * words]
}
