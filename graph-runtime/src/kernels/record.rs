//! The evaluated values of a launch.

use cuweave_core::launches::LaunchShape;

use crate::cuda::{Function, KernelLaunch};

use super::declaration::Kernel;

#[derive(Clone, Copy, Debug)]
pub(crate) struct LaunchRecord {
    pub kernel: &'static Kernel,
    pub function: Function,
    pub shape: LaunchShape,
    /// The index of its first parameter word. The words are in the order of the kernel's declaration. The k-th
    /// buffer parameter is the k-th access of the statement; its word holds the address once that is known.
    pub first: u32,
}

impl LaunchRecord {
    /// Returns the launch configuration for the driver.
    #[inline]
    pub fn kernel_launch(&self) -> KernelLaunch {
        let LaunchShape { grid, block, shared } = self.shape;
        KernelLaunch { function: self.function, grid, block, shared, cooperative: self.kernel.cooperative }
    }
}
