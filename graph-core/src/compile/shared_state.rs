//! Edges between launches that share state other than the program's buffers.

use std::collections::BTreeMap;

use crate::check::Checked;
use crate::index::Vector;
use crate::ir::StatementId;
use crate::order::shared::{Effect, SharedUse, missing_edges};
use crate::reach::{Cycle, Reach};

/// Why launches that share state cannot be ordered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SharedStateFault<S> {
    /// With explicit order, two launches are not ordered; or an edge between them contradicts the order.
    Unordered(S, (StatementId, StatementId)),
    /// The order of the program has a cycle.
    Cyclic(Cycle),
}

/// Returns the missing edges, in program order, between launches that share state and do not commute. `uses` lists
/// the uses of each piece of state in program order. O(statements^2) if there is such state.
///
/// # Errors
///
/// With explicit order, two launches that share state and are not ordered. Otherwise an edge that contradicts the
/// order.
pub fn edges_of_shared_state<S: Copy + Ord>(
    checked: &Checked,
    mut uses: BTreeMap<S, Vec<SharedUse<'_>>>,
) -> Result<Vec<(StatementId, StatementId)>, SharedStateFault<S>> {
    let program = checked.program();
    // Device-scope atomics do not commute with atomics of another device.
    let device = |one: &SharedUse<'_>| program.statements[one.statement].device;
    for uses in uses.values_mut() {
        if uses.iter().any(|one| device(one) != device(&uses[0])) {
            let updates = uses.iter_mut().filter(|one| one.effect != Effect::Reads);
            updates.for_each(|one| one.effect = Effect::Ordered);
        }
    }
    uses.retain(|_, uses| {
        uses.len() > 1 && uses.iter().any(|one| one.effect != uses[0].effect || one.effect == Effect::Ordered)
    });
    if uses.is_empty() {
        return Ok(Vec::new());
    }
    let mut preds = Vector::filled(Vec::new(), program.statements.len());
    for &(before, after) in checked.edges().iter() {
        preds[after].push(before);
    }
    let reach = Reach::new(&preds).map_err(SharedStateFault::Cyclic)?;
    let forward = checked.edges().iter().all(|(before, after)| before < after);
    let mut found: BTreeMap<(StatementId, StatementId), S> = BTreeMap::new();
    for (&state, uses) in &uses {
        for edge in missing_edges(uses, &reach, forward) {
            found.entry(edge).or_insert(state);
        }
    }
    let explicit =
        |edge: &(StatementId, StatementId)| checked.functions().is_explicit(program, edge.0, edge.1);
    if let Some((&edge, &state)) = found.iter().find(|(edge, _)| explicit(edge)) {
        return Err(SharedStateFault::Unordered(state, edge));
    }
    for &(before, after) in found.keys() {
        preds[after].push(before);
    }
    if let Err(Cycle { path }) = Reach::new(&preds) {
        let around = path.iter().copied().zip(path.iter().copied().cycle().skip(1));
        let closing = around.into_iter().find_map(|edge| Some((edge, *found.get(&edge)?)));
        let first = || found.first_key_value().map(|(&edge, &state)| (edge, state));
        if let Some((edge, state)) = closing.or_else(first) {
            return Err(SharedStateFault::Unordered(state, edge));
        }
    }
    Ok(found.into_keys().collect())
}
