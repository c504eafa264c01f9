//! The state of managed memory: its device, and the stream that it is attached to.

use std::sync::{Mutex, PoisonError};

use cudarc::driver::CudaStream;

use crate::cuda::Association;
use crate::error::ManagedFault;
use crate::waits::HeldStream;

/// The state of managed memory.
#[derive(Debug)]
pub(crate) struct Unified {
    /// The address that the driver allocated.
    pub base: u64,
    /// The address of the elements, the begin of a page.
    pub address: u64,
    /// The bytes of its elements.
    pub used: usize,
    /// The size of a page of the host in bytes.
    pub page: usize,
    /// The ordinal of the device of its context.
    pub device: usize,
    /// True if host and device access it at the same time.
    pub concurrent: bool,
    /// Its association as it was allocated.
    pub association: Association,
    /// The only stream that may use it; `None` if its association is that of the allocation.
    pub attached: Mutex<Option<HeldStream>>,
}

impl Unified {
    /// Returns the only stream that may use it.
    pub fn stream(&self) -> Option<HeldStream> {
        self.attached.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sets the only stream that may use it; `None` restores the association of the allocation.
    pub fn set_stream(&self, stream: Option<HeldStream>) {
        *self.attached.lock().unwrap_or_else(PoisonError::into_inner) = stream;
    }

    /// Returns the reason why a stream may not use it.
    pub fn fault(&self, stream: &CudaStream) -> Option<ManagedFault> {
        match &*self.attached.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(attached) => (!attached.is_here(stream)).then_some(ManagedFault::AttachedElsewhere),
            None if self.association == Association::Host && !self.concurrent => {
                Some(ManagedFault::AttachedToHost { device: self.device })
            }
            None => None,
        }
    }

    /// Returns true if the device may run nothing while the host accesses the memory.
    pub fn needs_idle_device(&self) -> bool {
        !self.concurrent && self.association == Association::Global && self.stream().is_none()
    }
}
