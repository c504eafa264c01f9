//! The inputs of the launch decisions, kept for reports.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::check::Checked;
use crate::ir::StatementId;
use crate::launches::Unfit;
use cuweave_ptx::coverage::Forward;

use super::back::Wishes;

/// The inputs of the launch decisions of a plan.
#[derive(Debug, Default)]
pub struct Decided {
    /// The flat program; `None` before there is a plan.
    pub checked: Option<Arc<Checked>>,
    /// The facts, and the allowed changes.
    pub wishes: Wishes,
    /// The launches that are in no batch because it would be slower.
    pub slower: BTreeMap<StatementId, Arc<Unfit>>,
    /// The launches that are in no chain because the fused kernel would be slower.
    pub slower_fused: BTreeMap<StatementId, String>,
    /// The launches whose chain is not stacked with others though it could be, with the reasons.
    pub unstacked: BTreeMap<StatementId, String>,
    /// The kernels that are launched, with the registers of a thread that a simulated driver assumes. Empty on a device.
    pub assumed: Vec<(&'static str, u32)>,
    /// True if a test has changed the plan, which is checked by nobody then.
    pub changed: bool,
    /// For each chain, the elements that stay in registers, if any do.
    pub forward: Vec<Option<Arc<Forward>>>,
}
