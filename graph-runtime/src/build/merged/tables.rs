//! The tables of batches, in which record `i` holds the parameters of the i-th member's own launch, and the parameters of
//! fused launches.

use cuweave_core::index::Vector;
use cuweave_core::operation::BatchId;

use crate::cuda::Packed;
use crate::kernels::{Fused, Param, Variant};

/// The batches of a graph, in the order of `Operations::batches`.
#[derive(Default)]
pub(crate) struct Batches {
    pub of: Vector<BatchId, Batched>,
}

/// A batch: one node for the launches of its members.
pub(crate) struct Batched {
    pub variant: Variant,
    /// The table of the members' parameters.
    pub packed: Packed,
    /// One parameter, of the table's size.
    pub param: [Param; 1],
}

impl Batches {
    /// Returns batches with empty tables.
    pub fn new(variants: Vector<BatchId, Variant>) -> Batches {
        let one = |variant: Variant| Batched {
            packed: Packed::zeroed(variant.table.bytes),
            param: [Param::bytes("table", variant.table.bytes)],
            variant,
        };
        Batches { of: variants.into_iter().map(one).collect() }
    }
}

/// A chain: one node for the launches of its members.
pub(crate) struct FusedNode {
    pub kernel: Fused,
    /// The parameters of the members.
    pub packed: Packed,
    /// One parameter, of the size of all.
    pub param: [Param; 1],
}

impl FusedNode {
    /// Returns a node without parameters.
    pub fn new(kernel: Fused) -> FusedNode {
        let bytes = kernel.bytes();
        FusedNode { kernel, packed: Packed::zeroed(bytes), param: [Param::bytes("table", bytes)] }
    }
}
