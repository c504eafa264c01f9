//! [`Memory`]: physical memory of a device that can be bound to multicast objects.

use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaStream};

use crate::bind::buffer::refuse_capture;
use crate::cuda::{self, AnyBits, MappedRange, PhysicalHandle};
use crate::error::{Error, MulticastFault, Result};

use super::object::{bytes_of, check_aligned, check_inside, fault};
use super::uses::UseLock;

/// Memory of one device that can be bound to multicast objects: physical memory (`cuMemCreate`), mapped for
/// access by its device.
///
/// A [`Binding`](super::Binding) keeps it alive. Freed when the last owner is dropped.
#[derive(Debug)]
pub struct Memory {
    /// Declared first: it must be dropped before the memory.
    pub(super) mapped: MappedRange,
    pub(super) raw: PhysicalHandle,
    pub(super) ctx: Arc<CudaContext>,
    pub(super) bytes: u64,
    pub(super) uses: Arc<UseLock>,
}

impl Memory {
    /// Allocates `bytes` zeroed bytes on the device of a stream, and waits until they are zeroed. The size must
    /// be a multiple of the granularity of the device's memory. To bind it as a whole, it must also be a
    /// multiple of the object's granularity.
    ///
    /// # Errors
    ///
    /// [`MulticastFault::Empty`], [`MulticastFault::Misaligned`]; a capturing stream; a failed driver call.
    pub fn zeros(stream: &Arc<CudaStream>, bytes: u64) -> Result<Arc<Memory>> {
        let driver = cuda::driver()?;
        refuse_capture(stream)?;
        let ctx = stream.context();
        if bytes == 0 {
            return fault(MulticastFault::Empty { what: "the memory" });
        }
        let granularity = driver.granularity(ctx.cu_device())?;
        check_aligned("the size of the memory", bytes, granularity)?;
        let raw = PhysicalHandle::memory(driver, ctx, bytes)
            .map_err(|failure| Error::allocation(failure, None, bytes))?;
        let mapped = MappedRange::new(&raw, bytes, 0, &[ctx.cu_device()])?;
        mapped.zero(stream)?;
        Ok(Arc::new(Memory { mapped, raw, ctx: ctx.clone(), bytes, uses: Arc::default() }))
    }

    /// Returns the context of its device.
    pub fn context(&self) -> &Arc<CudaContext> {
        &self.ctx
    }

    /// Returns the size in bytes.
    pub fn num_bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the address on its own device, for kernels of the caller.
    pub fn address(&self) -> u64 {
        self.mapped.address()
    }

    /// Copies `len` elements, starting at an offset in bytes, to the host, in the order of a stream of the
    /// memory's device, and waits for them. It is ordered with each [`Mapping::write`](super::Mapping::write)
    /// that reaches the memory, in any thread and through any object.
    ///
    /// # Errors
    ///
    /// [`MulticastFault::Outside`]; [`MulticastFault::OtherDevice`] for a stream of another device; a capturing
    /// stream; a failed driver call.
    pub fn read<T: AnyBits + Clone>(
        &self,
        stream: &Arc<CudaStream>,
        offset: u64,
        len: usize,
    ) -> Result<Vec<T>> {
        if stream.context().cu_device() != self.ctx.cu_device() {
            let (device, memory) = (stream.context().ordinal(), self.ctx.ordinal());
            return fault(MulticastFault::OtherDevice { device, memory });
        }
        check_inside("the memory", offset, bytes_of::<T>(len), self.bytes)?;
        refuse_capture(stream)?;
        match bytes_of::<T>(len) {
            0 if size_of::<T>() > 0 => Ok(Vec::new()),
            _ => {
                let _uses = self.uses.read();
                Ok(self.mapped.read(stream, offset, len)?)
            }
        }
    }
}
