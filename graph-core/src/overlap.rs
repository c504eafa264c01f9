//! Programmatic dependent launch (PDL): marks the edges by which a kernel may start before its predecessor has
//! ended.
//!
//! A programmatic edge orders like a full edge if the consumer begins with `griddepcontrol.wait`, in all threads
//! and before any other instruction:
//! - A thread passes the wait when all kernels before the edge have completed and their writes are visible. The
//!   kernel has no effect before the wait.
//! - A grid completes when all its threads have ended, that is after all of them have passed the wait.
//! - By induction along the order, the completion of a kernel implies the completion of all kernels with a path of
//!   full and programmatic edges to it. A full edge also waits for the completion of its producer.
//!
//! This holds at any launch time of the consumer. So the only requirement is that the consumer begins with the
//! wait.
//!
//! The producer may be a library call. If its captured nodes do not end in one kernel, the build adds a full edge
//! instead. The consumer may be the kernel that sets the conditions of a statement; the conditional node follows it
//! by a full edge.
//!
//! Edges are one to one: the consumer is the producer's only dependent kernel, and the producer is the consumer's
//! only dependency except for memory nodes. With 16 dependents of one producer, programmatic edges took 1.09 to
//! 1.16 of the time of full edges; one-to-one edges took 0.65 to 0.99 (benches/results). Both kernels are on one
//! device.
//!
//! If no other node is on the two levels, and the producer fills the device or both kernels are tiny, the edge
//! leaves by the launch-order port: the consumer is launched once all blocks of the producer have started.

use std::collections::BTreeMap;

use crate::index::{Index, Vector, ids, indices};
use crate::ir::{Program, StatementId, StatementKind};
use crate::launches::{Batch, ContractedOrder, Launch, NodeLaunch, Tuning};
use crate::operation::{Operation, OperationId, OperationKind};
use crate::reach::Reach;

/// Marks the programmatic edges in a list of operations, and returns their number. `run` returns the launch of an
/// operation, or of the kernel that sets the conditions of a statement.
pub fn mark_programmatic_edges(
    list: &mut Vector<OperationId, Operation>,
    tuning: &Tuning,
    run: impl Fn(&Operation) -> Option<NodeLaunch>,
) -> usize {
    let runs: Vector<OperationId, Option<NodeLaunch>> = list.iter().map(run).collect();
    let mut dependents = Vector::filled(0u32, list.len());
    for operation in list.iter().filter(|operation| !operation.kind.is_memory()) {
        operation.after.iter().for_each(|&before| dependents[before] += 1);
    }
    let levels = OperationLevels::new(list);
    let producer = |at: OperationId| -> Option<OperationId> {
        runs[at].filter(|run| run.waits)?;
        let mut others = list[at].after.iter().copied().filter(|&before| !list[before].kind.is_memory());
        let (first, second) = (others.next()?, others.next());
        let one_to_one = second.is_none() && dependents[first] == 1;
        let one_to_one = one_to_one && list[first].device == list[at].device;
        let gains = tuning.overlap.beside_others || levels.count(at) == 1;
        let runs_kernels = match list[first].kind {
            // A kernel without a run may be disabled. It would then wait for nothing.
            OperationKind::KERNEL => runs[first].is_some(),
            OperationKind::Statement(StatementKind::Capture(())) => true,
            _ => false,
        };
        (one_to_one && gains && runs_kernels).then_some(first)
    };
    let alone = |at: OperationId, before: OperationId| levels.count(at) == 1 && levels.count(before) == 1;
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
    /// The length of the longest path to an operation, without memory nodes.
    struct Level;
}

/// The level of each operation, without memory nodes. Operations on one level are assumed to run concurrently.
struct OperationLevels {
    /// The level of each operation.
    of: Vector<OperationId, Level>,
    /// The number of nodes on each level.
    counts: Vector<Level, usize>,
}

impl OperationLevels {
    fn new(list: &Vector<OperationId, Operation>) -> OperationLevels {
        let mut levels = OperationLevels { of: Vector::with_capacity(list.len()), counts: Vector::new() };
        for operation in list {
            let before = operation
                .after
                .iter()
                .map(|&before| levels.of[before].index() + usize::from(!list[before].kind.is_memory()));
            let level = Level::new(before.max().unwrap_or(0));
            levels.of.push(level);
            if levels.counts.len() <= level.index() {
                levels.counts.resize(level.index() + 1, 0);
            }
            levels.counts[level] += usize::from(!operation.kind.is_memory());
        }
        levels
    }

    /// Returns the number of operations on the level of an operation, including itself.
    fn count(&self, operation: OperationId) -> usize {
        self.counts[self.of[operation]]
    }
}

/// Returns, for each statement, the dependents that will have a programmatic edge when [`mark_programmatic_edges`] runs
/// after emission. Memory nodes have full edges: a path from the producer through a free and an alloc to the consumer
/// would make the consumer wait for the end of the producer.
pub fn programmatic_dependents(
    program: &Program,
    reach: &Reach,
    batches: &[Batch],
    launches: &Vector<StatementId, Option<Launch>>,
) -> Vector<StatementId, Vec<StatementId>> {
    let nodes = ContractedOrder::new(reach, batches);
    let launch = |id: StatementId| launches.get(id).and_then(Option::as_ref);
    let mut followers = Vector::filled(Vec::new(), reach.len());
    let mut members: BTreeMap<StatementId, &[StatementId]> = BTreeMap::new();
    members.extend(batches.iter().map(|batch| (batch.members[0], batch.members.as_slice())));
    for id in ids(reach.len()) {
        let one = [id];
        let second = members.get(&id).copied().unwrap_or(&one);
        let waits = second.iter().all(|&id| launch(id).is_some_and(|launch| launch.waits));
        let here = |before: StatementId| program.statements[before].device == program.statements[id].device;
        let before = nodes.previous(id).filter(|&before| waits && here(before) && launch(before).is_some());
        if let Some(before) = before {
            let one = [before];
            for &first in members.get(&before).copied().unwrap_or(&one) {
                followers[first] = second.to_vec();
            }
        }
    }
    followers
}
