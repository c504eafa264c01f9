//! Data that all searches of one problem share.

use super::problem::Problem;
use crate::reach::set;

/// Lookup tables of a problem; made once, searched many times.
pub(super) struct Instance<'p> {
    pub problem: &'p Problem,
    /// For each buffer of some size the sections that it is in.
    pub sections_of: Vec<Vec<u32>>,
    /// For each buffer the others that conflict with the same buffers, apart from each other.
    pub twins: Vec<Vec<u32>>,
}

impl<'p> Instance<'p> {
    pub fn of(problem: &'p Problem) -> Instance<'p> {
        let mut sections_of = vec![Vec::new(); problem.sizes.len()];
        for (s, section) in problem.sections.iter().enumerate() {
            for &b in section.iter().filter(|&&b| problem.sizes[b as usize] > 0) {
                sections_of[b as usize].push(s as u32);
            }
        }
        Instance { problem, sections_of, twins: twins(problem) }
    }
}

fn twins(problem: &Problem) -> Vec<Vec<u32>> {
    let n = problem.sizes.len();
    let mut twins = vec![Vec::new(); n];
    let with_itself: Vec<Vec<u64>> = (0..n as u32)
        .map(|b| {
            let mut row = problem.conflicts.row(b).to_vec();
            set(&mut row, b);
            row
        })
        .collect();
    let key = |b: u32| (problem.aligns[b as usize], &with_itself[b as usize]);
    let mut order: Vec<u32> = (0..n as u32).filter(|&b| problem.sizes[b as usize] > 0).collect();
    order.sort_by(|&a, &b| key(a).cmp(&key(b)));
    for class in order.chunk_by(|&a, &b| key(a) == key(b)) {
        for &b in class {
            twins[b as usize] = class.iter().copied().filter(|&a| a != b).collect();
        }
    }
    twins
}
