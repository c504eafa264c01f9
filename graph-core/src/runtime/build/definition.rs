//! The definition of a graph that is being built: its program, and everything that statements are evaluated with.

use std::sync::Arc;

use cudarc::driver::CudaContext;

use crate::check::Checked;
use crate::ir::Program;
use crate::table::Decoded;

use crate::runtime::cuda::{Context, Driver};
use crate::runtime::kernels::{Limits, Modules};

/// A program with the values of its lengths and bounds, in a context.
pub(crate) struct Definition {
    /// The checked program.
    pub checked: Arc<Checked>,
    /// The table that the program comes from.
    pub table: &'static Decoded,
    pub driver: &'static Driver,
    pub ctx: Arc<CudaContext>,
    pub context: Context,
    /// The values of the program's lengths and bounds.
    pub dims: Vec<u64>,
    /// The limits of the device.
    pub limits: Limits,
    /// The loaded modules and functions.
    pub modules: Modules,
}

impl Definition {
    /// The program.
    pub fn program(&self) -> &Program {
        self.checked.program()
    }
}
