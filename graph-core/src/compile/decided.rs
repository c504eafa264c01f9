//! The inputs and results of the launch decisions, kept for reports.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::check::Checked;
use crate::ir::StatementId;
use crate::launches::Unfit;
use cuweave_ptx::coverage::ForwardingPlan;

use super::back::BackendOptions;

/// The inputs and results of the launch decisions of a plan.
#[derive(Debug, Default)]
pub struct Decided {
    /// The flat program. `None` before planning.
    pub checked: Option<Arc<Checked>>,
    /// The options of the build.
    pub backend_options: BackendOptions,
    /// The launches that were not batched since the batch would be slower, with the reasons.
    pub slower: BTreeMap<StatementId, Arc<Unfit>>,
    /// The launches that were not fused since the fused kernel would be slower, with the reasons.
    pub slower_fused: BTreeMap<StatementId, String>,
    /// The launches whose chain could be stacked with others but is not, with the reasons.
    pub unstacked: BTreeMap<StatementId, String>,
    /// Kernels, each with the number of registers that a simulated driver assumes. Empty on a device.
    pub assumed: Vec<(&'static str, u32)>,
    /// True if a test has modified the plan. The checker then skips it.
    pub changed: bool,
    /// For each chain, the elements that stay in registers. `None` if there are none.
    pub forward: Vec<Option<Arc<ForwardingPlan>>>,
}
