//! Which edges need not keep the consumer from starting before the producer has ended.
//!
//! A kernel that begins with `griddepcontrol.wait`, in all threads and before any access to memory, completes only
//! after everything that it waited for has completed and its writes are visible. So a programmatic edge into it orders
//! like a full one, and, by induction along the order, so does every chain of such edges: a consumer's completion implies
//! its producer's, which implies that of all the producer came after. A full edge into a producer that does not wait says
//! the same of that producer. What is needed of each programmatic edge is therefore only that its consumer waits.
//!
//! Edges are one to one: the producer's only dependent kernel and the consumer's only dependency beside memory
//! nodes. With 16 dependents of one producer, programmatic edges took 1.09 to 1.16 of the time of full ones, one-to-one
//! edges 0.65 to 0.99 (see DESIGN's measurements, repeated in benches/results).
//!
//! Where both grids are tiny, the consumer starts as soon as all blocks of the producer have begun, instead of ended: the
//! edge leaves by the port of the launch order. Its blocks then wait on the device, so larger grids would take room from
//! what they wait for.

use crate::operation::{Operation, OperationId, What};

use super::cost;

/// Marks the programmatic edges of a list; `waits` says of an operation's launch that its function begins with the
/// wait, `blocks` how many it has. Returns how many edges there are.
pub fn mark(
    list: &mut [Operation],
    waits: impl Fn(&Operation) -> bool,
    blocks: impl Fn(&Operation) -> u64,
) -> usize {
    let is_memory =
        |what: &What| matches!(what, What::Alloc { .. } | What::Free { .. } | What::FreeTaken { .. });
    let mut dependents = vec![0u32; list.len()];
    for operation in list.iter().filter(|operation| !is_memory(&operation.what)) {
        operation.after.iter().for_each(|&before| dependents[before as usize] += 1);
    }
    let producer = |list: &[Operation], at: usize| -> Option<OperationId> {
        let operation = &list[at];
        if operation.what != What::Kernel || !waits(operation) {
            return None;
        }
        let mut others =
            operation.after.iter().copied().filter(|&before| !is_memory(&list[before as usize].what));
        let (first, second) = (others.next()?, others.next());
        let one_to_one = second.is_none() && dependents[first as usize] == 1;
        (one_to_one && list[first as usize].what == What::Kernel).then_some(first)
    };
    let early: Vec<_> = (0..list.len()).map(|at| producer(list, at)).collect();
    let count = early.iter().flatten().count();
    let tiny: Vec<bool> = list
        .iter()
        .map(|operation| operation.what == What::Kernel && cost::is_tiny(blocks(operation)))
        .collect();
    for (at, early) in early.into_iter().enumerate() {
        list[at].early = early;
        list[at].at_once = early.is_some_and(|before| tiny[at] && tiny[before as usize]);
    }
    count
}
