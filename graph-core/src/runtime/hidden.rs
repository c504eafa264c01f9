//! Hidden state: module-level variables that launches share, and the order that they add.

use std::collections::BTreeMap;

use crate::ir::{Order, Program, StatementId};
use crate::reach::Reach;

use super::build::at_statement;
use super::error::{Error, Result};
use super::evaluate::Recorded;

/// The edges, in program order, between unordered launches of which one writes a variable that both use.
pub(super) fn edges(program: &Program, records: &[Recorded]) -> Result<Vec<(StatementId, StatementId)>> {
    let mut users: BTreeMap<(usize, &str), Vec<(StatementId, bool)>> = BTreeMap::new();
    for (statement, record) in (0..).zip(records) {
        let Recorded::Launch(launch) = record else { continue };
        let module = std::ptr::from_ref(launch.kernel.module).addr();
        let writes = launch.kernel.hidden_writes;
        let reads = launch.kernel.hidden_reads.iter().filter(|name| !writes.contains(name));
        for (name, write) in reads.map(|name| (name, false)).chain(writes.iter().map(|name| (name, true))) {
            users.entry((module, name)).or_default().push((statement, write));
        }
    }
    users.retain(|_, users| users.len() > 1 && users.iter().any(|user| user.1));
    if users.is_empty() {
        return Ok(Vec::new());
    }
    let mut preds = vec![Vec::new(); program.statements.len()];
    for &(before, after) in program.edges.iter() {
        preds[after as usize].push(before);
    }
    let reach = Reach::of(&preds).map_err(|cycle| Error::Plan(cycle.to_string()))?;
    let shares = |variable: &str, first, second| Error::HiddenState {
        variable: variable.to_owned(),
        first: at_statement(program, first),
        second: at_statement(program, second),
    };
    let mut edges = Vec::new();
    for ((_, variable), users) in &users {
        for (at, &(second, writes)) in users.iter().enumerate() {
            // A writer comes after all users since the last writer, a reader after the last writer: their
            // earlier ones follow by transitivity.
            for &(first, wrote) in users[..at].iter().rev() {
                if (writes || wrote) && !reach.ordered(first, second) {
                    if program.options.order == Order::Explicit {
                        return Err(shares(variable, first, second));
                    }
                    edges.push((first, second));
                }
                if wrote {
                    break;
                }
            }
        }
    }
    for &(before, after) in &edges {
        preds[after as usize].push(before);
    }
    if Reach::of(&preds).is_err() {
        // One of the edges closes it: the first that contradicts what stands without it.
        let all = |&(first, second): &(StatementId, StatementId)| reach.precedes(second, first);
        let (first, second) =
            edges.iter().find(|edge| all(edge)).or(edges.first()).copied().unwrap_or_default();
        return Err(shares("hidden state", first, second));
    }
    Ok(edges)
}
