//! Managed memory: one address for host and device.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex};

use cudarc::driver::{CudaContext, CudaStream, DeviceRepr, ValidAsZeroBits};
use cuweave_core::index::wide;

use crate::context;
use crate::cuda::{
    self, Association, CONCURRENT_MANAGED_ACCESS, Driver, MANAGED_MEMORY, ManagedMemory, Simulator, Stream,
    host_elements, host_elements_mut, page_size, synchronize_devices_without_concurrent_access, whole_pages,
    write_first,
};
use crate::error::{Error, ManagedFault, PlanFault, Result};
use crate::waits::HeldStream;

use super::buffer::{Buffer, refuse_capture};
use super::ledger::{Lent, Tracked};
use super::unified::Unified;

/// The streams that may use managed memory from its allocation on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Attach {
    /// All streams.
    Global,
    /// All streams of devices with concurrent access. On other devices no stream may use the memory until
    /// [`Managed::attach`].
    Host,
}

/// Memory that host and device share under one address (`cuMemAllocManaged`).
///
/// It binds to `&[T; len]` and `&mut [T; len]` like a [`Buffer`], by any number of execs, and to host statements. Each launch is ordered
/// after every earlier conflicting one. Clones share the memory. It begins at a page of the host and has its pages to itself, so
/// that no advice or discard reaches other memory.
///
/// The host reaches the elements by [`Managed::host`] and [`Managed::host_mut`], which wait for all that is in flight. The memory is
/// freed when the last clone and all execs that bind it are dropped; that drop waits for the last launch.
pub struct Managed<T> {
    buffer: Buffer<T>,
}

impl<T: DeviceRepr> Managed<T> {
    /// Allocates in the context of a stream. `elements` are written, or zeros.
    fn new(
        stream: &Arc<CudaStream>,
        len: usize,
        attach: Attach,
        elements: Option<&[T]>,
    ) -> Result<Managed<T>> {
        let driver = cuda::driver()?;
        refuse_capture(stream)?;
        let (ctx, device) = (stream.context(), stream.context().ordinal());
        let bytes = match whole_pages::<T>(len) {
            Some(0) => return Err(Error::Managed(ManagedFault::Empty)),
            None => {
                return Err(Error::Managed(ManagedFault::TooLarge { len, element: size_of::<T>() }));
            }
            Some(bytes) => bytes,
        };
        if driver.device_attribute(ctx, MANAGED_MEMORY)? == 0 {
            return Err(Error::Managed(ManagedFault::Unsupported { device }));
        }
        let concurrent = driver.device_attribute(ctx, CONCURRENT_MANAGED_ACCESS)? != 0;
        let association = match attach {
            Attach::Global => Association::Global,
            Attach::Host => Association::Host,
        };
        let memory = ManagedMemory::<T>::new(driver, stream, wide(len), bytes, association)?;
        let address = memory.address();
        let unified = Unified {
            base: memory.base(),
            address,
            used: len.saturating_mul(size_of::<T>()),
            page: usize::try_from(page_size()).unwrap_or(4096),
            device,
            concurrent,
            association,
            attached: Mutex::new(None),
        };
        let managed = Managed { buffer: Buffer::managed(driver, stream, memory, unified)? };
        // Nothing else uses the memory yet. A device without concurrent access may run something else, though.
        match (elements, attach) {
            (None, Attach::Global) => managed.zero(driver, stream)?,
            (Some(elements), Attach::Global) if !concurrent => {
                managed.buffer.copy_from_host(stream, elements)?;
            }
            (elements, _) => write_first(address, len, elements),
        }
        Ok(managed)
    }

    fn zero(&self, driver: &Driver, stream: &Arc<CudaStream>) -> Result<()> {
        let _lent = self.buffer.lend(stream, true, Lent::Briefly)?;
        let bytes = wide(self.num_bytes());
        Ok(driver.zero(self.buffer.tracked().address, bytes, Stream::of(stream))?)
    }

    /// Allocates memory and copies elements there.
    ///
    /// # Errors
    ///
    /// As [`Managed::zeros`].
    pub fn from_host(stream: &Arc<CudaStream>, elements: &[T], attach: Attach) -> Result<Managed<T>> {
        Managed::new(stream, elements.len(), attach, Some(elements))
    }
}

impl<T: DeviceRepr + ValidAsZeroBits> Managed<T> {
    /// Allocates zeros in the context of a stream: written by the device in the order of the stream, or by the host if the memory is
    /// attached to it.
    ///
    /// # Errors
    ///
    /// A length of 0, or one that no address space holds; a device without managed memory; a stream that is capturing; lack
    /// of memory, or another failure of the driver.
    pub fn zeros(stream: &Arc<CudaStream>, len: usize, attach: Attach) -> Result<Managed<T>> {
        Managed::new(stream, len, attach, None)
    }
}

impl<T> Managed<T> {
    /// Returns the memory as a [`Buffer`], for copies and other uses in streams.
    pub fn as_buffer(&self) -> &Buffer<T> {
        &self.buffer
    }

    pub(super) fn into_buffer(self) -> Buffer<T> {
        self.buffer
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.buffer.len()
    }

    /// Returns true if it has no elements, which is never so.
    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// Returns the number of bytes of its elements.
    pub fn num_bytes(&self) -> usize {
        self.buffer.num_bytes()
    }

    /// Returns its context.
    pub fn context(&self) -> &Arc<CudaContext> {
        self.buffer.context()
    }

    /// Returns true if both share their memory.
    pub fn is_same(&self, other: &Managed<T>) -> bool {
        self.buffer.is_same(&other.buffer)
    }
}

impl<T> Managed<T> {
    pub(super) fn tracked(&self) -> &Tracked {
        self.buffer.tracked()
    }

    /// Returns the state of the memory, and the context as the current one.
    pub(super) fn enter(&self) -> Result<(&'static Driver, &Unified)> {
        let driver = cuda::driver()?;
        context::enter(driver, self.context())?;
        match &self.tracked().unified {
            Some(unified) => Ok((driver, unified)),
            None => Err(PlanFault::Untracked.into()),
        }
    }

    /// Waits for all writes in flight, and lends the elements to the host.
    ///
    /// # Errors
    ///
    /// The memory is lent already. While the view exists, launches that use the memory return errors; on a device without concurrent
    /// access all launches do, unless the memory is attached to a stream or to the host. A failure of the driver.
    pub fn host(&self) -> Result<HostView<'_, T>> {
        let lent = self.lend_to_host(false)?;
        Ok(HostView { elements: host_elements(self.tracked().address, self.len()), _lent: lent })
    }

    /// Waits for all that is in flight, and lends the elements to the host for writes.
    ///
    /// # Errors
    ///
    /// As [`Managed::host`].
    pub fn host_mut(&mut self) -> Result<HostViewMut<'_, T>> {
        let lent = self.lend_to_host(true)?;
        Ok(HostViewMut { elements: host_elements_mut(self.tracked().address, self.len()), _lent: lent })
    }

    fn lend_to_host(&self, write: bool) -> Result<HostLoan<'_>> {
        let (driver, unified) = self.enter()?;
        let (tracked, alone) = (self.tracked(), unified.needs_idle_device());
        tracked.lend_to_host(alone)?;
        let loan = HostLoan { tracked, alone };
        // A failure is returned before the elements can be used.
        if let Some(aborted) = tracked.wait_on_host(write)? {
            return Err(aborted.into());
        }
        if alone {
            synchronize_devices_without_concurrent_access(driver)?;
        }
        if let Some(simulator) = Simulator::get() {
            simulator.touch(tracked.address, wide(self.num_bytes()), write);
        }
        Ok(loan)
    }

    /// Attaches the memory to a stream, in the order of its work and after all earlier uses. Until [`Managed::detach`], only launches and
    /// other uses in this stream may use it: others return errors. On a device without concurrent access the host may then use it
    /// while other streams run.
    ///
    /// # Errors
    ///
    /// A default stream, one of another context, or one that is capturing; memory that is lent; a failure of the driver.
    pub fn attach(&self, stream: &Arc<CudaStream>) -> Result<()> {
        let raw = Stream::of(stream);
        if raw.is_default() {
            return Err(Error::Managed(ManagedFault::DefaultStream));
        }
        if **stream.context() != **self.context() {
            return Err(Error::BufferOfOtherContext);
        }
        refuse_capture(stream)?;
        let (driver, unified) = self.enter()?;
        let _lent = self.buffer.lend_as_owner(stream)?;
        driver.attach(raw, unified.base, Association::Single)?;
        unified.set_stream(Some(HeldStream::of(stream)));
        Ok(())
    }

    /// Ends [`Managed::attach`], in the order of the stream that the memory is attached to: all streams may use it again, or none if it
    /// was allocated for the host.
    ///
    /// # Errors
    ///
    /// A stream that is capturing; memory that is lent; a failure of the driver.
    pub fn detach(&self) -> Result<()> {
        let (driver, unified) = self.enter()?;
        let Some(attached) = unified.stream() else { return Ok(()) };
        refuse_capture(attached.stream())?;
        let _lent = self.buffer.lend_as_owner(attached.stream())?;
        driver.attach(attached.raw(), unified.base, unified.association)?;
        unified.set_stream(None);
        Ok(())
    }
}

impl<T> Clone for Managed<T> {
    fn clone(&self) -> Managed<T> {
        Managed { buffer: self.buffer.clone() }
    }
}

/// The element type need not be `Debug`.
impl<T> fmt::Debug for Managed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Managed").field("len", &self.len()).finish_non_exhaustive()
    }
}

/// A loan of managed memory to the host.
struct HostLoan<'m> {
    tracked: &'m Tracked,
    /// True if the device may run nothing meanwhile.
    alone: bool,
}

impl Drop for HostLoan<'_> {
    fn drop(&mut self) {
        self.tracked.end_lending_to_host(self.alone);
    }
}

/// The elements of managed memory, lent to the host by [`Managed::host`].
pub struct HostView<'m, T> {
    elements: &'m [T],
    _lent: HostLoan<'m>,
}

impl<T> Deref for HostView<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.elements
    }
}

/// The elements of managed memory, lent to the host for writes by [`Managed::host_mut`].
pub struct HostViewMut<'m, T> {
    elements: &'m mut [T],
    _lent: HostLoan<'m>,
}

impl<T> Deref for HostViewMut<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.elements
    }
}

impl<T> DerefMut for HostViewMut<'_, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        self.elements
    }
}

macro_rules! elements {
    ($($view:ident)*) => {$(
        impl<T: fmt::Debug> fmt::Debug for $view<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.elements.fmt(f)
            }
        }
    )*};
}
elements!(HostView HostViewMut);
