//! The reason for each edge: the buffers whose accesses order its two operations, or another cause.

use std::collections::BTreeSet;

use cuweave_core::index::Vector;
use cuweave_core::ir::{BufferId, DimId, Mode, Program, StatementId, StatementKind};
use cuweave_core::operation::{BufferPlacement, Operation, OperationId, OperationKind, Operations};
use cuweave_core::scopes::{ScopeId, Scopes};

/// A reason why one operation comes after another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum EdgeReason {
    /// Both access these buffers, and at least one of them writes.
    Buffers(Vec<BufferId>),
    /// A budget orders them.
    Budget,
    /// An `#[after]`, or kernels that share state outside of buffers.
    After,
    /// One of them synchronizes with work outside of the graph.
    ExternalOrder,
    /// One operation is in the body that the other begins or ends.
    Body,
    /// They are launches of one lane.
    Lane,
    /// The memory is allocated before its use and freed after it.
    Memory,
}

/// The range of a buffer that an operation accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BufferAccess {
    pub buffer: BufferId,
    lo: u64,
    hi: u64,
    pub writes: bool,
    atomic: bool,
}

/// The accesses of an operation, sorted.
type BufferAccesses = Vec<BufferAccess>;

/// The accesses on both sides of each edge, which explain it.
pub(super) struct Reasons<'g> {
    program: &'g Program,
    operations: &'g Operations,
    scopes: &'g Scopes,
    uses: Vector<OperationId, BufferAccesses>,
    /// For hubs: the accesses of the operations before them, and of the operations after them.
    before_hub: Vector<OperationId, BufferAccesses>,
    after_hub: Vector<OperationId, BufferAccesses>,
    budget: BTreeSet<(StatementId, StatementId)>,
}

impl<'g> Reasons<'g> {
    /// O(accesses + edges at hubs × their accesses).
    pub fn new(
        program: &'g Program,
        operations: &'g Operations,
        dims: &Vector<DimId, u64>,
        scopes: &'g Scopes,
    ) -> Reasons<'g> {
        let one = |operation: &Operation| {
            let mut uses: BufferAccesses =
                operation.sources.iter().flat_map(|&id| of_statement(program, dims, id)).collect();
            uses.sort_unstable();
            uses.dedup();
            uses
        };
        let uses: Vector<OperationId, BufferAccesses> = operations.list.iter().map(one).collect();
        let mut before_hub: Vector<OperationId, BufferAccesses> = Vector::filled(Vec::new(), uses.len());
        let mut after_hub = before_hub.clone();
        let is_hub = |at: OperationId| operations.list[at].kind == OperationKind::Hub;
        for (at, operation) in operations.list.enumerate() {
            if is_hub(at) {
                let of = |&one: &OperationId| {
                    if is_hub(one) { before_hub[one].clone() } else { uses[one].clone() }
                };
                before_hub[at] = sorted(operation.after.iter().flat_map(of).collect());
            }
        }
        for (at, operation) in operations.list.enumerate().rev() {
            if is_hub(at) {
                after_hub[at] = sorted(std::mem::take(&mut after_hub[at]));
            }
            for &hub in operation.after.iter().filter(|&&one| is_hub(one)) {
                let own = if is_hub(at) { after_hub[at].clone() } else { uses[at].clone() };
                after_hub[hub].extend(own);
            }
        }
        let edges = operations.budget.iter().flat_map(|budget| budget.edges.iter().copied());
        let budget = edges.map(|(from, to)| scopes.lifted(from, to)).collect();
        Reasons { program, operations, scopes, uses, before_hub, after_hub, budget }
    }

    /// Returns the accesses of an operation, sorted by buffer. A condition includes the accesses of its bodies.
    pub fn uses(&self, at: OperationId) -> &[BufferAccess] {
        &self.uses[at]
    }

    /// Returns the reason for an edge.
    pub fn why(&self, from: OperationId, to: OperationId) -> EdgeReason {
        let [one, other] = [from, to].map(|at| &self.operations.list[at]);
        if let Some(buffers) = self.memory_node_buffers(from, to) {
            return if buffers.is_empty() { EdgeReason::Memory } else { EdgeReason::Buffers(buffers) };
        }
        if self.touches_body_border(one, other) {
            return EdgeReason::Body;
        }
        let (left, right) = (self.side(from, &self.before_hub), self.side(to, &self.after_hub));
        let shared = conflicts(left, right, true);
        if !shared.is_empty() {
            return EdgeReason::Buffers(shared);
        }
        let pairs = || one.sources.iter().flat_map(|&a| other.sources.iter().map(move |&b| (a, b)));
        if !self.budget.is_empty() && pairs().any(|pair| self.budget.contains(&pair)) {
            return EdgeReason::Budget;
        }
        let after = |&id: &StatementId| {
            self.program.statements[id].after.iter().any(|before| one.sources.binary_search(before).is_ok())
        };
        if other.sources.iter().any(after) {
            return EdgeReason::After;
        }
        let meets = |operation: &Operation| {
            operation.sources.iter().any(|&id| self.program.statements[id].kind.fence().is_some())
        };
        if meets(one) || meets(other) {
            return EdgeReason::ExternalOrder;
        }
        // Two ranges may be disjoint only for the current values of the setters' scalars.
        let shared = conflicts(left, right, false);
        match (shared.is_empty(), one.kind == OperationKind::Hub || other.kind == OperationKind::Hub) {
            (false, _) => EdgeReason::Buffers(shared),
            (true, true) => EdgeReason::After,
            (true, false) if self.operations.serialized > 0 => EdgeReason::Lane,
            (true, false) => EdgeReason::After,
        }
    }

    /// Returns the accesses of an operation. For a hub, those on the side that `of_hubs` describes.
    fn side<'r>(
        &'r self,
        at: OperationId,
        of_hubs: &'r Vector<OperationId, BufferAccesses>,
    ) -> &'r BufferAccesses {
        if self.operations.list[at].kind == OperationKind::Hub { &of_hubs[at] } else { &self.uses[at] }
    }

    /// Returns the buffers of an edge from or to a memory node: those in that memory that the other operation
    /// accesses. `None` for other edges.
    fn memory_node_buffers(&self, from: OperationId, to: OperationId) -> Option<Vec<BufferId>> {
        let [one, other] = [from, to].map(|at| &self.operations.list[at]);
        let (what, user) = match (one.kind.is_memory(), other.kind.is_memory()) {
            (false, false) => return None,
            (true, true) => return Some(Vec::new()),
            (true, false) => (&one.kind, to),
            (false, true) => (&other.kind, from),
        };
        let inside = |buffer: BufferId| match (what, self.operations.places.get(buffer)) {
            (
                OperationKind::Alloc { memory } | OperationKind::Free { memory },
                Some(BufferPlacement::Inside { memory: own, .. }),
            ) => own == memory,
            (OperationKind::FreeTaken { buffer: taken }, _) => *taken == buffer,
            _ => false,
        };
        let mut buffers: Vec<BufferId> = self.uses[user].iter().map(|one| one.buffer).collect();
        buffers.dedup();
        buffers.retain(|&buffer| inside(buffer));
        Some(buffers)
    }

    /// Returns true if one operation is in a body that the other begins or ends, or if both are borders of
    /// the same conditional.
    fn touches_body_border(&self, one: &Operation, other: &Operation) -> bool {
        if self.scopes.is_empty() {
            return false;
        }
        let bordered = |operation: &Operation| {
            operation.sources.first().and_then(|&source| self.scopes.bordered(source))
        };
        let around = |operation: &Operation| self.operations.body_of(self.scopes, operation);
        let first = |scope: ScopeId| self.scopes.list[scope].first;
        match (bordered(one), bordered(other)) {
            (Some(a), Some(b)) if first(a) == first(b) => true,
            (Some(a), _) if around(other) == Some(a) => true,
            (_, Some(b)) => around(one) == Some(b),
            _ => false,
        }
    }
}

fn sorted(mut uses: BufferAccesses) -> BufferAccesses {
    uses.sort_unstable();
    uses.dedup();
    uses
}

fn of_statement<'p>(
    program: &'p Program,
    dims: &'p Vector<DimId, u64>,
    id: StatementId,
) -> impl Iterator<Item = BufferAccess> + 'p {
    let statement = &program.statements[id];
    // The first access of a condition is its operand, which the device only reads.
    let decides = matches!(statement.kind, StatementKind::Condition(_));
    statement.accesses.iter().enumerate().map(move |(at, access)| {
        let bound = |dim: DimId| dims.get(dim).copied();
        let writes = access.mode.writes() && !(decides && at == 0);
        BufferAccess {
            buffer: access.buffer,
            lo: bound(access.lo).unwrap_or(0),
            hi: bound(access.hi).unwrap_or(u64::MAX),
            writes,
            atomic: access.mode == Mode::Atomic,
        }
    })
}

/// Returns the buffers that have conflicting accesses in both lists, sorted. If `only_overlapping`, only overlapping
/// ranges conflict. O(uses).
fn conflicts(one: &[BufferAccess], other: &[BufferAccess], only_overlapping: bool) -> Vec<BufferId> {
    let mut found = Vec::new();
    let (mut a, mut b) = (one, other);
    while let (Some(first), Some(second)) = (a.first(), b.first()) {
        let buffer = first.buffer.max(second.buffer);
        let skipped = |list: &[BufferAccess]| list.partition_point(|one| one.buffer < buffer);
        (a, b) = (&a[skipped(a)..], &b[skipped(b)..]);
        let own = |list: &[BufferAccess]| list.partition_point(|one| one.buffer == buffer);
        let (left, right) = (own(a), own(b));
        if conflict(&a[..left], &b[..right], only_overlapping) {
            found.push(buffer);
        }
        (a, b) = (&a[left..], &b[right..]);
    }
    found
}

/// Returns true if two lists of accesses to one buffer conflict. Both are sorted by their first elements.
fn conflict(one: &[BufferAccess], other: &[BufferAccess], only_overlapping: bool) -> bool {
    // The furthest end so far on each side: of reads, of writes, of atomic updates.
    let mut ends = [[0_u64; 3]; 2];
    let class = |one: &BufferAccess| if one.atomic { 2 } else { usize::from(one.writes) };
    let (mut a, mut b) = (one.iter().peekable(), other.iter().peekable());
    loop {
        let left = match (a.peek(), b.peek()) {
            (None, None) => return false,
            (Some(left), Some(right)) => left.lo <= right.lo,
            (left, _) => left.is_some(),
        };
        let Some(next) = (if left { a.next() } else { b.next() }) else { return false };
        let (own, side) = (class(next), usize::from(left));
        let meets = |against: usize| {
            let commute = own == against && own != 1;
            !commute && ends[side][against] > if only_overlapping { next.lo } else { 0 }
        };
        if (0..3).any(meets) {
            return true;
        }
        let end = &mut ends[1 - side][own];
        *end = (*end).max(next.hi);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuweave_core::index::Index;

    fn part(buffer: usize, lo: u64, hi: u64, mode: Mode) -> BufferAccess {
        let buffer = BufferId::new(buffer);
        BufferAccess { buffer, lo, hi, writes: mode.writes(), atomic: mode == Mode::Atomic }
    }

    #[test]
    fn conflicts_are_those_of_the_modes_and_ranges() {
        use Mode::{Atomic, Read, Write};
        let one = [part(0, 0, 4, Read), part(1, 0, 8, Write), part(2, 0, 8, Atomic), part(3, 4, 8, Read)];
        let other = [part(0, 0, 8, Read), part(1, 8, 9, Read), part(2, 0, 8, Atomic), part(3, 0, 5, Write)];
        assert_eq!(conflicts(&one, &other, true), [BufferId::new(3)]);
        assert_eq!(conflicts(&one, &other, false), [BufferId::new(1), BufferId::new(3)]);
        assert_eq!(conflicts(&other, &one, true), [BufferId::new(3)]);
        assert!(conflicts(&one, &[], true).is_empty());
    }

    #[test]
    fn a_long_part_that_began_earlier_conflicts() {
        let writes: Vec<BufferAccess> = (0..50).map(|at| part(7, 2 * at, 2 * at + 1, Mode::Write)).collect();
        let gaps: Vec<BufferAccess> = (0..50).map(|at| part(7, 2 * at + 1, 2 * at + 2, Mode::Read)).collect();
        assert!(conflicts(&writes, &gaps, true).is_empty());
        let all = [part(7, 1, 99, Mode::Read)];
        assert_eq!(conflicts(&writes, &all, true), [BufferId::new(7)]);
        assert_eq!(conflicts(&all, &writes, true), [BufferId::new(7)]);
    }
}
