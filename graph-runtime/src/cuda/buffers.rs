//! Conversions that open or make cudarc's own types.

use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::panic::AssertUnwindSafe;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cudarc::driver::{
    CudaSlice, CudaStream, DriverError, HostSlice, PinnedHostSlice, SyncOnDrop, ValidAsZeroBits,
};
use cuweave_core::index::wide;

use super::aside::forget_or_wait;
use super::entry::driver;
use super::failure::{Failure, Outcome, UNKNOWN};
use super::handles::Event;
use super::params::host_size;

/// Returns the address of a pinned slice and the event that guards it, and makes `stream` wait for that event.
pub fn pinned_parts<T>(slice: &PinnedHostSlice<T>, stream: &CudaStream) -> (u64, Event) {
    // SAFETY: only the address of the elements is taken, none is read or written.
    let (elements, guard) = unsafe { slice.stream_synced_slice(stream) };
    let address = wide(elements.as_ptr().expose_provenance());
    let event = guarded(&guard);
    // The slice was not used, so there is nothing to record.
    std::mem::forget(guard);
    (address, event)
}

/// A mutable view of bound pinned memory. The contents can change, but the memory cannot be replaced, as it could through a
/// `&mut PinnedHostSlice`. It is a host slice for cudarc.
pub struct PinnedViewMut<'v, T>(&'v mut PinnedHostSlice<T>);

impl<'v, T> PinnedViewMut<'v, T> {
    /// Returns a view of the memory.
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
    /// A failure of the work.
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

/// Returns the event that a guard of cudarc would record.
pub fn guarded(guard: &SyncOnDrop<'_>) -> Event {
    match guard {
        SyncOnDrop::Record(Some((event, _))) => Event::of(event),
        _ => Event::NONE,
    }
}

/// Returns a reference to the value of an `Arc`. The caller must keep an `Arc` for as long as it uses the reference.
pub fn held<'a, T>(value: &Arc<T>) -> &'a T {
    // SAFETY: the value stays where it is while an `Arc` of it is kept.
    unsafe { &*Arc::as_ptr(value) }
}

/// A device buffer for cudarc at an address that the graph owns. Its drop makes its stream wait for the buffer's uses, and
/// does not free the allocation, whose life is managed elsewhere.
pub struct Made<T>(ManuallyDrop<CudaSlice<T>>);

impl<T> Made<T> {
    /// Returns a buffer of `len` elements, owned by a stream.
    pub fn new(stream: &Arc<CudaStream>, address: u64, len: u64) -> Outcome<Made<T>> {
        // cudarc unwraps the creation of two events. A first event is created here to fail instead of panicking; a panic is
        // caught in case the driver fails between this one and those two.
        stream.context().new_event(None).map_err(|error| Failure::of("cuEventCreate", error))?;
        let upgrade = AssertUnwindSafe(|| {
            // SAFETY: it is used only while the allocation lives, and never freed through.
            unsafe { stream.upgrade_device_ptr(address, host_size(len)) }
        });
        match std::panic::catch_unwind(upgrade) {
            Ok(buffer) => Ok(Made(ManuallyDrop::new(buffer))),
            Err(_) => Err(Failure { call: "cuEventCreate", code: UNKNOWN }),
        }
    }

    /// Lends the buffer. Nothing else may use it, and it may not be dropped, until the loan is dropped or forgotten.
    pub fn lend(&mut self) -> Lent<T> {
        Lent(NonNull::from(&mut *self.0))
    }
}

impl<T> Deref for Made<T> {
    type Target = CudaSlice<T>;

    fn deref(&self) -> &CudaSlice<T> {
        &self.0
    }
}

impl<T> DerefMut for Made<T> {
    fn deref_mut(&mut self) -> &mut CudaSlice<T> {
        &mut self.0
    }
}

impl<T> Drop for Made<T> {
    fn drop(&mut self) {
        // SAFETY: in the drop of its only owner.
        let buffer = unsafe { ManuallyDrop::take(&mut self.0) };
        forget_or_wait(buffer);
    }
}

/// A lent buffer. Only its holder may use it.
#[derive(Debug)]
pub struct Lent<T>(NonNull<CudaSlice<T>>);

// SAFETY: equivalent to `&mut CudaSlice<T>`, which is `Send`.
unsafe impl<T> Send for Lent<T> {}

impl<T> Deref for Lent<T> {
    type Target = CudaSlice<T>;

    fn deref(&self) -> &CudaSlice<T> {
        // SAFETY: required by `Made::lend`.
        unsafe { self.0.as_ref() }
    }
}

impl<T> DerefMut for Lent<T> {
    fn deref_mut(&mut self) -> &mut CudaSlice<T> {
        // SAFETY: required by `Made::lend`.
        unsafe { self.0.as_mut() }
    }
}

/// A value that is dropped with its holder, also while streams are capturing, unless it is marked as leaked by then: for
/// memory that may still be in use.
#[derive(Debug)]
pub struct Keep<A> {
    value: ManuallyDrop<A>,
    stays: Arc<AtomicBool>,
}

impl<A> Keep<A> {
    /// Wraps a value. It is leaked if `stays` is true when the holder is dropped.
    pub fn new(value: A, stays: Arc<AtomicBool>) -> Keep<A> {
        Keep { value: ManuallyDrop::new(value), stays }
    }

    /// Returns the value.
    pub fn into_inner(self) -> A {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: the holder is not dropped, so both are taken once.
        drop(unsafe { std::ptr::read(&this.stays) });
        // SAFETY: as above.
        unsafe { ManuallyDrop::take(&mut this.value) }
    }
}

impl<A> Deref for Keep<A> {
    type Target = A;

    fn deref(&self) -> &A {
        &self.value
    }
}

impl<A> DerefMut for Keep<A> {
    fn deref_mut(&mut self) -> &mut A {
        &mut self.value
    }
}

impl<A> Drop for Keep<A> {
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
