//! Bit sets as rows of 64-bit words, and matrices of such rows.
//!
//! Loops over words use `while` and an index: in unoptimised builds, such as proc macros, that is several times
//! faster than an iterator.

use std::marker::PhantomData;

use crate::index::{Index, size};

/// The number of bits of a word.
pub const BITS: usize = 64;

/// Returns the number of words in a row for `count` indices.
#[must_use]
pub fn words(count: usize) -> usize {
    count.div_ceil(BITS)
}

/// Returns the word of an index, and its bit in that word.
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

/// Returns the index of the lowest set bit of `bits`, which must not be 0. `word` is the position of the word in
/// its row.
#[inline]
#[must_use]
pub fn lowest<I: Index>(word: usize, bits: u64) -> I {
    I::new(word * BITS + size(bits.trailing_zeros()))
}

/// Returns the index of the highest set bit of `bits`, which must not be 0. `word` is the position of the word in
/// its row.
#[inline]
#[must_use]
pub fn highest<I: Index>(word: usize, bits: u64) -> I {
    I::new(word * BITS + BITS - 1 - size(bits.leading_zeros()))
}

/// Returns the highest index in a row. `None` if the row is empty.
#[must_use]
pub fn last<I: Index>(row: &[u64]) -> Option<I> {
    let word = row.iter().rposition(|&word| word != 0)?;
    Some(highest(word, row[word]))
}

/// Returns the indices in a row, ascending.
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

/// Returns the size of the intersection of two rows.
#[must_use]
pub fn count_common(one: &[u64], other: &[u64]) -> usize {
    one.iter().zip(other).map(|(one, other)| size((one & other).count_ones())).sum()
}

/// `to |= from`, over the length of the shorter row.
pub fn or_into(to: &mut [u64], from: &[u64]) {
    let end = to.len().min(from.len());
    let mut i = 0;
    while i < end {
        to[i] |= from[i];
        i += 1;
    }
}

/// `to &= from`, over the length of the shorter row.
pub fn and_into(to: &mut [u64], from: &[u64]) {
    let end = to.len().min(from.len());
    let mut i = 0;
    while i < end {
        to[i] &= from[i];
        i += 1;
    }
}

/// Returns true if two rows intersect.
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

/// A matrix of bits, with one row for each index.
#[derive(Debug)]
pub struct Matrix<R> {
    words: usize,
    bits: Vec<u64>,
    rows: PhantomData<fn(R) -> R>,
}

impl<R: Index> Matrix<R> {
    /// Makes a zero matrix with `rows` rows of `columns` bits.
    #[must_use]
    pub fn new(rows: usize, columns: usize) -> Matrix<R> {
        let words = words(columns);
        Matrix::from_words(words, vec![0; rows * words])
    }

    /// Makes a matrix from rows of `words` words each, consecutive in `bits`.
    #[must_use]
    pub fn from_words(words: usize, bits: Vec<u64>) -> Matrix<R> {
        Matrix { words, bits, rows: PhantomData }
    }

    /// Returns the number of words in a row.
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

    /// Returns a mutable row.
    #[inline(always)]
    #[must_use]
    pub fn row_mut(&mut self, row: R) -> &mut [u64] {
        let from = row.index() * self.words;
        &mut self.bits[from..from + self.words]
    }

    /// Makes a square matrix symmetric: sets bit `r` of row `c` for each bit `c` of row `r`. All set bits must be
    /// in rows with a greater index than the bit's own. O(bits of the matrix / 64), and less for blocks without set
    /// bits.
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

/// Transposes a block of 64 x 64 bits: swaps its quarters, then the quarters of these, and so on.
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
