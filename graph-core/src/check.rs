//! Checks an ordered program. Stage 2 of the compiler.
//!
//! Rules, in the order of checking:
//! - CW201: one launch borrows a buffer mutably and also otherwise;
//! - CW205: a write through an argument that is borrowed shared;
//! - CW102, CW103, CW104, CW105: use, free or return after a free; free of a buffer that the graph does not own;
//! - CW202, CW203: explicit order that is insufficient;
//! - CW101, CW107: a read or return of unwritten elements;
//! - CW106: a warning for a useless allocation.
//!
//! Only this module makes a [`Checked`], and only a [`Checked`] is emitted. The check also infers the mode of each
//! `&mut`: [`Mode::ReadWrite`] if all elements are written before, else [`Mode::Write`]. It marks the writes that
//! the proof of a later read relies on.

mod lifetimes;
mod ranges;
mod written;

use std::collections::BTreeSet;

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, DiagnosticSite};
use crate::index::{Vector, narrow, size};
use crate::ir::{Access, AccessId, BufferId, Mode, Program, StatementId, StatementKind};
use crate::order::{Functions, Ordered};
use crate::reach::Reach;
use lifetimes::{BufferLifetime, lifetimes};
use written::InferredWrite;

/// A checked program and its order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    program: Program,
    functions: Functions,
    edges: Vec<(StatementId, StatementId)>,
    edges_before_reduction: usize,
}

impl Checked {
    /// Returns the program, with the inferred modes.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Returns the functions of the program's statements.
    pub fn functions(&self) -> &Functions {
        &self.functions
    }

    /// Returns the reduced order of the non-memory statements, as pairs `(before, after)`.
    pub fn edges(&self) -> &[(StatementId, StatementId)] {
        &self.edges
    }

    /// Returns the number of edges before reduction.
    pub fn edges_before_reduction(&self) -> usize {
        self.edges_before_reduction
    }
}

/// Checks a program. Without a result, the diagnostics include errors; otherwise they are warnings.
pub fn check(mut ordered: Ordered) -> (Option<Checked>, Vec<Diagnostic>) {
    let lifetimes = lifetimes(&ordered);
    let mut found = Vec::new();
    check_borrows(&ordered, &mut found);
    let used_after = uses_after_free(&ordered, &lifetimes, &mut found);
    check_ownership(&ordered, &lifetimes, &used_after, &mut found);
    if ordered.any_explicit() && !ordered.source.order_unknown {
        let assumed = unordered_conflicts(&ordered, &mut found);
        check_explicit_lifetimes(&ordered, &lifetimes, &assumed, &mut found);
    }
    let settled = written::initialised(&ordered, &lifetimes, &mut found);
    check_usefulness(&ordered, &lifetimes, &mut found);
    found.sort_by_key(|diagnostic| diagnostic.site);
    if found.iter().any(|diagnostic| !diagnostic.is_warning()) {
        return (None, found);
    }
    let program = &mut ordered.source.program;
    for InferredWrite { id, relied_on } in settled {
        let access = &mut program.statements[id.statement].accesses.to_mut()[size(id.index)];
        access.mode = Mode::Write;
        access.relied_on = relied_on;
    }
    for (id, after) in std::mem::take(&mut ordered.memory_after) {
        program.statements[id].after = after.into();
    }
    let edges = ordered.preds.enumerate().flat_map(|(to, list)| list.iter().map(move |&from| (from, to)));
    let checked = Checked {
        edges: edges.collect(),
        edges_before_reduction: ordered.edges_before_reduction,
        program: ordered.source.program,
        functions: ordered.source.regions.functions,
    };
    (Some(checked), found)
}

/// Reports CW201 and CW205.
fn check_borrows(ordered: &Ordered, found: &mut Vec<Diagnostic>) {
    let program = &ordered.source.program;
    for (id, statement) in program.statements.enumerate() {
        let accesses = statement.kind.own_accesses(&statement.accesses);
        for (index, access) in accesses.iter().enumerate() {
            let buffer = &program.buffers[access.buffer];
            let site = DiagnosticSite::Access(AccessId { statement: id, index: narrow(index) });
            // The declaration is known even if an earlier error poisoned the buffer.
            if !buffer.origin.is_writable() && access.mode.writes() {
                found.push(
                    Diagnostic::new(
                        Code::CW205,
                        site,
                        format!(
                            "`{}` is written by `{}`, but it is an argument that is borrowed shared",
                            buffer.name, statement.name
                        ),
                    )
                    .note(format!("`{}` is declared with `&` on line {}", buffer.name, buffer.line))
                    .help(format!("declare `{}` with `&mut`", buffer.base_name())),
                );
            }
            if ordered.poisoned(access.buffer) {
                continue;
            }
            let earlier = statement.accesses[..index].iter().find(|other| {
                other.buffer == access.buffer
                    && other.mode.conflicts(access.mode)
                    && ordered.overlap(other, access)
            });
            if let Some(other) = earlier {
                found.push(aliased(ordered, &statement.name, site, other, access));
            }
        }
    }
}

fn aliased(
    ordered: &Ordered,
    statement: &str,
    site: DiagnosticSite,
    other: &Access,
    access: &Access,
) -> Diagnostic {
    let name = ordered.buffer_name(access.buffer);
    let (one, two) = (ordered.slice(other), ordered.slice(access));
    let how = |access: &Access| match access.mode {
        Mode::Read => "shared",
        Mode::ReadWrite | Mode::Write => "mutably",
        Mode::Atomic => "for atomics",
    };
    let diagnostic = Diagnostic::new(
        Code::CW201,
        site,
        if other.mode.writes() && access.mode.writes() && other.mode == access.mode {
            format!("`{statement}` borrows `{name}` {} more than once", how(access))
        } else {
            format!("`{statement}` borrows `{name}` {} and also {}", how(access), how(other))
        },
    );
    if one == name && two == name {
        let first = match other.mode {
            Mode::ReadWrite | Mode::Write => "mutable",
            _ => how(other),
        };
        diagnostic.note(format!("the first borrow in the same call is {first}")).help(
            "pass it once, to a parameter declared `&mut [T; _]`, or copy it into a second buffer first",
        )
    } else {
        diagnostic
            .note(format!("`{one}` and `{two}` are not proved to be disjoint"))
            .help(format!("split it: `let (lo, hi) = {name}.split_at_mut(k);` gives two disjoint parts"))
    }
}

/// Reports CW103, CW104 and CW105.
///
/// If a buffer is used after its first `free`, that `free` is the error, and later ones are its consequences.
fn check_ownership(
    ordered: &Ordered,
    lifetimes: &Vector<BufferId, BufferLifetime>,
    used_after: &Vector<BufferId, bool>,
    found: &mut Vec<Diagnostic>,
) {
    let program = &ordered.source.program;
    for (id, statement) in program.statements.enumerate() {
        let StatementKind::Free(buffer) = statement.kind else { continue };
        if ordered.poisoned(buffer) {
            continue;
        }
        let name = ordered.buffer_name(buffer);
        let declared = &program.buffers[buffer];
        if declared.origin.is_borrowed() {
            found.push(
                Diagnostic::new(
                    Code::CW104,
                    DiagnosticSite::Freed(id),
                    format!("`{name}` is freed, but the graph does not own it"),
                )
                .note(format!("`{name}` is a borrowed argument, declared on line {}", declared.line))
                .help("remove the `free`: its owner frees it"),
            );
        } else if let Some(&first) = lifetimes[buffer].frees.iter().find(|&&first| {
            let again = first < id && !ordered.source.regions.exclusive(first, id);
            again && !used_after[buffer]
        }) {
            let (line, allocated) = (ordered.line(first), declared.line);
            found.push(match ordered.is_in_earlier_iteration(first, id) {
                true => Diagnostic::new(
                    Code::CW103,
                    DiagnosticSite::Freed(id),
                    format!("`{name}` is freed in each iteration of a loop"),
                )
                .note(format!(
                    "`{name}` is allocated on line {allocated}, before the loop, \
                               and the first iteration frees it"
                ))
                .help(
                    "free it after the loop, or remove the `free`: without any, cuweave frees it after \
                       the last use; or allocate it in the loop",
                ),
                false => Diagnostic::new(
                    Code::CW103,
                    DiagnosticSite::Freed(id),
                    format!("`{name}` is freed twice"),
                )
                .note(format!("it is freed first on line {line}"))
                .help("remove one of the two: without any, cuweave frees it after the last use"),
            });
        }
    }
    for (index, &buffer) in program.outputs.iter().enumerate() {
        if ordered.poisoned(buffer) {
            continue;
        }
        let (index, name, life) = (narrow(index), ordered.buffer_name(buffer), &lifetimes[buffer]);
        if life.output != Some(index) {
            found.push(
                Diagnostic::new(
                    Code::CW105,
                    DiagnosticSite::Output(index),
                    format!("`{name}` is returned twice"),
                )
                .note("an allocation can be returned only once: each output has one owner")
                .help("return a copy: `copy` it into a second allocation"),
            );
        } else if let Some(free) = life.free.filter(|_| !used_after[buffer]) {
            let (done, note, help) = match ordered.taken_over_by(free) {
                Some(call) => {
                    let callee = &ordered.source.program.statements[call].name;
                    let note =
                        format!("`{callee}` on line {} takes ownership of `{name}`", ordered.line(call));
                    ("handed over", note, format!("return what `{callee}` returns, or pass it a copy"))
                }
                None => {
                    let note = format!("it is freed on line {}", ordered.line(free));
                    ("freed", note, "remove the `free`: the owner of the output frees it".to_owned())
                }
            };
            let message = format!("`{name}` is returned although it is {done}");
            let diagnostic = Diagnostic::new(Code::CW105, DiagnosticSite::Output(index), message);
            found.push(diagnostic.note(note).help(help));
        }
    }
}

/// Reports CW102 for the first use of each buffer that is ordered after its free. Returns a flag for each buffer
/// with such a use.
fn uses_after_free(
    ordered: &Ordered,
    lifetimes: &Vector<BufferId, BufferLifetime>,
    found: &mut Vec<Diagnostic>,
) -> Vector<BufferId, bool> {
    let mut used_after = Vector::filled(false, lifetimes.len());
    for (buffer, life) in lifetimes.enumerate() {
        let declared = &ordered.source.program.buffers[buffer];
        if ordered.poisoned(buffer) || !declared.origin.is_owned() {
            continue;
        }
        let after = |free: StatementId, id: StatementId| {
            if ordered.is_explicit(free, id) {
                ordered.reach.precedes(free, id)
            } else {
                free < id && !ordered.source.regions.exclusive(free, id)
            }
        };
        let first = life.accesses.iter().find_map(|&access| {
            let free = life.frees.iter().find(|&&free| after(free, access.statement));
            free.map(|&free| (free, access))
        });
        let Some((free, access)) = first else { continue };
        let id = access.statement;
        used_after[buffer] = true;
        let name = &declared.name;
        let user = &ordered.source.program.statements[id].name;
        let (done, note, help) = match ordered.taken_over_by(free) {
            Some(call) => {
                let callee = &ordered.source.program.statements[call].name;
                let line = ordered.line(call);
                (
                    "handed over",
                    format!("`{callee}` on line {line} takes ownership of `{name}`"),
                    format!("move the call of `{callee}` after the last use of `{name}`, or pass it a copy"),
                )
            }
            None if ordered.is_in_earlier_iteration(free, id) => (
                "freed",
                format!(
                    "`free({name})` on line {} comes before, in an earlier iteration of the loop",
                    ordered.line(free)
                ),
                format!(
                    "move the `free` after the loop, or delete it: cuweave places the free; \
                     or allocate `{name}` in the loop"
                ),
            ),
            None => (
                "freed",
                format!("`free({name})` on line {} comes before", ordered.line(free)),
                "move the `free` after the last use, or delete it: cuweave places the free".to_owned(),
            ),
        };
        let message = format!("`{name}` is used by `{user}` after it is {done}");
        let mut diagnostic = Diagnostic::new(Code::CW102, DiagnosticSite::Access(access), message).note(note);
        let path = ordered.is_explicit(free, id).then(|| ordered.graph.path(free, id));
        if let Some(path) = path.filter(|path| path.len() > 2) {
            diagnostic = diagnostic.note(format!("the path is {}", named(ordered, &path)));
        }
        found.push(diagnostic.help(help));
    }
    used_after
}

fn named(ordered: &Ordered, path: &[StatementId]) -> String {
    let names: Vec<String> =
        path.iter().map(|&id| format!("`{}`", ordered.source.program.statements[id].name)).collect();
    names.join(" -> ")
}

/// Reports CW202 for each statement and its earlier conflicting statements that are not ordered with it. Skips
/// pairs that another missing edge would order. Returns, for each statement, the statements that the missing edges
/// would order before it.
fn unordered_conflicts(
    ordered: &Ordered,
    found: &mut Vec<Diagnostic>,
) -> Vector<StatementId, Vec<StatementId>> {
    let program = &ordered.source.program;
    let mut earlier: Vector<BufferId, Vec<AccessId>> = Vector::filled(Vec::new(), program.buffers.len());
    let mut assumed: Vector<StatementId, Vec<StatementId>> =
        Vector::filled(Vec::new(), program.statements.len());
    for (id, statement) in program.statements.enumerate() {
        let mut missing: Vec<(AccessId, u32)> = Vec::new();
        let accesses = statement.kind.own_accesses(&statement.accesses);
        for (index, access) in accesses.iter().enumerate() {
            if ordered.poisoned(access.buffer) {
                continue;
            }
            for &first in &earlier[access.buffer] {
                let (other, from) = (ordered.access(first), first.statement);
                if other.mode.conflicts(access.mode)
                    && !ordered.reach.ordered(from, id)
                    && ordered.overlap(other, access)
                    && !ordered.source.regions.exclusive(from, id)
                {
                    missing.push((first, narrow(index)));
                }
            }
        }
        // Nearest first: a statement that is reached through a missing edge needs no other edge.
        missing.sort_by(|a, b| b.0.statement.cmp(&a.0.statement).then(a.1.cmp(&b.1)));
        for (first, index) in missing {
            let from = first.statement;
            let implied = assumed[id].iter().any(|&near| {
                near == from || ordered.reach.precedes(from, near) || assumed[near].contains(&from)
            }) || ordered.reach.ancestors(id).any(|near| assumed[near].contains(&from));
            if implied {
                continue;
            }
            let further: Vec<StatementId> = assumed[from].clone();
            assumed[id].push(from);
            assumed[id].extend(further);
            found.push(unordered(ordered, first, AccessId { statement: id, index }));
        }
        for (index, access) in accesses.iter().enumerate() {
            earlier[access.buffer].push(AccessId { statement: id, index: narrow(index) });
        }
    }
    assumed
}

fn unordered(ordered: &Ordered, first: AccessId, second: AccessId) -> Diagnostic {
    let program = &ordered.source.program;
    let (one, two) = (ordered.access(first), ordered.access(second));
    let does = |access: &Access| match access.mode {
        Mode::Read => "reads",
        Mode::ReadWrite | Mode::Write => "writes",
        Mode::Atomic => "updates",
    };
    let name = ordered.buffer_name(two.buffer);
    let before = &program.statements[first.statement].name;
    let after = &program.statements[second.statement].name;
    let mut diagnostic = Diagnostic::new(
        Code::CW202,
        DiagnosticSite::Access(second),
        format!(
            "`{after}` {} `{name}`, and nothing orders it with `{before}`, which {} it",
            does(two),
            does(one)
        ),
    )
    .note(format!(
        "the missing edge is {} -> {}",
        ordered.at(first.statement),
        ordered.at(second.statement)
    ));
    let (left, right) = (ordered.slice(one), ordered.slice(two));
    if left != name || right != name {
        diagnostic = diagnostic.note(format!("`{left}` and `{right}` are not proved to be disjoint"));
        diagnostic = diagnostic.help(format!(
            "put `#[after({before})]` on this statement, or split the buffer with `split_at_mut`"
        ));
    } else {
        diagnostic = diagnostic.help(format!("put `#[after({before})]` on this statement"));
    }
    diagnostic
}

/// Reports CW203: with explicit order, an access that is not ordered after the alloc and before the free. Skips
/// accesses that another missing edge would order.
fn check_explicit_lifetimes(
    ordered: &Ordered,
    lifetimes: &Vector<BufferId, BufferLifetime>,
    assumed: &Vector<StatementId, Vec<StatementId>>,
    found: &mut Vec<Diagnostic>,
) {
    let mut preds = ordered.reach.reduced().clone();
    for (list, more) in preds.iter_mut().zip(assumed) {
        list.extend_from_slice(more);
    }
    let reach = Reach::new(&preds).unwrap_or_else(|_| ordered.reach.clone());
    for (buffer, life) in lifetimes.enumerate() {
        if ordered.poisoned(buffer) {
            continue;
        }
        let name = ordered.buffer_name(buffer);
        // A second free is reported separately, and it is unknown which of the two is intended.
        let frees = ordered.source.program.statements.iter();
        let frees = frees.filter(|statement| statement.kind == StatementKind::Free(buffer)).count();
        let free = life.free.filter(|_| frees == 1);
        let others =
            |id: StatementId| life.accesses.iter().map(|at| at.statement).filter(move |&other| other != id);
        for (nth, &access) in life.accesses.iter().enumerate() {
            let id = access.statement;
            if nth > 0 && life.accesses[nth - 1].statement == id {
                continue;
            }
            let user = &ordered.source.program.statements[id].name;
            if let Some(alloc) = life.alloc.filter(|&alloc| !reach.precedes(alloc, id))
                && !others(id).any(|other| reach.precedes(other, id) && !reach.precedes(alloc, other))
            {
                let message = format!("`{user}` uses `{name}`, but is not ordered after its alloc");
                let (line, at) = (ordered.line(alloc), ordered.at(id));
                let note = format!("the missing edge is alloc of `{name}` (line {line}) -> {at}");
                let help = format!("put `#[after({name})]` on this statement");
                let site = DiagnosticSite::Access(access);
                found.push(Diagnostic::new(Code::CW203, site, message).note(note).help(help));
            }
            if let Some(free) = free.filter(|&free| !reach.ordered(free, id))
                && !others(id).any(|other| reach.precedes(id, other) && !reach.ordered(free, other))
            {
                let message = format!("`{user}` uses `{name}`, but is not ordered before its free");
                let (line, at) = (ordered.line(free), ordered.at(id));
                let note = format!("the missing edge is {at} -> free of `{name}` (line {line})");
                let help = format!(
                    "name this statement and put `#[after(..)]` with its name on `free({name})`, or delete the `free`"
                );
                let site = DiagnosticSite::Access(access);
                found.push(Diagnostic::new(Code::CW203, site, message).note(note).help(help));
            }
        }
    }
}

/// Reports CW106, a warning.
fn check_usefulness(
    ordered: &Ordered,
    lifetimes: &Vector<BufferId, BufferLifetime>,
    found: &mut Vec<Diagnostic>,
) {
    let joined: BTreeSet<BufferId> =
        ordered.source.regions.joined().into_iter().map(|one| one.buffer).collect();
    for (buffer, life) in lifetimes.enumerate() {
        let name = ordered.buffer_name(buffer);
        let Some(alloc) = life.alloc else { continue };
        let returned = life.output.is_some();
        // The buffer may be used under another name.
        if name.starts_with('_') || ordered.poisoned(buffer) || returned || joined.contains(&buffer) {
            continue;
        }
        let message = if life.accesses.is_empty() {
            format!("`{name}` is allocated and never used")
        } else if life.accesses.iter().enumerate().all(|(nth, &at)| match ordered.access(at).mode {
            // The first `&mut` of an uninitialised buffer reads nothing.
            Mode::ReadWrite => nth == 0,
            mode => mode == Mode::Write,
        }) {
            format!("`{name}` is written and never read")
        } else {
            continue;
        };
        found.push(
            Diagnostic::new(Code::CW106, DiagnosticSite::Statement(alloc), message)
                .help(format!("remove it, or name it `_{name}` if this is intended")),
        );
    }
}
