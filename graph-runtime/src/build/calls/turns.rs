//! Orders the launches that contain collectives: on each device they run one after another, whatever their
//! execs, streams and communicators.
//!
//! So ranks that launch in the same order also run in the same order, and no rank waits for another whose
//! device is held by a later launch.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::cuda::{Clique, Context, Driver, Outcome};
use crate::error::Result;
use crate::kernels::Note;
use crate::waits::OwnedEvent;
use crate::watch;

/// The last launch with collectives on a device.
type Turn = Mutex<Option<Note>>;

static TURNS: Mutex<BTreeMap<Context, Arc<Turn>>> = Mutex::new(BTreeMap::new());

/// The last launches of some devices, ordered by context.
pub(crate) struct Turns(Vec<Arc<Turn>>);

impl Turns {
    /// Returns the entries for the devices of these contexts.
    pub fn of(contexts: impl Iterator<Item = Context>) -> Turns {
        let mut all = TURNS.lock().unwrap_or_else(PoisonError::into_inner);
        let contexts: BTreeSet<Context> = contexts.collect();
        Turns(contexts.into_iter().map(|context| all.entry(context).or_default().clone()).collect())
    }

    /// Locks all entries. It cannot deadlock: all threads lock in the order of the contexts.
    fn lock(&self) -> Vec<MutexGuard<'_, Option<Note>>> {
        self.0.iter().map(|turn| turn.lock().unwrap_or_else(PoisonError::into_inner)).collect()
    }

    /// Calls `launch` after ordering it after the earlier launches on these devices, and records it as `next`.
    /// `launch` returns the outcome of recording its event. The locks are held until then, so that no other
    /// thread orders a launch after an event that is not recorded.
    pub fn launch(
        &self,
        driver: &Driver,
        next: &Note,
        launch: impl FnOnce() -> Result<Outcome<()>>,
    ) -> Result<Outcome<()>> {
        let mut turns = self.lock();
        turns.iter().filter_map(|turn| turn.as_ref()).try_for_each(|known| known.order(driver, next))?;
        let recorded = launch()?;
        let held = recorded.is_ok();
        turns.iter_mut().for_each(|turn| **turn = Some(Note { held, ..next.clone() }));
        Ok(recorded)
    }

    /// Waits until the earlier launches on these devices are over, then calls `work`.
    pub fn alone<T>(&self, driver: &Driver, clique: &dyn Clique, work: impl FnOnce() -> T) -> Outcome<T> {
        let turns = self.lock();
        for known in turns.iter().filter_map(|turn| turn.as_ref()).filter(|known| known.held) {
            // These launches may use other communicators.
            let over = || driver.is_over(known.done.raw()) != Ok(false) || clique.check().is_err();
            watch::watch(driver, over);
        }
        Ok(work())
    }

    /// Removes the launches of an exec, which must be over.
    pub fn forget(&self, done: &Arc<OwnedEvent>) {
        for mut turn in self.lock() {
            if turn.as_ref().is_some_and(|known| Arc::ptr_eq(&known.done, done)) {
                *turn = None;
            }
        }
        watch::forget(done);
    }
}
