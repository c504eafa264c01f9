//! Counts an exec's launches and computes the values of flags and semaphores that advance with each launch. The
//! values of a single statement are computed in `statements/kinds/sync`.

use cuweave_core::index::Vector;
use cuweave_core::ir::StatementId;

use crate::build::{BuiltGraph, Definition};
use crate::error::{Error, Result, at_statement};
use crate::statements::{StatementRecord, StatementRecordExt, SyncValue};

/// The number of launches, and the values for which the last one waited or which it signalled.
#[derive(Clone, Debug, Default)]
pub(crate) struct LaunchCounter {
    /// The number of launches so far, which is also the index of the next one.
    pub launches: u64,
    /// The statements that wait for or signal a flag or a semaphore.
    statements: Vec<StatementId>,
    /// For each flag and semaphore that the last launch waited for, and each semaphore that it signalled: the
    /// furthest value.
    last: Vec<SyncValue>,
}

impl LaunchCounter {
    pub fn new(records: &Vector<StatementId, StatementRecord>) -> LaunchCounter {
        let synced = records.enumerate().filter(|(_, record)| record.sync().is_some());
        LaunchCounter { launches: 0, statements: synced.map(|(id, _)| id).collect(), last: Vec::new() }
    }

    /// Returns true if the graph uses a flag or a semaphore.
    pub fn has_statements(&self) -> bool {
        !self.statements.is_empty()
    }
}

/// The checked values of a launch that has not been enqueued yet.
#[must_use = "a launch counts once it is in flight"]
pub(crate) struct NextLaunch {
    due: Vec<SyncValue>,
}

impl LaunchCounter {
    /// Returns the values of the next launch and checks that they are ahead of the last launch's.
    ///
    /// # Errors
    ///
    /// A value that is not ahead: the launch would mistake an earlier signal for its own.
    pub fn prepare_next(&self, built: &BuiltGraph, definition: &Definition) -> Result<NextLaunch> {
        let LaunchCounter { launches, statements, last } = self;
        let mut due: Vec<SyncValue> = Vec::new();
        for &statement in statements {
            let Some(next) = built.sync_value(definition, statement, *launches) else { continue };
            if let Some(last) = last.iter().find(|last| last.is_of(&next) && !next.is_ahead_of(last)) {
                let at = at_statement(definition.program(), statement);
                return Err(Error::ValueNotAhead { at, last: last.value, next: next.value });
            }
            match due.iter_mut().find(|due| due.is_of(&next)) {
                Some(furthest) if next.is_ahead_of(furthest) => *furthest = next,
                Some(_) => {}
                None => due.push(next),
            }
        }
        Ok(NextLaunch { due })
    }

    /// Counts a launch that is in flight.
    pub fn commit(&mut self, NextLaunch { due }: NextLaunch) {
        self.launches = self.launches.wrapping_add(1);
        self.last = due;
    }

    /// Writes the values of the next launch to the nodes. After a failure some nodes are stale; the next call
    /// writes all of them again.
    pub fn write_values(&self, built: &mut BuiltGraph, definition: &Definition) -> Result<()> {
        if self.statements.is_empty() || built.state.launch == self.launches {
            return Ok(());
        }
        built.state.launch = self.launches;
        let advancing: Vec<StatementId> =
            self.statements.iter().copied().filter(|&id| built.state.advances(id)).collect();
        // No launch has this index, so the next call patches again.
        built.patch_all(definition, advancing.into_iter()).inspect_err(|_| built.state.launch = u64::MAX)
    }
}
