//! Access to the stand-in for NCCL (`testkit/nccl`) from tests, and the devices.

use std::ops::Deref;
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaStream};
use cuweave_testkit::device::driver;
use cuweave_testkit::stand_in;

/// Contexts, and a stream of each.
type Devices = (Vec<Arc<CudaContext>>, Vec<Arc<CudaStream>>);

/// Returns contexts with a stream each. `None` if there are fewer devices.
pub fn devices(count: usize) -> Option<Devices> {
    driver();
    let found = CudaContext::device_count().expect("a count");
    if (found as usize) < count {
        println!("not run: it needs {count} devices, and there are {found}");
        return None;
    }
    let contexts: Vec<_> = (0..count).map(|device| cuweave::context(device).expect("a context")).collect();
    let streams = contexts.iter().map(|ctx| ctx.new_stream().expect("a stream")).collect();
    Some((contexts, streams))
}

/// Checks that the simulated driver has reported nothing.
pub fn silent() {
    if driver().is_simulated() {
        let reports = cuweave_sim::take_reports().expect("reports");
        assert!(reports.is_empty(), "{reports:?}");
    }
}

/// The stand-in's functions for tests.
pub struct Control(stand_in::StandInControl);

impl Deref for Control {
    type Target = stand_in::StandInControl;

    fn deref(&self) -> &stand_in::StandInControl {
        &self.0
    }
}

impl Control {
    /// Opens the library for a test of the stand-in. `None` on real devices.
    pub fn open() -> Option<Control> {
        let control = Control::of_simulated();
        if control.is_none() {
            println!("not run: it needs the simulated driver");
        }
        control
    }

    /// Opens the library. `None` on real devices, which use NCCL itself.
    pub fn of_simulated() -> Option<Control> {
        if !driver().is_simulated() {
            return None;
        }
        let control = Control(stand_in::StandInControl::open("nccl_simulated", "ncclTest"));
        control.fail("", 0, 0);
        control.patience(20_000);
        control.hang(false);
        control.counts();
        Some(control)
    }

    /// Sets the time after which missing ranks are an error.
    pub fn patience(&self, milliseconds: u64) {
        // SAFETY: the signature is that in the library's source.
        (unsafe { self.function::<extern "C" fn(u64)>("Patience") })(milliseconds);
    }

    /// Lets ranks wait for missing ranks until the abort, as NCCL does.
    pub fn hang(&self, hangs: bool) {
        // SAFETY: as above.
        (unsafe { self.function::<extern "C" fn(u32)>("Hang") })(u32::from(hangs));
    }

    /// Sets an error on all communicators.
    pub fn break_all(&self, status: u32) {
        // SAFETY: as above.
        (unsafe { self.function::<extern "C" fn(u32)>("Break") })(status);
    }

    /// Returns the number of calls of each function since the last call.
    pub fn counts(&self) -> Vec<(String, u32)> {
        let lines = self.take();
        let counts = stand_in::counts(&lines);
        assert_eq!(counts.len(), lines.len(), "{lines:?}");
        counts
    }
}
