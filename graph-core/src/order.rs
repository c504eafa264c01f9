//! Stage 1: the order of the work.
//!
//! Inferred: an edge where two statements touch overlapping elements of a buffer and one of them writes, in program
//! order, plus what `#[after]` says. Explicit: `#[after]` alone. Statements of memory take part while the order is
//! made (a launch after `#[after(t)]` of an alloc stands after what that alloc stands after) and are then contracted
//! away, so that the same order holds in every lowering.
//!
//! Invariants of [`Ordered`]:
//! - `reach` is the order on all statements, memory ones included;
//! - `preds[s]` is the transitive reduction of `reach` on the statements that are not memory statements, and empty
//!   for those that are;
//! - under [`Order::Inferred`], two statements with conflicting accesses are ordered as they are written.

pub mod shared;

use crate::bounds::Bounds;
use crate::diagnostic::{Diagnostic, Site};
use crate::ir::{Access, DimId, Kind, Mode, Order, Program, StatementId};
use crate::reach::{Cycle, Reach};
use cuweave_ptx::poly::{Facts, Poly};

/// A program as lowered: nothing is known of it yet.
#[derive(Clone, Debug)]
pub struct Source {
    /// The program; its `edges` are still empty, and `&mut` arguments of launches are [`Mode::ReadWrite`].
    pub program: Program,
    /// The polynomial of each of the program's `dims`.
    pub polys: Vec<Poly>,
    /// Buffers that a fault already reported makes unknown: nothing further is said of them.
    pub poisoned: Vec<bool>,
    /// An `#[after]` names something unknown, a fault already reported: nothing is said of missing order.
    pub order_unknown: bool,
}

/// A program with its order.
#[derive(Clone, Debug)]
pub struct Ordered {
    /// The program.
    pub source: Source,
    /// Its bounds, and what is known of them.
    pub bounds: Bounds,
    /// The order on all statements.
    pub reach: Reach,
    /// The reduced order on the statements that are not memory statements.
    pub preds: Vec<Vec<StatementId>>,
    /// For each memory statement what it stands after, contracted onto the statements that are none.
    pub memory_after: Vec<(StatementId, Vec<StatementId>)>,
    /// Edges between such statements before reduction.
    pub edges_before_reduction: usize,
}

impl Source {
    /// The bounds of an access as polynomials.
    pub fn range(&self, access: &Access) -> (&Poly, &Poly) {
        (&self.polys[access.lo as usize], &self.polys[access.hi as usize])
    }

    /// What the build will have checked about the bounds: lengths are at least 1, ranges lie in their buffers, fills and
    /// copies are not empty.
    fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        let mut add = |low: &Poly, high: &Poly| {
            if let Some(difference) = high.minus(low) {
                facts.add(&difference);
            }
        };
        let one = Poly::constant(1);
        for buffer in self.program.buffers.iter() {
            add(&one, &self.polys[buffer.len as usize]);
        }
        for access in self.program.statements.iter().flat_map(|statement| statement.accesses.iter()) {
            let (lo, hi) = self.range(access);
            add(lo, hi);
            add(hi, &self.polys[self.program.buffers[access.buffer as usize].len as usize]);
        }
        let filled_or_copied = self
            .program
            .statements
            .iter()
            .filter(|statement| matches!(statement.kind, Kind::Fill | Kind::Copy));
        for access in filled_or_copied.flat_map(|statement| statement.accesses.iter()) {
            let (lo, hi) = self.range(access);
            if let Some(next) = lo.plus(&one) {
                add(&next, hi);
            }
        }
        for view in self.program.views.iter() {
            let poly = |dim: DimId| &self.polys[dim as usize];
            add(poly(view.lo), poly(view.hi));
            add(poly(view.hi), poly(view.of.1));
        }
        facts
    }
}

/// Orders a program. A cycle is a diagnostic; the edge that closes it is left out then, so that the checks can go on.
pub fn order(source: Source) -> (Ordered, Vec<Diagnostic>) {
    let bounds = Bounds::new(source.polys.clone(), source.facts());
    let mut preds = match source.program.options.order {
        Order::Inferred => inferred(&source.program, &bounds),
        Order::Explicit => vec![Vec::new(); source.program.statements.len()],
    };
    for (statement, list) in source.program.statements.iter().zip(&mut preds) {
        list.extend_from_slice(&statement.after);
    }
    let (reach, diagnostics) = without_cycles(&source.program, &mut preds);
    let (preds, memory_after) = contracted(&source.program, &reach, preds);
    let edges_before_reduction = preds.iter().map(Vec::len).sum();
    let preds = reach.reduce(&preds);
    (Ordered { source, bounds, reach, preds, memory_after, edges_before_reduction }, diagnostics)
}

/// Accesses to one buffer that a later one may have to follow.
#[derive(Default)]
struct Frontier {
    writes: Vec<(StatementId, Access)>,
    reads: Vec<(StatementId, Access)>,
    atomics: Vec<(StatementId, Access)>,
}

/// Read after write, write after read and write after write; alloc before use, use before free.
///
/// A write drops from the frontier what it covers, and cuts off the ends that it covers: whatever overlaps that overlaps
/// the write too, and follows it.
/// O(accesses × frontier).
fn inferred(program: &Program, bounds: &Bounds) -> Vec<Vec<StatementId>> {
    let mut frontiers: Vec<Frontier> = Vec::new();
    frontiers.resize_with(program.buffers.len(), Frontier::default);
    let mut users: Vec<Vec<StatementId>> = vec![Vec::new(); program.buffers.len()];
    let mut allocs: Vec<Option<StatementId>> = vec![None; program.buffers.len()];
    let mut preds = vec![Vec::new(); program.statements.len()];
    for (id, statement) in program.statements.iter().enumerate() {
        let (id, list) = (id as StatementId, &mut preds[id]);
        match statement.kind {
            Kind::Alloc(buffer) => allocs[buffer as usize] = Some(id),
            Kind::Free(buffer) => list.append(&mut users[buffer as usize]),
            Kind::Launch | Kind::Fill | Kind::Copy => {}
        }
        for access in statement.accesses.iter() {
            list.extend(allocs[access.buffer as usize]);
            users[access.buffer as usize].push(id);
            frontiers[access.buffer as usize].step(id, access, bounds, list);
        }
    }
    preds
}

impl Frontier {
    fn step(&mut self, id: StatementId, access: &Access, bounds: &Bounds, preds: &mut Vec<StatementId>) {
        let (follows_reads, follows_atomics) = (access.mode != Mode::Read, access.mode != Mode::Atomic);
        let lists = [
            (&mut self.writes, true),
            (&mut self.reads, follows_reads),
            (&mut self.atomics, follows_atomics),
        ];
        for (list, _) in lists.into_iter().filter(|(_, follows)| *follows) {
            list.retain_mut(|(from, other)| {
                if bounds.disjoint(other, access) || *from == id {
                    return true;
                }
                preds.push(*from);
                !(matches!(access.mode, Mode::ReadWrite | Mode::Write) && superseded(other, access, bounds))
            });
        }
        match access.mode {
            Mode::Read => self.reads.push((id, *access)),
            Mode::Atomic => self.atomics.push((id, *access)),
            Mode::ReadWrite | Mode::Write => self.writes.push((id, *access)),
        }
    }
}

/// Whether a write leaves nothing of an earlier access that it overlaps; where it leaves one end, that is what remains
/// of it.
fn superseded(earlier: &mut Access, write: &Access, bounds: &Bounds) -> bool {
    let front = bounds.at_most(write.lo, earlier.lo);
    let back = bounds.at_most(earlier.hi, write.hi);
    if front && back {
        return true;
    }
    if front && bounds.at_most(earlier.lo, write.hi) && bounds.at_most(write.hi, earlier.hi) {
        earlier.lo = write.hi;
    } else if back && bounds.at_most(write.lo, earlier.hi) && bounds.at_most(earlier.lo, write.lo) {
        earlier.hi = write.lo;
    }
    false
}

/// The order; where it has cycles, CW204 for each and the order without the `#[after]` that points forward.
fn without_cycles(program: &Program, preds: &mut [Vec<StatementId>]) -> (Reach, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    loop {
        let path = match Reach::of(preds) {
            Ok(reach) => return (reach, diagnostics),
            Err(Cycle { path }) => path,
        };
        // Inferred edges point forward in the text, so a cycle has an `#[after]` that names a later statement.
        let step = (0..path.len())
            .map(|i| (path[i], path[(i + 1) % path.len()]))
            .filter(|&(from, to)| from >= to)
            .find_map(|(from, to)| {
                let index = program.statements[to as usize].after.iter().position(|&named| named == from)?;
                Some((from, to, index as u32))
            });
        let Some((from, to, index)) = step else {
            unreachable!("a cycle without an edge that points forward")
        };
        diagnostics.push(cycle(program, &path, to, index));
        preds[to as usize].retain(|&pred| pred != from);
    }
}

fn cycle(program: &Program, path: &[StatementId], to: StatementId, index: u32) -> Diagnostic {
    // Told from the statement that carries the `#[after]`, once around.
    let start = path.iter().position(|&node| node == to).unwrap_or(0);
    let around: Vec<StatementId> = (0..=path.len()).map(|i| path[(start + i) % path.len()]).collect();
    let name = |id: StatementId| &program.statements[id as usize].name;
    let text: Vec<String> = around.iter().map(|&id| format!("`{}`", name(id))).collect();
    let mut diagnostic = Diagnostic::new(
        "CW204",
        Site::After(to, index),
        format!("the order has a cycle: {}", text.join(" -> ")),
    );
    for pair in around.windows(2) {
        let (before, after) = (&program.statements[pair[0] as usize], &program.statements[pair[1] as usize]);
        let reason = if after.after.contains(&pair[0]) {
            format!("says `#[after({})]`", before.name)
        } else {
            match shared_buffer(program, pair[0], pair[1]) {
                Some(buffer) => format!("uses `{buffer}` after it"),
                None => "follows it".to_owned(),
            }
        };
        diagnostic = diagnostic.note(format!(
            "`{}` (line {}) comes before `{}` (line {}), which {reason}",
            before.name, before.line, after.name, after.line
        ));
    }
    diagnostic
        .help(format!("remove `{}` from this `#[after]`, or move the statement", name(path_before(path, to))))
}

/// The node before `to` on the cycle.
fn path_before(path: &[StatementId], to: StatementId) -> StatementId {
    let at = path.iter().position(|&node| node == to).unwrap_or(0);
    path[(at + path.len() - 1) % path.len()]
}

fn shared_buffer(program: &Program, a: StatementId, b: StatementId) -> Option<&str> {
    let buffers = |id: StatementId| {
        let statement = &program.statements[id as usize];
        let memory = match statement.kind {
            Kind::Alloc(buffer) | Kind::Free(buffer) => Some(buffer),
            Kind::Launch | Kind::Fill | Kind::Copy => None,
        };
        statement.accesses.iter().map(|access| access.buffer).chain(memory)
    };
    buffers(a)
        .find(|&buffer| buffers(b).any(|other| other == buffer))
        .map(|buffer| &*program.buffers[buffer as usize].name)
}

/// Direct predecessors of every statement, before reduction.
type Preds = Vec<Vec<StatementId>>;

/// The order with memory statements contracted away: the predecessors of the others, and what each memory statement
/// stands after.
fn contracted(
    program: &Program,
    reach: &Reach,
    mut preds: Preds,
) -> (Preds, Vec<(StatementId, Vec<StatementId>)>) {
    let is_memory = |id: StatementId| program.statements[id as usize].kind.is_memory();
    // In topological order, the predecessors of a memory statement stand for it.
    for &id in reach.topological() {
        if preds[id as usize].iter().any(|&pred| is_memory(pred)) {
            let through = |&pred: &StatementId| {
                if is_memory(pred) { preds[pred as usize].clone() } else { vec![pred] }
            };
            preds[id as usize] = preds[id as usize].iter().flat_map(through).collect();
        }
        let list = &mut preds[id as usize];
        list.sort_unstable();
        list.dedup();
    }
    let mut memory = Vec::new();
    for (id, list) in preds.iter_mut().enumerate() {
        if is_memory(id as StatementId) {
            memory.push((id as StatementId, reach.maximal(&std::mem::take(list))));
        }
    }
    (preds, memory)
}
