//! [`Managed`] memory, which host and device share under one address: allocation, access by the host, and
//! attachment to streams. `managed_state.rs` has its state, `advice.rs` its placement.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex};

use cudarc::driver::{CudaContext, CudaStream, DeviceRepr, ValidAsZeroBits};
use cuweave_core::index::wide;

use crate::context::{self, refuse_capture};
use crate::cuda::{
    self, AnyBits, Association, Driver, MANAGED_MEMORY, ManagedMemory, Simulator, Stream, host_elements,
    host_elements_mut, initialize, page_size, synchronize_devices_without_concurrent_access, whole_pages,
};
use crate::error::{Error, ManagedFault, PlanFault, Result};
use crate::waits::HeldStream;

use super::buffer::Buffer;
use super::ledger::TrackedBuffer;
use super::loan::{IdlePart, Loan, LoanKind};
use super::location::without_concurrent_access;
use super::managed_state::ManagedState;

/// The streams that may use managed memory after its allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Attach {
    /// All streams.
    Global,
    /// All streams of devices with concurrent access. On other devices no stream may use the memory before
    /// [`Managed::attach`].
    Host,
}

/// Memory that host and device share under one address (`cuMemAllocManaged`).
///
/// Like a [`Buffer`], it can be bound to `&[T; len]` and `&mut [T; len]` by any number of execs, and also to
/// host statements. Each launch is ordered after every earlier conflicting one. Clones share the memory. It
/// starts at a host page and shares no page with other memory, so advice and discards affect nothing else.
///
/// The host accesses the elements through [`Managed::host`], which waits for the writes in flight, and
/// [`Managed::host_mut`], which waits for all work in flight. The memory is freed when the last clone and all execs
/// that bind it are dropped. That drop waits for the last launch.
pub struct Managed<T> {
    buffer: Buffer<T>,
}

/// The first contents of new memory.
enum FirstContents<'e, T> {
    /// Arbitrary values: nothing is written.
    Anything,
    Zeros,
    Elements(&'e [T]),
}

impl<T: DeviceRepr> Managed<T> {
    /// Allocates in the context of a stream, and initialises.
    fn new(
        stream: &Arc<CudaStream>,
        len: usize,
        attach: Attach,
        contents: FirstContents<'_, T>,
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
        let without_concurrent_access = without_concurrent_access(driver)?;
        let concurrent = without_concurrent_access.is_empty();
        let association = match attach {
            Attach::Global => Association::Global,
            Attach::Host => Association::Host,
        };
        let memory = ManagedMemory::<T>::new(driver, stream, wide(len), bytes, association)
            .map_err(|failure| Error::allocation(failure, None, bytes))?;
        let address = memory.address();
        let managed_state = ManagedState {
            base: memory.base(),
            address,
            used: len.saturating_mul(size_of::<T>()),
            page: usize::try_from(page_size()).unwrap_or(4096),
            device,
            without_concurrent_access,
            association,
            attached: Mutex::new(None),
        };
        let managed = Managed { buffer: Buffer::managed(driver, stream, memory, managed_state)? };
        // Nothing else uses the memory yet. But a device without concurrent access may be running other work,
        // so the host must not write then.
        match (contents, attach) {
            (FirstContents::Anything, _) => {}
            (FirstContents::Zeros, Attach::Global) => managed.zero(driver, stream)?,
            (FirstContents::Zeros, Attach::Host) => initialize::<T>(address, len, None),
            (FirstContents::Elements(elements), Attach::Global) if !concurrent => {
                managed.buffer.copy_from_host(stream, elements)?;
            }
            (FirstContents::Elements(elements), _) => initialize(address, len, Some(elements)),
        }
        Ok(managed)
    }

    fn zero(&self, driver: &Driver, stream: &Arc<CudaStream>) -> Result<()> {
        let _lent = self.buffer.lend(stream, Loan { kind: LoanKind::ForCopy, write: true })?;
        let bytes = wide(self.num_bytes());
        Ok(driver.zero(self.buffer.address(), bytes, Stream::from_cudarc(stream))?)
    }

    /// Allocates memory and copies `elements` into it.
    ///
    /// # Errors
    ///
    /// Same as [`Managed::zeros`].
    pub fn from_host(stream: &Arc<CudaStream>, elements: &[T], attach: Attach) -> Result<Managed<T>> {
        Managed::new(stream, elements.len(), attach, FirstContents::Elements(elements))
    }
}

impl<T: DeviceRepr + ValidAsZeroBits> Managed<T> {
    /// Allocates zeroed elements in the context of a stream. The device writes the zeros in stream order, or
    /// the host if the memory is attached to it.
    ///
    /// # Errors
    ///
    /// A length of 0, or one that exceeds the address space; a device without managed memory; a capturing
    /// stream; out of memory, or another failure of the driver.
    pub fn zeros(stream: &Arc<CudaStream>, len: usize, attach: Attach) -> Result<Managed<T>> {
        Managed::new(stream, len, attach, FirstContents::Zeros)
    }
}

impl<T: DeviceRepr + AnyBits> Managed<T> {
    /// Allocates elements in the context of a stream without writing them. Until they are written they have
    /// arbitrary values.
    ///
    /// No page is touched, so on systems whose devices have concurrent access the driver places each page where
    /// it is first used. This also allows allocations larger than the device's memory, of which
    /// [`Managed::zeros`] would write all on the device.
    ///
    /// # Errors
    ///
    /// Same as [`Managed::zeros`].
    pub fn uninit(stream: &Arc<CudaStream>, len: usize, attach: Attach) -> Result<Managed<T>> {
        Managed::new(stream, len, attach, FirstContents::Anything)
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

    /// Returns false: the length is never 0.
    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// Returns the size of the elements in bytes.
    pub fn num_bytes(&self) -> usize {
        self.buffer.num_bytes()
    }

    /// Returns the context of the memory.
    pub fn context(&self) -> &Arc<CudaContext> {
        self.buffer.context()
    }

    /// Returns true if both share the same memory.
    pub fn is_same(&self, other: &Managed<T>) -> bool {
        self.buffer.is_same(&other.buffer)
    }
}

impl<T> Managed<T> {
    pub(super) fn tracked(&self) -> &TrackedBuffer {
        self.buffer.tracked()
    }

    /// Makes the context current, and returns the state of the memory.
    pub(super) fn enter(&self) -> Result<(&'static Driver, &ManagedState)> {
        let driver = cuda::driver()?;
        context::enter(driver, self.context())?;
        match &self.tracked().managed_state {
            Some(managed_state) => Ok((driver, managed_state)),
            None => Err(PlanFault::Untracked.into()),
        }
    }

    fn lend_to_host(&self, write: bool) -> Result<HostLoan<'_>> {
        let (driver, managed_state) = self.enter()?;
        let (tracked, idle) = (self.tracked(), managed_state.idle_part());
        let loan = Loan { kind: LoanKind::ToHost, write };
        tracked.begin_loan(loan, idle.as_ref())?;
        let lent = HostLoan { tracked, loan, idle };
        if let Some(aborted) = tracked.wait_on_host(write || !managed_state.is_concurrent())? {
            return Err(aborted.into());
        }
        match &lent.idle {
            None => {}
            Some(IdlePart::Devices) => synchronize_devices_without_concurrent_access(driver)?,
            Some(IdlePart::Stream(stream)) => driver.synchronize(stream.raw())?,
        }
        if let Some(simulator) = Simulator::get() {
            simulator.touch(self.buffer.address(), wide(self.num_bytes()), write);
        }
        Ok(lent)
    }

    /// Attaches the memory to a stream, in stream order and after all earlier uses. Until [`Managed::detach`],
    /// only this stream may use it; launches and other uses in other streams return errors. In return, on a
    /// device without concurrent access the host may use it while other streams run.
    ///
    /// # Errors
    ///
    /// A default stream or a capturing one; memory that is borrowed; a failure of the driver.
    pub fn attach(&self, stream: &Arc<CudaStream>) -> Result<()> {
        let raw = Stream::from_cudarc(stream);
        if raw.is_default() {
            return Err(Error::Managed(ManagedFault::DefaultStream));
        }
        refuse_capture(stream)?;
        let (driver, managed_state) = self.enter()?;
        let _lent = self.buffer.borrow_unchecked(stream)?;
        driver.attach(raw, managed_state.base, Association::Single)?;
        managed_state.set_stream(Some(HeldStream::new(stream)));
        Ok(())
    }

    /// Reverts [`Managed::attach`], in the order of the stream that the memory is attached to. Then all streams
    /// may use it, or none if it was allocated with [`Attach::Host`] on a device without concurrent access.
    ///
    /// # Errors
    ///
    /// A capturing stream; memory that is borrowed; a failure of the driver.
    pub fn detach(&self) -> Result<()> {
        let (driver, managed_state) = self.enter()?;
        let Some(attached) = managed_state.stream() else { return Ok(()) };
        refuse_capture(attached.stream())?;
        let _lent = self.buffer.borrow_unchecked(attached.stream())?;
        driver.attach(attached.raw(), managed_state.base, managed_state.association)?;
        managed_state.set_stream(None);
        Ok(())
    }
}

impl<T: Sync> Managed<T> {
    /// Waits for all writes in flight, and returns a view of the elements for the host. Several views can exist at
    /// once, also of clones and in several threads.
    ///
    /// While a view exists, launches that write the memory return errors. If all devices of the system have
    /// concurrent access, launches and copies that only read it may run. On other systems all launches that use it
    /// return errors, and unless it is attached to a stream or to the host, so do all launches on devices without
    /// concurrent access.
    ///
    /// # Errors
    ///
    /// A mutable view of the memory exists, or one for streams; a failure of the driver.
    pub fn host(&self) -> Result<HostView<'_, T>> {
        let lent = self.lend_to_host(false)?;
        Ok(HostView { elements: host_elements(self.buffer.address(), self.len()), _lent: lent })
    }
}

impl<T: Send> Managed<T> {
    /// Waits for all uses in flight, and returns a mutable view of the elements for the host. While it exists,
    /// launches that use the memory return errors.
    ///
    /// # Errors
    ///
    /// Another view of the memory exists; a failure of the driver.
    pub fn host_mut(&mut self) -> Result<HostViewMut<'_, T>> {
        let lent = self.lend_to_host(true)?;
        Ok(HostViewMut { elements: host_elements_mut(self.buffer.address(), self.len()), _lent: lent })
    }
}

impl<T> Clone for Managed<T> {
    fn clone(&self) -> Managed<T> {
        Managed { buffer: self.buffer.clone() }
    }
}

/// `T` need not be `Debug`.
impl<T> fmt::Debug for Managed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Managed").field("len", &self.len()).finish_non_exhaustive()
    }
}

/// A loan of managed memory to the host.
struct HostLoan<'m> {
    tracked: &'m TrackedBuffer,
    loan: Loan,
    idle: Option<IdlePart>,
}

impl Drop for HostLoan<'_> {
    fn drop(&mut self) {
        self.tracked.end_loan(self.loan, self.idle.as_ref());
    }
}

/// A view of managed memory for the host, from [`Managed::host`].
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

/// A mutable view of managed memory for the host, from [`Managed::host_mut`].
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
