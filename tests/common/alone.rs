//! A device, and one test alone with it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cudarc::driver::{CudaContext, CudaStream};

/// A device, and this test alone with it: what the driver counts, reports and lets fail is the process's.
pub struct Device {
    pub ctx: Arc<CudaContext>,
    #[allow(dead_code)]
    pub stream: Arc<CudaStream>,
    /// Whether the driver is the simulated one.
    pub simulated: bool,
    _alone: MutexGuard<'static, ()>,
}

/// The device that the tests run on: a GPU where there is one, else the simulated driver.
pub fn device() -> Device {
    static ALONE: Mutex<()> = Mutex::new(());
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let driver = cuweave_sim::load().expect("a driver, the simulated one where there is no GPU");
    println!("driver: {driver}");
    let ctx = cuweave::context(0).expect("a context");
    let stream = ctx.new_stream().expect("a stream");
    Device { ctx, stream, simulated: driver.is_simulated(), _alone: alone }
}
