//! The modules and functions of one graph: loads each kernel's module on first use and keeps it loaded while
//! the graph lives. Also declares cuweave's own kernels: hubs, fills, condition setters, clocks.

use std::collections::BTreeMap;
use std::sync::Arc;

use cudarc::driver::CudaContext;
use cuweave_core::ids::Device;
use cuweave_core::index::{Index, Vector, narrow, size};
use cuweave_core::launches::LaunchShape;

use crate::cuda::{Context, Driver, Function};
use crate::error::Result;
use crate::waits::OwnedEvent;

use super::coverage::CoverageCheck;
use super::declaration::Kernel;
use super::function::FunctionInfo;
use super::module::{LoadedModule, Module};
use super::param::{Param, ParamKind};
use super::spans::SpanCheck;
use super::text::{Programmatic, TextForm};

/// Kernels that the compiler inserts: hubs of wide joins, and fills that no memset node can do.
static INTERNAL: Module = Module::new("cuweave's own module", include_bytes!("internal.ptx"));

/// Does nothing.
pub(crate) static HUB: Kernel = Kernel::new("cuweave_hub", &INTERNAL, &[]);

/// Fills memory with a 64-bit value.
pub(crate) static FILL64: Kernel = Kernel::new(
    "cuweave_fill64",
    &INTERNAL,
    &[
        Param::fixed::<u64>("target", ParamKind::Write),
        Param::scalar::<u64>("value"),
        Param::scalar::<u64>("n"),
    ],
);

/// Fills rows of memory with a value of 1, 2, 4 or 8 bytes.
pub(crate) static FILL_ROWS: Kernel = Kernel::new(
    "cuweave_fill_rows",
    &INTERNAL,
    &[
        Param::fixed::<u64>("target", ParamKind::Write),
        Param::scalar::<u64>("value"),
        Param::scalar::<u64>("n"),
        Param::scalar::<u64>("width"),
        Param::scalar::<u64>("pitch"),
        Param::scalar::<u64>("size"),
    ],
);

/// Copies rows of memory in units of 1, 2, 4 or 8 bytes.
pub(crate) static COPY_ROWS: Kernel = Kernel::new(
    "cuweave_copy_rows",
    &INTERNAL,
    &[
        Param::fixed::<u64>("source", ParamKind::Read),
        Param::fixed::<u64>("target", ParamKind::Write),
        Param::scalar::<u64>("n"),
        Param::scalar::<u64>("width"),
        Param::scalar::<u64>("rows"),
        Param::scalar::<u64>("source_pitch"),
        Param::scalar::<u64>("source_height"),
        Param::scalar::<u64>("target_pitch"),
        Param::scalar::<u64>("target_height"),
        Param::scalar::<u64>("size"),
    ],
);

/// Writes an address into a table of pointers.
pub(crate) static ENTRY: Kernel = Kernel::new(
    "cuweave_entry",
    &INTERNAL,
    &[Param::fixed::<u64>("entry", ParamKind::Write), Param::fixed::<u8>("element", ParamKind::Read)],
);

static CONDITIONS: Module = Module::new("cuweave's module of conditions", include_bytes!("condition.ptx"));

/// Sets the only condition of a statement from the value of its operand, of 1 or 4 bytes. `numbers` has four bits for
/// each value below 16, `otherwise` the number for all other values.
pub(crate) static SET_CONDITION: Kernel = Kernel::new(
    "cuweave_set_condition",
    &CONDITIONS,
    &[
        Param::scalar::<u64>("handle"),
        Param::fixed::<u8>("operand", ParamKind::Read),
        Param::scalar::<u64>("numbers"),
        Param::scalar::<u32>("otherwise"),
        Param::scalar::<u32>("bytes"),
    ],
);

/// Sets the conditions of a statement if [`SET_CONDITION`] cannot: several conditions, or larger operand
/// values.
pub(crate) static SET_CONDITIONS: Kernel = Kernel::new(
    "cuweave_set_conditions",
    &CONDITIONS,
    &[
        Param::fixed::<u8>("operand", ParamKind::Read),
        Param::scalar::<u32>("bytes"),
        Param::scalar::<u32>("otherwise"),
        Param::scalar::<u32>("count"),
        Param::scalar::<u32>("v0"),
        Param::scalar::<u32>("v1"),
        Param::scalar::<u32>("v2"),
        Param::scalar::<u32>("v3"),
        Param::scalar::<u32>("v4"),
        Param::scalar::<u32>("v5"),
        Param::scalar::<u32>("v6"),
        Param::scalar::<u32>("v7"),
        Param::scalar::<u32>("a0"),
        Param::scalar::<u32>("a1"),
        Param::scalar::<u32>("a2"),
        Param::scalar::<u32>("a3"),
        Param::scalar::<u32>("a4"),
        Param::scalar::<u32>("a5"),
        Param::scalar::<u32>("a6"),
        Param::scalar::<u32>("a7"),
        Param::scalar::<u64>("h0"),
        Param::scalar::<u64>("h1"),
        Param::scalar::<u64>("h2"),
        Param::scalar::<u64>("h3"),
        Param::scalar::<u64>("h4"),
        Param::scalar::<u64>("h5"),
        Param::scalar::<u64>("h6"),
        Param::scalar::<u64>("h7"),
        Param::scalar::<u64>("h8"),
    ],
);

/// Sets the condition of a counted loop, and updates the loop's record.
pub(crate) static SET_LOOP: Kernel = Kernel::new(
    "cuweave_set_loop",
    &CONDITIONS,
    &[
        Param::scalar::<u64>("handle"),
        Param::fixed::<u8>("operand", ParamKind::Read),
        Param::scalar::<u32>("bytes"),
        Param::fixed::<u32>("counter", ParamKind::ReadWrite),
        Param::fixed::<u64>("record", ParamKind::ReadWrite),
        Param::scalar::<u32>("most"),
        Param::scalar::<u32>("begins"),
        Param::scalar::<u32>("others"),
        Param::scalar::<u32>("records"),
    ],
);

static STAMPS: Module = Module::new("cuweave's module of profiles", include_bytes!("stamp.ptx"));

/// Adds the time since a body's last stamp to a slot.
pub(crate) static STAMP: Kernel = Kernel::new(
    "cuweave_stamp",
    &STAMPS,
    &[Param::fixed::<u64>("last", ParamKind::ReadWrite), Param::fixed::<u64>("slot", ParamKind::ReadWrite)],
);

/// The modules and functions of a graph, on all of its devices.
pub struct Modules {
    driver: &'static Driver,
    contexts: Vector<Device, Arc<CudaContext>>,
    programmatic: Programmatic,
    /// The loaded modules, keyed by device and the address of their declaration.
    loaded: BTreeMap<(Device, usize), Arc<LoadedModule>>,
    /// The requested kernels, in the order of their first request.
    kernels: Vec<LoadedKernel>,
    /// The names of launched kernels, which are likely to be requested next.
    expected: Vec<String>,
    /// A direct-mapped cache of indices into `kernels`, by a hash of the kernel's address.
    cache: [u32; CACHE_SLOTS],
    /// Checks the elements that kernels write.
    pub(crate) coverage: CoverageCheck,
    /// Checks the elements that kernels access.
    pub(crate) spans: SpanCheck,
}

/// The number of slots of the cache.
const CACHE_SLOTS: usize = 32;

/// A kernel with its function.
pub(crate) struct LoadedKernel {
    device: Device,
    kernel: &'static Kernel,
    pub info: FunctionInfo,
    /// The last configuration that passed the check against the device's limits.
    pub checked: Option<LaunchShape>,
}

impl LoadedKernel {
    fn is(&self, device: Device, kernel: &'static Kernel) -> bool {
        std::ptr::eq(self.kernel, kernel) && self.device == device
    }
}

impl Modules {
    /// Returns the texts of the loaded files that are PTX.
    pub(crate) fn texts(&self) -> Vec<&'static str> {
        self.loaded.values().filter_map(|loaded| loaded.module.text()).collect()
    }

    /// Returns true if one of the devices uses this context.
    pub(crate) fn is_of(&self, ctx: &CudaContext) -> bool {
        self.contexts.iter().any(|one| **one == *ctx)
    }

    pub(crate) fn new(
        driver: &'static Driver,
        contexts: Vector<Device, Arc<CudaContext>>,
        programmatic: Programmatic,
    ) -> Modules {
        Modules {
            driver,
            contexts,
            programmatic,
            loaded: BTreeMap::new(),
            kernels: Vec::new(),
            expected: Vec::new(),
            cache: [0; CACHE_SLOTS],
            coverage: CoverageCheck::default(),
            spans: SpanCheck::default(),
        }
    }

    /// Sets the names of launched kernels. When the first kernel of a file is requested, the others of this
    /// list are linked in parallel.
    pub(crate) fn expect(&mut self, names: Vec<String>) {
        self.expected = names;
    }

    /// Returns `Ok` if modules are loaded for programmatic edges, or the reason why not.
    pub(crate) fn programmatic(&self) -> &Programmatic {
        &self.programmatic
    }

    /// Returns a kernel's function on a device. Loads its module if needed.
    pub(crate) fn function(&mut self, device: Device, kernel: &'static Kernel) -> Result<FunctionInfo> {
        Ok(self.loaded_kernel(device, kernel)?.info)
    }

    /// Returns a kernel with its function. Loads its module if needed.
    #[inline]
    pub(crate) fn loaded_kernel(
        &mut self,
        device: Device,
        kernel: &'static Kernel,
    ) -> Result<&mut LoadedKernel> {
        let place = ((std::ptr::from_ref(kernel).addr() >> 4) + device.index()) % CACHE_SLOTS;
        let mut at = size(self.cache[place]);
        if !self.kernels.get(at).is_some_and(|known| known.is(device, kernel)) {
            at = self.find(device, kernel)?;
            self.cache[place] = narrow(at);
        }
        Ok(&mut self.kernels[at])
    }

    /// Returns the attributes of a kernel that has been requested.
    pub(crate) fn loaded_info(&self, device: Device, kernel: &'static Kernel) -> Option<FunctionInfo> {
        self.kernels.iter().find(|known| known.is(device, kernel)).map(|known| known.info)
    }

    /// Returns true if a requested kernel uses module variables that some kernel writes.
    pub(crate) fn share_state(&self) -> bool {
        self.kernels.iter().any(|known| known.kernel.shares_state())
    }

    /// Returns the index of a kernel in the list, and adds it if needed.
    #[cold]
    fn find(&mut self, device: Device, kernel: &'static Kernel) -> Result<usize> {
        if let Some(at) = self.kernels.iter().position(|known| known.is(device, kernel)) {
            return Ok(at);
        }
        // The user's expressions before and after may make another context current.
        let ctx = &self.contexts[device];
        self.driver.enter(Context::from_cudarc(ctx))?;
        let module = std::ptr::from_ref(kernel.module).addr();
        let module = match self.loaded.entry((device, module)) {
            std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::btree_map::Entry::Vacant(entry) => {
                entry.insert(kernel.module.load(self.driver, ctx, TextForm::for_edges(&self.programmatic))?)
            }
        };
        let info = module.function(kernel.entry, kernel.params, kernel.shares_state(), &self.expected)?;
        if std::ptr::eq(kernel.module, &INTERNAL) {
            let internal = module.clone();
            let here = self.loaded.iter().filter(|((other, _), _)| *other == device);
            let others = here.map(|(_, other)| other).filter(|other| !Arc::ptr_eq(other, &internal));
            others.for_each(|other| other.keep_companion(&internal));
        }
        self.kernels.push(LoadedKernel { device, kernel, info, checked: None });
        if device != Device::FIRST {
            self.driver.enter(Context::from_cudarc(&self.contexts[Device::FIRST]))?;
        }
        Ok(self.kernels.len() - 1)
    }

    /// Returns the number of blocks that fit on a multiprocessor. `shared` is the dynamic shared memory per
    /// block, in bytes.
    pub(crate) fn blocks_per_sm(
        &self,
        device: Device,
        function: Function,
        threads: u32,
        shared: u32,
    ) -> Result<u32> {
        self.driver.enter(Context::from_cudarc(&self.contexts[device]))?;
        let blocks = self.driver.blocks_per_sm(function, threads, shared)?;
        if device != Device::FIRST {
            self.driver.enter(Context::from_cudarc(&self.contexts[Device::FIRST]))?;
        }
        Ok(blocks)
    }

    /// Raises the dynamic shared memory that a kernel can be launched with, in bytes.
    pub(crate) fn raise_dynamic_shared(
        &mut self,
        device: Device,
        kernel: &'static Kernel,
        bytes: u32,
    ) -> Result<()> {
        if let Some(module) = self.module(device, kernel) {
            module.raise_dynamic_shared(kernel.entry, bytes)?;
        }
        let known = self.loaded_kernel(device, kernel)?;
        known.info.dynamic_shared = known.info.dynamic_shared.max(bytes);
        Ok(())
    }

    /// Returns the module of a kernel that has been requested.
    pub(crate) fn module(&self, device: Device, kernel: &'static Kernel) -> Option<&Arc<LoadedModule>> {
        self.loaded.get(&(device, std::ptr::from_ref(kernel.module).addr()))
    }

    /// Keeps the modules loaded until the work that `event` last recorded is complete.
    pub(crate) fn keep_loaded_until(&self, event: &Arc<OwnedEvent>) {
        self.loaded.values().for_each(|module| module.keep_loaded_until(event));
    }

    /// Leaks the modules, which then stay loaded.
    pub(crate) fn leak(&self) {
        self.loaded.values().for_each(|module| std::mem::forget(module.clone()));
    }
}
