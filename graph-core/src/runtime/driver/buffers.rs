//! The places where cudarc's own types have to be opened or made.

use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::panic::AssertUnwindSafe;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cudarc::driver::{CudaSlice, CudaStream, HostSlice, PinnedHostSlice, SyncOnDrop};

use super::super::bind::PinnedViewMut;
use super::super::error::{Error, Result};
use super::{Event, Failure, UNKNOWN};

/// Where a pinned slice lies and the event that guards it. `stream` is made to wait for that event.
pub fn pinned_parts<T>(slice: &PinnedHostSlice<T>, stream: &CudaStream) -> (u64, Event) {
    // SAFETY: only the address of the elements is taken, none is read or written.
    let (elements, guard) = unsafe { slice.stream_synced_slice(stream) };
    let address = elements.as_ptr().expose_provenance() as u64;
    let event = guarded(&guard);
    // Nothing was done with the slice: there is nothing to record.
    std::mem::forget(guard);
    (address, event)
}

impl<T> HostSlice<T> for PinnedViewMut<'_, T> {
    fn len(&self) -> usize {
        self.0.len()
    }

    unsafe fn stream_synced_slice<'a>(&'a self, stream: &'a CudaStream) -> (&'a [T], SyncOnDrop<'a>) {
        // SAFETY: the caller keeps the same contract.
        unsafe { self.0.stream_synced_slice(stream) }
    }

    unsafe fn stream_synced_mut_slice<'a>(
        &'a mut self,
        stream: &'a CudaStream,
    ) -> (&'a mut [T], SyncOnDrop<'a>) {
        // SAFETY: the caller keeps the same contract.
        unsafe { self.0.stream_synced_mut_slice(stream) }
    }
}

/// The event that a guard of cudarc would record.
pub fn guarded(guard: &SyncOnDrop<'_>) -> Event {
    match guard {
        SyncOnDrop::Record(Some((event, _))) => Event::of(event),
        _ => Event::NONE,
    }
}

/// What an `Arc` holds, for as long as the caller sees to it that one is kept.
pub fn held<'a, T>(value: &Arc<T>) -> &'a T {
    // SAFETY: the value stays where it is while an `Arc` of it is kept.
    unsafe { &*Arc::as_ptr(value) }
}

/// A device buffer for cudarc at an address that the graph owns. Its drop does not free the allocation, which lives
/// and ends apart from it; its stream waits for the buffer's uses then.
pub struct Made<T>(ManuallyDrop<CudaSlice<T>>);

impl<T> Made<T> {
    /// A buffer of `len` elements, owned by a stream.
    pub fn new(stream: &Arc<CudaStream>, address: u64, len: u64) -> Result<Made<T>> {
        // cudarc unwraps the creation of two events: fail here where it would panic, and catch it where the
        // driver fails between this one and those two.
        stream.context().new_event(None).map_err(|error| Error::from(Failure::of("cuEventCreate", error)))?;
        let upgrade = AssertUnwindSafe(|| {
            // SAFETY: it is used only while the allocation lives, and never freed through.
            unsafe { stream.upgrade_device_ptr(address, len as usize) }
        });
        match std::panic::catch_unwind(upgrade) {
            Ok(buffer) => Ok(Made(ManuallyDrop::new(buffer))),
            Err(_) => Err(Error::from(Failure { call: "cuEventCreate", code: UNKNOWN })),
        }
    }

    /// Lends it. Nothing else may use it until what is lent is gone or forgotten, and it may not be dropped before.
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
        super::aside::forget_or_wait(buffer);
    }
}

/// A lent buffer: the holder's alone.
#[derive(Debug)]
pub struct Lent<T>(NonNull<CudaSlice<T>>);

// SAFETY: as `&mut CudaSlice<T>`, which may be sent.
unsafe impl<T> Send for Lent<T> {}

impl<T> Deref for Lent<T> {
    type Target = CudaSlice<T>;

    fn deref(&self) -> &CudaSlice<T> {
        // SAFETY: what `Made::lend` asks for.
        unsafe { self.0.as_ref() }
    }
}

impl<T> DerefMut for Lent<T> {
    fn deref_mut(&mut self) -> &mut CudaSlice<T> {
        // SAFETY: what `Made::lend` asks for.
        unsafe { self.0.as_mut() }
    }
}

/// A value that is dropped with its holder, whatever is being captured, unless it is to stay by then: for memory that may still be in use.
#[derive(Debug)]
pub struct Keep<A> {
    value: ManuallyDrop<A>,
    stays: Arc<AtomicBool>,
}

impl<A> Keep<A> {
    /// Holds a value; `stays` says in the end whether it is leaked.
    pub fn new(value: A, stays: Arc<AtomicBool>) -> Keep<A> {
        Keep { value: ManuallyDrop::new(value), stays }
    }

    /// Gives the value back.
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
        match super::driver() {
            Ok(driver) => driver.relaxed(|| drop(value)),
            Err(_) => drop(value),
        }
    }
}
