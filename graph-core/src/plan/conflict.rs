//! The interference graph of the buffers: a symmetric bit matrix of the pairs that need disjoint bytes.

use super::indices::Rank;
use crate::bits::{self, Matrix, clear, has, ones, or_into, set};
use crate::index::ids;

/// The pairs of buffers that must not share bytes. Symmetric; no buffer conflicts with itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflicts {
    n: usize,
    rows: Matrix<Rank>,
}

impl Conflicts {
    /// Makes a graph of `n` buffers without conflicts.
    #[must_use]
    pub fn none(n: usize) -> Conflicts {
        Conflicts { n, rows: Matrix::new(n, n) }
    }

    /// Makes a graph with a conflict between any two buffers of a clique.
    #[must_use]
    pub fn of_cliques(n: usize, cliques: &[Vec<Rank>]) -> Conflicts {
        let mut conflicts = Conflicts::none(n);
        let mut row = vec![0; conflicts.rows.words()];
        for clique in cliques {
            row.fill(0);
            clique.iter().for_each(|&b| set(&mut row, b));
            for &b in clique {
                or_into(conflicts.row_mut(b), &row);
            }
        }
        for b in ids(n) {
            clear(conflicts.row_mut(b), b);
        }
        conflicts
    }

    /// Makes a graph of `n` buffers from the conflicts of each buffer with lower ranks.
    pub(super) fn of_lower(n: usize, mut lower: Matrix<Rank>) -> Conflicts {
        lower.mirror();
        Conflicts { n, rows: lower }
    }

    /// Returns the number of buffers.
    #[must_use]
    pub fn len(&self) -> usize {
        self.n
    }

    /// Returns true if there are no buffers.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// Returns true if `a` and `b` need disjoint bytes.
    #[inline]
    #[must_use]
    pub fn conflict(&self, a: Rank, b: Rank) -> bool {
        has(self.row(a), b)
    }

    /// Adds a conflict of two different buffers.
    pub fn add(&mut self, a: Rank, b: Rank) {
        set(self.row_mut(a), b);
        set(self.row_mut(b), a);
    }

    /// Returns the buffers that `b` conflicts with, as bits.
    #[inline]
    #[must_use]
    pub fn row(&self, b: Rank) -> &[u64] {
        self.rows.row(b)
    }

    pub(super) fn row_mut(&mut self, b: Rank) -> &mut [u64] {
        self.rows.row_mut(b)
    }

    /// Returns the buffers that `b` conflicts with, ascending.
    pub fn neighbours(&self, b: Rank) -> impl Iterator<Item = Rank> + '_ {
        ones(self.row(b))
    }

    /// Returns the number of buffers that `b` conflicts with.
    #[must_use]
    pub fn degree(&self, b: Rank) -> usize {
        bits::count(self.row(b))
    }
}
