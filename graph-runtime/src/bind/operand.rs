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

use std::borrow::Cow;
use std::sync::Arc;

use cudarc::driver::CudaStream;
use cuweave_core::ids::Device;
use cuweave_core::index::wide;

use crate::cuda::{Context, Driver, Event, Outcome, Stream};
use crate::error::{MemoryKind, Result};
use crate::waits::{OwnedEvent, SideStream, home};

use super::hint::Hint;
use super::ledger::Tracked;
use super::output::Slot;
use super::unified::Unified;
use super::uses::Lendings;

/// A bound buffer.
#[derive(Clone, Debug)]
pub(crate) struct Operand {
    pub kind: MemoryKind,
    pub address: u64,
    /// The length, in elements.
    pub len: u64,
    /// The size of its element in bytes.
    pub element: u64,
    /// The device of the graph that has its memory; `None` for memory of another context.
    pub device: Option<Device>,
    /// The context of its memory, if that is not the first one of the graph; else the null handle.
    pub elsewhere: Context,
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
    /// The stream in which the event of pinned memory is recorded, if its context is not the first one of the graph.
    pub side: Option<Arc<SideStream>>,
    /// The output that a taken argument stands for.
    pub slot: Option<Arc<Slot>>,
    /// The borrowed output, which records the launches of the graph.
    pub output: Option<Arc<Slot>>,
    /// The bound [`Buffer`](super::Buffer), by which the launches of all execs are ordered.
    pub shared: Option<Arc<Tracked>>,
    /// Its uses through the views that the exec hands out.
    pub lendings: Arc<Lendings>,
    /// The attributes of its argument.
    pub hints: Cow<'static, [Hint]>,
}

impl Operand {
    /// Returns memory without an owning stream and without events, of the graph's first device.
    pub fn new<T>(kind: MemoryKind, address: u64, len: usize, borrowed: bool, exclusive: bool) -> Operand {
        Operand {
            kind,
            address,
            len: wide(len),
            element: wide(size_of::<T>()),
            device: Some(Device::FIRST),
            elsewhere: Context::NONE,
            borrowed,
            exclusive,
            per_thread: false,
            owner: None,
            read: Event::NONE,
            write: Event::NONE,
            recorded: Event::NONE,
            side: None,
            slot: None,
            output: None,
            shared: None,
            lendings: Arc::default(),
            hints: Cow::Borrowed(&[]),
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
    stream: Arc<CudaStream>,
    pub raw: Stream,
    /// Its context, if that is not the first one of the graph; else the null handle.
    elsewhere: Context,
    /// The event by which the launch stream waits for it.
    pub event: OwnedEvent,
    /// True if the next launch must wait for it.
    pub pending: bool,
    /// The number of borrowed operands that it owns.
    pub borrowed: u32,
}

impl Owner {
    /// Returns its context.
    pub fn context(&self) -> Context {
        Context::of(self.stream.context())
    }

    /// Returns true if it is that stream of the first context. The handles of the default streams are those of every context.
    pub fn is(&self, stream: Stream) -> bool {
        self.raw == stream && self.elsewhere == Context::NONE
    }

    /// Calls `work`, whose calls may be given its handle: its context is current for these, and `first` before and afterwards.
    pub fn within<T>(
        &self,
        driver: &Driver,
        first: Context,
        work: impl FnOnce() -> Outcome<T>,
    ) -> Outcome<T> {
        if self.elsewhere == Context::NONE {
            return work();
        }
        driver.enter(self.elsewhere)?;
        let done = work();
        driver.enter(first)?;
        done
    }
}

/// The owning streams of a graph's operands.
#[derive(Debug, Default)]
pub(crate) struct Owners {
    pub list: Vec<Owner>,
}

impl Owners {
    /// Returns the index of a stream, whose context must be current; `elsewhere` is that, unless it is the graph's first.
    pub fn index(
        &mut self,
        driver: &'static Driver,
        stream: &Arc<CudaStream>,
        elsewhere: Context,
    ) -> Result<usize> {
        let stream = home(stream);
        let raw = Stream::of(&stream);
        let is = |owner: &Owner| owner.raw == raw && owner.elsewhere == elsewhere;
        if let Some(at) = self.list.iter().position(is) {
            return Ok(at);
        }
        let event = OwnedEvent::new(driver, stream.context())?;
        self.list.push(Owner { stream, raw, elsewhere, event, pending: false, borrowed: 0 });
        Ok(self.list.len() - 1)
    }
}
