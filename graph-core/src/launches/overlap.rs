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

use std::collections::BTreeMap;

use crate::ir::StatementId;
use crate::operation::{Operation, OperationId, What};
use crate::reach::Reach;

use super::{Batch, Contracted, Launch, cost};

/// Marks the programmatic edges of a list; `waits` says of an operation's launch that its function begins with the
/// wait, `threads` how many it has. Returns how many edges there are.
pub fn mark(
    list: &mut [Operation],
    waits: impl Fn(&Operation) -> bool,
    threads: impl Fn(&Operation) -> u64,
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
        .map(|operation| operation.what == What::Kernel && cost::is_tiny(threads(operation)))
        .collect();
    for (at, early) in early.into_iter().enumerate() {
        list[at].early = early;
        list[at].at_once = early.is_some_and(|before| tiny[at] && tiny[before as usize]);
    }
    count
}

/// For each statement those that may start before it has ended, as [`mark`] will find. Memory nodes have full edges: one
/// that frees what the first used, followed by one that allocates what the second uses, would keep it waiting.
pub fn followers(reach: &Reach, batches: &[Batch], launches: &[Option<Launch>]) -> Vec<Vec<StatementId>> {
    let nodes = Contracted::new(reach, batches);
    let launch = |id: StatementId| launches.get(id as usize).and_then(Option::as_ref);
    let mut followers = vec![Vec::new(); reach.len()];
    let mut members: BTreeMap<StatementId, &[StatementId]> = BTreeMap::new();
    members.extend(batches.iter().map(|batch| (batch.members[0], batch.members.as_slice())));
    for id in 0..reach.len() as StatementId {
        let one = [id];
        let second = members.get(&id).copied().unwrap_or(&one);
        let waits = second.iter().all(|&id| launch(id).is_some_and(|launch| launch.waits));
        let before = nodes.previous(id).filter(|&before| waits && launch(before).is_some());
        if let Some(before) = before {
            let one = [before];
            for &first in members.get(&before).copied().unwrap_or(&one) {
                followers[first as usize] = second.to_vec();
            }
        }
    }
    followers
}
