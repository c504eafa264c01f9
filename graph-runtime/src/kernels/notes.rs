//! The last launches that used the module variables of a loaded module, by which launches of different execs
//! are ordered.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use crate::cuda::{Driver, Outcome};
use crate::waits::{HeldStream, OwnedEvent};

/// The last launches that used a module's variables, keyed by variable.
#[derive(Debug, Default)]
pub(crate) struct VariableLaunches(pub Mutex<BTreeMap<&'static str, VariableUses>>);

#[derive(Debug, Default)]
pub(crate) struct VariableUses {
    pub written: Option<LaunchNote>,
    /// The launches that have read it since the last write.
    pub read: Vec<LaunchNote>,
}

/// A launch that used a variable. This value may outlive the launch's exec.
#[derive(Clone, Debug)]
pub(crate) struct LaunchNote {
    pub done: Arc<OwnedEvent>,
    pub stream: HeldStream,
    /// True if the event is known to record the launch.
    pub held: bool,
}

impl LaunchNote {
    pub fn in_one_stream(&self, other: &LaunchNote) -> bool {
        self.stream.is(&other.stream)
    }

    /// Orders the launch `next` after this one. Launches of one exec are ordered already.
    pub fn order(&self, driver: &Driver, next: &LaunchNote) -> Outcome<()> {
        if self.in_one_stream(next) || Arc::ptr_eq(&self.done, &next.done) {
            return Ok(());
        }
        if self.held { driver.wait(next.stream.raw(), self.done.raw()) } else { driver.synchronize_context() }
    }
}

/// Drops completed launches once there are many: readers may use any number of streams.
pub(crate) fn drop_completed(driver: &Driver, notes: &mut Vec<LaunchNote>) {
    const PRUNE_AT: usize = 16;
    if notes.len() >= PRUNE_AT {
        driver.relaxed(|| notes.retain(|note| !note.held || driver.is_over(note.done.raw()) != Ok(true)));
    }
}
