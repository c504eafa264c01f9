//! A CUDA driver for machines without a GPU.
//!
//! [`load`] makes a simulated `libcuda` the driver of the process if there is no real one. Programs that look for
//! the driver at run time, such as those that use cudarc, then run on the CPU. The simulated driver also reports
//! errors that the real one accepts silently: accesses outside live memory, races between the nodes of a graph, and
//! reads of memory that nothing has written.
//!
//! ```
//! let driver = cuweave_sim::load().unwrap();
//! println!("running on the {driver}");
//!
//! let context = cudarc::driver::CudaContext::new(0).unwrap();
//! let stream = context.default_stream();
//! let numbers = stream.clone_htod(&[1.0f32, 2.0, 3.0]).unwrap();
//! assert_eq!(stream.clone_dtoh(&numbers).unwrap(), [1.0, 2.0, 3.0]);
//! ```
//!
//! Call it first in each test or `main`. It must run before anything else looks for a driver.
//!
//! # Settings
//!
//! The README lists all variables with their values.
//!
//! | variable | |
//! |---|---|
//! | `CUWEAVE_DRIVER` | `sim`, `cuda`, or `auto` (default): the real driver if it initialises and has a device |
//! | `CUWEAVE_SIM_VERSION` | the CUDA version to simulate, such as `12.4`; default 13.0 |
//! | `CUWEAVE_SIM_CAPABILITY` | the compute capability of the devices, such as `8.0`; default 9.0 |
//! | `CUWEAVE_SIM_DEVICES` | the number of devices; default 1 |
//! | `CUDA_VISIBLE_DEVICES` | the devices that the process sees, by numbers or UUIDs; default all |
//! | `CUWEAVE_SIM_MEMORY` | the memory of each device, in bytes or as `64M`, `8G`; default that of an H200 |
//! | `CUWEAVE_SIM_PEERS` | the peer devices: `all` (default), `none`, or pairs such as `0-1,2-3` |
//! | `CUWEAVE_SIM_SEED` | the order of unordered nodes: 0 (default) for that of their creation, else random |
//! | `CUWEAVE_SIM_STRICT` | `1`: conflicts between the threads of one kernel are errors, not warnings |
//! | `CUWEAVE_SIM_REUSE` | `0`: allocations of a graph never share addresses, so every use after free is seen |
//! | `CUWEAVE_SIM_INITIALISED` | `0`: kernels may read memory that nothing has written |
//! | `CUWEAVE_SIM_MANAGED` | `0`: the devices do not support managed memory |
//! | `CUWEAVE_SIM_CONCURRENT` | `0`: host and devices cannot access managed memory concurrently |
//! | `CUWEAVE_SIM_NUMA_NODES` | the number of NUMA nodes of the host; default 1 |
//! | `CUWEAVE_SIM_MULTICAST` | `0`: no multicast objects; by default two or more 9.0 devices support them |
//! | `CUWEAVE_SIM_INSTRUCTIONS` | the maximum number of instructions per thread; default 16,777,216 |
//! | `CUWEAVE_SIM_ITERATIONS` | the maximum number of loop iterations per launch, over all loops; default 1,048,576 |
//! | `CUWEAVE_SIM_LIBRARY` | the file of the simulated driver, if [`load`] does not find it |
//!
//! # Speed
//!
//! Cargo builds dependencies of tests without optimisation, which makes the simulated driver some twenty times
//! slower. In `Cargo.toml`:
//!
//! ```toml
//! [profile.dev.package.cuweave-sim-driver]
//! opt-level = 3
//! ```

#![warn(missing_docs)]

mod driver;
mod error;
mod find;
mod real;
mod simulator;

pub use driver::Driver;
pub use error::Error;
pub use simulator::{
    DriverCall, HeldWork, LiveObjects, PageCounts, Report, call_counts, clear_faults, hold_work,
    inject_fault, library_folder, live_objects, page_counts, reports, resident_pages, set_parallel,
    set_registers, set_seed, set_trace, set_wait_timeout, take_reports, take_trace,
};

/// Runs the code of the README as a doc test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

use std::sync::Mutex;

/// Loads a CUDA driver for the process: the real one if it works, and otherwise the simulated one.
///
/// The first call decides, and later calls return its result. `CUWEAVE_DRIVER` selects the driver; see the [crate
/// docs](crate#settings).
pub fn load() -> Result<Driver, Error> {
    static DRIVER: Mutex<Option<Result<Driver, Error>>> = Mutex::new(None);
    let mut driver = DRIVER.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    driver.get_or_insert_with(choose).clone()
}

fn choose() -> Result<Driver, Error> {
    let wanted = std::env::var("CUWEAVE_DRIVER").unwrap_or_else(|_| "auto".to_owned());
    match wanted.trim() {
        "cuda" => real::open().map_err(Error::NoDriver),
        "sim" => simulator::open(),
        "auto" | "" => real::open().or_else(|_| simulator::open()),
        other => Err(Error::Setting(other.to_owned())),
    }
}
