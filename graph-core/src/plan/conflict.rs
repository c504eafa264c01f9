//! The interference graph of the buffers: a symmetric bit matrix of the pairs that need disjoint bytes.

use crate::reach::{has, ones, set};

/// The pairs of buffers that may not share bytes. Symmetric; no buffer conflicts with itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflicts {
    n: usize,
    words: usize,
    rows: Vec<u64>,
}

impl Conflicts {
    /// `n` buffers without conflicts.
    #[must_use]
    pub fn none(n: usize) -> Conflicts {
        let words = n.div_ceil(64);
        Conflicts { n, words, rows: vec![0; n * words] }
    }

    /// Every two of the buffers of each clique conflict.
    #[must_use]
    pub fn of_cliques(n: usize, cliques: &[Vec<u32>]) -> Conflicts {
        let mut conflicts = Conflicts::none(n);
        let mut row = vec![0; conflicts.words];
        for clique in cliques {
            row.fill(0);
            clique.iter().for_each(|&b| set(&mut row, b));
            for &b in clique {
                crate::reach::or_into(conflicts.row_mut(b), &row);
            }
        }
        for b in 0..n as u32 {
            crate::reach::clear(conflicts.row_mut(b), b);
        }
        conflicts
    }

    /// The number of buffers.
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
    pub fn conflict(&self, a: u32, b: u32) -> bool {
        has(self.row(a), b)
    }

    /// Notes that `a` and `b`, two buffers, need disjoint bytes.
    pub fn add(&mut self, a: u32, b: u32) {
        set(self.row_mut(a), b);
        set(self.row_mut(b), a);
    }

    /// The buffers that `b` conflicts with, as bits.
    #[inline]
    #[must_use]
    pub fn row(&self, b: u32) -> &[u64] {
        &self.rows[b as usize * self.words..(b as usize + 1) * self.words]
    }

    pub(super) fn row_mut(&mut self, b: u32) -> &mut [u64] {
        &mut self.rows[b as usize * self.words..(b as usize + 1) * self.words]
    }

    /// The buffers that `b` conflicts with, rising.
    pub fn neighbours(&self, b: u32) -> impl Iterator<Item = u32> + '_ {
        ones(self.row(b))
    }

    /// Returns the number of buffers that `b` conflicts with.
    #[must_use]
    pub fn degree(&self, b: u32) -> u32 {
        self.row(b).iter().map(|word| word.count_ones()).sum()
    }
}
