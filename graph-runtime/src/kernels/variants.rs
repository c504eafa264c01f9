//! Batched variants of kernels, and fused kernels: requests, and what is loaded.

use std::sync::Arc;

use cuweave_core::index::narrow;
use cuweave_core::launches::Batching;
use cuweave_ptx::coverage::Forward;
use cuweave_ptx::rewrite::{Axis, FusedTable, GridShape, StackedTable, Table};

use crate::cuda::RawModule;

use super::function::FunctionInfo;

/// A request for a batched variant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// The kernel.
    pub entry: &'static str,
    /// The maximum number of members.
    pub capacity: u32,
    /// The arrangement of their blocks.
    pub shape: GridShape,
    /// The most registers of a thread, if they are limited.
    pub registers: Option<u32>,
}

impl Wanted {
    /// Returns the request for a batch of `members` members. Batches of similar sizes share a variant.
    pub fn of(entry: &'static str, members: usize, axis: Option<u8>, batching: Batching) -> Wanted {
        let shape = shape_of(axis);
        let members = narrow(members);
        let most = match (batching, shape) {
            (Batching::Never, _) => members,
            (Batching::Most { equal, .. }, GridShape::Axis(_)) => equal,
            (Batching::Most { flat, .. }, GridShape::Flat) => flat,
        };
        let capacity = if members <= 64 { members.next_power_of_two() } else { members.next_multiple_of(32) };
        Wanted { entry, capacity: capacity.min(most).max(members), shape, registers: None }
    }

    /// Returns the request for the same variant with a limit of its registers.
    pub fn limited(&self, registers: u32) -> Wanted {
        Wanted { registers: Some(registers), ..self.clone() }
    }
}

/// Returns the arrangement of launches that are stacked in a dimension of the grid; `None` if their blocks are consecutive.
pub(super) fn shape_of(axis: Option<u8>) -> GridShape {
    match axis {
        Some(1) => GridShape::Axis(Axis::Y),
        Some(_) => GridShape::Axis(Axis::Z),
        None => GridShape::Flat,
    }
}

impl Fused {
    /// Returns the size of the parameters, in bytes.
    pub fn bytes(&self) -> u32 {
        self.stack.as_ref().map_or(self.table.bytes, |stack| stack.chains.bytes)
    }

    /// Returns the offset of the parameters of a chain.
    pub fn record(&self, chain: usize) -> u32 {
        self.stack.as_ref().map_or(0, |stack| stack.record(narrow(chain)))
    }
}

/// A batched variant that is loaded.
#[derive(Clone, Debug)]
pub(crate) struct Variant {
    /// Its function.
    pub info: FunctionInfo,
    /// The layout of the members' parameters.
    pub table: Arc<Table>,
}

/// A request for a fused kernel: its parts, by the addresses of their declarations, and the threads of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chained {
    pub parts: Vec<usize>,
    pub block: [u32; 3],
    pub waits: bool,
    /// The elements that stay in registers, if any do.
    pub forward: Option<Arc<Forward>>,
    /// The maximum number of stacked chains, and the arrangement of their blocks; `None` for one chain.
    pub stack: Option<(u32, GridShape)>,
}

/// A fused kernel that is loaded.
#[derive(Clone, Debug)]
pub(crate) struct Fused {
    /// Its function.
    pub info: FunctionInfo,
    /// The layout of the parameters of its parts.
    pub table: Arc<FusedTable>,
    /// The layout of the parameters of stacked chains, if they are.
    pub stack: Option<Arc<StackedTable>>,
    /// The elements that stay in registers, if any do.
    pub forward: Option<Arc<Forward>>,
}

/// The requests, each with its variant or the reason that it could not be made.
pub(crate) type Made = Vec<(Wanted, std::result::Result<Variant, String>)>;

/// The variants of a module, in the order of the requests. A failed request is not tried again.
#[derive(Debug, Default)]
pub(crate) struct Variants {
    pub made: Made,
    /// The fused kernels whose first part is of this module.
    pub fused: Vec<(Chained, std::result::Result<Fused, String>)>,
    /// The modules that contain the variants.
    pub modules: Vec<RawModule>,
}

impl Variants {
    pub fn get(&self, wanted: &Wanted) -> Option<&std::result::Result<Variant, String>> {
        self.made.iter().find(|(made, _)| made == wanted).map(|(_, variant)| variant)
    }
}
