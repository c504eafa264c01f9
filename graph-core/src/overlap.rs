//! Programmatic edges: which kernels may start before the kernel in front of them has ended.
//!
//! A programmatic edge into a kernel that waits first (`griddepcontrol.wait`, in all threads and before any other
//! instruction) orders like a full edge:
//! - A thread passes the wait when all kernels in front of the edge have completed and their writes are visible. Nothing
//!   that the kernel does comes before the wait.
//! - A grid completes when all its threads have ended, so after all of them have passed the wait.
//! - By induction along the order, the completion of a kernel implies the completion of everything from which a path of full
//!   and programmatic edges leads to it: a full edge waits for the completion of its producer too.
//!
//! The time at which the consumer is launched plays no part. So a programmatic edge only needs a consumer that waits first.
//!
//! Edges are one to one: from a producer to its only dependent kernel, whose only dependency beside memory nodes it is. With
//! 16 dependents of one producer, programmatic edges took 1.09 to 1.16 of the time of full ones, one-to-one edges 0.65 to
//! 0.99 (see DESIGN's measurements, repeated in benches/results).
//!
//! If nothing runs beside the two, and the producer fills the device or both are tiny, the edge leaves by the launch-order
//! port: the consumer is launched when all blocks of the producer have begun, instead of ended.

use std::collections::BTreeMap;

use crate::index::{Index, Vector, ids, indices};
use crate::ir::StatementId;
use crate::launches::{Batch, Contracted, Launch, Run, Tuning};
use crate::operation::{Operation, OperationId, What};
use crate::reach::Reach;

/// Marks the programmatic edges of a list; `run` returns the launch of an operation. Returns the number of edges.
pub fn mark(
    list: &mut Vector<OperationId, Operation>,
    tuning: &Tuning,
    run: impl Fn(&Operation) -> Option<Run>,
) -> usize {
    let runs: Vector<OperationId, Option<Run>> =
        list.iter().map(|operation| run(operation).filter(|_| operation.what == What::KERNEL)).collect();
    let mut dependents = Vector::filled(0u32, list.len());
    for operation in list.iter().filter(|operation| !operation.what.is_memory()) {
        operation.after.iter().for_each(|&before| dependents[before] += 1);
    }
    let beside = Beside::of(list);
    let producer = |at: OperationId| -> Option<OperationId> {
        runs[at].filter(|run| run.waits)?;
        let mut others = list[at].after.iter().copied().filter(|&before| !list[before].what.is_memory());
        let (first, second) = (others.next()?, others.next());
        let one_to_one = second.is_none() && dependents[first] == 1;
        let gains = tuning.overlap.beside_others || beside.count(at) == 1;
        (one_to_one && gains && list[first].what == What::KERNEL).then_some(first)
    };
    let alone = |at: OperationId, before: OperationId| beside.count(at) == 1 && beside.count(before) == 1;
    let uses_launch_order = |at: OperationId, before: OperationId| {
        let (Some(run), Some(first)) = (runs[at], runs[before]) else { return false };
        alone(at, before) && tuning.uses_launch_order(first, run)
    };
    let marked: Vector<OperationId, (Option<OperationId>, bool)> = list
        .ids()
        .map(|at| {
            let producer = producer(at);
            (producer, producer.is_some_and(|before| uses_launch_order(at, before)))
        })
        .collect();
    for (operation, &(programmatic, launch_order)) in list.iter_mut().zip(&marked) {
        operation.programmatic = programmatic;
        operation.launch_order = launch_order;
    }
    marked.iter().filter(|(programmatic, _)| programmatic.is_some()).count()
}

indices! {
    /// The length of the longest chain of operations that leads to an operation, without memory nodes.
    struct Level;
}

/// The operations of each level, without memory nodes: they are taken to run at the same time.
struct Beside {
    /// The level of each operation.
    levels: Vector<OperationId, Level>,
    /// The number of nodes of each level.
    counts: Vector<Level, usize>,
}

impl Beside {
    fn of(list: &Vector<OperationId, Operation>) -> Beside {
        let mut beside = Beside { levels: Vector::with_capacity(list.len()), counts: Vector::new() };
        for operation in list {
            let before = operation
                .after
                .iter()
                .map(|&before| beside.levels[before].index() + usize::from(!list[before].what.is_memory()));
            let level = Level::new(before.max().unwrap_or(0));
            beside.levels.push(level);
            if beside.counts.len() <= level.index() {
                beside.counts.resize(level.index() + 1, 0);
            }
            beside.counts[level] += usize::from(!operation.what.is_memory());
        }
        beside
    }

    /// Returns the number of operations on the level of an operation, itself included.
    fn count(&self, operation: OperationId) -> usize {
        self.counts[self.levels[operation]]
    }
}

/// Returns, for each statement, its dependents by programmatic edges, as [`mark`] will find. Memory nodes have full edges: a
/// free of a buffer of the producer, followed by an alloc of a buffer of the consumer, would keep the consumer waiting.
pub fn followers(
    reach: &Reach,
    batches: &[Batch],
    launches: &Vector<StatementId, Option<Launch>>,
) -> Vector<StatementId, Vec<StatementId>> {
    let nodes = Contracted::new(reach, batches);
    let launch = |id: StatementId| launches.get(id).and_then(Option::as_ref);
    let mut followers = Vector::filled(Vec::new(), reach.len());
    let mut members: BTreeMap<StatementId, &[StatementId]> = BTreeMap::new();
    members.extend(batches.iter().map(|batch| (batch.members[0], batch.members.as_slice())));
    for id in ids(reach.len()) {
        let one = [id];
        let second = members.get(&id).copied().unwrap_or(&one);
        let waits = second.iter().all(|&id| launch(id).is_some_and(|launch| launch.waits));
        let before = nodes.previous(id).filter(|&before| waits && launch(before).is_some());
        if let Some(before) = before {
            let one = [before];
            for &first in members.get(&before).copied().unwrap_or(&one) {
                followers[first] = second.to_vec();
            }
        }
    }
    followers
}
