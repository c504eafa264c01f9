//! The values of a launch that need no driver handles.

use cuweave_ptx::declare::DeclaredPart;

use crate::ids::KernelId;

use super::shape::LaunchShape;

/// A launched kernel.
#[derive(Clone, Debug)]
pub struct LaunchedKernel {
    /// Its name.
    pub name: &'static str,
    /// The file, as named in the declaration.
    pub path: &'static str,
    /// Its parameters in order.
    pub parameters: Vec<DeclaredParameter>,
}

/// A parameter of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct DeclaredParameter {
    /// Its name.
    pub name: &'static str,
    /// The properties of its declaration that the PTX does not prove, with the reasons.
    pub unproved: &'static [(DeclaredPart, &'static str)],
}

/// The values of a launch.
#[derive(Clone, Copy, Debug)]
pub struct LaunchValues {
    /// The kernel.
    pub kernel: KernelId,
    /// Its launch configuration.
    pub shape: LaunchShape,
}
