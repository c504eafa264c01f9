//! Operands: the memory that arguments stand for, and what orders the graph with everything else that uses it.
//!
//! Each device buffer has an owning stream: the one that it was allocated on and is freed on. It is the meeting
//! point of the order:
//! - when a buffer is bound, its owning stream waits for the uses that cudarc has recorded, and the first launch
//!   waits for the owning stream;
//! - after each launch, the owning streams of *borrowed* buffers wait for it: one wait a stream. So whatever
//!   becomes of the exec, a borrowed buffer is freed behind the last launch that used it. The events of those that the
//!   graph may write are recorded behind it, so that other streams, too, come after, even if the exec is forgotten;
//!   For those that it only reads, that would cost an event a buffer and launch: a third stream that writes one after its
//!   exec was forgotten is not ordered (`Exec` says so);
//! - owned and shared (`Arc`) buffers need no such wait, since only the end of the exec can free them;
//! - when an operand is given back, its owning stream waits for the last launch, and the buffer's events are
//!   recorded there, so that other streams, too, come after.
//!
//! The per-thread default stream is another stream on each thread under one handle. Where a buffer is owned by
//! one, the legacy default stream stands for it: it is ordered with the per-thread streams of every thread.

use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaStream, DevicePtr, DevicePtrMut, PinnedHostSlice};

use crate::index::wide;
use crate::runtime::cuda::{self, Driver, Event, Failure, Quiet, Stream};
use crate::runtime::error::{Error, Result};
use crate::runtime::waits::{OwnedEvent, SideStream, home};

use super::output::{OutputDescription, Slot};

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
}

impl Operand {
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
    fn index(&mut self, driver: &'static Driver, stream: &Arc<CudaStream>) -> Result<usize> {
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

/// The visitor of bound arguments: collects their operands.
pub struct Visitor<'v> {
    ctx: &'v Arc<CudaContext>,
    owners: &'v mut Owners,
    /// cudarc's object of each owning stream that has been asked for: waits go through it.
    waiting: Vec<Option<Arc<CudaStream>>>,
    found: Vec<Operand>,
    error: Option<Error>,
}

impl<'v> Visitor<'v> {
    /// Returns a visitor without operands. The context must be current.
    pub(crate) fn new(ctx: &'v Arc<CudaContext>, owners: &'v mut Owners) -> Visitor<'v> {
        Visitor { ctx, owners, waiting: Vec::new(), found: Vec::new(), error: None }
    }

    /// Returns the operands in the order of the visits, or the first error.
    pub(crate) fn finish(mut self) -> Result<Vec<Operand>> {
        if self.error.is_none()
            && let Err(error) = self.check_owners()
        {
            self.error = Some(error);
        }
        self.error.map_or(Ok(self.found), Err)
    }

    /// Checks that no owning stream was drawn into a capture: a stream that waits for an event of a capture joins it.
    fn check_owners(&self) -> Result<()> {
        let driver = cuda::driver()?;
        for (owner, _) in self.owners.list.iter().zip(&self.waiting).filter(|(_, waiting)| waiting.is_some())
        {
            if driver.is_capturing(owner.raw)? {
                return Err(Error::OwnerCapturing);
            }
        }
        Ok(())
    }

    fn push(&mut self, stream: &Arc<CudaStream>, operand: impl FnOnce(&CudaStream) -> Operand) {
        self.try_push(stream, |_, owner, quiet| quiet.watch("cuStreamWaitEvent", || operand(owner)));
    }

    /// Adds an operand; `operand` makes its owning stream wait for its uses.
    fn try_push(
        &mut self,
        stream: &Arc<CudaStream>,
        operand: impl FnOnce(&'static Driver, &CudaStream, &Quiet) -> std::result::Result<Operand, Failure>,
    ) {
        if self.error.is_some() {
            return;
        }
        match self.of_owner(stream, operand) {
            Ok(found) => self.found.push(found),
            Err(error) => self.error = Some(error),
        }
    }

    fn of_owner(
        &mut self,
        stream: &Arc<CudaStream>,
        operand: impl FnOnce(&'static Driver, &CudaStream, &Quiet) -> std::result::Result<Operand, Failure>,
    ) -> Result<Operand> {
        let driver = cuda::driver()?;
        let quiet = Quiet::of(driver, self.ctx)?;
        if **stream.context() != **self.ctx {
            // A buffer of another context is only noted, to be refused: its streams and events are not used.
            return Ok(Operand { same_context: false, owner: None, ..operand(driver, stream, quiet)? });
        }
        let at = self.owners.index(driver, stream)?;
        self.waiting.resize(self.owners.list.len(), None);
        let owner = match &mut self.waiting[at] {
            Some(owner) => owner.clone(),
            unasked => {
                let raw = self.owners.list[at].raw;
                if driver.is_capturing(raw)? {
                    return Err(Error::OwnerCapturing);
                }
                unasked.insert(quiet.stream(raw)).clone()
            }
        };
        Ok(Operand { owner: Some(at), ..operand(driver, &owner, quiet)? })
    }

    /// Adds an output of another graph, of which the graph uses the elements from an address on.
    pub(crate) fn output<T>(
        &mut self,
        slot: &Arc<Slot>,
        stream: &Arc<CudaStream>,
        address: u64,
        len: usize,
        exclusive: bool,
    ) {
        self.try_push(stream, |_, owner, _| {
            let [read, write] = slot.bind(Stream::of(owner), exclusive)?;
            Ok(Operand {
                kind: MemoryKind::Device,
                address,
                len: wide(len),
                element: wide(size_of::<T>()),
                same_context: true,
                borrowed: true,
                exclusive,
                owner: None,
                read,
                write: if exclusive { write } else { Event::NONE },
                recorded: if exclusive { write } else { Event::NONE },
                slot: None,
                output: Some(slot.clone()),
            })
        });
    }

    /// Adds a buffer that others may read while it is bound.
    pub(crate) fn shared<T, B: DevicePtr<T>>(
        &mut self,
        buffer: &B,
        stream: &Arc<CudaStream>,
        borrowed: bool,
    ) {
        self.push(stream, |owner| {
            // The owner waits for writes; there is nothing to record yet.
            let (address, guard) = buffer.device_ptr(owner);
            let read = cuda::guarded(&guard);
            std::mem::forget(guard);
            Operand {
                kind: MemoryKind::Device,
                address,
                len: wide(buffer.len()),
                element: wide(size_of::<T>()),
                same_context: true,
                borrowed,
                exclusive: false,
                owner: None,
                read,
                write: Event::NONE,
                recorded: Event::NONE,
                slot: None,
                output: None,
            }
        });
    }

    /// Adds a buffer that nobody else can use while it is bound.
    pub(crate) fn exclusive<T, B: DevicePtrMut<T> + DevicePtr<T>>(&mut self, buffer: &mut B, borrowed: bool) {
        let stream = buffer.stream().clone();
        self.push(&stream, |owner| {
            // The owner waits for reads and writes.
            let (_, guard) = buffer.device_ptr_mut(owner);
            let write = cuda::guarded(&guard);
            std::mem::forget(guard);
            let (address, guard) = buffer.device_ptr(owner);
            let read = cuda::guarded(&guard);
            std::mem::forget(guard);
            Operand {
                kind: MemoryKind::Device,
                address,
                len: wide(buffer.len()),
                element: wide(size_of::<T>()),
                same_context: true,
                borrowed,
                exclusive: true,
                owner: None,
                read,
                write,
                recorded: if borrowed { write } else { Event::NONE },
                slot: None,
                output: None,
            }
        });
    }

    /// Adds pinned host memory.
    pub(crate) fn pinned<T>(&mut self, memory: &PinnedHostSlice<T>, borrowed: bool, mutable: bool) {
        if self.error.is_some() {
            return;
        }
        let (address, read) = match self.pinned_parts(memory) {
            Ok(parts) => parts,
            Err(error) => {
                self.error = Some(error);
                return;
            }
        };
        self.found.push(Operand {
            kind: MemoryKind::Pinned,
            address,
            len: wide(memory.len()),
            element: wide(size_of::<T>()),
            same_context: **memory.context() == **self.ctx,
            borrowed,
            exclusive: mutable,
            owner: None,
            read,
            write: Event::NONE,
            recorded: Event::NONE,
            slot: None,
            output: None,
        });
    }

    /// Returns the address of pinned memory, and the event of its uses, which the first launch waits for.
    fn pinned_parts<T>(&self, memory: &PinnedHostSlice<T>) -> Result<(u64, Event)> {
        let driver = cuda::driver()?;
        let quiet = Quiet::of(driver, self.ctx)?;
        // cudarc gives the event only with a wait of a stream for it: the side stream has nobody else's work.
        let side = SideStream::of(driver, self.ctx)?;
        let stream = quiet.stream(side.raw());
        Ok(quiet.watch("cuStreamWaitEvent", || cuda::pinned_parts(memory, &stream))?)
    }

    /// Adds the output of another graph.
    pub(crate) fn taken<T>(&mut self, output: &OutputDescription<T>) {
        self.found.push(Operand {
            kind: MemoryKind::Taken,
            address: output.slot().address(),
            len: output.len(),
            element: wide(size_of::<T>()),
            same_context: **output.slot().context() == **self.ctx,
            borrowed: false,
            exclusive: true,
            owner: None,
            read: Event::NONE,
            write: Event::NONE,
            recorded: Event::NONE,
            slot: Some(output.slot().clone()),
            output: None,
        });
    }
}
