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

use super::Blocks;
use super::overlap::Run;

/// A member of a batch fills the device once at most: a larger one gains little.
pub fn fits_a_batch(blocks: Blocks, wave: u32) -> bool {
    blocks <= Blocks::from(wave)
}

/// Flattened members pay for the search of each block: all of them are this many waves at most. 18,750 blocks gained, and
/// 74,000 lost.
const FLAT_WAVES: u64 = 32;

/// Whether so many blocks in all may be flattened.
pub fn fits_flat(blocks: Blocks, wave: u32) -> bool {
    blocks <= Blocks::from(wave) * FLAT_WAVES
}

/// How many branches run side by side at best, for the blocks of their largest kernel. `None` for as many as there are.
pub fn lines(blocks: Blocks, wave: u32) -> Option<usize> {
    // 195 blocks of 1,056 gain, and 776 lose.
    (blocks * 3 <= Blocks::from(wave)).then_some(16)
}

/// Branches are put in line where there are this many times as many as lines: up to there nothing was measured to gain.
pub const TOO_MANY: usize = 2;

/// An order between all of one set and all of another takes the product of their sizes in edges while it is planned; a
/// batch that needs more is not made.
pub const MOST_EDGES: usize = 1 << 18;

/// Whether a kernel that runs alone may be launched when all blocks of the one before it have begun, instead of ended. Its
/// blocks then wait on the device. Behind a kernel that fills it they only come to lie where blocks have ended; behind
/// smaller ones they make the next ones lie unevenly. Chains, against full edges:
///
/// | kernels | blocks | when the one before has ended | when all its blocks have begun |
/// |---|---|---|---|
/// | an addition | 1,056; 2,112 | 1.03; 0.98 | 0.81; 0.90 |
/// | | 4,096; 16,384 | 0.98; 0.99 | 0.92; 0.97 |
/// | a loop of 100 turns | 1,056; 2,000; 4,096 | 0.92; 0.94; 0.96 | 0.89; 0.92; 0.95 |
/// | | 300 | 0.89 | 1.19 |
/// | a loop of 1,000 turns | 64; 300; 1,056 | 0.94; 0.97; 0.98 | 1.17; 1.50; 0.97 |
/// | a matrix-vector product | 128; 256; 512 | 0.91; 0.95; 0.99 | 1.47; 1.77; 0.99 |
/// | an addition | 1; 4; 16; 64 | 0.85; 0.83; 0.76; 0.79 | 0.83; 0.89; 0.77; 0.76 |
/// | | 264; 528 | 0.88; 0.99 | 0.79; 0.77 |
///
/// What an addition of 264 blocks gains, a stencil of as many loses (0.83 and 0.99). Tiny kernels, of one block of 32 and of
/// 64 threads, took 0.84 and 0.79; empty ones 0.88 and 0.70.
pub fn begins_behind_begun(first: Run, second: Run) -> bool {
    let is_tiny = |run: Run| run.threads <= 64;
    first.blocks >= Blocks::from(first.wave) || is_tiny(first) && is_tiny(second)
}

/// Whether early starts gain beside others; `blocks` are those of all that run at the same time. 4, 8, 16 and 32 chains of
/// brief kernels with up to a wave in all took 0.92, 0.99, 0.98 and 0.97. With more, 4 chains of 528 and of 1,056 blocks took
/// 1.04, 16 and 32 of 264 blocks 1.04 and 1.06. Kernels that are not brief took 1.00 there, and larger ones 0.99.
pub fn gains_beside_others(run: Run, blocks: Blocks) -> bool {
    let wave = Blocks::from(run.wave);
    !run.brief || blocks <= wave || run.blocks > wave
}

/// Whether chains are batched level by level at all, if nothing joins them between: `blocks` are those of a level, of so many
/// members. 4 chains with a wave in all, halved, take 1.04 of the time, 4 with two waves 1.08 (brief ones 1.06 to 1.10);
/// 8 take 0.95 and 1.00.
pub fn gains_in_line(members: usize, blocks: Blocks, wave: u32, brief: bool) -> bool {
    let waves = if brief { 2 } else { 1 };
    members >= 8 || blocks < Blocks::from(wave) * waves
}

/// Whether chains that are batched level by level, if nothing joins them between, are better batched in two halves. Chains
/// of 20 by 4, 8, 16 and 32 members, each starting early, against the best width by hand:
///
/// | kernels with a loop, 100 turns; members by blocks | in one | in halves |
/// |---|---|---|
/// | 8 by 16; 16 by 16; 32 by 16 | 0.72; 0.45; 0.30 | 0.73; 0.47; 0.29 |
/// | 4 by 66; 8 by 66; 16 by 66; 32 by 66 | 0.86; 0.86; 0.68; 0.59 | 0.84; 0.80; 0.59; 0.46 |
/// | 8 by 132; 16 by 132; 32 by 132 | 1.09; 1.03; 0.95 | 0.95; 0.80; 0.83 |
/// | 8 by 528; 16 by 528; 32 by 528 | 1.17; 1.09; 1.04 | 1.01; 1.01; 1.01 |
///
/// With 1,000 turns 8 by 66 1.19 in one and 0.98 in halves; of rows' dot products 8 by 132 0.98 and 0.92, 16 by 264 0.99 and
/// 0.85.
///
/// | brief kernels; members by blocks | in one | in halves |
/// |---|---|---|
/// | 8 by 16; 16 by 16; 32 by 4 | 0.63; 0.38; 0.21 | 0.64; 0.39; 0.21 |
/// | 8 by 66; 16 by 33; 32 by 33 | 0.72; 0.43; 0.29 | 0.68; 0.41; 0.27 |
/// | 8 by 132; 8 by 264; 16 by 132 | 0.86; 1.02; 0.62 | 0.78; 0.94; 0.59 |
/// | 8 by 528; 16 by 264; 32 by 264 | 0.98; 0.77; 0.68 | 1.04; 0.81; 0.69 |
///
/// Brief stencils in three dimensions, 12 by 128, 250, 432 and 1,024: 0.94, 0.93, 0.94, 1.03 in one, 0.84, 0.86, 0.88, 0.97
/// in halves; flattened, another 0.03 to 0.08 more.
pub fn gains_halved(blocks: Blocks, wave: u32, brief: bool, flat: bool) -> bool {
    let wave = Blocks::from(wave);
    blocks * 5 >= wave && (!brief || flat || blocks <= wave * 2)
}
