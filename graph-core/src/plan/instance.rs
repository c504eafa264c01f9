//! Lookup tables that all searches of one problem share.

use super::indices::Rank;
use super::problem::Problem;
use crate::bits::set;
use crate::index::{Vector, ids, indices};

indices! {
    /// Index of a clique of a problem.
    pub(super) struct CliqueIndex;
    /// Index of a clique in the list of cliques of one buffer.
    pub(super) struct Membership;
}

/// The lookup tables of a problem.
pub(super) struct ProblemTables<'p> {
    pub problem: &'p Problem,
    /// The cliques of each buffer with nonzero size.
    pub cliques_of: Vector<Rank, Vector<Membership, CliqueIndex>>,
    /// The twins of each buffer: the buffers with equal alignment and equal closed neighbourhood in the
    /// interference graph.
    pub twins: Vector<Rank, Vec<Rank>>,
}

impl<'p> ProblemTables<'p> {
    pub fn new(problem: &'p Problem) -> ProblemTables<'p> {
        let mut cliques_of = Vector::filled(Vector::new(), problem.sizes.len());
        for (s, clique) in ids(problem.cliques.len()).zip(&problem.cliques) {
            for &b in clique.iter().filter(|&&b| problem.sizes[b] > 0) {
                cliques_of[b].push(s);
            }
        }
        ProblemTables { problem, cliques_of, twins: twins(problem) }
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
