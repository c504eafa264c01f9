//! [`Memory`]: physical memory of a device that can be bound to multicast objects.

use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaStream, DeviceRepr};

use crate::context::refuse_capture;
use crate::cuda::{self, AnyBits, MappedRange, PhysicalHandle};
use crate::error::{Error, MulticastFault, Result};

use super::bytes::{CopyLoan, MappedBytes};
use super::checks::{bytes_of, check_aligned, check_inside, fault};

/// Memory of one device that can be bound to multicast objects: physical memory (`cuMemCreate`), mapped for
/// access by its device.
///
/// `&memory` and `memory.slice::<T>(offset, len)?` bind to the arguments `&[T; len]` and `&mut [T; len]` of any
/// number of graph functions, like a [`Buffer`](crate::Buffer). All uses are ordered, also those through objects
/// that it is bound to.
///
/// A [`Binding`](super::Binding) and an exec that uses it keep it alive. The drop of the last owner waits for all
/// uses and frees it.
#[derive(Debug)]
pub struct Memory {
    /// Declared first: it must be dropped before the memory.
    pub(crate) mapped: MappedBytes,
    pub(super) raw: PhysicalHandle,
    pub(super) ctx: Arc<CudaContext>,
    pub(super) bytes: u64,
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
        let range = MappedRange::new(&raw, bytes, 0, &[ctx.cu_device()])?;
        range.zero(stream)?;
        let mapped = MappedBytes::new(driver, stream, range, bytes)?;
        Ok(Arc::new(Memory { mapped, raw, ctx: ctx.clone(), bytes }))
    }

    /// Returns the context of its device.
    pub fn context(&self) -> &Arc<CudaContext> {
        &self.ctx
    }

    /// Returns the size in bytes.
    pub fn num_bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the address on its own device, for work of the caller. Nothing orders that work, and it must be
    /// over before the memory is dropped.
    pub fn address(&self) -> u64 {
        self.mapped.range.address()
    }

    pub(super) fn check_copy(&self, stream: &CudaStream, offset: u64, bytes: u64) -> Result<()> {
        if stream.context().cu_device() != self.ctx.cu_device() {
            let (device, memory) = (stream.context().ordinal(), self.ctx.ordinal());
            return fault(MulticastFault::OtherDevice { device, memory });
        }
        check_inside("the memory", offset, bytes, self.bytes)?;
        refuse_capture(stream)
    }

    /// Copies `len` elements, starting at an offset in bytes, to the host, in the order of a stream of the
    /// memory's device, and waits for them. It comes after all launches and copies that write the memory, in any
    /// thread and through any object.
    ///
    /// # Errors
    ///
    /// [`MulticastFault::Outside`]; [`MulticastFault::OtherDevice`] for a stream of another device; a capturing
    /// stream; a view of the memory from [`Buffer::with`](crate::Buffer::with); a failed driver call.
    pub fn read<T: AnyBits + Clone>(
        &self,
        stream: &Arc<CudaStream>,
        offset: u64,
        len: usize,
    ) -> Result<Vec<T>> {
        self.check_copy(stream, offset, bytes_of::<T>(len))?;
        if bytes_of::<T>(len) == 0 && size_of::<T>() > 0 {
            return Ok(Vec::new());
        }
        let tracked = &*self.mapped.tracked;
        let _lent = CopyLoan::new(&tracked.ledger, vec![tracked])?;
        let _use = tracked.try_order_use(stream, false)?;
        Ok(self.mapped.range.read(stream, offset, len)?)
    }

    /// Copies elements from the host to an offset in bytes, in the order of a stream of the memory's device, and
    /// waits for them. It comes after all earlier uses of the memory, also through objects.
    ///
    /// # Errors
    ///
    /// Same as [`Memory::read`].
    pub fn write<T: DeviceRepr>(&self, stream: &Arc<CudaStream>, offset: u64, elements: &[T]) -> Result<()> {
        self.check_copy(stream, offset, bytes_of::<T>(elements.len()))?;
        if size_of_val(elements) == 0 {
            return Ok(());
        }
        let tracked = &*self.mapped.tracked;
        let lent = CopyLoan::new(&tracked.ledger, vec![tracked])?;
        lent.write(stream, || Ok(self.mapped.range.write(stream, offset, elements)?))
    }
}
