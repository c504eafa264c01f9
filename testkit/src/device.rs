//! Devices: a GPU where there is one, else the simulated driver.

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

/// Loads the driver, the simulated one where there is no GPU, and says once which it is.
pub fn driver() -> cuweave_sim::Driver {
    static SAID: Once = Once::new();
    let driver = cuweave_sim::load().expect("a driver, the simulated one where there is no GPU");
    SAID.call_once(|| println!("driver: {driver}"));
    driver
}

/// Returns the first device, with a new stream. Other tests use it at the same time.
pub fn device() -> Device {
    let driver = driver();
    let ctx = cuweave_runtime::context(0).expect("a context");
    let stream = ctx.new_stream().expect("a stream");
    Device { driver, simulated: driver.is_simulated(), ctx, stream }
}

/// A device that no other test of the process uses meanwhile, if all of them ask for it so: counts, reports and faults
/// of the simulated driver are the process's.
pub struct Alone {
    device: Device,
    _guard: MutexGuard<'static, ()>,
}

impl Deref for Alone {
    type Target = Device;

    fn deref(&self) -> &Device {
        &self.device
    }
}

/// Waits until no other test uses the device, and returns it.
pub fn alone() -> Alone {
    let guard = turn();
    Alone { device: device(), _guard: guard }
}

/// Waits as [`alone`] does, for tests that must be free to drop the last context.
pub fn turn() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the device as [`device`] does if the driver is the simulated one. Otherwise says that the test is not run.
pub fn simulated() -> Option<Device> {
    let device = device();
    if !device.simulated {
        println!("not run: it needs the simulated driver, and this is the {}", device.driver);
        return None;
    }
    Some(device)
}

/// Returns the device as [`alone`] does if the driver is the simulated one. Otherwise says that the test is not run.
/// Forgets an error that the context keeps.
pub fn simulated_alone() -> Option<Alone> {
    let driver = driver();
    if !driver.is_simulated() {
        println!("not run: it needs the simulated driver, and this is the {driver}");
        return None;
    }
    // A fault that another test has asked for meets no call of this one.
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

    /// Returns `real` on a GPU and `simulated` without.
    pub fn scaled<T>(&self, real: T, simulated: T) -> T {
        if self.simulated { simulated } else { real }
    }

    /// Returns the counts of live objects, which the simulated driver alone has.
    pub fn live(&self) -> Option<cuweave_sim::Live> {
        self.simulated.then(|| cuweave_sim::live().expect("counts"))
    }

    /// Seeds the schedules of the simulated driver.
    pub fn schedule(&self, seed: u64) {
        if self.simulated {
            cuweave_sim::seed(seed).expect("the simulated driver");
        }
    }

    /// Panics if the simulated driver reported something, or a call in a drop failed.
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

/// Builds, instantiates and launches a graph without outputs once, and drops it.
#[macro_export]
macro_rules! run {
    ($device:expr, $graph:expr) => {{
        let mut exec = $graph.expect("the graph builds").instantiate().expect("it instantiates");
        exec.launch(&$device.stream).expect("it launches");
    }};
}
