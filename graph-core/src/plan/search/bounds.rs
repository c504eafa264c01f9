//! The lower bounds on offsets with their reasons, and the trail for undoing changes.

use crate::bits::{Matrix, clear, has, lowest, ones, or_into, set, words};
use crate::index::{Index, Vector, indices};
use crate::plan::indices::{DecisionLevel, Rank};
use crate::plan::problem::Problem;

indices! {
    /// Index of a saved reason in `old_reasons`.
    struct OldReason;
}

/// The bounds of a buffer before a change.
struct TrailEntry {
    buffer: Rank,
    resting: u64,
    low: u64,
    deferred: bool,
    /// The saved reason in `old_reasons`. `NONE` if only the level of the decision was added to it.
    reason: OldReason,
}

/// The offsets of placed buffers, and the bounds of the others. The trail holds each change of a bound, with the
/// previous reason.
pub(super) struct OffsetBounds {
    /// The unplaced buffers.
    free: Vec<u64>,
    offsets: Vector<Rank, u64>,
    /// The decision that placed a buffer, or `NONE`.
    level: Vector<Rank, DecisionLevel>,
    /// The lowest offset above all placed neighbours.
    resting: Vector<Rank, u64>,
    /// The lower bound on the offset. Above `resting` if the buffer is deferred.
    low: Vector<Rank, u64>,
    deferred: Vector<Rank, bool>,
    deferred_count: usize,
    /// Row `b` holds the levels of the decisions that imply `low[b]`.
    reasons: Matrix<Rank>,
    trail: Vec<TrailEntry>,
    old_reasons: Vec<u64>,
}

/// The lowest bound of some unplaced buffers, and the lowest end of a buffer at its bound. `u64::MAX` without
/// buffers.
pub(super) struct LowestBounds {
    pub low: u64,
    pub top: u64,
}

impl OffsetBounds {
    pub fn new(sizes: &Vector<Rank, u64>, row_words: usize) -> OffsetBounds {
        let n = sizes.len();
        let mut free = vec![0; words(n)];
        sizes.ids().filter(|&b| sizes[b] > 0).for_each(|b| set(&mut free, b));
        OffsetBounds {
            free,
            offsets: Vector::filled(0, n),
            level: Vector::filled(DecisionLevel::NONE, n),
            resting: Vector::filled(0, n),
            low: Vector::filled(0, n),
            deferred: Vector::filled(false, n),
            deferred_count: 0,
            reasons: Matrix::from_words(row_words, vec![0; n * row_words]),
            trail: Vec::new(),
            old_reasons: Vec::new(),
        }
    }

    /// Returns the unplaced buffers.
    #[inline]
    pub fn free(&self) -> &[u64] {
        &self.free
    }

    #[inline]
    pub fn resting(&self, b: Rank) -> u64 {
        self.resting[b]
    }

    #[inline]
    pub fn low(&self, b: Rank) -> u64 {
        self.low[b]
    }

    #[inline]
    pub fn reason(&self, b: Rank) -> &[u64] {
        self.reasons.row(b)
    }

    #[inline]
    pub fn is_deferred(&self, b: Rank) -> bool {
        self.deferred[b]
    }

    pub fn any_deferred(&self) -> bool {
        self.deferred_count > 0
    }

    pub fn trail_length(&self) -> usize {
        self.trail.len()
    }

    pub fn take_offsets(&mut self) -> Vector<Rank, u64> {
        std::mem::take(&mut self.offsets)
    }

    /// Returns the end of a placed buffer. `None` if it is not placed.
    pub fn placed_top(&self, b: Rank, problem: &Problem) -> Option<u64> {
        (self.level[b] != DecisionLevel::NONE).then(|| self.offsets[b] + problem.sizes[b])
    }

    /// Returns the lowest end of an unplaced buffer at its bound. `None` if all are placed.
    pub fn lowest_top(&self, problem: &Problem) -> Option<u64> {
        ones(&self.free).map(|b: Rank| self.low[b] + problem.sizes[b]).min()
    }

    /// Returns the lowest bounds of the unplaced neighbours of `b`.
    pub fn lowest_beside(&self, b: Rank, problem: &Problem) -> LowestBounds {
        let mut lowest_bounds = LowestBounds { low: u64::MAX, top: u64::MAX };
        for (w, (&near, &free)) in problem.conflicts.row(b).iter().zip(&self.free).enumerate() {
            let mut left = near & free;
            while left != 0 {
                let i: Rank = lowest(w, left);
                left &= left - 1;
                lowest_bounds.low = lowest_bounds.low.min(self.low[i]);
                lowest_bounds.top = lowest_bounds.top.min(self.low[i] + problem.sizes[i]);
            }
        }
        lowest_bounds
    }

    /// Adds the reasons of the bound of `b`, and of the offsets and bounds of its neighbours, to `reason`.
    pub fn explain_beside(&self, b: Rank, problem: &Problem, reason: &mut [u64]) {
        or_into(reason, self.reasons.row(b));
        for i in problem.conflicts.neighbours(b) {
            if has(&self.free, i) {
                or_into(reason, self.reasons.row(i));
            } else if self.level[i] != DecisionLevel::NONE {
                set(reason, self.level[i]);
            }
        }
    }

    /// Places a buffer on top of its placed neighbours. Returns its offset.
    pub fn place(&mut self, b: Rank, level: DecisionLevel) -> u64 {
        self.offsets[b] = self.resting[b];
        self.level[b] = level;
        clear(&mut self.free, b);
        self.resting[b]
    }

    pub fn unplace(&mut self, b: Rank) {
        set(&mut self.free, b);
        self.level[b] = DecisionLevel::NONE;
    }

    /// Defers a buffer.
    pub fn defer(&mut self, b: Rank, level: DecisionLevel) {
        self.record(b, OldReason::NONE);
        self.set_deferred(b, true);
        set(self.reasons.row_mut(b), level);
    }

    /// Raises the lowest offset of `b` above its placed neighbours, and ends its deferral. Returns true if floors
    /// at its old bound must be recomputed.
    pub fn rest(&mut self, b: Rank, resting: u64, level: DecisionLevel) -> bool {
        self.record(b, OldReason::NONE);
        let (before, was_deferred) = (self.low[b], self.deferred[b]);
        self.resting[b] = resting;
        self.low[b] = resting.max(before);
        self.set_deferred(b, false);
        set(self.reasons.row_mut(b), level);
        resting > before || was_deferred
    }

    /// Raises the bound of a buffer, for the given reason.
    pub fn raise(&mut self, b: Rank, low: u64, reason: &[u64]) {
        let old = OldReason::new(self.old_reasons.len());
        self.old_reasons.extend_from_slice(self.reasons.row(b));
        self.record(b, old);
        self.reasons.row_mut(b).copy_from_slice(reason);
        self.low[b] = low;
    }

    /// Undoes the last change, made by the decision at `level`, if the trail is longer than `length`. Returns the
    /// buffer and the lower of its two bounds.
    pub fn undo(&mut self, length: usize, level: DecisionLevel) -> Option<(Rank, u64)> {
        if self.trail.len() <= length {
            return None;
        }
        let change = self.trail.pop()?;
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
        Some((b, change.low.min(low_before)))
    }

    fn record(&mut self, buffer: Rank, reason: OldReason) {
        let (resting, low, deferred) = (self.resting[buffer], self.low[buffer], self.deferred[buffer]);
        self.trail.push(TrailEntry { buffer, resting, low, deferred, reason });
    }

    fn set_deferred(&mut self, b: Rank, deferred: bool) {
        self.deferred_count = self.deferred_count + usize::from(deferred) - usize::from(self.deferred[b]);
        self.deferred[b] = deferred;
    }
}
