//! Address windows, shadow flags, and the interface of global memory.

/// The window of shared memory among generic addresses.
pub const SHARED: u64 = 0x00f0_0000_0000_0000;
/// The window of a thread's local memory.
pub const LOCAL: u64 = 0x00f1_0000_0000_0000;
/// The window of a kernel's parameters.
pub const PARAM: u64 = 0x00f2_0000_0000_0000;
/// The window of the workspace of a cooperative launch, which holds its grid barrier.
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
/// The shift of the three flags above for accesses of a block before its `griddepcontrol.wait`.
pub const PRE_WAIT: u32 = 4;
/// Bytes a page of [`Region::pages`].
pub const PAGE: u64 = 4096;

/// A live allocation, as a kernel sees it.
///
/// The interpreter caches regions for the rest of the launch, so the checks cost a comparison an access. It sets shadow
/// flags during the run; the bytes that a kernel touched are read from them afterwards.
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
    /// Receives the flags other than [`INITIALISED`]: the shadow itself, or as many bytes of the launch's own, if other work
    /// runs at the same time.
    pub marks: *mut u8,
    /// One byte for each started [`PAGE`] of the region, set to 1 when a mark in the page is set; or null.
    pub pages: *mut u8,
    /// True if every byte counts as written.
    pub written: bool,
    /// True if kernels may write it.
    pub writable: bool,
}

/// A thread that sets a condition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Setter {
    /// Its block, counted through the grid.
    pub block: u64,
    pub thread: u32,
    /// Incremented by every event that may order the block's threads.
    pub epoch: u32,
    /// True before its block's `griddepcontrol.wait`.
    pub pre_wait: bool,
}

impl Setter {
    /// Returns true if nothing orders this call after an earlier one.
    pub fn races_with(self, earlier: Setter) -> bool {
        let same = (self.block, self.thread) == (earlier.block, earlier.thread);
        !same && (self.block != earlier.block || self.epoch == earlier.epoch)
    }
}

/// Global memory. Called from several threads at once.
pub trait Memory: Sync {
    /// The live allocation that holds the byte at `address`.
    ///
    /// The region must stay valid until the launch returns.
    fn region(&self, address: u64) -> Option<Region>;

    /// Sets a condition of the graph that the kernel is a node of.
    ///
    /// # Errors
    /// The reason why there is no such condition.
    fn set_condition(&self, handle: u64, _value: u32, _by: Setter) -> Result<(), String> {
        Err(format!("`cudaGraphSetConditional` of {handle:#x} outside of a graph"))
    }

    /// Prints the text of a kernel's `printf`.
    fn print(&self, text: &str) {
        print!("{text}");
    }
}
