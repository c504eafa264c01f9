//! Data that all searches of one problem share.

use super::indices::Rank;
use super::problem::Problem;
use crate::bits::set;
use crate::index::{Vector, ids, indices};

indices! {
    /// Index of a section of a problem.
    pub(super) struct SectionIndex;
    /// Index of a section among those that a buffer is in.
    pub(super) struct Membership;
}

/// Lookup tables of a problem; made once, searched many times.
pub(super) struct Instance<'p> {
    pub problem: &'p Problem,
    /// For each buffer of some size the sections that it is in.
    pub sections_of: Vector<Rank, Vector<Membership, SectionIndex>>,
    /// For each buffer the others that conflict with the same buffers, apart from each other.
    pub twins: Vector<Rank, Vec<Rank>>,
}

impl<'p> Instance<'p> {
    pub fn of(problem: &'p Problem) -> Instance<'p> {
        let mut sections_of = Vector::filled(Vector::new(), problem.sizes.len());
        for (s, section) in ids(problem.sections.len()).zip(&problem.sections) {
            for &b in section.iter().filter(|&&b| problem.sizes[b] > 0) {
                sections_of[b].push(s);
            }
        }
        Instance { problem, sections_of, twins: twins(problem) }
    }
}

fn twins(problem: &Problem) -> Vector<Rank, Vec<Rank>> {
    let mut twins = Vector::filled(Vec::new(), problem.sizes.len());
    let with_itself: Vector<Rank, Vec<u64>> = problem
        .sizes
        .ids()
        .map(|b| {
            let mut row = problem.conflicts.row(b).to_vec();
            set(&mut row, b);
            row
        })
        .collect();
    let key = |b: Rank| (problem.aligns[b], &with_itself[b]);
    let mut order: Vec<Rank> = problem.sizes.ids().filter(|&b| problem.sizes[b] > 0).collect();
    order.sort_by(|&a, &b| key(a).cmp(&key(b)));
    for class in order.chunk_by(|&a, &b| key(a) == key(b)) {
        for &b in class {
            twins[b] = class.iter().copied().filter(|&a| a != b).collect();
        }
    }
    twins
}
