//! What every program needs: a context, a stream, and data to and fro.

use std::sync::{Arc, Once};

use cudarc::driver::{CudaContext, CudaSlice, CudaStream, DevicePtr, DeviceRepr, ValidAsZeroBits};

/// A context and one stream of it.
pub struct Device {
    pub ctx: Arc<CudaContext>,
    pub stream: Arc<CudaStream>,
}

/// The device that the tests run on: a GPU where there is one, else the simulated driver.
pub fn device() -> Device {
    static SAID: Once = Once::new();
    let driver = cuweave_sim::load().expect("a driver, the simulated one where there is no GPU");
    SAID.call_once(|| println!("driver: {driver}"));
    let ctx = cuweave::context(0).expect("a context");
    let stream = ctx.new_stream().expect("a stream");
    Device { ctx, stream }
}

impl Device {
    /// A device buffer with these contents.
    pub fn upload<T: DeviceRepr>(&self, data: &[T]) -> CudaSlice<T> {
        self.stream.clone_htod(data).expect("an upload")
    }

    /// A device buffer of zeros.
    pub fn zeros<T: DeviceRepr + ValidAsZeroBits>(&self, len: usize) -> CudaSlice<T> {
        self.stream.alloc_zeros(len).expect("an allocation")
    }

    /// The contents of a device buffer.
    pub fn download<T: DeviceRepr>(&self, buffer: &impl DevicePtr<T>) -> Vec<T> {
        self.stream.clone_dtoh(buffer).expect("a download")
    }
}

/// 0, 1, 2, ... as floats.
pub fn ramp(len: usize) -> Vec<f32> {
    (0..len).map(|i| i as f32).collect()
}

/// Builds, instantiates and launches a graph without outputs once, and drops it.
macro_rules! run {
    ($device:expr, $graph:expr) => {{
        let mut exec = $graph.expect("the graph builds").instantiate().expect("it instantiates");
        exec.launch(&$device.stream).expect("it launches");
    }};
}
pub(crate) use run;
