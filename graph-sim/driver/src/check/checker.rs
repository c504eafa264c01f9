//! The checker of a launch: compares the accesses of its actors byte by byte.
//!
//! Input: the starts, waits, ends and touched bytes of actors, in execution order. Output: reports of unordered
//! conflicts. The algorithm is in the head of `check`.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::explain::{ActorPosition, describe_pre_wait, why_unordered};
use super::order::LaunchOrder;
use super::past_actors::PastActors;
use super::points::Phase;
use super::users::{BufferUsers, report_overlaps};
use crate::base::report::Report;
use crate::base::status::Status;
use crate::interp::PreWait;
use crate::memory::{ATOMIC, LIFE, PRE_WAIT, READ, Touched, WRITTEN, access_word};
use crate::state::exec::ExecShape;

/// The accesses to a range of bytes, as actors.
#[derive(Clone)]
pub(super) struct AccessCell {
    pub end: u64,
    /// The actor that allocated the bytes, or that freed the previous allocation there.
    pub life: Option<usize>,
    /// The last actor since then that wrote them other than by atomics.
    pub writer: Option<usize>,
    /// The actors that updated the bytes by atomics since the last write.
    pub atomics: Vec<usize>,
    /// The actors that read the bytes since the last write.
    pub readers: Vec<usize>,
    /// True if the live range of a planned buffer began since the last write.
    pub fresh: bool,
}

impl AccessCell {
    fn untouched(end: u64) -> AccessCell {
        AccessCell { end, life: None, writer: None, atomics: Vec::new(), readers: Vec::new(), fresh: false }
    }

    /// Records an access to bytes that were touched before.
    fn mark(&mut self, node: usize, flags: u8) {
        match flags {
            READ if self.readers.contains(&node) => {}
            READ => self.readers.push(node),
            LIFE => *self = AccessCell { life: Some(node), ..AccessCell::untouched(self.end) },
            ATOMIC => {
                if !self.atomics.contains(&node) {
                    self.atomics.push(node);
                }
                self.fresh = false;
            }
            _ => {
                self.writer = Some(node);
                self.atomics.clear();
                self.readers.clear();
                self.fresh = false;
            }
        }
    }

    /// Returns the cell of bytes that are touched for the first time.
    fn first(end: u64, node: usize, flags: u8) -> AccessCell {
        let mut cell = AccessCell::untouched(end);
        match flags {
            READ => cell.readers.push(node),
            ATOMIC => cell.atomics.push(node),
            LIFE => cell.life = Some(node),
            _ => cell.writer = Some(node),
        }
        cell
    }
}

#[derive(Clone, Copy)]
struct Accessor {
    actor: usize,
    flags: u8,
}

/// The checks of one launch.
pub struct Checker<'a> {
    pub(super) shape: &'a ExecShape,
    pub(super) names: &'a dyn Fn(usize) -> String,
    pub(super) order: LaunchOrder<'a>,
    /// The instructions of each kernel that touched memory before its wait.
    pub(super) pre_wait: BTreeMap<usize, Vec<PreWait>>,
    pub(super) cells: BTreeMap<u64, AccessCell>,
    /// The pairs reported so far. Each pair is reported once.
    pub(super) reported: BTreeSet<(usize, usize)>,
    pub(super) users: &'a BufferUsers<'a>,
    /// For each buffer, true if its live range has begun.
    pub(super) begun: Vec<bool>,
    /// The allocations that hold planned buffers.
    pub(super) arenas: Vec<Range<u64>>,
    /// The actors of earlier loop iterations.
    pub(super) past: PastActors,
    pub reports: Vec<Report>,
}

impl<'a> Checker<'a> {
    /// Returns the checker of a launch. `arenas` are the allocations that hold planned buffers.
    pub fn new(users: &'a BufferUsers, names: &'a dyn Fn(usize) -> String, arenas: Vec<Range<u64>>) -> Self {
        let shape = users.shape;
        Checker {
            shape,
            names,
            order: LaunchOrder::from_shape(shape),
            pre_wait: BTreeMap::new(),
            cells: BTreeMap::new(),
            reported: BTreeSet::new(),
            users,
            begun: vec![false; shape.buffers.len()],
            arenas,
            past: PastActors::default(),
            reports: report_overlaps(shape, names),
        }
    }

    /// Records the start of a node. Must be called after its predecessors along programmatic edges have started.
    pub fn start(&mut self, node: usize) {
        if let LaunchOrder::Kernels(points) = &mut self.order {
            points.start(node, &self.shape.full[node], &self.shape.programmatic[node]);
        }
    }

    /// Records the wait of a node. Must be called after all its predecessors have ended.
    pub fn record_wait(&mut self, node: usize) {
        if let LaunchOrder::Kernels(points) = &mut self.order {
            points.record_wait(node, &self.shape.programmatic[node]);
        }
    }

    /// Records the end of a node. `waited` is true if the node executed its wait.
    pub fn end(&mut self, node: usize, waited: bool) {
        if let LaunchOrder::Kernels(points) = &mut self.order {
            points.end(node, waited);
        }
    }

    /// Records the instructions of a node that touched memory before its wait.
    pub fn note_pre_wait(&mut self, node: usize, pre_wait: Vec<PreWait>) {
        if !pre_wait.is_empty() {
            self.pre_wait.insert(node, pre_wait);
        }
    }

    /// Records and checks the bytes that an actor touched. `place` names the allocation at an address.
    pub fn record_accesses(&mut self, actor: usize, touched: &Touched, place: &dyn Fn(u64) -> String) {
        for &(start, end, flags) in touched {
            if flags & LIFE != 0 {
                self.access(actor, Phase::PostWait, start, end, LIFE, place);
                continue;
            }
            for (flags, phase) in [(flags >> PRE_WAIT, Phase::PreWait), (flags, Phase::PostWait)] {
                let flags = flags & (READ | WRITTEN | ATOMIC);
                if flags == 0 {
                    continue;
                }
                self.check_buffers(actor, start, end, flags, place);
                for one in [READ, ATOMIC, WRITTEN] {
                    if flags & one != 0 {
                        self.access(actor, phase, start, end, one, place);
                    }
                }
            }
        }
    }

    /// Splits the cell that contains an address.
    pub(super) fn split_cell(&mut self, address: u64) {
        if let Some((&start, cell)) = self.cells.range_mut(..address).next_back()
            && cell.end > address
        {
            let rest = cell.clone();
            cell.end = address;
            debug_assert!(start < address);
            self.cells.insert(address, rest);
        }
    }

    fn access(
        &mut self,
        node: usize,
        phase: Phase,
        start: u64,
        end: u64,
        flags: u8,
        place: &dyn Fn(u64) -> String,
    ) {
        self.note_touched(start, end);
        self.split_cell(start);
        self.split_cell(end);
        let mut cells = std::mem::take(&mut self.cells);
        let mut conflicts: Vec<(Accessor, Range<u64>)> = Vec::new();
        let mut gaps = Vec::new();
        let mut at = start;
        for (&from, cell) in cells.range_mut(start..end) {
            if at < from {
                gaps.push((at, from));
            }
            at = cell.end;
            let unordered = |other: usize| {
                let (first, second) = (self.node_of(other), self.node_of(node));
                other != node && (first == second || !self.order.precedes(first, second, phase))
            };
            let mut conflict = |actor, flags| conflicts.push((Accessor { actor, flags }, from..cell.end));
            if let Some(life) = cell.life.filter(|&life| unordered(life)) {
                conflict(life, LIFE);
            }
            if let Some(writer) = cell.writer.filter(|&writer| unordered(writer)) {
                conflict(writer, WRITTEN);
            }
            if flags != ATOMIC {
                cell.atomics
                    .iter()
                    .filter(|&&other| unordered(other))
                    .for_each(|&other| conflict(other, ATOMIC));
            }
            if flags != READ {
                cell.readers
                    .iter()
                    .filter(|&&reader| unordered(reader))
                    .for_each(|&reader| conflict(reader, READ));
            }
            cell.mark(node, flags);
        }
        if at < end {
            gaps.push((at, end));
        }
        self.cells = cells;
        for (from, end) in gaps {
            self.cells.insert(from, AccessCell::first(end, node, flags));
        }
        if flags == WRITTEN || flags == LIFE {
            self.merge_cells(start, end);
        }
        for (other, bytes) in conflicts {
            self.conflict(other, Accessor { actor: node, flags }, bytes, place);
        }
    }

    /// Merges the cells of a written range. They differ only in their ranges.
    fn merge_cells(&mut self, start: u64, end: u64) {
        let inside: Vec<(u64, u64, Option<usize>)> =
            self.cells.range(start..end).map(|(&at, cell)| (at, cell.end, cell.life)).collect();
        let mut first = start;
        for pair in inside.windows(2) {
            let (next, next_end, life) = pair[1];
            if life != pair[0].2 {
                first = next;
                continue;
            }
            self.cells.remove(&next);
            if let Some(cell) = self.cells.get_mut(&first) {
                cell.end = next_end;
            }
        }
    }

    fn conflict(
        &mut self,
        first: Accessor,
        second: Accessor,
        bytes: Range<u64>,
        place: &dyn Fn(u64) -> String,
    ) {
        let Range { start: from, end: to } = bytes;
        let pair = (first.actor.min(second.actor), first.actor.max(second.actor));
        if !self.reported.insert(pair) {
            return;
        }
        let (a, b) = (self.name(first.actor), self.name(second.actor));
        let buffer = self.users.buffer_at(self.origin(second.actor), from).unwrap_or_else(|| place(from));
        let (does, too) = (access_word(first.flags), access_word(second.flags));
        let use_of = |user: &str, does: &str, life: &str| {
            format!(
                "node {user} {does} bytes {from:#x}..{to:#x} of {buffer}, and no path orders it with node {life}, \
                 where that allocation begins or ends"
            )
        };
        let (kind, text) = match (first.flags == LIFE, second.flags == LIFE) {
            (true, false) => ("lifetime", use_of(&b, too, &a)),
            (false, true) => ("lifetime", use_of(&a, does, &b)),
            _ => {
                let [first_pre_wait, second_pre_wait] = [first, second].map(|of| {
                    let touched = self.pre_wait.get(&of.actor);
                    touched.map_or_else(String::new, |touched| describe_pre_wait(touched, from, to))
                });
                let is_pre_wait = first_pre_wait.len() + second_pre_wait.len() > 0;
                let [one, other] = [first, second].map(|of| ActorPosition {
                    node: self.shape.actors.node(self.origin(of.actor)),
                    position: self.node_of(of.actor),
                });
                let why = why_unordered(self.shape, self.names, one, other, is_pre_wait);
                let text = format!(
                    "node {a} {does}{first_pre_wait} and node {b} {too}{second_pre_wait} bytes {from:#x}..{to:#x} of \
                     {buffer}, and no path orders them: {why}"
                );
                ("race", text)
            }
        };
        self.reports.push(Report { kind, status: Status::LAUNCH_FAILED, nodes: vec![a, b], text });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::exec::UsedBuffer;
    use crate::state::graph::Buffer;
    use crate::state::schedule::{self, Random};
    use proptest::prelude::*;

    /// An access of a node: the two ends of a range within 16 bytes, and the flags.
    type Access = (u64, u64, u8);

    fn access() -> impl Strategy<Value = Access> {
        let kind = prop_oneof![Just(READ), Just(WRITTEN), Just(ATOMIC), Just(READ | WRITTEN)];
        (0u64..16, 1u64..8, kind).prop_map(|(start, bytes, kind)| (start, (start + bytes).min(16), kind))
    }

    /// Returns a graph: for each node its predecessors, which have lower numbers, and its accesses.
    fn program() -> impl Strategy<Value = Vec<(Vec<usize>, Vec<Access>)>> {
        let node = (
            proptest::collection::vec(any::<proptest::sample::Index>(), 0..3),
            proptest::collection::vec(access(), 0..4),
        );
        proptest::collection::vec(node, 1..10).prop_map(|nodes| {
            let before = |at: usize, picks: Vec<proptest::sample::Index>| {
                let mut before: Vec<usize> =
                    if at == 0 { Vec::new() } else { picks.into_iter().map(|pick| pick.index(at)).collect() };
                before.sort_unstable();
                before.dedup();
                before
            };
            nodes
                .into_iter()
                .enumerate()
                .map(|(at, (picks, accesses))| (before(at, picks), accesses))
                .collect()
        })
    }

    /// Returns true if two accesses conflict: they touch the same bytes, and one of them writes.
    fn conflict(a: &[Access], b: &[Access]) -> bool {
        a.iter().any(|&(start, end, how)| {
            b.iter().any(|&(from, to, too)| {
                let overlap = start.max(from) < end.min(to);
                overlap && (how | too) & (WRITTEN | ATOMIC) != 0 && !(how == ATOMIC && too == ATOMIC)
            })
        })
    }

    proptest! {
        #[test]
        fn races_are_found_under_every_schedule(program in program(), seed in any::<u64>()) {
            let predecessors: Vec<Vec<usize>> = program.iter().map(|node| node.0.clone()).collect();
            let shape = ExecShape::with_full_edges(predecessors.clone(), Vec::new());
            let mut racy = BTreeSet::new();
            for a in 0..program.len() {
                for b in a + 1..program.len() {
                    if !shape.precedence().precedes(a, b) && conflict(&program[a].1, &program[b].1) {
                        racy.insert((a, b));
                    }
                }
            }
            let names = |node: usize| node.to_string();
            let users = BufferUsers::new(&shape);
            let mut checker = Checker::new(&users, &names, Vec::new());
            for node in schedule::order(&predecessors, Some(Random::new(seed))).unwrap() {
                checker.record_accesses(node, &program[node].1, &|_| String::new());
            }
            prop_assert_eq!(racy.is_empty(), checker.reported.is_empty(), "{:?} {:?}", racy, checker.reported);
            prop_assert!(checker.reported.is_subset(&racy), "{:?} {:?}", racy, checker.reported);
        }

        #[test]
        fn plans_are_right_if_users_are_ordered(
            program in program(),
            places in proptest::collection::vec((0u64..24, 1u64..8), 1..6),
            picks in proptest::collection::vec(proptest::collection::vec(any::<proptest::sample::Index>(), 1..3), 6),
        ) {
            let predecessors: Vec<Vec<usize>> = program.iter().map(|node| node.0.clone()).collect();
            let buffers: Vec<UsedBuffer> = places
                .iter()
                .zip(&picks)
                .map(|(&(address, bytes), picks)| {
                    let note = crate::base::note::Note::default();
                    let users = picks.iter().map(|pick| pick.index(program.len())).collect();
                    let buffer = Buffer { note, address, bytes, planned: true, number: 0, users: Vec::new() };
                    UsedBuffer { buffer, users }
                })
                .collect();
            let shape = ExecShape::with_full_edges(predecessors, buffers);
            let line = |a: &[usize], b: &[usize]| {
                a.iter().all(|&a| b.iter().all(|&b| shape.precedence().precedes(a, b)))
            };
            let wrong = |at: usize| {
                let UsedBuffer { buffer: a, users } = &shape.buffers[at];
                shape.buffers[..at].iter().any(|UsedBuffer { buffer: b, users: others }| {
                    let overlap = a.address.max(b.address) < (a.address + a.bytes).min(b.address + b.bytes);
                    overlap && !line(users, others) && !line(others, users)
                })
            };
            let expected = (0..shape.buffers.len()).any(wrong);
            prop_assert_eq!(expected, !report_overlaps(&shape, &|node| node.to_string()).is_empty());
        }
    }
}
