//! Emits the operations of a program: nodes, dependencies, memory nodes and hubs. Stage 5 of the compiler.
//!
//! Input: the live ranges, the layout of the memory and the merged launches. Output: [`Operations`], in topological
//! order.
//!
//! Invariants:
//! - a path of operations connects two kernels, copies or fills iff the order does: memory nodes and hubs add none;
//! - an alloc precedes, and a free follows, every user of its memory;
//! - the list is in topological order; the dependencies of an operation are sorted and unique;
//! - equal inputs give equal lists.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use crate::index::{Vector, size};
use crate::ir::{Device, Program, StatementId};
use crate::launches::{Batch, Tuning, by_member};
use crate::layout::Layout;
use crate::operation::{
    AccessTargets, BufferPlacement, MemoryBlock, MemoryId, Operation, OperationId, OperationKind, Operations,
};
use crate::place::{LiveRange, Liveness};
use crate::reach::Cycle;
use crate::scopes::Scopes;

/// Returns the operations of a program. `nodes` are the launches merged into one node, each list ascending.
/// `emptied_fills` are fills that a size of 0 disables.
///
/// # Errors
///
/// A cycle of operations. The path lists the statements of operations that wait for each other.
pub fn emit(
    program: &Program,
    placed: &Liveness,
    layout: Layout,
    nodes: &[Batch],
    edges_before_reduction: usize,
    tuning: &Tuning,
    emptied_fills: &BTreeSet<StatementId>,
) -> Result<Operations, Cycle> {
    let mut draft = UnsortedOperations { scopes: Scopes::new(program), ..UnsortedOperations::default() };
    draft.statements(program, placed, nodes);
    let depth = depth(program, placed);
    draft.hubs(tuning);
    draft.memories(program, placed, &layout);
    let mut list = draft.sorted()?;
    order_around_disabled(&mut list, program, emptied_fills);
    let mut operations = Operations {
        list,
        operation_of: Vector::new(),
        memories: layout.memories,
        places: layout.places,
        at_least: layout.at_least,
        bounds: layout.bounds,
        budget: None,
        edges_before_reduction,
        depth,
        targets: AccessTargets::default(),
        batches: Vector::new(),
        chains: Vector::new(),
        elided: BTreeSet::new(),
        cut: None,
        serialized: 0,
        narrowed: Vec::new(),
        overlapped: 0,
    };
    operations.index(program.statements.len());
    Ok(operations)
}

/// Adds edges around each operation that is switchable or that a size of 0 disables, from its predecessors to its
/// successors: a disabled memset node orders nothing (benches/results/h200-2026-11-28/README.md).
fn order_around_disabled(
    list: &mut Vector<OperationId, Operation>,
    program: &Program,
    emptied_fills: &BTreeSet<StatementId>,
) {
    let may_be_disabled = |id: &StatementId| program.statements[*id].switchable || emptied_fills.contains(id);
    if !program.statements.ids().any(|id| may_be_disabled(&id)) {
        return;
    }
    for at in list.ids() {
        let mut after = list[at].after.clone();
        for &before in &list[at].after {
            if list[before].sources.iter().any(may_be_disabled) {
                after.extend_from_slice(&list[before].after);
            }
        }
        after.sort_unstable();
        after.dedup();
        list[at].after = after;
    }
}

/// Returns the length of the longest path of kernels, copies and fills.
fn depth(program: &Program, placed: &Liveness) -> usize {
    if program.statements.iter().all(|statement| statement.kind.is_memory()) {
        return 0;
    }
    size(placed.reach.depth())
}

/// The operations before the topological sort.
#[derive(Default)]
struct UnsortedOperations {
    list: Vector<OperationId, Operation>,
    keys: Vector<OperationId, Priority>,
    /// The operation of each statement. `NONE` for memory statements.
    operation_of: Vector<StatementId, OperationId>,
    /// The conditional bodies.
    scopes: Scopes,
}

/// The priority of an operation. Among the ready operations, the one with the least key is next.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Priority {
    /// The position of the statement in the order.
    position: u32,
    phase: Phase,
}

/// When an operation is emitted relative to a statement: frees after a statement precede allocs before the next
/// one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    AtStatement,
    AfterStatement,
    BeforeNext,
}

impl UnsortedOperations {
    /// Returns the first condition of the outermost conditional around a statement, or the statement itself if
    /// there is none.
    fn before(&self, id: StatementId) -> StatementId {
        self.scopes.outermost(id).map_or(id, |(condition, _)| condition)
    }

    /// Returns the last join of the outermost conditional around a statement, or the statement itself if there is
    /// none.
    fn behind(&self, id: StatementId) -> StatementId {
        self.scopes.outermost(id).map_or(id, |(_, join)| join)
    }

    fn push(&mut self, operation: Operation, position: u32, phase: Phase) -> OperationId {
        self.list.push(operation);
        self.keys.push(Priority { position, phase })
    }

    fn statements(&mut self, program: &Program, placed: &Liveness, batches: &[Batch]) {
        let batch_of = by_member(batches);
        self.operation_of = Vector::filled(OperationId::NONE, program.statements.len());
        for (id, statement) in program.statements.enumerate() {
            let Some(kind) = statement.kind.node_kind() else { continue };
            let sources = batch_of.get(&id).map_or(vec![id], |batch| batch.members.clone());
            if sources[0] != id {
                let first = self.operation_of[sources[0]];
                self.operation_of[id] = first;
                continue;
            }
            let name = match sources.len() {
                1 => statement.name.clone(),
                count => format!("{} and {} more", statement.name, count - 1).into(),
            };
            let position = placed.reach.positions()[id].as_u32();
            let at = self.push(
                Operation {
                    kind: OperationKind::Statement(kind),
                    after: Vec::new(),
                    programmatic: None,
                    launch_order: false,
                    sources,
                    name,
                    device: statement.device,
                },
                position,
                Phase::AtStatement,
            );
            self.operation_of[id] = at;
        }
        for operation in &mut self.list {
            // All members of a batch or of a chain have the same predecessors.
            let before = placed.reach.reduced()[operation.sources[0]].iter();
            operation.after = before.map(|&pred| self.operation_of[pred]).collect();
            operation.after.sort_unstable();
            operation.after.dedup();
        }
    }

    /// Adds a hub where several operations depend on the same set of operations, if that saves enough edges.
    fn hubs(&mut self, tuning: &Tuning) {
        let mut joins: BTreeMap<Vec<OperationId>, Vec<OperationId>> = BTreeMap::new();
        for (at, operation) in self.list.enumerate() {
            if operation.after.len() > 1 {
                joins.entry(operation.after.clone()).or_default().push(at);
            }
        }
        for (from, to) in joins {
            if !tuning.gains_by_hub(from.len(), to.len()) {
                continue;
            }
            let position = from.iter().map(|&at| self.keys[at].position).max().unwrap_or(0);
            let device = self.list[from[0]].device;
            let hub = Operation {
                kind: OperationKind::Hub,
                after: from,
                programmatic: None,
                launch_order: false,
                sources: Vec::new(),
                name: "hub".into(),
                device,
            };
            let hub = self.push(hub, position, Phase::AfterStatement);
            for at in to {
                self.list[at].after = vec![hub];
            }
        }
    }

    fn memories(&mut self, program: &Program, placed: &Liveness, layout: &Layout) {
        let mut inside: Vector<MemoryId, Vec<&LiveRange>> = Vector::filled(Vec::new(), layout.memories.len());
        for (buffer, place) in layout.places.enumerate() {
            if let (BufferPlacement::Inside { memory, .. }, Some(range)) =
                (place, &placed.live_ranges[buffer])
            {
                inside[*memory].push(range);
            }
        }
        let mut allocs: Vector<MemoryId, Option<OperationId>> = Vector::filled(None, layout.memories.len());
        let mut frees: Vector<MemoryId, Option<OperationId>> = Vector::filled(None, layout.memories.len());
        for (memory, block) in layout.memories.enumerate().filter(|(_, block)| block.node) {
            let ranges = &inside[memory];
            allocs[memory] = Some(self.alloc(memory, block, ranges, placed));
            if ranges.iter().all(|range| range.freed) {
                let name = format!("free {}", block.name);
                frees[memory] =
                    Some(self.free(OperationKind::Free { memory }, name, block.device, ranges, placed));
            }
        }
        for (memory, alloc) in allocs.enumerate() {
            let earlier = |list: &Vector<MemoryId, Vec<MemoryId>>| -> Vec<OperationId> {
                list.get(memory).into_iter().flatten().filter_map(|&other| frees[other]).collect()
            };
            if let Some(alloc) = alloc {
                self.list[*alloc].after.extend(earlier(&layout.alloc_after));
            }
            if let Some(free) = frees[memory] {
                self.list[free].after.extend(earlier(&layout.free_after));
            }
        }
        for (buffer, range) in placed.live_ranges.enumerate() {
            if let Some(range) = range.as_ref().filter(|range| !range.allocated && range.freed) {
                // Only memory of the first device can be taken over.
                let name = format!("free {}", program.buffers[buffer].name);
                self.free(OperationKind::FreeTaken { buffer }, name, Device::FIRST, &[range], placed);
            }
        }
    }

    fn alloc(
        &mut self,
        memory: MemoryId,
        block: &MemoryBlock,
        ranges: &[&LiveRange],
        placed: &Liveness,
    ) -> OperationId {
        // Memory nodes are not allowed in conditional bodies.
        let first: Vec<StatementId> =
            ranges.iter().flat_map(|range| range.first.iter()).map(|&id| self.before(id)).collect();
        let first = placed.reach.minimal(&first);
        let before: Vec<StatementId> =
            ranges.iter().flat_map(|range| range.alloc_after.iter().copied()).collect();
        // If an alloc is in a body, its predecessors inside that body are predecessors of its users too.
        let before: Vec<StatementId> = before
            .into_iter()
            .filter(|&id| self.scopes.around(id).is_none())
            .map(|id| self.behind(id))
            // A predecessor that follows a user of the memory would close a cycle. The users of this buffer follow
            // it anyway.
            .filter(|&id| !first.iter().any(|&user| user == id || placed.reach.precedes(user, id)))
            .collect();
        let after = placed.reach.maximal(&before).iter().map(|&id| self.operation_of[id]).collect();
        let position = first.iter().map(|&id| placed.reach.positions()[id].as_u32()).min().unwrap_or(0);
        let operation = Operation {
            kind: OperationKind::Alloc { memory },
            after,
            programmatic: None,
            launch_order: false,
            sources: Vec::new(),
            name: format!("alloc {}", block.name).into(),
            device: block.device,
        };
        let at = match position.checked_sub(1) {
            Some(before) => self.push(operation, before, Phase::BeforeNext),
            None => self.push(operation, 0, Phase::AtStatement),
        };
        for id in first {
            let user = self.operation_of[id];
            self.list[user].after.push(at);
        }
        at
    }

    fn free(
        &mut self,
        kind: OperationKind,
        name: String,
        device: Device,
        ranges: &[&LiveRange],
        placed: &Liveness,
    ) -> OperationId {
        let last: Vec<StatementId> =
            ranges.iter().flat_map(|range| range.ends.iter()).map(|&id| self.behind(id)).collect();
        let last = placed.reach.maximal(&last);
        let position = last.iter().map(|&id| placed.reach.positions()[id].as_u32()).max().unwrap_or(0);
        let after = last.iter().map(|&id| self.operation_of[id]).collect();
        self.push(
            Operation {
                kind,
                after,
                programmatic: None,
                launch_order: false,
                sources: Vec::new(),
                name: name.into(),
                device,
            },
            position,
            Phase::AfterStatement,
        )
    }

    /// Sorts the operations topologically, least key first.
    fn sorted(self) -> Result<Vector<OperationId, Operation>, Cycle> {
        let n = self.list.len();
        let mut waits: Vector<OperationId, usize> = Vector::with_capacity(n);
        let mut followers: Vector<OperationId, Vec<OperationId>> = Vector::filled(Vec::new(), n);
        let mut list = self.list;
        for (at, operation) in list.enumerate_mut() {
            operation.after.sort_unstable();
            operation.after.dedup();
            waits.push(operation.after.len());
            for &before in &operation.after {
                followers[before].push(at);
            }
        }
        let ready = |at: OperationId| Reverse((self.keys[at], at));
        let mut heap: BinaryHeap<_> = waits.ids().filter(|&at| waits[at] == 0).map(ready).collect();
        let mut new_id = Vector::filled(OperationId::NONE, n);
        let mut order: Vector<OperationId, OperationId> = Vector::with_capacity(n);
        while let Some(Reverse((_, at))) = heap.pop() {
            new_id[at] = order.push(at);
            for &follower in &followers[at] {
                waits[follower] -= 1;
                if waits[follower] == 0 {
                    heap.push(ready(follower));
                }
            }
        }
        if order.len() < n {
            let left = waits.ids().filter(|&at| waits[at] > 0).flat_map(|at| list[at].sources.clone());
            return Err(Cycle { path: left.collect() });
        }
        let mut slots: Vector<OperationId, Option<Operation>> = list.into_iter().map(Some).collect();
        let sorted = order
            .into_iter()
            .filter_map(|at| slots[at].take())
            .map(|mut operation| {
                for before in operation.after.iter_mut().chain(&mut operation.programmatic) {
                    *before = new_id[*before];
                }
                operation.after.sort_unstable();
                operation
            })
            .collect();
        Ok(sorted)
    }
}
