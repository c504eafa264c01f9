//! Operands: the memory of arguments, and how a graph's launches are ordered with all other uses of it.
//!
//! Each device buffer has an owning stream, in which it was allocated and will be freed. The order is
//! established through that stream:
//! - When a buffer is bound, its owning stream waits for the uses that cudarc has recorded. The first launch
//!   waits for the owning stream.
//! - After each launch, the owning streams of *borrowed* buffers wait for it, once for each stream. So a
//!   borrowed buffer is freed after the last launch that used it, even if the exec is forgotten.
//! - If the graph may write a borrowed buffer, the buffer's event is recorded after each launch, so that other
//!   streams are ordered too. For buffers that it only reads, it is not: cudarc waits only for the two events
//!   of a `CudaSlice`, which nobody can replace or share, and recording them takes a driver call for each
//!   buffer and launch. A third stream that writes such a buffer after its exec was forgotten is not ordered
//!   (see the docs of `Exec`).
//! - A [`Buffer`](super::Buffer) has no owning stream here: `ledger.rs` orders its uses.
//! - Owned and shared (`Arc`) buffers need no wait: only the drop of the exec can free them.
//! - When an operand is released, its owning stream waits for the last launch. The buffer's events are then
//!   recorded there, so that other streams are ordered too.
//!
//! The per-thread default stream is a different stream on each thread, under one handle. For buffers that it
//! owns, the legacy default stream is used instead: it synchronises with the per-thread streams of all threads.

use std::sync::Arc;

use cudarc::driver::CudaStream;
use cuweave_core::ids::Device;
use cuweave_core::index::wide;

use crate::cuda::{Context, Driver, Event, Outcome, Stream};
use crate::error::{MemoryKind, Result};
use crate::waits::{OwnedEvent, SideStream, lasting_stream};

use super::hint::RangedHint;
use super::ledger::TrackedBuffer;
use super::managed_state::ManagedState;
use super::multicast::reached::ReachedMemory;
use super::output::OutputSlot;
use super::uses::ViewUses;

/// A bound buffer.
#[derive(Clone, Debug)]
pub(crate) struct Operand {
    pub kind: MemoryKind,
    pub address: u64,
    /// The length in elements.
    pub len: u64,
    /// The size of an element in bytes.
    pub element: u64,
    /// The graph's device that has the memory. `None` for memory of a context that is not the graph's.
    pub device: Option<Device>,
    /// The context of the memory. The null handle if that is the graph's first context.
    pub elsewhere: Context,
    /// True if the caller owns the buffer and may drop it without the exec's knowledge.
    pub borrowed: bool,
    /// True if nobody else can use the buffer while it is bound.
    pub exclusive: bool,
    /// True if its stream is the per-thread default stream. cudarc then frees it in the dropping thread's
    /// stream.
    pub per_thread: bool,
    /// The index of its owning stream in [`Owners`].
    pub owner: Option<usize>,
    /// The events in which cudarc records reads and writes. Pinned memory has one event for both, `read`.
    pub read: Event,
    pub write: Event,
    /// The event to record after each launch, for uses that neither the owning stream nor the drop of the exec
    /// orders. `NONE` if there are none.
    pub recorded: Event,
    /// The stream in which the event of pinned memory is recorded, if its context is not the graph's first.
    pub side: Option<Arc<SideStream>>,
    /// The output that a consumed argument stands for.
    pub slot: Option<Arc<OutputSlot>>,
    /// The borrowed output, whose slot records the launches of the graph.
    pub output: Option<Arc<OutputSlot>>,
    /// The bound [`Buffer`](super::Buffer), whose ledger orders the launches of all execs.
    pub shared: Option<Arc<TrackedBuffer>>,
    /// Its physical memory, if that may be bound to multicast objects.
    pub reached: Option<Arc<ReachedMemory>>,
    /// The uses through views that the exec has returned.
    pub view_uses: Arc<ViewUses>,
    /// The hints of its argument.
    pub hints: Vec<RangedHint>,
}

impl Operand {
    /// Returns memory on the graph's first device, without an owning stream and without events.
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
            reached: None,
            view_uses: Arc::default(),
            hints: Vec::new(),
        }
    }

    /// Returns true if some of its hints are about a range of its elements.
    pub fn has_ranged_hints(&self) -> bool {
        self.hints.iter().any(RangedHint::has_range)
    }

    pub fn managed_state(&self) -> Option<&ManagedState> {
        self.shared.as_ref()?.managed_state.as_ref()
    }

    /// Returns true if it is a mapped multicast object.
    pub fn is_mapping(&self) -> bool {
        self.reached.as_ref().is_some_and(|reached| reached.object().is_some())
    }

    /// Returns the [`Buffer`](super::Buffer)s that a use of it uses.
    pub fn tracked(&self) -> impl Iterator<Item = Arc<TrackedBuffer>> {
        let reached = self.reached.iter().flat_map(|reached| reached.tracked()).cloned();
        self.shared.iter().flat_map(TrackedBuffer::with_overlapping).chain(reached)
    }

    /// Adds an exec to the users of a borrowed output. `done` records the exec's last launch.
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
    /// Its context. The null handle if that is the graph's first context.
    elsewhere: Context,
    /// The event by which the launch stream waits for it.
    pub event: OwnedEvent,
    /// True if the next launch must wait for it.
    pub pending: bool,
    /// The number of borrowed operands that it owns.
    pub borrowed: u32,
}

impl Owner {
    pub fn context(&self) -> Context {
        Context::from_cudarc(self.stream.context())
    }

    /// Returns true if it is that stream of the first context. The handles of the default streams are the same
    /// in every context.
    pub fn is(&self, stream: Stream) -> bool {
        self.raw == stream && self.elsewhere == Context::NONE
    }

    /// Calls `work` with the stream's context current, and makes `first` current again afterwards.
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
    /// Returns the index of a stream, and adds it if needed. Its context must be current. `elsewhere` is that
    /// context, or the null handle for the graph's first.
    pub fn index(
        &mut self,
        driver: &'static Driver,
        stream: &Arc<CudaStream>,
        elsewhere: Context,
    ) -> Result<usize> {
        let stream = lasting_stream(stream);
        let raw = Stream::from_cudarc(&stream);
        let is = |owner: &Owner| owner.raw == raw && owner.elsewhere == elsewhere;
        if let Some(at) = self.list.iter().position(is) {
            return Ok(at);
        }
        let event = OwnedEvent::new(driver, stream.context())?;
        self.list.push(Owner { stream, raw, elsewhere, event, pending: false, borrowed: 0 });
        Ok(self.list.len() - 1)
    }
}
