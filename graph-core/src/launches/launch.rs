//! The facts that launch decisions depend on: about launches as written, and about emitted kernel nodes.

use super::blocks::Blocks;
use super::decision::{Allowed, Chain};
use crate::ids::KernelId;
use crate::ir::StatementId;
use cuweave_ptx::coverage::{RangedValue, Region};
use std::sync::Arc;

/// The facts about a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The kernel.
    pub kernel: KernelId,
    /// The number of blocks in each dimension.
    pub grid: [u32; 3],
    /// The number of threads of a block in each dimension.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block, in bytes.
    pub shared: u32,
    /// The scalars that influence the trip counts of the kernel's loops. Launches of one kernel with equal grids
    /// and equal work are assumed to take equally long.
    pub work: Vec<u64>,
    /// The number of blocks of this kernel that are resident on the whole device at once.
    pub wave: u32,
    /// True if a setter may change the grid, other than as `ranged` says.
    pub grid_changes: bool,
    /// The values that sizes move. `grid` has the largest ones.
    pub ranged: Arc<RangedLaunch>,
    /// The batches that it may be in.
    pub batch: Batching,
    /// True if the loaded function begins with `griddepcontrol.wait`.
    pub waits: bool,
    /// True if it may follow another launch in a lane.
    pub lanes: bool,
    /// The chains that it may be in.
    pub fuse: Fusing,
    /// True if the kernel has no loop, no calls and few instructions.
    pub short: bool,
    /// A bound on its loop iterations.
    pub trip_count: TripCount,
    /// True if its chain may be stacked with others.
    pub stack: bool,
}

/// The values of a launch that sizes move. Launches are merged for all values of the sizes: values with one number are
/// assumed to be equal, and to stay within their range, which each set of a size checks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RangedLaunch {
    /// The number of blocks in each dimension. `None` if it does not move.
    pub grid: [Option<RangedValue>; 3],
    /// Scalar parameters, by index.
    pub scalars: Vec<(u32, RangedValue)>,
}

/// A bound on the loop iterations of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TripCount {
    /// The product of the scalars that bound them.
    AtMost(u64),
    /// No scalar is known to bound them, or the bounding scalar is not a plain number.
    Unknown,
    /// Values in memory may bound them.
    ByData,
}

/// How long a kernel runs, as far as it is known before it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KernelLength {
    /// Few instructions and no loop.
    Short,
    /// Loops with few iterations.
    Few,
    /// Loops with more iterations, or with an unknown number.
    Many,
    /// Loops whose number of iterations depends on values in memory.
    ByData,
}

impl Launch {
    /// Returns the length of the kernel. Up to `few` iterations count as few.
    pub fn length(&self, few: u64) -> KernelLength {
        match self.trip_count {
            _ if self.short => KernelLength::Short,
            TripCount::AtMost(turns) if turns <= few => KernelLength::Few,
            TripCount::AtMost(_) | TripCount::Unknown => KernelLength::Many,
            TripCount::ByData => KernelLength::ByData,
        }
    }

    /// Removes the transformations that its function does not allow.
    pub fn restrict(&mut self, allowed: Allowed) {
        if !allowed.batches {
            self.batch = Batching::Never;
        }
        self.waits &= allowed.overlap;
        self.lanes &= allowed.lanes;
        if !allowed.fuse {
            self.fuse = Fusing::Never;
        }
    }

    /// Returns true if the grids are equal, and remain so when sizes move them.
    pub fn has_grid_of(&self, other: &Launch) -> bool {
        self.grid == other.grid
            && self.ranged.grid == other.ranged.grid
            && !self.grid_changes
            && !other.grid_changes
    }

    /// Returns the number of blocks.
    pub fn blocks(&self) -> Blocks {
        Blocks::from_grid(self.grid)
    }

    /// Returns the number of threads.
    pub fn threads(&self) -> u64 {
        let extents = self.block.iter().chain(&self.grid).map(|&extent| u64::from(extent));
        extents.fold(1, u64::saturating_mul)
    }
}

/// The batches that a launch may be in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Batching {
    /// No batches.
    Never,
    /// Batches with a limited number of members.
    UpTo {
        /// The limit for equal grids, stacked along a free dimension of the grid.
        equal: u32,
        /// The limit for any grids, flattened: the blocks of all members are consecutive.
        flat: u32,
    },
}

/// The chains that a launch may be in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fusing {
    /// No chain.
    Never,
    /// No chain, because a setter may change the grid or block.
    Set,
    /// Chains with launches of the same grid. Where two of them touch the same bytes and one writes, only equal
    /// block indices may meet. The footprints are ignored for grids of one block.
    With(Arc<[BlockFootprint]>),
}

/// The memory that the blocks of a launch access through one buffer argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockFootprint {
    /// The offset of the pointer from the start of the buffer, in bytes. `None` if a setter may change it.
    pub at: Option<u64>,
    /// The bytes that each block may read.
    pub reads: Arc<Region>,
    /// The bytes that each block may write.
    pub writes: Arc<Region>,
}

/// The facts about an emitted kernel node: one launch, a batch, or a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeLaunch {
    /// The number of blocks.
    pub blocks: Blocks,
    /// The number of threads.
    pub threads: u64,
    /// The number of blocks of this kernel that are resident on the whole device at once.
    pub wave: u32,
    /// True if its function begins with `griddepcontrol.wait`.
    pub waits: bool,
}

impl NodeLaunch {
    /// A kernel with one thread that begins with `griddepcontrol.wait`.
    pub const SINGLE: NodeLaunch = NodeLaunch { blocks: Blocks::new(1), threads: 1, wave: 1, waits: true };

    /// Returns the facts about a chain. Its blocks are one member's blocks; for a stack, the sum over its chains.
    /// `None` if a member is not a launch.
    pub fn of_chain<'l>(
        chain: &Chain,
        launch: impl Fn(StatementId) -> Option<&'l Launch>,
    ) -> Option<NodeLaunch> {
        let all = NodeLaunch::of(chain.members.iter().map(|&member| launch(member)))?;
        let first = NodeLaunch::of(chain.chains().map(|members| launch(*members.first()?)))?;
        Some(NodeLaunch { wave: all.wave, waits: all.waits, ..first })
    }

    /// Returns the facts about a node, as a sum over its members: one launch or a batch. `None` if a member is not
    /// a launch.
    pub fn of<'l>(launches: impl IntoIterator<Item = Option<&'l Launch>>) -> Option<NodeLaunch> {
        let one = |launch: &Launch| NodeLaunch {
            blocks: launch.blocks(),
            threads: launch.threads(),
            wave: launch.wave,
            waits: launch.waits,
        };
        let mut launches = launches.into_iter();
        let first = one(launches.next()??);
        launches.try_fold(first, |all, launch| {
            let launch = one(launch?);
            Some(NodeLaunch {
                blocks: all.blocks + launch.blocks,
                threads: all.threads.saturating_add(launch.threads),
                wave: all.wave.min(launch.wave),
                waits: all.waits && launch.waits,
            })
        })
    }
}
