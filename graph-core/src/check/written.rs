//! CW101 and CW107: reads and returns of elements that nothing has written.

use std::collections::BTreeSet;

use super::lives::Life;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Site};
use crate::index::{Vector, narrow};
use crate::ir::{Access, BufferId, DimId, Mode, Order, Origin, StatementId};
use crate::order::Ordered;

/// An access whose mode is settled: statement, index, mode, relied on.
pub(super) type Settled = (StatementId, u32, Mode, bool);

/// A write that may cover a read.
struct Written {
    id: StatementId,
    index: u32,
    relied_on: bool,
}

/// CW101 and CW107, and what `&mut` means at each launch.
///
/// Statements run in program order under [`Order::Inferred`], so the writes before a read are those above it. Under
/// [`Order::Explicit`] they are those of a topological order; where the write is there but nothing orders it with the
/// read, CW202 says so and this does not.
pub(super) fn initialised(
    ordered: &Ordered,
    lives: &Vector<BufferId, Life>,
    found: &mut Vec<Diagnostic>,
) -> Vec<Settled> {
    let program = &ordered.source.program;
    let explicit = program.options.order == Order::Explicit;
    let sequence: Vec<StatementId> = if explicit {
        ordered.reach.topological().as_slice().to_vec()
    } else {
        program.statements.ids().collect()
    };
    let mut written: Vector<BufferId, Coverage> =
        program.buffers.iter().map(|_| Coverage::default()).collect();
    let mut ever_written = Vector::filled(false, program.buffers.len());
    let silent = explicit && ordered.source.order_unknown;
    let mut fresh: Vec<(StatementId, u32)> = Vec::new();
    for id in sequence {
        let statement = &program.statements[id];
        let mut writes: Vec<(BufferId, Written)> = Vec::new();
        for (index, access) in statement.accesses.iter().enumerate() {
            let (index, buffer) = (narrow(index), access.buffer);
            ever_written[buffer] |= access.mode.writes();
            if !matches!(program.buffers[buffer].origin, Origin::Alloc(_)) {
                continue;
            }
            if access.mode == Mode::Write {
                writes.push((access.buffer, Written { id, index, relied_on: false }));
                continue;
            }
            if written[buffer].covers(ordered, access) {
                continue;
            }
            if access.mode == Mode::ReadWrite && statement.kind.has_declaration() {
                fresh.push((id, index));
            } else if !(silent
                || ordered.poisoned(access.buffer)
                || writes.iter().any(|(other, _)| *other == access.buffer)
                || explicit && writer_unordered(ordered, &lives[buffer], (id, index)))
            {
                found.push(unwritten(ordered, (id, index), &written[buffer].writes));
            }
            // Written by the kernel, or said once: later reads of it, or its return, are no faults of their own.
            ever_written[buffer] = true;
            writes.push((access.buffer, Written { id, index, relied_on: false }));
        }
        for (buffer, write) in writes {
            written[buffer].write(ordered, write);
        }
    }
    for (index, &buffer) in program.outputs.iter().enumerate() {
        let first = program.outputs[..index].iter().all(|&other| other != buffer);
        if first && !ever_written[buffer] && !ordered.poisoned(buffer) {
            found.push(
                Diagnostic::new(
                    Code::CW107,
                    Site::Output(narrow(index)),
                    format!("`{}` is returned, but nothing has written it", ordered.buffer_name(buffer)),
                )
                .note(format!("it is allocated on line {}", program.buffers[buffer].line))
                .help("write it with a launch, `fill` or `copy`, or do not return it"),
            );
        }
    }
    let relied: BTreeSet<(StatementId, u32)> = written
        .iter()
        .flat_map(|coverage| &coverage.writes)
        .filter(|write| write.relied_on)
        .map(|write| (write.id, write.index))
        .collect();
    fresh.into_iter().map(|at| (at.0, at.1, Mode::Write, relied.contains(&at))).collect()
}

/// Returns true if a write to the range that `at` reads is not ordered with it.
fn writer_unordered(ordered: &Ordered, life: &Life, at: (StatementId, u32)) -> bool {
    life.accesses.iter().any(|&other| {
        other.0 != at.0
            && ordered.access(other).mode.writes()
            && !ordered.reach.ordered(other.0, at.0)
            && ordered.overlap(ordered.access(other), ordered.access(at))
    })
}

/// The writes of a buffer, and the ranges that they are proved to cover.
#[derive(Default)]
struct Coverage {
    /// The writes, in order.
    writes: Vec<Written>,
    /// The first write of each range: no proof needs another.
    distinct: Vec<usize>,
    ranges: BTreeSet<(DimId, DimId)>,
    /// Ranges that writes together cover; those are relied on already.
    covered: BTreeSet<(DimId, DimId)>,
}

impl Coverage {
    fn write(&mut self, ordered: &Ordered, write: Written) {
        let access = ordered.access((write.id, write.index));
        if self.ranges.insert((access.lo, access.hi)) {
            self.distinct.push(self.writes.len());
        }
        self.writes.push(write);
    }

    /// Returns true if writes are proved to cover an access; the first such writes are then relied on.
    fn covers(&mut self, ordered: &Ordered, access: &Access) -> bool {
        if self.covered.contains(&(access.lo, access.hi)) {
            return true;
        }
        let Some(chain) = self.chain(ordered, access) else { return false };
        for at in chain {
            self.writes[at].relied_on = true;
        }
        self.covered.insert((access.lo, access.hi));
        true
    }

    /// Writes that together are proved to cover a range, if there are such: from the range's start, each write that
    /// begins at or before a point reached so far reaches its own end. O(distinct writes²) bound comparisons at worst.
    fn chain(&self, ordered: &Ordered, access: &Access) -> Option<Vec<usize>> {
        let bounds = &ordered.bounds;
        let range = |at: usize| ordered.access((self.writes[at].id, self.writes[at].index));
        // Nearly always one write covers all of it.
        if let Some(&one) = self.distinct.iter().find(|&&at| bounds.contains(range(at), access)) {
            return Some(vec![one]);
        }
        if bounds.at_most(access.hi, access.lo) {
            return Some(Vec::new());
        }
        // Points reached, each with the write that ends there and the point it was reached from.
        let mut points: Vec<(DimId, Option<(usize, usize)>)> = vec![(access.lo, None)];
        let mut unused = self.distinct.clone();
        let mut at = 0;
        while at < points.len() {
            let point = points[at].0;
            if bounds.at_most(access.hi, point) {
                let mut chain = Vec::new();
                let mut step = points[at].1;
                while let Some((write, from)) = step {
                    chain.push(write);
                    step = points[from].1;
                }
                return Some(chain);
            }
            unused.retain(|&write| {
                let reached = bounds.at_most(range(write).lo, point);
                if reached {
                    points.push((range(write).hi, Some((write, at))));
                }
                !reached
            });
            at += 1;
        }
        None
    }
}

fn unwritten(ordered: &Ordered, at: (StatementId, u32), written: &[Written]) -> Diagnostic {
    let program = &ordered.source.program;
    let access = ordered.access(at);
    let user = &program.statements[at.0].name;
    let buffer = &program.buffers[access.buffer];
    let help = format!(
        "write `{}` first: with `fill`, `copy`, or a launch whose parameter is `&mut [MaybeUninit<T>; _]`",
        buffer.name
    );
    if written.is_empty() {
        return Diagnostic::new(
            Code::CW101,
            Site::Access(at.0, at.1),
            format!("`{}` is read by `{user}`, but nothing has written it", ordered.slice(access)),
        )
        .note(format!(
            "`{}` is allocated on line {}, and fresh memory has no contents",
            buffer.name, buffer.line
        ))
        .help(help);
    }
    let mut diagnostic = Diagnostic::new(
        Code::CW101,
        Site::Access(at.0, at.1),
        format!("`{}` is read by `{user}`, but not all of it is proved to be written", ordered.slice(access)),
    );
    for write in written.iter().take(4) {
        let part = ordered.slice(ordered.access((write.id, write.index)));
        diagnostic = diagnostic.note(format!("{} writes `{part}`", ordered.at(write.id)));
    }
    diagnostic.help(help)
}
