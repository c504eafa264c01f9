//! [`Buffer`]: device memory that any number of execs share, also mutably. The ledger (`ledger.rs`) orders
//! conflicting launches automatically; `buffer_view.rs` has the access to the elements.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cudarc::driver::{
    CudaContext, CudaSlice, CudaStream, CudaView, DevicePtr, DevicePtrMut, DeviceRepr, DeviceSlice,
    DriverError, SyncOnDrop, ValidAsZeroBits, sys,
};
use cuweave_core::index::wide;

use crate::context::{self, refuse_capture};
use crate::cuda::{self, Driver, DropOrLeak, Failure, ManagedMemory, OwnedBuffer, RuntimeContext, Stream};
use crate::error::{Error, Result};
use crate::waits::{OwnedEvent, lasting_stream};

use super::foreign_elements::ForeignElements;
use super::ledger::{Ledger, TrackedBuffer};
use super::managed_state::ManagedState;
use super::multicast::mapped::MappedElements;
use super::multicast::reached::ReachedMemory;
use super::users::User;

/// Device memory with shared ownership. Any number of execs can bind it, for reads and writes.
///
/// Clones share the memory. `&buffer` binds to `&[T; len]` and to `&mut [T; len]`. Each launch is ordered after
/// every earlier conflicting launch, also across execs, streams and threads. While all launches are on one
/// stream, this needs no driver call. A launch on another stream waits for one event for each stream in use.
///
/// Access the elements through [`Buffer::with`] and [`Buffer::with_mut`], or copy them by [`Buffer::to_host`]
/// and [`Buffer::copy_from_host`]. When the last clone and all execs that bind it are dropped, the memory is
/// freed in stream order after all uses.
pub struct Buffer<T> {
    memory: Arc<BufferMemory<T>>,
}

/// The memory that a buffer shares with its clones.
struct BufferMemory<T> {
    tracked: Arc<TrackedBuffer>,
    address: u64,
    /// Leaked if nothing can wait for its uses.
    elements: DropOrLeak<BufferElements<T>>,
    stays: Arc<AtomicBool>,
}

/// The elements of a buffer, by the way that they are freed.
enum BufferElements<T> {
    /// Freed in stream order.
    Cudarc(OwnedBuffer<T>),
    /// Freed by the host.
    Managed(ManagedMemory<T>),
    /// A part of memory for multicast objects, or of a mapping. Their owner waits for its uses.
    Mapped(MappedElements<T>),
    /// Memory of another allocator.
    Foreign(ForeignElements),
}

impl<T> BufferElements<T> {
    fn view(&self) -> CudaView<'_, T> {
        match self {
            BufferElements::Cudarc(slice) => slice.as_view(),
            BufferElements::Managed(slice) => slice.as_view(),
            BufferElements::Mapped(elements) => elements.view(),
            BufferElements::Foreign(elements) => elements.view(),
        }
    }

    fn stream(&self) -> &Arc<CudaStream> {
        match self {
            BufferElements::Cudarc(slice) => slice.stream(),
            BufferElements::Managed(slice) => slice.stream(),
            BufferElements::Mapped(elements) => elements.stream(),
            BufferElements::Foreign(elements) => elements.stream(),
        }
    }
}

impl<T> Drop for BufferMemory<T> {
    fn drop(&mut self) {
        let over = match &*self.elements {
            BufferElements::Cudarc(slice) => self.tracked.end(&lasting_stream(slice.stream())),
            BufferElements::Managed(_) => self.tracked.end_on_host(),
            BufferElements::Mapped(_) => true,
            BufferElements::Foreign(elements) => {
                elements.release(&self.tracked);
                true
            }
        };
        self.stays.store(!over, Ordering::Relaxed);
    }
}

impl<T> Buffer<T> {
    /// Takes ownership of a cudarc buffer. It will be freed on its stream.
    ///
    /// # Errors
    ///
    /// The stream of the buffer is capturing; a failure of the driver. The memory is freed in both cases.
    pub fn new(mut slice: CudaSlice<T>) -> Result<Buffer<T>> {
        let driver = cuda::driver()?;
        let (ctx, owner) = (slice.context().clone(), lasting_stream(slice.stream()));
        context::enter(driver, &ctx)?;
        if driver.is_capturing(Stream::from_cudarc(&owner))? {
            return Err(Error::OwnerCapturing);
        }
        let address = wait_for_recorded(driver, &mut slice, &owner)?;
        let ledger = Ledger::shared(driver);
        let made = Arc::new(OwnedEvent::new(driver, &ctx)?);
        driver.record(made.raw(), Stream::from_cudarc(&owner))?;
        let user = User::new(made);
        user.used(ledger.lock().next_place(), &owner, true);
        user.end();
        let tracked = Arc::new(TrackedBuffer::new(ledger, ctx, user));
        Ok(Buffer::from_parts(tracked, address, BufferElements::Cudarc(OwnedBuffer::new(slice))))
    }

    /// Returns the buffer of new managed memory. The only use so far may be the work in `stream`.
    pub(super) fn managed(
        driver: &'static Driver,
        stream: &Arc<CudaStream>,
        memory: ManagedMemory<T>,
        managed_state: ManagedState,
    ) -> Result<Buffer<T>> {
        let address = managed_state.address;
        let mut tracked = TrackedBuffer::used_by(driver, stream)?;
        tracked.managed_state = Some(managed_state);
        Ok(Buffer::from_parts(Arc::new(tracked), address, BufferElements::Managed(memory)))
    }

    /// Returns a buffer of elements of memory that outlives it.
    pub(super) fn from_mapped(elements: MappedElements<T>) -> Buffer<T> {
        let (tracked, address) = (elements.tracked().clone(), elements.address());
        Buffer::from_parts(tracked, address, BufferElements::Mapped(elements))
    }

    /// Returns a buffer of memory of another allocator.
    pub(super) fn from_foreign(
        tracked: Arc<TrackedBuffer>,
        address: u64,
        elements: ForeignElements,
    ) -> Buffer<T> {
        Buffer::from_parts(tracked, address, BufferElements::Foreign(elements))
    }

    fn from_parts(tracked: Arc<TrackedBuffer>, address: u64, elements: BufferElements<T>) -> Buffer<T> {
        let stays = Arc::<AtomicBool>::default();
        let elements = DropOrLeak::new(elements, stays.clone());
        Buffer { memory: Arc::new(BufferMemory { tracked, address, elements, stays }) }
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.elements().len()
    }

    /// Returns true if it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the size in bytes.
    pub fn num_bytes(&self) -> usize {
        self.elements().num_bytes()
    }

    /// Returns the context of the memory.
    pub fn context(&self) -> &Arc<CudaContext> {
        self.stream().context()
    }

    /// Returns the stream on which the memory is freed.
    pub fn stream(&self) -> &Arc<CudaStream> {
        self.memory.elements.stream()
    }

    /// Returns true if both share the same memory.
    pub fn is_same(&self, other: &Buffer<T>) -> bool {
        Arc::ptr_eq(&self.memory, &other.memory)
    }

    /// Returns the elements, without order.
    pub(super) fn elements(&self) -> CudaView<'_, T> {
        self.memory.elements.view()
    }

    pub(crate) fn address(&self) -> u64 {
        self.memory.address
    }

    /// Returns the physical memory of the elements, if it may be bound to multicast objects.
    pub(crate) fn reached(&self) -> Option<Arc<ReachedMemory>> {
        self.mapped().map(|elements| Arc::new(ReachedMemory::new(elements)))
    }

    /// Returns the elements if they are memory for multicast objects, or a mapping.
    pub(super) fn mapped(&self) -> Option<&MappedElements<T>> {
        match &*self.memory.elements {
            BufferElements::Mapped(elements) => Some(elements),
            BufferElements::Cudarc(_) | BufferElements::Managed(_) | BufferElements::Foreign(_) => None,
        }
    }

    /// Returns the elements if they are memory of another allocator.
    pub(super) fn foreign(&self) -> Option<&ForeignElements> {
        match &*self.memory.elements {
            BufferElements::Foreign(elements) => Some(elements),
            BufferElements::Cudarc(_) | BufferElements::Managed(_) | BufferElements::Mapped(_) => None,
        }
    }

    pub(crate) fn tracked(&self) -> &Arc<TrackedBuffer> {
        &self.memory.tracked
    }
}

impl<T: DeviceRepr + ValidAsZeroBits> Buffer<T> {
    /// Allocates `len` zeroed elements in stream order.
    ///
    /// # Errors
    ///
    /// Same as [`Buffer::new`]; out of memory; a length of 0; a capturing stream.
    pub fn zeros(stream: &Arc<CudaStream>, len: usize) -> Result<Buffer<T>> {
        refuse_capture(stream)?;
        Buffer::new(allocated::<T, _>("cuMemAllocAsync", len, stream.alloc_zeros(len))?)
    }
}

impl<T: DeviceRepr> Buffer<T> {
    /// Allocates memory in stream order and copies `elements` into it.
    ///
    /// # Errors
    ///
    /// Same as [`Buffer::new`]; out of memory; a length of 0; a capturing stream.
    pub fn from_host(stream: &Arc<CudaStream>, elements: &[T]) -> Result<Buffer<T>> {
        refuse_capture(stream)?;
        let copied = stream.clone_htod(elements);
        Buffer::new(allocated::<T, _>("cuMemcpyHtoDAsync_v2", elements.len(), copied)?)
    }
}

/// Converts the result of a cudarc call that allocates `len` elements and then initialises them by `call`.
fn allocated<T, V>(call: &'static str, len: usize, result: std::result::Result<V, DriverError>) -> Result<V> {
    result.map_err(|error| {
        let failure = Failure::from_cudarc(call, error);
        let call = if failure.is_out_of_memory() { "cuMemAllocAsync" } else { call };
        Error::allocation(Failure { call, ..failure }, None, wide(len.saturating_mul(size_of::<T>())))
    })
}

/// Converts the result of a cudarc call.
pub(crate) fn cudarc_result<V>(call: &'static str, result: std::result::Result<V, DriverError>) -> Result<V> {
    result.map_err(|error| Error::from(Failure::from_cudarc(call, error)))
}

/// Makes the owning stream of a buffer wait for all uses that cudarc has recorded. Returns the buffer's
/// address.
fn wait_for_recorded<T>(
    driver: &'static Driver,
    slice: &mut CudaSlice<T>,
    owner: &CudaStream,
) -> Result<u64> {
    let runtime_context = RuntimeContext::get(driver, owner.context())?;
    let stream = runtime_context.stream(Stream::from_cudarc(owner));
    Ok(runtime_context.watch("cuStreamWaitEvent", || {
        let (address, guard) = slice.device_ptr_mut(&stream);
        std::mem::forget(guard);
        address
    })?)
}

impl<T> Clone for Buffer<T> {
    fn clone(&self) -> Buffer<T> {
        Buffer { memory: self.memory.clone() }
    }
}

/// `T` need not be `Debug`: elements on the device are not printed.
impl<T> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer").field("len", &self.len()).finish_non_exhaustive()
    }
}

/// A bound [`Buffer`]. Dereferences to the buffer.
///
/// Its cudarc device pointer is 0, which no call accepts. Use [`Buffer::with`] for the elements.
#[derive(Clone, Debug)]
pub struct BoundBuffer<T>(pub(crate) Buffer<T>);

impl<T> Deref for BoundBuffer<T> {
    type Target = Buffer<T>;

    fn deref(&self) -> &Buffer<T> {
        &self.0
    }
}

impl<T> DeviceSlice<T> for BoundBuffer<T> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn stream(&self) -> &Arc<CudaStream> {
        self.0.stream()
    }
}

impl<T> DevicePtr<T> for BoundBuffer<T> {
    fn device_ptr<'a>(&'a self, _: &'a CudaStream) -> (sys::CUdeviceptr, SyncOnDrop<'a>) {
        (0, SyncOnDrop::Record(None))
    }
}

impl<T> DevicePtrMut<T> for BoundBuffer<T> {
    fn device_ptr_mut<'a>(&'a mut self, _: &'a CudaStream) -> (sys::CUdeviceptr, SyncOnDrop<'a>) {
        (0, SyncOnDrop::Record(None))
    }
}
