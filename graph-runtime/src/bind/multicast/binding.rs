//! [`Binding`]: memory that is bound to a range of a multicast object.

use std::sync::Arc;

use crate::cuda::{BindFailure, Failure, record};
use crate::error::{Error, MulticastFault, Result};

use super::memory::Memory;
use super::object::{BoundMemory, BoundRange, Object, check_aligned, check_inside, fault};

/// How the driver is told which memory to bind.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BindMethod {
    Handle,
    Address,
}

/// Memory that is bound to a range of a multicast object. Keeps the object and the memory alive.
/// [`Binding::unbind`] or the drop unbinds exactly the device, offset and size that were bound.
///
/// When it ends, no work that uses these addresses of the object may be in flight. Writes of
/// [`Mapping`](super::Mapping) never are: they wait.
#[derive(Debug)]
#[must_use = "the memory is unbound when this is dropped"]
pub struct Binding {
    object: Arc<Object>,
    memory: Arc<Memory>,
    part: BoundRange,
    ended: bool,
}

/// Converts a failed binding into the fault that names its reason.
fn named(failure: Failure) -> Error {
    match BindFailure::from_failure(failure) {
        Some(BindFailure::Resources) => Error::Multicast(MulticastFault::NoResources),
        Some(BindFailure::NotReady) => Error::Multicast(MulticastFault::SystemNotReady),
        Some(BindFailure::IllegalState) => Error::Multicast(MulticastFault::IllegalState),
        None => Error::from(failure),
    }
}

impl Binding {
    /// Binds `bytes` bytes of memory, starting at `at`, to an object that has all of its devices.
    pub(super) fn new(
        object: &Arc<Object>,
        offset: u64,
        memory: &Arc<Memory>,
        at: u64,
        bytes: u64,
        by: BindMethod,
    ) -> Result<Binding> {
        object.check_member(&memory.ctx)?;
        if bytes == 0 {
            return fault(MulticastFault::Empty { what: "the part of the memory" });
        }
        check_inside("the memory", at, bytes, memory.bytes)?;
        check_inside("the multicast object", offset, bytes, object.bytes)?;
        let step = object.granularity.minimum;
        check_aligned("the size of the part", bytes, step)?;
        check_aligned("the offset in the multicast object", offset, step)?;
        let address = memory.address().saturating_add(at);
        match by {
            BindMethod::Handle => check_aligned("the offset in the memory", at, step)?,
            BindMethod::Address => check_aligned("the address of the memory", address, step)?,
        }
        let device = memory.ctx.cu_device();
        let mut bound = object.bound();
        if bound.iter().any(|bound| bound.part.device == device && bound.part.overlaps(offset, bytes)) {
            return fault(MulticastFault::Overlap { device: memory.ctx.ordinal(), offset, bytes });
        }
        match by {
            BindMethod::Handle => object.raw.bind_memory(device, offset, &memory.raw, at, bytes),
            BindMethod::Address => object.raw.bind_address(device, offset, address, bytes),
        }
        .map_err(named)?;
        let part = BoundRange { device, offset, bytes };
        bound.push(BoundMemory { part, uses: memory.uses.clone() });
        drop(bound);
        Ok(Binding { object: object.clone(), memory: memory.clone(), part, ended: false })
    }

    /// Returns the offset in the object, in bytes.
    pub fn offset(&self) -> u64 {
        self.part.offset
    }

    /// Returns the size in bytes.
    pub fn num_bytes(&self) -> u64 {
        self.part.bytes
    }

    /// Returns the bound memory.
    pub fn memory(&self) -> &Arc<Memory> {
        &self.memory
    }

    fn end(&mut self) -> std::result::Result<(), Failure> {
        self.ended = true;
        let mut bound = self.object.bound();
        if let Some(at) = bound.iter().position(|bound| bound.part == self.part) {
            bound.swap_remove(at);
        }
        self.object.raw.unbind(self.part.device, self.part.offset, self.part.bytes)
    }

    /// Unbinds the memory and returns it.
    ///
    /// # Errors
    ///
    /// A failed driver call. The memory counts as unbound even then.
    pub fn unbind(mut self) -> Result<Arc<Memory>> {
        self.end()?;
        Ok(self.memory.clone())
    }
}

impl Drop for Binding {
    fn drop(&mut self) {
        if !self.ended
            && let Err(failure) = self.end()
        {
            record(&self.memory.ctx, failure);
        }
    }
}
