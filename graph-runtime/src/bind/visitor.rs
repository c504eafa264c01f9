//! Visits bound arguments and collects their operands. Binding makes the owning stream of each buffer wait for
//! the buffer's earlier uses.

use std::fmt;
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaStream, DevicePtr, DevicePtrMut, PinnedHostSlice, SyncOnDrop};
use cuweave_core::ids::Device;
use cuweave_core::index::Vector;

use crate::cuda::{self, Context, Event, Failure, RuntimeContext, Stream};
use crate::error::{Error, MemoryKind, Result};
use crate::waits::SideStream;

use super::buffer::Buffer;
use super::operand::{Operand, Owners};
use super::output::{OutputDescription, OutputSlot};
use super::view_order::ViewedOperand;

/// Collects the operands of bound arguments. After the first error, further arguments are ignored.
pub struct Visitor<'v> {
    /// The contexts of the graph's devices.
    contexts: &'v Vector<Device, Arc<CudaContext>>,
    owners: &'v mut Owners,
    /// cudarc's objects for the owning streams, through which these wait. Indexed like `owners`.
    waiting: Vec<Option<Arc<CudaStream>>>,
    found: Vec<Operand>,
    error: Option<Error>,
}

impl fmt::Debug for Visitor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Visitor").field("operands", &self.found.len()).finish_non_exhaustive()
    }
}

impl<'v> Visitor<'v> {
    /// Returns a visitor without operands. The first context must be current.
    pub(crate) fn new(contexts: &'v Vector<Device, Arc<CudaContext>>, owners: &'v mut Owners) -> Visitor<'v> {
        Visitor { contexts, owners, waiting: Vec::new(), found: Vec::new(), error: None }
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

    /// Checks that no owning stream has joined a capture by waiting for one of its events.
    fn check_owners(&self) -> Result<()> {
        let driver = cuda::driver()?;
        for (owner, _) in self.owners.list.iter().zip(&self.waiting).filter(|(_, waiting)| waiting.is_some())
        {
            if owner.within(driver, Context::from_cudarc(self.ctx()), || driver.is_capturing(owner.raw))? {
                return Err(Error::OwnerCapturing);
            }
        }
        Ok(())
    }

    /// Returns the graph's first device that uses this context.
    fn device_of(&self, ctx: &CudaContext) -> Option<Device> {
        self.contexts.position(|known| **known == *ctx)
    }

    /// Returns the context of the first device.
    fn ctx(&self) -> &'v Arc<CudaContext> {
        &self.contexts[Device::FIRST]
    }

    /// Adds an operand. `operand` makes its owning stream wait for its uses.
    fn try_push(
        &mut self,
        stream: &Arc<CudaStream>,
        operand: impl FnOnce(&CudaStream, &RuntimeContext) -> std::result::Result<Operand, Failure>,
    ) {
        if self.error.is_some() {
            return;
        }
        let found = self.of_owner(stream, operand).and_then(|found| {
            if found.device.is_some_and(|device| device != Device::FIRST) {
                cuda::driver()?.enter(Context::from_cudarc(self.ctx()))?;
            }
            Ok(found)
        });
        match found {
            Ok(found) => self.found.push(found),
            Err(error) => self.error = Some(error),
        }
    }

    fn of_owner(
        &mut self,
        stream: &Arc<CudaStream>,
        operand: impl FnOnce(&CudaStream, &RuntimeContext) -> std::result::Result<Operand, Failure>,
    ) -> Result<Operand> {
        let driver = cuda::driver()?;
        let Some(device) = self.device_of(stream.context()) else {
            // A buffer of another context is rejected later. Its streams and events are not used.
            let runtime_context = RuntimeContext::get(driver, self.ctx())?;
            return Ok(Operand { device: None, owner: None, ..operand(stream, runtime_context)? });
        };
        if device != Device::FIRST {
            driver.enter(Context::from_cudarc(stream.context()))?;
        }
        let runtime_context = RuntimeContext::get(driver, stream.context())?;
        let first = device == Device::FIRST;
        let elsewhere = if first { Context::NONE } else { Context::from_cudarc(stream.context()) };
        let at = self.owners.index(driver, stream, elsewhere)?;
        self.waiting.resize(self.owners.list.len(), None);
        let owner = match &mut self.waiting[at] {
            Some(owner) => owner.clone(),
            unasked => {
                let raw = self.owners.list[at].raw;
                if driver.is_capturing(raw)? {
                    return Err(Error::OwnerCapturing);
                }
                unasked.insert(runtime_context.stream(raw)).clone()
            }
        };
        let per_thread = Stream::from_cudarc(stream).is_per_thread();
        let found = operand(&owner, runtime_context)?;
        Ok(Operand { device: Some(device), elsewhere, owner: Some(at), per_thread, ..found })
    }

    /// Adds `len` elements of another graph's output, starting at `address`.
    pub(crate) fn output<T>(
        &mut self,
        slot: &Arc<OutputSlot>,
        stream: &Arc<CudaStream>,
        address: u64,
        len: usize,
        exclusive: bool,
    ) {
        self.try_push(stream, |owner, _| {
            slot.bind(Stream::from_cudarc(owner), exclusive)?;
            let operand = Operand::new::<T>(MemoryKind::Device, address, len, true, exclusive);
            Ok(Operand { output: Some(slot.clone()), ..operand })
        });
    }

    /// Adds a buffer that others may read while it is bound.
    pub(crate) fn shared<T, B: DevicePtr<T>>(
        &mut self,
        buffer: &B,
        lent: Option<ViewedOperand>,
        borrowed: bool,
    ) {
        self.device::<T>(buffer.stream(), buffer.len(), lent, borrowed, false, |owner| {
            let (address, read) = reads(buffer, owner);
            (address, [read, Event::NONE])
        });
    }

    /// Adds a buffer that nobody else can use while it is bound.
    pub(crate) fn exclusive<T, B: DevicePtrMut<T> + DevicePtr<T>>(
        &mut self,
        buffer: &mut B,
        lent: Option<ViewedOperand>,
        borrowed: bool,
    ) {
        let (stream, len) = (buffer.stream().clone(), buffer.len());
        self.device::<T>(&stream, len, lent, borrowed, true, |owner| {
            // Makes the owning stream wait for reads and writes.
            let (_, guard) = buffer.device_ptr_mut(owner);
            let write = unused(guard);
            let (address, read) = reads(buffer, owner);
            (address, [read, write])
        });
    }

    /// Adds device memory. `events` makes its owning stream wait for its uses, and returns its address and the
    /// events of its reads and writes.
    fn device<T>(
        &mut self,
        stream: &Arc<CudaStream>,
        len: usize,
        lent: Option<ViewedOperand>,
        borrowed: bool,
        exclusive: bool,
        events: impl FnOnce(&CudaStream) -> (u64, [Event; 2]),
    ) {
        self.try_push(stream, |owner, runtime_context| {
            if let Some(lent) = lent {
                lent.order(Stream::from_cudarc(owner), None, exclusive)?;
            }
            let (address, [read, write]) = runtime_context.watch("cuStreamWaitEvent", || events(owner))?;
            let recorded = if borrowed { write } else { Event::NONE };
            let operand = Operand::new::<T>(MemoryKind::Device, address, len, borrowed, exclusive);
            Ok(Operand { read, write, recorded, ..operand })
        });
    }

    /// Adds pinned host memory.
    pub(crate) fn pinned<T>(&mut self, memory: &PinnedHostSlice<T>, borrowed: bool, mutable: bool) {
        if self.error.is_some() {
            return;
        }
        let operand =
            |address| Operand::new::<T>(MemoryKind::Pinned, address, memory.len(), borrowed, mutable);
        let Some(device) = self.device_of(memory.context()) else {
            self.found.push(Operand { device: None, ..operand(0) });
            return;
        };
        match self.pinned_operand(memory, device, operand) {
            Ok(found) => self.found.push(found),
            Err(error) => self.error = Some(error),
        }
    }

    /// Returns the operand of pinned memory, with the event for which the first launch waits. `operand` makes
    /// it from the address.
    ///
    /// All devices can access host memory that the driver has allocated in any context, portable or not, if
    /// they support unified addressing. All devices of 64-bit processes do (CUDA driver API, unified
    /// addressing). The event belongs to the memory's own context. If that is not the graph's first, the event
    /// is recorded in the side stream.
    fn pinned_operand<T>(
        &self,
        memory: &PinnedHostSlice<T>,
        device: Device,
        operand: impl FnOnce(u64) -> Operand,
    ) -> Result<Operand> {
        let driver = cuda::driver()?;
        let ctx = &self.contexts[device];
        driver.enter(Context::from_cudarc(ctx))?;
        let runtime_context = RuntimeContext::get(driver, ctx)?;
        // cudarc only returns the event together with a stream's wait for it. The side stream has no other
        // work.
        let side = SideStream::shared(driver, ctx)?;
        let stream = runtime_context.stream(side.raw());
        let (address, read) =
            runtime_context.watch("cuStreamWaitEvent", || cuda::pinned_parts(memory, &stream))?;
        driver.enter(Context::from_cudarc(self.ctx()))?;
        let side = (**ctx != **self.ctx()).then_some(side);
        Ok(Operand { device: Some(device), read, side, ..operand(address) })
    }

    /// Adds the output of another graph, which launches consume.
    pub(crate) fn taken<T>(&mut self, output: &OutputDescription<T>) {
        let slot = output.slot();
        let operand = Operand::new::<T>(MemoryKind::Taken, slot.address(), 0, false, true);
        // The free node of a consumed output is on the first device.
        let device = self.device_of(slot.context()).filter(|&device| device == Device::FIRST);
        self.found.push(Operand { len: output.len(), device, slot: Some(slot.clone()), ..operand });
    }

    /// Adds a buffer that other execs may use between launches.
    pub(crate) fn buffer<T>(&mut self, buffer: &Buffer<T>, exclusive: bool) {
        let (tracked, reached) = (buffer.tracked(), buffer.reached());
        let operand = Operand::new::<T>(MemoryKind::Device, buffer.address(), buffer.len(), false, exclusive);
        // Managed memory is valid on all devices, whatever context it was allocated in.
        let everywhere = tracked.managed_state.is_some().then_some(Device::FIRST);
        let device = match reached.as_ref().and_then(|reached| reached.object()) {
            Some(object) => self.contexts.position(|ctx| object.has_device(ctx)),
            None => self.device_of(buffer.context()).or(everywhere),
        };
        self.found.push(Operand { device, shared: Some(tracked.clone()), reached, ..operand });
    }

    /// Records the error for memory that cannot be bound.
    pub(crate) fn refuse(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }
}

/// Makes a stream wait for the writes of a buffer. Returns the buffer's address and the event of its reads.
fn reads<T>(buffer: &impl DevicePtr<T>, stream: &CudaStream) -> (u64, Event) {
    let (address, guard) = buffer.device_ptr(stream);
    (address, unused(guard))
}

/// Returns the event of a guard without recording it, since there was no use.
fn unused(guard: SyncOnDrop<'_>) -> Event {
    let event = cuda::guard_event(&guard);
    std::mem::forget(guard);
    event
}
