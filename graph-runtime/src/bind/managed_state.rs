//! The state of managed memory: its device, and the stream that it is attached to.

use std::sync::{Mutex, PoisonError};

use cudarc::driver::CudaStream;

use crate::cuda::Association;
use crate::error::ManagedFault;
use crate::waits::HeldStream;

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
    /// True if host and device may access it at the same time.
    pub concurrent: bool,
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

    /// Returns the reason why a stream may not use it. `None` if the stream may.
    pub fn fault(&self, stream: &CudaStream) -> Option<ManagedFault> {
        match &*self.attached.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(attached) => (!attached.is_here(stream)).then_some(ManagedFault::AttachedElsewhere),
            None if self.association == Association::Host && !self.concurrent => {
                Some(ManagedFault::AttachedToHost { device: self.device })
            }
            None => None,
        }
    }

    /// Returns true if the device must be idle while the host accesses the memory.
    pub fn needs_idle_device(&self) -> bool {
        !self.concurrent && self.association == Association::Global && self.stream().is_none()
    }
}
