//! The uses of memory by the user's streams: one event for each stream, recorded after its last use.
//!
//! cudarc has a single event for all readers of a buffer, so that event records only the last one. An output,
//! or a buffer that an exec returns a view of, has an event for each stream that uses it, and conflicting uses
//! wait for all of them.
//!
//! The events are cudarc's, but its guards record them through a context object of the runtime ([`RuntimeContext`]). So
//! they are recorded even if the user's context object does not track events or holds an error, and a failure
//! to record is noticed.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cudarc::driver::{CudaContext, CudaEvent, CudaStream, SyncOnDrop};

use crate::cuda::{self, Context, Driver, Event, Outcome, RuntimeContext, Stream};
use crate::waits::{self, StreamKey};

/// The uses by one stream.
#[derive(Debug)]
pub(crate) struct StreamUse {
    key: StreamKey,
    ctx: Arc<CudaContext>,
    runtime_context: &'static RuntimeContext,
    /// The user's stream, for the guard.
    stream: Arc<CudaStream>,
    event: CudaEvent,
    /// The count of failed calls of the context object at which this event was last known to be recorded.
    failures: AtomicU64,
    used: AtomicBool,
    wrote: AtomicBool,
    /// True if the stream has waited for the launch that made the output.
    waited: AtomicBool,
}

impl StreamUse {
    /// Returns the state of a stream without uses. Its context must be current.
    fn new(driver: &Driver, key: StreamKey, ctx: &Arc<CudaContext>) -> Outcome<StreamUse> {
        let runtime_context = RuntimeContext::get(driver, ctx)?;
        Ok(StreamUse {
            key,
            ctx: ctx.clone(),
            runtime_context,
            stream: runtime_context.stream(key.raw),
            event: runtime_context.event()?,
            failures: AtomicU64::new(runtime_context.failures()),
            used: AtomicBool::new(false),
            wrote: AtomicBool::new(false),
            waited: AtomicBool::new(false),
        })
    }

    fn is_recorded(&self) -> bool {
        self.runtime_context.failures() == self.failures.load(Ordering::Acquire)
    }

    /// Orders a stream after the use.
    fn order(&self, driver: &Driver, stream: Stream) -> Outcome<()> {
        let failures = self.runtime_context.failures();
        if failures == self.failures.load(Ordering::Acquire) {
            return waits::order_or_wait(driver, stream, Event::from_cudarc(&self.event));
        }
        // The event may not have been recorded. Then only waiting for the whole context is sufficient.
        driver.enter(Context::from_cudarc(&self.ctx))?;
        driver.synchronize_context()?;
        self.failures.store(failures, Ordering::Release);
        Ok(())
    }
}

/// The uses of some memory: of an output from its launch to its end, or of a buffer between two launches.
#[derive(Debug, Default)]
pub(crate) struct StreamUses(Vec<Arc<StreamUse>>);

impl StreamUses {
    /// Clears the uses, and drops streams without uses since the last call. No guard may exist.
    pub fn renew(&mut self) {
        self.0.retain(|used| used.used.load(Ordering::Relaxed));
        for used in &self.0 {
            used.used.store(false, Ordering::Relaxed);
            used.wrote.store(false, Ordering::Relaxed);
            used.waited.store(false, Ordering::Relaxed);
            used.failures.store(used.runtime_context.failures(), Ordering::Release);
        }
    }

    /// Orders a stream after the uses by other streams: after all of them for a write, only after writes for a
    /// read.
    pub fn order(
        &self,
        driver: &Driver,
        stream: Stream,
        key: Option<&StreamKey>,
        write: bool,
    ) -> Outcome<()> {
        self.0
            .iter()
            .filter(|other| other.used.load(Ordering::Relaxed))
            .filter(|other| write || other.wrote.load(Ordering::Relaxed))
            .filter(|other| !key.is_some_and(|key| key.is(&other.key)))
            .try_for_each(|other| other.order(driver, stream))
    }

    /// Returns true if there are uses.
    pub fn is_used(&self) -> bool {
        self.0.iter().any(|known| known.used.load(Ordering::Relaxed))
    }

    /// Returns true if all uses are by one stream of a context.
    pub fn is_all_by(&self, key: &StreamKey, context: Context) -> bool {
        let mut used = self.0.iter().filter(|known| known.used.load(Ordering::Relaxed));
        used.all(|known| known.key.is(key) && Context::from_cudarc(&known.ctx) == context)
    }

    /// Returns true if at most one stream has uses, and all of them are known to be recorded.
    pub fn is_by_one(&self) -> bool {
        let mut used = self.0.iter().filter(|known| known.used.load(Ordering::Relaxed));
        let recorded = used.next().is_none_or(|only| only.is_recorded());
        recorded && used.next().is_none()
    }

    /// Drops completed uses if there are several streams. No guard may exist.
    pub fn prune(&mut self, driver: &Driver) {
        if self.0.len() < 2 {
            return;
        }
        let over = |known: &StreamUse| {
            known.is_recorded() && driver.is_over(Event::from_cudarc(&known.event)) == Ok(true)
        };
        driver.relaxed(|| self.0.retain(|known| !over(known)));
    }

    /// Returns the entry of a stream, and adds it if needed.
    pub fn entry(
        &mut self,
        driver: &Driver,
        key: StreamKey,
        ctx: &Arc<CudaContext>,
    ) -> Outcome<Arc<StreamUse>> {
        if let Some(known) = self.0.iter().find(|known| known.key.is(&key)) {
            return Ok(known.clone());
        }
        let new = Arc::new(StreamUse::new(driver, key, ctx)?);
        self.0.push(new.clone());
        Ok(new)
    }
}

impl StreamUse {
    fn mark(&self, write: bool) {
        self.used.store(true, Ordering::Relaxed);
        self.wrote.fetch_or(write, Ordering::Relaxed);
    }

    /// Begins a use in the stream. The drop of the guard records it. The guard may exist until the uses are
    /// cleared.
    pub fn note<'a>(self: &Arc<StreamUse>, write: bool) -> SyncOnDrop<'a> {
        self.mark(write);
        let held = cuda::held(self);
        SyncOnDrop::Record(Some((&held.event, &held.stream)))
    }

    /// Like [`StreamUse::note`], but uses the guard by which cudarc records the use in the memory's own events.
    pub fn note_by<'a>(
        self: &Arc<StreamUse>,
        write: bool,
        cudarc: impl FnOnce(&'a CudaStream) -> SyncOnDrop<'a>,
    ) -> Outcome<SyncOnDrop<'a>> {
        let held = cuda::held(self);
        let guard = self.runtime_context.watch("cuStreamWaitEvent", || cudarc(&held.stream))?;
        self.mark(write);
        Ok(guard)
    }

    /// Returns true if the stream has waited for the launch.
    pub fn has_waited(&self) -> bool {
        self.waited.load(Ordering::Relaxed)
    }

    /// Records that the stream has waited for the launch.
    pub fn set_waited(&self) {
        self.waited.store(true, Ordering::Relaxed);
    }
}

/// The uses of an operand through views, which no launch has been ordered after yet.
#[derive(Debug, Default)]
pub(crate) struct ViewUses(Mutex<StreamUses>);

impl ViewUses {
    pub fn lock(&self) -> MutexGuard<'_, StreamUses> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
