//! Address windows, shadow flags, and the interface to global memory.

/// The window of shared memory in the generic address space.
pub const SHARED: u64 = 0x00f0_0000_0000_0000;
/// The window of a thread's local memory.
pub const LOCAL: u64 = 0x00f1_0000_0000_0000;
/// The window of a kernel's parameters.
pub const PARAM: u64 = 0x00f2_0000_0000_0000;
/// The window of a cooperative launch's workspace, which holds the grid barrier.
pub const GRID: u64 = 0x00f4_0000_0000_0000;
/// The window of function addresses.
pub const CODE: u64 = 0x00f3_0000_0000_0000;

/// Shadow flag: the byte was written since it was allocated.
pub const INITIALISED: u8 = 1;
/// Shadow flag: the running kernel has read the byte.
pub const READ: u8 = 2;
/// Shadow flag: the running kernel has written the byte.
pub const WRITTEN: u8 = 4;
/// Shadow flag: the running kernel has updated the byte atomically.
pub const ATOMIC: u8 = 8;
/// The shift of the three flags above for accesses before the block's `griddepcontrol.wait`.
pub const PRE_WAIT: u32 = 4;
/// The bytes that one byte of [`Region::pages`] covers.
pub const PAGE: u64 = 4096;

/// A live allocation, as a kernel sees it.
///
/// The interpreter caches regions for the rest of the launch, so the checks cost one comparison per access. It
/// sets shadow flags while the kernel runs; the bytes that the kernel touched are read from them afterwards.
#[derive(Clone, Copy, Debug)]
pub struct Region {
    /// The first address.
    pub base: u64,
    /// The size in bytes.
    pub size: u64,
    /// The bytes. The pointer must be valid for `size` bytes until the launch ends.
    pub data: *mut u8,
    /// One byte of flags per byte, or null. If null, nothing is recorded and every byte counts as written.
    pub shadow: *mut u8,
    /// Receives the flags other than [`INITIALISED`]: the shadow itself, or `size` bytes owned by the launch if
    /// other work runs concurrently.
    pub marks: *mut u8,
    /// One byte per started [`PAGE`] of the region, set to 1 when a mark in the page is set; or null.
    pub pages: *mut u8,
    /// True if every byte counts as written.
    pub written: bool,
    /// True if kernels may write it.
    pub writable: bool,
}

/// The memory of one device that a multimem access reaches.
#[derive(Clone, Copy, Debug)]
pub struct Replica {
    /// The number of the device.
    pub device: usize,
    /// The address of the first byte in the device's own memory. Accesses are compared by it.
    pub own_address: u64,
    /// The bytes. The base is the multimem address of the first one.
    pub region: Region,
}

/// A thread that sets a condition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConditionSetter {
    /// The number of its block in the grid.
    pub block: u64,
    pub thread: u32,
    /// A count of the events that may order the block's threads.
    pub epoch: u32,
    /// True before the block's `griddepcontrol.wait`.
    pub pre_wait: bool,
}

impl ConditionSetter {
    /// Returns true if nothing orders this call after an earlier one.
    pub fn races_with(self, earlier: ConditionSetter) -> bool {
        let same = (self.block, self.thread) == (earlier.block, earlier.thread);
        !same && (self.block != earlier.block || self.epoch == earlier.epoch)
    }
}

/// Global memory. Its methods are called from several threads concurrently.
pub trait GlobalMemory: Sync {
    /// Returns the live allocation that contains the byte at `address`.
    ///
    /// The region must stay valid until the launch returns.
    fn region(&self, address: u64) -> Option<Region>;

    /// Returns the memory of each device that multimem accesses at an address reach, in the order in which
    /// `multimem.ld_reduce` reduces it. All regions have the same base and size, and are valid until the launch
    /// returns.
    ///
    /// # Errors
    /// The rest of a message about the address, if it is not of a multicast object or a device has no memory
    /// bound there.
    fn replicas(&self, _address: u64) -> Result<Vec<Replica>, String> {
        Err("which is not an address of a multicast object".to_owned())
    }

    /// Returns true if the byte at `address` is in a live allocation that the kernel may not access.
    fn is_closed(&self, _address: u64) -> bool {
        false
    }

    /// Sets a condition of the graph to which the kernel belongs.
    ///
    /// # Errors
    /// The reason if there is no such condition.
    fn set_condition(&self, handle: u64, _value: u32, _by: ConditionSetter) -> Result<(), String> {
        Err(format!("`cudaGraphSetConditional` of {handle:#x} outside of a graph"))
    }

    /// Prints the output of a kernel's `printf`.
    fn print(&self, text: &str) {
        print!("{text}");
    }
}
