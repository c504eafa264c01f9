//! The places where cudarc's own types have to be opened or made.

use std::mem::ManuallyDrop;
use std::sync::Arc;

use cudarc::driver::{CudaSlice, CudaStream, HostSlice, PinnedHostSlice, SyncOnDrop};

use super::super::error::{Error, Result};
use super::{Event, Failure, Outcome};

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

/// The event that a guard of cudarc would record.
pub fn guarded(guard: &SyncOnDrop<'_>) -> Event {
    match guard {
        SyncOnDrop::Record(Some((event, _))) => Event::of(event),
        _ => Event::NONE,
    }
}

/// A device buffer for cudarc at an address that the graph owns.
///
/// The caller sees to it that the allocation lives as long as what is made here, and that this is never
/// dropped as it is: its drop would free the allocation.
pub fn device_buffer<T>(
    stream: &Arc<CudaStream>,
    address: u64,
    len: u64,
) -> Result<ManuallyDrop<CudaSlice<T>>> {
    // cudarc unwraps the creation of two events: fail here where it would panic.
    stream.context().new_event(None).map_err(|error| Error::from(Failure::of("cuEventCreate", error)))?;
    // SAFETY: see above.
    Ok(ManuallyDrop::new(unsafe { stream.upgrade_device_ptr(address, len as usize) }))
}

/// Ends a buffer made by [`device_buffer`] without freeing its allocation. Its stream waits for its uses.
pub fn end_device_buffer<T>(buffer: &mut ManuallyDrop<CudaSlice<T>>) {
    // SAFETY: called once, in the drop of what holds the buffer.
    let _ = unsafe { ManuallyDrop::take(buffer) }.leak();
}

/// Memory of the exec's own, uninitialised.
pub fn allocate(stream: &Arc<CudaStream>, bytes: u64) -> Outcome<CudaSlice<u8>> {
    // SAFETY: the checker proved that the graph writes each byte before it reads it.
    unsafe { stream.alloc(bytes as usize) }.map_err(|error| Failure::of("cuMemAllocAsync", error))
}
