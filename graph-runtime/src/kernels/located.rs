//! The accesses of kernels and launches that may be fused.

use std::sync::Arc;

use cuweave_ptx::coverage::{Outline, Sites};
use cuweave_ptx::rewrite::Fusible;

/// The outline of a kernel that may be a part of fused kernels.
#[derive(Debug)]
pub(crate) struct Outlined {
    /// Its loads and stores.
    pub outline: Outline,
    /// The facts about its body.
    pub facts: Fusible,
}

/// A launch that may be a member of a chain.
#[derive(Clone, Debug)]
pub(crate) struct Located {
    /// The outline of its kernel.
    pub of: Arc<Outlined>,
    /// The loads and stores of each thread.
    pub sites: Arc<Sites>,
    /// The byte offset of each pointer in its buffer. `None` if a setter may change it.
    pub offsets: Vec<Option<u64>>,
}
