//! Device memory that any number of execs share, also mutably: conflicting launches are ordered automatically.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cudarc::driver::{
    CudaContext, CudaSlice, CudaStream, DevicePtr, DevicePtrMut, DeviceRepr, DeviceSlice, DriverError,
    SyncOnDrop, ValidAsZeroBits, sys,
};

use crate::context;
use crate::cuda::{self, Driver, Failure, Keep, ManagedMemory, Own, Quiet, Stream};
use crate::error::{Error, Result};
use crate::waits::{OwnedEvent, home};

use super::ledger::{Ledger, Tracked, User};
use super::unified::Unified;

/// Device memory with shared ownership, which any number of execs bind, to be read or written.
///
/// Clones share the memory. `&buffer` binds to `&[T; len]` and to `&mut [T; len]`. Each launch is ordered after every earlier conflicting launch,
/// also of other execs, streams and threads. While all launches are on one stream this needs no driver call; a launch on
/// another stream waits for one event for each stream in use.
///
/// The elements are reached through [`Buffer::with`] and [`Buffer::with_mut`], or copied by [`Buffer::to_host`] and
/// [`Buffer::copy_from_host`]. The memory is freed in stream order after all uses, when the last clone and all execs that
/// bind it are dropped.
pub struct Buffer<T> {
    memory: Arc<Memory<T>>,
}

/// The memory of a buffer and of its clones.
struct Memory<T> {
    tracked: Arc<Tracked>,
    /// Leaked if nothing can wait for its uses.
    slice: Keep<Elements<T>>,
    stays: Arc<AtomicBool>,
}

/// The memory of a buffer.
enum Elements<T> {
    /// Freed in the order of its stream.
    Cudarc(Own<T>),
    /// Freed by the host.
    Managed(ManagedMemory<T>),
}

impl<T> Deref for Elements<T> {
    type Target = CudaSlice<T>;

    fn deref(&self) -> &CudaSlice<T> {
        match self {
            Elements::Cudarc(slice) => slice,
            Elements::Managed(slice) => slice,
        }
    }
}

impl<T> Drop for Memory<T> {
    fn drop(&mut self) {
        let over = match &*self.slice {
            Elements::Cudarc(slice) => self.tracked.end(&home(slice.stream())),
            Elements::Managed(_) => self.tracked.end_on_host(),
        };
        self.stays.store(!over, Ordering::Relaxed);
    }
}

impl<T> Buffer<T> {
    /// Takes over a buffer of cudarc. It is freed on its stream.
    ///
    /// # Errors
    ///
    /// The stream of the buffer is capturing; a failure of the driver. The memory is freed in both cases.
    pub fn new(mut slice: CudaSlice<T>) -> Result<Buffer<T>> {
        let driver = cuda::driver()?;
        let (ctx, owner) = (slice.context().clone(), home(slice.stream()));
        context::enter(driver, &ctx)?;
        if driver.is_capturing(Stream::of(&owner))? {
            return Err(Error::OwnerCapturing);
        }
        let address = wait_for_recorded(driver, &mut slice, &owner)?;
        let ledger = Ledger::shared(driver);
        let made = Arc::new(OwnedEvent::new(driver, &ctx)?);
        driver.record(made.raw(), Stream::of(&owner))?;
        let user = User::new(made);
        user.used(&mut ledger.lock(), &owner, true);
        user.end();
        Ok(Buffer::of(Tracked::new(ledger, ctx, address, user), Elements::Cudarc(Own::new(slice))))
    }

    /// Returns the buffer of managed memory, of which the work of `stream` so far may be the only use.
    pub(super) fn managed(
        driver: &'static Driver,
        stream: &Arc<CudaStream>,
        memory: ManagedMemory<T>,
        unified: Unified,
    ) -> Result<Buffer<T>> {
        let ctx = stream.context();
        let ledger = Ledger::shared(driver);
        let made = Arc::new(OwnedEvent::new(driver, ctx)?);
        driver.record(made.raw(), Stream::of(stream))?;
        let user = User::new(made);
        user.used(&mut ledger.lock(), stream, true);
        user.end();
        let mut tracked = Tracked::new(ledger, ctx.clone(), unified.address, user);
        tracked.unified = Some(unified);
        Ok(Buffer::of(tracked, Elements::Managed(memory)))
    }

    fn of(tracked: Tracked, elements: Elements<T>) -> Buffer<T> {
        let (tracked, stays) = (Arc::new(tracked), Arc::<AtomicBool>::default());
        let slice = Keep::new(elements, stays.clone());
        Buffer { memory: Arc::new(Memory { tracked, slice, stays }) }
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.slice().len()
    }

    /// Returns true if it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of bytes.
    pub fn num_bytes(&self) -> usize {
        self.slice().num_bytes()
    }

    /// Returns its context.
    pub fn context(&self) -> &Arc<CudaContext> {
        self.slice().context()
    }

    /// Returns the stream that it is freed on.
    pub fn stream(&self) -> &Arc<CudaStream> {
        self.slice().stream()
    }

    /// Returns true if both share their memory.
    pub fn is_same(&self, other: &Buffer<T>) -> bool {
        Arc::ptr_eq(&self.memory, &other.memory)
    }

    pub(crate) fn slice(&self) -> &CudaSlice<T> {
        &self.memory.slice
    }

    pub(crate) fn tracked(&self) -> &Arc<Tracked> {
        &self.memory.tracked
    }
}

impl<T: DeviceRepr + ValidAsZeroBits> Buffer<T> {
    /// Allocates zeros, in the order of a stream.
    ///
    /// # Errors
    ///
    /// As [`Buffer::new`]; lack of memory; a length of 0; a stream that is capturing.
    pub fn zeros(stream: &Arc<CudaStream>, len: usize) -> Result<Buffer<T>> {
        refuse_capture(stream)?;
        Buffer::new(cudarc_result("cuMemAllocAsync", stream.alloc_zeros(len))?)
    }
}

impl<T: DeviceRepr> Buffer<T> {
    /// Allocates memory in the order of a stream, and copies elements there.
    ///
    /// # Errors
    ///
    /// As [`Buffer::new`]; lack of memory; a length of 0; a stream that is capturing.
    pub fn from_host(stream: &Arc<CudaStream>, elements: &[T]) -> Result<Buffer<T>> {
        refuse_capture(stream)?;
        Buffer::new(cudarc_result("cuMemcpyHtoDAsync_v2", stream.clone_htod(elements))?)
    }
}

/// Refuses a stream that is capturing, since the memory could be freed before the captured work runs.
pub(crate) fn refuse_capture(stream: &CudaStream) -> Result<()> {
    let driver = cuda::driver()?;
    context::enter(driver, stream.context())?;
    if driver.is_capturing(Stream::of(stream))? { Err(Error::BufferCapturing) } else { Ok(()) }
}

/// Converts the result of a cudarc call.
pub(crate) fn cudarc_result<V>(call: &'static str, result: std::result::Result<V, DriverError>) -> Result<V> {
    result.map_err(|error| Error::from(Failure::of(call, error)))
}

/// Makes the owning stream of a buffer wait for all uses that cudarc has recorded, and returns its address.
fn wait_for_recorded<T>(
    driver: &'static Driver,
    slice: &mut CudaSlice<T>,
    owner: &CudaStream,
) -> Result<u64> {
    let quiet = Quiet::of(driver, owner.context())?;
    let stream = quiet.stream(Stream::of(owner));
    Ok(quiet.watch("cuStreamWaitEvent", || {
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

/// The element type need not be `Debug`: elements on the device are not shown.
impl<T> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer").field("len", &self.len()).finish_non_exhaustive()
    }
}

/// A [`Buffer`] that is bound. It dereferences to the buffer.
///
/// As a device buffer for cudarc its address is 0, which no call accepts: [`Buffer::with`] lends the elements.
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
