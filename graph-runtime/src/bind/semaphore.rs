//! [`Semaphore`]s of other APIs, imported so that graphs can wait for and signal them.

use std::fmt;
use std::sync::Arc;

use cudarc::driver::CudaContext;

use crate::context;
use crate::cuda::{self, OwnedSemaphore, RawSemaphore, SemaphoreHandle};
use crate::error::{DeviceFeature, Error, Result};

/// A semaphore that another API has created, such as Vulkan, for graphs to wait for and to signal by
/// `wait_semaphore` and `signal`. Declared as `semaphore: &Semaphore` in a graph function and bound as an
/// `Arc`. The drop of the last owner ends the import.
pub struct Semaphore {
    owned: OwnedSemaphore,
    counts: bool,
}

impl fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Semaphore").field("counts", &self.counts).finish_non_exhaustive()
    }
}

impl Semaphore {
    /// Imports a semaphore. After an error the program still owns the handle.
    ///
    /// # Errors
    ///
    /// No driver is installed; a timeline semaphore that the device does not support; a handle that the driver
    /// rejects.
    pub fn import(ctx: &Arc<CudaContext>, handle: &SemaphoreHandle) -> Result<Arc<Semaphore>> {
        // CU_DEVICE_ATTRIBUTE_TIMELINE_SEMAPHORE_INTEROP_SUPPORTED
        const TIMELINES: u32 = 114;
        let driver = cuda::driver()?;
        context::enter(driver, ctx)?;
        if handle.is_timeline() && driver.device_attribute(ctx, TIMELINES)? == 0 {
            return Err(Error::NotOnThisDevice { what: DeviceFeature::TimelineSemaphores });
        }
        let owned = OwnedSemaphore::import(driver, ctx, handle)?;
        Ok(Arc::new(Semaphore { owned, counts: handle.counts() }))
    }

    /// Returns true if the semaphore has a value that counts up, false if it is binary.
    #[must_use]
    pub fn counts(&self) -> bool {
        self.counts
    }

    pub(crate) fn raw(&self) -> RawSemaphore {
        self.owned.raw()
    }

    pub(crate) fn context(&self) -> &Arc<CudaContext> {
        self.owned.context()
    }
}
