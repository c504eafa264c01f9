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

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};

use cudarc::driver::{CudaContext, CudaStream, SyncOnDrop};

use crate::cuda::{Context, Driver, Failure, Outcome, Stream, record};
use crate::error::{Error, Result};
use crate::waits::{self, HeldStream, OwnedEvent, SideStream, StreamKey};
use crate::watch::{self, AbortedCommunicator};

use super::clock::{MAX_CLOCKS, StreamHistory, VectorClock};
use super::loan::{IdlePart, Loan, LoanKind};
use super::managed_state::ManagedState;
use super::users::{Rivals, User, Waits};
use super::uses::StreamUses;

/// The order of the uses of all buffers.
#[derive(Debug)]
pub(crate) struct Ledger {
    pub driver: &'static Driver,
    state: Mutex<Generation>,
    /// Signalled when a loan ends.
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
    /// The number of loans.
    lent: usize,
    /// The parts of the system that must be idle during the loans to the host.
    idle: Vec<IdlePart>,
    /// The clocks of streams that have waited for others. Sorted by their last wait.
    clocks: Vec<(HeldStream, VectorClock)>,
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
            idle: Vec::new(),
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
        buffers: impl Iterator<Item = &'t TrackedBuffer> + Clone,
    ) -> MutexGuard<'l, Generation> {
        self.lock_unless(|| buffers.clone().any(|buffer| buffer.entries().is_copied()))
    }

    /// Locks the ledger once `blocked` is false, which only a loan can make true.
    fn lock_unless(&self, blocked: impl Fn() -> bool) -> MutexGuard<'_, Generation> {
        let blocked = |generation: &mut Generation| generation.lent > 0 && blocked();
        self.returned.wait_while(self.lock(), blocked).unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a loan of all of these buffers or of none, once the copies that it conflicts with have ended. `idle`
    /// must be idle until it ends.
    pub fn begin_loans(&self, buffers: &[&TrackedBuffer], loan: Loan, idle: Option<&IdlePart>) -> Result<()> {
        let conflicts = |with: fn(&Loan) -> bool| {
            buffers.iter().any(|buffer| {
                let shares = buffer.shares_with_host();
                buffer.entries().loans.iter().any(|other| !loan.admits(*other, shares) && with(other))
            })
        };
        let mut generation = self.lock_unless(|| conflicts(|other| other.kind == LoanKind::ForCopy));
        if conflicts(|_| true) {
            return Err(Error::BufferLentTwice);
        }
        generation.lent += buffers.len();
        generation.idle.extend(idle.cloned());
        for buffer in buffers {
            let mut entries = buffer.entries();
            if entries.loans.is_empty() {
                // No guards exist without a loan.
                entries.uses.prune(self.driver);
            }
            entries.loans.push(loan);
        }
        Ok(())
    }
}

impl Generation {
    /// Starts a new generation unless the current one is in `stream`.
    pub fn enter(&mut self, stream: &Arc<CudaStream>) {
        if !self.stream.as_ref().is_some_and(|known| known.is_here(stream)) {
            self.renew();
            self.stream = Some(HeldStream::new(stream));
        }
    }

    /// Returns true if the host accesses memory and nothing may be launched into a stream meanwhile.
    pub fn must_be_idle(&self, stream: &CudaStream) -> bool {
        self.idle.iter().any(|idle| idle.includes(stream))
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

    /// Starts a new generation, so that each launch checks all entries.
    pub fn renew(&mut self) {
        self.number += 1;
    }

    /// Counts a use, and returns its position among all uses.
    pub fn next_place(&mut self) -> u64 {
        self.uses += 1;
        self.uses
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
        if waits.is_empty() {
            return;
        }
        let known = self.clocks.iter().position(|(known, _)| known.is(stream));
        let mut clock = known.map_or_else(VectorClock::default, |at| self.clocks.remove(at).1);
        waits.held().for_each(|last| clock.learn(last));
        if self.clocks.len() >= MAX_CLOCKS {
            self.clocks.remove(0);
        }
        self.clocks.push((stream.clone(), clock));
    }
}

/// The entry of a user in a buffer.
#[derive(Debug)]
struct LedgerEntry {
    user: Arc<User>,
    wrote: bool,
}

/// The uses of a buffer.
#[derive(Debug)]
pub(crate) struct TrackedBuffer {
    pub ledger: Arc<Ledger>,
    /// The context of the memory.
    ctx: Arc<CudaContext>,
    /// The state of managed memory. `None` for other memory.
    pub managed_state: Option<ManagedState>,
    /// The buffers that share bytes with it and were there before. Each use of it is one of theirs, too. Those that are
    /// gone have no uses any more.
    pub overlapping: Vec<Weak<TrackedBuffer>>,
    entries: Mutex<BufferEntries>,
}

#[derive(Debug, Default)]
struct BufferEntries {
    list: Vec<LedgerEntry>,
    /// The uses through views, which no launch is ordered after yet.
    uses: StreamUses,
    loans: Vec<Loan>,
}

impl BufferEntries {
    /// Returns true during a copy by the runtime.
    fn is_copied(&self) -> bool {
        self.loans.iter().any(|loan| loan.kind == LoanKind::ForCopy)
    }

    /// Marks as outdated the users whose entries conflict with a new or removed entry of `user`.
    fn outdate(&self, user: &Arc<User>, write: bool) {
        let conflicting = self.list.iter().filter(|entry| write || entry.wrote);
        conflicting.filter(|entry| !Arc::ptr_eq(&entry.user, user)).for_each(|entry| entry.user.outdate());
    }
}

impl TrackedBuffer {
    /// Returns a buffer whose first use is a write by `user`.
    pub fn new(ledger: Arc<Ledger>, ctx: Arc<CudaContext>, user: User) -> TrackedBuffer {
        let list = vec![LedgerEntry { user: Arc::new(user), wrote: true }];
        let entries = Mutex::new(BufferEntries { list, ..BufferEntries::default() });
        TrackedBuffer { ledger, ctx, managed_state: None, overlapping: Vec::new(), entries }
    }

    /// Returns a buffer whose only use so far is the work in `stream`.
    pub fn used_by(driver: &'static Driver, stream: &Arc<CudaStream>) -> Result<TrackedBuffer> {
        let (ledger, ctx) = (Ledger::shared(driver), stream.context());
        let made = Arc::new(OwnedEvent::new(driver, ctx)?);
        driver.record(made.raw(), Stream::from_cudarc(stream))?;
        let user = User::new(made);
        user.used(ledger.lock().next_place(), stream, true);
        user.end();
        Ok(TrackedBuffer::new(ledger, ctx.clone(), user))
    }

    /// Returns it and the buffers that share bytes with it and were there before.
    pub fn with_overlapping(self: &Arc<Self>) -> impl Iterator<Item = Arc<TrackedBuffer>> {
        std::iter::once(self.clone()).chain(self.overlapping.iter().filter_map(Weak::upgrade))
    }

    fn entries(&self) -> MutexGuard<'_, BufferEntries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Prepares a launch of `user`: adds the uses to wait for and the rivals, and orders the stream after the
    /// uses through views. Returns false if the buffer is on a conflicting loan. The ledger must be locked.
    pub fn before(
        &self,
        user: &Arc<User>,
        history: StreamHistory<'_>,
        write: bool,
        waits: &mut Waits,
        rivals: &mut Rivals,
    ) -> Outcome<bool> {
        let (entries, shares) = (self.entries(), self.shares_with_host());
        if !entries.loans.iter().all(|loan| loan.admits_launch(write, shares)) {
            return Ok(false);
        }
        let elsewhere = |user: &User| user.last().as_ref().is_some_and(|last| !history.includes(last));
        let conflicting = entries.list.iter().filter(|entry| write || entry.wrote);
        for entry in conflicting.filter(|entry| !Arc::ptr_eq(&entry.user, user)) {
            if elsewhere(&entry.user) {
                waits.add(&entry.user);
            }
            rivals.add(&entry.user);
        }
        if entries.uses.is_used() {
            let (driver, raw) = (self.ledger.driver, history.stream.raw());
            let key = StreamKey::new(driver, raw);
            entries.uses.order(driver, raw, Some(&key), write)?;
        }
        Ok(true)
    }

    /// Adds the entry of a launch, which must be ordered after the conflicting uses. The ledger must be locked.
    pub fn after(&self, user: &Arc<User>, write: bool) {
        const PRUNE_AT: usize = 16;
        let driver = self.ledger.driver;
        let mut entries = self.entries();
        if write {
            // Waiting for this launch implies waiting for the earlier ones. Users that may launch again keep
            // their entries.
            entries.list.retain(|entry| !entry.user.has_ended());
            entries.uses.renew();
        }
        match entries.list.iter_mut().find(|entry| Arc::ptr_eq(&entry.user, user)) {
            Some(entry) if entry.wrote || !write => return,
            Some(entry) => entry.wrote = true,
            None => {
                if entries.list.len() >= PRUNE_AT {
                    let over = |entry: &LedgerEntry| entry.user.has_ended() && entry.user.is_over(driver);
                    driver.relaxed(|| entries.list.retain(|entry| !over(entry)));
                }
                entries.list.push(LedgerEntry { user: user.clone(), wrote: write });
            }
        }
        entries.outdate(user, write);
    }

    /// Ends the entry of `user`, which no longer binds the buffer.
    pub fn leave(&self, user: &Arc<User>) {
        let _alone = self.ledger.lock();
        let mut entries = self.entries();
        if let Some(entry) = entries.list.iter_mut().find(|entry| Arc::ptr_eq(&entry.user, user)) {
            let (ended, wrote) = (Arc::new(user.ended()), entry.wrote);
            entry.user = ended;
            entries.outdate(user, wrote);
        }
    }

    /// Returns true if host and devices may access the memory at the same time.
    fn shares_with_host(&self) -> bool {
        self.managed_state.as_ref().is_some_and(ManagedState::is_concurrent)
    }

    /// Waits on the host for all uses, or only for the writes. Returns the communicator that failed meanwhile,
    /// if any.
    pub fn wait_on_host(&self, all: bool) -> Outcome<Option<AbortedCommunicator>> {
        let (driver, ctx) = (self.ledger.driver, &self.ctx);
        driver.enter(Context::from_cudarc(ctx))?;
        let side = SideStream::shared(driver, ctx)?;
        self.order_after_uses(side.raw(), all)?;
        driver.enter(Context::from_cudarc(ctx))?;
        watch::synchronize(driver, ctx, side.raw())
    }

    /// Makes a stream wait for all uses of it and of the buffers that share bytes with it and were there before.
    pub fn order_after_overlapping(self: &Arc<Self>, stream: Stream) -> Outcome<()> {
        self.with_overlapping().try_for_each(|tracked| tracked.order_after_uses(stream, true))
    }

    /// Makes a stream wait for all uses, or only for the writes.
    pub fn order_after_uses(&self, stream: Stream, all: bool) -> Outcome<()> {
        let (driver, entries) = (self.ledger.driver, self.entries());
        let mut waits = Waits::default();
        entries.list.iter().filter(|entry| all || entry.wrote).for_each(|entry| waits.add(&entry.user));
        waits.order(driver, stream)?;
        entries.uses.order(driver, stream, None, all)
    }

    /// Waits on the host for all uses, before the memory is freed. Returns false if it could not wait.
    pub fn end_on_host(&self) -> bool {
        let (driver, ctx) = (self.ledger.driver, &self.ctx);
        let entered = waits::enter(driver, ctx);
        let waited = self.wait_on_host(true).map(drop).or_else(|failure| {
            record(ctx, failure);
            driver.synchronize_context()
        });
        waits::ignore_ended_context(waited).map_err(|failure| record(ctx, failure)).is_ok() && entered
    }

    /// Begins a loan, once the copies that it conflicts with have ended. `idle` must be idle until it ends.
    pub fn begin_loan(&self, loan: Loan, idle: Option<&IdlePart>) -> Result<()> {
        self.ledger.begin_loans(&[self], loan, idle)
    }

    /// Ends a loan. Uses outside the current generation's stream start a new generation.
    pub fn end_loan(&self, loan: Loan, idle: Option<&IdlePart>) {
        let mut generation = self.ledger.lock();
        let mut entries = self.entries();
        if let Some(at) = entries.loans.iter().position(|other| *other == loan) {
            entries.loans.swap_remove(at);
        }
        let ended = idle.and_then(|idle| generation.idle.iter().position(|other| other.is(idle)));
        if let Some(at) = ended {
            generation.idle.swap_remove(at);
        }
        generation.lent -= 1;
        self.ledger.returned.notify_all();
        if entries.uses.is_used() {
            entries.list.iter().for_each(|entry| entry.user.outdate());
        }
        if !self.is_by_generation(&generation, &entries) {
            generation.renew();
        }
    }

    /// Returns true if all uses through views are in the generation's stream.
    fn is_by_generation(&self, generation: &Generation, entries: &BufferEntries) -> bool {
        // This thread has no key for the per-thread stream of another thread.
        let stream = generation.stream.as_ref().filter(|stream| stream.is_of_this_thread());
        stream.is_some_and(|stream| {
            let key = StreamKey::new(self.ledger.driver, stream.raw());
            entries.uses.is_all_by(&key, stream.context())
        })
    }

    /// Orders a use through a view after the conflicting uses. The guard records it. `None` if that failed.
    pub fn order_use<'a>(&self, stream: &CudaStream, write: bool) -> Option<SyncOnDrop<'a>> {
        let reached = self.try_order_use(stream, write);
        // The use must not happen without its wait. For `None`, the caller returns an address that no call
        // accepts.
        reached.map_err(|failure| record(&self.ctx, failure)).ok()
    }

    /// Like [`TrackedBuffer::order_use`], but for any stream, even if managed memory is attached to another.
    pub fn order_use_unchecked<'a>(&self, stream: &CudaStream, write: bool) -> Option<SyncOnDrop<'a>> {
        let reached = self.try_order_use_unchecked(stream, write);
        reached.map_err(|failure| record(&self.ctx, failure)).ok()
    }

    /// Like [`TrackedBuffer::order_use`], but returns the failure.
    pub fn try_order_use<'a>(&self, stream: &CudaStream, write: bool) -> Outcome<SyncOnDrop<'a>> {
        if self.managed_state.as_ref().is_some_and(|managed_state| managed_state.fault(stream).is_some()) {
            return Err(Failure::not_permitted("cuStreamAttachMemAsync"));
        }
        self.try_order_use_unchecked(stream, write)
    }

    /// Like [`TrackedBuffer::try_order_use`], but for any stream, even if managed memory is attached to another.
    pub fn try_order_use_unchecked<'a>(&self, stream: &CudaStream, write: bool) -> Outcome<SyncOnDrop<'a>> {
        let (driver, raw, ctx) = (self.ledger.driver, Stream::from_cudarc(stream), stream.context());
        driver.enter(Context::from_cudarc(ctx))?;
        let captures = driver.is_capturing(raw)?;
        let key = StreamKey::new(driver, raw);
        let _alone = self.ledger.lock();
        let mut entries = self.entries();
        let mut waits = Waits::default();
        let here =
            |user: &User| user.last().as_ref().is_some_and(|last| last.held && last.stream.is_here(stream));
        let conflicting = entries.list.iter().filter(|entry| write || entry.wrote);
        conflicting.filter(|entry| captures || !here(&entry.user)).for_each(|entry| waits.add(&entry.user));
        waits.order(driver, raw)?;
        entries.uses.order(driver, raw, (!captures).then_some(&key), write)?;
        // Waiting for a use in another context may have changed the current one.
        driver.enter(Context::from_cudarc(ctx))?;
        if captures {
            // The host has waited already. Captured uses are not recorded here.
            return Ok(SyncOnDrop::Record(None));
        }
        Ok(entries.uses.entry(driver, key, ctx)?.note(write))
    }

    /// Orders the stream that frees the buffer after all of its uses. Returns false if neither the device nor
    /// the host can wait for them.
    pub fn end(&self, owner: &Arc<CudaStream>) -> bool {
        let (driver, ctx) = (self.ledger.driver, &self.ctx);
        let entered = waits::enter(driver, ctx);
        let (owner, entries) = (HeldStream::new(owner), self.entries());
        let mut waits = Waits::default();
        let elsewhere =
            |user: &User| user.last().as_ref().is_some_and(|last| !(last.held && last.stream.is(&owner)));
        entries.list.iter().filter(|entry| elsewhere(&entry.user)).for_each(|entry| waits.add(&entry.user));
        let ordered = waits.order(driver, owner.raw());
        let ordered = ordered.and_then(|()| entries.uses.order(driver, owner.raw(), None, true));
        let over = ordered.or_else(|failure| {
            record(ctx, failure);
            waits::ignore_ended_context(driver.synchronize_context())
        });
        over.map_err(|failure| record(ctx, failure)).is_ok() && entered
    }
}
