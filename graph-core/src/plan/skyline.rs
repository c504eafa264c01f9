//! Exact search on a line of moments: the heights that are filled so far make a skyline, and its valleys are filled
//! from their ends.
//!
//! A valley is a stretch of one height with higher walls on both sides. Whatever covers its lowest bytes lies inside
//! it, and, as every buffer can be let down until it rests on something, on its floor. So either one buffer is the
//! first, seen from one end, of those that lie on the floor, and what is before it stays empty up to the lower one of
//! that buffer's top and the wall; or none is, and the valley stays empty up to its lower wall. At each moment no more
//! may stay empty than the capacity exceeds the load by: where a plan has to be tight, a valley's end is taken by the
//! few buffers that begin or end there exactly. The valley end with the fewest alternatives comes first.
//!
//! A dead end is explained by the decisions that make it: those that lie under the end of the valley, those that make
//! its walls, those that took what could have lain there, and those that used up what may stay empty. The search goes
//! back to the latest of them, over all others.
//!
//! Work is counted in steps, not by a clock: the same input gives the same result.

#[cfg(test)]
mod tests;

use super::indices::{Level, Rank};
use super::line::{Line, Moment};
use super::search::Outcome;
use crate::bits::{Matrix, clear, last, or_into, set, words};
use crate::index::{Index, Vector, between, wide};

/// The branching preference among the buffers that can lie at the end of a valley, after those that leave nothing over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Preference {
    /// The largest buffer.
    Large,
    /// The longest-lived buffer.
    Long,
    /// The buffer with the largest product of both.
    Wide,
}

/// Stands for alternatives that are not counted yet.
const UNCOUNTED: u32 = u32::MAX;

/// Searches for offsets with every buffer's end at or below `capacity`, and takes what it uses from `steps`. It gives
/// up at the end of the steps, or after `patience` dead ends.
pub(super) fn search(
    line: &Line,
    sizes: &Vector<Rank, u64>,
    capacity: u64,
    preference: Preference,
    patience: u64,
    steps: &mut u64,
) -> Outcome {
    if line.loads.iter().any(|&load| load > capacity) {
        return Outcome::Impossible;
    }
    let mut search = Search::new(line, sizes, capacity, preference, *steps);
    let outcome = search.run(patience);
    *steps = search.steps;
    outcome
}

/// A stretch of moments that are filled up to one height.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Segment {
    from: Moment,
    to: Moment,
    height: u64,
    /// The alternatives of the left and the right end, if it is a valley; `UNCOUNTED` until they are counted. They hold
    /// until the segment or one beside it changes: what lies inside a valley is placed nowhere else.
    counts: [u32; 2],
}

/// From which end a valley is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Left,
    Right,
}

/// One alternative: a buffer on the floor, `NONE` for none, and the height up to which what is before it stays empty.
#[derive(Clone, Copy, Debug)]
struct Kid {
    buffer: Rank,
    empty_to: u64,
    /// The lowest is tried first.
    rank: (u64, u8, u64),
}

/// One decision.
struct Frame {
    valley: Segment,
    end: End,
    /// The alternatives in `kids`; they end where the next frame's begin.
    kids: usize,
    next: usize,
    /// The index of the segments before the decision in `snapshots`.
    snapshot: usize,
}

struct Search<'l> {
    line: &'l Line,
    sizes: &'l Vector<Rank, u64>,
    capacity: u64,
    preference: Preference,
    steps: u64,
    /// The words of a row of levels.
    deep: usize,
    /// The buffers that begin at, and that end before, each moment.
    starts: Vector<Moment, Vec<Rank>>,
    ends: Vector<Moment, Vec<Rank>>,
    waiting: usize,
    offsets: Vector<Rank, u64>,
    /// The decision that placed a buffer.
    level: Vector<Rank, Level>,
    /// The bytes that may still stay empty at each moment.
    spare: Vector<Moment, u64>,
    /// Row `t`: the decisions that left something empty at moment `t`.
    emptied: Matrix<Moment>,
    /// At each moment the heights so far, rising, and the decision that filled up to there.
    piles: Vector<Moment, Vec<(u64, Level)>>,
    segments: Vec<Segment>,
    snapshots: Vec<Segment>,
    frames: Vec<Frame>,
    kids: Vec<Kid>,
    /// Row `d`: why the alternatives of decision `d` that were tried failed, and that there are no others.
    conflicts: Vec<u64>,
    dead_end: Vec<u64>,
}

impl<'l> Search<'l> {
    fn new(
        line: &'l Line,
        sizes: &'l Vector<Rank, u64>,
        capacity: u64,
        preference: Preference,
        steps: u64,
    ) -> Search<'l> {
        let (n, moments) = (sizes.len(), line.loads.len());
        let mut starts: Vector<Moment, Vec<Rank>> = Vector::filled(Vec::new(), moments);
        let mut ends: Vector<Moment, Vec<Rank>> = Vector::filled(Vec::new(), moments + 1);
        let mut waiting = 0;
        for (b, &(from, to)) in line.spans.enumerate().filter(|(_, span)| span.0 < span.1) {
            starts[from].push(b);
            ends[to].push(b);
            waiting += 1;
        }
        let deep = words(2 * n + 64);
        let (from, to) = (Moment::new(0), Moment::new(moments));
        Search {
            line,
            sizes,
            capacity,
            preference,
            steps: steps.saturating_sub(wide(n + moments * deep)),
            deep,
            starts,
            ends,
            waiting,
            offsets: Vector::filled(0, n),
            level: Vector::filled(Level::NONE, n),
            spare: line.loads.iter().map(|&load| capacity - load).collect(),
            emptied: Matrix::from_words(deep, vec![0; moments * deep]),
            piles: Vector::filled(Vec::new(), moments),
            segments: vec![Segment { from, to, height: 0, counts: [UNCOUNTED; 2] }],
            snapshots: Vec::new(),
            frames: Vec::new(),
            kids: Vec::new(),
            conflicts: Vec::new(),
            dead_end: vec![0; deep],
        }
    }

    fn run(&mut self, mut patience: u64) -> Outcome {
        loop {
            if self.waiting == 0 {
                return Outcome::Found(std::mem::take(&mut self.offsets));
            }
            if let Some((at, end)) = self.choose() {
                if self.frames.len() == self.deep * 64 {
                    return Outcome::Unknown;
                }
                self.open(at, end);
                self.advance();
            } else {
                if !self.go_back() {
                    return Outcome::Impossible;
                }
                patience = patience.saturating_sub(1);
            }
            if self.steps == 0 || patience == 0 {
                return Outcome::Unknown;
            }
        }
    }

    /// Returns the level of the last frame.
    fn top(&self) -> Level {
        Level::new(self.frames.len() - 1)
    }

    fn spend(&mut self, steps: usize) {
        self.steps = self.steps.saturating_sub(wide(steps));
    }

    /// The heights on both sides of a segment; nothing is higher than the ends of the line.
    fn walls(&self, at: usize) -> (u64, u64) {
        let left = at.checked_sub(1).map_or(u64::MAX, |left| self.segments[left].height);
        let right = self.segments.get(at + 1).map_or(u64::MAX, |right| right.height);
        (left, right)
    }

    /// The valley, as an index, and the end of it with the fewest alternatives. `None` at a dead end, with the reason
    /// in `dead_end`.
    fn choose(&mut self) -> Option<(usize, End)> {
        let mut best = (u32::MAX, u64::MAX, 0, End::Left);
        for at in 0..self.segments.len() {
            let (left, right) = self.walls(at);
            let Segment { height, counts, .. } = self.segments[at];
            if left < height || right < height {
                continue;
            }
            if counts == [UNCOUNTED; 2] {
                self.dead_end.fill(0);
                for (side, end) in [End::Left, End::Right].into_iter().enumerate() {
                    let mut count = 0;
                    self.alternatives(at, end, |_| count += 1);
                    self.segments[at].counts[side] = count;
                    if count == 0 {
                        let mut reason = std::mem::take(&mut self.dead_end);
                        self.explain(at, end, &mut reason);
                        self.dead_end = reason;
                        self.segments[at].counts = [UNCOUNTED; 2];
                        return None;
                    }
                }
            }
            let [left, right] = self.segments[at].counts;
            let (count, end) = if left <= right { (left, End::Left) } else { (right, End::Right) };
            if (count, height) < (best.0, best.1) {
                best = (count, height, at, end);
            }
        }
        self.spend(2 * self.segments.len());
        Some((best.2, best.3))
    }

    /// Returns the moment that lies `step` moments inside a valley, seen from one end, and the buffers that can lie at the end
    /// if all before it stays empty.
    #[inline]
    fn at_end(&self, (from, to): (Moment, Moment), end: End, step: usize) -> (Moment, &[Rank]) {
        match end {
            End::Left => {
                let moment = Moment::new(from.index() + step);
                (moment, &self.starts[moment])
            }
            End::Right => {
                let over = Moment::new(to.index() - step);
                (over.before(), &self.ends[over])
            }
        }
    }

    /// The alternatives of a valley's end.
    fn alternatives(&mut self, at: usize, end: End, mut found: impl FnMut(Kid)) {
        let valley @ Segment { from, to, height, .. } = self.segments[at];
        let (left, right) = self.walls(at);
        let wall = if end == End::Left { left } else { right };
        // The least that may stay empty at the moments gone by.
        let mut room = u64::MAX;
        let mut looked = 0;
        for step in 0..to.since(from) {
            let (moment, list) = self.at_end((from, to), end, step);
            looked += 1 + list.len();
            for &b in list {
                if self.level[b] != Level::NONE || !inside(self.line.spans[b], valley) {
                    continue;
                }
                let empty_to = wall.min(height + self.sizes[b]);
                if step == 0 || empty_to - height <= room {
                    found(Kid { buffer: b, empty_to, rank: (0, 0, 0) });
                }
            }
            room = room.min(self.spare[moment]);
            if room == 0 {
                break;
            }
        }
        self.spend(2 * looked);
        let lower = left.min(right);
        if lower != u64::MAX && lower - height <= room {
            found(Kid { buffer: Rank::NONE, empty_to: lower, rank: (0, 0, 0) });
        }
    }

    /// The decisions from which it follows that a valley's end has these alternatives and no others.
    fn explain(&mut self, at: usize, end: End, reason: &mut [u64]) {
        let valley @ Segment { from, to, height, .. } = self.segments[at];
        let mut room = u64::MAX;
        for step in 0..to.since(from) {
            let (moment, list) = self.at_end((from, to), end, step);
            if let Some(&(_, level)) = self.piles[moment].last() {
                set(reason, level);
            }
            for &b in list {
                if self.level[b] != Level::NONE && inside(self.line.spans[b], valley) {
                    set(reason, self.level[b]);
                }
            }
            if self.spare[moment] < self.capacity - self.line.loads[moment] {
                or_into(reason, self.emptied.row(moment));
            }
            room = room.min(self.spare[moment]);
            if room == 0 {
                break;
            }
        }
        let beside =
            [(from.index() > 0).then(|| from.before()), (at + 1 < self.segments.len()).then_some(to)];
        for moment in beside.into_iter().flatten() {
            let pile = &self.piles[moment];
            let wall = pile.partition_point(|&(top, _)| top <= height);
            if let Some(&(_, level)) = pile.get(wall) {
                set(reason, level);
            }
            // How high the wall is matters where something may stay empty.
            if let Some(&(_, level)) = pile.last().filter(|_| room > 0) {
                set(reason, level);
            }
        }
        self.spend(self.deep);
    }

    /// Opens a frame for a valley's end.
    fn open(&mut self, at: usize, end: End) {
        let first = self.kids.len();
        let mut kids = std::mem::take(&mut self.kids);
        self.alternatives(at, end, |kid| kids.push(kid));
        let (left, right) = self.walls(at);
        let valley = self.segments[at];
        for kid in &mut kids[first..] {
            kid.rank = self.rank(valley, end, (left, right), kid);
        }
        kids[first..].sort_unstable_by_key(|kid| (kid.rank, kid.buffer));
        self.spend(8 * (kids.len() - first) + 2 * self.segments.len() + self.deep / 2);
        self.kids = kids;
        let level = self.conflicts.len();
        self.conflicts.resize(level + self.deep, 0);
        let mut reason = std::mem::take(&mut self.conflicts);
        self.explain(at, end, &mut reason[level..]);
        self.conflicts = reason;
        let snapshot = self.snapshots.len();
        self.snapshots.extend_from_slice(&self.segments);
        self.frames.push(Frame { valley, end, kids: first, next: first, snapshot });
    }

    /// The lowest is tried first: what leaves nothing empty, then what makes a wall or the valley even.
    fn rank(&self, valley: Segment, end: End, (left, right): (u64, u64), kid: &Kid) -> (u64, u8, u64) {
        if kid.buffer == Rank::NONE {
            return (u64::MAX, 0, 0);
        }
        let (from, to) = self.line.spans[kid.buffer];
        let size = self.sizes[kid.buffer];
        let skipped = if end == End::Left { from.since(valley.from) } else { valley.to.since(to) };
        let top = valley.height + size;
        let fills = from == valley.from && to == valley.to;
        let (near, far) = if end == End::Left { (left, right) } else { (right, left) };
        let even = top == near || fills && top == far;
        let class = match (even, fills) {
            (true, true) => 0,
            (true, false) => 1,
            (false, true) => 2,
            (false, false) => 3,
        };
        let length = wide(to.since(from));
        let preference = match self.preference {
            Preference::Large => u64::MAX - size,
            Preference::Long => u64::MAX - length,
            Preference::Wide => u64::MAX - size.saturating_mul(length),
        };
        (wide(skipped).saturating_mul(kid.empty_to - valley.height), class, preference)
    }

    /// Takes the next alternative of the last frame; false if there is none.
    fn advance(&mut self) -> bool {
        let level = self.top();
        let Some(frame) = self.frames.last_mut().filter(|frame| frame.next < self.kids.len()) else {
            return false;
        };
        let kid = self.kids[frame.next];
        frame.next += 1;
        let (valley, end) = (frame.valley, frame.end);
        let at = self.segments.partition_point(|segment| segment.from < valley.from);
        let Kid { buffer, empty_to, .. } = kid;
        let (empty, filled) = parts(self.line, valley, end, buffer);
        self.leave_empty(empty, empty_to - valley.height, empty_to, level);
        let mut pieces = [empty, filled, (filled.1, filled.1)].map(|(from, to)| (from, to, empty_to));
        if buffer != Rank::NONE {
            let top = valley.height + self.sizes[buffer];
            for moment in between(filled.0, filled.1) {
                self.piles[moment].push((top, level));
            }
            self.offsets[buffer] = valley.height;
            self.level[buffer] = level;
            self.waiting -= 1;
            pieces = match end {
                End::Left => [
                    (empty.0, empty.1, empty_to),
                    (filled.0, filled.1, top),
                    (filled.1, valley.to, valley.height),
                ],
                End::Right => [
                    (valley.from, filled.0, valley.height),
                    (filled.0, filled.1, top),
                    (empty.0, empty.1, empty_to),
                ],
            };
        }
        self.replace(at, pieces);
        self.spend(4 * valley.to.since(valley.from));
        true
    }

    fn leave_empty(&mut self, (from, to): (Moment, Moment), bytes: u64, top: u64, level: Level) {
        for moment in between(from, to) {
            self.spare[moment] -= bytes;
            self.piles[moment].push((top, level));
            set(self.emptied.row_mut(moment), level);
        }
    }

    /// Puts pieces in the place of a segment, and joins what has one height.
    fn replace(&mut self, at: usize, pieces: [(Moment, Moment, u64); 3]) {
        let (first, last) = (at.saturating_sub(1), (at + 1).min(self.segments.len() - 1));
        // What was beside the segment, and may be joined to a piece: its alternatives have to be counted anew too.
        let mut fresh = [self.segments[first]; 5];
        let mut count = 0;
        let mut push = |(from, to, height): (Moment, Moment, u64)| {
            if from == to {
                return;
            }
            if count > 0 && fresh[count - 1].height == height {
                fresh[count - 1].to = to;
                return;
            }
            fresh[count] = Segment { from, to, height, counts: [UNCOUNTED; 2] };
            count += 1;
        };
        let beside = |segment: Segment| (segment.from, segment.to, segment.height);
        if first < at {
            push(beside(self.segments[first]));
        }
        pieces.into_iter().for_each(&mut push);
        if last > at {
            push(beside(self.segments[last]));
        }
        self.segments.splice(first..=last, fresh[..count].iter().copied());
    }

    /// Takes back what the last frame's alternative did.
    fn take_back(&mut self) {
        let Some(frame) = self.frames.last() else { return };
        let level = self.top();
        let kid = self.kids[frame.next - 1];
        let (empty, filled) = parts(self.line, frame.valley, frame.end, kid.buffer);
        let bytes = kid.empty_to - frame.valley.height;
        self.segments.clear();
        self.segments.extend_from_slice(&self.snapshots[frame.snapshot..]);
        for moment in between(empty.0, empty.1) {
            self.spare[moment] += bytes;
            self.piles[moment].pop();
            clear(self.emptied.row_mut(moment), level);
        }
        if kid.buffer != Rank::NONE {
            for moment in between(filled.0, filled.1) {
                self.piles[moment].pop();
            }
            self.level[kid.buffer] = Level::NONE;
            self.waiting += 1;
        }
        let touched = empty.1.since(empty.0) + filled.1.since(filled.0);
        self.spend(2 * touched + self.segments.len());
    }

    /// Goes back to the latest decision of those in `dead_end` that has an alternative left; false if none has.
    fn go_back(&mut self) -> bool {
        while let Some(latest) = last::<Level>(&self.dead_end) {
            while self.frames.len() > latest.index() + 1 {
                self.take_back();
                self.drop_frame();
            }
            clear(&mut self.dead_end, latest);
            self.take_back();
            let first = latest.index() * self.deep;
            or_into(&mut self.conflicts[first..first + self.deep], &self.dead_end);
            self.spend(self.deep);
            if self.advance() {
                return true;
            }
            self.dead_end.copy_from_slice(&self.conflicts[first..first + self.deep]);
            self.drop_frame();
        }
        false
    }

    fn drop_frame(&mut self) {
        if let Some(frame) = self.frames.pop() {
            self.kids.truncate(frame.kids);
            self.snapshots.truncate(frame.snapshot);
            self.conflicts.truncate(self.frames.len() * self.deep);
        }
    }
}

/// Returns the part of a valley that stays empty with a buffer at its end, and the part that the buffer fills; without a
/// buffer, all and nothing.
fn parts(line: &Line, valley: Segment, end: End, buffer: Rank) -> ((Moment, Moment), (Moment, Moment)) {
    if buffer == Rank::NONE {
        return ((valley.from, valley.to), (valley.to, valley.to));
    }
    let (from, to) = line.spans[buffer];
    match end {
        End::Left => ((valley.from, from), (from, to)),
        End::Right => ((to, valley.to), (from, to)),
    }
}

fn inside((from, to): (Moment, Moment), valley: Segment) -> bool {
    valley.from <= from && to <= valley.to
}
