//! Devices, contexts, streams, events, memory pools and user objects.

use std::collections::BTreeSet;
use std::os::fd::OwnedFd;
use std::time::Instant;

use crate::base::status::Status;

/// A device.
pub struct Device {
    /// Its primary context.
    pub primary: u64,
    /// The number of times that the context is retained.
    pub retained: u32,
    /// The default pool.
    pub default_pool: u64,
    /// The pool that `cuMemAllocAsync` takes from.
    pub current_pool: u64,
    /// Bytes of graphs' live allocations: current, and the maximum.
    pub graph_used: (u64, u64),
    /// Bytes reserved by graphs: current, and the maximum.
    pub graph_reserved: (u64, u64),
}

/// A context.
pub struct Context {
    /// Its device.
    pub device: usize,
    /// The error of a kernel that broke it.
    pub broken: Option<Status>,
    /// True if it is its device's primary one.
    pub primary: bool,
    /// Its creation flags.
    pub flags: u32,
    /// The values of `cuCtxSetLimit`.
    pub limits: [usize; 7],
    /// Contexts whose memory its kernels may touch.
    pub peers: BTreeSet<u64>,
}

impl Context {
    /// Returns a fresh context.
    pub fn new(device: usize, primary: bool, flags: u32) -> Self {
        let limits = [1024, 1 << 20, 8 << 20, 2, 2048, 128, 0];
        Context { device, broken: None, primary, flags, limits, peers: BTreeSet::new() }
    }
}

/// A semaphore of another API.
pub struct Semaphore {
    /// True if its value counts up; false if it is signalled or not, 1 or 0.
    pub counts: bool,
    /// Its value.
    pub value: u64,
    /// The file descriptor that the driver has taken over.
    pub _descriptor: Option<OwnedFd>,
}

impl Semaphore {
    /// Ends a wait, if the semaphore has reached the value. A wait takes the signal of one that does not count.
    pub fn take(&mut self, value: u64) -> bool {
        match self.counts {
            true => self.value >= value,
            false => std::mem::take(&mut self.value) != 0,
        }
    }

    /// Signals the semaphore. Returns false if its value would not rise.
    pub fn signal(&mut self, value: u64) -> bool {
        let value = if self.counts { value } else { 1 };
        let rises = value > self.value;
        self.value = self.value.max(value);
        rises
    }
}

/// A stream.
pub struct Stream {
    /// Its context.
    pub context: u64,
    /// Its creation flags.
    pub flags: u32,
    /// Its priority.
    pub priority: i32,
}

/// An event.
pub struct Event {
    /// Its context.
    pub context: u64,
    /// Its creation flags.
    pub flags: u32,
    /// The time of its last record.
    pub recorded: Option<Instant>,
    /// The captured nodes that it represents, if a capture recorded it last.
    pub captured: Option<CapturedPoint>,
}

/// The last nodes of a captured stream.
#[derive(Clone)]
pub struct CapturedPoint {
    /// The capture.
    pub capture: u64,
    /// The nodes.
    pub nodes: Vec<u64>,
}

/// A memory pool.
pub struct Pool {
    /// The device of its memory.
    pub device: usize,
    /// True if it is a device's own, which cannot be destroyed.
    pub default: bool,
    /// The release threshold in bytes.
    pub threshold: u64,
    /// The three attributes of reuse.
    pub reuse: [u32; 3],
    /// Bytes in use: current, and the maximum.
    pub used: (u64, u64),
    /// Bytes reserved: current, and the maximum.
    pub reserved: (u64, u64),
    /// The other devices that have access to its memory.
    pub access: BTreeSet<usize>,
}

/// A user object: a resource that graphs keep alive for the program.
pub struct UserObject {
    /// The program's pointer.
    pub data: usize,
    /// Its destructor.
    pub destroy: Option<unsafe extern "C" fn(*mut std::ffi::c_void)>,
    /// The number of references.
    pub references: u64,
}

impl Pool {
    /// Returns a pool on a device.
    pub fn new(device: usize, default: bool) -> Self {
        Pool {
            device,
            default,
            threshold: 0,
            reuse: [1; 3],
            used: (0, 0),
            reserved: (0, 0),
            access: BTreeSet::new(),
        }
    }

    /// Counts an allocation.
    pub fn take(&mut self, bytes: u64) {
        self.used.0 += bytes;
        self.used.1 = self.used.1.max(self.used.0);
        self.reserved.0 = self.reserved.0.max(self.used.0.next_multiple_of(32 << 20));
        self.reserved.1 = self.reserved.1.max(self.reserved.0);
    }

    /// Counts a free; memory over the threshold is released.
    pub fn give(&mut self, bytes: u64) {
        self.used.0 = self.used.0.saturating_sub(bytes);
        self.trim(self.threshold);
    }

    /// Releases reserved memory over `keep` bytes that is not in use.
    pub fn trim(&mut self, keep: u64) {
        let floor = self.used.0.next_multiple_of(32 << 20);
        self.reserved.0 = self.reserved.0.min(floor.max(keep));
    }
}
