//! Orders all uses of [`Buffer`](super::Buffer)s. Each buffer keeps entries of its uses. A single ledger serves
//! all contexts, since a graph may bind buffers of several devices.
//!
//! A buffer has one entry for each exec that has used it: the event of the exec's last launch, and a flag for
//! writes. A launch waits for the conflicting entries whose last launch was in another stream, once for each
//! stream.
//!
//! An exec with 300 buffers seldom has to check 300 entries:
//! - The ledger counts generations. All uses within a generation are in one stream. So an exec with entries of
//!   the current generation needs no waits and no new entries when it is launched in that stream again: its
//!   event records the new launch.
//! - In another stream, an exec compares the last uses of its *rivals*: the execs with a conflicting entry in
//!   one of its buffers. An entry stays in its buffer as long as its exec binds the buffer. An exec is
//!   *outdated* once another one adds a conflicting entry to one of its buffers. Only an outdated exec, or one
//!   that has bound another buffer, checks all entries again.
//!
//! The driver orders launches of one exec. So a rival's use that an earlier launch has waited for needs no
//! second wait.
//!
//! The ledger is locked from the waits of a launch until its entries are added, so that of two concurrent
//! launches one sees the other.

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
    /// Signalled when a loan for a copy ends.
    returned: Condvar,
}

/// The current generation.
#[derive(Debug)]
pub(crate) struct Generation {
    number: u64,
    /// The stream of all its uses. `None` before the first launch.
    stream: Option<HeldStream>,
    /// The number of launches and other uses so far.
    uses: u64,
    /// The number of buffers on loan.
    lent: usize,
    /// The number of loans to the host during which the device must be idle.
    alone: usize,
    /// The clocks of streams that have waited for others. Sorted by their last wait.
    clocks: Vec<(HeldStream, Clock)>,
}

/// The kind of a loan of a buffer's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lent {
    /// For a copy by the runtime. Other uses wait for its end.
    Briefly,
    /// To the user's code. Other uses fail.
    Openly,
}

/// The ledger, while any buffer exists.
static SHARED: Mutex<Weak<Ledger>> = Mutex::new(Weak::new());

impl Ledger {
    /// Returns the ledger, and creates it if needed. It lives as long as any buffer.
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

    /// Returns the ledger. `None` if no buffer exists.
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
    /// Starts a new generation unless the current one is in `stream`.
    pub fn enter(&mut self, stream: &Arc<CudaStream>) {
        if !self.stream.as_ref().is_some_and(|known| known.is_here(stream)) {
            self.number += 1;
            self.stream = Some(HeldStream::of(stream));
        }
    }

    /// Returns true if the host accesses memory and the device must be idle meanwhile.
    pub fn is_of_host(&self) -> bool {
        self.alone > 0
    }

    /// Returns true if any buffer is on loan.
    pub fn lends(&self) -> bool {
        self.lent > 0
    }

    /// Returns true if an exec whose entries are of generation `noted` can be launched in `stream` without
    /// waits and new entries.
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

    /// Updates the clock of a stream after it has waited.
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
    fn ended(&self) -> User {
        let (ended, outdated) = (AtomicBool::new(true), AtomicBool::new(false));
        User { done: self.done.clone(), last: Mutex::new(self.last().clone()), ended, outdated }
    }

    fn last(&self) -> MutexGuard<'_, Option<LastUse>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the last use. The new use must be ordered after the old one. `held` is true if the event records
    /// it.
    pub fn used(&self, generation: &mut Generation, stream: &Arc<CudaStream>, held: bool) {
        generation.uses += 1;
        let (mut last, place) = (self.last(), generation.uses);
        match &mut *last {
            Some(last) if last.stream.is_here(stream) => (last.place, last.held) = (place, held),
            last => *last = Some(LastUse { stream: HeldStream::of(stream), place, held }),
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

    fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    /// Returns true if a conflicting entry was added since [`User::update`]. The ledger must be locked.
    pub fn is_outdated(&self) -> bool {
        self.outdated.load(Ordering::Relaxed)
    }

    /// Clears the outdated flag, before all entries are checked. The ledger must stay locked until the new
    /// entries are added.
    pub fn update(&self) {
        self.outdated.store(false, Ordering::Relaxed);
    }

    /// Returns true if the last use is over.
    fn is_over(&self, driver: &Driver) -> bool {
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
    fn add(&mut self, user: &Arc<User>) {
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

    /// Makes a stream wait for all of these uses. If an event does not record its use, the host waits for the
    /// context.
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

/// The entry of a user in a buffer.
#[derive(Debug)]
struct Note {
    user: Arc<User>,
    wrote: bool,
}

/// The uses of a buffer.
#[derive(Debug)]
pub(crate) struct Tracked {
    pub ledger: Arc<Ledger>,
    /// The context of the memory.
    ctx: Arc<CudaContext>,
    pub address: u64,
    /// The state of managed memory. `None` for other memory.
    pub unified: Option<Unified>,
    notes: Mutex<Notes>,
}

#[derive(Debug, Default)]
struct Notes {
    list: Vec<Note>,
    /// The uses through views, which no launch is ordered after yet.
    uses: Uses,
    lent: Option<Lent>,
}

impl Notes {
    /// Marks as outdated the users whose entries conflict with a new or removed entry of `user`.
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

    /// Prepares a launch of `user`: adds the uses to wait for and the rivals, and orders the stream after the
    /// uses through views. Returns false if the buffer is on loan. The ledger must be locked.
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

    /// Adds the entry of a launch, which must be ordered after the conflicting uses. The ledger must be locked.
    pub fn after(&self, user: &Arc<User>, write: bool) {
        const MANY: usize = 16;
        let driver = self.ledger.driver;
        let mut notes = self.notes();
        if write {
            // Waiting for this launch implies waiting for the earlier ones. Users that may launch again keep
            // their entries.
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

    /// Ends the entry of `user`, which no longer binds the buffer.
    pub fn leave(&self, user: &Arc<User>) {
        let _alone = self.ledger.lock();
        let mut notes = self.notes();
        if let Some(note) = notes.list.iter_mut().find(|note| Arc::ptr_eq(&note.user, user)) {
            let (ended, wrote) = (Arc::new(user.ended()), note.wrote);
            note.user = ended;
            notes.outdate(user, wrote);
        }
    }

    /// Begins a loan to the host. If `alone` is true, the device must be idle until the loan ends.
    pub fn lend_to_host(&self, alone: bool) -> Result<()> {
        self.lend(Lent::Openly)?;
        if alone {
            self.ledger.lock().alone += 1;
        }
        Ok(())
    }

    pub fn end_lending_to_host(&self, alone: bool) {
        if alone {
            self.ledger.lock().alone -= 1;
        }
        self.end_lending();
    }

    /// Waits on the host for all uses, or only for the writes. Returns the communicator that failed meanwhile,
    /// if any.
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

    /// Waits on the host for all uses, before the memory is freed. Returns false if it could not wait.
    pub fn end_on_host(&self) -> bool {
        let (driver, ctx) = (self.ledger.driver, &self.ctx);
        let entered = waits::enter(driver, ctx);
        let waited = self.wait_on_host(true).map(drop).or_else(|failure| {
            record(ctx, failure);
            driver.synchronize_context()
        });
        waits::over(waited).map_err(|failure| record(ctx, failure)).is_ok() && entered
    }

    pub fn lend(&self, lent: Lent) -> Result<()> {
        let mut generation = self.ledger.lock_with(std::iter::once(self));
        let mut notes = self.notes();
        if notes.lent.is_some() {
            return Err(Error::BufferLentTwice);
        }
        generation.lent += 1;
        notes.lent = Some(lent);
        // No guards exist without a loan.
        notes.uses.prune(self.ledger.driver);
        Ok(())
    }

    /// Ends the loan. Uses outside the current generation's stream start a new generation.
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

    /// Returns true if all uses through views are in the generation's stream.
    fn is_by_generation(&self, generation: &Generation, notes: &Notes) -> bool {
        // This thread has no key for the per-thread stream of another thread.
        let stream = generation.stream.as_ref().filter(|stream| stream.is_of_this_thread());
        stream.is_some_and(|stream| notes.uses.is_all_by(&StreamKey::of(self.ledger.driver, stream.raw())))
    }

    /// Orders a use through a view after the conflicting uses. The guard records it. `None` if that failed.
    pub fn reach<'a>(&self, stream: &CudaStream, write: bool) -> Option<SyncOnDrop<'a>> {
        let reached = self.try_reach(stream, write);
        // The use must not happen without its wait. For `None`, the caller returns an address that no call
        // accepts.
        reached.map_err(|failure| record(&self.ctx, failure)).ok()
    }

    /// Like [`Tracked::reach`], but for any stream, even if managed memory is attached to another.
    pub fn reach_by_owner<'a>(&self, stream: &CudaStream, write: bool) -> Option<SyncOnDrop<'a>> {
        let reached = self.reach_as_owner(stream, write);
        reached.map_err(|failure| record(&self.ctx, failure)).ok()
    }

    /// Like [`Tracked::reach`], but returns the failure.
    pub fn try_reach<'a>(&self, stream: &CudaStream, write: bool) -> Outcome<SyncOnDrop<'a>> {
        if self.unified.as_ref().is_some_and(|unified| unified.fault(stream).is_some()) {
            return Err(Failure::not_permitted("cuStreamAttachMemAsync"));
        }
        self.reach_as_owner(stream, write)
    }

    /// Like [`Tracked::try_reach`], but for any stream, even if managed memory is attached to another.
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
        // Waiting for a use in another context may have changed the current one.
        driver.enter(Context::of(ctx))?;
        if captures {
            // The host has waited already. Captured uses are not recorded here.
            return Ok(SyncOnDrop::Record(None));
        }
        Ok(notes.uses.of(driver, key, ctx)?.note(write))
    }

    /// Orders the stream that frees the buffer after all of its uses. Returns false if neither the device nor
    /// the host can wait for them.
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
