//! What launching costs, as far as decisions need it. Every constant is measured.
//!
//! Measured on an H200 of 132 SMs (driver 580.159), launches of kernels of 256 threads, one wave = 1,056 blocks:
//!
//! | what | time against the best of all widths by hand |
//! |---|---|
//! | 16 branches of 5 between joins made one launch a level, 4 and 64 blocks a member | 0.38x |
//! | the same, 1,024 blocks a member | 0.76x |
//! | 96 tensors of mixed sizes flattened into one launch: 1,200 blocks in all; 4,700; 18,750 | 0.31x; 0.44x; 0.66x |
//! | the same, 74,000; 166,000 | 1.15x; 1.25x |
//!
//! | 96 small kernels side by side: blocks each | best width by hand | all 96 side by side against it |
//! |---|---|---|
//! | 12 | 16 | 2.7x |
//! | 49 | 16 | 2.6x |
//! | 195 | 32 | 1.8x |
//! | 776 | 96 | 1.0x |

/// A member of a batch fills the device once at most: a larger one gains little.
pub fn fits_a_batch(blocks: u64, wave: u32) -> bool {
    blocks <= u64::from(wave)
}

/// Flattened members pay for the search of each block: all of them are this many waves at most. 18,750 blocks gained, and
/// 74,000 lost.
const FLAT_WAVES: u64 = 32;

/// Whether so many blocks in all may be flattened.
pub fn fits_flat(blocks: u64, wave: u32) -> bool {
    blocks <= FLAT_WAVES * u64::from(wave)
}

/// How many branches run side by side at best, for the blocks of their largest kernel. `None` for as many as there are.
pub fn lines(blocks: u64, wave: u32) -> Option<usize> {
    let wave = u64::from(wave);
    match blocks {
        // 49 of 1,056 and 195 of 1,056 lie on either side.
        _ if blocks * 12 <= wave => Some(16),
        _ if blocks * 3 <= wave => Some(32),
        _ => None,
    }
}

/// Branches are put in line where there are this many times as many as lines: up to there nothing was measured to gain.
pub const TOO_MANY: usize = 2;

/// An order between all of one set and all of another takes the product of their sizes in edges while it is planned; a
/// batch that needs more is not made.
pub const MOST_EDGES: usize = 1 << 18;
