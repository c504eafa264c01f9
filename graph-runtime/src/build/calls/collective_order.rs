//! Orders the launches that contain collectives: on each device they run one after another, whatever their
//! execs, streams and communicators.
//!
//! So ranks that launch in the same order also run in the same order, and no rank waits for another whose
//! device is held by a later launch.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::cuda::{Context, Driver, LocalRanks, Outcome};
use crate::error::Result;
use crate::kernels::LaunchNote;
use crate::waits::OwnedEvent;
use crate::watch;

/// The last launch with collectives on a device.
type LastLaunch = Mutex<Option<LaunchNote>>;

static LAST_LAUNCHES: Mutex<BTreeMap<Context, Arc<LastLaunch>>> = Mutex::new(BTreeMap::new());

/// The last launches of some devices, ordered by context.
pub(crate) struct CollectiveOrder(Vec<Arc<LastLaunch>>);

impl CollectiveOrder {
    /// Returns the entries for the devices of these contexts.
    pub fn for_contexts(contexts: impl Iterator<Item = Context>) -> CollectiveOrder {
        let mut all = LAST_LAUNCHES.lock().unwrap_or_else(PoisonError::into_inner);
        let contexts: BTreeSet<Context> = contexts.collect();
        CollectiveOrder(contexts.into_iter().map(|context| all.entry(context).or_default().clone()).collect())
    }

    /// Locks all entries. It cannot deadlock: all threads lock in the order of the contexts.
    fn lock(&self) -> Vec<MutexGuard<'_, Option<LaunchNote>>> {
        self.0.iter().map(|last| last.lock().unwrap_or_else(PoisonError::into_inner)).collect()
    }

    /// Calls `launch` after ordering it after the earlier launches on these devices, and records it as `next`.
    /// `launch` returns the outcome of recording its event. The locks are held until then, so that no other
    /// thread orders a launch after an event that is not recorded.
    pub fn launch(
        &self,
        driver: &Driver,
        next: &LaunchNote,
        launch: impl FnOnce() -> Result<Outcome<()>>,
    ) -> Result<Outcome<()>> {
        let mut locked = self.lock();
        locked.iter().filter_map(|last| last.as_ref()).try_for_each(|known| known.order(driver, next))?;
        let recorded = launch()?;
        let held = recorded.is_ok();
        locked.iter_mut().for_each(|last| **last = Some(LaunchNote { held, ..next.clone() }));
        Ok(recorded)
    }

    /// Waits until the earlier launches on these devices are over, then calls `work`.
    pub fn alone<T>(
        &self,
        driver: &Driver,
        communicator: &dyn LocalRanks,
        work: impl FnOnce() -> T,
    ) -> Outcome<T> {
        let locked = self.lock();
        for known in locked.iter().filter_map(|last| last.as_ref()).filter(|known| known.held) {
            // These launches may use other communicators.
            let over = || driver.is_over(known.done.raw()) != Ok(false) || communicator.check().is_err();
            watch::poll_until(driver, over);
        }
        Ok(work())
    }

    /// Removes the launches of an exec, which must be over.
    pub fn forget(&self, done: &Arc<OwnedEvent>) {
        for mut last in self.lock() {
            if last.as_ref().is_some_and(|known| Arc::ptr_eq(&known.done, done)) {
                *last = None;
            }
        }
        watch::forget_launch(done);
    }
}
