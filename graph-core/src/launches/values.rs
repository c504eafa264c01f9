//! The values of launches, without the handles of a driver.

use cuweave_ptx::declare::Open;

use crate::ids::KernelId;

use super::shape::LaunchShape;

/// A kernel that is launched.
#[derive(Clone, Debug)]
pub struct LaunchedKernel {
    /// Its name.
    pub name: &'static str,
    /// The file, as its declaration names it.
    pub path: &'static str,
    /// Its parameters, in their order.
    pub parameters: Vec<DeclaredParameter>,
}

/// A parameter of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct DeclaredParameter {
    /// Its name.
    pub name: &'static str,
    /// The parts of its declaration that the PTX does not prove, with the reasons.
    pub unproved: &'static [(Open, &'static str)],
}

/// The values of a launch.
#[derive(Clone, Copy, Debug)]
pub struct LaunchValues {
    /// The kernel.
    pub kernel: KernelId,
    /// Its configuration.
    pub shape: LaunchShape,
}
