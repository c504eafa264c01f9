//! Prints the result of each stage as text, for snapshots and for reading.

use std::fmt::{Display, Write};

use crate::check::Checked;
use crate::ir::{Access, DimId, Lifetime, Mode, Origin, Program};
use crate::operation::{BufferPlacement, OperationKind, Operations};
use crate::place::Liveness;
use crate::scopes::Scopes;

/// Prints a checked program: its buffers, its statements, its order.
pub fn checked(checked: &Checked) -> String {
    let program = checked.program();
    let mut text = format!("graph {}\n", program.name);
    for (id, buffer) in program.buffers.enumerate() {
        let origin = match buffer.origin {
            Origin::Alloc(_) => "alloc",
            Origin::Device { mutable: false } => "&",
            Origin::Device { mutable: true } => "&mut",
            Origin::Pinned { mutable: false } => "& pinned",
            Origin::Pinned { mutable: true } => "&mut pinned",
            Origin::Taken => "taken over",
            Origin::Part(_) => "part",
        };
        let returned = if program.outputs.contains(&id) { ", returned" } else { "" };
        line(
            &mut text,
            format_args!("  b{id} {}: {origin} [{}]{returned}", buffer.name, program.dims[buffer.len]),
        );
    }
    for (id, statement) in program.statements.enumerate() {
        let mut parts: Vec<String> =
            statement.accesses.iter().map(|access| self::access(program, access)).collect();
        if let Some(Lifetime::Begins(&buffer) | Lifetime::Ends(&buffer)) = statement.kind.lifetime() {
            parts.push(program.buffers[buffer].name.to_string());
        }
        let kind = statement.kind.name();
        let after = ids(" after", 's', &statement.after);
        line(&mut text, format_args!("  s{id} {}: {kind}({}){after}", statement.name, parts.join(", ")));
    }
    let edges: Vec<String> = checked.edges().iter().map(|(from, to)| format!("s{from} -> s{to}")).collect();
    line(
        &mut text,
        format_args!("  order: {} ({} before reduction)", edges.join(", "), checked.edges_before_reduction()),
    );
    text
}

fn access(program: &Program, access: &Access) -> String {
    let borrow = match access.mode {
        Mode::Read => "&",
        Mode::ReadWrite => "&mut ",
        Mode::Write => "&mut fresh ",
        Mode::Atomic => "atomic ",
    };
    let buffer = &program.buffers[access.buffer];
    let relied = if access.relied_on { " relied on" } else { "" };
    if access.rows.is_none() && access.lo == DimId::from_u32(0) && access.hi == buffer.len {
        return format!("{borrow}{}{relied}", buffer.name);
    }
    let (lo, hi) = (&program.dims[access.lo], &program.dims[access.hi]);
    let rows = access.rows.map_or_else(String::new, |rows| rows.text(&program.dims));
    format!("{borrow}{}[{lo}..{hi}]{rows}{relied}", buffer.name)
}

/// Prints the live ranges: where each begins and ends, and which buffers may reuse its bytes.
pub fn placed(program: &Program, placed: &Liveness) -> String {
    let mut text = String::new();
    for (id, range) in placed.live_ranges.enumerate() {
        let name = &program.buffers[id].name;
        let Some(range) = range else { continue };
        let begins = ids(" begins", 's', &range.begins);
        let ends = if range.freed { ids(" ends", 's', &range.ends) } else { " leaves the graph".to_owned() };
        let others: Vec<String> = program
            .buffers
            .ids()
            .filter(|&other| placed.before(id, other))
            .map(|other| program.buffers[other].name.to_string())
            .collect();
        let before = if others.is_empty() { String::new() } else { format!(" before {}", others.join(", ")) };
        line(&mut text, format_args!("  b{id} {name}:{begins}{ends}{before}"));
    }
    text
}

/// Prints the operations in topological order, and where each buffer is in memory.
pub fn operations(program: &Program, operations: &Operations) -> String {
    let mut text = String::new();
    let scopes = Scopes::new(program);
    for (id, operation) in operations.list.enumerate() {
        let what = match operation.kind {
            OperationKind::Alloc { memory } => format!("alloc m{memory}"),
            OperationKind::Free { memory } => format!("free m{memory}"),
            OperationKind::FreeTaken { buffer } => format!("free taken b{buffer}"),
            OperationKind::Statement(_) | OperationKind::Hub => operation.kind.name().to_owned(),
        };
        let from = ids(" from", 's', &operation.sources);
        let after = ids(" after", 'o', &operation.after);
        let body = operations.body_of(&scopes, operation);
        let body = body.map_or(String::new(), |body| format!(" in `{}`", scopes.name(program, body)));
        line(&mut text, format_args!("  o{id} {}: {what}{from}{after}{body}", operation.name));
    }
    for (id, memory) in operations.memories.enumerate() {
        let owner = if memory.node { "" } else { ", owned by the exec" };
        line(&mut text, format_args!("  m{id} {}: {} bytes{owner}", memory.name, memory.bytes));
    }
    for (id, place) in operations.places.enumerate() {
        let name = &program.buffers[id].name;
        match place {
            BufferPlacement::Inside { memory, offset } => {
                line(&mut text, format_args!("  b{id} {name}: m{memory} + {offset}"))
            }
            BufferPlacement::Bound => line(&mut text, format_args!("  b{id} {name}: bound")),
            BufferPlacement::Nowhere => line(&mut text, format_args!("  b{id} {name}: unused")),
        }
    }
    line(
        &mut text,
        format_args!(
            "  nodes {}, edges {}, depth {}",
            operations.list.len(),
            operations.edges(),
            operations.depth
        ),
    );
    text
}

fn ids(label: &str, letter: char, list: &[impl Display]) -> String {
    if list.is_empty() {
        return String::new();
    }
    let list: Vec<String> = list.iter().map(|id| format!("{letter}{id}")).collect();
    format!("{label} {}", list.join(", "))
}

fn line(text: &mut String, line: std::fmt::Arguments<'_>) {
    let _ = writeln!(text, "{line}");
}
