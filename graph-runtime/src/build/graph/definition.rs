//! The inputs of a build: the flat program, the values of its lengths and bounds, the devices, and the loaded
//! modules.

use std::sync::Arc;

use cudarc::driver::CudaContext;
use cuweave_core::index::Vector;
use cuweave_core::ir::{BufferId, Device, DimId, Program};

use crate::build::arguments::aliases::Aliases;
use crate::build::arguments::devices::{Contexts, Peers};
use crate::build::plan::ranged::RangedLaunches;
use crate::build::program::emptied::EmptyAtZero;
use crate::cuda::{Context, Driver, Outcome};
use crate::kernels::{DeviceLimits, Modules};
use cuweave_core::flattened::Flattened;

/// A program with the values of its lengths and bounds, in the contexts of its devices.
pub(crate) struct Definition {
    pub flat: Arc<Flattened>,
    /// The values of lengths and bounds.
    pub dims: Vector<DimId, u64>,
    /// The values of the symbols, on which the bounds of setters depend.
    pub symbols: Vec<u64>,
    pub driver: &'static Driver,
    /// The context of the first device, whose streams launch the graph.
    pub ctx: Arc<CudaContext>,
    pub context: Context,
    /// The contexts of all devices.
    pub contexts: Contexts,
    /// The devices that access memory of others.
    pub peers: Peers,
    /// The bytes that arguments have in common.
    pub aliases: Aliases,
    /// The arguments that are mapped multicast objects.
    pub mappings: Vec<BufferId>,
    /// The launches that are merged for all values of sizes.
    pub ranged: RangedLaunches,
    /// The limits of each device.
    pub limits: Vector<Device, DeviceLimits>,
    /// The statements and buffers that are empty if sizes are 0.
    pub empty_at_zero: EmptyAtZero,
    /// The loaded modules and functions.
    pub modules: Modules,
}

impl Definition {
    /// Returns the flat program.
    pub fn program(&self) -> &Program {
        self.flat.checked.program()
    }

    pub fn context_of(&self, device: Device) -> Context {
        if device == Device::FIRST { self.context } else { Context::from_cudarc(&self.contexts[device]) }
    }

    pub fn all_contexts(&self) -> impl Iterator<Item = Context> {
        self.contexts.iter().map(|ctx| Context::from_cudarc(ctx))
    }

    /// Waits on the host for all work in all contexts. Leaves the first context current.
    pub fn synchronize(&self) -> Outcome<()> {
        if self.contexts.len() == 1 {
            return self.driver.synchronize_context();
        }
        let others = self.contexts.as_slice()[1..].iter().try_for_each(|ctx| {
            self.driver.enter(Context::from_cudarc(ctx)).and_then(|()| self.driver.synchronize_context())
        });
        self.driver.enter(self.context)?;
        others.and(self.driver.synchronize_context())
    }

    /// Returns the lengths for the largest values of sizes. Operands have at least these.
    pub fn planned_lengths(&self) -> &Vector<DimId, u64> {
        &self.flat.sizes
    }

    /// Returns the values of lengths and bounds.
    pub fn dims(&self) -> &Vector<DimId, u64> {
        &self.dims
    }
}
