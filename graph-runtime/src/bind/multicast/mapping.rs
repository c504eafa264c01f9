//! [`Mapping`]: addresses of a multicast object, and writes through them.

use std::ffi::c_int;
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaStream, DeviceRepr};

use crate::bind::ledger::TrackedBuffer;
use crate::context::refuse_capture;
use crate::cuda::{self, MappedRange};
use crate::error::Result;

use super::bytes::{CopyLoan, MappedBytes};
use super::checks::{bytes_of, check_inside};
use super::object::Object;

/// An address range of a whole multicast object, accessible to all of its devices. It keeps the object alive.
///
/// `&mapping` and `mapping.slice::<T>(offset, len)?` bind to the arguments `&[Multimem<T>; len]` and
/// `&mut [Multimem<T>; len]` of any number of graph functions. A use of the argument is a use of the memory that
/// is bound to the object there, on all devices, and is ordered like one. Each device of the object can run
/// kernels that use it. The exec keeps the mapping and all bindings there alive.
///
/// Unmapped when the value and all execs that use it are dropped. The drop waits for their launches.
#[derive(Debug)]
pub struct Mapping {
    pub(super) mapped: Arc<MappedObject>,
}

/// A mapped object. Unmapped when dropped.
#[derive(Debug)]
pub(crate) struct MappedObject {
    /// Declared first: it must be dropped before the object.
    pub mapped: MappedBytes,
    pub(super) object: Arc<Object>,
}

impl MappedObject {
    /// Returns true if the object has the device of a context.
    pub fn has_device(&self, ctx: &CudaContext) -> bool {
        self.object.check_member(ctx).is_ok()
    }
}

impl Mapping {
    /// Maps an object that has all of its devices.
    pub(super) fn new(object: &Arc<Object>) -> Result<Mapping> {
        let devices: Vec<c_int> = object.contexts.iter().map(|ctx| ctx.cu_device()).collect();
        let range = MappedRange::new(&object.raw, object.bytes, object.granularity.minimum, &devices)?;
        let mapped =
            MappedBytes::new(cuda::driver()?, &object.contexts[0].default_stream(), range, object.bytes)?;
        Ok(Mapping { mapped: Arc::new(MappedObject { mapped, object: object.clone() }) })
    }

    /// Returns the first address, for work of the caller. It may access it only by `multimem` instructions, and
    /// only where each device has memory bound. Nothing orders that work, and it must be over before a
    /// [`Binding`](super::Binding) there or this mapping ends.
    pub fn address(&self) -> u64 {
        self.mapped.mapped.range.address()
    }

    /// Returns the size of the object in bytes.
    pub fn num_bytes(&self) -> u64 {
        self.mapped.object.bytes
    }

    /// Copies elements from the host to an offset in bytes, in the order of a stream of one of the devices, and
    /// waits until the memory of every device has them. It comes after all earlier uses of that memory, in any
    /// thread and through any mapping.
    ///
    /// The driver does not officially support copies to addresses of multicast objects. It works on the
    /// simulated driver; use [`Memory::write`](super::Memory::write) on hardware.
    ///
    /// # Errors
    ///
    /// [`MulticastFault::Unbound`](crate::MulticastFault::Unbound) if a device has no memory bound there;
    /// [`MulticastFault::Outside`](crate::MulticastFault::Outside);
    /// [`MulticastFault::NotInTeam`](crate::MulticastFault::NotInTeam) for a stream of another device; a
    /// capturing stream; a view of the memory from [`Buffer::with`](crate::Buffer::with); a failed driver call.
    pub fn write<T: DeviceRepr>(&self, stream: &Arc<CudaStream>, offset: u64, elements: &[T]) -> Result<()> {
        let object = &self.mapped.object;
        object.check_member(stream.context())?;
        let bytes = bytes_of::<T>(elements.len());
        check_inside("the multicast object", offset, bytes, object.bytes)?;
        refuse_capture(stream)?;
        if bytes == 0 {
            return Ok(());
        }
        let bound = object.bound();
        object.check_bound(bound.iter().map(|bound| &bound.part), offset, bytes)?;
        let reached = bound.iter().filter(|bound| bound.part.overlaps(offset, bytes));
        let mut reached: Vec<&TrackedBuffer> = reached.map(|bound| &*bound.tracked).collect();
        reached.sort_by_key(|&tracked| std::ptr::from_ref(tracked));
        reached.dedup_by_key(|tracked| std::ptr::from_ref(*tracked));
        let lent = CopyLoan::new(&self.mapped.mapped.tracked.ledger, reached)?;
        lent.write(stream, || Ok(self.mapped.mapped.range.write(stream, offset, elements)?))
    }
}
