//! Builds the report entries for launches that could have been merged or overlapped further, from the compiler's
//! decisions.
//!
//! The reasons come from `cuweave_core::launches::explain`. This module adds names, lines and numbers. `apart` and
//! `unfused` define the entries.

use std::collections::BTreeMap;
use std::fmt;

use cuweave_core::compile::{Decided, explain};
use cuweave_core::index::Vector;
use cuweave_core::ir::{BufferId, Kind, StatementId};
use cuweave_core::launches::{
    Allowed, Apart as Group, Change, Explanation, Fault, Fusing, Launch, LeftAlone, NamedKernel, Obstacle,
    Run, Unfused as Pair, Why,
};
use cuweave_core::location::{At, at_buffer, at_statement};
use cuweave_core::operation::{Cut, Operation, OperationId, What};

use super::apart::{Apart, FullEdge, InLane, Repeated, WhyApart, WhyFull};
use super::subject::Subject;
use super::unfused::{Unfused, WhyUnfused};

/// The entries of a report.
#[derive(Debug, Default)]
pub(super) struct Entries {
    pub apart: Vec<Apart>,
    pub full_edges: Vec<FullEdge>,
    pub in_lanes: Vec<InLane>,
    pub unfused: Vec<Unfused>,
}

/// The input of the entries.
pub(super) struct Explaining<'g> {
    pub graph: &'g Subject<'g>,
    /// The kernels that could not be changed, sorted by their texts.
    pub left_alone: &'g [LeftAlone],
}

impl Explaining<'_> {
    /// Returns the entries. Empty if no launch decision was made for this graph.
    pub fn entries(&self) -> Entries {
        let Decided { checked: Some(checked), wishes, .. } = self.graph.decided else {
            return Entries::default();
        };
        if wishes.launches.len() != self.graph.program.statements.len() {
            return Entries::default();
        }
        let Explanation { apart, unfused, lanes } = explain(checked, wishes, self.graph.operations);
        let mut entries = Entries::default();
        if wishes.allowed.fuse {
            let unfused = unfused.iter().filter_map(|pair| self.unfused(pair));
            entries.unfused = counted(unfused, |entry| &mut entry.times);
        }
        if wishes.allowed.batches {
            let apart = apart.iter().filter_map(|group| self.apart(group));
            entries.apart = counted(apart, |entry| &mut entry.times);
        }
        if wishes.allowed.overlap {
            entries.full_edges = counted(self.full_edges().into_iter(), |entry| &mut entry.times);
        }
        let lanes =
            lanes.into_iter().map(|(after, at)| InLane { at: self.at(at), after: self.at(after), times: 1 });
        entries.in_lanes = counted(lanes, |entry| &mut entry.times);
        entries
    }

    fn at(&self, statement: StatementId) -> At {
        *at_statement(self.graph.program, statement)
    }

    fn launch(&self, statement: StatementId) -> Option<&Launch> {
        self.graph.decided.wishes.launches.get(statement).and_then(Option::as_ref)
    }

    fn apart(&self, group: &Group) -> Option<Apart> {
        let first = group.nodes.first()?.first()?;
        let kernel = self.kernel(*first)?;
        let mut reasons: Vec<WhyApart> = group.why.iter().map(|&why| self.why(why, &kernel)).collect();
        let unstacked = |node: &Vec<StatementId>| self.graph.decided.unstacked.get(node.first()?).cloned();
        if let Some(why) = group.nodes.iter().find_map(unstacked) {
            reasons = vec![WhyApart::Unstacked(why)];
        }
        reasons.sort();
        reasons.dedup();
        let mut statements: Vec<StatementId> = group.nodes.iter().flatten().copied().collect();
        statements.sort_unstable();
        let mut places: Vec<At> = statements.into_iter().map(|id| self.at(id)).collect();
        places.sort_by(|a, b| (&a.file, a.line, a.column).cmp(&(&b.file, b.line, b.column)));
        let launches = repeated(places.into_iter());
        Some(Apart { kernel, launches, nodes: group.nodes.len(), reasons, times: 1 })
    }

    fn why(&self, why: Why, kernel: &NamedKernel) -> WhyApart {
        match why {
            Why::Never(statement) => self.why_never(statement, kernel),
            Why::Bodies => WhyApart::Bodies,
            Why::Blocks => WhyApart::Blocks,
            Why::Begins => WhyApart::Begins,
            Why::Ends => WhyApart::Ends,
            Why::Flat => WhyApart::Grids,
            Why::Joins => WhyApart::Joins,
            Why::Edges => WhyApart::Edges,
            Why::Chains => WhyApart::Chains,
            Why::Halves => WhyApart::Halves,
            Why::Fused => WhyApart::Fused,
            Why::Stacked => WhyApart::Stacked,
            Why::Room => WhyApart::Room,
        }
    }

    /// Returns the reason why a launch is in no batch.
    fn why_never(&self, statement: StatementId, kernel: &NamedKernel) -> WhyApart {
        if let Some(slower) = self.graph.decided.slower.get(&statement) {
            return WhyApart::Slower(slower.to_string());
        }
        if !self.allowed(statement).batches {
            return WhyApart::NotAllowed;
        }
        match self.left_alone(kernel, Change::Batching) {
            Some(left) => WhyApart::Kernel(left.reason_alone().to_owned()),
            None => WhyApart::Setter,
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
    fn unfused(&self, pair: &Pair) -> Option<Unfused> {
        let &Pair { first, second, why } = pair;
        let (one, other) = (self.launch(first)?, self.launch(second)?);
        let reason = match why {
            // A kernel cannot span two devices, so this needs no entry.
            Obstacle::Devices => return None,
            Obstacle::Grids => WhyUnfused::Grids(one.grid, other.grid),
            Obstacle::Blocks => WhyUnfused::Blocks(one.block, other.block),
            Obstacle::Between(at) => {
                let kind = match &self.graph.program.statements[at].kind {
                    Kind::Host(_) => "host statement",
                    kind => kind.name(),
                };
                WhyUnfused::Between { at: self.at(at), kind }
            }
            Obstacle::Before(at) => WhyUnfused::Before(self.at(at)),
            Obstacle::Behind(at) => WhyUnfused::Behind(self.at(at)),
            Obstacle::Set(at) => WhyUnfused::Setter(self.at(at)),
            Obstacle::Never(_) => self.why_never_fused([first, second]),
            Obstacle::Starts => WhyUnfused::Starts,
            Obstacle::Access { of, buffer, fault } => self.fault(of, second, buffer, fault),
            Obstacle::Batched(at) => WhyUnfused::Batched(self.at(at)),
            Obstacle::Crowd(at) => WhyUnfused::Crowd(self.at(at)),
            Obstacle::Most => WhyUnfused::Most(self.graph.decided.wishes.tuning.fused),
            Obstacle::Room => match self.graph.operations.cut? {
                Cut::Pages { whole, most } => WhyUnfused::Memory { whole, most },
                Cut::Budget => WhyUnfused::Budget,
            },
        };
        Some(Unfused { first: self.at(first), second: self.at(second), reason, times: 1 })
    }

    /// Returns the reason why one of two launches is in no chain.
    fn why_never_fused(&self, pair: [StatementId; 2]) -> WhyUnfused {
        if let Some(slower) = pair.iter().find_map(|statement| self.graph.decided.slower_fused.get(statement))
        {
            return WhyUnfused::Slower(slower.clone());
        }
        if !pair.iter().all(|&statement| self.allowed(statement).fuse) {
            return WhyUnfused::NotAllowed;
        }
        let left = |&statement: &StatementId| {
            let left = self.left_alone(&self.kernel(statement)?, Change::Fusing)?;
            Some(WhyUnfused::Kernel { at: self.at(statement), reason: left.reason_alone().to_owned() })
        };
        // Only launches that a buffer orders are considered, and `left_alone` lists their kernels if these cannot
        // be fused. So otherwise, state outside of buffers orders the two.
        pair.iter().find_map(left).unwrap_or(WhyUnfused::State)
    }

    /// Returns the part of the proof that fails for a buffer of two launches.
    fn fault(&self, of: StatementId, second: StatementId, buffer: BufferId, fault: Fault) -> WhyUnfused {
        let at = *at_buffer(self.graph.program, buffer);
        match fault {
            Fault::Set(launch) => WhyUnfused::Range { buffer: at, launch: self.at(launch) },
            Fault::Unknown(launch) => {
                let reason = self.unknown(launch, buffer).unwrap_or_default();
                WhyUnfused::Unknown { buffer: at, launch: self.at(launch), reason }
            }
            Fault::Shared { writes } => {
                let other = if writes == of { second } else { of };
                WhyUnfused::Shared { buffer: at, writes: self.at(writes), other: self.at(other) }
            }
        }
    }

    /// Returns the reason why the bytes of a buffer that one block of a launch accesses are unknown.
    fn unknown(&self, launch: StatementId, buffer: BufferId) -> Option<String> {
        let Fusing::With(footings) = &self.launch(launch)?.fuse else { return None };
        let accesses = self.graph.program.statements[launch].accesses.iter().zip(footings.iter());
        let mut own = accesses.filter(|(access, _)| access.buffer == buffer);
        own.find_map(|(_, footing)| footing.writes.unknown().or(footing.reads.unknown()))
            .map(ToString::to_string)
    }

    fn full_edges(&self) -> Vec<FullEdge> {
        let list = &self.graph.operations.list;
        let mut dependents: Vector<OperationId, usize> = Vector::filled(0, list.len());
        for operation in list.iter().filter(|operation| !operation.what.is_memory()) {
            operation.after.iter().for_each(|&before| dependents[before] += 1);
        }
        let run = |operation: &Operation| Run::of(operation.sources.iter().map(|&id| self.launch(id)));
        let is_kernel = |operation: &Operation| operation.what == What::KERNEL && run(operation).is_some();
        let mut edges = Vec::new();
        for operation in list.iter().filter(|operation| is_kernel(operation)) {
            if operation.programmatic.is_some() || !run(operation).is_some_and(|run| run.waits) {
                continue;
            }
            let before = || operation.after.iter().copied().filter(|&before| !list[before].what.is_memory());
            let count = before().count();
            for first in before().filter(|&before| is_kernel(&list[before])) {
                let reason = match (dependents[first], count) {
                    _ if list[first].device != operation.device => WhyFull::Devices,
                    (2.., _) => WhyFull::Dependents(dependents[first]),
                    (_, 2..) => WhyFull::Dependencies(count),
                    _ => WhyFull::Beside,
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
fn repeated(list: impl Iterator<Item = At>) -> Vec<Repeated> {
    let mut runs: Vec<Repeated> = Vec::new();
    for at in list {
        match runs.last_mut() {
            Some(last) if last.at == at => last.times += 1,
            _ => runs.push(Repeated { at, times: 1 }),
        }
    }
    runs
}

/// Merges equal entries, in the order of their first occurrences.
fn counted<T: fmt::Display>(list: impl Iterator<Item = T>, times: fn(&mut T) -> &mut usize) -> Vec<T> {
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
