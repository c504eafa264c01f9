//! The order of all uses of [`Buffer`](super::Buffer)s: records of the uses by buffer, and one ledger for all contexts, since a graph may
//! bind buffers of several devices.
//!
//! A buffer has an entry for each exec that has used it: the event of the last launch of the exec, and a flag for writes. A launch waits for
//! the conflicting entries whose last launch was in another stream, once for each stream.
//!
//! A launch of an exec with 300 buffers does not look at 300 entries, in most cases:
//! - The ledger counts generations. In a generation all uses of all buffers are in one stream. So an exec with
//!   entries of the current generation neither waits nor changes an entry when it is launched in that stream again: its event
//!   records the new launch.
//! - In another stream, an exec compares the last uses of its *rivals*: the execs with a conflicting entry in one of its buffers. An
//!   entry stays in its buffer as long as its exec binds the buffer, and an exec is *outdated* when another one makes an entry in
//!   one of its buffers that conflicts with its own. Only an outdated exec, or one with another buffer, looks at all entries again.
//!
//! Launches of one exec are ordered by the driver: a rival's use that an earlier launch of the exec has waited for needs no second wait.
//!
//! The ledger is locked from the waits of a launch until its entries are made, so that of two threads one sees the launch of the other.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};

use cudarc::driver::{CudaContext, CudaStream, SyncOnDrop};

use crate::cuda::{Context, Driver, Failure, Outcome, Stream, record};
use crate::error::{Error, Result};
use crate::waits::{self, HeldStream, OwnedEvent, SideStream, StreamKey};
use crate::watch::{self, Aborted};

use super::clock::{Clock, LastUse, REMEMBERED, StreamHistory};
use super::unified::Unified;
use super::uses::Uses;

/// The order of the uses of all buffers.
#[derive(Debug)]
pub(crate) struct Ledger {
    pub driver: &'static Driver,
    state: Mutex<Generation>,
    /// Signalled when the loan of a buffer for a copy ends.
    returned: Condvar,
}

/// The current generation.
#[derive(Debug)]
pub(crate) struct Generation {
    number: u64,
    /// The stream of all its uses; `None` before the first launch.
    stream: Option<HeldStream>,
    /// The number of launches and other uses so far.
    uses: u64,
    /// The number of buffers on loan.
    lent: usize,
    /// The number of loans to the host during which the device may run nothing.
    alone: usize,
    /// The streams that have waited for others, by their last wait.
    clocks: Vec<(HeldStream, Clock)>,
}

/// The kind of a loan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lent {
    /// For a copy by the runtime: other uses wait for its end.
    Briefly,
    /// To the user's code: other uses fail.
    Openly,
}

/// The ledger, while there is a buffer.
static SHARED: Mutex<Weak<Ledger>> = Mutex::new(Weak::new());

impl Ledger {
    /// Returns the ledger, which lives as long as a buffer does.
    pub fn shared(driver: &'static Driver) -> Arc<Ledger> {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ledger) = shared.upgrade() {
            return ledger;
        }
        let state = Mutex::new(Generation {
            number: 1,
            stream: None,
            uses: 0,
            lent: 0,
            alone: 0,
            clocks: Vec::new(),
        });
        let ledger = Arc::new(Ledger { driver, state, returned: Condvar::new() });
        *shared = Arc::downgrade(&ledger);
        ledger
    }

    /// Returns the ledger, if there is a buffer.
    pub fn known() -> Option<Arc<Ledger>> {
        SHARED.lock().unwrap_or_else(PoisonError::into_inner).upgrade()
    }

    pub fn lock(&self) -> MutexGuard<'_, Generation> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the ledger once none of these buffers is on loan for a copy.
    pub fn lock_with<'l, 't>(
        &'l self,
        buffers: impl Iterator<Item = &'t Tracked> + Clone,
    ) -> MutexGuard<'l, Generation> {
        let copied = |generation: &mut Generation| {
            generation.lent > 0 && buffers.clone().any(|buffer| buffer.notes().lent == Some(Lent::Briefly))
        };
        self.returned.wait_while(self.lock(), copied).unwrap_or_else(PoisonError::into_inner)
    }
}

impl Generation {
    /// Begins a new generation unless `stream` is that of the current one.
    pub fn enter(&mut self, stream: &Arc<CudaStream>) {
        if !self.stream.as_ref().is_some_and(|known| known.is_here(stream)) {
            self.number += 1;
            self.stream = Some(HeldStream::of(stream));
        }
    }

    /// Returns true if the host accesses memory, and the device may run nothing meanwhile.
    pub fn is_of_host(&self) -> bool {
        self.alone > 0
    }

    /// Returns true if a buffer is on loan.
    pub fn lends(&self) -> bool {
        self.lent > 0
    }

    /// Returns true if an exec with entries of generation `noted` needs neither waits nor new entries for a launch in `stream`.
    pub fn is_known(&self, noted: u64, stream: &CudaStream) -> bool {
        noted == self.number
            && self.lent == 0
            && self.stream.as_ref().is_some_and(|known| known.is_here(stream))
    }

    pub fn number(&self) -> u64 {
        self.number
    }

    /// Returns a stream with its clock.
    pub fn history<'h>(&'h self, stream: &'h HeldStream) -> StreamHistory<'h> {
        let clock = self.clocks.iter().find(|(known, _)| known.is(stream)).map(|(_, clock)| clock);
        StreamHistory { stream, clock }
    }

    /// Adds a wait to the clock of a stream.
    pub fn waited(&mut self, stream: &HeldStream, waits: &Waits) {
        if waits.0.is_empty() {
            return;
        }
        let known = self.clocks.iter().position(|(known, _)| known.is(stream));
        let mut clock = known.map_or_else(Clock::default, |at| self.clocks.remove(at).1);
        waits.0.iter().filter(|wait| wait.last.held).for_each(|wait| clock.learn(&wait.last));
        if self.clocks.len() >= REMEMBERED {
            self.clocks.remove(0);
        }
        self.clocks.push((stream.clone(), clock));
    }
}

/// The uses by one exec, or by a call other than a launch.
#[derive(Debug)]
pub(crate) struct User {
    /// Records the last use.
    done: Arc<OwnedEvent>,
    last: Mutex<Option<LastUse>>,
    /// True if there will be no more uses.
    ended: AtomicBool,
    /// True if an entry that conflicts with its own was made since it last looked at all entries.
    outdated: AtomicBool,
}

impl User {
    /// Returns a user without uses; `done` will record them.
    pub fn new(done: Arc<OwnedEvent>) -> User {
        let (ended, outdated) = (AtomicBool::new(false), AtomicBool::new(false));
        User { done, last: Mutex::default(), ended, outdated }
    }

    /// Returns a user with the same uses so far, and no more.
    fn ended(&self) -> User {
        let (ended, outdated) = (AtomicBool::new(true), AtomicBool::new(false));
        User { done: self.done.clone(), last: Mutex::new(self.last().clone()), ended, outdated }
    }

    fn last(&self) -> MutexGuard<'_, Option<LastUse>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces the last use, after which the new one is ordered; `held` is true if the event records it.
    pub fn used(&self, generation: &mut Generation, stream: &Arc<CudaStream>, held: bool) {
        generation.uses += 1;
        let (mut last, place) = (self.last(), generation.uses);
        match &mut *last {
            Some(last) if last.stream.is_here(stream) => (last.place, last.held) = (place, held),
            last => *last = Some(LastUse { stream: HeldStream::of(stream), place, held }),
        }
    }

    /// Returns the place of the last use among all uses; 0 before the first one.
    pub fn place(&self) -> u64 {
        self.last().as_ref().map_or(0, |last| last.place)
    }

    /// Sets that there will be no more uses.
    pub fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }

    fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    /// Returns true if an entry that conflicts with its own was made since [`User::update`]. The ledger must be locked.
    pub fn is_outdated(&self) -> bool {
        self.outdated.load(Ordering::Relaxed)
    }

    /// Sets that it looks at all entries now. The ledger must be locked until it has made its own.
    pub fn update(&self) {
        self.outdated.store(false, Ordering::Relaxed);
    }

    /// Returns true if its last use is over.
    fn is_over(&self, driver: &Driver) -> bool {
        let held = self.last().as_ref().is_none_or(|last| last.held);
        held && driver.is_over(self.done.raw()) == Ok(true)
    }
}

/// A use to wait for: the last one of a stream.
struct Wait {
    last: LastUse,
    done: Arc<OwnedEvent>,
}

/// The users with entries that conflict with those of an exec, each with the place of its last use that is known to be before the next
/// launch of the exec.
#[derive(Debug, Default)]
pub(crate) struct Rivals(Vec<(Arc<User>, u64)>);

impl Rivals {
    fn add(&mut self, user: &Arc<User>) {
        // The last use of one that has ended is waited for once.
        if !user.has_ended() && !self.0.iter().any(|(known, _)| Arc::ptr_eq(known, user)) {
            self.0.push((user.clone(), 0));
        }
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds the last uses that a launch on a stream waits for.
    pub fn before(&self, history: StreamHistory<'_>, waits: &mut Waits) {
        for (user, known) in &self.0 {
            let waited = |last: &LastUse| last.place <= *known || history.includes(last);
            if user.last().as_ref().is_some_and(|last| !waited(last)) {
                waits.add(user);
            }
        }
    }

    /// Records that a launch comes after their last uses.
    pub fn after(&mut self) {
        self.0.iter_mut().for_each(|(user, known)| *known = user.place());
    }
}

/// The uses that the next use waits for, at most one for each stream.
#[derive(Default)]
pub(crate) struct Waits(Vec<Wait>);

impl Waits {
    fn add(&mut self, user: &User) {
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

    /// Makes a stream wait for all of these uses.
    pub fn order(&self, driver: &Driver, stream: Stream) -> Outcome<()> {
        self.0.iter().try_for_each(|wait| match wait.last.held {
            true => waits::behind(driver, stream, wait.done.raw()),
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

/// The entry of an exec that has used a buffer.
#[derive(Debug)]
struct Note {
    user: Arc<User>,
    wrote: bool,
}

/// The uses of a buffer.
#[derive(Debug)]
pub(crate) struct Tracked {
    pub ledger: Arc<Ledger>,
    /// The context of its memory.
    ctx: Arc<CudaContext>,
    pub address: u64,
    /// The state of managed memory.
    pub unified: Option<Unified>,
    notes: Mutex<Notes>,
}

#[derive(Debug, Default)]
struct Notes {
    list: Vec<Note>,
    /// The uses through views that no launch is ordered after.
    uses: Uses,
    lent: Option<Lent>,
}

impl Notes {
    /// Makes the users look at all entries again whose entries conflict with a new, or removed, one of `user`.
    fn outdate(&self, user: &Arc<User>, write: bool) {
        let conflicting = self.list.iter().filter(|note| write || note.wrote);
        conflicting
            .filter(|note| !Arc::ptr_eq(&note.user, user))
            .for_each(|note| note.user.outdated.store(true, Ordering::Relaxed));
    }
}

impl Tracked {
    /// Returns a buffer whose first use is a write by `user`.
    pub fn new(ledger: Arc<Ledger>, ctx: Arc<CudaContext>, address: u64, user: User) -> Tracked {
        let list = vec![Note { user: Arc::new(user), wrote: true }];
        Tracked { ledger, ctx, address, unified: None, notes: Mutex::new(Notes { list, ..Notes::default() }) }
    }

    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the uses that a launch of `user` on a stream waits for, and the users that may use it later, and orders the launch after the
    /// uses through views. The ledger must be locked. Returns false if the buffer is being lent.
    pub fn before(
        &self,
        user: &Arc<User>,
        history: StreamHistory<'_>,
        write: bool,
        waits: &mut Waits,
        rivals: &mut Rivals,
    ) -> Outcome<bool> {
        let notes = self.notes();
        if notes.lent.is_some() {
            return Ok(false);
        }
        let elsewhere = |user: &User| user.last().as_ref().is_some_and(|last| !history.includes(last));
        let conflicting = notes.list.iter().filter(|note| write || note.wrote);
        for note in conflicting.filter(|note| !Arc::ptr_eq(&note.user, user)) {
            if elsewhere(&note.user) {
                waits.add(&note.user);
            }
            rivals.add(&note.user);
        }
        if notes.uses.is_used() {
            let (driver, raw) = (self.ledger.driver, history.stream.raw());
            let key = StreamKey::of(driver, raw);
            notes.uses.order(driver, raw, Some(&key), write)?;
        }
        Ok(true)
    }

    /// Adds the entry of a launch of `user`, which is ordered after the conflicting uses. The ledger must be locked.
    pub fn after(&self, user: &Arc<User>, write: bool) {
        const MANY: usize = 16;
        let driver = self.ledger.driver;
        let mut notes = self.notes();
        if write {
            // A wait for this launch implies waits for the earlier ones. Those that may be launched again keep their entries.
            notes.list.retain(|note| !note.user.has_ended());
            notes.uses.renew();
        }
        match notes.list.iter_mut().find(|note| Arc::ptr_eq(&note.user, user)) {
            Some(note) if note.wrote || !write => return,
            Some(note) => note.wrote = true,
            None => {
                if notes.list.len() >= MANY {
                    let over = |note: &Note| note.user.has_ended() && note.user.is_over(driver);
                    driver.relaxed(|| notes.list.retain(|note| !over(note)));
                }
                notes.list.push(Note { user: user.clone(), wrote: write });
            }
        }
        notes.outdate(user, write);
    }

    /// Sets that `user` does not bind the buffer any more.
    pub fn leave(&self, user: &Arc<User>) {
        let _alone = self.ledger.lock();
        let mut notes = self.notes();
        if let Some(note) = notes.list.iter_mut().find(|note| Arc::ptr_eq(&note.user, user)) {
            let (ended, wrote) = (Arc::new(user.ended()), note.wrote);
            note.user = ended;
            notes.outdate(user, wrote);
        }
    }

    /// Begins a loan to the host. `alone` is true if the device may run nothing until it ends.
    pub fn lend_to_host(&self, alone: bool) -> Result<()> {
        self.lend(Lent::Openly)?;
        if alone {
            self.ledger.lock().alone += 1;
        }
        Ok(())
    }

    /// Ends a loan to the host.
    pub fn end_lending_to_host(&self, alone: bool) {
        if alone {
            self.ledger.lock().alone -= 1;
        }
        self.end_lending();
    }

    /// Waits on the host for all uses, or for the writes alone. Returns the communicator that has failed meanwhile.
    pub fn wait_on_host(&self, all: bool) -> Outcome<Option<Aborted>> {
        let (driver, ctx) = (self.ledger.driver, &self.ctx);
        driver.enter(Context::of(ctx))?;
        let side = SideStream::of(driver, ctx)?;
        let notes = self.notes();
        let mut waits = Waits::default();
        notes.list.iter().filter(|note| all || note.wrote).for_each(|note| waits.add(&note.user));
        waits.order(driver, side.raw())?;
        notes.uses.order(driver, side.raw(), None, all)?;
        drop(notes);
        driver.enter(Context::of(ctx))?;
        watch::synchronize(driver, ctx, side.raw())
    }

    /// Waits on the host for all uses, before the memory is freed. Returns false if that is not possible.
    pub fn end_on_host(&self) -> bool {
        let (driver, ctx) = (self.ledger.driver, &self.ctx);
        let entered = waits::enter(driver, ctx);
        let waited = self.wait_on_host(true).map(drop).or_else(|failure| {
            record(ctx, failure);
            driver.synchronize_context()
        });
        waits::over(waited).map_err(|failure| record(ctx, failure)).is_ok() && entered
    }

    /// Begins a loan.
    pub fn lend(&self, lent: Lent) -> Result<()> {
        let mut generation = self.ledger.lock_with(std::iter::once(self));
        let mut notes = self.notes();
        if notes.lent.is_some() {
            return Err(Error::BufferLentTwice);
        }
        generation.lent += 1;
        notes.lent = Some(lent);
        // Without a loan there are no guards.
        notes.uses.prune(self.ledger.driver);
        Ok(())
    }

    /// Ends the loan. A use in another stream than that of the generation begins a new generation.
    pub fn end_lending(&self) {
        let mut generation = self.ledger.lock();
        let mut notes = self.notes();
        notes.lent = None;
        generation.lent -= 1;
        self.ledger.returned.notify_all();
        if notes.uses.is_used() {
            notes.list.iter().for_each(|note| note.user.outdated.store(true, Ordering::Relaxed));
        }
        if !self.is_by_generation(&generation, &notes) {
            generation.number += 1;
        }
    }

    /// Returns true if all uses through views are on the stream of the generation.
    fn is_by_generation(&self, generation: &Generation, notes: &Notes) -> bool {
        // The per-thread stream of another thread has no key on this one.
        let stream = generation.stream.as_ref().filter(|stream| stream.is_of_this_thread());
        stream.is_some_and(|stream| notes.uses.is_all_by(&StreamKey::of(self.ledger.driver, stream.raw())))
    }

    /// Orders a use through a lent view. The guard records it.
    pub fn reach<'a>(&self, stream: &CudaStream, write: bool) -> Option<SyncOnDrop<'a>> {
        let reached = self.try_reach(stream, write);
        // The use must not happen without its wait: the caller returns an address that no call accepts.
        reached.map_err(|failure| record(&self.ctx, failure)).ok()
    }

    /// Orders a use as [`Tracked::reach`] does, by any stream, whichever may access the memory.
    pub fn reach_by_owner<'a>(&self, stream: &CudaStream, write: bool) -> Option<SyncOnDrop<'a>> {
        let reached = self.reach_as_owner(stream, write);
        reached.map_err(|failure| record(&self.ctx, failure)).ok()
    }

    /// Orders a use as [`Tracked::reach`] does, and returns a failure.
    pub fn try_reach<'a>(&self, stream: &CudaStream, write: bool) -> Outcome<SyncOnDrop<'a>> {
        if self.unified.as_ref().is_some_and(|unified| unified.fault(stream).is_some()) {
            return Err(Failure::not_permitted("cuStreamAttachMemAsync"));
        }
        self.reach_as_owner(stream, write)
    }

    /// Orders a use as [`Tracked::try_reach`] does, by any stream, whichever may access the memory.
    pub fn reach_as_owner<'a>(&self, stream: &CudaStream, write: bool) -> Outcome<SyncOnDrop<'a>> {
        let (driver, raw, ctx) = (self.ledger.driver, Stream::of(stream), stream.context());
        driver.enter(Context::of(ctx))?;
        let captures = driver.is_capturing(raw)?;
        let key = StreamKey::of(driver, raw);
        let _alone = self.ledger.lock();
        let mut notes = self.notes();
        let mut waits = Waits::default();
        let here =
            |user: &User| user.last().as_ref().is_some_and(|last| last.held && last.stream.is_here(stream));
        let conflicting = notes.list.iter().filter(|note| write || note.wrote);
        conflicting.filter(|note| captures || !here(&note.user)).for_each(|note| waits.add(&note.user));
        waits.order(driver, raw)?;
        notes.uses.order(driver, raw, (!captures).then_some(&key), write)?;
        // A wait for a use in another context may have changed the current one.
        driver.enter(Context::of(ctx))?;
        if captures {
            // The host has waited; captured uses are not recorded here.
            return Ok(SyncOnDrop::Record(None));
        }
        Ok(notes.uses.of(driver, key, ctx)?.note(write))
    }

    /// Orders the stream that frees the buffer after all of its uses. Returns false if neither the device nor the host can
    /// wait for them.
    pub fn end(&self, owner: &Arc<CudaStream>) -> bool {
        let (driver, ctx) = (self.ledger.driver, &self.ctx);
        let entered = waits::enter(driver, ctx);
        let (owner, notes) = (HeldStream::of(owner), self.notes());
        let mut waits = Waits::default();
        let elsewhere =
            |user: &User| user.last().as_ref().is_some_and(|last| !(last.held && last.stream.is(&owner)));
        notes.list.iter().filter(|note| elsewhere(&note.user)).for_each(|note| waits.add(&note.user));
        let ordered = waits.order(driver, owner.raw());
        let ordered = ordered.and_then(|()| notes.uses.order(driver, owner.raw(), None, true));
        let over = ordered.or_else(|failure| {
            record(ctx, failure);
            waits::over(driver.synchronize_context())
        });
        over.map_err(|failure| record(ctx, failure)).is_ok() && entered
    }
}
