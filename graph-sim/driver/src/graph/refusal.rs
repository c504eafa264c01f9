//! Failed instantiations.

use crate::base::status::Status;

/// A failed instantiation: the error code, the `CUgraphInstantiateResult`, and the node.
pub struct InstantiationError(pub Status, pub u32, pub u64);

/// `CU_GRAPH_INSTANTIATE_*`, which `cuGraphInstantiateWithParams` returns.
pub(super) const RESULT_ERROR: u32 = 1;
pub(super) const RESULT_STRUCTURE: u32 = 2;
pub(super) const RESULT_OPERATION: u32 = 3;
pub(super) const RESULT_UNUSED_HANDLE: u32 = 5;
