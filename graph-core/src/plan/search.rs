//! Exact search: whether the buffers fit into a capacity, and where.
//!
//! The search looks for one solution in particular: that of the least sum of offsets, each weighted by the buffer's
//! size times a number that falls with its priority. In it every buffer lies at 0 or on top of a conflicting one;
//! none could slide down into a hole; and of two twins (buffers that conflict with the same others) that lie one
//! right on the other, the one of higher priority is below. Whatever breaks one of the three is cut off.
//!
//! A *section* is a set of buffers of which every two conflict, so what is unplaced of it stacks up: from its floor,
//! the lowest offset that any of them can still have, they need the sum of their sizes. At each step one section of a
//! low floor is taken, and one of its buffers that can lie on that floor is placed there; or none of them ever is,
//! and each waits to be lifted by a neighbour (`passed`). The alternatives exclude each other and leave nothing out.
//! Taking the section with the fewest of them first is what makes the search fast.
//!
//! Every lower limit carries its reason: the set of decisions, by level, that it follows from. A dead end is
//! explained by the reasons of the limits that make it, and the search goes back to the latest decision among
//! them, over all that have nothing to do with it. Parts that do not touch are thus solved apart.
//!
//! Work is counted in steps, not by a clock: the same input gives the same result.

mod state;
#[cfg(test)]
mod tests;

use super::indices::{Level, Rank};
use super::instance::{Instance, SectionIndex};
use crate::bits::{self, clear, has, last, ones, or_into, set};
use crate::index::{Index, Vector};
pub(super) use state::Rule;
use state::{Frame, OldReason, Search};

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Offsets that fit.
    Found(Vector<Rank, u64>),
    /// A proof that there are none.
    Impossible,
    /// The steps or the patience ran out.
    Unknown,
}

/// Searches for offsets with every buffer's end at or below `capacity`, and takes what it uses from `steps`. It
/// gives up at the end of the steps, or after `patience` dead ends.
pub(super) fn search(
    instance: &Instance<'_>,
    capacity: u64,
    priority: &Vector<Rank, u32>,
    rule: Rule,
    patience: u64,
    steps: &mut u64,
) -> Outcome {
    let mut search = Search::new(instance, capacity, priority, rule, *steps);
    let outcome = search.run(patience);
    *steps = search.steps;
    outcome
}

enum Next {
    Done,
    Branch(SectionIndex),
    DeadEnd,
}

impl Search<'_> {
    fn run(&mut self, mut patience: u64) -> Outcome {
        loop {
            match self.look() {
                Next::Done => return Outcome::Found(std::mem::take(&mut self.offsets)),
                Next::Branch(section) => {
                    if self.frames.len() == self.deep * 64 {
                        return Outcome::Unknown;
                    }
                    self.open(section);
                    self.advance();
                }
                Next::DeadEnd => {
                    if !self.go_back() {
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

    /// Draws what follows from the decisions so far; on a dead end `dead_end` holds the levels that make it.
    fn look(&mut self) -> Next {
        if self.passed_count > 0 && !self.lift_passed() {
            return Next::DeadEnd;
        }
        let problem = self.problem;
        let lowest_top = ones(&self.free).map(|b: Rank| self.low[b] + problem.sizes[b]).min();
        let Some(lowest_top) = lowest_top else {
            return Next::Done;
        };
        self.spend(self.free.len() * 8 + problem.sections.len());
        let mut best = ((u64::MAX, u64::MAX, u64::MAX), SectionIndex::NONE);
        for s in self.unplaced.ids() {
            if self.unplaced[s] == 0 {
                continue;
            }
            if self.floors[s].stale {
                self.refresh(s);
            }
            let floor = self.floors[s];
            let top = floor.at + self.unplaced[s];
            if top > self.capacity {
                self.dead_end.fill(0);
                self.spend(self.waiting[s] * self.deep / 4);
                for &(b, _) in &self.members[s].as_slice()[..self.waiting[s]] {
                    or_into(&mut self.dead_end, self.reasons.row(b));
                }
                return Next::DeadEnd;
            }
            // Nothing that is unplaced fits under this floor, so what lies on it ends what can lie below.
            if !floor.settled || floor.at >= lowest_top {
                continue;
            }
            let room = self.capacity - top;
            let alternatives = u64::from(floor.alternatives);
            let key = match self.rule {
                Rule::Fewest => (alternatives, room, floor.at),
                Rule::Lowest => (floor.at, alternatives, room),
                Rule::Tightest => (floor.at, room, alternatives),
                Rule::Foremost => (floor.at, u64::from(floor.foremost), room),
            };
            if key < best.0 || best.1 == SectionIndex::NONE {
                best = (key, s);
            }
        }
        // The lowest unplaced buffer waits for nobody, so its section is settled, and below every top.
        debug_assert_ne!(best.1, SectionIndex::NONE);
        Next::Branch(best.1)
    }

    /// A buffer that was passed over lies on top of a neighbour that is still to be placed. Says false at a dead end.
    fn lift_passed(&mut self) -> bool {
        let problem = self.problem;
        let mut again = true;
        while again {
            again = false;
            for b in self.passed.ids() {
                if !self.passed[b] || !has(&self.free, b) {
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
                // Everything that is left to place leaves the hole free that this buffer was not put into.
                let slides = lowest >= self.least[b] + problem.sizes[b];
                // Without a neighbour left nobody can lift it.
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
                self.spend(neighbours.len() * 8 * self.deep);
                for i in problem.conflicts.neighbours(b) {
                    if has(&self.free, i) {
                        or_into(&mut self.dead_end, self.reasons.row(i));
                    } else if self.level[i] != Level::NONE {
                        set(&mut self.dead_end, self.level[i]);
                    }
                }
                if slides || low > self.capacity {
                    return false;
                }
                let reason = OldReason::new(self.old_reasons.len());
                self.old_reasons.extend_from_slice(self.reasons.row(b));
                self.note(b, reason);
                self.reasons.row_mut(b).copy_from_slice(&self.dead_end);
                self.low[b] = low;
                self.stale_from(b, 0);
                again = true;
            }
        }
        true
    }

    /// Opens a frame for a section whose floor is settled.
    fn open(&mut self, section: SectionIndex) {
        let kids = self.kids.len();
        let floor = self.floors[section].at;
        let level = self.conflicts.len();
        self.conflicts.resize(level + self.deep, 0);
        let waiting = self.waiting[section];
        self.spend(waiting * self.deep / 4);
        for &(b, _) in &self.members[section].as_slice()[..waiting] {
            or_into(&mut self.conflicts[level..], self.reasons.row(b));
            if self.low[b] == floor {
                self.kids.push(b);
            }
        }
        let priority = self.priority;
        self.kids[kids..].sort_unstable_by_key(|&b| priority[b]);
        let count = self.kids.len() - kids;
        self.frames.push(Frame { kids, count, next: 0, trail: self.trail.len(), placed: Rank::NONE });
    }

    /// Takes the top frame's next alternative: each buffer that can lie on the floor, then none of them.
    fn advance(&mut self) {
        let level = self.top();
        while let Some(frame) = self.frames.last_mut() {
            let at = frame.next;
            frame.next += 1;
            let (kids, count) = (frame.kids, frame.count);
            if at == count {
                for k in kids..kids + count {
                    self.pass(self.kids[k], level);
                }
                return;
            }
            let b = self.kids[kids + at];
            if !self.swaps(b) {
                if let Some(frame) = self.frames.last_mut() {
                    frame.placed = b;
                }
                self.place(b, level);
                return;
            }
            let start = level.index() * self.deep;
            or_into(&mut self.conflicts[start..], self.reasons.row(b));
        }
    }

    fn pass(&mut self, b: Rank, level: Level) {
        self.note(b, OldReason::NONE);
        self.set_passed(b, true);
        set(self.reasons.row_mut(b), level);
        self.stale_from(b, self.low[b]);
    }

    /// Returns true if `b` would lie right on a twin of lower priority: swapped, they fill the same bytes.
    fn swaps(&self, b: Rank) -> bool {
        // Else the twin could not lie right on this one.
        let exact = self.problem.sizes[b].is_multiple_of(self.problem.aligns[b]);
        exact
            && self.twins[b].iter().any(|&a| {
                let top = self.offsets[a] + self.problem.sizes[a];
                self.level[a] != Level::NONE && top == self.least[b] && self.priority[a] > self.priority[b]
            })
    }

    /// Goes back to the latest decision that the dead end rests on and takes its next alternative, or says false
    /// where there is none.
    fn go_back(&mut self) -> bool {
        loop {
            let Some(level) = last::<Level>(&self.dead_end) else {
                return false;
            };
            while self.frames.len() > level.index() + 1 {
                self.undo();
                self.close();
            }
            self.undo();
            clear(&mut self.dead_end, level);
            let start = level.index() * self.deep;
            or_into(&mut self.conflicts[start..], &self.dead_end);
            if self.frames.last().is_some_and(|frame| frame.next <= frame.count) {
                self.advance();
                return true;
            }
            self.dead_end.copy_from_slice(&self.conflicts[start..]);
            self.close();
        }
    }
}
