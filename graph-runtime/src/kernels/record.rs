//! The evaluated values of a launch.

use cuweave_core::launches::LaunchShape;

use crate::cuda::{Function, Launching};

use super::declaration::Kernel;

/// A launch of a kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaunchRecord {
    /// The kernel.
    pub kernel: &'static Kernel,
    /// Its loaded function.
    pub function: Function,
    /// Its configuration.
    pub shape: LaunchShape,
    /// The word at which its parameters begin, in the order of the kernel's declaration. The k-th buffer among them is the
    /// k-th access of the statement; its word becomes its address once that is known.
    pub first: u32,
}

impl LaunchRecord {
    /// Converts the launch for the driver.
    #[inline]
    pub fn launching(&self) -> Launching {
        let LaunchShape { grid, block, shared } = self.shape;
        Launching { function: self.function, grid, block, shared, cooperative: self.kernel.cooperative }
    }
}
