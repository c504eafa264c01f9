//! The slack: bytes that may be wasted at each time.

use crate::bits::{Matrix, clear, set};
use crate::index::Vector;
use crate::plan::indices::DecisionLevel;
use crate::plan::intervals::{Intervals, Time, TimeRange};

/// The bytes that may still be wasted at each time, and the decisions that wasted the others.
pub(super) struct SlackTable {
    slack: Vector<Time, u64>,
    /// Row `t` holds the decisions that wasted bytes at time `t`.
    wasted_by: Matrix<Time>,
}

impl SlackTable {
    /// Makes the table before any decision. No load may exceed the capacity.
    pub fn new(intervals: &Intervals, capacity: u64, row_words: usize) -> SlackTable {
        SlackTable {
            slack: intervals.loads.iter().map(|&load| capacity - load).collect(),
            wasted_by: Matrix::from_words(row_words, vec![0; intervals.loads.len() * row_words]),
        }
    }

    #[inline]
    pub fn at(&self, time: Time) -> u64 {
        self.slack[time]
    }

    pub fn wasted_by(&self, time: Time) -> &[u64] {
        self.wasted_by.row(time)
    }

    pub fn waste(&mut self, span: TimeRange, bytes: u64, level: DecisionLevel) {
        for time in span.times() {
            self.slack[time] -= bytes;
            set(self.wasted_by.row_mut(time), level);
        }
    }

    /// Undoes [`waste`](Self::waste).
    pub fn restore(&mut self, span: TimeRange, bytes: u64, level: DecisionLevel) {
        for time in span.times() {
            self.slack[time] += bytes;
            clear(self.wasted_by.row_mut(time), level);
        }
    }
}
