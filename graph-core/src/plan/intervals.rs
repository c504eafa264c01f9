//! Recognises live ranges that are intervals of time, as in traces and in graphs whose nodes form a chain.
//!
//! The interference graph is then an interval graph: its maximal cliques can be ordered such that the cliques of
//! each buffer are consecutive.

use super::indices::Rank;
use super::problem::{Problem, common_divisor};
use crate::bits::{count_common, set, words};
use crate::index::{Index, Vector, between, indices};

indices! {
    /// A point in time: the index of a maximal clique.
    pub(super) struct Time;
}

impl Time {
    /// Returns the next time.
    pub fn next(self) -> Time {
        Time::new(self.index() + 1)
    }

    /// Returns the number of times since an earlier one.
    pub fn since(self, earlier: Time) -> usize {
        self.index() - earlier.index()
    }

    /// Returns the previous time. Must not be called on the first time.
    pub fn before(self) -> Time {
        Time::new(self.index() - 1)
    }
}

/// A half-open range of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TimeRange {
    pub from: Time,
    pub to: Time,
}

impl TimeRange {
    pub fn new(from: Time, to: Time) -> TimeRange {
        TimeRange { from, to }
    }

    pub fn contains(self, inner: TimeRange) -> bool {
        self.from <= inner.from && inner.to <= self.to
    }

    /// Returns the number of times in the range.
    pub fn length(self) -> usize {
        self.to.since(self.from)
    }

    pub fn times(self) -> impl Iterator<Item = Time> {
        between(self.from, self.to)
    }
}

/// The live ranges of the buffers as intervals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Intervals {
    /// The times of each buffer. Empty for buffers of size 0.
    pub spans: Vector<Rank, TimeRange>,
    /// The live bytes at each time.
    pub loads: Vector<Time, u64>,
}

impl Intervals {
    /// Returns the intervals of a problem. `None` if its interference graph is not recognised as an interval graph,
    /// or if the sizes are not multiples of all alignments.
    pub fn recognise(problem: &Problem) -> Option<Intervals> {
        let n = problem.sizes.len();
        let grain = problem.sizes.iter().copied().fold(0, common_divisor);
        if problem.aligns.iter().any(|&align| !grain.is_multiple_of(align)) {
            return None;
        }
        let latest = |clique: &Vec<Rank>| clique.iter().map(|&b| problem.begins[b]).max();
        let mut cliques: Vec<&Vec<Rank>> = problem.cliques.iter().collect();
        cliques.sort_by_cached_key(|clique| (latest(clique), std::cmp::Reverse(clique.len())));
        let mut spans = Vector::filled(TimeRange::new(Time::new(0), Time::new(0)), n);
        let mut loads = Vector::new();
        let mut latest_in = Vector::filled(Time::NONE, n);
        for clique in cliques {
            let at = Time::new(loads.len());
            let last = loads.len().checked_sub(1).map(Time::new);
            if clique.iter().all(|&b| Some(latest_in[b]) == last) {
                continue;
            }
            clique.iter().for_each(|&b| latest_in[b] = at);
            let mut load = 0;
            for &b in clique.iter().filter(|&&b| problem.sizes[b] > 0) {
                let span = &mut spans[b];
                if span.from == span.to {
                    *span = TimeRange::new(at, at.next());
                } else if span.to == at {
                    span.to = at.next();
                } else {
                    return None;
                }
                load += problem.sizes[b];
            }
            loads.push(load);
        }
        let intervals = Intervals { spans, loads };
        intervals.are_complete(problem).then_some(intervals)
    }

    /// Returns true if any two conflicting buffers are live at a common time. The converse always holds. O(buffers²
    /// / 64).
    fn are_complete(&self, problem: &Problem) -> bool {
        let times = self.loads.len();
        // For each time, the number of buffers that begin at or before it, and the number that end at or before it.
        let (mut begun, mut over) = (Vector::filled(0usize, times + 1), Vector::filled(0usize, times + 1));
        let sized = |b: Rank| problem.sizes[b] > 0;
        for &TimeRange { from, to } in self.spans.iter().filter(|span| span.from < span.to) {
            begun[from] += 1;
            over[to] += 1;
        }
        let (mut before, mut over_before) = (0, 0);
        for at in begun.ids() {
            begun[at] += before;
            over[at] += over_before;
            (before, over_before) = (begun[at], over[at]);
        }
        let mut all = vec![0; words(problem.sizes.len())];
        problem.sizes.ids().filter(|&b| sized(b)).for_each(|b| set(&mut all, b));
        problem.sizes.ids().filter(|&b| sized(b)).all(|b| {
            let TimeRange { from, to } = self.spans[b];
            let others = count_common(problem.conflicts.row(b), &all);
            from < to && begun[to.before()] - over[from] == others + 1
        })
    }
}
