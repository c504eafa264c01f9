//! The accesses of a captured graph's nodes, and the races of two of them.

use std::ops::Range;
use std::sync::Arc;

use cuweave_ptx::Site;
use cuweave_ptx::coverage::{Region, regions_are_disjoint};

use crate::kernels::Kernel;

use super::footprints::LaunchFootprint;
use super::memory::MemoryId;
use super::texts::KernelText;

/// The accesses of a node, and how it is lifted.
#[derive(Default)]
pub(super) struct NodeUse {
    pub accesses: Vec<NodeAccess>,
    /// The reason that the node is kept as it was captured.
    pub kept: Option<String>,
    /// The allocations of other nodes whose addresses are among the parameters of a kept kernel.
    pub touched: Vec<MemoryId>,
    /// The launch of a kernel that is not kept.
    pub launch: Option<LiftedKernel>,
}

/// A kernel node that becomes a launch.
pub(super) struct LiftedKernel {
    pub text: Arc<KernelText>,
    pub kernel: &'static Kernel,
    pub footprint: Arc<LaunchFootprint>,
}

/// An access of a node.
#[derive(Clone)]
pub(super) struct NodeAccess {
    pub memory: MemoryId,
    /// The bytes that may be accessed.
    pub bytes: Range<u64>,
    /// The bytes that may be written.
    pub written: Range<u64>,
    /// The bytes that a launch declares: from the pointer on.
    pub declared: Range<u64>,
    pub reads: bool,
    pub writes: bool,
    /// The reduction, if it is one.
    pub reduction: Option<String>,
    /// True if the bytes are those of the whole allocation, since the kernel's are not known.
    pub assumed: bool,
    /// True if all bytes of `written` are written.
    pub writes_all: bool,
    /// True for a parameter that is declared as written only, and for a transfer.
    pub is_write: bool,
    /// True if all of the bytes are read or written.
    pub touches_all: bool,
    /// True if it certainly reads what the bytes held before.
    pub reads_first: bool,
    /// Addresses that are certainly accessed, and that are certainly written.
    pub certain: [Vec<u64>; 2],
    /// The pointer, and what is read and written through it.
    pub regions: Option<(u64, [Region; 2])>,
    /// The kernel's parameter.
    pub parameter: Option<usize>,
    pub sites: [Option<Site>; 2],
}

/// Two accesses that no path orders.
pub(super) struct Race {
    pub proved: bool,
    pub addresses: Range<u64>,
}

impl NodeAccess {
    /// Returns true if some byte is certainly accessed.
    pub fn is_certain(&self) -> bool {
        !self.certain[0].is_empty()
    }

    /// Returns true if two accesses declare a byte in common.
    pub fn shares_declared_with(&self, other: &NodeAccess) -> bool {
        self.declared.start < other.declared.end && other.declared.start < self.declared.end
    }

    /// Returns the bytes of a conflict. `None` if there is none.
    pub fn race_with(&self, other: &NodeAccess) -> Option<Race> {
        let both = self.bytes.start.max(other.bytes.start)..self.bytes.end.min(other.bytes.end);
        let commute = self.reduction.is_some() && self.reduction == other.reduction;
        if both.is_empty() || commute || !(self.writes || other.writes) || self.is_apart_from(other) {
            return None;
        }
        let proves = |writer: &NodeAccess, other: &NodeAccess| {
            let [certain, _] = &other.certain;
            let meets = other.bytes.start < writer.written.end && writer.written.start < other.bytes.end;
            writer.writes_all
                && (other.touches_all && meets || certain.iter().any(|byte| writer.written.contains(byte)))
                || writer.certain[1].iter().any(|byte| certain.contains(byte))
        };
        Some(Race { proved: proves(self, other) || proves(other, self), addresses: both })
    }

    /// Returns true if the bytes of two accesses that conflict are proved to differ, although their hulls overlap.
    fn is_apart_from(&self, other: &NodeAccess) -> bool {
        let (Some((at, [reads, writes])), Some((other_at, [other_reads, other_writes]))) =
            (&self.regions, &other.regions)
        else {
            return false;
        };
        let apart = |one: &Region, two: &Region| regions_are_disjoint((one, *at), (two, *other_at));
        apart(writes, other_writes) && apart(writes, other_reads) && apart(reads, other_writes)
    }
}

/// The end of a transfer, or the fill, of a node.
pub(super) fn exact(memory: MemoryId, bytes: Range<u64>, writes: bool, dense: bool) -> NodeAccess {
    let certain = vec![bytes.start, bytes.end.saturating_sub(1)];
    NodeAccess {
        memory,
        declared: bytes.clone(),
        written: if writes { bytes.clone() } else { 0..0 },
        is_write: writes,
        bytes,
        reads: !writes,
        writes,
        reduction: None,
        assumed: false,
        writes_all: writes && dense,
        touches_all: dense,
        reads_first: !writes,
        certain: [certain.clone(), if writes { certain } else { Vec::new() }],
        regions: None,
        parameter: None,
        sites: [None, None],
    }
}
