//! All that the driver knows, behind one lock.
//!
//! Work is done when it is enqueued, before the call returns: a legal schedule of every program, in which streams
//! never overlap. The lock is let go while functions of the program run.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::capture::Capture;
use crate::config::config;
use crate::graph::{Exec, Graph, Node};
use crate::memory::Memory;
use crate::module::{Function, Module};
use crate::status::{Result, Status};
use crate::types::{STREAM_LEGACY, STREAM_PER_THREAD};

/// A device.
pub struct Device {
    /// Its primary context.
    pub primary: u64,
    /// How often that is retained.
    pub retained: u32,
    /// The pool that always is.
    pub default_pool: u64,
    /// The pool that `cuMemAllocAsync` takes from.
    pub current_pool: u64,
    /// Bytes of graphs' live allocations: now, and at most.
    pub graph_used: (u64, u64),
    /// Bytes that graphs keep: now, and at most.
    pub graph_reserved: (u64, u64),
}

/// A context.
pub struct Context {
    /// Its device.
    pub device: usize,
    /// The error of a kernel that broke it.
    pub broken: Option<Status>,
    /// Whether it is its device's primary one.
    pub primary: bool,
    /// Its creation flags.
    pub flags: u32,
    /// The values of `cuCtxSetLimit`.
    pub limits: [usize; 7],
    /// Contexts whose memory its kernels may touch.
    pub peers: BTreeSet<u64>,
}

impl Context {
    /// A fresh context.
    pub fn new(device: usize, primary: bool, flags: u32) -> Self {
        let limits = [1024, 1 << 20, 8 << 20, 2, 2048, 128, 0];
        Context { device, broken: None, primary, flags, limits, peers: BTreeSet::new() }
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
    /// When it was recorded last.
    pub recorded: Option<Instant>,
    /// The capture that recorded it last, and the nodes that it stands for.
    pub captured: Option<(u64, Vec<u64>)>,
}

/// A memory pool.
pub struct Pool {
    /// The device of its memory.
    pub device: usize,
    /// Whether it is a device's own, which cannot be destroyed.
    pub default: bool,
    /// Bytes that it keeps when memory is freed.
    pub threshold: u64,
    /// The three switches of reuse.
    pub reuse: [u32; 3],
    /// Bytes in use: now, and at most.
    pub used: (u64, u64),
    /// Bytes reserved: now, and at most.
    pub reserved: (u64, u64),
}

/// A user object: what graphs keep alive for the program.
pub struct UserObject {
    /// The program's pointer.
    pub data: usize,
    /// What ends it.
    pub destroy: Option<unsafe extern "C" fn(*mut std::ffi::c_void)>,
    /// The references that are left.
    pub references: u64,
}

/// All that the driver knows.
pub struct State {
    /// Whether `cuInit` was called.
    pub initialised: bool,
    /// The devices.
    pub devices: Vec<Device>,
    /// Contexts.
    pub contexts: crate::table::Table<Context>,
    /// Streams.
    pub streams: crate::table::Table<Stream>,
    /// Events.
    pub events: crate::table::Table<Event>,
    /// Modules, and libraries.
    pub modules: crate::table::Table<Module>,
    /// Kernels of modules.
    pub functions: crate::table::Table<Function>,
    /// Graphs.
    pub graphs: crate::table::Table<Graph>,
    /// Nodes of graphs.
    pub nodes: crate::table::Table<Node>,
    /// Instantiated graphs.
    pub execs: crate::table::Table<Exec>,
    /// Memory pools.
    pub pools: crate::table::Table<Pool>,
    /// User objects.
    pub objects: crate::table::Table<UserObject>,
    /// Memory of all devices.
    pub memory: Memory,
    /// Stream captures that are under way.
    pub captures: Vec<Capture>,
    /// Numbers captures, graphs and execs for their `GetId` calls.
    pub ids: u64,
    /// The seed of the schedules.
    pub seed: u64,
    /// Whether nodes of a graph that no path orders run at the same time.
    pub parallel: bool,
}

use crate::table::Table;

impl State {
    fn new() -> Self {
        let count = config().devices as usize;
        let mut state = State {
            initialised: false,
            devices: Vec::new(),
            contexts: Table::new(1),
            streams: Table::new(2),
            events: Table::new(3),
            modules: Table::new(4),
            functions: Table::new(5),
            graphs: Table::new(6),
            nodes: Table::new(7),
            execs: Table::new(8),
            pools: Table::new(9),
            objects: Table::new(10),
            memory: Memory::new(count),
            captures: Vec::new(),
            ids: 0,
            seed: config().seed,
            parallel: config().parallel,
        };
        for device in 0..count {
            let primary = state.contexts.insert(Context::new(device, true, 0));
            let pool = state.pools.insert(Pool::new(device, true));
            state.devices.push(Device {
                primary,
                retained: 0,
                default_pool: pool,
                current_pool: pool,
                graph_used: (0, 0),
                graph_reserved: (0, 0),
            });
        }
        state
    }

    /// The device of a number of the program.
    pub fn device(&self, ordinal: i32) -> Result<usize> {
        usize::try_from(ordinal)
            .ok()
            .filter(|&ordinal| ordinal < self.devices.len())
            .ok_or(Status::INVALID_DEVICE)
    }

    /// A live context: a primary one lives while it is retained.
    pub fn context(&self, handle: u64) -> Result<&Context> {
        let context = self.contexts.get(handle).ok_or(Status::INVALID_CONTEXT)?;
        let device = &self.devices[context.device];
        if context.primary && device.retained == 0 { Err(Status::CONTEXT_IS_DESTROYED) } else { Ok(context) }
    }

    /// The calling thread's context, by handle.
    pub fn current(&self) -> Result<u64> {
        let handle = current_context();
        if handle == 0 {
            return Err(Status::INVALID_CONTEXT);
        }
        self.context(handle).map(|_| handle)
    }

    /// The calling thread's device.
    pub fn current_device(&self) -> Result<usize> {
        let current = self.current()?;
        Ok(self.context(current)?.device)
    }

    /// The context of a stream's handle; the null stream and the two that always are belong to the calling
    /// thread's.
    pub fn stream_context(&self, stream: u64) -> Result<u64> {
        match stream {
            0 | STREAM_LEGACY | STREAM_PER_THREAD => self.current(),
            handle => self.streams.get(handle).map(|stream| stream.context).ok_or(Status::INVALID_HANDLE),
        }
    }

    /// Notes an error that stays with a context.
    pub fn break_context(&mut self, context: u64, status: Status) {
        if let Some(context) = self.contexts.get_mut(context) {
            context.broken.get_or_insert(status);
        }
    }

    /// A new number.
    pub fn id(&mut self) -> u64 {
        self.ids += 1;
        self.ids
    }
}

impl Pool {
    /// A pool on a device.
    pub fn new(device: usize, default: bool) -> Self {
        Pool { device, default, threshold: 0, reuse: [1; 3], used: (0, 0), reserved: (0, 0) }
    }

    /// Counts an allocation.
    pub fn take(&mut self, bytes: u64) {
        self.used.0 += bytes;
        self.used.1 = self.used.1.max(self.used.0);
        self.reserved.0 = self.reserved.0.max(self.used.0.next_multiple_of(32 << 20));
        self.reserved.1 = self.reserved.1.max(self.reserved.0);
    }

    /// Counts a free; what is over the threshold goes back.
    pub fn give(&mut self, bytes: u64) {
        self.used.0 = self.used.0.saturating_sub(bytes);
        self.trim(self.threshold);
    }

    /// Gives back what is reserved over `keep` bytes and not in use.
    pub fn trim(&mut self, keep: u64) {
        let floor = self.used.0.next_multiple_of(32 << 20);
        self.reserved.0 = self.reserved.0.min(floor.max(keep));
    }
}

static STATE: LazyLock<Mutex<State>> = LazyLock::new(|| Mutex::new(State::new()));

/// Locks the state.
pub fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

thread_local! {
    static CURRENT: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// The calling thread's context, or 0.
pub fn current_context() -> u64 {
    CURRENT.with_borrow(|stack| stack.last().copied().unwrap_or(0))
}

/// Makes a context the calling thread's.
pub fn set_current_context(handle: u64) {
    CURRENT.with_borrow_mut(|stack| {
        stack.pop();
        if handle != 0 {
            stack.push(handle);
        }
    });
}

/// Puts a context on the calling thread's stack of them.
pub fn push_context(handle: u64) {
    CURRENT.with_borrow_mut(|stack| stack.push(handle));
}

/// Takes the uppermost off it.
pub fn pop_context() -> Option<u64> {
    CURRENT.with_borrow_mut(Vec::pop)
}
