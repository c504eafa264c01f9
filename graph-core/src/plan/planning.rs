//! Plans the buffers of a graph: computes their order, the bounds, cliques and offsets.

use super::bounds::{Floor, antichain, floor};
use super::indices::{BufferIndex, Rank};
use super::order::{BufferOrder, PlannerBuffer};
use super::placement::place_all;
use super::problem::{Bound, Effort, MAX_TOTAL_BYTES, Offsets, PlanError, Problem, common_divisor, room};
use super::{check, cliques};
use crate::index::{Index, Vector};
use crate::reach::Reach;

/// Offsets in one allocation, and the bounds on its size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryPlan {
    /// The offset of each buffer; 0 for buffers without users.
    pub offsets: Vector<BufferIndex, u64>,
    /// The size of the allocation in bytes.
    pub total: u64,
    /// The lower bound under this order.
    pub bound: Bound<BufferIndex>,
    /// The lower bound under every order of the nodes.
    pub floor: Floor,
    /// True if `total` equals the bound: no plan under this order is smaller.
    pub optimal: bool,
}

impl MemoryPlan {
    /// Appends a plan of other memory. Its buffers get the indices from `first` on.
    #[must_use]
    pub fn and(mut self, other: MemoryPlan, first: usize) -> MemoryPlan {
        self.offsets.extend(other.offsets.iter().map(|offset| offset + self.total));
        self.total += other.total;
        self.bound.bytes += other.bound.bytes;
        let buffers = other.bound.buffers.iter().map(|buffer| BufferIndex::new(first + buffer.index()));
        self.bound.buffers.extend(buffers);
        self.floor.bytes += other.floor.bytes;
        self.optimal &= other.optimal;
        self
    }
}

/// Plans the buffers of a graph. In the bounds and in the plan, sizes are rounded up to the greatest common divisor
/// of all alignments.
///
/// # Errors
///
/// If an alignment is 0, or the sizes overflow.
///
/// # Panics
///
/// If a user is not a node of `reach`.
pub fn plan(
    reach: &Reach,
    buffers: &Vector<BufferIndex, PlannerBuffer>,
    effort: Effort,
) -> Result<MemoryPlan, PlanError> {
    let buffers = rounded(buffers)?;
    let order = BufferOrder::new(reach, &buffers);
    Ok(plan_ordered(reach, &buffers, &order, effort))
}

/// Plans like [`plan`]. The sizes of the buffers must be [`rounded`].
pub(crate) fn plan_ordered(
    reach: &Reach,
    buffers: &Vector<BufferIndex, PlannerBuffer>,
    order: &BufferOrder,
    effort: Effort,
) -> MemoryPlan {
    let sizes: Vector<BufferIndex, u64> = buffers.iter().map(|buffer| buffer.size).collect();
    let bound = antichain(order, &sizes);
    let floor = floor(reach, buffers, order);
    let conflicts = order.conflicts();
    let size = |&b: &BufferIndex| if order.begins[b].is_empty() { 0 } else { sizes[b] };
    let ranked_sizes: Vector<Rank, u64> = order.by_rank().iter().map(size).collect();
    let heaviest: Vec<Rank> = bound.buffers.iter().map(|&b| order.ranks()[b]).collect();
    let cliques = cliques::maximal(&conflicts, &ranked_sizes, &heaviest, effort.steps(buffers.len()) / 8);
    let problem = Problem {
        aligns: order.by_rank().iter().map(|&b| buffers[b].align).collect(),
        sizes: ranked_sizes,
        conflicts,
        begins: (0..).take(buffers.len()).collect(),
        cliques,
        bound: Bound { bytes: bound.bytes, buffers: heaviest },
    };
    let Offsets { offsets: ranked, total } = place_all(&problem, effort);
    let mut offsets = Vector::filled(0, buffers.len());
    for (&b, offset) in order.by_rank().iter().zip(ranked) {
        offsets[b] = offset;
    }
    debug_assert_eq!(check::check(reach, buffers, &offsets, total), Ok(()));
    let optimal = total == bound.bytes;
    MemoryPlan { offsets, total, bound, floor, optimal }
}

/// Rounds the sizes up to the greatest common divisor of all alignments. All offsets are multiples of it, so no
/// other buffer could use the remaining bytes.
pub(crate) fn rounded(
    buffers: &Vector<BufferIndex, PlannerBuffer>,
) -> Result<Vector<BufferIndex, PlannerBuffer>, PlanError> {
    let mut grain = 0;
    let mut sum = 0u64;
    for (b, buffer) in buffers.enumerate() {
        if buffer.align == 0 {
            return Err(PlanError::NoAlignment(b));
        }
        grain = common_divisor(grain, buffer.align);
        sum = room(buffer.size, buffer.align)
            .and_then(|room| sum.checked_add(room))
            .filter(|&sum| sum <= MAX_TOTAL_BYTES)
            .ok_or(PlanError::Overflow(b))?;
    }
    let mut buffers = buffers.clone();
    buffers.iter_mut().for_each(|buffer| buffer.size = buffer.size.next_multiple_of(grain));
    Ok(buffers)
}
