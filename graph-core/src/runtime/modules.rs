//! The modules that a graph uses, kept loaded while it lives.

use std::collections::BTreeMap;
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaEvent};

use super::driver::Driver;
use super::error::Result;
use super::kernel::{FunctionInfo, Kernel, LoadedModule, Module, Param, ParamKind};

/// Kernels that the compiler puts between the user's: a hub of wide joins, and fills that no memset can do.
static INTERNAL: Module = Module::new("cuweave's own module", include_bytes!("internal.ptx"));

/// Does nothing.
pub(super) static HUB: Kernel = Kernel::new("cuweave_hub", &INTERNAL, &[]);

/// Fills with 64-bit values.
pub(super) static FILL64: Kernel = Kernel::new(
    "cuweave_fill64",
    &INTERNAL,
    &[
        Param::fixed::<u64>("target", ParamKind::Write),
        Param::scalar::<u64>("value"),
        Param::scalar::<u64>("n"),
    ],
);

/// The modules and functions of a graph.
pub struct Modules {
    driver: &'static Driver,
    ctx: Arc<CudaContext>,
    /// By the module's address.
    loaded: BTreeMap<usize, Arc<LoadedModule>>,
    /// By the kernel's address.
    functions: BTreeMap<usize, FunctionInfo>,
    /// The one that was asked for last.
    recent: Option<(usize, FunctionInfo)>,
}

impl Modules {
    /// None yet.
    pub(super) fn new(driver: &'static Driver, ctx: Arc<CudaContext>) -> Modules {
        Modules { driver, ctx, loaded: BTreeMap::new(), functions: BTreeMap::new(), recent: None }
    }

    /// A kernel's function; its module is loaded if need be.
    pub(super) fn function(&mut self, kernel: &'static Kernel) -> Result<FunctionInfo> {
        let key = std::ptr::from_ref(kernel).addr();
        if let Some((_, info)) = self.recent.filter(|recent| recent.0 == key) {
            return Ok(info);
        }
        if let Some(&info) = self.functions.get(&key) {
            self.recent = Some((key, info));
            return Ok(info);
        }
        let module = std::ptr::from_ref(kernel.module).addr();
        let module = match self.loaded.entry(module) {
            std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::btree_map::Entry::Vacant(entry) => {
                entry.insert(kernel.module.load(self.driver, &self.ctx)?)
            }
        };
        let info = module.function(kernel.name, kernel.params)?;
        self.functions.insert(key, info);
        Ok(info)
    }

    /// Lets a kernel take that much dynamic shared memory.
    pub(super) fn raise_dynamic_shared(&mut self, kernel: &'static Kernel, bytes: u32) -> Result<()> {
        if let Some(module) = self.loaded.get(&std::ptr::from_ref(kernel.module).addr()) {
            module.raise_dynamic_shared(kernel.name, bytes)?;
        }
        if let Some(info) = self.functions.get_mut(&std::ptr::from_ref(kernel).addr()) {
            info.dynamic_shared = info.dynamic_shared.max(bytes);
        }
        self.recent = None;
        Ok(())
    }

    /// None of the modules may be unloaded before what the event recorded is over.
    pub(super) fn outlive(&self, event: &Arc<CudaEvent>) {
        self.loaded.values().for_each(|module| module.outlives(event));
    }
}
