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
//! Where nothing runs beside the two, and the producer fills the device or both are tiny, the consumer is launched as soon
//! as all blocks of the producer have begun, instead of ended: the edge leaves by the port of the launch order.

use std::collections::BTreeMap;

use crate::ir::StatementId;
use crate::operation::{Operation, OperationId, What};
use crate::reach::Reach;

use super::{Batch, Blocks, Contracted, Launch, cost};

/// What is known of an operation's launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Its blocks.
    pub blocks: Blocks,
    /// Its threads.
    pub threads: u64,
    /// The blocks of it that the device holds at once.
    pub wave: u32,
    /// Whether its function begins with the wait.
    pub waits: bool,
    /// Whether each of its threads goes straight to its end, and soon.
    pub brief: bool,
}

impl Run {
    /// Of one launch, or of a batch. `None` where something is no launch.
    pub fn of<'l>(launches: impl IntoIterator<Item = Option<&'l Launch>>) -> Option<Run> {
        let one = |launch: &Launch| Run {
            blocks: launch.blocks(),
            threads: launch.threads(),
            wave: launch.wave,
            waits: launch.waits,
            brief: launch.brief,
        };
        let mut launches = launches.into_iter();
        let first = one(launches.next()??);
        launches.try_fold(first, |all, launch| {
            let launch = one(launch?);
            Some(Run {
                blocks: all.blocks + launch.blocks,
                threads: all.threads.saturating_add(launch.threads),
                wave: all.wave.min(launch.wave),
                waits: all.waits && launch.waits,
                brief: all.brief && launch.brief,
            })
        })
    }
}

/// Marks the programmatic edges of a list; `run` returns the launch data of an operation. Returns the number of edges.
pub fn mark(list: &mut [Operation], run: impl Fn(&Operation) -> Option<Run>) -> usize {
    let runs: Vec<Option<Run>> =
        list.iter().map(|operation| run(operation).filter(|_| operation.what == What::Kernel)).collect();
    let mut dependents = vec![0u32; list.len()];
    for operation in list.iter().filter(|operation| !is_memory(&operation.what)) {
        operation.after.iter().for_each(|&before| dependents[before as usize] += 1);
    }
    let beside = Beside::of(list, &runs);
    let producer = |at: usize| -> Option<OperationId> {
        let run = runs[at].filter(|run| run.waits)?;
        let mut others =
            list[at].after.iter().copied().filter(|&before| !is_memory(&list[before as usize].what));
        let (first, second) = (others.next()?, others.next());
        let one_to_one = second.is_none() && dependents[first as usize] == 1;
        let (nodes, blocks) = beside.at(at);
        let gains = nodes == 1 || cost::gains_beside_others(run, blocks);
        (one_to_one && gains && list[first as usize].what == What::Kernel).then_some(first)
    };
    let alone = |at: usize, before: usize| beside.at(at).0 == 1 && beside.at(before).0 == 1;
    let begins_behind_begun = |at: usize, before: usize| {
        let (Some(run), Some(first)) = (runs[at], runs[before]) else { return false };
        alone(at, before) && cost::begins_behind_begun(first, run)
    };
    let early: Vec<_> = (0..list.len()).map(producer).collect();
    let at_once: Vec<bool> = early
        .iter()
        .enumerate()
        .map(|(at, early)| early.is_some_and(|before| begins_behind_begun(at, before as usize)))
        .collect();
    let count = early.iter().flatten().count();
    for ((operation, early), at_once) in list.iter_mut().zip(early).zip(at_once) {
        operation.early = early;
        operation.at_once = at_once;
    }
    count
}

fn is_memory(what: &What) -> bool {
    matches!(what, What::Alloc { .. } | What::Free { .. } | What::FreeTaken { .. })
}

/// What is taken to run at the same time: the operations of a level, without memory nodes.
struct Beside {
    levels: Vec<u32>,
    /// Of each level how many nodes, and how many blocks.
    all: Vec<(usize, Blocks)>,
}

impl Beside {
    fn of(list: &[Operation], runs: &[Option<Run>]) -> Beside {
        let mut beside = Beside { levels: Vec::with_capacity(list.len()), all: Vec::new() };
        for (operation, run) in list.iter().zip(runs) {
            let before = operation.after.iter().map(|&before| {
                beside.levels[before as usize] + u32::from(!is_memory(&list[before as usize].what))
            });
            let level = before.max().unwrap_or(0);
            beside.levels.push(level);
            if beside.all.len() <= level as usize {
                beside.all.resize(level as usize + 1, (0, Blocks::default()));
            }
            if !is_memory(&operation.what) {
                let (nodes, blocks) = &mut beside.all[level as usize];
                *nodes += 1;
                *blocks = *blocks + run.map_or(Blocks::default(), |run| run.blocks);
            }
        }
        beside
    }

    fn at(&self, operation: usize) -> (usize, Blocks) {
        self.all[self.levels[operation] as usize]
    }
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
