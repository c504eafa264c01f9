//! Loaded modules and their kernels.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::image::{Image, ImageKernel};
use super::linker::Linker;
use crate::base::status::{Result, Status};
use crate::base::table::Table;

/// A module or a library. The simulator does not distinguish them.
pub struct Module {
    pub context: u64,
    pub image: Arc<Image>,
    /// The handles of the kernels, in the order of the image.
    pub functions: Vec<u64>,
    /// The address and length of each variable.
    pub variables: BTreeMap<String, (u64, u64)>,
}

/// A kernel of a loaded module.
pub struct KernelFunction {
    pub module: u64,
    pub context: u64,
    /// The image of the module.
    pub image: Arc<Image>,
    /// The index of the kernel in the image.
    pub kernel: usize,
    /// The maximum dynamic shared memory of a launch, in bytes.
    pub dynamic_shared: u32,
    /// The attributes that the program set, by number.
    pub attributes: BTreeMap<u32, i32>,
}

impl KernelFunction {
    /// Returns the kernel's description in the image.
    pub fn kernel(&self) -> &ImageKernel {
        &self.image.kernels[self.kernel]
    }

    pub fn name(&self) -> &str {
        &self.kernel().name
    }
}

/// The loaded modules, their kernels, and the linkers.
pub struct LoadedCode {
    /// Modules and libraries.
    pub modules: Table<Module>,
    pub functions: Table<KernelFunction>,
    pub links: Table<Linker>,
}

impl LoadedCode {
    /// Returns empty tables.
    pub fn new() -> Self {
        LoadedCode { modules: Table::new(4), functions: Table::new(5), links: Table::new(12) }
    }

    pub fn module(&self, module: u64) -> Result<&Module> {
        self.modules.get(module).ok_or(Status::INVALID_HANDLE)
    }

    pub fn link(&self, link: u64) -> Result<&Linker> {
        self.links.get(link).ok_or(Status::INVALID_HANDLE)
    }

    pub fn link_mut(&mut self, link: u64) -> Result<&mut Linker> {
        self.links.get_mut(link).ok_or(Status::INVALID_HANDLE)
    }

    pub fn function(&self, function: u64) -> Result<&KernelFunction> {
        self.functions.get(function).ok_or(Status::INVALID_HANDLE)
    }
}
