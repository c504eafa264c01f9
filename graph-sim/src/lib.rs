//! A CUDA driver for machines without a GPU.
//!
//! [`load`] makes a simulated `libcuda` the driver of the process, unless a real one is there. Programs that find
//! the driver at run time, as cudarc does, then run on the CPU. The simulated driver also checks what the real one
//! accepts silently: accesses outside live memory, races between the nodes of a graph, reads of memory that nothing
//! has written.
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
//! Call it first thing in each test or `main`: once anything has looked for a driver, it is too late.
//!
//! # Settings
//!
//! | variable | |
//! |---|---|
//! | `CUWEAVE_DRIVER` | `sim`, `cuda`, or `auto` (default): the real driver where one opens, initialises and has a device |
//! | `CUWEAVE_SIM_VERSION` | the CUDA version that the simulated driver presents itself as, such as `12.4`; default 13.0 |
//! | `CUWEAVE_SIM_CAPABILITY` | the devices' compute capability, such as `8.0`; default 9.0 |
//! | `CUWEAVE_SIM_DEVICES` | the number of devices; default 1 |
//! | `CUWEAVE_SIM_MEMORY` | the memory of each device, in bytes or as `64M`, `8G`; default that of an H200. Managed memory beyond it is evicted to the host |
//! | `CUWEAVE_SIM_PEERS` | the devices that can access each other's memory: `all` (default), `none`, or pairs such as `0-1,2-3` |
//! | `CUWEAVE_SIM_SEED` | the order in which the nodes of a graph run: 0 (default) is the order of their making, every other number another one that the edges allow |
//! | `CUWEAVE_SIM_STRICT` | `1`: conflicts between the threads of one kernel are errors, not warnings |
//! | `CUWEAVE_SIM_REUSE` | `0`: no allocation of a graph takes the address of an earlier one, so that every use after a free is seen |
//! | `CUWEAVE_SIM_INITIALISED` | `0`: kernels may read memory that nothing has written |
//! | `CUWEAVE_SIM_MANAGED` | `0`: the devices do not allocate managed memory |
//! | `CUWEAVE_SIM_CONCURRENT` | `0`: host and devices cannot access managed memory at the same time |
//! | `CUWEAVE_SIM_MULTICAST` | `0`: the devices have no multicast objects; otherwise two or more of them have, from capability 9.0 on |
//! | `CUWEAVE_SIM_INSTRUCTIONS` | the most instructions that one thread of a kernel may run; default 16,777,216 |
//! | `CUWEAVE_SIM_TURNS` | the most turns that the loops of one launch may make, all together; default 1,048,576 |
//! | `CUWEAVE_SIM_LIBRARY` | the simulated driver's file, if it lies where [`load`] does not look |
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
    Call, Held, Live, Pages, Report, calls, clear_faults, fail, hold, library_folder, live, pages, parallel,
    patience, registers, reports, resident, seed, take_reports, take_trace, trace,
};

/// The code of the README as a doc test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

use std::sync::Mutex;

/// Makes sure that the process has a CUDA driver: the real one, or else the simulated one.
///
/// The first call decides; later ones return its result. `CUWEAVE_DRIVER` selects the driver, see the crate's page.
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
