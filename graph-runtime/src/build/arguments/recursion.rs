//! Finds recursion among graph functions before anything is expanded, also in arms that are not taken. An
//! iterative depth-first search over the tables of generated code.

use std::collections::BTreeSet;

use cuweave_core::index::Index;
use cuweave_core::ir::{CallId, StatementKind};
use cuweave_core::table::Table;

use crate::error::{Error, Result, SourceLocation};

/// Checks that no function that `table` calls, directly or indirectly, calls itself. O(calls in the text).
///
/// # Errors
///
/// [`Error::Recursion`] at the call that closes the cycle.
pub(crate) fn check_recursion(table: &'static Table) -> Result<()> {
    let address = |table: &'static Table| std::ptr::from_ref(table).addr();
    let mut done = BTreeSet::new();
    // The path of the search: each function with the number of its calls visited so far.
    let mut path: Vec<(&'static Table, usize)> = vec![(table, 0)];
    while let Some((caller, next)) = path.last_mut() {
        let (caller, at) = (*caller, *next);
        *next += 1;
        let Some(callee) = caller.callees().nth(at) else {
            done.insert(address(caller));
            path.pop();
            continue;
        };
        if let Some(first) = path.iter().position(|(table, _)| address(table) == address(callee)) {
            let name =
                |table: &'static Table| table.get().map_or(String::new(), |it| it.program.name.to_string());
            let around = path[first..].iter().map(|(table, _)| *table).chain([callee]);
            return Err(Error::Recursion { at: call(caller, at), cycle: around.map(name).collect() });
        }
        if !done.contains(&address(callee)) {
            path.push((callee, 0));
        }
    }
    Ok(())
}

/// Returns the source location of the call with index `at`.
fn call(caller: &'static Table, at: usize) -> Box<SourceLocation> {
    let place = caller.get().and_then(|caller| {
        let program = &caller.program;
        let statement = program
            .statements
            .iter()
            .find(|statement| statement.kind == StatementKind::Call(CallId::new(at)))?;
        Some(
            SourceLocation::new(&*statement.name, &*program.file, statement.line)
                .with_column(statement.column),
        )
    });
    Box::new(place.unwrap_or_else(|| SourceLocation::new("", "", 0)))
}
