//! A captured graph after the analysis.

use std::sync::Arc;

use cudarc::driver::CudaContext;

use super::analysis::Analysed;
use super::captured::CapturedGraph;
use super::findings::Findings;

/// A captured graph with what is known of its nodes.
pub(super) struct ReadGraph {
    pub ctx: Arc<CudaContext>,
    pub captured: Arc<CapturedGraph>,
    pub analysed: Analysed,
    /// True for each allocation of a node that the memory plan may place.
    pub placed: Vec<bool>,
    pub findings: Findings,
}
