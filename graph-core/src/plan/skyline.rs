//! Complete search for buffers whose live ranges are intervals: a variant of the skyline heuristic for strip
//! packing, with branching and conflict-directed backjumping.
//!
//! The placed buffers form a skyline: a height for each time. A valley is a segment of the skyline between two
//! higher ones. Buffers can be shifted down until each rests on the floor or on another buffer. So a buffer that
//! covers the lowest free bytes of a valley is inside the valley and on its floor. The search branches on one end
//! of a valley. Either some buffer is the first one on the floor, seen from that end; the part before it is then
//! wasted up to the top of the buffer or of the wall, whichever is lower. Or no buffer is on the floor, and the
//! valley is wasted up to its lower wall.
//!
//! The slack of a time is the capacity minus the bytes live at that time: the bytes that may be wasted there. If
//! the slack is small, only buffers that begin (or end) near the end of the valley can come first. The search
//! branches on the end with the fewest alternatives first.
//!
//! The conflict set of a dead end holds the decisions that imply it: those below the valley, those that form its
//! walls, those that placed a buffer of the valley elsewhere, and those that used up the slack. The search jumps
//! back to the latest of them.
//!
//! Work is counted in steps, not timed: equal inputs give equal results.

mod heights;
mod slack;
#[cfg(test)]
mod tests;

use super::indices::{DecisionLevel, Rank};
use super::intervals::{Intervals, Time, TimeRange};
use super::search::SearchOutcome;
use crate::bits::{clear, last, or_into, set, words};
use crate::index::{Index, Vector, wide};
use heights::{Segment, Skyline, UNCOUNTED, Walls};
use slack::SlackTable;

/// The order of candidates at the end of a valley that waste equally many bytes and close the valley equally well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Preference<'p> {
    /// The largest buffer first.
    Large,
    /// The longest live range first.
    Long,
    /// The highest priority first; 0 is the highest.
    Given(&'p Vector<Rank, u32>),
}

/// Searches for offsets at which all buffers end at or below `capacity`. Subtracts the work from `steps`. Gives up
/// when no steps are left, or after `patience` dead ends.
pub(super) fn search(
    intervals: &Intervals,
    sizes: &Vector<Rank, u64>,
    capacity: u64,
    preference: Preference<'_>,
    patience: u64,
    steps: &mut u64,
) -> SearchOutcome {
    if intervals.loads.iter().any(|&load| load > capacity) {
        return SearchOutcome::Impossible;
    }
    let mut search = ValleySearch::new(intervals, sizes, capacity, preference, *steps);
    let outcome = search.run(patience);
    *steps = search.steps;
    outcome
}

/// The parts of a valley that an alternative uses.
struct ValleyParts {
    /// The wasted part.
    empty: TimeRange,
    /// The part under the buffer.
    filled: TimeRange,
}

/// The end of a valley that the search branches on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Left,
    Right,
}

/// An alternative at the end of a valley: the first buffer on the floor (`NONE` for none), and the height up to
/// which the part before it is wasted.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    buffer: Rank,
    empty_to: u64,
    /// Alternatives are tried in ascending order.
    rank: CandidateRank,
}

/// The sort key of an alternative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct CandidateRank {
    /// The wasted bytes.
    wasted: u64,
    /// The smaller, the more segments merge.
    class: u8,
    preference: u64,
}

/// A decision.
struct ValleyFrame {
    valley: Segment,
    end: End,
    /// The index of its first alternative in `candidates`. Its alternatives end where those of the next frame
    /// begin.
    candidates: usize,
    next: usize,
    /// The index in `snapshots` of the segments before the decision.
    snapshot: usize,
}

/// The buffers, by the ends of their live ranges.
struct BuffersByEnd {
    /// The buffers whose live range begins at each time.
    starts: Vector<Time, Vec<Rank>>,
    /// The buffers whose live range ends right before each time.
    ends: Vector<Time, Vec<Rank>>,
}

impl BuffersByEnd {
    /// Returns the time at distance `step` from an end of a valley, and the buffers whose live range begins (or
    /// ends) there.
    #[inline]
    fn at_end(&self, valley: TimeRange, end: End, step: usize) -> (Time, &[Rank]) {
        match end {
            End::Left => {
                let time = Time::new(valley.from.index() + step);
                (time, &self.starts[time])
            }
            End::Right => {
                let over = Time::new(valley.to.index() - step);
                (over.before(), &self.ends[over])
            }
        }
    }
}

/// The offsets of the placed buffers, and the number of unplaced ones.
struct Placement {
    offsets: Vector<Rank, u64>,
    /// The decision that placed each buffer, or `NONE`.
    level: Vector<Rank, DecisionLevel>,
    unplaced: usize,
}

impl Placement {
    fn place(&mut self, b: Rank, offset: u64, level: DecisionLevel) {
        self.offsets[b] = offset;
        self.level[b] = level;
        self.unplaced -= 1;
    }

    fn unplace(&mut self, b: Rank) {
        self.level[b] = DecisionLevel::NONE;
        self.unplaced += 1;
    }
}

struct ValleySearch<'l> {
    intervals: &'l Intervals,
    sizes: &'l Vector<Rank, u64>,
    capacity: u64,
    preference: Preference<'l>,
    steps: u64,
    by_end: BuffersByEnd,
    placement: Placement,
    slack: SlackTable,
    skyline: Skyline,
    frames: Vec<ValleyFrame>,
    candidates: Vec<Candidate>,
    /// Row `d` is the conflict set of decision `d`: the decisions that imply the failure of its tried alternatives,
    /// and the absence of others.
    conflict_sets: Vec<u64>,
    /// The conflict set of the last dead end.
    dead_end: Vec<u64>,
}

impl<'l> ValleySearch<'l> {
    fn new(
        intervals: &'l Intervals,
        sizes: &'l Vector<Rank, u64>,
        capacity: u64,
        preference: Preference<'l>,
        steps: u64,
    ) -> ValleySearch<'l> {
        let (n, times) = (sizes.len(), intervals.loads.len());
        let mut starts: Vector<Time, Vec<Rank>> = Vector::filled(Vec::new(), times);
        let mut ends: Vector<Time, Vec<Rank>> = Vector::filled(Vec::new(), times + 1);
        let mut unplaced = 0;
        for (b, &TimeRange { from, to }) in
            intervals.spans.enumerate().filter(|(_, span)| span.from < span.to)
        {
            starts[from].push(b);
            ends[to].push(b);
            unplaced += 1;
        }
        let row_words = words(2 * n + 64);
        ValleySearch {
            intervals,
            sizes,
            capacity,
            preference,
            steps: steps.saturating_sub(wide(n + times * row_words)),
            by_end: BuffersByEnd { starts, ends },
            placement: Placement {
                offsets: Vector::filled(0, n),
                level: Vector::filled(DecisionLevel::NONE, n),
                unplaced,
            },
            slack: SlackTable::new(intervals, capacity, row_words),
            skyline: Skyline::new(times),
            frames: Vec::new(),
            candidates: Vec::new(),
            conflict_sets: Vec::new(),
            dead_end: vec![0; row_words],
        }
    }

    fn run(&mut self, mut patience: u64) -> SearchOutcome {
        loop {
            if self.placement.unplaced == 0 {
                return SearchOutcome::Found(std::mem::take(&mut self.placement.offsets));
            }
            if let Some((at, end)) = self.choose() {
                if self.frames.len() == self.row_words() * 64 {
                    return SearchOutcome::Unknown;
                }
                self.open(at, end);
                self.advance();
            } else {
                if !self.backjump() {
                    return SearchOutcome::Impossible;
                }
                patience = patience.saturating_sub(1);
            }
            if self.steps == 0 || patience == 0 {
                return SearchOutcome::Unknown;
            }
        }
    }

    /// Returns the level of the top frame.
    fn top(&self) -> DecisionLevel {
        DecisionLevel::new(self.frames.len() - 1)
    }

    /// Returns the number of words in a set of levels.
    fn row_words(&self) -> usize {
        self.dead_end.len()
    }

    fn spend(&mut self, steps: usize) {
        self.steps = self.steps.saturating_sub(wide(steps));
    }

    /// Returns the valley end with the fewest alternatives. `None` at a dead end; its conflict set is then in
    /// `dead_end`.
    fn choose(&mut self) -> Option<(usize, End)> {
        let mut best = (u32::MAX, u64::MAX, 0, End::Left);
        for at in 0..self.skyline.segments().len() {
            let Walls { left, right } = self.skyline.walls(at);
            let Segment { height, counts, .. } = self.skyline.segments()[at];
            if left < height || right < height {
                continue;
            }
            if counts == [UNCOUNTED; 2] {
                self.dead_end.fill(0);
                let mut counts = counts;
                for (count, end) in counts.iter_mut().zip([End::Left, End::Right]) {
                    *count = 0;
                    self.alternatives(at, end, |_| *count += 1);
                    if *count == 0 {
                        let mut reason = std::mem::take(&mut self.dead_end);
                        self.explain(at, end, &mut reason);
                        self.dead_end = reason;
                        return None;
                    }
                }
                self.skyline.set_counts(at, counts);
            }
            let [left, right] = self.skyline.segments()[at].counts;
            let (count, end) = if left <= right { (left, End::Left) } else { (right, End::Right) };
            if (count, height) < (best.0, best.1) {
                best = (count, height, at, end);
            }
        }
        self.spend(2 * self.skyline.segments().len());
        Some((best.2, best.3))
    }

    /// Calls `found` with each alternative at an end of a valley.
    fn alternatives(&mut self, at: usize, end: End, mut found: impl FnMut(Candidate)) {
        let Segment { span: valley, height, .. } = self.skyline.segments()[at];
        let Walls { left, right } = self.skyline.walls(at);
        let wall = if end == End::Left { left } else { right };
        let mut room = u64::MAX;
        let mut looked = 0;
        for step in 0..valley.length() {
            let (time, list) = self.by_end.at_end(valley, end, step);
            looked += 1 + list.len();
            for &b in list {
                if self.placement.level[b] != DecisionLevel::NONE || !valley.contains(self.intervals.spans[b])
                {
                    continue;
                }
                let empty_to = wall.min(height + self.sizes[b]);
                if step == 0 || empty_to - height <= room {
                    found(Candidate { buffer: b, empty_to, rank: CandidateRank::default() });
                }
            }
            room = room.min(self.slack.at(time));
            if room == 0 {
                break;
            }
        }
        self.spend(2 * looked);
        let lower = left.min(right);
        if lower != u64::MAX && lower - height <= room {
            found(Candidate { buffer: Rank::NONE, empty_to: lower, rank: CandidateRank::default() });
        }
    }

    /// Adds to `reason` the decisions that imply that a valley end has exactly its alternatives.
    fn explain(&mut self, at: usize, end: End, reason: &mut [u64]) {
        let Segment { span: valley, height, .. } = self.skyline.segments()[at];
        let mut room = u64::MAX;
        for step in 0..valley.length() {
            let (time, list) = self.by_end.at_end(valley, end, step);
            self.skyline.explain_height(time, reason);
            for &b in list {
                if self.placement.level[b] != DecisionLevel::NONE && valley.contains(self.intervals.spans[b])
                {
                    set(reason, self.placement.level[b]);
                }
            }
            if self.slack.at(time) < self.capacity - self.intervals.loads[time] {
                or_into(reason, self.slack.wasted_by(time));
            }
            room = room.min(self.slack.at(time));
            if room == 0 {
                break;
            }
        }
        let beside = [
            (valley.from.index() > 0).then(|| valley.from.before()),
            (at + 1 < self.skyline.segments().len()).then_some(valley.to),
        ];
        for time in beside.into_iter().flatten() {
            self.skyline.explain_wall(time, height, reason);
            if room > 0 {
                self.skyline.explain_height(time, reason);
            }
        }
        self.spend(reason.len());
    }

    /// Pushes a frame for a valley end.
    fn open(&mut self, at: usize, end: End) {
        let first = self.candidates.len();
        let mut candidates = std::mem::take(&mut self.candidates);
        self.alternatives(at, end, |candidate| candidates.push(candidate));
        let (walls, valley) = (self.skyline.walls(at), self.skyline.segments()[at]);
        for candidate in &mut candidates[first..] {
            candidate.rank = self.rank(valley, end, walls, candidate);
        }
        candidates[first..].sort_unstable_by_key(|candidate| (candidate.rank, candidate.buffer));
        self.spend(8 * (candidates.len() - first) + 2 * self.skyline.segments().len() + self.row_words() / 2);
        self.candidates = candidates;
        let level = self.conflict_sets.len();
        let row_words = self.row_words();
        self.conflict_sets.resize(level + row_words, 0);
        let mut reason = std::mem::take(&mut self.conflict_sets);
        self.explain(at, end, &mut reason[level..]);
        self.conflict_sets = reason;
        let snapshot = self.skyline.save();
        self.frames.push(ValleyFrame { valley, end, candidates: first, next: first, snapshot });
    }

    /// Returns the sort key of an alternative.
    fn rank(
        &self,
        valley: Segment,
        end: End,
        Walls { left, right }: Walls,
        candidate: &Candidate,
    ) -> CandidateRank {
        if candidate.buffer == Rank::NONE {
            return CandidateRank { wasted: u64::MAX, ..CandidateRank::default() };
        }
        let span = self.intervals.spans[candidate.buffer];
        let size = self.sizes[candidate.buffer];
        let top = valley.height + size;
        let fills = span == valley.span;
        let (skipped, near, far) = match end {
            End::Left => (span.from.since(valley.span.from), left, right),
            End::Right => (valley.span.to.since(span.to), right, left),
        };
        let even = top == near || fills && top == far;
        let class = match (even, fills) {
            (true, true) => 0,
            (true, false) => 1,
            (false, true) => 2,
            (false, false) => 3,
        };
        let preference = match self.preference {
            Preference::Large => u64::MAX - size,
            Preference::Long => u64::MAX - wide(span.length()),
            Preference::Given(priority) => u64::from(priority[candidate.buffer]),
        };
        let wasted = wide(skipped).saturating_mul(candidate.empty_to - valley.height);
        CandidateRank { wasted, class, preference }
    }

    /// Applies the next alternative of the top frame. Returns false if there is none.
    fn advance(&mut self) -> bool {
        let level = self.top();
        let Some(frame) = self.frames.last_mut().filter(|frame| frame.next < self.candidates.len()) else {
            return false;
        };
        let candidate = self.candidates[frame.next];
        frame.next += 1;
        let (valley, end) = (frame.valley, frame.end);
        let Candidate { buffer, empty_to, .. } = candidate;
        let ValleyParts { empty, filled } = taken(self.intervals, valley.span, end, buffer);
        self.slack.waste(empty, empty_to - valley.height, level);
        self.skyline.raise(empty, empty_to, level);
        let mut pieces = [empty, filled, filled].map(|span| Segment::new(span, empty_to));
        if buffer != Rank::NONE {
            let top = valley.height + self.sizes[buffer];
            self.skyline.raise(filled, top, level);
            self.placement.place(buffer, valley.height, level);
            let (empty, filled) = (Segment::new(empty, empty_to), Segment::new(filled, top));
            pieces = match end {
                End::Left => {
                    let rest = TimeRange::new(filled.span.to, valley.span.to);
                    [empty, filled, Segment::new(rest, valley.height)]
                }
                End::Right => {
                    let rest = TimeRange::new(valley.span.from, filled.span.from);
                    [Segment::new(rest, valley.height), filled, empty]
                }
            };
        }
        self.skyline.replace(valley.span, pieces);
        self.spend(4 * valley.span.length());
        true
    }

    /// Undoes the applied alternative of the top frame.
    fn undo(&mut self) {
        let Some(frame) = self.frames.last() else { return };
        let level = self.top();
        let candidate = self.candidates[frame.next - 1];
        let ValleyParts { empty, filled } =
            taken(self.intervals, frame.valley.span, frame.end, candidate.buffer);
        let bytes = candidate.empty_to - frame.valley.height;
        self.skyline.restore(frame.snapshot);
        self.skyline.lower(empty);
        self.slack.restore(empty, bytes, level);
        if candidate.buffer != Rank::NONE {
            self.skyline.lower(filled);
            self.placement.unplace(candidate.buffer);
        }
        let touched = empty.length() + filled.length();
        self.spend(2 * touched + self.skyline.segments().len());
    }

    /// Jumps back to the latest decision in `dead_end` with a remaining alternative, and applies that alternative.
    /// Returns false if there is none.
    fn backjump(&mut self) -> bool {
        let row_words = self.row_words();
        while let Some(latest) = last::<DecisionLevel>(&self.dead_end) {
            while self.frames.len() > latest.index() + 1 {
                self.undo();
                self.close();
            }
            clear(&mut self.dead_end, latest);
            self.undo();
            let first = latest.index() * row_words;
            or_into(&mut self.conflict_sets[first..first + row_words], &self.dead_end);
            self.spend(row_words);
            if self.advance() {
                return true;
            }
            self.dead_end.copy_from_slice(&self.conflict_sets[first..first + row_words]);
            self.close();
        }
        false
    }

    fn close(&mut self) {
        if let Some(frame) = self.frames.pop() {
            self.candidates.truncate(frame.candidates);
            self.skyline.forget(frame.snapshot);
            let row_words = self.row_words();
            self.conflict_sets.truncate(self.frames.len() * row_words);
        }
    }
}

/// Returns the parts of a valley that an alternative uses.
fn taken(intervals: &Intervals, valley: TimeRange, end: End, buffer: Rank) -> ValleyParts {
    if buffer == Rank::NONE {
        return ValleyParts { empty: valley, filled: TimeRange::new(valley.to, valley.to) };
    }
    let filled = intervals.spans[buffer];
    let empty = match end {
        End::Left => TimeRange::new(valley.from, filled.from),
        End::Right => TimeRange::new(filled.to, valley.to),
    };
    ValleyParts { empty, filled }
}
