//! Bit rows that share equal blocks.
//!
//! A row is a list of blocks of 512 bits. It is made from earlier rows: a block that equals one of theirs is
//! shared, not copied. In a chain of n nodes, where each row has one bit more than the one before, a row takes one
//! block and n / 1024 block numbers on average, instead of n / 64 words. Rows without common blocks take the same
//! space as plain rows, plus these numbers.

use std::marker::PhantomData;

use crate::bits::{BITS, clear, highest, lowest, words};
use crate::index::{Index, narrow, size};

/// The number of words of a block.
const BLOCK: usize = 8;

/// The words of a block.
type Block = [u64; BLOCK];

/// The number of the empty block.
const EMPTY: u32 = 0;

/// A row of bits for each index. Each row is filled once.
#[derive(Clone, Debug)]
pub struct SharedRows<R> {
    /// The number of words of a row.
    words: usize,
    blocks: Vec<Block>,
    /// Block numbers of all rows, in the order of filling. A row ends at its last block with bits.
    table: Vec<u32>,
    /// The range of each row in the table.
    places: Vec<(usize, usize)>,
    rows: PhantomData<fn(R) -> R>,
}

impl<R: Index> SharedRows<R> {
    /// Makes `rows` empty rows for `columns` indices.
    #[must_use]
    pub fn new(rows: usize, columns: usize) -> SharedRows<R> {
        let mut blocks = Vec::with_capacity(rows + 1);
        blocks.push([0; BLOCK]);
        let places = vec![(0, 0); rows];
        SharedRows { words: words(columns), blocks, table: Vec::new(), places, rows: PhantomData }
    }

    /// Returns a row.
    #[inline]
    #[must_use]
    pub fn row(&self, row: R) -> Row<'_> {
        let (from, to) = self.places[row.index()];
        Row { words: self.words, table: &self.table[from..to], blocks: &self.blocks }
    }

    /// Returns an empty row to fill. Rows that use it as a source must be filled later.
    pub fn fill(&mut self, row: R) -> RowBuilder<'_, R> {
        let (own, from) = (narrow(self.blocks.len()), self.table.len());
        self.places[row.index()] = (from, from);
        RowBuilder { rows: self, row: row.index(), from, own }
    }
}

/// The row that is being filled, at the end of the table.
#[derive(Debug)]
pub struct RowBuilder<'r, R> {
    rows: &'r mut SharedRows<R>,
    row: usize,
    /// The start of the row in the table.
    from: usize,
    /// Blocks with this number or a higher one belong only to this row.
    own: u32,
}

impl<R: Index> RowBuilder<'_, R> {
    /// Returns true if bit `at` is set.
    #[must_use]
    pub fn has<I: Index>(&self, at: I) -> bool {
        let SharedRows { words, table, blocks, .. } = &*self.rows;
        Row { words: *words, table: &table[self.from..], blocks }.has(at)
    }

    /// Sets bit `at`.
    pub fn set<I: Index>(&mut self, at: I) {
        let (word, bit) = (at.index() / BITS, at.index() % BITS);
        let SharedRows { table, blocks, .. } = &mut *self.rows;
        let nth = self.from + word / BLOCK;
        if nth >= table.len() {
            table.resize(nth + 1, EMPTY);
        }
        let mut block = blocks[size(table[nth])];
        block[word % BLOCK] |= 1 << bit;
        put(blocks, &mut table[nth], self.own, block);
        self.end();
    }

    /// Adds the bits of another row. O(columns / 512) if blocks are shared, else O(columns / 64).
    pub fn or(&mut self, other: R) {
        let (from, to) = self.rows.places[other.index()];
        let common = (to - from).min(self.rows.table.len() - self.from);
        self.combine(from, common, |one| one == EMPTY, |other| other == EMPTY, |one, other| one | other);
        self.rows.table.extend_from_within(from + common..to);
        self.end();
    }

    /// Clears the bits that the other row does not have.
    pub fn and(&mut self, other: R) {
        let (from, to) = self.rows.places[other.index()];
        let common = (to - from).min(self.rows.table.len() - self.from);
        self.rows.table.truncate(self.from + common);
        self.combine(from, common, |_| false, |_| false, |one, other| one & other);
        self.end();
    }

    fn end(&mut self) {
        self.rows.places[self.row] = (self.from, self.rows.table.len());
    }

    /// Combines the first `count` blocks by `by` with blocks of an earlier row, which begin at `other` in the
    /// table. `taken` and `left` decide without comparing bits: `taken` returns true if the result is the other
    /// block, given the number of the own block; `left` returns true if the result is the own block, given the
    /// number of the other one.
    #[inline(always)]
    fn combine(
        &mut self,
        other: usize,
        count: usize,
        taken: impl Fn(u32) -> bool,
        left: impl Fn(u32) -> bool,
        by: impl Fn(u64, u64) -> u64,
    ) {
        let SharedRows { table, blocks, .. } = &mut *self.rows;
        let (earlier, table) = table.split_at_mut(self.from);
        for (own, &other) in table[..count].iter_mut().zip(&earlier[other..other + count]) {
            if *own == other || left(other) {
                continue;
            }
            if taken(*own) {
                *own = other;
                continue;
            }
            let (a, b) = (&blocks[size(*own)], &blocks[size(other)]);
            let mut block = *a;
            let mut word = 0;
            while word < BLOCK {
                block[word] = by(a[word], b[word]);
                word += 1;
            }
            if block == *b {
                *own = other;
            } else if block != *a {
                put(blocks, own, self.own, block);
            }
        }
    }
}

/// Stores a block of a row. Blocks with number `own` or higher belong only to this row and are overwritten.
fn put(blocks: &mut Vec<Block>, place: &mut u32, own: u32, block: Block) {
    if *place >= own {
        blocks[size(*place)] = block;
    } else {
        *place = narrow(blocks.len());
        blocks.push(block);
    }
}

/// A row of bits.
#[derive(Clone, Copy, Debug)]
pub struct Row<'r> {
    words: usize,
    table: &'r [u32],
    blocks: &'r [Block],
}

impl<'r> Row<'r> {
    /// Returns true if bit `at` is set.
    #[inline]
    #[must_use]
    pub fn has<I: Index>(self, at: I) -> bool {
        let (word, bit) = (at.index() / BITS, at.index() % BITS);
        self.block(word / BLOCK)[word % BLOCK] >> bit & 1 == 1
    }

    /// Returns a block. The block is empty after the last one with bits.
    #[inline]
    fn block(self, nth: usize) -> &'r Block {
        &self.blocks[self.table.get(nth).map_or(0, |&number| size(number))]
    }

    /// Returns the maximal indices of the row, descending. `rows` returns the row of predecessors of an index,
    /// which contains only lower indices. An index is maximal if it is in no row of the indices found before.
    /// O(columns / 512) if blocks are shared, else O(found × columns / 64).
    pub fn maximal<I: Index>(self, rows: impl Fn(I) -> Row<'r>) -> Vec<I> {
        let mut found: Vec<I> = Vec::new();
        for (nth, &number) in self.table.iter().enumerate().rev() {
            if number == EMPTY || found.iter().any(|&one| rows(one).table.get(nth) == Some(&number)) {
                continue;
            }
            let mut left = *self.block(nth);
            let less = |left: &mut Block, one: I| {
                left.iter_mut().zip(rows(one).block(nth)).for_each(|(left, less)| *left &= !less);
            };
            found.iter().for_each(|&one| less(&mut left, one));
            while let Some(word) = left.iter().rposition(|&bits| bits != 0) {
                let last: I = highest(nth * BLOCK + word, left[word]);
                found.push(last);
                clear(&mut left, I::new(last.index() - nth * BLOCK * BITS));
                less(&mut left, last);
            }
        }
        found
    }

    /// Returns the nonzero words, each with its position in the row, ascending.
    pub fn words(self) -> impl Iterator<Item = (usize, u64)> + 'r {
        let numbers = self.table.iter().enumerate().filter(|&(_, &number)| number != EMPTY);
        numbers
            .flat_map(move |(nth, &number)| {
                let block = &self.blocks[size(number)];
                block.iter().enumerate().map(move |(word, &bits)| (nth * BLOCK + word, bits))
            })
            .filter(|&(_, bits)| bits != 0)
    }

    /// Returns the indices of the row, ascending.
    pub fn ones<I: Index>(self) -> impl Iterator<Item = I> + 'r {
        let mut words = self.words();
        let (mut word, mut left) = (0, 0);
        std::iter::from_fn(move || {
            if left == 0 {
                (word, left) = words.next()?;
            }
            let at = lowest(word, left);
            left &= left - 1;
            Some(at)
        })
    }

    /// Returns true if the row intersects a row of the same length.
    #[must_use]
    pub fn meets(self, row: &[u64]) -> bool {
        self.words().any(|(word, bits)| bits & row[word] != 0)
    }

    /// Calls `each` with the words of `to` and of this row at the same positions, from word `from` on, over the
    /// length of the shorter row. Skips empty blocks if `empty` is false.
    #[inline(always)]
    fn zip(self, to: &mut [u64], from: usize, empty: bool, each: impl Fn(&mut u64, u64)) {
        let end = self.words.min(to.len());
        let mut nth = from / BLOCK;
        while nth * BLOCK < end {
            let number = self.table.get(nth).copied().unwrap_or(EMPTY);
            if empty || number != EMPTY {
                let block = &self.blocks[size(number)];
                let mut word = (nth * BLOCK).max(from);
                let behind = end.min((nth + 1) * BLOCK);
                while word < behind {
                    each(&mut to[word], block[word % BLOCK]);
                    word += 1;
                }
            }
            nth += 1;
        }
    }

    /// `to |= self`, over the length of the shorter row.
    pub fn or_into(self, to: &mut [u64]) {
        self.zip(to, 0, false, |to, bits| *to |= bits);
    }

    /// `to &= self`, over the length of the shorter row.
    pub fn and_into(self, to: &mut [u64]) {
        self.zip(to, 0, true, |to, bits| *to &= bits);
    }

    /// `to &= !self` from word `from` on, over the length of the shorter row.
    pub fn clear_from(self, to: &mut [u64], from: usize) {
        self.zip(to, from, false, |to, bits| *to &= !bits);
    }

    /// `to = from & !self`. `to` must be empty. Zero words are not written, so that untouched pages stay untouched.
    pub fn copy_less_to(self, from: &[u64], to: &mut [u64]) {
        for (nth, words) in from.chunks(BLOCK).enumerate() {
            let block = self.block(nth);
            for (word, (from, less)) in words.iter().zip(block).enumerate() {
                if from & !less != 0 {
                    to[nth * BLOCK + word] = from & !less;
                }
            }
        }
    }

    /// Returns the row as words.
    #[must_use]
    pub fn to_vec(self) -> Vec<u64> {
        let mut row = vec![0; self.words];
        self.or_into(&mut row);
        row
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::{ones, set};
    use crate::reach::Position;
    use proptest::prelude::*;

    /// A step of filling a row: set a bit, or combine with an earlier row.
    #[derive(Clone, Debug)]
    enum Step {
        Set(usize),
        Or(usize),
        And(usize),
    }

    fn steps() -> impl Strategy<Value = Vec<Vec<Step>>> {
        let step = prop_oneof![
            4 => (0..1500usize).prop_map(Step::Set),
            4 => (0..1000usize).prop_map(Step::Or),
            1 => (0..1000usize).prop_map(Step::And),
        ];
        proptest::collection::vec(proptest::collection::vec(step, 0..6), 1..80)
    }

    proptest! {
        #[test]
        fn rows_hold_what_plain_ones_hold(rows in steps()) {
            let columns = 1500;
            let mut shared: SharedRows<Position> = SharedRows::new(rows.len(), columns);
            let mut plain: Vec<Vec<u64>> = Vec::new();
            for (nth, steps) in rows.iter().enumerate() {
                let mut filling = shared.fill(Position::new(nth));
                let mut row = vec![0u64; words(columns)];
                for step in steps {
                    match *step {
                        Step::Set(at) => {
                            set(&mut row, Position::new(at));
                            filling.set(Position::new(at));
                            prop_assert!(filling.has(Position::new(at)));
                        }
                        Step::Or(other) if nth > 0 => {
                            row.iter_mut().zip(&plain[other % nth]).for_each(|(to, from)| *to |= from);
                            filling.or(Position::new(other % nth));
                        }
                        Step::And(other) if nth > 0 => {
                            row.iter_mut().zip(&plain[other % nth]).for_each(|(to, from)| *to &= from);
                            filling.and(Position::new(other % nth));
                        }
                        Step::Or(_) | Step::And(_) => {}
                    }
                }
                plain.push(row);
            }
            for (nth, row) in plain.iter().enumerate() {
                let here = shared.row(Position::new(nth));
                prop_assert_eq!(&here.to_vec(), row);
                let indices: Vec<Position> = ones(row).collect();
                prop_assert_eq!(&here.ones().collect::<Vec<Position>>(), &indices);
                prop_assert!(
                    (0..columns).all(|at| here.has(Position::new(at)) == indices.contains(&Position::new(at)))
                );
                let other = &plain[(nth * 7 + 3) % plain.len()];
                prop_assert_eq!(here.meets(other), row.iter().zip(other).any(|(one, other)| one & other != 0));
                let mut both = other.clone();
                here.and_into(&mut both);
                prop_assert!(both.iter().zip(row).zip(other).all(|((both, one), other)| *both == one & other));
                let mut copy = vec![0; words(columns)];
                here.copy_less_to(other, &mut copy);
                prop_assert!(copy.iter().zip(row).zip(other).all(|((copy, one), other)| *copy == other & !one));
                let mut less = other.clone();
                here.clear_from(&mut less, 9);
                prop_assert_eq!(&less[..9], &other[..9]);
                let (less, one, other) = (&less[9..], &row[9..], &other[9..]);
                prop_assert!(less.iter().zip(one).zip(other).all(|((less, one), other)| *less == other & !one));
            }
        }
    }

    /// A chain takes one block for each row.
    #[test]
    fn chains_share_their_blocks() {
        let n = 5_000;
        let mut rows: SharedRows<Position> = SharedRows::new(n, n);
        for at in 1..n {
            let mut row = rows.fill(Position::new(at));
            row.or(Position::new(at - 1));
            row.set(Position::new(at - 1));
        }
        assert!(rows.blocks.len() <= n);
        assert!(rows.row(Position::new(n - 1)).ones::<Position>().count() == n - 1);
    }
}
