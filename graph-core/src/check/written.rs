//! Finds reads and returns of unwritten elements (CW101, CW107, CW108), and infers the mode of each `&mut`.
//!
//! Visits the statements in a possible execution order and keeps the ranges of each buffer that are written so far.
//! After a choice, a range counts as written if every arm writes it. The proof that ranges cover an access is in
//! [`WrittenRanges::cover`].

use std::collections::{BTreeMap, BTreeSet};

use super::lifetimes::BufferLifetime;
use super::ranges::{WrittenRange, WrittenRanges};
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, DiagnosticSite};
use crate::index::{Vector, narrow};
use crate::ir::{Access, AccessId, BufferId, DimId, Mode, Origin, StatementId, StatementKind};
use crate::order::{JoinedBuffer, Ordered, Region, Regions};

/// A `&mut` access whose inferred mode is write.
pub(super) struct InferredWrite {
    pub id: AccessId,
    /// True if a later read relies on it.
    pub relied_on: bool,
}

/// A write that may cover a later read.
#[derive(Clone)]
struct CoveringWrite {
    id: AccessId,
    relied_on: bool,
    /// For the union of the writes in all arms of a device-side choice: the indices of these writes. Such a union
    /// has no statement.
    arms: std::ops::Range<usize>,
}

impl CoveringWrite {
    fn new(id: AccessId) -> CoveringWrite {
        CoveringWrite { id, relied_on: false, arms: 0..0 }
    }

    /// Makes the union of the writes of all arms.
    fn of_arms(arms: std::ops::Range<usize>) -> CoveringWrite {
        CoveringWrite { arms, ..CoveringWrite::new(AccessId { statement: StatementId::NONE, index: 0 }) }
    }
}

/// Reports CW101, CW107 and CW108, and infers the mode of each `&mut`.
///
/// Under [`Order::Inferred`](crate::ir::Order::Inferred) statements run in program order, so the writes before a
/// read are the writes above it. Under [`Order::Explicit`](crate::ir::Order::Explicit) they are the writes before
/// it in a topological order. A write that is not ordered with the read is reported as CW202, not here.
pub(super) fn initialised(
    ordered: &Ordered,
    lifetimes: &Vector<BufferId, BufferLifetime>,
    found: &mut Vec<Diagnostic>,
) -> Vec<InferredWrite> {
    let mut writes = Writes::new(ordered, lifetimes);
    let mut regions = OpenRegions::new(&ordered.source.regions);
    for id in writes.sequence() {
        regions.advance(ordered, id, &mut writes.written);
        writes.statement(id, found);
    }
    regions.advance(ordered, StatementId::NONE, &mut writes.written);
    for JoinedBuffer { joined, buffer, .. } in ordered.source.regions.joined() {
        writes.ever_written[joined] |= writes.ever_written[buffer];
        writes.surely_written[joined] |= writes.surely_written[buffer];
    }
    writes.unwritten_outputs(found);
    writes.unsure_outputs(found);
    writes.fresh_arguments(found);
    writes.settled()
}

/// The writes of all buffers by the statements visited so far.
struct Writes<'o> {
    ordered: &'o Ordered,
    lifetimes: &'o Vector<BufferId, BufferLifetime>,
    written: Vector<BufferId, Coverage>,
    ever_written: Vector<BufferId, bool>,
    /// True for buffers written by a statement outside conditional bodies.
    surely_written: Vector<BufferId, bool>,
    /// True for buffers that are uninitialised at first.
    tracked: Vector<BufferId, bool>,
    explicit: bool,
    /// True if unwritten reads are not reported, since the order is unknown.
    silent: bool,
    /// The `&mut` accesses that read nothing.
    fresh: Vec<AccessId>,
}

impl<'o> Writes<'o> {
    fn new(ordered: &'o Ordered, lifetimes: &'o Vector<BufferId, BufferLifetime>) -> Writes<'o> {
        let buffers = &ordered.source.program.buffers;
        let explicit = ordered.any_explicit();
        // Memory from the caller is initialised, unless it is declared otherwise.
        let mut tracked: Vector<BufferId, bool> =
            buffers.iter().map(|buffer| matches!(buffer.origin, Origin::Alloc(_))).collect();
        ordered.source.regions.fresh.iter().for_each(|&(buffer, ..)| tracked[buffer] = true);
        let mut written: Vector<BufferId, Coverage> = buffers.iter().map(|_| Coverage::default()).collect();
        // After a choice, a name may denote a result of a call or else what was taken over.
        for (id, buffer) in buffers.enumerate().filter(|(_, buffer)| buffer.origin == Origin::Taken) {
            written[id].state.add(&ordered.bounds, DimId::from_u32(0), buffer.len, None);
        }
        Writes {
            ordered,
            lifetimes,
            written,
            ever_written: Vector::filled(false, buffers.len()),
            surely_written: Vector::filled(false, buffers.len()),
            tracked,
            explicit,
            silent: explicit && ordered.source.order_unknown,
            fresh: Vec::new(),
        }
    }

    /// Returns the statements in a possible execution order.
    fn sequence(&self) -> Vec<StatementId> {
        match self.explicit {
            true => self.ordered.reach.topological().as_slice().to_vec(),
            false => self.ordered.source.program.statements.ids().collect(),
        }
    }

    /// Adds the writes of a statement, and reports its reads of unwritten elements.
    fn statement(&mut self, id: StatementId, found: &mut Vec<Diagnostic>) {
        let ordered = self.ordered;
        let statement = &ordered.source.program.statements[id];
        let mut writes: Vec<(BufferId, CoveringWrite)> = Vec::new();
        let in_body = ordered.source.regions.condition_of(id).is_some();
        for (index, access) in statement.kind.own_accesses(&statement.accesses).iter().enumerate() {
            let (buffer, at) = (access.buffer, AccessId { statement: id, index: narrow(index) });
            self.ever_written[buffer] |= access.mode.writes();
            self.surely_written[buffer] |= access.mode.writes() && !in_body;
            if !self.tracked[buffer] {
                continue;
            }
            if access.mode == Mode::Write {
                // The macro has inferred this mode.
                if statement.kind.has_declaration() {
                    self.fresh.push(at);
                }
                writes.push((buffer, CoveringWrite::new(at)));
                continue;
            }
            if self.written[buffer].covers(ordered, access) {
                continue;
            }
            let may_write_first = statement.kind.has_declaration() && !statement.switchable;
            if access.mode == Mode::ReadWrite && may_write_first {
                self.fresh.push(at);
            } else if !(self.silent
                || ordered.poisoned(buffer)
                || writes.iter().any(|(other, _)| *other == buffer)
                || self.explicit && writer_unordered(ordered, &self.lifetimes[buffer], at))
            {
                let written = &self.written[buffer].writes;
                found.push(match statement.switchable && access.mode.writes() {
                    true => unwritten_if_disabled(ordered, at, written),
                    false => unwritten(ordered, at, written),
                });
            }
            // Either the kernel has written the buffer, or the error is reported. Later reads and the return are
            // not errors.
            self.ever_written[buffer] = true;
            writes.push((buffer, CoveringWrite::new(at)));
        }
        for (buffer, write) in writes {
            self.written[buffer].write(ordered, write);
        }
    }

    /// Reports CW107 for outputs that are never written. What is taken over is written already.
    fn unwritten_outputs(&self, found: &mut Vec<Diagnostic>) {
        let ordered = self.ordered;
        for (index, buffer) in outputs(ordered) {
            if self.tracked[buffer] && !self.ever_written[buffer] {
                let name = ordered.buffer_name(buffer);
                let message = format!("`{name}` is returned, but nothing has written it");
                let line = ordered.source.program.buffers[buffer].line;
                found.push(
                    Diagnostic::new(Code::CW107, DiagnosticSite::Output(index), message)
                        .note(format!("it is allocated on line {line}"))
                        .help("write it with a launch, `fill` or `copy`, or do not return it"),
                );
            }
        }
    }

    /// Reports CW107 for outputs that are written only in conditional bodies, which may not run.
    fn unsure_outputs(&self, found: &mut Vec<Diagnostic>) {
        let ordered = self.ordered;
        for (index, buffer) in outputs(ordered) {
            let unsure = self.ever_written[buffer] && !self.surely_written[buffer] && self.tracked[buffer];
            if unsure && self.written[buffer].state.distinct.is_empty() {
                let name = ordered.buffer_name(buffer);
                let message = format!("`{name}` is returned, but it may be unwritten");
                let diagnostic = Diagnostic::new(Code::CW107, DiagnosticSite::Output(index), message);
                found.push(
                    writes_of(ordered, diagnostic, &self.written[buffer].writes)
                        .help("write it in each arm, or before, with a launch, `fill` or `copy`"),
                );
            }
        }
    }

    /// Reports CW107 or CW108 for uninitialised arguments that are not proved to be written at the end.
    fn fresh_arguments(&mut self, found: &mut Vec<Diagnostic>) {
        let ordered = self.ordered;
        for &(buffer, lo, hi) in &ordered.source.regions.fresh {
            let whole = Access { buffer, mode: Mode::Read, lo, hi, relied_on: false, rows: None };
            if !(self.silent || ordered.poisoned(buffer) || self.written[buffer].covers(ordered, &whole)) {
                found.push(left_unwritten(ordered, buffer, &self.written[buffer].writes));
            }
        }
    }

    /// Returns the `&mut` accesses that read nothing.
    fn settled(mut self) -> Vec<InferredWrite> {
        self.written.iter_mut().for_each(Coverage::rely_on_arms);
        let writes = self.written.iter().flat_map(|coverage| &coverage.writes);
        let relied: BTreeSet<AccessId> =
            writes.filter(|write| write.relied_on).map(|write| write.id).collect();
        self.fresh.into_iter().map(|id| InferredWrite { id, relied_on: relied.contains(&id) }).collect()
    }
}

/// Returns the outputs without reported errors, each buffer once, with its index.
fn outputs(ordered: &Ordered) -> impl Iterator<Item = (u32, BufferId)> {
    let outputs = &ordered.source.program.outputs;
    let first = |&(index, buffer): &(usize, &BufferId)| !outputs[..index].contains(buffer);
    let each = outputs.iter().enumerate().filter(first).map(|(index, &buffer)| (narrow(index), buffer));
    each.filter(|&(_, buffer)| !ordered.poisoned(buffer))
}

/// Returns true if some write to the range read by `at` is not ordered with it.
fn writer_unordered(ordered: &Ordered, life: &BufferLifetime, at: AccessId) -> bool {
    life.accesses.iter().any(|&other| {
        other.statement != at.statement
            && ordered.access(other).mode.writes()
            && !ordered.reach.ordered(other.statement, at.statement)
            && ordered.overlap(ordered.access(other), ordered.access(at))
    })
}

/// The writes of a buffer, and the ranges that they provably cover.
#[derive(Default)]
struct Coverage {
    /// The writes in order.
    writes: Vec<CoveringWrite>,
    state: WrittenRanges,
}

impl Coverage {
    fn write(&mut self, ordered: &Ordered, write: CoveringWrite) {
        let access = ordered.access(write.id);
        let index = Some(self.writes.len());
        match access.rows {
            Some(rows) => self.state.add_rows(&ordered.bounds, access, rows, index),
            None => self.state.add(&ordered.bounds, access.lo, access.hi, index),
        }
        self.writes.push(write);
    }

    /// Marks the writes of all arms as relied on, if their union is.
    fn rely_on_arms(&mut self) {
        for at in (0..self.writes.len()).rev() {
            if self.writes[at].relied_on {
                for inside in self.writes[at].arms.clone() {
                    self.writes[inside].relied_on = true;
                }
            }
        }
    }

    /// Returns true if the writes provably cover an access, and marks them as relied on.
    fn covers(&mut self, ordered: &Ordered, access: &Access) -> bool {
        if self.state.cover_rows(&ordered.bounds, access) {
            return true;
        }
        let Some(chain) = self.state.cover(&ordered.bounds, access) else { return false };
        for write in chain.into_iter().filter_map(|range| range.write) {
            self.writes[write].relied_on = true;
        }
        true
    }
}

/// The regions around the current statement, each with the state before it.
struct OpenRegions<'r> {
    regions: &'r Regions,
    next: usize,
    stack: Vec<(&'r Region, Vec<WrittenRanges>)>,
    /// For each choice and buffer, the ranges that all arms so far have written.
    arms: BTreeMap<u32, Vec<Vec<WrittenRange>>>,
    /// For each device-side choice and buffer, the number of writes before its arms.
    begun: BTreeMap<u32, Vec<usize>>,
}

impl<'r> OpenRegions<'r> {
    fn new(regions: &'r Regions) -> OpenRegions<'r> {
        OpenRegions { regions, next: 0, stack: Vec::new(), arms: BTreeMap::new(), begun: BTreeMap::new() }
    }

    /// Leaves the regions that end before a statement, and enters the regions that begin at it.
    fn advance(&mut self, ordered: &Ordered, id: StatementId, written: &mut Vector<BufferId, Coverage>) {
        loop {
            let next = self.next;
            if let Some((region, before)) =
                self.stack.pop_if(|(region, _)| region.end <= id && region.inner <= next)
            {
                self.leave(ordered, region, before, written);
            } else if let Some(region) = self.regions.list.get(self.next).filter(|region| region.first <= id)
            {
                self.next += 1;
                if let (Some(arm), Some(_)) = (region.arm, region.condition) {
                    let begun = || written.iter().map(|coverage| coverage.writes.len()).collect();
                    self.begun.entry(arm.choice).or_insert_with(begun);
                }
                self.stack.push((region, written.iter().map(|coverage| coverage.state.clone()).collect()));
            } else {
                return;
            }
        }
    }

    /// Leaves a region that may not have run. The written ranges are those from before it, the ranges that its loop
    /// provably writes, and after the last arm the ranges that all arms write.
    fn leave(
        &mut self,
        ordered: &Ordered,
        region: &Region,
        before: Vec<WrittenRanges>,
        written: &mut Vector<BufferId, Coverage>,
    ) {
        let mut after: Vector<BufferId, WrittenRanges> = written
            .iter_mut()
            .zip(before)
            .map(|(coverage, state)| std::mem::replace(&mut coverage.state, state))
            .collect();
        for &(buffer, lo, hi) in &region.written {
            written[buffer].state.add(&ordered.bounds, lo, hi, None);
        }
        let Some(arm) = region.arm else { return };
        for &(joined, buffer) in &region.joined {
            let (own, other) =
                (&ordered.source.program.buffers[joined], &ordered.source.program.buffers[buffer]);
            after[joined] = after[buffer].of_length(other.len, own.len, &ordered.bounds);
            // For messages about the joined name.
            let writes = written[buffer].writes.iter().cloned();
            let writes: Vec<CoveringWrite> =
                writes.map(|write| CoveringWrite { relied_on: false, ..write }).collect();
            written[joined].writes.extend(writes);
        }
        let common: Vec<Vec<WrittenRange>> = match self.arms.get(&arm.choice) {
            None => after.into_iter().map(|state| state.distinct).collect(),
            Some(others) => {
                after.iter().zip(others).map(|(state, other)| state.common(other, &ordered.bounds)).collect()
            }
        };
        if let Some(begun) = self.begun.get(&arm.choice).filter(|_| arm.completes) {
            for ((coverage, ranges), &begun) in written.iter_mut().zip(&common).zip(begun) {
                let all = coverage.writes.len();
                if begun == all {
                    continue;
                }
                coverage.writes.push(CoveringWrite::of_arms(begun..all));
                let state = &mut coverage.state;
                ranges.iter().for_each(|range| state.add(&ordered.bounds, range.lo, range.hi, Some(all)));
            }
        } else if arm.completes {
            for (coverage, ranges) in written.iter_mut().zip(&common) {
                let state = &mut coverage.state;
                ranges.iter().for_each(|range| state.add(&ordered.bounds, range.lo, range.hi, range.write));
            }
        }
        self.arms.insert(arm.choice, common);
    }
}

/// Returns true for an argument whose contents are discarded before each launch.
fn is_discarded(ordered: &Ordered, buffer: BufferId) -> bool {
    ordered.source.regions.discarded.contains(&buffer)
}

/// Reports CW108 for a discarded argument that is not written completely.
fn left_discarded(ordered: &Ordered, buffer: BufferId, written: &[CoveringWrite]) -> Diagnostic {
    let name = ordered.buffer_name(buffer);
    let message = if written.is_empty() {
        format!("`{name}` is discarded, but nothing writes it")
    } else {
        format!("`{name}` is discarded, but not all of it is proved to be written at the end")
    };
    let diagnostic = Diagnostic::new(Code::CW108, DiagnosticSite::Argument(buffer), message);
    writes_of(ordered, diagnostic, written)
        .note("contents that `#[discard]` drops are arbitrary until they are written")
        .help(format!("write all of `{name}` on every path, or remove `#[discard]`"))
}

/// Reports CW107 for an argument that the caller requires to be written completely.
fn left_unwritten(ordered: &Ordered, buffer: BufferId, written: &[CoveringWrite]) -> Diagnostic {
    if is_discarded(ordered, buffer) {
        return left_discarded(ordered, buffer, written);
    }
    let name = ordered.buffer_name(buffer);
    let message = if written.is_empty() {
        format!("`{name}` is declared as `MaybeUninit`, but nothing writes it")
    } else {
        format!("`{name}` is declared as `MaybeUninit`, but not all of it is proved to be written at the end")
    };
    let diagnostic = Diagnostic::new(Code::CW107, DiagnosticSite::Argument(buffer), message);
    writes_of(ordered, diagnostic, written)
        .note("the caller passes it uninitialised, and may read all of it afterwards")
        .help(format!("write all of `{name}` on every path, or declare it as `&mut [T; _]`"))
}

/// Adds up to four notes about the written ranges.
fn writes_of(ordered: &Ordered, mut diagnostic: Diagnostic, written: &[CoveringWrite]) -> Diagnostic {
    let mut notes = BTreeSet::new();
    for write in written.iter().filter(|write| write.id.statement != StatementId::NONE) {
        let part = ordered.slice(ordered.access(write.id));
        let mut note = format!("{} writes `{part}`", ordered.at(write.id.statement));
        if let Some(condition) = ordered.source.regions.condition_of(write.id.statement)
            && let statement = &ordered.source.program.statements[condition]
            && let StatementKind::Condition(body) = statement.kind
        {
            let line = statement.line;
            note = format!("{note}, in {} on line {line}, which may not run", body.body());
        }
        if notes.len() < 4 && notes.insert(note.clone()) {
            diagnostic = diagnostic.note(note);
        }
    }
    diagnostic
}

fn unwritten_if_disabled(ordered: &Ordered, at: AccessId, written: &[CoveringWrite]) -> Diagnostic {
    let program = &ordered.source.program;
    let access = ordered.access(at);
    let (user, buffer) = (&program.statements[at.statement].name, &program.buffers[access.buffer]);
    let lacks =
        if written.is_empty() { "nothing has written it" } else { "not all of it is proved to be written" };
    let message = format!("`{}` holds nothing if `{user}` is disabled: {lacks}", ordered.slice(access));
    let diagnostic = Diagnostic::new(Code::CW101, DiagnosticSite::Access(at), message);
    writes_of(ordered, diagnostic, written)
        .note(format!("`{user}` is `#[switchable]`"))
        .help(format!("write `{}` first, with `fill`, `copy` or another launch", buffer.name))
}

/// Reports CW101 or CW108 for a read of elements that are not proved to be written.
fn unwritten(ordered: &Ordered, at: AccessId, written: &[CoveringWrite]) -> Diagnostic {
    let program = &ordered.source.program;
    let access = ordered.access(at);
    let user = &program.statements[at.statement].name;
    let buffer = &program.buffers[access.buffer];
    let help = format!(
        "write `{}` first: with `fill`, `copy`, or a launch whose parameter is `&mut [MaybeUninit<T>; _]`",
        buffer.name
    );
    if is_discarded(ordered, access.buffer) {
        let part = ordered.slice(access);
        let message = if written.is_empty() {
            format!(
                "`{part}` is discarded before the launch and read by `{user}`, but nothing has written it"
            )
        } else {
            format!(
                "`{part}` is discarded before the launch and read by `{user}`, \
                 but not all of it is proved to be written"
            )
        };
        let diagnostic = Diagnostic::new(Code::CW108, DiagnosticSite::Access(at), message);
        return writes_of(ordered, diagnostic, written)
            .note(format!("`#[discard]` is on `{}`, on line {}", buffer.name, buffer.line))
            .help(format!("write `{}` first, or remove `#[discard]`", buffer.name));
    }
    if written.is_empty() {
        return Diagnostic::new(
            Code::CW101,
            DiagnosticSite::Access(at),
            format!("`{}` is read by `{user}`, but nothing has written it", ordered.slice(access)),
        )
        .note(match buffer.origin {
            Origin::Alloc(_) => format!(
                "`{}` is allocated on line {}, and new memory is uninitialised",
                buffer.name, buffer.line
            ),
            _ => format!("`{}` is declared as `MaybeUninit` on line {}", buffer.name, buffer.line),
        })
        .help(help);
    }
    let diagnostic = Diagnostic::new(
        Code::CW101,
        DiagnosticSite::Access(at),
        format!("`{}` is read by `{user}`, but not all of it is proved to be written", ordered.slice(access)),
    );
    writes_of(ordered, diagnostic, written).help(help)
}
