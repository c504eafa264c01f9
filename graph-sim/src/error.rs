//! Errors of [`load`](crate::load) and of the functions that only the simulated driver has.

use std::fmt;

/// The reason why no driver was loaded, or why a call to the simulated driver failed. `Debug` prints the message,
/// so that `main` can return this error.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// `CUWEAVE_DRIVER` has an unknown value.
    #[error("`CUWEAVE_DRIVER` is `{0}`, and may be `sim`, `cuda` or `auto`")]
    Setting(String),
    /// `CUWEAVE_DRIVER=cuda` is set, and no real driver works.
    #[error("there is no CUDA driver with a device: {0}")]
    NoDriver(String),
    /// The simulated driver supports only Linux.
    #[error("the simulated driver runs on 64-bit Linux only")]
    Platform,
    /// The simulated driver's library was not found.
    #[error(
        "the simulated driver `libcuweave_sim_driver*.so` is in none of {0}; help: `CUWEAVE_SIM_LIBRARY` can name it"
    )]
    NotFound(String),
    /// Every library found comes from another build.
    #[error(
        "the simulated driver is of another build than this program: {0}; help: `cargo clean -p \
         cuweave-sim-driver`, and build anew; workspaces with one target folder overwrite each other's driver"
    )]
    OtherBuild(String),
    /// The library could not be opened.
    #[error("the simulated driver `{path}` does not open: {reason}")]
    Open {
        /// The path of the library.
        path: String,
        /// The message of the dynamic loader.
        reason: String,
    },
    /// Another `libcuda` was opened before this call.
    #[error(
        "the process uses another `libcuda` already; help: call `cuweave_sim::load` before anything else"
    )]
    TooLate,
    /// The simulated driver returned this CUDA error code.
    #[error("the simulated driver refuses with CUDA error {0}")]
    Driver(u32),
    /// A function that only the simulated driver has was called, but that driver is not loaded.
    #[error("the simulated driver is not loaded")]
    NotLoaded,
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
