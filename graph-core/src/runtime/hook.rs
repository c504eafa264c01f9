//! A way for tests to hand the driver a broken plan, to see that the simulated one finds it.

use std::cell::RefCell;
use std::sync::Arc;

use crate::ir::Program;
use crate::operation::Operations;

use super::driver::Simulator;
use super::error::{Error, Result};

type Change = Box<dyn FnOnce(&Program, &mut Operations)>;

thread_local! {
    static CHANGE: RefCell<Option<Change>> = const { RefCell::new(None) };
}

/// Has the next build on this thread add a changed plan.
///
/// Only the simulated driver is given one: it reports what the real one would silently do. With any other driver
/// that build is an error.
pub fn change_next_plan(change: impl FnOnce(&Program, &mut Operations) + 'static) {
    CHANGE.set(Some(Box::new(change)));
}

/// Changes the plan if that was asked for.
pub(super) fn apply(program: &Program, operations: &mut Arc<Operations>) -> Result<()> {
    let Some(change) = CHANGE.take() else { return Ok(()) };
    if Simulator::get().is_none() {
        return Err(Error::Plan("only the simulated driver is given a changed plan".to_owned()));
    }
    let operations = Arc::make_mut(operations);
    change(program, operations);
    super::build::check_changed(program, operations)?;
    operations.index(program.statements.len());
    Ok(())
}
