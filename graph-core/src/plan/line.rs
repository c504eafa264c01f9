//! Buffers on a line: where time is one after the other, each lives from one moment to another.
//!
//! That is so of traces, and of graphs whose nodes form a chain. The sections are then what is live at the moments at
//! which most is, and every buffer is in some that follow one another.

use super::indices::Rank;
use super::problem::{Problem, common_divisor};
use crate::index::{Index, Vector, indices};

indices! {
    /// A moment of a line.
    pub(super) struct Moment;
}

impl Moment {
    /// Returns the next moment.
    pub fn next(self) -> Moment {
        Moment::new(self.index() + 1)
    }

    /// Returns the number of moments since an earlier one.
    pub fn since(self, earlier: Moment) -> usize {
        self.index() - earlier.index()
    }

    /// Returns the moment before, which there must be.
    pub fn before(self) -> Moment {
        Moment::new(self.index() - 1)
    }
}

/// When buffers live, in moments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// For each buffer its first moment, and the first one after its last; two equal ones where it has no size.
    pub spans: Vector<Rank, (Moment, Moment)>,
    /// The bytes that live at each moment.
    pub loads: Vector<Moment, u64>,
}

impl Line {
    /// The line of a problem, if it has one and offsets need no care for alignment.
    pub fn of(problem: &Problem) -> Option<Line> {
        let n = problem.sizes.len();
        let grain = problem.sizes.iter().copied().fold(0, common_divisor);
        if problem.aligns.iter().any(|&align| !grain.is_multiple_of(align)) {
            return None;
        }
        let latest = |section: &Vec<Rank>| section.iter().map(|&b| problem.begins[b]).max();
        let mut sections: Vec<&Vec<Rank>> = problem.sections.iter().collect();
        sections.sort_by_cached_key(|section| (latest(section), std::cmp::Reverse(section.len())));
        let mut spans = Vector::filled((Moment::new(0), Moment::new(0)), n);
        let mut loads = Vector::new();
        let mut last: &[Rank] = &[];
        for section in sections {
            if section.iter().all(|b| last.contains(b)) {
                continue;
            }
            last = section;
            let at = Moment::new(loads.len());
            let mut load = 0;
            for &b in section.iter().filter(|&&b| problem.sizes[b] > 0) {
                let span = &mut spans[b];
                if span.0 == span.1 {
                    *span = (at, at.next());
                } else if span.1 == at {
                    span.1 = at.next();
                } else {
                    return None;
                }
                load += problem.sizes[b];
            }
            loads.push(load);
        }
        let line = Line { spans, loads };
        line.tells_all(problem).then_some(line)
    }

    /// Returns true if all that conflict live at a common moment. (All that do conflict: sections are cliques.)
    fn tells_all(&self, problem: &Problem) -> bool {
        let moments = self.loads.len();
        // The numbers of buffers that have begun up to a moment, and that were over before it.
        let (mut begun, mut over) =
            (Vector::filled(0usize, moments + 1), Vector::filled(0usize, moments + 1));
        let sized = |b: Rank| problem.sizes[b] > 0;
        for &(from, to) in self.spans.iter().filter(|span| span.0 < span.1) {
            begun[from] += 1;
            over[to] += 1;
        }
        let (mut before, mut over_before) = (0, 0);
        for at in begun.ids() {
            begun[at] += before;
            over[at] += over_before;
            (before, over_before) = (begun[at], over[at]);
        }
        problem.sizes.ids().filter(|&b| sized(b)).all(|b| {
            let (from, to) = self.spans[b];
            let others = problem.conflicts.neighbours(b).filter(|&other| sized(other)).count();
            from < to && begun[to.before()] - over[from] == others + 1
        })
    }
}
