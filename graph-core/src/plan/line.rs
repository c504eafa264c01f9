//! Buffers on a line: where time is one after the other, each lives from one moment to another.
//!
//! That is so of traces, and of graphs whose nodes form a chain. The sections are then what is live at the moments at
//! which most is, and every buffer is in some that follow one another.

use super::problem::{Problem, common_divisor};

/// When buffers live, in moments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// For each buffer its first moment, and the first one after its last; two equal ones where it has no size.
    pub spans: Vec<(u32, u32)>,
    /// The bytes that live at each moment.
    pub loads: Vec<u64>,
}

impl Line {
    /// The line of a problem, if it has one and offsets need no care for alignment.
    pub fn of(problem: &Problem) -> Option<Line> {
        let n = problem.sizes.len();
        let grain = problem.sizes.iter().copied().fold(0, common_divisor);
        if problem.aligns.iter().any(|&align| !grain.is_multiple_of(align)) {
            return None;
        }
        let latest = |section: &Vec<u32>| section.iter().map(|&b| problem.begins[b as usize]).max();
        let mut sections: Vec<&Vec<u32>> = problem.sections.iter().collect();
        sections.sort_by_cached_key(|section| (latest(section), std::cmp::Reverse(section.len())));
        let mut spans = vec![(0u32, 0u32); n];
        let mut loads = Vec::new();
        let mut last: &[u32] = &[];
        for section in sections {
            if section.iter().all(|b| last.contains(b)) {
                continue;
            }
            last = section;
            let at = loads.len() as u32;
            let mut load = 0;
            for &b in section.iter().filter(|&&b| problem.sizes[b as usize] > 0) {
                let span = &mut spans[b as usize];
                if span.0 == span.1 {
                    *span = (at, at + 1);
                } else if span.1 == at {
                    span.1 = at + 1;
                } else {
                    return None;
                }
                load += problem.sizes[b as usize];
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
        let (mut begun, mut over) = (vec![0usize; moments + 1], vec![0usize; moments + 1]);
        let sized = |b: u32| problem.sizes[b as usize] > 0;
        for &(from, to) in self.spans.iter().filter(|span| span.0 < span.1) {
            begun[from as usize] += 1;
            over[to as usize] += 1;
        }
        for at in 1..=moments {
            begun[at] += begun[at - 1];
            over[at] += over[at - 1];
        }
        (0..problem.sizes.len() as u32).filter(|&b| sized(b)).all(|b| {
            let (from, to) = self.spans[b as usize];
            let others = problem.conflicts.neighbours(b).filter(|&other| sized(other)).count();
            from < to && begun[to as usize - 1] - over[from as usize] == others + 1
        })
    }
}
