//! Conversions between cudarc's types and the runtime's handles, and wrappers for cudarc buffers with a special
//! drop.

use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::panic::AssertUnwindSafe;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cudarc::driver::{
    CudaSlice, CudaStream, CudaView, DriverError, HostSlice, PinnedHostSlice, SyncOnDrop, ValidAsZeroBits,
};
use cuweave_core::index::wide;

use super::aside::forget_or_wait;
use super::entry::driver;
use super::failure::{Failure, Outcome, UNKNOWN};
use super::handles::Event;
use super::params::host_size;

/// Returns the address of a pinned slice and its event. Makes `stream` wait for that event.
pub fn pinned_parts<T>(slice: &PinnedHostSlice<T>, stream: &CudaStream) -> (u64, Event) {
    // SAFETY: only the address of the elements is taken; no element is read or written.
    let (elements, guard) = unsafe { slice.stream_synced_slice(stream) };
    let address = wide(elements.as_ptr().expose_provenance());
    let event = guard_event(&guard);
    // The slice was not used, so there is no use to record.
    std::mem::forget(guard);
    (address, event)
}

/// A mutable view of bound pinned memory: a host slice for cudarc. The contents can change, but the memory
/// cannot be replaced, as it could through a `&mut PinnedHostSlice`.
pub struct PinnedViewMut<'v, T>(&'v mut PinnedHostSlice<T>);

impl<'v, T> PinnedViewMut<'v, T> {
    pub(crate) fn new(memory: &'v mut PinnedHostSlice<T>) -> PinnedViewMut<'v, T> {
        PinnedViewMut(memory)
    }
}

impl<T> Deref for PinnedViewMut<'_, T> {
    type Target = PinnedHostSlice<T>;

    fn deref(&self) -> &PinnedHostSlice<T> {
        self.0
    }
}

impl<T: ValidAsZeroBits> PinnedViewMut<'_, T> {
    /// Waits for all work on the memory, and returns the elements.
    ///
    /// # Errors
    ///
    /// A failure of that work.
    pub fn as_mut_slice(&mut self) -> Result<&mut [T], DriverError> {
        self.0.as_mut_slice()
    }
}

impl<T> std::fmt::Debug for PinnedViewMut<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PinnedViewMut").field("len", &self.0.len()).finish_non_exhaustive()
    }
}

impl<T> HostSlice<T> for PinnedViewMut<'_, T> {
    fn len(&self) -> usize {
        self.0.len()
    }

    unsafe fn stream_synced_slice<'a>(&'a self, stream: &'a CudaStream) -> (&'a [T], SyncOnDrop<'a>) {
        // SAFETY: the caller upholds the same contract.
        unsafe { self.0.stream_synced_slice(stream) }
    }

    unsafe fn stream_synced_mut_slice<'a>(
        &'a mut self,
        stream: &'a CudaStream,
    ) -> (&'a mut [T], SyncOnDrop<'a>) {
        // SAFETY: the caller upholds the same contract.
        unsafe { self.0.stream_synced_mut_slice(stream) }
    }
}

/// Returns the event that a cudarc guard would record.
pub fn guard_event(guard: &SyncOnDrop<'_>) -> Event {
    match guard {
        SyncOnDrop::Record(Some((event, _))) => Event::from_cudarc(event),
        _ => Event::NONE,
    }
}

/// Returns a reference to the value of an `Arc`. The caller must keep a clone of the `Arc` while it uses the
/// reference.
pub fn held<'a, T>(value: &Arc<T>) -> &'a T {
    // SAFETY: the value does not move while an `Arc` of it exists.
    unsafe { &*Arc::as_ptr(value) }
}

/// A cudarc buffer at an address that the graph owns. Its drop makes its stream wait for the buffer's uses, but
/// does not free the allocation, which is managed elsewhere.
pub struct UnownedBuffer<T>(ManuallyDrop<CudaSlice<T>>);

impl<T> UnownedBuffer<T> {
    /// Returns a buffer of `len` elements that is owned by a stream.
    pub fn new(stream: &Arc<CudaStream>, address: u64, len: u64) -> Outcome<UnownedBuffer<T>> {
        // cudarc unwraps the creation of two events. Create one here first, to return an error instead of a
        // panic. Also catch a panic, in case the driver fails in between.
        stream.context().new_event(None).map_err(|error| Failure::from_cudarc("cuEventCreate", error))?;
        let upgrade = AssertUnwindSafe(|| {
            // SAFETY: it is used only while the allocation lives, and never frees it.
            unsafe { stream.upgrade_device_ptr(address, host_size(len)) }
        });
        match std::panic::catch_unwind(upgrade) {
            Ok(buffer) => Ok(UnownedBuffer(ManuallyDrop::new(buffer))),
            Err(_) => Err(Failure { call: "cuEventCreate", code: UNKNOWN }),
        }
    }

    /// Borrows the buffer. Nothing else may use it, and it must not be dropped, until the result is dropped or
    /// forgotten.
    pub fn lend(&mut self) -> BorrowedBuffer<T> {
        BorrowedBuffer(NonNull::from(&mut *self.0))
    }
}

impl UnownedBuffer<u8> {
    /// Returns `len` elements, starting at a byte; none if they are out of bounds. Unless every bit pattern is a
    /// valid `T`, they must not be copied to the host.
    pub fn elements<T>(&self, offset: u64, len: usize) -> CudaView<'_, T> {
        let whole = self.0.as_view();
        let part = whole.try_slice(host_size(offset)..).unwrap_or_else(|| whole.slice(..0));
        let fits = wide(len).saturating_mul(wide(size_of::<T>())) <= wide(part.len());
        // SAFETY: the elements are in bounds; their values are up to the caller.
        let elements = unsafe { part.transmute(if fits { len } else { 0 }) };
        elements.unwrap_or_else(|| unreachable!("no elements fit into no bytes"))
    }
}

impl<T> Deref for UnownedBuffer<T> {
    type Target = CudaSlice<T>;

    fn deref(&self) -> &CudaSlice<T> {
        &self.0
    }
}

impl<T> DerefMut for UnownedBuffer<T> {
    fn deref_mut(&mut self) -> &mut CudaSlice<T> {
        &mut self.0
    }
}

impl<T> Drop for UnownedBuffer<T> {
    fn drop(&mut self) {
        // SAFETY: in the drop of its only owner.
        let buffer = unsafe { ManuallyDrop::take(&mut self.0) };
        forget_or_wait(buffer);
    }
}

/// A borrowed buffer. Only its holder may use it.
#[derive(Debug)]
pub struct BorrowedBuffer<T>(NonNull<CudaSlice<T>>);

// SAFETY: equivalent to `&mut CudaSlice<T>`, which is `Send`.
unsafe impl<T> Send for BorrowedBuffer<T> {}

impl<T> Deref for BorrowedBuffer<T> {
    type Target = CudaSlice<T>;

    fn deref(&self) -> &CudaSlice<T> {
        // SAFETY: required by `UnownedBuffer::lend`.
        unsafe { self.0.as_ref() }
    }
}

impl<T> DerefMut for BorrowedBuffer<T> {
    fn deref_mut(&mut self) -> &mut CudaSlice<T> {
        // SAFETY: required by `UnownedBuffer::lend`.
        unsafe { self.0.as_mut() }
    }
}

/// A value that is dropped with its holder, also while streams are capturing. If it is marked as leaked by
/// then, it is not dropped: the memory may still be in use.
#[derive(Debug)]
pub struct DropOrLeak<A> {
    value: ManuallyDrop<A>,
    stays: Arc<AtomicBool>,
}

impl<A> DropOrLeak<A> {
    /// Wraps a value. It is leaked if `stays` is true when the holder is dropped.
    pub fn new(value: A, stays: Arc<AtomicBool>) -> DropOrLeak<A> {
        DropOrLeak { value: ManuallyDrop::new(value), stays }
    }

    /// Returns the value.
    pub fn into_inner(self) -> A {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: `this` is not dropped, so both fields are taken only once.
        drop(unsafe { std::ptr::read(&this.stays) });
        // SAFETY: as above.
        unsafe { ManuallyDrop::take(&mut this.value) }
    }
}

impl<A> Deref for DropOrLeak<A> {
    type Target = A;

    fn deref(&self) -> &A {
        &self.value
    }
}

impl<A> DerefMut for DropOrLeak<A> {
    fn deref_mut(&mut self) -> &mut A {
        &mut self.value
    }
}

impl<A> Drop for DropOrLeak<A> {
    fn drop(&mut self) {
        if self.stays.load(Ordering::Relaxed) {
            return;
        }
        // SAFETY: in the drop of its only owner.
        let value = unsafe { ManuallyDrop::take(&mut self.value) };
        match driver() {
            Ok(driver) => driver.relaxed(|| drop(value)),
            Err(_) => drop(value),
        }
    }
}
