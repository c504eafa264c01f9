//! The skyline: its segments, and the decisions that raised it.

use crate::bits::set;
use crate::index::{Index, Vector};
use crate::plan::indices::DecisionLevel;
use crate::plan::intervals::{Time, TimeRange};

/// Marks a count of alternatives that is not computed yet.
pub(super) const UNCOUNTED: u32 = u32::MAX;

/// A maximal range of times with one skyline height.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub span: TimeRange,
    pub height: u64,
    /// The number of alternatives at the left and right end of a valley, or `UNCOUNTED`. Valid until the segment or
    /// an adjacent one changes, since buffers inside a valley are not placed elsewhere.
    pub counts: [u32; 2],
}

impl Segment {
    /// Makes a segment with uncounted alternatives.
    pub fn new(span: TimeRange, height: u64) -> Segment {
        Segment { span, height, counts: [UNCOUNTED; 2] }
    }
}

/// The heights of the segments beside a segment. `u64::MAX` at the ends of time.
#[derive(Clone, Copy)]
pub(super) struct Walls {
    pub left: u64,
    pub right: u64,
}

/// The height at each time. Invariants: the segments cover all times, adjacent ones have different heights, and
/// each height is the top of the stacks of its times.
pub(super) struct Skyline {
    segments: Vec<Segment>,
    /// For each time, the heights that the skyline had, ascending, each with the decision that raised it.
    stacks: Vector<Time, Vec<(u64, DecisionLevel)>>,
    /// The segments before each decision, concatenated.
    snapshots: Vec<Segment>,
}

impl Skyline {
    pub fn new(times: usize) -> Skyline {
        let all = TimeRange::new(Time::new(0), Time::new(times));
        Skyline {
            segments: vec![Segment::new(all, 0)],
            stacks: Vector::filled(Vec::new(), times),
            snapshots: Vec::new(),
        }
    }

    #[inline]
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    pub fn set_counts(&mut self, at: usize, counts: [u32; 2]) {
        self.segments[at].counts = counts;
    }

    pub fn walls(&self, at: usize) -> Walls {
        let left = at.checked_sub(1).map_or(u64::MAX, |left| self.segments[left].height);
        let right = self.segments.get(at + 1).map_or(u64::MAX, |right| right.height);
        Walls { left, right }
    }

    /// Adds to `reason` the decision that set the height at a time.
    pub fn explain_height(&self, time: Time, reason: &mut [u64]) {
        if let Some(&(_, level)) = self.stacks[time].last() {
            set(reason, level);
        }
    }

    /// Adds to `reason` the decision that raised the skyline at a time above `height`.
    pub fn explain_wall(&self, time: Time, height: u64, reason: &mut [u64]) {
        let stack = &self.stacks[time];
        if let Some(&(_, level)) = stack.get(stack.partition_point(|&(top, _)| top <= height)) {
            set(reason, level);
        }
    }

    /// Records that a decision raises the skyline to `top`. [`replace`](Self::replace) updates the segments.
    pub fn raise(&mut self, span: TimeRange, top: u64, level: DecisionLevel) {
        for time in span.times() {
            self.stacks[time].push((top, level));
        }
    }

    /// Removes the last decision that raised the skyline in this span.
    pub fn lower(&mut self, span: TimeRange) {
        for time in span.times() {
            self.stacks[time].pop();
        }
    }

    /// Saves the segments, and returns the index of the snapshot.
    pub fn save(&mut self) -> usize {
        self.snapshots.extend_from_slice(&self.segments);
        self.snapshots.len() - self.segments.len()
    }

    /// Restores the segments of the last snapshot.
    pub fn restore(&mut self, snapshot: usize) {
        self.segments.clear();
        self.segments.extend_from_slice(&self.snapshots[snapshot..]);
    }

    /// Drops the last snapshot.
    pub fn forget(&mut self, snapshot: usize) {
        self.snapshots.truncate(snapshot);
    }

    /// Replaces the segment of a span by pieces, and merges adjacent pieces of equal height.
    pub fn replace(&mut self, span: TimeRange, pieces: [Segment; 3]) {
        let at = self.segments.partition_point(|segment| segment.span.from < span.from);
        let (first, last) = (at.saturating_sub(1), (at + 1).min(self.segments.len() - 1));
        // The adjacent segments are merged or have new walls, so their counts are invalid.
        let mut fresh = [self.segments[first]; 5];
        let mut count = 0;
        let mut push = |Segment { span, height, .. }: Segment| {
            if span.from == span.to {
                return;
            }
            if count > 0 && fresh[count - 1].height == height {
                fresh[count - 1].span.to = span.to;
                return;
            }
            fresh[count] = Segment::new(span, height);
            count += 1;
        };
        if first < at {
            push(self.segments[first]);
        }
        pieces.into_iter().for_each(&mut push);
        if last > at {
            push(self.segments[last]);
        }
        self.segments.splice(first..=last, fresh[..count].iter().copied());
    }
}
