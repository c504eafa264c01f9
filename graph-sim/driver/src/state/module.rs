//! Modules and their kernels.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::image::{Image, Kernel};
use super::link::Link;
use crate::base::status::{Result, Status};
use crate::base::table::Table;

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

/// The loaded modules with their kernels, and the linkers.
pub struct LoadedCode {
    /// Modules, and libraries.
    pub modules: Table<Module>,
    /// Kernels of modules.
    pub functions: Table<Function>,
    /// Linkers.
    pub links: Table<Link>,
}

impl LoadedCode {
    /// Returns the state without modules.
    pub fn new() -> Self {
        LoadedCode { modules: Table::new(4), functions: Table::new(5), links: Table::new(12) }
    }

    /// Returns a module.
    pub fn module(&self, module: u64) -> Result<&Module> {
        self.modules.get(module).ok_or(Status::INVALID_HANDLE)
    }

    /// Returns a linker.
    pub fn link(&self, link: u64) -> Result<&Link> {
        self.links.get(link).ok_or(Status::INVALID_HANDLE)
    }

    /// Returns a linker to change.
    pub fn link_mut(&mut self, link: u64) -> Result<&mut Link> {
        self.links.get_mut(link).ok_or(Status::INVALID_HANDLE)
    }

    /// Returns a kernel of a module.
    pub fn function(&self, function: u64) -> Result<&Function> {
        self.functions.get(function).ok_or(Status::INVALID_HANDLE)
    }
}
