//! [`Binding`]: memory that is bound to a range of a multicast object.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, MutexGuard};

use crate::cuda::{BindFailure, Failure, Outcome, record};
use crate::error::{Error, MulticastFault, Result};

use super::checks::{check_aligned, check_inside, fault};
use super::memory::Memory;
use super::object::{BoundEntry, BoundMemory, BoundRange, Object};

/// How the driver is told which memory to bind.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BindMethod {
    Handle,
    Address,
}

/// Memory that is bound to a range of a multicast object. Keeps the object and the memory alive.
///
/// [`Binding::unbind`] or the drop unbinds exactly the device, offset and size that were bound, after all launches
/// and copies that use them. While an exec uses a [`Mapping`](super::Mapping) of the object there, the memory stays
/// bound: the drop of the last such exec unbinds it.
#[derive(Debug)]
#[must_use = "the memory is unbound when this is dropped"]
pub struct Binding {
    bound: Arc<BoundMemory>,
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
        let (object, memory, ended) = (object.clone(), memory.clone(), AtomicBool::new(false));
        let tracked = memory.mapped.tracked.clone();
        let made = Arc::new(BoundMemory { object: object.clone(), memory, part, at, ended });
        bound.push(BoundEntry { part, tracked, binding: Arc::downgrade(&made) });
        drop(bound);
        Ok(Binding { bound: made })
    }

    /// Returns the offset in the object, in bytes.
    pub fn offset(&self) -> u64 {
        self.bound.part.offset
    }

    /// Returns the size in bytes.
    pub fn num_bytes(&self) -> u64 {
        self.bound.part.bytes
    }

    /// Returns the bound memory.
    pub fn memory(&self) -> &Arc<Memory> {
        &self.bound.memory
    }

    /// Unbinds the memory and returns it, after all launches and copies that use it.
    ///
    /// # Errors
    ///
    /// [`MulticastFault::InUse`] if an exec or graph uses a mapping of the object there; the memory is unbound when
    /// the last of them is dropped. A failed driver call; the memory counts as unbound even then.
    pub fn unbind(self) -> Result<Arc<Memory>> {
        let bound = self.bound.object.bound();
        // Execs get their share under this lock.
        if Arc::strong_count(&self.bound) > 1 {
            return fault(MulticastFault::InUse { offset: self.offset(), bytes: self.num_bytes() });
        }
        self.bound.end(bound)?;
        Ok(self.bound.memory.clone())
    }
}

impl BoundMemory {
    /// Waits for all uses of the memory and unbinds it.
    fn end(&self, mut bound: MutexGuard<'_, Vec<BoundEntry>>) -> Outcome<()> {
        self.ended.store(true, Ordering::Relaxed);
        if let Some(at) = bound.iter().position(|bound| bound.part == self.part) {
            bound.swap_remove(at);
        }
        if !self.memory.mapped.tracked.end_on_host() {
            // It stays bound, since work that uses it may be in flight.
            return Ok(());
        }
        self.object.raw.unbind(self.part.device, self.part.offset, self.part.bytes)
    }
}

impl Drop for BoundMemory {
    fn drop(&mut self) {
        if !self.ended.load(Ordering::Relaxed)
            && let Err(failure) = self.end(self.object.bound())
        {
            record(&self.memory.ctx, failure);
        }
    }
}
