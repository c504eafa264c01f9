//! What a graph consists of and what it needs.

use std::fmt;

use crate::operation::What;

use super::core::Core;

/// The graph pool's step: it takes memory from the system in multiples of this.
const POOL_STEP: u64 = 32 << 20;

/// What a graph consists of and what it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Launches of the user's kernels.
    pub kernels: usize,
    /// Fills.
    pub fills: usize,
    /// Copies.
    pub copies: usize,
    /// Kernels that do nothing, in the middle of wide joins.
    pub hubs: usize,
    /// Alloc nodes.
    pub allocs: usize,
    /// Free nodes.
    pub frees: usize,
    /// Edges between launches, fills and copies as the accesses ask for them.
    pub edges_before_reduction: usize,
    /// Edges of the graph, those of alloc and free nodes included.
    pub edges: usize,
    /// The launches, fills and copies of a longest path.
    pub depth: usize,
    /// The memory that the graph allocates, in bytes.
    pub planned_bytes: u64,
    /// What the device's graph pool will take from the system for it: it does so in steps of 32 MiB.
    pub reserved_bytes: u64,
}

impl Report {
    pub(super) fn of(core: &Core) -> Report {
        let operations = &core.operations;
        let count = |which: fn(&What) -> bool| {
            operations.list.iter().filter(|operation| which(&operation.what)).count()
        };
        let nodes = operations.memories.iter().filter(|memory| memory.node);
        let in_nodes: u64 = nodes.map(|memory| memory.bytes).sum();
        Report {
            kernels: count(|what| matches!(what, What::Kernel)),
            fills: count(|what| matches!(what, What::Fill)),
            copies: count(|what| matches!(what, What::Copy)),
            hubs: count(|what| matches!(what, What::Hub)),
            allocs: count(|what| matches!(what, What::Alloc { .. })),
            frees: count(|what| matches!(what, What::Free { .. } | What::FreeTaken { .. })),
            edges_before_reduction: operations.edges_before_reduction,
            edges: operations.edges(),
            depth: operations.depth,
            planned_bytes: core.planned(),
            reserved_bytes: in_nodes.div_ceil(POOL_STEP).saturating_mul(POOL_STEP),
        }
    }

    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.kernels + self.fills + self.copies + self.hubs + self.allocs + self.frees
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { kernels, fills, copies, hubs, allocs, frees, .. } = self;
        writeln!(
            f,
            "{} nodes: {kernels} kernels, {fills} fills, {copies} copies, {hubs} hubs, {allocs} allocs, {frees} frees",
            self.nodes()
        )?;
        writeln!(
            f,
            "{} edges, {} before reduction; depth {}",
            self.edges, self.edges_before_reduction, self.depth
        )?;
        write!(f, "{} bytes planned, {} reserved", self.planned_bytes, self.reserved_bytes)
    }
}
