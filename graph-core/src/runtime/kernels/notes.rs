//! The last launches that used the module-level variables of a loaded module.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use crate::runtime::cuda::{Driver, Outcome};
use crate::runtime::waits::{HeldStream, OwnedEvent};

/// The launches that a module's variables remember, by variable.
#[derive(Debug, Default)]
pub(crate) struct Notes(pub Mutex<BTreeMap<&'static str, Variable>>);

#[derive(Debug, Default)]
pub(crate) struct Variable {
    pub written: Option<Note>,
    /// The launches that have read it since.
    pub read: Vec<Note>,
}

/// A launch that used a variable. The note outlives its exec.
#[derive(Clone, Debug)]
pub(crate) struct Note {
    pub done: Arc<OwnedEvent>,
    pub stream: HeldStream,
    /// True if the event is known to record the launch.
    pub held: bool,
}

impl Note {
    pub fn in_one_stream(&self, other: &Note) -> bool {
        self.stream.is(&other.stream)
    }

    /// Makes the launch `next` come after this one. Launches of one exec come in their order by themselves.
    pub fn order(&self, driver: &Driver, next: &Note) -> Outcome<()> {
        if self.in_one_stream(next) || Arc::ptr_eq(&self.done, &next.done) {
            return Ok(());
        }
        if self.held { driver.wait(next.stream.raw(), self.done.raw()) } else { driver.synchronize_context() }
    }
}

/// Drops the notes of finished launches once there are many: readers may come from any number of streams and threads.
pub(crate) fn forget_the_finished(driver: &Driver, notes: &mut Vec<Note>) {
    const MANY: usize = 16;
    if notes.len() >= MANY {
        driver.relaxed(|| notes.retain(|note| !note.held || driver.is_over(note.done.raw()) != Ok(true)));
    }
}
