//! Hooks for tests and benchmarks. Tests hand the simulated driver a broken plan, or broken tables of batches,
//! and check that it reports them. Benchmarks switch off rules of the launch decisions.

use std::cell::RefCell;
use std::sync::Arc;

use cuweave_core::check::Checked;
use cuweave_core::compile::LaunchRules;
use cuweave_core::index::{Index, Vector};
use cuweave_core::ir::{Program, StatementId};
use cuweave_core::launches::Launch;
use cuweave_core::operation::{OperationId, OperationKind, Operations};
use cuweave_ptx::rewrite::BatchTable;

use crate::cuda::{Packed, Simulator};
use crate::error::{PlanFault, Result};

type Change = Box<dyn FnOnce(&Program, &mut Operations)>;
type ChangeTable = Box<dyn FnMut(&BatchTable, &mut Packed)>;
type ChangeRules = Box<dyn FnMut(&Checked, &Vector<StatementId, Option<Launch>>, &mut LaunchRules)>;

thread_local! {
    static CHANGE: RefCell<Option<Change>> = const { RefCell::new(None) };
    static CHANGE_RULES: RefCell<Option<ChangeRules>> = const { RefCell::new(None) };
    /// The change for the next build's tables, and the one for the current build's.
    static CHANGE_TABLES: [RefCell<Option<ChangeTable>>; 2] = const { [RefCell::new(None), RefCell::new(None)] };
}

/// Makes the next build on this thread use a changed plan.
///
/// Only the simulated driver accepts it: it reports faults that the real driver would silently execute. With
/// any other driver that build is an error.
pub fn change_next_plan(change: impl FnOnce(&Program, &mut Operations) + 'static) {
    CHANGE.set(Some(Box::new(change)));
}

/// Makes the next build on this thread change the table of each batch, which has the members' parameters,
/// before the batch is added. Setters do not change it again.
///
/// Only the simulated driver accepts it, as in [`change_next_plan`].
pub fn change_next_tables(change: impl FnMut(&BatchTable, &mut Packed) + 'static) {
    CHANGE_TABLES.with(|[next, _]| next.replace(Some(Box::new(change))));
}

/// Makes the next build on this thread decide about its launches by changed rules. `change` is called with the
/// program and the facts about its launches. It is called again after a kernel turned out not to be batchable.
///
/// The resulting plan is correct, so the real driver accepts it too.
pub fn change_next_rules(
    change: impl FnMut(&Checked, &Vector<StatementId, Option<Launch>>, &mut LaunchRules) + 'static,
) {
    CHANGE_RULES.set(Some(Box::new(change)));
}

/// Returns the change of rules for this build, and clears it.
pub(crate) fn rules() -> impl FnMut(&Checked, &Vector<StatementId, Option<Launch>>, LaunchRules) -> LaunchRules
{
    let mut change = CHANGE_RULES.take();
    move |checked, launches, mut rules| {
        if let Some(change) = &mut change {
            change(checked, launches, &mut rules);
        }
        rules
    }
}

/// Changes the plan if requested. Returns true if the plan or the tables of its batches differ from what was
/// planned.
pub(crate) fn apply(program: &Program, operations: &mut Arc<Operations>) -> Result<bool> {
    let tables = CHANGE_TABLES.with(|[next, now]| {
        now.replace(next.take());
        now.borrow().is_some()
    });
    let change = CHANGE.take();
    if !tables && change.is_none() {
        return Ok(false);
    }
    if Simulator::get().is_none() {
        CHANGE_TABLES.with(|[_, now]| now.take());
        return Err(PlanFault::NotSimulated.into());
    }
    let Some(change) = change else { return Ok(true) };
    let operations = Arc::make_mut(operations);
    change(program, operations);
    check_changed(program, operations)?;
    operations.index(program.statements.len());
    Ok(true)
}

/// Changes the table of a batch if requested.
pub(crate) fn apply_to_table(table: &BatchTable, packed: &mut Packed) {
    CHANGE_TABLES.with(|[_, now]| {
        if let Some(change) = now.borrow_mut().as_mut() {
            change(table, packed);
        }
    });
}

/// Checks that changed operations can be added: everything that an operation refers to exists and precedes it.
fn check_changed(program: &Program, operations: &Operations) -> Result<()> {
    for (at, operation) in operations.list.enumerate() {
        let memory = match operation.kind {
            OperationKind::Alloc { memory } | OperationKind::Free { memory } => Some(memory),
            _ => None,
        };
        let sourced = !matches!(operation.kind, OperationKind::Statement(_)) || !operation.sources.is_empty();
        let known = operation.sources.iter().all(|&source| source.index() < program.statements.len());
        let after = operation.after.iter().all(|&before| before < at);
        if !(sourced
            && known
            && after
            && memory.is_none_or(|memory| memory.index() < operations.memories.len()))
        {
            return Err(PlanFault::Changed(at).into());
        }
    }
    if operations.places.len() == program.buffers.len() {
        Ok(())
    } else {
        Err(PlanFault::Changed(OperationId::from_u32(0)).into())
    }
}
