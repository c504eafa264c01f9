//! The definition of a graph that is being built: its program, and everything that statements are evaluated with.

use std::sync::Arc;

use cudarc::driver::CudaContext;

use crate::index::Vector;
use crate::ir::{DimId, Program};

use crate::runtime::cuda::{Context, Driver};
use crate::runtime::kernels::{Limits, Modules};

use super::flattened::Flattened;

/// A program with the values of its lengths and bounds, in a context.
pub(crate) struct Definition {
    /// The flat program.
    pub flat: Arc<Flattened>,
    /// The values of its lengths and bounds.
    pub dims: Vector<DimId, u64>,
    /// The values of the symbols of bounds that setters change.
    pub symbols: Vec<u64>,
    pub driver: &'static Driver,
    pub ctx: Arc<CudaContext>,
    pub context: Context,
    /// The limits of the device.
    pub limits: Limits,
    /// The loaded modules and functions.
    pub modules: Modules,
}

impl Definition {
    /// The program.
    pub fn program(&self) -> &Program {
        self.flat.checked.program()
    }

    /// The values of its lengths and bounds.
    pub fn dims(&self) -> &Vector<DimId, u64> {
        &self.dims
    }
}
