//! Operands: the memory that arguments stand for, and what orders the graph with everything else that uses it.
//!
//! Each device buffer has an owning stream: the one that it was allocated on and is freed on. It is the meeting
//! point of the order:
//! - when a buffer is bound, its owning stream waits for the uses that cudarc has recorded, and the first launch
//!   waits for the owning stream;
//! - after each launch, the owning streams of *borrowed* buffers wait for it: one wait a stream. So whatever
//!   becomes of the exec, a borrowed buffer is freed behind the last launch that used it. The events of those that the
//!   graph may write are recorded behind it, so that other streams, too, come after, even if the exec is forgotten. Those
//!   that it only reads are not recorded: cudarc waits for the two events of a `CudaSlice` alone, it gives no way to replace
//!   them or to let several buffers share one, and an event records the work that a stream had been given when it was
//!   recorded, so that would take a driver call a buffer and launch. A third stream that writes such a buffer after its exec
//!   was forgotten is not ordered (`Exec` says so);
//! - a [`Buffer`](super::Buffer) has no owning stream here: each launch is ordered with the others that use it (`ledger.rs`);
//! - owned and shared (`Arc`) buffers need no such wait, since only the end of the exec can free them;
//! - when an operand is given back, its owning stream waits for the last launch, and the buffer's events are
//!   recorded there, so that other streams, too, come after.
//!
//! The per-thread default stream is another stream on each thread under one handle. Where a buffer is owned by
//! one, the legacy default stream stands for it: it is ordered with the per-thread streams of every thread.

use std::sync::Arc;

use cudarc::driver::CudaStream;

use crate::index::wide;
use crate::runtime::cuda::{Driver, Event, Stream};
use crate::runtime::error::Result;
use crate::runtime::waits::{OwnedEvent, home};

use super::ledger::Tracked;
use super::output::Slot;
use super::uses::Lendings;

/// The kind of an operand's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemoryKind {
    /// Device memory.
    Device,
    /// Pinned host memory.
    Pinned,
    /// The allocation of another graph.
    Taken,
}

/// A bound buffer.
#[derive(Clone, Debug)]
pub(crate) struct Operand {
    pub kind: MemoryKind,
    pub address: u64,
    /// In elements.
    pub len: u64,
    /// `size_of` its element.
    pub element: u64,
    pub same_context: bool,
    /// True if the caller keeps the buffer, and may drop it without the runtime's notice.
    pub borrowed: bool,
    /// True if nobody else can use the buffer while it is bound.
    pub exclusive: bool,
    /// The index of its owning stream.
    pub owner: Option<usize>,
    /// The events in which cudarc records reads and writes. Pinned memory has one for both: `read`.
    pub read: Event,
    pub write: Event,
    /// The event that is recorded behind each launch, for users that neither the owning stream nor the end of the exec
    /// orders; `NONE` where there is none, or no need.
    pub recorded: Event,
    /// The output that a taken argument stands for.
    pub slot: Option<Arc<Slot>>,
    /// The output that is borrowed, which is told of the graph's launches.
    pub output: Option<Arc<Slot>>,
    /// The [`Buffer`](super::Buffer) that is bound, which the launches of all execs are ordered by.
    pub shared: Option<Arc<Tracked>>,
    /// Its uses through the views that the exec hands out.
    pub lendings: Arc<Lendings>,
}

impl Operand {
    /// Returns memory without an owning stream and without events, of the graph's context.
    pub fn new<T>(kind: MemoryKind, address: u64, len: usize, [borrowed, exclusive]: [bool; 2]) -> Operand {
        Operand {
            kind,
            address,
            len: wide(len),
            element: wide(size_of::<T>()),
            same_context: true,
            borrowed,
            exclusive,
            owner: None,
            read: Event::NONE,
            write: Event::NONE,
            recorded: Event::NONE,
            slot: None,
            output: None,
            shared: None,
            lendings: Arc::default(),
        }
    }

    /// Notes on a borrowed output that an exec has bound it, whose last launch `done` records.
    pub fn note_exec(&self, done: &Arc<OwnedEvent>) {
        if let Some(output) = &self.output {
            output.bound_by(done, self.exclusive);
        }
    }
}

/// An owning stream.
#[derive(Debug)]
pub(crate) struct Owner {
    /// Keeps the handle valid.
    _stream: Arc<CudaStream>,
    pub raw: Stream,
    /// For the launch stream to wait for it.
    pub event: OwnedEvent,
    /// True if the next launch has to wait.
    pub pending: bool,
    /// The number of borrowed operands that it owns.
    pub borrowed: u32,
}

/// The owning streams of a graph's operands.
#[derive(Debug, Default)]
pub(crate) struct Owners {
    pub list: Vec<Owner>,
}

impl Owners {
    pub fn index(&mut self, driver: &'static Driver, stream: &Arc<CudaStream>) -> Result<usize> {
        let stream = home(stream);
        let raw = Stream::of(&stream);
        if let Some(at) = self.list.iter().position(|owner| owner.raw == raw) {
            return Ok(at);
        }
        let event = OwnedEvent::new(driver, stream.context())?;
        self.list.push(Owner { _stream: stream, raw, event, pending: false, borrowed: 0 });
        Ok(self.list.len() - 1)
    }
}
