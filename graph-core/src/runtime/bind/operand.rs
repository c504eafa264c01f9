//! Operands: the memory of arguments, and the order of the graph with all other uses of it.
//!
//! Each device buffer has an owning stream, in which it was allocated and is freed. The order is established through it:
//! - when a buffer is bound, its owning stream waits for the uses that cudarc has recorded, and the first launch waits for the
//!   owning stream;
//! - after each launch the owning streams of *borrowed* buffers wait for it, one wait for each stream. So a borrowed buffer is freed after
//!   the last launch that used it, even if the exec is forgotten. The events of those that the graph may write are recorded after
//!   it, so that other streams are ordered too. The events of those that it only reads are not: cudarc waits for the two
//!   events of a `CudaSlice` alone and lets nobody replace or share them, and recording an event again takes a driver call for each buffer and
//!   launch. A third stream that writes such a buffer after its exec was forgotten is not ordered (see the docs of `Exec`);
//! - a [`Buffer`](super::Buffer) has no owning stream here: its uses are ordered by `ledger.rs`;
//! - owned and shared (`Arc`) buffers need no such wait: only the drop of the exec can free them;
//! - when an operand is released, its owning stream waits for the last launch, and the events of the buffer are recorded there, so that
//!   other streams are ordered too.
//!
//! The per-thread default stream is another stream on each thread, with one handle. For buffers that it owns, the legacy
//! default stream takes its place: that is ordered with the per-thread streams of all threads.

use std::sync::Arc;

use cudarc::driver::CudaStream;

use crate::index::wide;
use crate::runtime::cuda::{Driver, Event, Stream};
use crate::runtime::error::Result;
use crate::runtime::waits::{OwnedEvent, home};

use super::ledger::Tracked;
use super::output::Slot;
use super::unified::Unified;
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
    /// The length, in elements.
    pub len: u64,
    /// The size of its element in bytes.
    pub element: u64,
    pub same_context: bool,
    /// True if the caller owns the buffer, and may drop it without the exec's knowledge.
    pub borrowed: bool,
    /// True if nobody else can use the buffer while it is bound.
    pub exclusive: bool,
    /// True if its stream is the per-thread default stream: cudarc frees it in that of the thread that drops it.
    pub per_thread: bool,
    /// The index of its owning stream.
    pub owner: Option<usize>,
    /// The events in which cudarc records reads and writes. Pinned memory has one for both: `read`.
    pub read: Event,
    pub write: Event,
    /// The event that is recorded after each launch, for uses that neither the owning stream nor the drop of the exec orders; `NONE` if there are
    /// no such uses.
    pub recorded: Event,
    /// The output that a taken argument stands for.
    pub slot: Option<Arc<Slot>>,
    /// The borrowed output, which records the launches of the graph.
    pub output: Option<Arc<Slot>>,
    /// The bound [`Buffer`](super::Buffer), by which the launches of all execs are ordered.
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
            per_thread: false,
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

    /// Returns the state of managed memory.
    pub fn unified(&self) -> Option<&Unified> {
        self.shared.as_ref()?.unified.as_ref()
    }

    /// Adds an exec, whose last launch `done` records, to the users of a borrowed output.
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
    /// The event by which the launch stream waits for it.
    pub event: OwnedEvent,
    /// True if the next launch must wait for it.
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
