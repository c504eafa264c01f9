//! A strict order on buffers, derived from the order of the nodes: which buffer is over before another begins.
//!
//! `b` is before `c` iff everything that the free of `b` waits for strictly precedes everything that comes after the
//! alloc of `c`. Two buffers may share bytes iff one is before the other. Buffers are numbered by *rank* inside, an
//! order in which whatever is before comes first, so that rows of bits end early.

use super::conflict::Conflicts;
use super::problem::BufferIx;
use crate::reach::{Reach, clear_all, has, ones, or_into, set};

/// A buffer and its users, which are nodes of a [`Reach`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Buffer {
    /// Its bytes.
    pub size: u64,
    /// The alignment of its offset: not 0.
    pub align: u64,
    /// Every node that reads or writes it. Without users it needs no bytes.
    pub users: Vec<u32>,
    /// Nodes that do not use it, but have to come after its alloc.
    pub after_alloc: Vec<u32>,
    /// Nodes that do not use it, but that its free has to come after.
    pub before_free: Vec<u32>,
    /// True if it stays allocated when the graph is over, as outputs do: no later buffer takes its bytes.
    pub stays: bool,
}

/// The order of the buffers.
#[derive(Clone, Debug)]
pub struct BufferOrder {
    /// The minimal nodes that come after the alloc of each buffer, sorted.
    pub births: Vec<Vec<u32>>,
    /// The maximal nodes that the free of each buffer waits for, sorted.
    pub ends: Vec<Vec<u32>>,
    by_rank: Vec<BufferIx>,
    rank: Vec<u32>,
    words: usize,
    /// Row `r`: the ranks of the buffers that are before the one of rank `r`.
    before: Vec<u64>,
}

impl BufferOrder {
    /// The order of `buffers` whose users are nodes of `reach`.
    ///
    /// # Panics
    ///
    /// If a node is not one of `reach`'s.
    ///
    /// # Complexity
    ///
    /// O(reduced edges × buffers / 64) time and O(nodes × buffers / 8) bytes.
    #[must_use]
    pub fn of(reach: &Reach, buffers: &[Buffer]) -> BufferOrder {
        let n = buffers.len();
        let minimal = |buffer: &Buffer| match buffer.users[..] {
            [] => Vec::new(),
            _ => reach.minimal(&[&buffer.users[..], &buffer.after_alloc].concat()),
        };
        let maximal = |buffer: &Buffer| match buffer.users[..] {
            [] => Vec::new(),
            _ => reach.maximal(&[&buffer.users[..], &buffer.before_free].concat()),
        };
        let births: Vec<Vec<u32>> = buffers.iter().map(minimal).collect();
        let ends: Vec<Vec<u32>> = buffers.iter().map(maximal).collect();
        let first = |b: u32| births[b as usize].iter().map(|&v| reach.positions()[v as usize]).min();
        let mut by_rank: Vec<u32> = (0..n as u32).collect();
        by_rank.sort_by_key(|&b| first(b));
        let mut rank = vec![0; n];
        for (r, &b) in by_rank.iter().enumerate() {
            rank[b as usize] = r as u32;
        }
        let words = n.div_ceil(64);

        // Buffers that are over once a node is done; and those that need several nodes, where these first meet.
        let mut over_after = vec![Vec::new(); reach.len()];
        let mut over_at = vec![Vec::new(); reach.len()];
        for b in 0..n {
            match ends[b][..] {
                _ if buffers[b].stays => {}
                [] => {}
                [end] => over_after[end as usize].push(rank[b]),
                _ => reach
                    .first_common_descendants(&ends[b])
                    .into_iter()
                    .for_each(|v| over_at[v as usize].push(rank[b])),
            }
        }
        // Row v: the buffers that are over before node v begins.
        let mut over = vec![0u64; reach.len() * words];
        let mut row = vec![0u64; words];
        for &v in reach.topological() {
            row.fill(0);
            for &p in &reach.reduced()[v as usize] {
                or_into(&mut row, &over[p as usize * words..(p as usize + 1) * words]);
                over_after[p as usize].iter().for_each(|&r| set(&mut row, r));
            }
            over_at[v as usize].iter().for_each(|&r| set(&mut row, r));
            over[v as usize * words..(v as usize + 1) * words].copy_from_slice(&row);
        }
        let mut before = vec![0u64; n * words];
        for (r, &b) in by_rank.iter().enumerate() {
            let Some((&first, rest)) = births[b as usize].split_first() else {
                continue;
            };
            let to = &mut before[r * words..(r + 1) * words];
            to.copy_from_slice(&over[first as usize * words..(first as usize + 1) * words]);
            for &v in rest {
                crate::reach::and_into(to, &over[v as usize * words..(v as usize + 1) * words]);
            }
        }
        BufferOrder { births, ends, by_rank, rank, words, before }
    }

    /// The number of buffers.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rank.len()
    }

    /// Returns true if there are no buffers.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rank.is_empty()
    }

    /// Returns true if `b` is over before `c` begins.
    #[must_use]
    pub fn before(&self, b: BufferIx, c: BufferIx) -> bool {
        has(self.row(self.rank[c as usize]), self.rank[b as usize])
    }

    /// Returns the buffers that are over before `c` begins, by rank.
    pub fn all_before(&self, c: BufferIx) -> impl Iterator<Item = BufferIx> + '_ {
        ones(self.row(self.rank[c as usize])).map(|r| self.by_rank[r as usize])
    }

    /// Returns the maximal buffers that are over before `c` begins: those that are before no other of them.
    #[must_use]
    pub fn just_before(&self, c: BufferIx) -> Vec<BufferIx> {
        self.reduced(self.rank[c as usize]).into_iter().map(|r| self.by_rank[r as usize]).collect()
    }

    /// Returns the buffers, each after all that are before it.
    #[must_use]
    pub fn by_rank(&self) -> &[BufferIx] {
        &self.by_rank
    }

    /// Returns the index of each buffer in [`BufferOrder::by_rank`].
    #[must_use]
    pub fn ranks(&self) -> &[u32] {
        &self.rank
    }

    /// Who needs disjoint bytes, by rank.
    pub(super) fn conflicts(&self) -> Conflicts {
        let n = self.len();
        let after = self.after_rows();
        let mut conflicts = Conflicts::none(n);
        let mut all = vec![0u64; self.words];
        let used = |r: u32| !self.births[self.by_rank[r as usize] as usize].is_empty();
        (0..n as u32).filter(|&r| used(r)).for_each(|r| set(&mut all, r));
        for r in (0..n as u32).filter(|&r| used(r)) {
            let row = conflicts.row_mut(r);
            row.copy_from_slice(&all);
            clear_all(row, self.row(r));
            clear_all(row, &after[r as usize * self.words..(r as usize + 1) * self.words]);
            crate::reach::clear(row, r);
        }
        conflicts
    }

    /// Rows by rank: the ranks of the buffers that begin after the one of rank `r` is over.
    pub(super) fn after_rows(&self) -> Vec<u64> {
        transpose(&self.before, self.len(), self.words)
    }

    /// The ranks that come right before rank `r`.
    pub(super) fn reduced(&self, r: u32) -> Vec<u32> {
        let mut left = self.row(r).to_vec();
        let mut reduced = Vec::new();
        let mut word = self.words;
        while word > 0 {
            if left[word - 1] == 0 {
                word -= 1;
                continue;
            }
            let last = (word as u32 - 1) * 64 + 63 - left[word - 1].leading_zeros();
            reduced.push(last);
            crate::reach::clear(&mut left, last);
            clear_all(&mut left[..word], &self.row(last)[..word]);
        }
        reduced.reverse();
        reduced
    }

    fn row(&self, r: u32) -> &[u64] {
        &self.before[r as usize * self.words..(r as usize + 1) * self.words]
    }
}

/// The transpose of `n` rows of `n` bits, block by block.
fn transpose(rows: &[u64], n: usize, words: usize) -> Vec<u64> {
    let mut out = vec![0u64; n * words];
    let mut block = [0u64; 64];
    for i in 0..words {
        for j in 0..words {
            let mut any = 0;
            for (k, word) in block.iter_mut().enumerate() {
                *word = if i * 64 + k < n { rows[(i * 64 + k) * words + j] } else { 0 };
                any |= *word;
            }
            if any == 0 {
                continue;
            }
            // Swaps ever smaller quarters.
            let mut width = 32;
            let mut mask = 0xffff_ffffu64;
            while width > 0 {
                let mut k = 0;
                while k < 64 {
                    let swapped = ((block[k] >> width) ^ block[k + width]) & mask;
                    block[k] ^= swapped << width;
                    block[k + width] ^= swapped;
                    k = (k + width + 1) & !width;
                }
                width /= 2;
                mask ^= mask << width;
            }
            for (k, word) in block.iter().enumerate().take(n.saturating_sub(j * 64)) {
                out[(j * 64 + k) * words + i] = *word;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::testing::{graphs, is_before};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn before_is_its_definition((preds, buffers) in graphs(24, 80)) {
            let reach = Reach::of(&preds).unwrap();
            let order = BufferOrder::of(&reach, &buffers);
            let conflicts = order.conflicts();
            for b in 0..buffers.len() as u32 {
                for c in 0..buffers.len() as u32 {
                    let expected = is_before(&reach, &buffers[b as usize], &buffers[c as usize]);
                    prop_assert_eq!(order.before(b, c), expected, "{} {}", b, c);
                    let apart = b == c
                        || expected
                        || order.before(c, b)
                        || buffers[b as usize].users.is_empty()
                        || buffers[c as usize].users.is_empty();
                    let ranks = (order.ranks()[b as usize], order.ranks()[c as usize]);
                    prop_assert_eq!(conflicts.conflict(ranks.0, ranks.1), !apart);
                }
                let before: Vec<u32> = order.all_before(b).collect();
                let just: Vec<u32> = before
                    .iter()
                    .copied()
                    .filter(|&x| !before.iter().any(|&y| order.before(x, y)))
                    .collect();
                prop_assert_eq!(order.just_before(b), just);
            }
        }
    }
}
