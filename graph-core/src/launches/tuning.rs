//! The constants of the launch decisions for each compute capability. Each is measured, or safe without a
//! measurement.

use std::collections::BTreeMap;

use super::blocks::Blocks;
use super::launch::{KernelLength, Launch, NodeLaunch};

/// A number of waves, as a fraction. A wave is the number of blocks of a kernel that are resident on the whole
/// device at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waves(pub u64, pub u64);

impl Waves {
    /// Returns true if `blocks` is at most this many waves.
    fn hold(self, blocks: Blocks, wave: u32) -> bool {
        blocks * self.1 <= Blocks::from(wave) * self.0
    }

    /// Returns true if concurrent grids are at most this many waves together. `grids` holds their blocks by the
    /// wave size of their kernels.
    fn hold_all(self, grids: &BTreeMap<u32, Blocks>) -> bool {
        let shares = grids.iter().map(|(&wave, blocks)| blocks.millionths(wave));
        let sum = shares.fold(0, u64::saturating_add);
        sum.saturating_mul(self.1) <= self.0.saturating_mul(1_000_000)
    }

    /// Returns true if `blocks` is less than this many waves.
    fn exceed(self, blocks: Blocks, wave: u32) -> bool {
        blocks * self.1 < Blocks::from(wave) * self.0
    }
}

/// The maximum number of kernels that a device runs at once (CUDA C++ Programming Guide, "maximum number of resident
/// grids per device").
pub const MAX_CONCURRENT: usize = 128;

/// The number of branches side by side for which the driver takes 2 MiB. For 9.0, more gain nothing if their kernels
/// are small and short: see [`Lanes`].
pub const FEW_BRANCHES: usize = 19;

/// More waves than any grid has.
const ABOVE_ALL_GRIDS: Waves = Waves(u64::MAX, 1);

/// The constants for one compute capability.
///
/// [`Tuning::for_capability`] returns measured constants, [`Tuning::default`] the constants for unmeasured devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// The maximum number of blocks of a flattened batch, in which each block has to search its member. For 9.0,
    /// times relative to the best hand-chosen width:
    ///
    /// | batch | time |
    /// |---|---|
    /// |96 tensors of mixed sizes flattened into one launch: 1,200 blocks in all; 4,700; 18,750 |0.31x; 0.44x; 0.66x |
    /// | the same, 74,000; 166,000 | 1.15x; 1.25x |
    pub flat: Waves,
    /// The minimum number of predecessors, and of successors, for which a batch is dropped if it saves no edge. For
    /// 9.0, 8 chains of alternating kernels and copies took 1.35 of the time when batched.
    pub crossing: usize,
    /// The longest run of batches that is dropped because it has several library calls before it and several after
    /// it. For 9.0, 8 chains of product, launches, product took 1.32 of the time with one batch between the
    /// products, and 1.27 with two (`library_calls.md`).
    pub between_calls: usize,
    /// The lanes of small branches that cannot be batched. `None` if branches are not serialised.
    pub lanes: Option<Lanes>,
    /// The limits for batches of unjoined chains.
    pub chains: ChainLimits,
    /// The maximum number of blocks of a batch whose members are not assumed to begin at the same time but are
    /// waited for together (`launches/joined.rs`). If 0, launches with unequal grids are not united either. For
    /// 9.0, a training step of 120 launches took 424.7 us in 92 nodes and 431.7 us in 115 nodes; its launch took
    /// 7.8 and 12.7 us on the host.
    pub late: Waves,
    /// The rules for programmatic edges.
    pub overlap: OverlapRules,
    /// The maximum number of launches fused into one kernel.
    pub fused: usize,
    /// The cost of batches whose kernel variant needs more registers.
    pub residency: Residency,
    /// The minimum ratio of the direct edges of a join to the edges of a hub, for the join to get a hub. The ratio
    /// is 4 at 8 x 8. For 9.0, a hub with one no-op kernel took 0.97 of the time of direct edges at 8 x 8, and 0.45
    /// at 128 x 128.
    pub hub: usize,
}

/// Lanes of serialised branches of short kernels (see [`Launch::short`](super::Launch::short)). Longer kernels would
/// wait for each other: for 9.0, 32 branches of 30 kernels with one block of 20,000 iterations took 2,983 us side by
/// side and 5,178 us in 16 lanes (benches/widths.rs). 96 different short kernels in 8, 16, 32 and 96 lanes:
///
/// | blocks each | time |
/// |---|---|
/// | 12 | 29.3, 27.1, 33.0, 80.1 us |
/// | 49 | 31.8, 31.8, 39.1, 86.0 us |
/// | 195 | 35.0, 35.0, 39.0, 85.6 us |
/// | 776 | 105.2, 105.7, 103.0, 95.1 us |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lanes {
    /// The maximum number of blocks of the largest kernel of a branch.
    pub kernel: Waves,
    /// The minimum number of lanes. For 9.0, branches with one and with four different kernels: from launch to sync,
    /// and the host time of the launch alone (benches/launches_waves.rs):
    ///
    /// | branches, blocks | side by side | 4 lanes | 6 | 8 | 10 | 16 |
    /// |---|---|---|---|---|---|---|
    /// | 12 of 1, 12 | 18.0, 9.7 us | 13.4, 3.5 | 14.1, 4.9 | 14.7, 6.2 | 16.5, 8.4 | |
    /// | 16 of 1, 12 | 20.3, 12.6 | 14.1, 3.6 | 14.1, 4.8 | 15.3, 6.2 | 15.8, 8.5 | |
    /// | 16 of 4, 195 | 28.7, 12.8 | 29.2, 3.7 | 27.8, 5.0 | 27.4, 6.3 | 28.2, 8.5 | |
    /// | 32 of 1, 195 | 35.4, 25.0 | 19.9, 3.7 | 19.3, 4.9 | 20.0, 6.2 | 20.5, 8.4 | 24.3, 12.5 |
    /// | 96 of 4, 195 | 123.2, 70.8 | 128.5, 3.6 | 113.3, 5.0 | 107.8, 6.2 | 108.4, 8.6 | 108.3, 13.0 |
    ///
    /// Each lane above eight costs the host 0.75 us for each launch.
    pub count: usize,
    /// The minimum number of branches to serialise. For 9.0, 12 branches with four kernels took
    /// 0.94 (12 blocks) and 0.98 (195 blocks) in 6 lanes.
    pub least: usize,
}

/// The limits for batches of unjoined chains, in which each level waits for its longest member.
///
/// Kernels whose duration depends on data are never batched in chains. For 9.0, chains of 8 by 32 kernels, each
/// running eight times as long as its neighbours, took 1.46x with 4 blocks each and 1.95x with 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainLimits {
    /// From this number of chains on, chains are batched for any number of blocks. For 9.0, relative to the
    /// launches as written: 8 chains with one wave in total, halved, take 0.95 of the time; with two waves 1.00.
    pub many: usize,
    /// Fewer chains are batched only if a level has fewer blocks than this. For 9.0, 4 chains with one wave in
    /// total, halved, take 1.04 of the time; with two waves 1.08.
    pub few: Waves,
    /// The minimum number of blocks of a level that is batched in two halves: while one half waits for its last
    /// blocks, the other has work. For 9.0, chains of 20 by 4, 8, 16 and 32 members, with programmatic edges,
    /// relative to the best hand-chosen width:
    ///
    /// | kernels with a loop, 100 iterations; members by blocks | in one | in halves |
    /// |---|---|---|
    /// | 8 by 16; 16 by 16; 32 by 16 | 0.72; 0.45; 0.30 | 0.73; 0.47; 0.29 |
    /// | 4 by 66; 8 by 66; 16 by 66; 32 by 66 | 0.86; 0.86; 0.68; 0.59 | 0.84; 0.80; 0.59; 0.46 |
    /// | 8 by 132; 16 by 132; 32 by 132 | 1.09; 1.03; 0.95 | 0.95; 0.80; 0.83 |
    /// | 8 by 528; 16 by 528; 32 by 528 | 1.17; 1.09; 1.04 | 1.01; 1.01; 1.01 |
    ///
    /// With 1,000 iterations: 8 by 66 take 1.19 in one and 0.98 in halves. Dot products of rows: 8 by 132 0.98 and
    /// 0.92, 16 by 264 0.99 and 0.85. Without a loop: 8 by 132 0.86 and 0.78, 8 by 264 1.02 and 0.94, 8 by 528 0.98
    /// and 1.04. Three-dimensional stencils: 12 by 128, 250, 432 and 1,024 take 0.94, 0.93, 0.94, 1.03 in one and
    /// 0.84, 0.86, 0.88, 0.97 in halves. 16 perceptrons of 4 layers with 512 blocks on a level: 25.6 us in one,
    /// 23.4 us in halves.
    pub halved: Waves,
    /// From this number of blocks on, a level with fewer chains than `many` is batched anyway, in halves. For 9.0,
    /// 4 chains of 2, 5, 10 and 20 kernels between joins, in halves, relative to programmatic edges alone
    /// (benches/launches_waves.rs):
    ///
    /// | waves of a level | rows of 256 weights | an addition | a loop of 200 iterations |
    /// |---|---|---|---|
    /// | 1 | 0.97, 0.99, 0.98, 0.96 | 0.91, 0.98, 0.97, 0.97 | 1.01, 1.02, 1.03, 1.05 |
    /// | 2 | 0.95, 0.96, 0.97, 0.98 | 0.95, 1.01, 1.01, 1.02 | 0.99, 1.00, 1.00, 1.01 |
    /// | 4 | 0.96, 0.94, 0.93, 0.93 | 0.96, 0.94, 0.93, 0.92 | 1.01, 1.00, 1.01, 1.01 |
    /// | 8 | 0.99, 0.98, 0.98, 0.98 | 0.89, 0.88, 0.88, 0.87 | 1.01, 1.01, 1.01, 1.01 |
    /// | 16 | 0.99, 0.99, 0.99, 0.99 | 0.94, 0.94, 0.93, 0.93 | 1.01, 1.01, 1.01, 1.01 |
    pub large: Waves,
    /// The maximum number of blocks of a level of chains with two kernels that are batched whole, for any number of
    /// chains. For 9.0, rows of 256 weights, an addition and a loop of 200 iterations, between joins. One wave for
    /// each level: 4 chains whole take 0.87, 0.73 and 0.93, in halves 0.96, 0.88 and 0.97; 16 chains whole 0.54,
    /// 0.36 and 0.65, in halves 0.60, 0.42 and 0.67. Two waves: 4 chains whole take 1.01, 0.85 and 1.01, in halves
    /// 0.95, 0.95 and 0.99; 16 chains whole 0.77, 0.46 and 0.88, in halves 0.73, 0.50 and 0.87.
    pub pairs: Waves,
    /// When each chain is fused into its own kernel instead. `None` if never.
    pub fused: Option<SideBySide>,
    /// When all chains are fused into one kernel instead. `None` if never.
    pub stacked: Option<Stacking>,
}

/// Unjoined chains that are fused, all into one kernel, instead of batched level by level. Chains that are fused in
/// any case are stacked too. For 9.0, rounds of chains between joins, in one kernel relative to batches
/// (benches/launches_waves.rs, `stacks`):
///
/// | waves of a level | chains, launches | an addition | 50 iterations | 200 | 400 | 1,000 |
/// |---|---|---|---|---|---|---|
/// | less than 1/4 | 4, 20; 16, 20 | 0.33 to 0.41 | 0.46 to 0.53 | 0.56 to 0.63 | 0.67 to 0.72 | 0.81 to 0.85 |
/// |1/4 |4, 2; 4, 5; 16, 5 |0.77; 0.44; 0.45 |0.83; 0.54; 0.54 |0.86; 0.63; 0.62 |0.88; 0.71; 0.70 |0.92; 0.83; 0.82 |
/// | 1/2 | 4, 5; 16, 5 | 0.47; 0.48 | 0.64; 0.62 | 0.79; 0.78 | 0.99; 0.99 | 1.04; 1.04 |
/// |1 |16, 2; 16, 5; 16, 20 |0.72; 0.47; 0.35 |0.86; 0.69; 0.63 |0.91; 0.93; 0.94 |0.94; 1.02; 1.04 |0.97; 1.05; 1.07 |
/// | 2; 4; 16 | 16, 5 | 0.45; 0.40; 0.35 | 0.84; 0.87; 0.87 | 0.96; 0.95; 0.95 | 0.99; 0.98; 0.97 | 1.01; 1.00; 0.99 |
///
/// With one kernel for each chain they take 0.27 to 1.89 of the time of the batches. That is more than one kernel
/// for all takes, except in three rows of additions on four or more waves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stacking {
    /// Up to this number of loop iterations count as few (see [`KernelLength::Few`]). Kernels with no more are stacked,
    /// whatever their blocks.
    pub few_iterations: u64,
    /// For other kernels: the maximum number of blocks of all concurrent chains on a level (see
    /// [`SideBySide::short`]).
    pub long: Waves,
    /// From this number of blocks on, such chains are stacked again, since all multiprocessors have enough work.
    pub full: Waves,
}

/// Unjoined chains that are fused, each into its own kernel, instead of batched level by level. For 9.0, relative
/// to two launches for each level, or one where that is the rule (benches/launches_waves.rs, `lengths`; the last
/// rows benches/launches_*.rs):
///
/// | waves of a level | chains, launches | an addition | 50 iterations | 200 iterations | 1,000 iterations |
/// |---|---|---|---|---|---|
/// | 1/4 | 8, 6; 8, 8; 8, 12 | 1.04; 1.06; 0.86 | 1.08; 1.06; 0.87 | 1.00; 1.06; 0.95 | |
/// | 1/2 | | 0.99; 0.95; 0.86 | 1.01; 0.95; 0.85 | 1.00; 1.09; 1.05 | |
/// | 1 | | 0.86; 0.89; 0.73 | 0.92; 0.91; 0.86 | 1.07; 1.03; 1.03 | |
/// | 1/3 | 16, 6; 16, 8; 16, 12 | 1.41; 1.30; 1.09 | 1.28; 1.52; 1.15 | 1.26; 1.25; 1.16 | |
/// | 1 | | 1.09; 1.14; 0.92 | 1.13; 1.12; 0.98 | 1.12; 1.15; 1.12 | |
/// | less than 1/4 | 8, 32; 8, 64 | 0.35; 0.33 | | | 0.91 |
/// | 1/4; 1/2 | 4, 20 | | 0.62 (100 iterations) | | ; 1.10 |
/// | 1/2 | 8, 32 | | | | 1.08 |
/// | 1/2, every other chain a step ahead of the others | 8, 32 | | | | 1.055 |
///
/// The blocks of a fused chain stay on their multiprocessors, some of which have more blocks than others. Longer
/// kernels get slower by that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SideBySide {
    /// The minimum number of levels, as a multiple of the chains.
    pub levels: Waves,
    /// For short kernels (see [`Launch::short`](super::Launch::short)): the maximum number of blocks of all
    /// concurrent chains on a level. Long and short launches on one level are in different batches, but occupy the
    /// device together.
    pub short: Waves,
    /// The same for other kernels.
    pub long: Waves,
}

/// The rules for programmatic edges from a kernel to its only dependent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverlapRules {
    /// True if kernels that share their level with others get programmatic edges. For 9.0, 4, 8, 16 and 32 chains
    /// with up to one wave in total took 0.92, 0.99, 0.98 and 0.97 of the time. 38 graphs of real programs took
    /// 0.98 on average and 1.00 at most.
    pub beside_others: bool,
    /// When the launch-order port is used. `None` if never: a dependent then starts when its predecessor has ended.
    pub launch_order: Option<LaunchOrder>,
}

/// When an edge leaves by the launch-order port: a dependent alone on its level is launched once all blocks of its
/// producer have started, and its blocks wait on the device. After a producer that fills the device, they take the
/// slots of blocks that have ended. After a smaller producer, they are distributed unevenly over the SMs. So the
/// port is used if the producer fills the device, or if both kernels are tiny. For 9.0, chains, relative to full
/// edges:
///
/// | kernels | blocks | launched when the producer has ended | when all its blocks have begun |
/// |---|---|---|---|
/// | an addition | 1,056; 2,112 | 1.03; 0.98 | 0.81; 0.90 |
/// | | 4,096; 16,384 | 0.98; 0.99 | 0.92; 0.97 |
/// | a loop of 100 iterations | 1,056; 2,000; 4,096 | 0.92; 0.94; 0.96 | 0.89; 0.92; 0.95 |
/// | | 300 | 0.89 | 1.19 |
/// | a loop of 1,000 iterations | 64; 300; 1,056 | 0.94; 0.97; 0.98 | 1.17; 1.50; 0.97 |
/// | a matrix-vector product | 128; 256; 512 | 0.91; 0.95; 0.99 | 1.47; 1.77; 0.99 |
/// | an addition | 1; 4; 16; 64 | 0.85; 0.83; 0.76; 0.79 | 0.83; 0.89; 0.77; 0.76 |
/// | | 264; 528 | 0.88; 0.99 | 0.79; 0.77 |
///
/// Between these sizes, an addition of 264 blocks gains and a stencil of 264 blocks loses (0.83 and 0.99).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchOrder {
    /// The minimum number of blocks of a kernel that fills the device.
    pub full: Waves,
    /// The maximum number of threads of a tiny kernel. For 9.0, kernels with one block of 32 and of 64 threads took
    /// 0.84 and 0.79 of the time; empty ones 0.88 and 0.70.
    pub tiny: u64,
}

/// The cost of lost occupancy and spilled registers, in thousandths of the run time of the blocks.
///
/// One more wave costs its share. For 9.0, chains of launches whose dynamic shared memory leaves room for fewer
/// blocks, relative to 16 blocks on a multiprocessor:
///
/// | rows of 2,048 weights, waves | 15 | 14 | 12 | 10 | 8 |
/// |---|---|---|---|---|---|
/// | 0.5 | 1.00 | 0.98 | 0.98 | 0.98 | 1.00 |
/// | 0.75 | 1.00 | 1.00 | 1.00 | 1.79 | 1.79 |
/// | 1 | 1.66 | 1.65 | 1.65 | 1.65 | 1.69 |
/// | 1.5 | 1.00 | 1.01 | 1.03 | 1.38 | 1.43 |
/// | 4 | 1.16 | 1.16 | 1.34 | 1.53 | 1.77 |
///
/// At 1.5 waves both times, rows of 256 weights took 1.00, 1.03 and 1.08 with 15, 14 and 12 of 16 blocks. An
/// addition and loops of 20 and 200 iterations took 1.03, 1.03 and 1.00 with 7 of 8 blocks, and 1.04, 1.04 and 1.01
/// with 6.
///
/// Kernels with fewer registers than ptxas gives them, with one wave and four (occupancy did not fall):
///
/// | kernel | registers | bytes of local memory | time |
/// |---|---|---|---|
/// | tiles of 8 x 8 for each thread, 96 registers | 92, 88, 84 | 0 | 1.01 and 0.98, 1.07 and 1.01, 1.11 and 1.13 |
/// | | 80, 72, 64 | 48, 96, 136 | 1.54 and 1.77, 2.52 and 2.72, 3.37 and 3.61 |
/// | 48 loads in flight, 56 registers | 52, 48, 40 | 16, 80, 160 | 1.02, 1.46, 2.99 (one wave) |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Residency {
    /// The cost of each hundredth of the needed blocks that is missing, if the number of waves stays the same.
    pub lost: u32,
    /// The cost of each hundredth of registers below the number that the variant takes without a limit.
    pub squeezed: u32,
    /// The cost of each byte of local memory that the plain kernel does not need.
    pub spilled: u32,
    /// The maximum acceptable cost of a batch with one wave; for several waves, divided by their number. For 9.0,
    /// batches with one wave in total gain at least 0.13 of the time of the launches as written, with two waves
    /// 0.08, with four 0.05, with eight 0.01.
    pub most: u32,
}

/// When chains are fused on compute capability 9.0.
const FUSED: SideBySide = SideBySide { levels: Waves(2, 1), short: Waves(1, 1), long: Waves(1, 4) };

/// When chains are stacked on compute capability 9.0.
const STACKED: Stacking = Stacking { few_iterations: 256, long: Waves(1, 4), full: Waves(4, 1) };

/// Compute capability 9.0, measured on an H200 with 132 SMs, driver 580.159, with kernels of 256 threads. One wave
/// is 1,056 blocks.
const HOPPER: Tuning = Tuning {
    flat: Waves(32, 1),
    crossing: 2,
    between_calls: 2,
    lanes: Some(Lanes { kernel: Waves(1, 3), count: 8, least: 12 }),
    chains: ChainLimits {
        many: 8,
        few: Waves(1, 1),
        halved: Waves(1, 5),
        large: Waves(4, 1),
        pairs: Waves(1, 1),
        fused: Some(FUSED),
        stacked: Some(STACKED),
    },
    late: Waves(1, 1),
    overlap: OverlapRules {
        beside_others: true,
        launch_order: Some(LaunchOrder { full: Waves(1, 1), tiny: 64 }),
    },
    fused: 32,
    residency: Residency { lost: 2, squeezed: 5, spilled: 10, most: 100 },
    hub: 4,
};

impl Default for Tuning {
    /// Returns the constants for unmeasured devices: only rules without a device threshold. Launches with equal
    /// grids are batched if they are joined, or if a level of their chains leaves most of the device free. A kernel
    /// alone on its level gets a programmatic edge, and wide joins get hubs. Nothing is flattened or serialised,
    /// and no kernel starts before its producer has ended.
    fn default() -> Tuning {
        Tuning {
            flat: Waves(0, 1),
            crossing: 2,
            between_calls: usize::MAX,
            lanes: None,
            chains: ChainLimits {
                many: usize::MAX,
                few: Waves(1, 5),
                halved: Waves(1, 5),
                large: ABOVE_ALL_GRIDS,
                pairs: Waves(0, 1),
                fused: None,
                stacked: None,
            },
            late: Waves(0, 1),
            overlap: OverlapRules { beside_others: false, launch_order: None },
            fused: 32,
            residency: Residency { lost: 10, squeezed: 10, spilled: 10, most: 0 },
            hub: 4,
        }
    }
}

impl Tuning {
    /// Returns the constants for a compute capability (major, minor).
    #[must_use]
    pub fn for_capability(capability: (u32, u32)) -> Tuning {
        match capability {
            (9, 0) => HOPPER,
            _ => Tuning::default(),
        }
    }

    /// Returns true if launches with `blocks` blocks in total can be flattened into one.
    pub fn fits_flat(&self, blocks: Blocks, wave: u32) -> bool {
        self.flat.hold(blocks, wave)
    }

    /// Returns true if launches with `blocks` blocks in total that begin at different times can be batched.
    pub fn fits_late(&self, blocks: Blocks, wave: u32) -> bool {
        self.late.hold(blocks, wave)
    }

    /// Returns the number of lanes for branches of short kernels, the largest of which has `blocks` blocks. `None` if
    /// they run concurrently. Lanes are filled evenly, with at least the measured number of lanes.
    pub fn lanes_of(&self, branches: usize, blocks: Blocks, wave: u32) -> Option<usize> {
        let lanes = self.lanes.filter(|lanes| lanes.kernel.hold(blocks, wave) && branches >= lanes.least)?;
        Some(branches.div_ceil((branches / lanes.count.max(1)).max(2)))
    }

    /// Returns the number of branches side by side beyond which more gain less than a hundredth of the time, for
    /// branches with such a kernel. Small kernels that are not short may run long, so they gain until they fill the
    /// device.
    pub fn concurrent(&self, launch: NodeLaunch, is_short: bool) -> usize {
        let is_small = self.lanes.is_some_and(|lanes| lanes.kernel.hold(launch.blocks, launch.wave));
        match (is_small, is_short) {
            (false, _) => MAX_CONCURRENT,
            (true, true) => FEW_BRANCHES,
            (true, false) => {
                let fill = 1_000_000u64.div_ceil(launch.blocks.millionths(launch.wave).max(1));
                usize::try_from(fill).unwrap_or(MAX_CONCURRENT).clamp(FEW_BRANCHES, MAX_CONCURRENT)
            }
        }
    }

    /// Returns true if unjoined chains are batched level by level. `blocks` is the number of blocks of a level.
    pub fn gains_in_chains(&self, members: usize, blocks: Blocks, wave: u32) -> bool {
        members >= self.chains.many || self.chains.few.exceed(blocks, wave)
    }

    /// Returns true if even few unjoined chains are batched, in halves. `blocks` is the number of blocks of a
    /// level.
    pub fn gains_large(&self, blocks: Blocks, wave: u32) -> bool {
        self.chains.large != ABOVE_ALL_GRIDS && !self.chains.large.exceed(blocks, wave)
    }

    /// Returns true if unjoined chains with two launches are batched whole. `blocks` is the number of blocks of a
    /// level.
    pub fn gains_in_pairs(&self, blocks: Blocks, wave: u32) -> bool {
        self.chains.pairs.0 > 0 && self.chains.pairs.hold(blocks, wave)
    }

    /// Returns true if unjoined chains are fused instead of batched level by level. `grids` holds the blocks of all
    /// concurrent chains on a level, by the wave size of their kernels. `short` is true if all these kernels are
    /// short.
    pub fn gains_by_fusing(
        &self,
        levels: usize,
        chains: usize,
        short: bool,
        grids: &BTreeMap<u32, Blocks>,
    ) -> bool {
        let wide = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        self.chains.fused.is_some_and(|fused| {
            let Waves(over, under) = fused.levels;
            let long_enough = wide(levels).saturating_mul(under) >= wide(chains).saturating_mul(over);
            long_enough && if short { fused.short } else { fused.long }.hold_all(grids)
        })
    }

    /// Returns the length of a launch.
    pub fn length_of(&self, launch: &Launch) -> KernelLength {
        launch.length(self.chains.stacked.map_or(0, |stacked| stacked.few_iterations))
    }

    /// Returns true if unjoined chains are stacked instead of batched level by level. `grids` is as for
    /// [`Tuning::gains_by_fusing`]; `length` is the length of the longest kernel.
    pub fn gains_by_stacking(&self, length: KernelLength, grids: &BTreeMap<u32, Blocks>) -> bool {
        self.chains.stacked.is_some_and(|stacked| {
            length <= KernelLength::Few || stacked.long.hold_all(grids) || !stacked.full.hold_all(grids)
        })
    }

    /// Returns true if concurrent chains get slower by fusing. `grids` and `length` are as for
    /// [`Tuning::gains_by_stacking`]. For 9.0, 8 chains with 64 blocks whose duration depends on data take 1.054 of
    /// the time as written with one kernel for each chain, and 1.060 with one for all. Their blocks stay on
    /// multiprocessors, some of which have more of the long ones.
    pub fn loses_by_fusing(&self, length: KernelLength, grids: &BTreeMap<u32, Blocks>) -> bool {
        length == KernelLength::ByData
            && self.chains.stacked.is_some()
            && !self.gains_by_stacking(length, grids)
    }

    /// Returns true if batches of unjoined chains are halved. `blocks` is the number of blocks of a level.
    pub fn gains_halved(&self, blocks: Blocks, wave: u32) -> bool {
        !self.chains.halved.exceed(blocks, wave)
    }

    /// Returns true if the edge between two kernels, each alone on its level, leaves by the launch-order port.
    pub fn uses_launch_order(&self, first: NodeLaunch, second: NodeLaunch) -> bool {
        let Some(LaunchOrder { full, tiny }) = self.overlap.launch_order else { return false };
        !full.exceed(first.blocks, first.wave) || first.threads <= tiny && second.threads <= tiny
    }

    /// Returns true if a join of `from` predecessors with `to` successors gets a hub.
    pub fn gains_by_hub(&self, from: usize, to: usize) -> bool {
        from.saturating_mul(to) >= self.hub.saturating_mul(from.saturating_add(to))
    }
}
