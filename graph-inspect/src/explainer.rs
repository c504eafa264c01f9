//! Builds the report entries for launches that could have been merged or overlapped further, from the compiler's
//! decisions.
//!
//! The reasons come from `cuweave_core::launches::explain`. This module adds names, lines and numbers. `unbatched` and
//! `unfused` define the entries.

use std::collections::BTreeMap;
use std::fmt;

use cuweave_core::compile::{Decided, explain};
use cuweave_core::index::Vector;
use cuweave_core::ir::{BufferId, StatementId, StatementKind};
use cuweave_core::launches::{
    Allowed, BatchObstacle, Change, Explanation, Fusing, FusionObstacle, Launch, LeftAlone, NamedKernel,
    NodeLaunch, OverlapFault, UnbatchedGroup as Group, Unfused as Pair,
};
use cuweave_core::location::{SourceLocation, at_buffer, at_statement};
use cuweave_core::operation::{ChainCut, Operation, OperationId, OperationKind};

use super::subject::ReportInput;
use super::unbatched::{
    FullEdge, FullEdgeReason, RepeatedStatement, SerializedBranch, UnbatchedLaunches, UnbatchedReason,
};
use super::unfused::{UnfusedPair, UnfusedReason};

/// The entries of a report.
#[derive(Debug, Default)]
pub(super) struct UnmergedEntries {
    pub unbatched: Vec<UnbatchedLaunches>,
    pub full_edges: Vec<FullEdge>,
    pub serialized_branches: Vec<SerializedBranch>,
    pub unfused: Vec<UnfusedPair>,
}

/// The input of the entries.
pub(super) struct DecisionExplainer<'g> {
    pub graph: &'g ReportInput<'g>,
    /// The kernels that could not be changed, sorted by their texts.
    pub left_alone: &'g [LeftAlone],
}

impl DecisionExplainer<'_> {
    /// Returns the entries.
    pub fn entries(&self) -> UnmergedEntries {
        let mut entries = UnmergedEntries::default();
        let lanes = [self.add_decisions(&mut entries), self.graph.operations.narrowed.clone()].concat();
        let lanes = lanes.into_iter().map(|(after, at)| SerializedBranch {
            at: self.at(at),
            after: self.at(after),
            times: 1,
        });
        entries.serialized_branches = merge_equal(lanes, |entry| &mut entry.times);
        entries
    }

    /// Adds the entries of the launch decisions, if any were made for this graph. Returns the ends and begins of
    /// branches that they put in sequence.
    fn add_decisions(&self, entries: &mut UnmergedEntries) -> Vec<(StatementId, StatementId)> {
        let Decided { checked: Some(checked), backend_options, .. } = self.graph.decided else {
            return Vec::new();
        };
        if backend_options.launches.len() != self.graph.program.statements.len() {
            return Vec::new();
        }
        let Explanation { apart, unfused, lanes } = explain(checked, backend_options, self.graph.operations);
        if backend_options.allowed.fuse {
            let unfused = unfused.iter().filter_map(|pair| self.unfused(pair));
            entries.unfused = merge_equal(unfused, |entry| &mut entry.times);
        }
        if backend_options.allowed.batches {
            let apart = apart.iter().filter_map(|group| self.apart(group));
            entries.unbatched = merge_equal(apart, |entry| &mut entry.times);
        }
        if backend_options.allowed.overlap {
            entries.full_edges = merge_equal(self.full_edges().into_iter(), |entry| &mut entry.times);
        }
        lanes
    }

    fn at(&self, statement: StatementId) -> SourceLocation {
        *at_statement(self.graph.program, statement)
    }

    fn launch(&self, statement: StatementId) -> Option<&Launch> {
        self.graph.decided.backend_options.launches.get(statement).and_then(Option::as_ref)
    }

    fn apart(&self, group: &Group) -> Option<UnbatchedLaunches> {
        let first = group.nodes.first()?.first()?;
        let kernel = self.kernel(*first)?;
        let mut reasons: Vec<UnbatchedReason> =
            group.why.iter().map(|&why| self.unbatched_reason(why, &kernel)).collect();
        let unstacked = |node: &Vec<StatementId>| self.graph.decided.unstacked.get(node.first()?).cloned();
        if let Some(why) = group.nodes.iter().find_map(unstacked) {
            reasons = vec![UnbatchedReason::Unstacked(why)];
        }
        reasons.sort();
        reasons.dedup();
        let mut statements: Vec<StatementId> = group.nodes.iter().flatten().copied().collect();
        statements.sort_unstable();
        let mut places: Vec<SourceLocation> = statements.into_iter().map(|id| self.at(id)).collect();
        places.sort_by(|a, b| (&a.file, a.line, a.column).cmp(&(&b.file, b.line, b.column)));
        let launches = merge_repeats(places.into_iter());
        Some(UnbatchedLaunches { kernel, launches, nodes: group.nodes.len(), reasons, times: 1 })
    }

    fn unbatched_reason(&self, why: BatchObstacle, kernel: &NamedKernel) -> UnbatchedReason {
        match why {
            BatchObstacle::Never(statement) => self.unbatchable_reason(statement, kernel),
            BatchObstacle::Bodies => UnbatchedReason::Bodies,
            BatchObstacle::Blocks => UnbatchedReason::Blocks,
            BatchObstacle::Begins => UnbatchedReason::DifferentStarts,
            BatchObstacle::Devices => UnbatchedReason::Devices,
            BatchObstacle::Ends => UnbatchedReason::DifferentEnds,
            BatchObstacle::Flat => UnbatchedReason::Grids,
            BatchObstacle::Joins => UnbatchedReason::Joins,
            BatchObstacle::Edges => UnbatchedReason::Edges,
            BatchObstacle::ChainLimits => UnbatchedReason::Chains,
            BatchObstacle::Halves => UnbatchedReason::Halves,
            BatchObstacle::Fused => UnbatchedReason::Fused,
            BatchObstacle::Stacked => UnbatchedReason::Stacked,
            BatchObstacle::Room => UnbatchedReason::ParameterSpace,
        }
    }

    /// Returns the reason why a launch is in no batch.
    fn unbatchable_reason(&self, statement: StatementId, kernel: &NamedKernel) -> UnbatchedReason {
        if let Some(slower) = self.graph.decided.slower.get(&statement) {
            return UnbatchedReason::Slower(slower.to_string());
        }
        if !self.allowed(statement).batches {
            return UnbatchedReason::NotAllowed;
        }
        match self.left_alone(kernel, Change::Batching) {
            Some(left) => UnbatchedReason::Kernel(left.reason_alone().to_owned()),
            None => UnbatchedReason::Setter,
        }
    }

    /// Returns the changes that the graph function of a launch allows.
    fn allowed(&self, statement: StatementId) -> Allowed {
        let functions = self.graph.decided.checked.as_ref().map(|checked| checked.functions());
        Allowed::by(functions.and_then(|functions| functions.launches(self.graph.program, statement)))
    }

    fn kernel(&self, statement: StatementId) -> Option<NamedKernel> {
        let kernel = self.graph.kernel(statement)?;
        Some(NamedKernel::new(kernel.name, kernel.path))
    }

    /// Returns the entry that says why a kernel is exempt from a change.
    fn left_alone(&self, kernel: &NamedKernel, change: Change) -> Option<&LeftAlone> {
        let of_kernel = |left: &&LeftAlone| left.kernel.as_ref().is_none_or(|of| of == kernel);
        let of_change = |left: &&LeftAlone| left.change == Change::Any || left.change == change;
        self.left_alone.iter().filter(of_kernel).find(of_change)
    }

    /// Returns the entry for two launches that are not one kernel.
    fn unfused(&self, pair: &Pair) -> Option<UnfusedPair> {
        let &Pair { first, second, why } = pair;
        let (one, other) = (self.launch(first)?, self.launch(second)?);
        let reason = match why {
            // A kernel cannot span two devices, so this needs no entry.
            FusionObstacle::Devices => return None,
            FusionObstacle::Grids => UnfusedReason::Grids(one.grid, other.grid),
            FusionObstacle::Blocks => UnfusedReason::Blocks(one.block, other.block),
            FusionObstacle::Between(at) => {
                let kind = match &self.graph.program.statements[at].kind {
                    StatementKind::Host(_) => "host statement",
                    kind => kind.name(),
                };
                UnfusedReason::Between { at: self.at(at), kind }
            }
            FusionObstacle::Before(at) => UnfusedReason::OtherPredecessor(self.at(at)),
            FusionObstacle::After(at) => UnfusedReason::OtherSuccessor(self.at(at)),
            FusionObstacle::Set(at) => UnfusedReason::Setter(self.at(at)),
            FusionObstacle::Never(_) => self.unfusable_reason([first, second]),
            FusionObstacle::Starts => UnfusedReason::EarlyStart,
            FusionObstacle::Access { of, buffer, fault } => self.overlap_reason(of, second, buffer, fault),
            FusionObstacle::Batched(at) => UnfusedReason::Batched(self.at(at)),
            FusionObstacle::Crowd(at) => UnfusedReason::Concurrent(self.at(at)),
            FusionObstacle::MaxMembers => {
                UnfusedReason::MaxMembers(self.graph.decided.backend_options.tuning.fused)
            }
            FusionObstacle::Room => match self.graph.operations.cut? {
                ChainCut::Pages { whole, most } => UnfusedReason::Memory { whole, most },
                ChainCut::Budget => UnfusedReason::Budget,
            },
        };
        Some(UnfusedPair { first: self.at(first), second: self.at(second), reason, times: 1 })
    }

    /// Returns the reason why one of two launches is in no chain.
    fn unfusable_reason(&self, pair: [StatementId; 2]) -> UnfusedReason {
        if let Some(slower) = pair.iter().find_map(|statement| self.graph.decided.slower_fused.get(statement))
        {
            return UnfusedReason::Slower(slower.clone());
        }
        if !pair.iter().all(|&statement| self.allowed(statement).fuse) {
            return UnfusedReason::NotAllowed;
        }
        let left = |&statement: &StatementId| {
            let left = self.left_alone(&self.kernel(statement)?, Change::Fusing)?;
            Some(UnfusedReason::Kernel { at: self.at(statement), reason: left.reason_alone().to_owned() })
        };
        // Only launches that a buffer orders are considered, and `left_alone` lists their kernels if these cannot
        // be fused. So otherwise, state outside of buffers orders the two.
        pair.iter().find_map(left).unwrap_or(UnfusedReason::SharedState)
    }

    /// Returns the part of the proof that fails for a buffer of two launches.
    fn overlap_reason(
        &self,
        of: StatementId,
        second: StatementId,
        buffer: BufferId,
        fault: OverlapFault,
    ) -> UnfusedReason {
        let at = *at_buffer(self.graph.program, buffer);
        match fault {
            OverlapFault::Set(launch) => UnfusedReason::Range { buffer: at, launch: self.at(launch) },
            OverlapFault::Unknown(launch) => {
                let reason = self.unknown_bytes_reason(launch, buffer).unwrap_or_default();
                UnfusedReason::Unknown { buffer: at, launch: self.at(launch), reason }
            }
            OverlapFault::Shared { writes } => {
                let other = if writes == of { second } else { of };
                UnfusedReason::Shared { buffer: at, writes: self.at(writes), other: self.at(other) }
            }
        }
    }

    /// Returns the reason why the bytes of a buffer that one block of a launch accesses are unknown.
    fn unknown_bytes_reason(&self, launch: StatementId, buffer: BufferId) -> Option<String> {
        let Fusing::With(footings) = &self.launch(launch)?.fuse else { return None };
        let accesses = self.graph.program.statements[launch].accesses.iter().zip(footings.iter());
        let mut own = accesses.filter(|(access, _)| access.buffer == buffer);
        own.find_map(|(_, footing)| footing.writes.unknown().or(footing.reads.unknown()))
            .map(ToString::to_string)
    }

    fn full_edges(&self) -> Vec<FullEdge> {
        let list = &self.graph.operations.list;
        let mut dependents: Vector<OperationId, usize> = Vector::filled(0, list.len());
        for operation in list.iter().filter(|operation| !operation.kind.is_memory()) {
            operation.after.iter().for_each(|&before| dependents[before] += 1);
        }
        let run = |operation: &Operation| NodeLaunch::of(operation.sources.iter().map(|&id| self.launch(id)));
        let is_kernel =
            |operation: &Operation| operation.kind == OperationKind::KERNEL && run(operation).is_some();
        let mut edges = Vec::new();
        for operation in list.iter().filter(|operation| is_kernel(operation)) {
            if operation.programmatic.is_some() || !run(operation).is_some_and(|run| run.waits) {
                continue;
            }
            let before = || operation.after.iter().copied().filter(|&before| !list[before].kind.is_memory());
            let count = before().count();
            for first in before().filter(|&before| is_kernel(&list[before])) {
                let reason = match (dependents[first], count) {
                    _ if list[first].device != operation.device => FullEdgeReason::Devices,
                    (2.., _) => FullEdgeReason::Dependents(dependents[first]),
                    (_, 2..) => FullEdgeReason::Dependencies(count),
                    _ => FullEdgeReason::Concurrent,
                };
                let (Some(&from), Some(&to)) = (list[first].sources.first(), operation.sources.first())
                else {
                    continue;
                };
                edges.push(FullEdge { from: self.at(from), to: self.at(to), reason, times: 1 });
            }
        }
        edges
    }
}

/// Merges equal statements in a row.
fn merge_repeats(list: impl Iterator<Item = SourceLocation>) -> Vec<RepeatedStatement> {
    let mut runs: Vec<RepeatedStatement> = Vec::new();
    for at in list {
        match runs.last_mut() {
            Some(last) if last.at == at => last.times += 1,
            _ => runs.push(RepeatedStatement { at, times: 1 }),
        }
    }
    runs
}

/// Merges equal entries, in the order of their first occurrences.
fn merge_equal<T: fmt::Display>(list: impl Iterator<Item = T>, times: fn(&mut T) -> &mut usize) -> Vec<T> {
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    let mut entries: Vec<T> = Vec::new();
    for entry in list {
        let at = *known.entry(entry.to_string()).or_insert(entries.len());
        match entries.get_mut(at) {
            Some(first) => *times(first) += 1,
            None => entries.push(entry),
        }
    }
    entries
}
