//! The driver's state, under one lock.
//!
//! Work completes before the call that enqueues it returns. This is a legal schedule of every program: one in
//! which streams never overlap. The lock is released while functions of the program run.

use std::collections::BTreeSet;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use super::capture::Captures;
use super::current::current_context;
use super::definitions::GraphDefinitions;
use super::exec::Exec;
use super::module::LoadedCode;
use super::resource::{Context, Device, Event, Pool, Semaphore, Stream, UserObject};
use crate::base::config::config;
use crate::base::status::{Result, Status};
use crate::base::table::Table;
use crate::base::types::{STREAM_LEGACY, STREAM_PER_THREAD};
use crate::memory::Memory;

/// The options of execution.
pub struct ScheduleOptions {
    /// The seed of the schedules.
    pub seed: u64,
    /// True if unordered nodes of a graph run concurrently.
    pub parallel: bool,
    /// The timeout in milliseconds of a launch that waits for a value or a semaphore.
    pub wait_timeout_ms: u64,
}

/// The state of the driver.
pub struct State {
    /// True if `cuInit` was called.
    pub initialised: bool,
    pub devices: Vec<Device>,
    pub contexts: Table<Context>,
    pub streams: Table<Stream>,
    pub events: Table<Event>,
    /// Modules and linkers.
    pub code: LoadedCode,
    /// Graphs, their nodes and conditional handles.
    pub definitions: GraphDefinitions,
    pub execs: Table<Exec>,
    pub pools: Table<Pool>,
    pub objects: Table<UserObject>,
    /// Semaphores imported from other APIs.
    pub semaphores: Table<Semaphore>,
    /// The memory of all devices.
    pub memory: Memory,
    /// The active stream captures.
    pub captures: Captures,
    /// The last id given to a capture, graph or instance, for their `GetId` calls.
    pub ids: u64,
    pub options: ScheduleOptions,
    /// The contexts whose finished work is reported as pending.
    pub held: BTreeSet<u64>,
}

impl State {
    fn new() -> Self {
        let count = config().devices.count();
        let mut state = State {
            initialised: false,
            devices: Vec::new(),
            contexts: Table::new(1),
            streams: Table::new(2),
            events: Table::new(3),
            code: LoadedCode::new(),
            definitions: GraphDefinitions::new(),
            execs: Table::new(8),
            pools: Table::new(9),
            objects: Table::new(10),
            semaphores: Table::new(13),
            memory: Memory::new(count),
            captures: Captures::default(),
            ids: 0,
            options: ScheduleOptions {
                seed: config().seed,
                parallel: config().parallel,
                wait_timeout_ms: config().wait_timeout_ms,
            },
            held: BTreeSet::new(),
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

    pub fn exec(&self, exec: u64) -> Result<&Exec> {
        self.execs.get(exec).ok_or(Status::INVALID_VALUE)
    }

    pub fn exec_mut(&mut self, exec: u64) -> Result<&mut Exec> {
        self.execs.get_mut(exec).ok_or(Status::INVALID_VALUE)
    }

    /// Returns the index of a device ordinal.
    pub fn device(&self, ordinal: i32) -> Result<usize> {
        usize::try_from(ordinal)
            .ok()
            .filter(|&ordinal| ordinal < self.devices.len())
            .ok_or(Status::INVALID_DEVICE)
    }

    /// Returns a live context. A primary context is live while it is retained.
    pub fn context(&self, handle: u64) -> Result<&Context> {
        let context = self.contexts.get(handle).ok_or(Status::INVALID_CONTEXT)?;
        let device = &self.devices[context.device];
        if context.primary && device.retained == 0 { Err(Status::CONTEXT_IS_DESTROYED) } else { Ok(context) }
    }

    /// Returns the handle of the calling thread's context.
    pub fn current(&self) -> Result<u64> {
        let handle = current_context();
        if handle == 0 {
            return Err(Status::INVALID_CONTEXT);
        }
        self.context(handle).map(|_| handle)
    }

    /// Returns the calling thread's device.
    pub fn current_device(&self) -> Result<usize> {
        let current = self.current()?;
        Ok(self.context(current)?.device)
    }

    /// Returns the context of a stream. The null, legacy and per-thread streams belong to the calling thread's
    /// context.
    pub fn stream_context(&self, stream: u64) -> Result<u64> {
        match stream {
            0 | STREAM_LEGACY | STREAM_PER_THREAD => self.current(),
            handle => self.streams.get(handle).map(|stream| stream.context).ok_or(Status::INVALID_HANDLE),
        }
    }

    /// Records the error that makes a context unusable.
    pub fn break_context(&mut self, context: u64, status: Status) {
        if let Some(context) = self.contexts.get_mut(context) {
            context.sticky_error.get_or_insert(status);
        }
    }

    /// Returns an id that no other object has.
    pub fn id(&mut self) -> u64 {
        self.ids += 1;
        self.ids
    }
}

static STATE: LazyLock<Mutex<State>> = LazyLock::new(|| Mutex::new(State::new()));

/// Locks the state.
pub fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}
