//! The driver of the process.

use std::fmt;

/// The driver of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Driver {
    pub(crate) simulated: bool,
    pub(crate) version: (u32, u32),
}

impl Driver {
    /// Returns true if this is the simulated driver.
    pub fn is_simulated(&self) -> bool {
        self.simulated
    }

    /// Returns the CUDA version that the driver supports: major, minor. For the simulated driver it is the
    /// version of `CUWEAVE_SIM_VERSION`.
    pub fn version(&self) -> (u32, u32) {
        self.version
    }
}

impl fmt::Display for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (major, minor) = self.version;
        let name = if self.simulated { "simulated driver" } else { "NVIDIA driver" };
        write!(f, "{name}, CUDA {major}.{minor}")
    }
}
