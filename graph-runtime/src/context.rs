//! [`context`] creates contexts with proper errors, and [`enter`] makes one current.

use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaStream};

use super::cuda::{self, Context, Driver, Failure, Stream};
use super::error::{DriverFailure, Error, FailedCall, Result, describe};

/// Returns the primary context of a device.
///
/// # Errors
///
/// No driver is installed, it is too old, or the device does not exist. cudarc's own [`CudaContext::new`]
/// panics without a driver.
pub fn context(ordinal: usize) -> Result<Arc<CudaContext>> {
    cuda::driver()?;
    // Query the count first: tools would report a failed call with an invalid ordinal.
    let count = match CudaContext::device_count() {
        Ok(count) => u32::try_from(count).unwrap_or(0),
        Err(error) if Failure::from_cudarc("cuInit", error).code == cuda::NO_DEVICE => 0,
        Err(error) => return Err(Error::from(Failure::from_cudarc("cuInit", error))),
    };
    if u32::try_from(ordinal).is_ok_and(|ordinal| ordinal < count) {
        CudaContext::new(ordinal)
            .map_err(|error| Error::from(Failure::from_cudarc("cuDevicePrimaryCtxRetain", error)))
    } else {
        Err(Error::NoDevice { ordinal, count })
    }
}

/// Returns true if the driver is the simulated one.
pub fn is_simulated() -> bool {
    cuda::Simulator::get().is_some()
}

/// Makes a context current on this thread. Returns an error that an earlier drop has left in the context.
pub(crate) fn enter(driver: &'static Driver, ctx: &Arc<CudaContext>) -> Result<()> {
    driver.drop_set_aside();
    ctx.check_err().map_err(|error| {
        let failure = describe(Failure::from_cudarc("", error), None);
        Error::Earlier(Box::new(DriverFailure { call: FailedCall::InDrop, ..failure }))
    })?;
    Ok(driver.enter(Context::from_cudarc(ctx))?)
}

/// Returns an error if a stream is capturing: the memory could be freed before the captured work runs.
pub(crate) fn refuse_capture(stream: &CudaStream) -> Result<()> {
    let driver = cuda::driver()?;
    enter(driver, stream.context())?;
    if driver.is_capturing(Stream::from_cudarc(stream))? { Err(Error::BufferCapturing) } else { Ok(()) }
}
