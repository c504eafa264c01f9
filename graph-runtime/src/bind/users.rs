//! The users of [`Buffer`](super::Buffer)s: execs and other calls, with their last uses.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cudarc::driver::CudaStream;

use crate::cuda::{Driver, Outcome, Stream};
use crate::waits::{self, HeldStream, OwnedEvent};

use super::clock::{LastUse, StreamHistory};

/// The uses by one exec, or by a call other than a launch.
#[derive(Debug)]
pub(crate) struct User {
    /// The event that records the last use.
    done: Arc<OwnedEvent>,
    last: Mutex<Option<LastUse>>,
    /// True if no further uses follow.
    ended: AtomicBool,
    /// True if a conflicting entry was added since this user last checked all entries.
    outdated: AtomicBool,
}

impl User {
    /// Returns a user without uses. `done` is the event that will record them.
    pub fn new(done: Arc<OwnedEvent>) -> User {
        let (ended, outdated) = (AtomicBool::new(false), AtomicBool::new(false));
        User { done, last: Mutex::default(), ended, outdated }
    }

    /// Returns a copy with the same last use that has ended.
    pub fn ended(&self) -> User {
        let (ended, outdated) = (AtomicBool::new(true), AtomicBool::new(false));
        User { done: self.done.clone(), last: Mutex::new(self.last().clone()), ended, outdated }
    }

    pub fn last(&self) -> MutexGuard<'_, Option<LastUse>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the last use, with its position among all uses. The new use must be ordered after the old one. `held` is
    /// true if the event records it.
    pub fn used(&self, place: u64, stream: &Arc<CudaStream>, held: bool) {
        let mut last = self.last();
        match &mut *last {
            Some(last) if last.stream.is_here(stream) => (last.place, last.held) = (place, held),
            last => *last = Some(LastUse { stream: HeldStream::new(stream), place, held }),
        }
    }

    /// Returns the position of the last use among all uses. 0 before the first one.
    pub fn place(&self) -> u64 {
        self.last().as_ref().map_or(0, |last| last.place)
    }

    /// Declares that no further uses follow.
    pub fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }

    pub fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    /// Returns true if a conflicting entry was added since [`User::update`]. The ledger must be locked.
    pub fn is_outdated(&self) -> bool {
        self.outdated.load(Ordering::Relaxed)
    }

    /// Records that a conflicting entry was added.
    pub fn outdate(&self) {
        self.outdated.store(true, Ordering::Relaxed);
    }

    /// Clears the outdated flag, before all entries are checked. The ledger must stay locked until the new
    /// entries are added.
    pub fn update(&self) {
        self.outdated.store(false, Ordering::Relaxed);
    }

    /// Returns true if the last use is over.
    pub fn is_over(&self, driver: &Driver) -> bool {
        let held = self.last().as_ref().is_none_or(|last| last.held);
        held && driver.is_over(self.done.raw()) == Ok(true)
    }
}

/// A use to wait for: the last one in its stream.
struct Wait {
    last: LastUse,
    done: Arc<OwnedEvent>,
}

/// The users whose entries conflict with an exec's entries. Each has the position of its last use that is known
/// to precede the exec's next launch.
#[derive(Debug, Default)]
pub(crate) struct Rivals(Vec<(Arc<User>, u64)>);

impl Rivals {
    pub fn add(&mut self, user: &Arc<User>) {
        // The last use of an ended user is waited for once, so it need not be kept.
        if !user.has_ended() && !self.0.iter().any(|(known, _)| Arc::ptr_eq(known, user)) {
            self.0.push((user.clone(), 0));
        }
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds the last uses that a launch on a stream must wait for.
    pub fn before(&self, history: StreamHistory<'_>, waits: &mut Waits) {
        for (user, known) in &self.0 {
            let waited = |last: &LastUse| last.place <= *known || history.includes(last);
            if user.last().as_ref().is_some_and(|last| !waited(last)) {
                waits.add(user);
            }
        }
    }

    /// Records that a launch has been ordered after their last uses.
    pub fn after(&mut self) {
        self.0.iter_mut().for_each(|(user, known)| *known = user.place());
    }
}

/// The uses that the next use waits for. At most one for each stream.
#[derive(Default)]
pub(crate) struct Waits(Vec<Wait>);

impl Waits {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the uses that events record.
    pub fn held(&self) -> impl Iterator<Item = &LastUse> {
        self.0.iter().map(|wait| &wait.last).filter(|last| last.held)
    }

    pub fn add(&mut self, user: &User) {
        let Some(last) = user.last().clone() else { return };
        match self.0.iter_mut().find(|known| known.last.held && known.last.stream.is(&last.stream)) {
            Some(known) if last.held => {
                if known.last.place < last.place {
                    *known = Wait { last, done: user.done.clone() };
                }
            }
            _ => self.0.push(Wait { last, done: user.done.clone() }),
        }
    }

    /// Makes a stream wait for all of these uses. If an event does not record its use, the host waits for the
    /// context.
    pub fn order(&self, driver: &Driver, stream: Stream) -> Outcome<()> {
        self.0.iter().try_for_each(|wait| match wait.last.held {
            true => waits::order_or_wait(driver, stream, wait.done.raw()),
            false => {
                let current = driver.current_context()?;
                driver.enter(wait.last.stream.context())?;
                let waited = driver.synchronize_context();
                driver.enter(current)?;
                waited
            }
        })
    }
}
