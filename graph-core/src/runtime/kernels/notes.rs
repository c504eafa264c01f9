//! The last launches that used the module-level variables of a loaded module.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;

use cudarc::driver::CudaStream;

use crate::runtime::cuda::{Driver, Outcome, Stream};
use crate::runtime::waits::OwnedEvent;

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
    /// Kept alive, so that its handle is not reused.
    pub stream: Arc<CudaStream>,
    /// The thread of a per-thread default stream, whose handle is another stream on each thread.
    pub thread: Option<ThreadId>,
    /// True if the event is known to record the launch.
    pub held: bool,
}

impl Note {
    pub fn in_one_stream(&self, other: &Note) -> bool {
        Stream::of(&self.stream) == Stream::of(&other.stream) && self.thread == other.thread
    }

    /// Makes the launch `next` come after this one. Launches of one exec come in their order by themselves.
    pub fn order(&self, driver: &Driver, next: &Note) -> Outcome<()> {
        if self.in_one_stream(next) || Arc::ptr_eq(&self.done, &next.done) {
            return Ok(());
        }
        if self.held {
            driver.wait(Stream::of(&next.stream), self.done.raw())
        } else {
            driver.synchronize_context()
        }
    }
}

/// Drops the notes of finished launches once there are many: readers may come from any number of streams and threads.
pub(crate) fn forget_the_finished(driver: &Driver, notes: &mut Vec<Note>) {
    const MANY: usize = 16;
    if notes.len() >= MANY {
        driver.relaxed(|| notes.retain(|note| !note.held || driver.is_over(note.done.raw()) != Ok(true)));
    }
}
