//! The accesses of kernels and launches that may be fused.

use std::sync::Arc;

use cuweave_ptx::coverage::{AccessSites, BackwardSlice};
use cuweave_ptx::rewrite::FusibleFacts;

/// The outline of a kernel that may be a part of fused kernels.
#[derive(Debug)]
pub(crate) struct OutlinedKernel {
    /// Its loads and stores.
    pub outline: BackwardSlice,
    /// The facts about its body.
    pub facts: FusibleFacts,
}

/// A launch that may be a member of a chain.
#[derive(Clone, Debug)]
pub(crate) struct LocatedLaunch {
    /// The outline of its kernel.
    pub of: Arc<OutlinedKernel>,
    /// The loads and stores of each thread.
    pub sites: Arc<AccessSites>,
    /// The byte offset of each pointer in its buffer. `None` if a setter may change it.
    pub offsets: Vec<Option<u64>>,
}
