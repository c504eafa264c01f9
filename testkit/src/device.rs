//! Devices for tests: a GPU if there is one, otherwise the simulated driver.

use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};

use cudarc::driver::{
    CudaContext, CudaSlice, CudaStream, DevicePtr, DeviceRepr, PinnedHostSlice, ValidAsZeroBits,
};

/// A context and one stream of it.
#[derive(Clone)]
pub struct Device {
    pub driver: cuweave_sim::Driver,
    /// True if the driver is the simulated one.
    pub simulated: bool,
    pub ctx: Arc<CudaContext>,
    pub stream: Arc<CudaStream>,
}

/// Loads the driver (the simulated one if there is no GPU), and prints once which it is.
pub fn driver() -> cuweave_sim::Driver {
    static SAID: Once = Once::new();
    let driver = cuweave_sim::load().expect("a driver, the simulated one where there is no GPU");
    SAID.call_once(|| println!("driver: {driver}"));
    driver
}

/// Returns the first device with a new stream. Other tests may use the device at the same time.
pub fn device() -> Device {
    let driver = driver();
    cuweave_runtime::private::verify_by_lifting();
    let ctx = cuweave_runtime::context(0).expect("a context");
    let stream = ctx.new_stream().expect("a stream");
    Device { driver, simulated: driver.is_simulated(), ctx, stream }
}

/// Exclusive use of the device within the process, as long as all tests that need it request it this way. The
/// simulated driver's counts, reports and failures belong to the whole process.
pub struct ExclusiveDevice {
    device: Device,
    _guard: MutexGuard<'static, ()>,
}

impl Deref for ExclusiveDevice {
    type Target = Device;

    fn deref(&self) -> &Device {
        &self.device
    }
}

/// Waits until no other test holds the device, and returns it.
pub fn alone() -> ExclusiveDevice {
    let guard = test_lock();
    ExclusiveDevice { device: device(), _guard: guard }
}

/// Waits like [`alone`], for tests that must be able to drop the last context.
pub fn test_lock() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns [`device`] on the simulated driver. On a real one, prints that the test is skipped.
pub fn simulated() -> Option<Device> {
    let device = device();
    if !device.simulated {
        println!("not run: it needs the simulated driver, and this is the {}", device.driver);
        return None;
    }
    Some(device)
}

/// Returns [`alone`] on the simulated driver, and clears any error of the context. On a real one, prints that the
/// test is skipped.
pub fn simulated_alone() -> Option<ExclusiveDevice> {
    let driver = driver();
    if !driver.is_simulated() {
        println!("not run: it needs the simulated driver, and this is the {driver}");
        return None;
    }
    // Taking the lock first ensures that a failure requested by another test cannot hit a call of this one.
    let device = alone();
    let _ = device.ctx.check_err();
    Some(device)
}

impl Device {
    /// Returns a new stream of the device.
    pub fn new_stream(&self) -> Arc<CudaStream> {
        self.ctx.new_stream().expect("a stream")
    }

    /// Returns a device buffer with these contents.
    pub fn upload<T: DeviceRepr>(&self, data: &[T]) -> CudaSlice<T> {
        self.stream.clone_htod(data).expect("an upload")
    }

    /// Returns a device buffer of zeros.
    pub fn zeros<T: DeviceRepr + ValidAsZeroBits>(&self, len: usize) -> CudaSlice<T> {
        self.stream.alloc_zeros(len).expect("an allocation")
    }

    /// Returns the contents of a device buffer.
    pub fn download<T: DeviceRepr>(&self, buffer: &impl DevicePtr<T>) -> Vec<T> {
        self.stream.clone_dtoh(buffer).expect("a download")
    }

    /// Returns `real` on a GPU, and `simulated` otherwise.
    pub fn scaled<T>(&self, real: T, simulated: T) -> T {
        if self.simulated { simulated } else { real }
    }

    /// Returns the counts of live objects. `None` on a real driver.
    pub fn live(&self) -> Option<cuweave_sim::LiveObjects> {
        self.simulated.then(|| cuweave_sim::live_objects().expect("counts"))
    }

    /// Seeds the scheduler of the simulated driver.
    pub fn schedule(&self, seed: u64) {
        if self.simulated {
            cuweave_sim::set_seed(seed).expect("the simulated driver");
        }
    }

    /// Panics if the simulated driver has reported a violation, or if a call in a drop has failed.
    pub fn nothing_reported(&self) {
        self.schedule(0);
        self.ctx.check_err().expect("no call in a drop failed");
        if self.simulated {
            let reports = cuweave_sim::take_reports().expect("the simulated driver");
            assert!(reports.is_empty(), "{reports:#?}");
        }
    }
}

/// Returns pinned memory with these contents.
#[allow(unsafe_code)]
pub fn pinned<T: DeviceRepr + ValidAsZeroBits + Copy>(
    ctx: &Arc<CudaContext>,
    contents: &[T],
) -> PinnedHostSlice<T> {
    // SAFETY: written before it is read.
    let mut memory = unsafe { ctx.alloc_pinned(contents.len()) }.expect("pinned memory");
    memory.as_mut_slice().expect("its memory").copy_from_slice(contents);
    memory
}

/// Returns 0, 1, 2, ... as floats.
pub fn ramp(len: usize) -> Vec<f32> {
    (0..len).map(|i| i as f32).collect()
}

/// Builds and instantiates a graph without outputs, launches it once, and drops it.
#[macro_export]
macro_rules! run {
    ($device:expr, $graph:expr) => {{
        let mut exec = $graph.expect("the graph builds").instantiate().expect("it instantiates");
        exec.launch(&$device.stream).expect("it launches");
    }};
}
