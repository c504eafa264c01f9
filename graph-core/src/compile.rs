//! The pipeline.
//!
//! ```text
//! tokens -> LoweredProgram -> Ordered -> Checked -> Decision -> Liveness -> Layout -> Operations -> driver calls
//!     lower  order   check   launches place  layout emit    runtime
//! ```
//!
//! The macro runs [`front`] and prints the checked program. The runtime runs [`back`] on it, once the sizes are
//! known.

#[cfg(feature = "back")]
mod back;
#[cfg(feature = "back")]
mod decided;
#[cfg(feature = "back")]
mod memory;
#[cfg(feature = "back")]
mod planning;
#[cfg(feature = "back")]
mod shared_state;
#[cfg(feature = "back")]
mod target;
#[cfg(feature = "back")]
mod width;

use std::collections::{BTreeMap, BTreeSet};

use crate::check::{self, Checked};
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, DiagnosticSite};
use crate::index::Vector;
use crate::ir::{Access, Mode, Origin, Program, StatementId, StatementKind};
use crate::order::{self, LoweredProgram, Ordered};
use crate::sample::{FunctionShape, Sampled, sample};
use crate::scopes::{Scopes, endless, lift};

#[cfg(feature = "back")]
pub use back::{
    BackError, BackendOptions, BudgetFault, back, budget_curve, can_split_chains, explain, is_within_budget,
};
#[cfg(feature = "back")]
pub use decided::Decided;
#[cfg(feature = "back")]
pub use memory::memory_svg;
#[cfg(feature = "back")]
pub use planning::{LaunchRules, Plan, plan};
#[cfg(feature = "back")]
pub use shared_state::{SharedStateFault, edges_of_shared_state};
#[cfg(feature = "back")]
pub use target::{LaunchFacts, Target};

/// Orders and checks a program. Returns the program unless there are errors, and all diagnostics.
pub fn front(mut source: LoweredProgram) -> (Option<Checked>, Vec<Diagnostic>) {
    let scopes = Scopes::new(&source.program);
    lift(&mut source.program, &scopes);
    source.regions.enclose(&scopes);
    let pinned = host_copies_in_bodies(&source.program, &scopes);
    let explicit: Vec<StatementId> = scopes
        .list
        .iter()
        .map(|scope| scope.condition)
        .filter(|&at| source.regions.functions.is_explicit(&source.program, at, at))
        .collect();
    let (ordered, mut found) = order::order(source);
    let endless = endless_loops(&ordered, &scopes);
    let (checked, faults) = check::check(ordered);
    let stopped = !found.is_empty() || !endless.is_empty() || !explicit.is_empty() || !pinned.is_empty();
    found.extend(faults);
    found.extend(endless.into_iter().map(report_endless_loop));
    found.extend(explicit.into_iter().map(report_explicit_order));
    found.extend(pinned.into_iter().map(|at| {
        let message =
            "a copy between the host and the device is not allowed in a body that depends on a condition on the device"
                .to_owned();
        Diagnostic::new(Code::CW001, DiagnosticSite::Statement(at), message)
            .help("copy between the host and a device buffer before or after it")
    }));
    (checked.filter(|_| !stopped), found)
}

/// Returns the `while` loops that would never end.
fn endless_loops(Ordered { source, bounds, .. }: &Ordered, scopes: &Scopes) -> Vec<StatementId> {
    let mut endless = endless(&source.program, scopes, |one, other| bounds.disjoint(one, other));
    // The statement that would end the loop may be a rejected one.
    let operand = |at: StatementId| source.program.statements[at].accesses.first();
    endless.retain(|&at| !operand(at).is_some_and(|access| source.poisoned[access.buffer]));
    endless
}

/// Returns the copies in conditional bodies from or to host memory.
fn host_copies_in_bodies(program: &Program, scopes: &Scopes) -> Vec<StatementId> {
    if scopes.is_empty() {
        return Vec::new();
    }
    let pinned = |access: &Access| program.buffers[access.buffer].origin.is_pinned();
    let copies = program.statements.enumerate().filter(|(id, statement)| {
        let copies = matches!(statement.kind, StatementKind::Copy(_)) && scopes.around(*id).is_some();
        copies && statement.accesses.iter().any(pinned)
    });
    copies.map(|(id, _)| id).collect()
}

/// Returns CW001 for a `while` whose body never writes the operand.
fn report_endless_loop(condition: StatementId) -> Diagnostic {
    Diagnostic::new(
        Code::CW001,
        DiagnosticSite::Statement(condition),
        "no statement of this body writes the operand of its `while`".to_owned(),
    )
    .note("once entered, the loop would never end")
    .help("write the operand in the body, or put `#[at_most(n)]` on the loop")
}

/// Returns CW001 for a conditional node in a function with explicit order.
fn report_explicit_order(condition: StatementId) -> Diagnostic {
    Diagnostic::new(
        Code::CW001,
        DiagnosticSite::Statement(condition),
        "a function with explicit order cannot have conditions on the device".to_owned(),
    )
    .help("remove `order = \"explicit\"`, or move this into a separate graph function")
}

/// Statements with their inferred accesses. A statement in a loop is listed once for each sampled iteration.
pub type InferredAccesses = Vec<(StatementId, Vec<Access>)>;

/// Orders and checks a function. If its statements are nested, a sample of the iterations is checked. Returns the
/// inferred accesses unless there are errors, and all diagnostics. An error in a loop is reported once.
pub fn front_of_function(
    source: &LoweredProgram,
    shape: &FunctionShape<'_>,
) -> (Option<InferredAccesses>, Vec<Diagnostic>) {
    let (sampled, templates) = match shape.structure.is_flat() {
        true => (source.clone(), source.program.statements.ids().collect()),
        false => {
            let Sampled { source, templates } = sample(source, shape);
            (source, templates)
        }
    };
    let (checked, mut found) = front(sampled);
    for diagnostic in &mut found {
        diagnostic.site = diagnostic.site.map_statement(|id| templates[id]);
    }
    let unused_allocations = unused_allocations(&source.program, &templates, &found);
    let mut told: Vec<(Code, DiagnosticSite)> = Vec::new();
    let mut once = Vec::new();
    for diagnostic in found {
        let of_use = match (diagnostic.code, diagnostic.site) {
            (Code::CW106, DiagnosticSite::Statement(alloc)) => !unused_allocations.contains(&alloc),
            _ => false,
        };
        if !of_use && !told.contains(&(diagnostic.code, diagnostic.site)) {
            told.push((diagnostic.code, diagnostic.site));
            once.push(diagnostic);
        }
    }
    let settled = checked.map(|checked| {
        let statements = checked.program().statements.iter();
        templates.into_iter().zip(statements.map(|statement| statement.accesses.to_vec())).collect()
    });
    (settled, once)
}

/// Returns the allocations with a CW106 in every sampled iteration that no unsampled statement uses.
fn unused_allocations(
    program: &Program,
    templates: &Vector<StatementId, StatementId>,
    found: &[Diagnostic],
) -> BTreeSet<StatementId> {
    let mut reported: BTreeMap<StatementId, usize> = BTreeMap::new();
    for diagnostic in found {
        if let (Code::CW106, DiagnosticSite::Statement(alloc)) = (diagnostic.code, diagnostic.site) {
            *reported.entry(alloc).or_default() += 1;
        }
    }
    if reported.is_empty() {
        return BTreeSet::new();
    }
    let sampled: BTreeSet<StatementId> = templates.iter().copied().collect();
    for (_, statement) in program.statements.enumerate().filter(|(id, _)| !sampled.contains(id)) {
        for access in statement.accesses.iter() {
            if let Origin::Alloc(alloc) = program.buffers[access.buffer].origin {
                reported.remove(&alloc);
            }
        }
    }
    reported.retain(|alloc, count| templates.iter().filter(|template| *template == alloc).count() == *count);
    reported.into_keys().collect()
}

/// Applies the inferred modes. Elements that are uninitialised in one iteration count as uninitialised for
/// declarations.
pub fn settle(program: &mut Program, settled: &[(StatementId, Vec<Access>)]) {
    for (template, accesses) in settled {
        let own = program.statements[*template].accesses.to_mut();
        for (own, settled) in own.iter_mut().zip(accesses) {
            if settled.mode == Mode::Write {
                own.mode = Mode::Write;
            }
            own.relied_on |= settled.relied_on;
        }
    }
}
