//! Managed memory: its association with streams, and the residence of and advice about its pages.
//!
//! A page is in the memory of one processor, or has copies in several while it is mostly read. An access by a
//! processor with neither a copy nor a mapping of the page is a fault. A fault moves, copies or maps the page,
//! depending on its advice. Faults and moves are counted for tests; the numbers are those of this model, not of a
//! driver.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::base::config::{are_peers, config};

/// The size of a page in bytes.
pub const PAGE: u64 = 4096;

/// The host as a processor. A device is its ordinal.
pub const HOST: i32 = -1;

/// A `CUmemLocation`: its type and id.
pub type Location = (u32, i32);

/// Returns the processor of a location.
pub fn processor(location: Location) -> i32 {
    if location.0 == 1 { location.1 } else { HOST }
}

/// Counts of page faults and moves.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct PageCounts {
    /// Faults of devices: accesses to pages of which they have neither a copy nor a mapping.
    pub device_faults: u64,
    /// Faults of the host.
    pub host_faults: u64,
    /// Pages moved by faults.
    pub migrated: u64,
    /// Pages copied by faults.
    pub copied: u64,
    /// Pages moved, copied or populated by prefetches.
    pub prefetched: u64,
    /// Pages whose contents were discarded.
    pub discarded: u64,
    /// Pages evicted because a device's memory was full.
    pub evicted: u64,
}

static COUNTS: Mutex<PageCounts> = Mutex::new(PageCounts {
    device_faults: 0,
    host_faults: 0,
    migrated: 0,
    copied: 0,
    prefetched: 0,
    discarded: 0,
    evicted: 0,
});

/// Returns the counts of the process so far.
pub fn counts() -> PageCounts {
    *COUNTS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn count(change: impl FnOnce(&mut PageCounts)) {
    change(&mut COUNTS.lock().unwrap_or_else(PoisonError::into_inner));
}

/// A page of managed memory.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Page {
    /// The processors whose memory holds the page. Empty before the first access and after a discard.
    at: BTreeSet<i32>,
    /// The processors that have the page mapped remotely.
    mapped: BTreeSet<i32>,
    /// Advice, as are the two fields below.
    pub read_mostly: bool,
    pub preferred: Option<Location>,
    pub accessed_by: BTreeSet<i32>,
    /// The target of the last prefetch.
    pub prefetched: Option<Location>,
    /// The time of the last access or prefetch, on the clock of [`tick`].
    used: u64,
}

/// Returns true if a processor can map pages of another one: a device those of the host and its peers, the host
/// none.
fn can_map(by: i32, at: i32) -> bool {
    match (usize::try_from(by), usize::try_from(at)) {
        (Ok(by), Ok(at)) => are_peers(by, at),
        (Ok(_), Err(_)) => true,
        (Err(_), _) => false,
    }
}

impl Page {
    fn access(&mut self, by: i32, write: bool, now: u64) {
        self.used = now;
        let here = self.at.contains(&by);
        if here && (!write || self.at.len() == 1) {
            return;
        }
        let preferred = self.preferred.map(processor);
        // All devices are alike: without concurrent access, none duplicates pages.
        let duplicated = self.read_mostly && config().concurrent;
        // Read-mostly pages are copied, even if other advice says to map them.
        let maps = |page: &Page| !duplicated && page.at.iter().any(|&at| can_map(by, at));
        // A preferred location overrides accessed-by advice for the same processor.
        let advised = self.accessed_by.contains(&by) && preferred != Some(by);
        if !here && maps(self) && (advised || self.mapped.contains(&by)) {
            return;
        }
        count(|counts| match by {
            HOST => counts.host_faults += 1,
            _ => counts.device_faults += 1,
        });
        if !here && !write && duplicated && !self.at.is_empty() {
            count(|counts| counts.copied += 1);
            self.at.insert(by);
        } else if !here && maps(self) && preferred.is_some_and(|at| at != by && self.at.contains(&at)) {
            self.mapped.insert(by);
        } else {
            count(|counts| counts.migrated += u64::from(!here && !self.at.is_empty()));
            self.at = BTreeSet::from([by]);
            self.mapped.clear();
        }
    }

    fn prefetch(&mut self, to: Location, now: u64) {
        self.used = now;
        let by = processor(to);
        self.prefetched = Some(to);
        if self.at == BTreeSet::from([by]) || self.read_mostly && self.at.contains(&by) {
            return;
        }
        count(|counts| counts.prefetched += 1);
        if !self.read_mostly {
            self.at.clear();
        }
        self.at.insert(by);
        self.mapped.clear();
    }

    fn discard(&mut self) {
        count(|counts| counts.discarded += 1);
        self.at.clear();
        self.mapped.clear();
    }

    /// Evicts the page from a device. It moves to the host if it has no other copy.
    fn evict(&mut self, device: i32) {
        count(|counts| counts.evicted += 1);
        self.at.remove(&device);
        if self.at.is_empty() {
            self.at.insert(HOST);
            self.mapped.clear();
        }
    }

    /// Ends read duplication. Keeps one copy, at the preferred location if there is one.
    pub fn collapse(&mut self) {
        self.read_mostly = false;
        let preferred = self.preferred.map(processor).filter(|at| self.at.contains(at));
        if let Some(stays) = preferred.or_else(|| self.at.first().copied()) {
            self.at = BTreeSet::from([stays]);
        }
    }
}

/// Returns the next time of a clock that counts accesses and prefetches.
fn tick() -> u64 {
    static TIME: AtomicU64 = AtomicU64::new(1);
    TIME.fetch_add(1, Ordering::Relaxed)
}

/// Evicts a device's least recently used pages until the remaining ones fit into `room` bytes.
pub fn evict(all: &[&Managed], device: i32, room: u64) {
    let mut held: Vec<(u64, usize, usize)> = Vec::new();
    for (number, managed) in all.iter().enumerate() {
        let state = managed.state();
        let pages = state.pages.iter().enumerate().filter(|(_, page)| page.at.contains(&device));
        held.extend(pages.map(|(at, page)| (page.used, number, at)));
    }
    let most = usize::try_from(room / PAGE).unwrap_or(usize::MAX);
    let Some(excess) = held.len().checked_sub(most).filter(|&excess| excess > 0) else { return };
    held.sort_unstable();
    for (_, number, at) in held.into_iter().take(excess) {
        all[number].state().pages[at].evict(device);
    }
}

/// The association of an allocation: the streams that may use it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StreamAssociation {
    /// Every stream.
    Global,
    /// No stream, on devices without concurrent access.
    Host,
    /// One stream.
    Single(u64),
}

struct ManagedState {
    /// The association of its allocation, which it returns to when the stream of a single association ends.
    default: StreamAssociation,
    attached: StreamAssociation,
    pages: Vec<Page>,
}

/// An allocation of managed memory.
pub struct Managed {
    state: Mutex<ManagedState>,
}

impl Managed {
    /// Returns a new allocation, associated with the host if `host` is true.
    pub fn new(bytes: u64, host: bool) -> Managed {
        let attached = if host { StreamAssociation::Host } else { StreamAssociation::Global };
        let pages = vec![Page::default(); bytes.div_ceil(PAGE) as usize];
        Managed { state: Mutex::new(ManagedState { default: attached, attached, pages }) }
    }

    fn state(&self) -> MutexGuard<'_, ManagedState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the association.
    pub fn attach(&self, to: StreamAssociation) {
        self.state().attached = to;
    }

    /// Restores the association of the allocation if it is associated with the destroyed stream.
    pub fn detach(&self, stream: u64) {
        let mut state = self.state();
        if state.attached == StreamAssociation::Single(stream) {
            state.attached = state.default;
        }
    }

    /// Returns true if devices may access the memory in work of a stream.
    pub fn is_accessible_from(&self, stream: u64, concurrent: bool) -> bool {
        match self.state().attached {
            StreamAssociation::Global => true,
            StreamAssociation::Host => concurrent,
            StreamAssociation::Single(only) => only == stream,
        }
    }

    /// Returns true if the memory is associated with a single stream other than this one. Then its work may access
    /// the memory neither from the device nor from the host.
    pub fn is_of_other_stream(&self, stream: u64) -> bool {
        matches!(self.state().attached, StreamAssociation::Single(only) if only != stream)
    }

    /// Counts an access of a processor to a range of bytes.
    pub fn access(&self, by: i32, range: Range<u64>, write: bool) {
        let now = tick();
        self.on_pages(range, |page| page.access(by, write, now));
    }

    /// Prefetches the pages of a range of bytes.
    pub fn prefetch(&self, range: Range<u64>, to: Location) {
        let now = tick();
        self.on_pages(range, |page| page.prefetch(to, now));
    }

    /// Returns the number of pages in a processor's memory.
    pub fn resident(&self, processor: i32) -> u64 {
        self.state().pages.iter().filter(|page| page.at.contains(&processor)).count() as u64
    }

    /// Discards the pages that lie entirely within a range.
    pub fn discard(&self, range: Range<u64>) {
        let (first, last) = (range.start.div_ceil(PAGE), range.end / PAGE);
        if first < last {
            self.on_pages(first * PAGE..last * PAGE, Page::discard);
        }
    }

    /// Changes the pages of a range of bytes.
    pub fn on_pages(&self, range: Range<u64>, change: impl FnMut(&mut Page)) {
        let mut state = self.state();
        let last = (range.end.div_ceil(PAGE) as usize).min(state.pages.len());
        let first = ((range.start / PAGE) as usize).min(last);
        state.pages[first..last].iter_mut().for_each(change);
    }

    /// Returns a property of the pages of a range; `None` if they differ in it.
    pub fn common<V: PartialEq>(&self, range: Range<u64>, of: impl Fn(&Page) -> V) -> Option<V> {
        let mut found: Option<V> = None;
        let mut same = true;
        self.on_pages(range, |page| {
            let value = of(page);
            match &found {
                Some(first) => same &= *first == value,
                None => found = Some(value),
            }
        });
        found.filter(|_| same)
    }
}

/// Tests that count hold this lock, since the counts are those of the process.
#[cfg(test)]
pub static COUNTING: Mutex<()> = Mutex::new(());

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the change of the counts by `work`.
    fn counted(work: impl FnOnce()) -> PageCounts {
        let before = counts();
        work();
        let after = counts();
        PageCounts {
            device_faults: after.device_faults - before.device_faults,
            host_faults: after.host_faults - before.host_faults,
            migrated: after.migrated - before.migrated,
            copied: after.copied - before.copied,
            prefetched: after.prefetched - before.prefetched,
            discarded: after.discarded - before.discarded,
            evicted: after.evicted - before.evicted,
        }
    }

    #[test]
    fn faults_are_counted_as_pages_move() {
        let _alone = COUNTING.lock().unwrap_or_else(PoisonError::into_inner);
        let two = || Managed::new(2 * PAGE, false);
        let all = 0..2 * PAGE;
        let faults = |device, host| (device, host);
        let of = |counts: PageCounts| (counts.device_faults, counts.host_faults);
        // Each side faults once, and again after the other side has had the pages.
        let memory = two();
        let found = counted(|| {
            for _ in 0..2 {
                memory.access(HOST, all.clone(), true);
                memory.access(0, all.clone(), false);
                memory.access(0, all.clone(), true);
            }
        });
        assert_eq!((of(found), found.migrated), (faults(4, 4), 6));
        let found = counted(|| {
            memory.prefetch(all.clone(), (2, 0));
            memory.access(HOST, all.clone(), true);
            memory.prefetch(all.clone(), (1, 0));
            memory.access(0, all.clone(), true);
        });
        assert_eq!((of(found), found.prefetched), (faults(0, 0), 4));
        // Readers copy read-mostly pages, and a writer invalidates the copies.
        let memory = two();
        memory.access(HOST, all.clone(), true);
        memory.on_pages(all.clone(), |page| page.read_mostly = true);
        let found = counted(|| {
            memory.access(0, all.clone(), false);
            memory.access(HOST, all.clone(), false);
            memory.access(0, all.clone(), false);
        });
        assert_eq!((of(found), found.copied), (faults(2, 0), 2));
        let found = counted(|| {
            memory.access(HOST, 0..1, true);
            memory.access(0, all.clone(), false);
        });
        assert_eq!(of(found), faults(1, 1));
        let memory = two();
        memory.access(HOST, all.clone(), true);
        memory.on_pages(all.clone(), |page| {
            page.accessed_by.insert(0);
        });
        assert_eq!(of(counted(|| memory.access(0, all.clone(), true))), faults(0, 0));
        assert_eq!(of(counted(|| memory.access(HOST, all.clone(), true))), faults(0, 0));
        // Accessed-by advice for the preferred processor does not map: the pages move there.
        let memory = two();
        memory.access(HOST, all.clone(), true);
        memory.on_pages(all.clone(), |page| {
            page.accessed_by.insert(0);
            page.preferred = Some((1, 0));
        });
        let found = counted(|| memory.access(0, all.clone(), false));
        assert_eq!((of(found), found.migrated), (faults(2, 0), 2));
        assert_eq!((memory.resident(0), memory.resident(HOST), memory.resident(1)), (2, 0, 0));
        // With a preferred location, a fault maps the page and does not move it.
        let memory = two();
        memory.access(HOST, all.clone(), true);
        memory.on_pages(all.clone(), |page| page.preferred = Some((2, 0)));
        let found = counted(|| (0..3).for_each(|_| memory.access(0, all.clone(), true)));
        assert_eq!((of(found), found.migrated), (faults(2, 0), 0));
        assert_eq!(of(counted(|| memory.access(HOST, all.clone(), true))), faults(0, 0));
        // Read-mostly overrides the preferred location and earlier mappings: a reader copies the page, a writer
        // moves it.
        let memory = two();
        memory.access(HOST, all.clone(), true);
        memory.on_pages(all.clone(), |page| page.preferred = Some((2, 0)));
        memory.access(1, 0..1, false);
        memory.on_pages(all.clone(), |page| page.read_mostly = true);
        let found = counted(|| memory.access(1, 0..1, false));
        assert_eq!((of(found), found.copied), (faults(1, 0), 1));
        let found = counted(|| memory.access(0, PAGE..2 * PAGE, true));
        assert_eq!((of(found), found.migrated), (faults(1, 0), 1));
        let memory = two();
        memory.access(HOST, all.clone(), true);
        memory.on_pages(all.clone(), |page| page.preferred = Some((2, 0)));
        // Only whole pages are discarded. Then they are populated elsewhere, without counting as moved.
        let found = counted(|| {
            memory.discard(1..2 * PAGE);
            memory.access(0, PAGE..2 * PAGE, true);
        });
        assert_eq!((found.discarded, found.migrated, found.device_faults), (1, 0, 1));
    }

    #[test]
    fn streams_are_attached_until_they_are_destroyed() {
        let memory = Managed::new(10, true);
        assert!(memory.is_accessible_from(7, true) && !memory.is_accessible_from(7, false));
        memory.attach(StreamAssociation::Single(7));
        assert!(memory.is_accessible_from(7, false) && !memory.is_accessible_from(8, true));
        memory.detach(8);
        assert!(!memory.is_accessible_from(8, true));
        memory.detach(7);
        assert!(memory.is_accessible_from(8, true) && !memory.is_accessible_from(8, false));
        // Whatever it was attached to in between, it returns to the association of its allocation.
        memory.attach(StreamAssociation::Global);
        assert!(memory.is_accessible_from(8, false));
        memory.attach(StreamAssociation::Single(7));
        memory.detach(7);
        assert!(!memory.is_accessible_from(8, false));
    }
}
