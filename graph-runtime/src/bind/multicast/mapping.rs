//! [`Mapping`]: addresses of a multicast object, and writes through them.

use std::ffi::c_int;
use std::sync::Arc;

use cudarc::driver::{CudaStream, DeviceRepr};

use crate::bind::buffer::refuse_capture;
use crate::cuda::MappedRange;
use crate::error::Result;

use super::object::{Object, bytes_of, check_inside};
use super::uses::ReachedMemory;

/// An address range of a whole multicast object, accessible to all of its devices. Unmapped when dropped. Keeps
/// the object alive.
#[derive(Debug)]
pub struct Mapping {
    /// Declared first: it must be dropped before the object.
    mapped: MappedRange,
    object: Arc<Object>,
}

impl Mapping {
    /// Maps an object that has all of its devices.
    pub(super) fn new(object: &Arc<Object>) -> Result<Mapping> {
        let devices: Vec<c_int> = object.contexts.iter().map(|ctx| ctx.cu_device()).collect();
        let mapped = MappedRange::new(&object.raw, object.bytes, object.granularity.minimum, &devices)?;
        Ok(Mapping { mapped, object: object.clone() })
    }

    /// Returns the first address, for kernels of the caller. They may access it only by `multimem`
    /// instructions, and only where each device has memory bound. They must be over before a
    /// [`Binding`](super::Binding) there or this mapping ends.
    pub fn address(&self) -> u64 {
        self.mapped.address()
    }

    /// Returns the size of the object in bytes.
    pub fn num_bytes(&self) -> u64 {
        self.object.bytes
    }

    /// Copies elements from the host to an offset in bytes, in the order of a stream of one of the devices, and
    /// waits until the memory of every device has them. It is ordered with other writes of the object through
    /// any mapping, and with uses of the same memory in any thread.
    ///
    /// # Errors
    ///
    /// [`MulticastFault::Unbound`](crate::MulticastFault::Unbound) if a device has no memory bound there;
    /// [`MulticastFault::Outside`](crate::MulticastFault::Outside);
    /// [`MulticastFault::NotInTeam`](crate::MulticastFault::NotInTeam) for a stream of another device; a
    /// capturing stream; a failed driver call.
    pub fn write<T: DeviceRepr>(&self, stream: &Arc<CudaStream>, offset: u64, elements: &[T]) -> Result<()> {
        self.object.check_member(stream.context())?;
        let bytes = bytes_of::<T>(elements.len());
        check_inside("the multicast object", offset, bytes, self.object.bytes)?;
        refuse_capture(stream)?;
        if bytes == 0 {
            return Ok(());
        }
        let bound = self.object.bound();
        self.object.check_bound(&bound, offset, bytes)?;
        let reached = bound.iter().filter(|bound| bound.part.overlaps(offset, bytes));
        let reached = ReachedMemory::new(reached.map(|bound| bound.uses.clone()));
        let _uses = reached.write();
        Ok(self.mapped.write(stream, offset, elements)?)
    }
}
