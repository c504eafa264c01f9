//! A launch: its entry, arguments, options and outcome.

use super::fault::Fault;
use super::grid::BlockBox;
use super::program::Program;

/// A launch of an entry.
#[derive(Clone, Copy)]
pub struct Launch<'a> {
    /// The code.
    pub program: &'a Program,
    /// The index of the entry in [`Program::entries`].
    pub entry: usize,
    /// The number of blocks in each dimension.
    pub grid: [u32; 3],
    /// The number of threads of a block in each dimension.
    pub block: [u32; 3],
    /// Dynamic shared memory in bytes.
    pub dynamic_shared: u32,
    /// The bytes of the parameter space, laid out as in `Entry::parameters`.
    pub parameters: &'a [u8],
    /// The addresses of [`Program::variables`], in order.
    pub variables: &'a [u64],
}

/// The options of a run.
#[derive(Clone, Copy, Debug)]
pub struct RunOptions {
    /// The blocks that run; `None` for the whole grid.
    pub blocks: Option<BlockBox>,
    /// The maximum number of instructions per thread.
    pub limit: u64,
    /// The number of host threads; `None` for one per core.
    pub threads: Option<usize>,
    /// The seed of the order of blocks and of the warps in a block; 0 for ascending order.
    pub seed: u64,
    /// The maximum local memory of a thread in bytes, for its frames and its stack.
    pub stack: u32,
    /// True if reading unwritten bytes is a fault.
    pub initialised: bool,
    /// True if the launch is cooperative: its blocks may wait for the whole grid.
    pub cooperative: bool,
    /// True if conflicts between threads are detected.
    pub conflicts: bool,
    /// True if the launch may begin before its prerequisite grids have ended. Then threads wait for them at
    /// `griddepcontrol.wait`, and the flags of earlier accesses are shifted by `PRE_WAIT` in the shadow.
    pub dependent: bool,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            blocks: None,
            limit: 1 << 32,
            threads: None,
            seed: 0,
            stack: 512 << 10,
            initialised: true,
            cooperative: false,
            conflicts: true,
            dependent: false,
        }
    }
}

impl RunOptions {
    /// The blocks of a launch that run.
    pub(super) fn blocks_of(&self, launch: &Launch) -> BlockBox {
        self.blocks.unwrap_or(BlockBox { from: [0; 3], extent: launch.grid })
    }
}

/// The outcome of a launch.
#[derive(Clone, Debug, Default)]
pub struct RunOutcome {
    /// The number of instructions executed, summed over threads.
    pub instructions: u64,
    /// Unordered accesses of two warps to the same bytes of which one is a write, and reads of unwritten shared
    /// memory. At most one of each kind per line.
    pub conflicts: Vec<Fault>,
    /// True if a thread executed `griddepcontrol.wait` in a launch that may begin before its prerequisite grids
    /// have ended.
    pub waited: bool,
    /// The instructions that touched global memory before that wait.
    pub pre_wait: Vec<PreWait>,
}

/// An instruction that touched global memory before its block's `griddepcontrol.wait`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreWait {
    /// The line in the PTX.
    pub line: u32,
    /// The lowest address accessed.
    pub from: u64,
    /// The end of the highest access.
    pub to: u64,
}

impl RunOutcome {
    /// Adds the outcome of a part of the launch.
    pub(super) fn add(&mut self, part: RunOutcome) {
        self.instructions += part.instructions;
        self.conflicts.extend(part.conflicts);
        self.waited |= part.waited;
        for new in part.pre_wait {
            match self.pre_wait.iter_mut().find(|old| old.line == new.line) {
                Some(old) => (old.from, old.to) = (old.from.min(new.from), old.to.max(new.to)),
                None => self.pre_wait.push(new),
            }
        }
    }
}
