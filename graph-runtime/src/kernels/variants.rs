//! Requests for batched variants and fused kernels, and the loaded results.

use std::sync::Arc;

use cuweave_core::index::narrow;
use cuweave_core::launches::Batching;
use cuweave_ptx::coverage::ForwardingPlan;
use cuweave_ptx::rewrite::{Axis, BatchTable, FusedTable, GridShape, StackedTable};

use crate::cuda::RawModule;

use super::function::FunctionInfo;

/// A request for a batched variant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VariantRequest {
    /// The kernel's name in its module.
    pub entry: &'static str,
    /// The maximum number of members.
    pub capacity: u32,
    /// The arrangement of their blocks.
    pub shape: GridShape,
    /// The limit of registers per thread, if any.
    pub registers: Option<u32>,
}

impl VariantRequest {
    /// Returns the request for a batch of `members` members. The capacity is rounded up, so that batches of
    /// similar sizes share a variant.
    pub fn for_batch(
        entry: &'static str,
        members: usize,
        axis: Option<u8>,
        batching: Batching,
    ) -> VariantRequest {
        let shape = grid_shape(axis);
        let members = narrow(members);
        let most = match (batching, shape) {
            (Batching::Never, _) => members,
            (Batching::UpTo { equal, .. }, GridShape::Axis(_)) => equal,
            (Batching::UpTo { flat, .. }, GridShape::Flat) => flat,
        };
        let capacity = if members <= 64 { members.next_power_of_two() } else { members.next_multiple_of(32) };
        VariantRequest { entry, capacity: capacity.min(most).max(members), shape, registers: None }
    }

    /// Returns the request for the same variant with a limit of registers per thread.
    pub fn limited(&self, registers: u32) -> VariantRequest {
        VariantRequest { registers: Some(registers), ..self.clone() }
    }
}

/// Returns the arrangement of launches stacked along a grid axis. `None` for consecutive blocks.
pub(super) fn grid_shape(axis: Option<u8>) -> GridShape {
    match axis {
        Some(1) => GridShape::Axis(Axis::Y),
        Some(_) => GridShape::Axis(Axis::Z),
        None => GridShape::Flat,
    }
}

impl FusedKernel {
    /// Returns the size of the parameter table, in bytes.
    pub fn bytes(&self) -> u32 {
        self.stack.as_ref().map_or(self.table.bytes, |stack| stack.chains.bytes)
    }

    /// Returns the offset of a chain's parameters in the table.
    pub fn record(&self, chain: usize) -> u32 {
        self.stack.as_ref().map_or(0, |stack| stack.record(narrow(chain)))
    }
}

/// A loaded batched variant.
#[derive(Clone, Debug)]
pub(crate) struct BatchedVariant {
    pub info: FunctionInfo,
    /// The layout of the members' parameters.
    pub table: Arc<BatchTable>,
}

/// A request for a fused kernel. `parts` has the addresses of the kernels' declarations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FusionRequest {
    pub parts: Vec<usize>,
    pub block: [u32; 3],
    pub waits: bool,
    /// The elements that stay in registers, if any.
    pub forward: Option<Arc<ForwardingPlan>>,
    /// The maximum number of stacked chains, and the arrangement of their blocks. `None` for a single chain.
    pub stack: Option<(u32, GridShape)>,
}

/// A loaded fused kernel.
#[derive(Clone, Debug)]
pub(crate) struct FusedKernel {
    pub info: FunctionInfo,
    /// The layout of the parameters of its parts.
    pub table: Arc<FusedTable>,
    /// The layout of the parameters of stacked chains. `None` for a single chain.
    pub stack: Option<Arc<StackedTable>>,
    /// The elements that stay in registers, if any.
    pub forward: Option<Arc<ForwardingPlan>>,
}

/// The requests, each with its variant or the reason for its failure.
pub(crate) type VariantResults = Vec<(VariantRequest, std::result::Result<BatchedVariant, String>)>;

/// The variants of a module, in the order of the requests. Failed requests are not repeated.
#[derive(Debug, Default)]
pub(crate) struct ModuleVariants {
    pub made: VariantResults,
    /// The fused kernels whose first part is in this module.
    pub fused: Vec<(FusionRequest, std::result::Result<FusedKernel, String>)>,
    /// The modules that contain the variants.
    pub modules: Vec<RawModule>,
}

impl ModuleVariants {
    pub fn get(&self, wanted: &VariantRequest) -> Option<&std::result::Result<BatchedVariant, String>> {
        self.made.iter().find(|(made, _)| made == wanted).map(|(_, variant)| variant)
    }
}
