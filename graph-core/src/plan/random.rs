//! Pseudo-random numbers that are the same on every machine.

use crate::index::wide;

/// The xorshift64* generator.
pub(super) struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Returns a number below `end`, which must not be 0.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let below = (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % wide(end);
        usize::try_from(below).unwrap_or(0)
    }
}
