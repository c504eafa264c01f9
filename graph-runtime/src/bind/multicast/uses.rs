//! Orders the uses of memory across threads: reads of the memory, and writes of the objects that it is bound
//! to.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The lock of one memory: several reads at a time, or one write.
#[derive(Debug, Default)]
pub(super) struct UseLock(RwLock<()>);

impl UseLock {
    /// Waits until no write is in flight.
    pub fn read(&self) -> RwLockReadGuard<'_, ()> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The locks of all memory that a write reaches. Sorted and without duplicates, so that two writes cannot
/// deadlock.
pub(super) struct ReachedMemory(Vec<Arc<UseLock>>);

impl ReachedMemory {
    pub fn new(uses: impl Iterator<Item = Arc<UseLock>>) -> ReachedMemory {
        let mut uses: Vec<Arc<UseLock>> = uses.collect();
        uses.sort_by_key(Arc::as_ptr);
        uses.dedup_by_key(|uses| Arc::as_ptr(uses));
        ReachedMemory(uses)
    }

    /// Waits until no use of the memory is in flight.
    pub fn write(&self) -> Vec<RwLockWriteGuard<'_, ()>> {
        self.0.iter().map(|uses| uses.0.write().unwrap_or_else(PoisonError::into_inner)).collect()
    }
}
