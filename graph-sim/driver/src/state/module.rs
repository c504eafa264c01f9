//! Modules and their kernels.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::image::{Image, Kernel};

/// A module, or a library, which is the same here.
pub struct Module {
    /// Its context.
    pub context: u64,
    /// The image that it was loaded from.
    pub image: Arc<Image>,
    /// Its kernels by their place in the image, by handle.
    pub functions: Vec<u64>,
    /// The address and length of each variable.
    pub variables: BTreeMap<String, (u64, u64)>,
}

/// A kernel of a loaded module.
pub struct Function {
    /// Its module.
    pub module: u64,
    /// Its context.
    pub context: u64,
    /// The image of the module.
    pub image: Arc<Image>,
    /// Its place in the image.
    pub kernel: usize,
    /// The maximum dynamic shared memory of a launch.
    pub dynamic_shared: u32,
    /// The attributes set by the program, by number.
    pub attributes: BTreeMap<u32, i32>,
}

impl Function {
    /// Returns its description in the image.
    pub fn kernel(&self) -> &Kernel {
        &self.image.kernels[self.kernel]
    }

    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.kernel().name
    }
}
