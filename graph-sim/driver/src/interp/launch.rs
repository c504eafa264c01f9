//! A launch: the entry and its arguments, how it is run, and its outcome.

use super::fault::Fault;
use super::grid::Blocks;
use super::program::Program;

/// A launch of an entry.
#[derive(Clone, Copy)]
pub struct Launch<'a> {
    /// The code.
    pub program: &'a Program,
    /// Place of the entry in [`Program::entries`].
    pub entry: usize,
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads a block.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u32,
    /// The parameter space, as `Entry::parameters` lays it out.
    pub parameters: &'a [u8],
    /// Addresses of [`Program::variables`], in order.
    pub variables: &'a [u64],
}

/// Options of a run.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The blocks that run: within the grid, `None` for all of it.
    pub blocks: Option<Blocks>,
    /// Instructions a thread may execute.
    pub limit: u64,
    /// Host threads; `None` for as many as the machine has cores.
    pub threads: Option<usize>,
    /// Order of blocks, and of warps in a block: 0 for ascending.
    pub seed: u64,
    /// Bytes of local memory a thread may use, stack and frames together.
    pub stack: u32,
    /// True if reads of bytes never written are faults.
    pub initialised: bool,
    /// True if the launch is cooperative: its blocks may wait for all of the grid.
    pub cooperative: bool,
    /// Look for conflicts of threads.
    pub conflicts: bool,
    /// True if the launch may begin before grids that it depends on have ended: then `griddepcontrol.wait` is where its
    /// threads wait for their end, and the flags of earlier accesses are shifted by `PRE_WAIT` in the shadow.
    pub dependent: bool,
}

impl Default for Options {
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

impl Options {
    /// The blocks of a launch that run.
    pub(super) fn blocks_of(&self, launch: &Launch) -> Blocks {
        self.blocks.unwrap_or(Blocks { from: [0; 3], extent: launch.grid })
    }
}

/// The outcome of a launch.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    /// Instructions executed, summed over threads.
    pub instructions: u64,
    /// Accesses of threads of two warps to the same bytes that nothing orders, one of them a write; and reads of shared
    /// memory that the block never wrote. One for each line.
    pub conflicts: Vec<Fault>,
    /// True if any thread executed `griddepcontrol.wait` in a launch that depends on grids.
    pub waited: bool,
    /// The instructions that touched global memory before that wait.
    pub pre_wait: Vec<PreWait>,
}

/// An instruction that touched global memory before its block's `griddepcontrol.wait`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreWait {
    /// Its line in the PTX.
    pub line: u32,
    /// The lowest address.
    pub from: u64,
    /// The end of the highest access.
    pub to: u64,
}

impl Stats {
    /// Adds the outcome of a part of the launch.
    pub(super) fn add(&mut self, part: Stats) {
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
