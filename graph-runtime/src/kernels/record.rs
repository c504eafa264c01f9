//! The evaluated values of a launch.

use cuweave_core::index::size;
use cuweave_core::launches::LaunchShape;

use crate::cuda::{self, Function, KernelLaunch, Word};

use super::declaration::Kernel;
use super::param::Param;

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

    /// Returns the bits of a scalar parameter, by its index in the kernel's declaration. `None` for other parameters,
    /// and for scalars of several words or with padding.
    pub fn scalar(&self, words: &[Word], parameter: usize) -> Option<u64> {
        let param = self.kernel.params.get(parameter).filter(|param| param.is_scalar() && param.dense)?;
        let first = self.kernel.params[..parameter].iter().map(Param::words).sum::<usize>();
        (param.words() == 1).then(|| words.get(size(self.first) + first).map(|&word| cuda::number(word)))?
    }
}
