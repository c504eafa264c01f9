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

use super::Problem;
use super::instance::Instance;
use crate::reach::{clear, has, ones, or_into, set};

/// How the next section is chosen, among those of which it can be settled who lies lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// The one with the fewest alternatives.
    Fewest,
    /// The lowest one, then the one with the fewest alternatives.
    Lowest,
    /// The lowest one, then the one with the least room to lose.
    Tightest,
    /// The lowest one, then the one with the buffer of highest priority.
    Foremost,
}

/// What a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Offsets that fit.
    Found(Vec<u64>),
    /// A proof that there are none.
    Impossible,
    /// The steps or the patience ran out.
    Unknown,
}

/// Marks the absence of a buffer or a level.
const NONE: u32 = u32::MAX;

/// Searches for offsets with every buffer's end at or below `capacity`, and takes what it uses from `steps`. It
/// gives up at the end of the steps, or after `patience` dead ends.
pub(super) fn search(
    instance: &Instance<'_>,
    capacity: u64,
    priority: &[u32],
    rule: Rule,
    patience: u64,
    steps: &mut u64,
) -> Outcome {
    let mut search = Search::new(instance, capacity, priority, rule, *steps);
    let outcome = search.run(patience);
    *steps = search.steps;
    outcome
}

/// A limit of one buffer before a decision changed it.
struct Change {
    buffer: u32,
    least: u64,
    low: u64,
    passed: bool,
    /// Where in `old_reasons` the reason before lies; `NONE` if only the deciding level was added to it.
    reason: u32,
}

/// One decision: who lies lowest in a section.
struct Frame {
    /// The first alternative in `kids`; they end where the next frame's begin.
    kids: usize,
    count: u32,
    next: u32,
    trail: usize,
    placed: u32,
}

/// What is known of a section; holds until one of its buffers changes.
#[derive(Clone, Copy, Default)]
struct Floor {
    at: u64,
    alternatives: u32,
    foremost: u32,
    settled: bool,
    stale: bool,
}

enum Next {
    Done,
    Branch(u32),
    DeadEnd,
}

struct Search<'p> {
    problem: &'p Problem,
    sections_of: &'p [Vec<u32>],
    twins: &'p [Vec<u32>],
    capacity: u64,
    priority: &'p [u32],
    rule: Rule,
    steps: u64,
    /// The words of a row of levels.
    deep: usize,
    free: Vec<u64>,
    offsets: Vec<u64>,
    level: Vec<u32>,
    /// The lowest offset on top of all that lies under the buffer so far.
    least: Vec<u64>,
    /// The lowest offset that the decisions leave: above `least` where the buffer was passed over.
    low: Vec<u64>,
    passed: Vec<bool>,
    passed_count: usize,
    /// Row `b`: the levels that `low[b]` follows from.
    reasons: Vec<u64>,
    /// The unplaced bytes of each section.
    unplaced: Vec<u64>,
    /// The buffers of each section, and which of the buffer's sections it is; the unplaced ones come first.
    members: Vec<Vec<(u32, u32)>>,
    /// How many of `members` are unplaced.
    waiting: Vec<u32>,
    /// For each buffer and each of its sections, where it stands in `members`.
    slots: Vec<Vec<u32>>,
    floors: Vec<Floor>,
    trail: Vec<Change>,
    old_reasons: Vec<u64>,
    frames: Vec<Frame>,
    kids: Vec<u32>,
    /// Row `d`: why the alternatives of frame `d` that were tried failed, and that there are no others.
    conflicts: Vec<u64>,
    dead_end: Vec<u64>,
}

impl<'p> Search<'p> {
    fn new(
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

    fn spend(&mut self, steps: usize) {
        self.steps = self.steps.saturating_sub(steps as u64);
    }

    /// Draws what follows from the decisions so far; on a dead end `dead_end` holds the levels that make it.
    fn look(&mut self) -> Next {
        if self.passed_count > 0 && !self.lift_passed() {
            return Next::DeadEnd;
        }
        let problem = self.problem;
        let lowest_top = ones(&self.free).map(|b| self.low[b as usize] + problem.sizes[b as usize]).min();
        let Some(lowest_top) = lowest_top else {
            return Next::Done;
        };
        self.spend(self.free.len() * 8 + problem.sections.len());
        let mut best = ((u64::MAX, u64::MAX, u64::MAX), NONE);
        for s in 0..problem.sections.len() {
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
                self.spend(self.waiting[s] as usize * self.deep / 4);
                for &(b, _) in &self.members[s][..self.waiting[s] as usize] {
                    or_into(&mut self.dead_end, row(&self.reasons, self.deep, b));
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
            if key < best.0 || best.1 == NONE {
                best = (key, s as u32);
            }
        }
        // The lowest unplaced buffer waits for nobody, so its section is settled, and below every top.
        debug_assert_ne!(best.1, NONE);
        Next::Branch(best.1)
    }

    fn refresh(&mut self, s: usize) {
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

    /// A buffer that was passed over lies on top of a neighbour that is still to be placed. Says false at a dead end.
    fn lift_passed(&mut self) -> bool {
        let problem = self.problem;
        let mut again = true;
        while again {
            again = false;
            for b in 0..self.passed.len() {
                if !self.passed[b] || !has(&self.free, b as u32) {
                    continue;
                }
                let (mut lowest, mut lowest_top) = (u64::MAX, u64::MAX);
                let neighbours = problem.conflicts.row(b as u32);
                for (w, (&near, &free)) in neighbours.iter().zip(&self.free).enumerate() {
                    let mut left = near & free;
                    while left != 0 {
                        let i = w * 64 + left.trailing_zeros() as usize;
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
                or_into(&mut self.dead_end, row(&self.reasons, self.deep, b as u32));
                self.spend(neighbours.len() * 8 * self.deep);
                for i in problem.conflicts.neighbours(b as u32) {
                    if has(&self.free, i) {
                        or_into(&mut self.dead_end, row(&self.reasons, self.deep, i));
                    } else if self.level[i as usize] != NONE {
                        set(&mut self.dead_end, self.level[i as usize]);
                    }
                }
                if slides || low > self.capacity {
                    return false;
                }
                let reason = self.old_reasons.len();
                self.old_reasons.extend_from_slice(row(&self.reasons, self.deep, b as u32));
                self.note(b as u32, reason as u32);
                self.reasons[b * self.deep..(b + 1) * self.deep].copy_from_slice(&self.dead_end);
                self.low[b] = low;
                self.stale_from(b as u32, 0);
                again = true;
            }
        }
        true
    }

    fn note(&mut self, buffer: u32, reason: u32) {
        let b = buffer as usize;
        let (least, low, passed) = (self.least[b], self.low[b], self.passed[b]);
        self.trail.push(Change { buffer, least, low, passed, reason });
    }

    /// Forgets the floors that `b` may have changed: those at or above `from`.
    fn stale_from(&mut self, b: u32, from: u64) {
        let sections = &self.sections_of[b as usize];
        for &s in sections {
            let floor = &mut self.floors[s as usize];
            floor.stale |= floor.at >= from;
        }
        self.spend(sections.len());
    }

    fn set_passed(&mut self, b: usize, passed: bool) {
        self.passed_count = self.passed_count + usize::from(passed) - usize::from(self.passed[b]);
        self.passed[b] = passed;
    }

    /// Opens a frame for a section whose floor is settled.
    fn open(&mut self, section: u32) {
        let kids = self.kids.len();
        let floor = self.floors[section as usize].at;
        let level = self.conflicts.len();
        self.conflicts.resize(level + self.deep, 0);
        let waiting = self.waiting[section as usize] as usize;
        self.spend(waiting * self.deep / 4);
        for &(b, _) in &self.members[section as usize][..waiting] {
            or_into(&mut self.conflicts[level..], row(&self.reasons, self.deep, b));
            if self.low[b as usize] == floor {
                self.kids.push(b);
            }
        }
        let priority = self.priority;
        self.kids[kids..].sort_unstable_by_key(|&b| priority[b as usize]);
        let count = (self.kids.len() - kids) as u32;
        self.frames.push(Frame { kids, count, next: 0, trail: self.trail.len(), placed: NONE });
    }

    /// Takes the top frame's next alternative: each buffer that can lie on the floor, then none of them.
    fn advance(&mut self) {
        let level = self.frames.len() as u32 - 1;
        while let Some(frame) = self.frames.last_mut() {
            let at = frame.next;
            frame.next += 1;
            let (kids, count) = (frame.kids, frame.count as usize);
            if at as usize == count {
                for k in kids..kids + count {
                    self.pass(self.kids[k], level);
                }
                return;
            }
            let b = self.kids[kids + at as usize];
            if !self.swaps(b) {
                if let Some(frame) = self.frames.last_mut() {
                    frame.placed = b;
                }
                self.place(b, level);
                return;
            }
            let start = level as usize * self.deep;
            or_into(&mut self.conflicts[start..], row(&self.reasons, self.deep, b));
        }
    }

    fn pass(&mut self, b: u32, level: u32) {
        self.note(b, NONE);
        self.set_passed(b as usize, true);
        set(row_mut(&mut self.reasons, self.deep, b), level);
        self.stale_from(b, self.low[b as usize]);
    }

    /// Whether `b` would lie right on a twin that has less priority: the other way round they fill the same bytes.
    fn swaps(&self, b: u32) -> bool {
        // Else the twin could not lie right on this one.
        let exact = self.problem.sizes[b as usize].is_multiple_of(self.problem.aligns[b as usize]);
        exact
            && self.twins[b as usize].iter().any(|&a| {
                let top = self.offsets[a as usize] + self.problem.sizes[a as usize];
                self.level[a as usize] != NONE
                    && top == self.least[b as usize]
                    && self.priority[a as usize] > self.priority[b as usize]
            })
    }

    fn place(&mut self, b: u32, level: u32) {
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
    fn undo(&mut self) {
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

    /// Goes back to the latest decision that the dead end rests on and takes its next alternative, or says false
    /// where there is none.
    fn go_back(&mut self) -> bool {
        loop {
            let Some(level) = ones(&self.dead_end).last() else {
                return false;
            };
            while self.frames.len() > level as usize + 1 {
                self.undo();
                self.close();
            }
            self.undo();
            clear(&mut self.dead_end, level);
            let start = level as usize * self.deep;
            or_into(&mut self.conflicts[start..], &self.dead_end);
            if self.frames.last().is_some_and(|frame| frame.next <= frame.count) {
                self.advance();
                return true;
            }
            self.dead_end.copy_from_slice(&self.conflicts[start..]);
            self.close();
        }
    }

    fn close(&mut self) {
        if let Some(frame) = self.frames.pop() {
            self.kids.truncate(frame.kids);
            self.conflicts.truncate(self.frames.len() * self.deep);
        }
    }
}

fn row(rows: &[u64], words: usize, b: u32) -> &[u64] {
    &rows[b as usize * words..(b as usize + 1) * words]
}

fn row_mut(rows: &mut [u64], words: usize, b: u32) -> &mut [u64] {
    &mut rows[b as usize * words..(b as usize + 1) * words]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::random::Random;
    use crate::plan::{Bound, Conflicts};
    use proptest::prelude::*;

    /// Buffers that conflict at random, and each pair of those is a section, and some larger cliques too.
    fn problem(n: usize, seed: u64) -> Problem {
        let mut random = Random::new(seed);
        let mut conflicts = Conflicts::none(n);
        let density = 1 + random.below(4);
        let mut sections: Vec<Vec<u32>> = (0..n as u32).map(|b| vec![b]).collect();
        for b in 0..n as u32 {
            for a in 0..b {
                if random.below(4) < density {
                    conflicts.add(a, b);
                    sections.push(vec![a, b]);
                }
            }
        }
        for b in 0..n as u32 {
            let mut clique = vec![b];
            for a in 0..n as u32 {
                if clique.iter().all(|&c| conflicts.conflict(a, c)) {
                    clique.push(a);
                }
            }
            sections.push(clique);
        }
        let sizes = (0..n).map(|_| random.below(7) as u64).collect();
        let coarse = random.below(3) == 0;
        let aligns = (0..n).map(|_| if coarse { 1 + random.below(3) as u64 } else { 1 }).collect();
        let begins = vec![0; n];
        Problem { sizes, aligns, conflicts, begins, sections, bound: Bound::default() }
    }

    /// The least capacity: in some order each buffer lies right on top of what is under it.
    fn least(problem: &Problem) -> u64 {
        let n = problem.sizes.len();
        let mut best = u64::MAX;
        let mut stack: Vec<(Vec<u32>, Vec<u64>, u64)> = vec![(Vec::new(), vec![0; n], 0)];
        while let Some((order, offsets, total)) = stack.pop() {
            if total >= best {
                continue;
            }
            if order.len() == n {
                best = total;
            }
            for b in (0..n as u32).filter(|b| !order.contains(b)) {
                let under = order.iter().filter(|&&a| problem.conflicts.conflict(a, b));
                let top = under.map(|&a| offsets[a as usize] + problem.sizes[a as usize]).max().unwrap_or(0);
                let offset = top.next_multiple_of(problem.aligns[b as usize]);
                let (mut order, mut offsets) = (order.clone(), offsets.clone());
                order.push(b);
                offsets[b as usize] = offset;
                stack.push((order, offsets, total.max(offset + problem.sizes[b as usize])));
            }
        }
        best
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        #[test]
        fn the_search_is_exact(n in 1usize..7, seed in any::<u64>()) {
            let problem = problem(n, seed);
            let least = least(&problem);
            let instance = Instance::of(&problem);
            let mut random = Random::new(seed ^ 1);
            let mut priority: Vec<u32> = (0..n as u32).collect();
            (0..n).for_each(|at| priority.swap(at, random.below(n)));
            for rule in [Rule::Fewest, Rule::Lowest, Rule::Tightest, Rule::Foremost] {
                let mut steps = u64::MAX;
                match search(&instance, least, &priority, rule, u64::MAX, &mut steps) {
                    Outcome::Found(offsets) => {
                        for b in 0..n as u32 {
                            let (at, size) = (offsets[b as usize], problem.sizes[b as usize]);
                            prop_assert!(at % problem.aligns[b as usize] == 0 && at + size <= least);
                            for a in problem.conflicts.neighbours(b) {
                                let other = offsets[a as usize];
                                prop_assert!(
                                    at + size <= other || other + problem.sizes[a as usize] <= at
                                );
                            }
                        }
                    }
                    outcome => prop_assert!(false, "{:?} at {}: {:?}", rule, least, outcome),
                }
                if least > 0 {
                    let outcome = search(&instance, least - 1, &priority, rule, u64::MAX, &mut steps);
                    prop_assert_eq!(outcome, Outcome::Impossible, "{:?} below {}", rule, least);
                }
            }
        }
    }
}
