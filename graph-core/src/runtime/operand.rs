//! Operands: the memory that arguments stand for, and what orders the graph with everything else that uses it.
//!
//! Each device buffer has an owning stream: the one that it was allocated on and is freed on. It is the meeting
//! point of the order:
//! - when a buffer is bound, its owning stream waits for the uses that cudarc has recorded, and the first launch
//!   waits for the owning stream;
//! - after each launch, the owning streams of *borrowed* buffers wait for it: one wait a stream. So whatever
//!   becomes of the exec, a borrowed buffer is freed behind the last launch that used it;
//! - owned and shared (`Arc`) buffers need no such wait, since only the end of the exec can free them;
//! - when an operand is given back, its owning stream waits for the last launch, and the buffer's events are
//!   recorded there, so that other streams, too, come after.
//!
//! The per-thread default stream is another stream on each thread under one handle. Where a buffer is owned by
//! one, the legacy default stream stands for it: it is ordered with the per-thread streams of every thread.

use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaEvent, CudaStream, DevicePtr, DevicePtrMut, PinnedHostSlice};

use super::driver::{self, Event, Failure, Stream};
use super::error::{Error, Result};
use super::output::{OutputDescription, Slot};

/// What kind of memory an operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MemoryKind {
    /// Device memory.
    Device,
    /// Pinned host memory.
    Pinned,
    /// The allocation of another graph.
    Taken,
}

/// A bound buffer.
#[derive(Clone, Debug)]
pub(super) struct Operand {
    pub kind: MemoryKind,
    pub address: u64,
    /// In elements.
    pub len: u64,
    /// `size_of` its element.
    pub element: u64,
    pub same_context: bool,
    /// Whether the caller keeps the buffer, and may end its life behind our back.
    pub borrowed: bool,
    /// Whether nobody else can use the buffer while it is bound.
    pub exclusive: bool,
    /// Which owning stream.
    pub owner: Option<usize>,
    /// The events in which cudarc records reads and writes. Pinned memory has one for both: `read`.
    pub read: Event,
    pub write: Event,
    /// The output that a taken argument stands for.
    pub slot: Option<Arc<Slot>>,
}

/// An owning stream.
#[derive(Debug)]
pub(super) struct Owner {
    pub stream: Arc<CudaStream>,
    pub raw: Stream,
    /// For the launch stream to wait for it.
    pub event: CudaEvent,
    /// Whether the next launch has to.
    pub pending: bool,
    /// How many borrowed operands are its.
    pub borrowed: u32,
}

/// The owning streams of a graph's operands.
#[derive(Debug, Default)]
pub(super) struct Owners {
    pub list: Vec<Owner>,
}

/// The stream that stands for a stream in orders that outlast a call (see the module's page).
pub(super) fn home(stream: &Arc<CudaStream>) -> Arc<CudaStream> {
    if Stream::of(stream).is_per_thread() { stream.context().default_stream() } else { stream.clone() }
}

impl Owners {
    fn index(&mut self, stream: &Arc<CudaStream>) -> Result<usize> {
        let stream = home(stream);
        let raw = Stream::of(&stream);
        if let Some(at) = self.list.iter().position(|owner| owner.raw == raw) {
            return Ok(at);
        }
        let event = stream
            .context()
            .new_event(None)
            .map_err(|error| Error::from(Failure::of("cuEventCreate", error)))?;
        self.list.push(Owner { stream, raw, event, pending: false, borrowed: 0 });
        Ok(self.list.len() - 1)
    }
}

/// Looks at bound arguments.
pub struct Visitor<'v> {
    ctx: &'v Arc<CudaContext>,
    owners: &'v mut Owners,
    found: Vec<Operand>,
    error: Option<Error>,
}

impl<'v> Visitor<'v> {
    /// Nothing seen yet.
    pub(super) fn new(ctx: &'v Arc<CudaContext>, owners: &'v mut Owners) -> Visitor<'v> {
        Visitor { ctx, owners, found: Vec::new(), error: None }
    }

    /// What was seen.
    pub(super) fn finish(self) -> Result<Vec<Operand>> {
        self.error.map_or(Ok(self.found), Err)
    }

    fn push(&mut self, stream: &Arc<CudaStream>, operand: impl FnOnce(&CudaStream) -> Operand) {
        // A buffer of another context is only noted: its streams and events are none of ours.
        let mut found = if **stream.context() == **self.ctx {
            match self.owners.index(stream) {
                Err(error) => {
                    self.error.get_or_insert(error);
                    return;
                }
                Ok(at) => {
                    let stream = self.owners.list[at].stream.clone();
                    Operand { owner: Some(at), ..operand(&stream) }
                }
            }
        } else {
            Operand { same_context: false, ..operand(stream) }
        };
        if !found.same_context {
            found.owner = None;
        }
        self.found.push(found);
    }

    /// A buffer that others may read meanwhile.
    pub(super) fn shared<T, B: DevicePtr<T>>(
        &mut self,
        buffer: &B,
        stream: &Arc<CudaStream>,
        borrowed: bool,
    ) {
        self.push(stream, |owner| {
            // The owner waits for writes; there is nothing to record yet.
            let (address, guard) = buffer.device_ptr(owner);
            let read = driver::guarded(&guard);
            std::mem::forget(guard);
            Operand {
                kind: MemoryKind::Device,
                address,
                len: buffer.len() as u64,
                element: size_of::<T>() as u64,
                same_context: true,
                borrowed,
                exclusive: false,
                owner: None,
                read,
                write: Event::NONE,
                slot: None,
            }
        });
    }

    /// A buffer that is ours alone while it is bound.
    pub(super) fn exclusive<T, B: DevicePtrMut<T> + DevicePtr<T>>(&mut self, buffer: &mut B, borrowed: bool) {
        let stream = buffer.stream().clone();
        self.push(&stream, |owner| {
            // The owner waits for reads and writes.
            let (_, guard) = buffer.device_ptr_mut(owner);
            let write = driver::guarded(&guard);
            std::mem::forget(guard);
            let (address, guard) = buffer.device_ptr(owner);
            let read = driver::guarded(&guard);
            std::mem::forget(guard);
            Operand {
                kind: MemoryKind::Device,
                address,
                len: buffer.len() as u64,
                element: size_of::<T>() as u64,
                same_context: true,
                borrowed,
                exclusive: true,
                owner: None,
                read,
                write,
                slot: None,
            }
        });
    }

    /// Pinned host memory.
    pub(super) fn pinned<T>(&mut self, memory: &PinnedHostSlice<T>, borrowed: bool, mutable: bool) {
        let (address, read) = driver::pinned_parts(memory, &self.ctx.default_stream());
        self.found.push(Operand {
            kind: MemoryKind::Pinned,
            address,
            len: memory.len() as u64,
            element: size_of::<T>() as u64,
            same_context: **memory.context() == **self.ctx,
            borrowed,
            exclusive: mutable,
            owner: None,
            read,
            write: Event::NONE,
            slot: None,
        });
    }

    /// The output of another graph.
    pub(super) fn taken<T>(&mut self, output: &OutputDescription<T>) {
        self.found.push(Operand {
            kind: MemoryKind::Taken,
            address: output.slot().address(),
            len: output.len(),
            element: size_of::<T>() as u64,
            same_context: **output.slot().context() == **self.ctx,
            borrowed: false,
            exclusive: true,
            owner: None,
            read: Event::NONE,
            write: Event::NONE,
            slot: Some(output.slot().clone()),
        });
    }
}
