//! Sets of indices as rows of bits, 64 to a word, and matrices of such rows.
//!
//! Loops over words stand on `while` and an index: without optimisation, as in a proc macro, that is several times
//! faster than an iterator.

use std::marker::PhantomData;

use crate::index::{Index, size};

/// The bits of a word.
pub const BITS: usize = 64;

/// Returns the words of a row for `count` indices.
#[must_use]
pub fn words(count: usize) -> usize {
    count.div_ceil(BITS)
}

/// Returns the word and the bit in it that stand for an index.
#[inline(always)]
fn place<I: Index>(at: I) -> (usize, u64) {
    let at = at.index();
    (at / BITS, 1 << (at % BITS))
}

/// Returns true if bit `at` is set.
#[inline]
#[must_use]
pub fn has<I: Index>(row: &[u64], at: I) -> bool {
    let at = at.index();
    row[at / BITS] >> (at % BITS) & 1 == 1
}

/// Sets bit `at`.
#[inline]
pub fn set<I: Index>(row: &mut [u64], at: I) {
    let (word, bit) = place(at);
    row[word] |= bit;
}

/// Clears bit `at`.
#[inline]
pub fn clear<I: Index>(row: &mut [u64], at: I) {
    let (word, bit) = place(at);
    row[word] &= !bit;
}

/// Returns the index of the lowest bit of a word, which is not 0. `word` is the word's place in its row.
#[inline]
#[must_use]
pub fn lowest<I: Index>(word: usize, bits: u64) -> I {
    I::new(word * BITS + size(bits.trailing_zeros()))
}

/// Returns the index of the highest bit of a word, which is not 0. `word` is the word's place in its row.
#[inline]
#[must_use]
pub fn highest<I: Index>(word: usize, bits: u64) -> I {
    I::new(word * BITS + BITS - 1 - size(bits.leading_zeros()))
}

/// Returns the last index of a row.
#[must_use]
pub fn last<I: Index>(row: &[u64]) -> Option<I> {
    let word = row.iter().rposition(|&word| word != 0)?;
    Some(highest(word, row[word]))
}

/// Returns the indices of a row, rising.
pub fn ones<I: Index>(row: &[u64]) -> impl Iterator<Item = I> + '_ {
    let mut word = 0;
    let mut left = row.first().copied().unwrap_or(0);
    std::iter::from_fn(move || {
        while left == 0 {
            word += 1;
            left = *row.get(word)?;
        }
        let at = lowest(word, left);
        left &= left - 1;
        Some(at)
    })
}

/// Returns the number of indices in a row.
#[must_use]
pub fn count(row: &[u64]) -> usize {
    row.iter().map(|word| size(word.count_ones())).sum()
}

/// Returns the number of indices that two rows have in common.
#[must_use]
pub fn count_common(one: &[u64], other: &[u64]) -> usize {
    one.iter().zip(other).map(|(one, other)| size((one & other).count_ones())).sum()
}

/// `to |= from`, over the length of the shorter.
pub fn or_into(to: &mut [u64], from: &[u64]) {
    let end = to.len().min(from.len());
    let mut i = 0;
    while i < end {
        to[i] |= from[i];
        i += 1;
    }
}

/// `to &= from`, over the length of the shorter.
pub fn and_into(to: &mut [u64], from: &[u64]) {
    let end = to.len().min(from.len());
    let mut i = 0;
    while i < end {
        to[i] &= from[i];
        i += 1;
    }
}

/// Returns true if two rows have a bit in common.
#[must_use]
pub fn meet(one: &[u64], other: &[u64]) -> bool {
    let end = one.len().min(other.len());
    let mut i = 0;
    while i < end {
        if one[i] & other[i] != 0 {
            return true;
        }
        i += 1;
    }
    false
}

/// A row of bits for each index of one kind.
#[derive(Debug)]
pub struct Matrix<R> {
    words: usize,
    bits: Vec<u64>,
    rows: PhantomData<fn(R) -> R>,
}

impl<R: Index> Matrix<R> {
    /// Makes a matrix of `rows` rows for `columns` indices each, without any bit set.
    #[must_use]
    pub fn new(rows: usize, columns: usize) -> Matrix<R> {
        let words = words(columns);
        Matrix::from_words(words, vec![0; rows * words])
    }

    /// Makes a matrix of rows of `words` words each, one after the other in `bits`.
    #[must_use]
    pub fn from_words(words: usize, bits: Vec<u64>) -> Matrix<R> {
        Matrix { words, bits, rows: PhantomData }
    }

    /// Returns the words of a row.
    #[must_use]
    pub fn words(&self) -> usize {
        self.words
    }

    /// Returns a row.
    #[inline(always)]
    #[must_use]
    pub fn row(&self, row: R) -> &[u64] {
        let from = row.index() * self.words;
        &self.bits[from..from + self.words]
    }

    /// Returns a row, to change it.
    #[inline(always)]
    #[must_use]
    pub fn row_mut(&mut self, row: R) -> &mut [u64] {
        let from = row.index() * self.words;
        &mut self.bits[from..from + self.words]
    }

    /// Sets bit `r` of row `c` for each bit `c` of row `r`, in a square matrix all bits of which are in rows above their own index:
    /// makes it symmetric. O(bits of the matrix / 64), and less for the parts without any.
    pub fn mirror(&mut self) {
        let Matrix { words, bits, .. } = self;
        let words = *words;
        let rows = bits.len().checked_div(words).unwrap_or(0);
        let mut block = [0u64; BITS];
        for i in 0..words {
            for j in 0..=i {
                let mut any = 0;
                for (k, word) in block.iter_mut().enumerate() {
                    *word = if i * BITS + k < rows { bits[(i * BITS + k) * words + j] } else { 0 };
                    any |= *word;
                }
                if any == 0 {
                    continue;
                }
                transpose(&mut block);
                for (k, word) in block.iter().enumerate().take(rows.saturating_sub(j * BITS)) {
                    bits[(j * BITS + k) * words + i] |= *word;
                }
            }
        }
    }
}

/// Transposes a block of 64 rows of 64 bits by swapping quarters of halved size.
fn transpose(block: &mut [u64; BITS]) {
    let mut width = BITS / 2;
    let mut mask = 0xffff_ffffu64;
    while width > 0 {
        let mut k = 0;
        while k < BITS {
            let swapped = ((block[k] >> width) ^ block[k + width]) & mask;
            block[k] ^= swapped << width;
            block[k + width] ^= swapped;
            k = (k + width + 1) & !width;
        }
        width /= 2;
        mask ^= mask << width;
    }
}

impl<R> Clone for Matrix<R> {
    fn clone(&self) -> Matrix<R> {
        Matrix { words: self.words, bits: self.bits.clone(), rows: PhantomData }
    }
}

impl<R> PartialEq for Matrix<R> {
    fn eq(&self, other: &Matrix<R>) -> bool {
        (self.words, &self.bits) == (other.words, &other.bits)
    }
}

impl<R> Eq for Matrix<R> {}
