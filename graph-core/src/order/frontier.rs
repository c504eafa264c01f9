//! Infers the edges that conflicting accesses need.
//!
//! For each buffer it keeps the accesses that a later access may have to follow (the frontier). A write removes the
//! accesses that it covers.

use crate::bounds::RangeBounds;
use crate::index::{Vector, narrow, size};
use crate::ir::{Access, BufferId, Lifetime, Mode, Program, StatementId};
use crate::spans::{FEW, Spans};

use super::functions::Functions;

/// Infers the order: read after write, write after read, write after write, alloc before use, use before free.
/// Calls `edge` for each pair.
///
/// A write removes the frontier accesses that it covers, and trims those that it covers at one end. A later access
/// that overlaps a removed part also overlaps the write, and follows it.
/// O(accesses × (overlapping frontier + log frontier)) if bounds are numbers, else O(accesses × frontier).
pub(super) fn infer(
    program: &Program,
    bounds: &RangeBounds,
    edge: &mut dyn FnMut(StatementId, StatementId, BufferId),
) {
    let mut frontiers: Vector<BufferId, Frontier> =
        program.buffers.iter().map(|_| Frontier::default()).collect();
    let mut users: Vector<BufferId, Vec<StatementId>> = Vector::filled(Vec::new(), program.buffers.len());
    let mut allocs: Vector<BufferId, Option<StatementId>> = Vector::filled(None, program.buffers.len());
    for (id, statement) in program.statements.enumerate() {
        match statement.kind.lifetime() {
            Some(Lifetime::Begins(&buffer)) => allocs[buffer] = Some(id),
            Some(Lifetime::Ends(&buffer)) => {
                users[buffer].drain(..).for_each(|user| edge(user, id, buffer));
            }
            None => {}
        }
        for access in statement.accesses.iter() {
            if let Some(alloc) = allocs[access.buffer] {
                edge(alloc, id, access.buffer);
            }
            users[access.buffer].push(id);
            frontiers[access.buffer].step(id, access, bounds, edge);
        }
    }
}

/// Like [`infer`], but only between statements whose mutual order is inferred. O(accesses²) for each buffer.
pub(super) fn infer_between(
    program: &Program,
    functions: &Functions,
    bounds: &RangeBounds,
    edge: &mut dyn FnMut(StatementId, StatementId, BufferId),
) {
    let mut earlier: Vector<BufferId, Vec<(StatementId, Option<Access>)>> =
        Vector::filled(Vec::new(), program.buffers.len());
    for (id, statement) in program.statements.enumerate() {
        let lifetime = statement.kind.lifetime().map(|lifetime| match lifetime {
            Lifetime::Begins(&buffer) | Lifetime::Ends(&buffer) => (buffer, None),
        });
        let accesses = statement.accesses.iter().map(|access| (access.buffer, Some(*access)));
        for (buffer, access) in accesses.chain(lifetime) {
            for &(from, other) in &earlier[buffer] {
                let conflict = match (&other, &access) {
                    (Some(other), Some(access)) => {
                        other.mode.conflicts(access.mode) && !bounds.disjoint(other, access)
                    }
                    // The begin or the end of its lifetime.
                    _ => true,
                };
                if from != id && conflict && !functions.is_explicit(program, from, id) {
                    edge(from, id, buffer);
                }
            }
            earlier[buffer].push((id, access));
        }
    }
}

/// Accesses of one buffer that a later access may have to follow.
#[derive(Default)]
struct Frontier {
    writes: Accesses,
    reads: Accesses,
    atomics: Accesses,
}

impl Frontier {
    fn step(
        &mut self,
        id: StatementId,
        access: &Access,
        bounds: &RangeBounds,
        edge: &mut dyn FnMut(StatementId, StatementId, BufferId),
    ) {
        let (follows_reads, follows_atomics) = (access.mode != Mode::Read, access.mode != Mode::Atomic);
        let lists = [
            (&mut self.writes, true),
            (&mut self.reads, follows_reads),
            (&mut self.atomics, follows_atomics),
        ];
        for (list, _) in lists.into_iter().filter(|(_, follows)| *follows) {
            list.retain_overlapping(access, bounds, &mut |from, other| {
                if from == id {
                    return true;
                }
                edge(from, id, access.buffer);
                !(matches!(access.mode, Mode::ReadWrite | Mode::Write) && superseded(other, access, bounds))
            });
        }
        let list = match access.mode {
            Mode::Read => &mut self.reads,
            Mode::Atomic => &mut self.atomics,
            Mode::ReadWrite | Mode::Write => &mut self.writes,
        };
        list.push(id, *access, bounds);
    }
}

/// Returns true if a write covers an earlier access that it overlaps. If the write covers only one end, trims the
/// access. A pitched write covers nothing: a later access may touch only what lies between its rows. A pitched
/// access is not trimmed, since its rows are counted from its start.
fn superseded(earlier: &mut Access, write: &Access, bounds: &RangeBounds) -> bool {
    if write.rows.is_some() {
        return false;
    }
    let front = bounds.at_most(write.lo, earlier.lo);
    let back = bounds.at_most(earlier.hi, write.hi);
    if front && back {
        return true;
    }
    if earlier.rows.is_some() {
        return false;
    }
    if front && bounds.at_most(earlier.lo, write.hi) && bounds.at_most(write.hi, earlier.hi) {
        earlier.lo = write.hi;
    } else if back && bounds.at_most(write.lo, earlier.hi) && bounds.at_most(earlier.lo, write.lo) {
        earlier.hi = write.lo;
    }
    false
}

/// Accesses in program order.
#[derive(Default)]
struct Accesses {
    /// `None` for removed accesses.
    list: Vec<Option<(StatementId, Access)>>,
    removed: usize,
    /// An index of the ranges, once there are many accesses.
    spans: Option<Spans>,
}

impl Accesses {
    fn push(&mut self, id: StatementId, access: Access, bounds: &RangeBounds) {
        if let Some(spans) = &mut self.spans {
            spans.add(narrow(self.list.len()), bounds.span(access.lo, access.hi));
        }
        self.list.push(Some((id, access)));
        if self.spans.is_none() && self.list.len() > FEW {
            self.index(bounds);
        }
    }

    fn index(&mut self, bounds: &RangeBounds) {
        let mut spans = Spans::default();
        for (slot, (_, access)) in (0..).zip(self.list.iter().flatten()) {
            spans.add(slot, bounds.span(access.lo, access.hi));
        }
        self.spans = Some(spans);
    }

    /// Calls `keep` in program order for each access that is not proved disjoint from `access`. Removes the
    /// accesses for which it returns false.
    fn retain_overlapping(
        &mut self,
        access: &Access,
        bounds: &RangeBounds,
        keep: &mut dyn FnMut(StatementId, &mut Access) -> bool,
    ) {
        match (&self.spans, bounds.span(access.lo, access.hi)) {
            (Some(spans), Some(span)) => {
                for slot in spans.near(span) {
                    self.visit(size(slot), access, bounds, keep);
                }
            }
            _ => {
                for slot in 0..self.list.len() {
                    self.visit(slot, access, bounds, keep);
                }
            }
        }
        if self.removed > 0 && (self.spans.is_none() || 2 * self.removed > self.list.len()) {
            self.list.retain(Option::is_some);
            self.removed = 0;
            if self.spans.take().is_some() && self.list.len() > FEW {
                self.index(bounds);
            }
        }
    }

    fn visit(
        &mut self,
        slot: usize,
        access: &Access,
        bounds: &RangeBounds,
        keep: &mut dyn FnMut(StatementId, &mut Access) -> bool,
    ) {
        let Some((from, other)) = &mut self.list[slot] else { return };
        if bounds.disjoint(other, access) {
            return;
        }
        let before = (other.lo, other.hi);
        let kept = keep(*from, other);
        let after = (other.lo, other.hi);
        if let Some(spans) = self.spans.as_mut().filter(|_| !kept || before != after) {
            spans.remove(narrow(slot), bounds.span(before.0, before.1));
            if kept {
                spans.add(narrow(slot), bounds.span(after.0, after.1));
            }
        }
        if !kept {
            self.list[slot] = None;
            self.removed += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::Index;
    use crate::ir::DimId;
    use cuweave_ptx::poly::{Facts, Poly};
    use proptest::prelude::*;

    /// A bound: a constant, or a constant offset from a variable.
    fn bound() -> impl Strategy<Value = (i64, bool)> {
        (0..400i64, proptest::bool::weighted(0.05))
    }

    fn mode() -> impl Strategy<Value = Mode> {
        prop_oneof![Just(Mode::Read), Just(Mode::ReadWrite), Just(Mode::Write), Just(Mode::Atomic)]
    }

    /// Returns the edges by comparing each access with every earlier one.
    fn plain(accesses: &[Access], bounds: &RangeBounds) -> Vec<(StatementId, StatementId)> {
        let mut earlier: Vec<(StatementId, Access)> = Vec::new();
        let mut edges = Vec::new();
        for (id, access) in (0..).map(StatementId::from_u32).zip(accesses) {
            for list in [[Mode::Write, Mode::ReadWrite], [Mode::Read; 2], [Mode::Atomic; 2]] {
                earlier.retain_mut(|(from, other)| {
                    let follows = list.contains(&other.mode) && other.mode.conflicts(access.mode);
                    if !follows || bounds.disjoint(other, access) {
                        return true;
                    }
                    edges.push((*from, id));
                    let write = matches!(access.mode, Mode::ReadWrite | Mode::Write);
                    !(write && superseded(other, access, bounds))
                });
            }
            earlier.push((id, *access));
        }
        edges
    }

    proptest! {
        /// The edges equal those of [`plain`], in the same order.
        #[test]
        fn the_index_leaves_nothing_out(
            ranges in proptest::collection::vec((mode(), bound(), 0..30i64, any::<bool>()), 0..300),
        ) {
            let mut polys: Vector<DimId, Poly> = Vector::new();
            let buffer = BufferId::new(0);
            let accesses: Vec<Access> = ranges
                .into_iter()
                .map(|(mode, (lo, symbolic), len, long)| {
                    let base = if symbolic { Poly::variable(0) } else { Poly::constant(0) };
                    let hi = if long { lo + len * len } else { lo + len / 8 };
                    let mut dim = |at: i64| polys.push(base.plus(&Poly::constant(at.into())).unwrap());
                    Access { buffer, mode, lo: dim(lo), hi: dim(hi), relied_on: false, rows: None }
                })
                .collect();
            let bounds = RangeBounds::new(polys, Facts::default());
            let mut frontier = Frontier::default();
            let mut edges = Vec::new();
            for (id, access) in (0..).map(StatementId::from_u32).zip(&accesses) {
                frontier.step(id, access, &bounds, &mut |from, to, _| edges.push((from, to)));
            }
            prop_assert_eq!(edges, plain(&accesses, &bounds));
        }
    }
}
