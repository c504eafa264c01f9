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
//! | 96 different small kernels: blocks each | 8, 16, 32 and 96 side by side |
//! |---|---|
//! | 12 | 29.3, 27.1, 33.0, 80.1 us |
//! | 49 | 31.8, 31.8, 39.1, 86.0 us |
//! | 195 | 35.0, 35.0, 39.0, 85.6 us |
//! | 776 | 105.2, 105.7, 103.0, 95.1 us |
//!
//! Chains of 8 by 32 kernels of which each runs eight times as long as its neighbours, as what is in memory says: batched
//! level by level 1.46x with 4 blocks each and 1.95x with 64. So what data decides is batched only where all is waited for
//! together.

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
    // 195 blocks of 1,056 gain, and 776 lose.
    (blocks * 3 <= u64::from(wave)).then_some(16)
}

/// Branches are put in line where there are this many times as many as lines: up to there nothing was measured to gain.
pub const TOO_MANY: usize = 2;

/// An order between all of one set and all of another takes the product of their sizes in edges while it is planned; a
/// batch that needs more is not made.
pub const MOST_EDGES: usize = 1 << 18;

/// Whether so few threads may wait on the device for a grid as small. Chains of 500 and more, on an H200: one thread a
/// kernel 0.70x, against 0.88x by starts behind the producer's end; one block of 256 threads 0.81x to 0.85x against 0.81x;
/// 4 blocks nothing, and 4,096 lost 1.56x.
pub fn is_tiny(threads: u64) -> bool {
    threads <= 64
}
