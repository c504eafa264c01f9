//! Devices, contexts, streams, events, memory pools, semaphores and user objects.

use std::collections::BTreeSet;
use std::time::Instant;

use crate::base::status::Status;

pub struct Device {
    /// The primary context.
    pub primary: u64,
    /// The number of times that the primary context is retained.
    pub retained: u32,
    pub default_pool: u64,
    /// The pool from which `cuMemAllocAsync` allocates.
    pub current_pool: u64,
    /// The bytes of live graph allocations: current and peak.
    pub graph_used: (u64, u64),
    /// The bytes that graphs have reserved: current and peak.
    pub graph_reserved: (u64, u64),
}

pub struct Context {
    pub device: usize,
    /// The error of the kernel that broke the context.
    pub sticky_error: Option<Status>,
    /// True if this is the primary context of its device.
    pub primary: bool,
    pub flags: u32,
    /// The limits set with `cuCtxSetLimit`.
    pub limits: [usize; 7],
    /// The contexts whose memory the kernels of this one may access.
    pub peers: BTreeSet<u64>,
}

impl Context {
    /// Returns a new context.
    pub fn new(device: usize, primary: bool, flags: u32) -> Self {
        let limits = [1024, 1 << 20, 8 << 20, 2, 2048, 128, 0];
        Context { device, sticky_error: None, primary, flags, limits, peers: BTreeSet::new() }
    }
}

/// A file descriptor that the driver owns.
#[cfg(unix)]
pub type Descriptor = std::os::fd::OwnedFd;
/// Other systems have no file descriptors.
#[cfg(not(unix))]
pub type Descriptor = std::convert::Infallible;

/// A semaphore imported from another API.
pub struct Semaphore {
    /// True for a timeline semaphore, whose value only rises. False for a binary one, whose value is 0 or 1.
    pub counts: bool,
    pub value: u64,
    pub _descriptor: Option<Descriptor>,
}

impl Semaphore {
    /// Returns true if a wait for the value can end. This consumes the signal of a binary semaphore.
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

pub struct Stream {
    pub context: u64,
    pub flags: u32,
    pub priority: i32,
}

pub struct Event {
    pub context: u64,
    pub flags: u32,
    /// The time of the last record.
    pub recorded: Option<Instant>,
    /// The captured nodes that the event stands for, if a capture recorded it last.
    pub captured: Option<CapturedPoint>,
}

/// The last nodes of a captured stream.
#[derive(Clone)]
pub struct CapturedPoint {
    pub capture: u64,
    pub nodes: Vec<u64>,
}

pub struct Pool {
    pub device: usize,
    /// True if this is the default pool of a device, which cannot be destroyed.
    pub default: bool,
    /// The release threshold in bytes.
    pub threshold: u64,
    /// The three reuse attributes.
    pub reuse: [u32; 3],
    /// The bytes in use: current and peak.
    pub used: (u64, u64),
    /// The bytes reserved: current and peak.
    pub reserved: (u64, u64),
    /// The other devices with access to the pool's memory.
    pub access: BTreeSet<usize>,
}

/// A user object: a resource of the program that graphs keep alive.
pub struct UserObject {
    pub data: usize,
    pub destroy: Option<unsafe extern "C" fn(*mut std::ffi::c_void)>,
    pub references: u64,
}

impl Pool {
    /// Returns an empty pool on a device.
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

    /// Counts a free, and releases reserved memory above the threshold.
    pub fn give(&mut self, bytes: u64) {
        self.used.0 = self.used.0.saturating_sub(bytes);
        self.trim(self.threshold);
    }

    /// Releases unused reserved memory until `keep` bytes are left.
    pub fn trim(&mut self, keep: u64) {
        let floor = self.used.0.next_multiple_of(32 << 20);
        self.reserved.0 = self.reserved.0.min(floor.max(keep));
    }
}
