//! The state of managed memory: its device, and the stream that it is attached to.

use std::sync::{Mutex, PoisonError};

use cudarc::driver::CudaStream;

use crate::cuda::Association;
use crate::error::{Error, ManagedFault, Result};
use crate::waits::HeldStream;

use super::loan::IdlePart;

#[derive(Debug)]
pub(crate) struct ManagedState {
    /// The address that the driver returned.
    pub base: u64,
    /// The address of the elements: the start of a page.
    pub address: u64,
    /// The size of the elements in bytes.
    pub used: usize,
    /// The size of a host page in bytes.
    pub page: usize,
    /// The ordinal of its context's device.
    pub device: usize,
    /// The ordinals of the system's devices without concurrent access.
    pub without_concurrent_access: Vec<usize>,
    /// The association that it was allocated with.
    pub association: Association,
    /// The only stream that may use it. `None` if it has the association of its allocation.
    pub attached: Mutex<Option<HeldStream>>,
}

impl ManagedState {
    /// Returns the only stream that may use it, if it is attached to one.
    pub fn stream(&self) -> Option<HeldStream> {
        self.attached.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sets the only stream that may use it. `None` restores the association of the allocation.
    pub fn set_stream(&self, stream: Option<HeldStream>) {
        *self.attached.lock().unwrap_or_else(PoisonError::into_inner) = stream;
    }

    /// Returns true if host and devices may access it at the same time: all devices of the system have concurrent
    /// access.
    pub fn is_concurrent(&self) -> bool {
        self.without_concurrent_access.is_empty()
    }

    /// Checks that a stream may use it.
    pub fn check(&self, stream: &CudaStream) -> Result<()> {
        self.fault(stream).map_or(Ok(()), |fault| Err(Error::Managed(fault)))
    }

    /// Returns the reason why a stream may not use it. `None` if the stream may.
    pub fn fault(&self, stream: &CudaStream) -> Option<ManagedFault> {
        let device = stream.context().ordinal();
        match &*self.attached.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(attached) => (!attached.is_here(stream)).then_some(ManagedFault::AttachedElsewhere),
            None if self.association == Association::Host
                && self.without_concurrent_access.contains(&device) =>
            {
                Some(ManagedFault::AttachedToHost { device })
            }
            None => None,
        }
    }

    /// Checks that a device may access it while the host does, which prefetches in streams of the device need.
    pub fn check_concurrent(&self, device: usize) -> Result<()> {
        match self.without_concurrent_access.contains(&device) {
            true => Err(Error::Managed(ManagedFault::NoConcurrentAccess { device })),
            false => Ok(()),
        }
    }

    /// Returns what must be idle while the host accesses the memory.
    pub fn idle_part(&self) -> Option<IdlePart> {
        match self.stream() {
            _ if self.is_concurrent() => None,
            Some(stream) => Some(IdlePart::Stream(stream)),
            None => (self.association == Association::Global).then_some(IdlePart::Devices),
        }
    }
}
