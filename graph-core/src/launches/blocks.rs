//! Block counts with saturating arithmetic: a grid has up to 2^63 blocks, and decisions add and multiply the counts
//! of several grids.

use std::iter::Sum;
use std::ops::{Add, Mul};

/// The maximum number of blocks in the first dimension of a grid.
pub const MAX_GRID_BLOCKS: u32 = i32::MAX.unsigned_abs();

/// A number of blocks. Sums and products saturate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Blocks(u64);

impl Blocks {
    /// Makes a block count.
    #[must_use]
    pub const fn new(count: u64) -> Blocks {
        Blocks(count)
    }

    /// Returns the number of blocks in a grid.
    #[must_use]
    pub fn from_grid(grid: [u32; 3]) -> Blocks {
        grid.into_iter().fold(Blocks(1), |blocks, extent| blocks * u64::from(extent))
    }
}

impl Blocks {
    /// Returns the maximum number of blocks on one of `multiprocessors`, if all blocks are resident and evenly
    /// spread.
    #[must_use]
    pub fn max_per_multiprocessor(self, multiprocessors: u32) -> u32 {
        let multiprocessors = Blocks::from(multiprocessors.max(1));
        (1..64).find(|&count| multiprocessors * u64::from(count) >= self).unwrap_or(u32::MAX)
    }

    /// Returns the share of each of `count` multiprocessors, rounded up. `None` if it exceeds `u32`.
    #[must_use]
    pub fn share(self, count: u32) -> Option<u32> {
        (count > 0).then(|| self.0.div_ceil(u64::from(count))).and_then(|share| u32::try_from(share).ok())
    }
}

impl Blocks {
    /// Returns the number of waves in millionths, rounded down, for waves of `wave` blocks.
    #[must_use]
    pub fn millionths(self, wave: u32) -> u64 {
        (self * 1_000_000).0.checked_div(u64::from(wave)).unwrap_or(u64::MAX)
    }
}

impl From<u32> for Blocks {
    fn from(count: u32) -> Blocks {
        Blocks(u64::from(count))
    }
}

impl Add for Blocks {
    type Output = Blocks;
    fn add(self, other: Blocks) -> Blocks {
        Blocks(self.0.saturating_add(other.0))
    }
}

impl Mul<u64> for Blocks {
    type Output = Blocks;
    fn mul(self, times: u64) -> Blocks {
        Blocks(self.0.saturating_mul(times))
    }
}

impl Sum for Blocks {
    fn sum<I: Iterator<Item = Blocks>>(all: I) -> Blocks {
        all.fold(Blocks(0), Blocks::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launches::launch::NodeLaunch;
    use crate::launches::tuning::Tuning;

    #[test]
    fn grids_of_every_size_are_counted_and_added_up() {
        assert_eq!(Blocks::from_grid([2, 3, 4]), Blocks::new(24));
        assert_eq!(Blocks::from_grid([0, u32::MAX, u32::MAX]), Blocks::new(0));
        assert_eq!(Blocks::from_grid([u32::MAX; 3]), Blocks::new(u64::MAX));
        let largest = Blocks::from_grid([0x7fff_ffff, 65535, 65535]);
        assert_eq!([largest; 3].into_iter().sum::<Blocks>(), Blocks::new(u64::MAX));
    }

    /// One edge of a hub replaces four edges: from 8 x 8 on, and never if one side is a single operation.
    #[test]
    fn hubs_replace_four_edges_each() {
        let tuning = Tuning::default();
        for (from, to, gains) in
            [(8, 8, true), (7, 9, false), (5, 20, true), (4, 1_000, false), (1, 64, false)]
        {
            assert_eq!(tuning.gains_by_hub(from, to), gains, "{from} x {to}");
            assert_eq!(tuning.gains_by_hub(to, from), gains, "{to} x {from}");
        }
        let never = Tuning { hub: usize::MAX, ..tuning };
        assert!(!never.gains_by_hub(1 << 20, 1 << 20));
    }

    /// No grid or device makes a rule overflow, and limits are monotone in the number of blocks.
    #[test]
    fn costs_have_no_extremes() {
        let counts =
            [0, 1, 4, 195, 1056, 1 << 31, 1 << 62, 1 << 63, u64::MAX / 3 + 1, u64::MAX / 5 + 1, u64::MAX];
        let tunings = [Tuning::default(), Tuning::for_capability((9, 0))];
        for (tuning, wave) in
            tunings.iter().flat_map(|tuning| [0, 1, 1056, u32::MAX].map(|wave| (tuning, wave)))
        {
            let mut before = (true, true);
            for count in counts {
                let blocks = Blocks::new(count);
                let fits = (tuning.fits_flat(blocks, wave), tuning.lanes_of(64, blocks, wave).is_some());
                assert!(fits.0 <= before.0 && fits.1 <= before.1, "{count} of {wave}");
                before = fits;
                tuning.gains_halved(blocks, wave);
                tuning.gains_in_chains(2, blocks, wave);
                tuning.gains_large(blocks, wave);
                tuning.gains_in_pairs(blocks, wave);
                let run = NodeLaunch { blocks, threads: count, wave, waits: true };
                tuning.uses_launch_order(run, run);
            }
        }
    }
}
