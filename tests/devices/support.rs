//! Contexts, data and reports for tests that run in a separate process.

use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaSlice, CudaStream};
use cuweave_testkit::device::{driver, simulated_alone};
use cuweave_testkit::process::apart;

pub const N: u32 = 64;

/// Runs an ignored test in a separate process whose driver has `count` devices.
pub fn with_devices(test: &str, count: u32, more: &[(&str, &str)]) {
    if simulated_alone().is_none() {
        return;
    }
    let count = count.to_string();
    let settings = [&[("CUWEAVE_SIM_DEVICES", count.as_str())], more].concat();
    apart(test, &settings);
}

/// Returns the contexts of all devices.
pub fn contexts() -> Vec<Arc<CudaContext>> {
    driver();
    let count = CudaContext::device_count().expect("a count");
    (0..count).map(|device| cuweave::context(device as usize).expect("a context")).collect()
}

pub fn streams(contexts: &[Arc<CudaContext>]) -> Vec<Arc<CudaStream>> {
    contexts.iter().map(|ctx| ctx.new_stream().expect("a stream")).collect()
}

pub fn ramp(stream: &Arc<CudaStream>, len: u32, first: f32) -> CudaSlice<f32> {
    let values: Vec<f32> = (0..len).map(|at| first + at as f32).collect();
    stream.clone_htod(&values).expect("an upload")
}

/// Checks that the simulated driver has reported nothing.
pub fn silent() {
    let reports = cuweave_sim::take_reports().expect("reports");
    assert!(reports.is_empty(), "{reports:?}");
}
