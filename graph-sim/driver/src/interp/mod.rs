//! PTX on the CPU.
//!
//! [`Program::decode`] turns a module into code over numbered register slots; [`run`] executes an entry of it. What
//! holds:
//!
//! - A warp's lanes that stand at the same instruction execute it together: registers are rows of 32 values. Lanes
//!   that diverge run one group after the other, deepest call and lowest address first, in slices, so that every
//!   thread makes progress and groups meet again where they must.
//! - Warps of a block take turns on one thread of the host; blocks are spread over the host's cores, and take turns
//!   too when there are fewer cores than blocks that wait for each other.
//! - Generic addresses: shared, local and parameter memory have windows that no allocation can have ([`SHARED`],
//!   [`LOCAL`], [`PARAM`]); every other address is the [`Memory`]'s. Constant memory is ordinary memory.
//! - Every access is checked for liveness, bounds and alignment before it happens, and for bytes that were never
//!   written. A fault ends the launch; nothing that a kernel does can end the process.
//! - An instruction that is not known makes the functions unusable that can reach it by calls, and no other.
//!
//! Not simulated: textures and surfaces, `wgmma` and `tcgen05`, tensor maps (`cp.async.bulk.tensor`), multicast, sparse and
//! block-scaled `mma`, `.b128` and vector registers, clusters of more than one block, launches from kernels, `malloc`
//! (always out of memory), the device heap, and weak memory: stores are seen in the order of the host. Asynchronous copies
//! are done when they are started, so a missing wait does not show. Approximations are correctly rounded or nearly so,
//! which is within their documented error, but not the hardware's bits.
//!
//! A launch that depends on grids which have not ended yet runs in two parts: [`ahead`] takes every block as far as it
//! gets without them, and [`run`] goes on from there.
//!
//! Conflicts of threads are looked for between warps, in shared memory and in global memory ([`Options::conflicts`]).

mod decode;
mod exec;
mod fault;
mod number;
mod program;

pub use exec::{Paused, ahead, run};
pub use fault::{Fault, FaultKind};
pub use program::{Entry, GlobalVariable, Program};

/// The window of shared memory among generic addresses.
pub const SHARED: u64 = 0x00f0_0000_0000_0000;
/// The window of a thread's local memory.
pub const LOCAL: u64 = 0x00f1_0000_0000_0000;
/// The window of a kernel's parameters.
pub const PARAM: u64 = 0x00f2_0000_0000_0000;
/// The window of what the driver gives a cooperative launch to meet at.
pub const GRID: u64 = 0x00f4_0000_0000_0000;
/// Addresses of functions.
pub const CODE: u64 = 0x00f3_0000_0000_0000;

/// Shadow flag: the byte was written since its allocation began.
pub const INITIALISED: u8 = 1;
/// Shadow flag: this kernel has read the byte.
pub const READ: u8 = 2;
/// Shadow flag: this kernel has written the byte.
pub const WRITTEN: u8 = 4;
/// Shadow flag: this kernel has updated the byte atomically.
pub const ATOMIC: u8 = 8;
/// How far the three flags above are shifted for what a block did before its `griddepcontrol.wait`.
pub const EARLY: u32 = 4;
/// Bytes a page of [`Region::pages`].
pub const PAGE: u64 = 4096;

/// A live allocation, as a kernel sees it.
///
/// The interpreter keeps regions for the rest of the launch, so the checks cost a comparison an access. It sets shadow
/// flags as it goes; which bytes a kernel touched is read from them afterwards.
#[derive(Clone, Copy, Debug)]
pub struct Region {
    /// Its first address.
    pub base: u64,
    /// Its length in bytes.
    pub size: u64,
    /// Its bytes: `size` of them, valid until the launch ends.
    pub data: *mut u8,
    /// One byte of flags for each, or null: then nothing is recorded, and every byte counts as written.
    pub shadow: *mut u8,
    /// Where the flags other than [`INITIALISED`] go: the shadow itself, or as many bytes of the launch's own, if others
    /// run beside it.
    pub marks: *mut u8,
    /// One byte for each started [`PAGE`] of the region, set to 1 when a mark in the page is set; or null.
    pub pages: *mut u8,
    /// Whether every byte counts as written.
    pub written: bool,
    /// Whether kernels may write it.
    pub writable: bool,
}

/// Global memory. Called from several threads at once.
pub trait Memory: Sync {
    /// The live allocation that holds the byte at `address`.
    ///
    /// What it gives out stays valid until [`run`] returns.
    fn region(&self, address: u64) -> Option<Region>;

    /// Where text of a kernel's `printf` goes.
    fn print(&self, text: &str) {
        print!("{text}");
    }
}

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
    /// The parameter space, as [`Entry::parameters`] lays it out.
    pub parameters: &'a [u8],
    /// Addresses of [`Program::variables`], in order.
    pub variables: &'a [u64],
}

/// A box of a grid's blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Blocks {
    /// The first of them.
    pub from: [u32; 3],
    /// How many in each dimension.
    pub extent: [u32; 3],
}

impl Blocks {
    /// How many they are.
    fn count(self) -> u64 {
        exec::volume(self.extent)
    }

    /// The nth of them.
    fn at(self, number: u64) -> [u32; 3] {
        let [x, y, z] = exec::coordinates(number, self.extent);
        let [first_x, first_y, first_z] = self.from;
        [first_x + x, first_y + y, first_z + z]
    }
}

/// How to run.
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
    /// Whether reads of bytes never written are faults.
    pub initialised: bool,
    /// Whether the launch is cooperative: its blocks may wait for all of the grid.
    pub cooperative: bool,
    /// Look for conflicts of threads.
    pub conflicts: bool,
    /// Whether the launch may begin before grids that it depends on have ended: then `griddepcontrol.wait` is where its
    /// threads meet their end, and what a block does before is kept apart, shifted by [`EARLY`] in the shadow.
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
    fn blocks_of(&self, launch: &Launch) -> Blocks {
        self.blocks.unwrap_or(Blocks { from: [0; 3], extent: launch.grid })
    }
}

/// What a launch did.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    /// Instructions executed, summed over threads.
    pub instructions: u64,
    /// Accesses of threads of two warps to the same bytes that nothing orders, one of them a write; and reads of shared
    /// memory that the block never wrote. In words, each line once.
    pub conflicts: Vec<Fault>,
    /// Whether any thread executed `griddepcontrol.wait` in a launch that depends on grids.
    pub waited: bool,
    /// The instructions that touched global memory before that wait.
    pub early: Vec<Early>,
}

/// An instruction that touched global memory before its block's `griddepcontrol.wait`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Early {
    /// Its line in the PTX.
    pub line: u32,
    /// The lowest address.
    pub from: u64,
    /// The end of the highest access.
    pub to: u64,
}
