//! The uses of an output by the user's streams: an event a stream, each recorded behind the last use there.
//!
//! cudarc keeps one event for all readers of a buffer, so it knows the last one alone. An output has an event for each
//! stream that uses it: whatever conflicts waits for all of them. The events are cudarc's, recorded by its guards, over
//! the runtime's own context object ([`Quiet`]): so they are recorded whether or not the user's object tracks events or
//! holds an error, and a record that fails is noticed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use cudarc::driver::{CudaContext, CudaEvent, CudaStream, SyncOnDrop};

use crate::runtime::cuda::{self, Context, Driver, Event, Outcome, Quiet, Stream};
use crate::runtime::waits::{self, StreamKey};

/// The uses by one stream.
#[derive(Debug)]
pub(crate) struct Use {
    key: StreamKey,
    ctx: Arc<CudaContext>,
    quiet: &'static Quiet,
    /// The user's stream, for the guard.
    stream: Arc<CudaStream>,
    event: CudaEvent,
    /// The number of failed calls of the context object up to which this event is known to be recorded.
    failures: AtomicU64,
    used: AtomicBool,
    wrote: AtomicBool,
    /// True if the stream has waited for the launch that made the output.
    behind: AtomicBool,
}

impl Use {
    /// Returns the uses by a stream that has none yet. The stream's context must be current.
    fn new(driver: &Driver, key: StreamKey, ctx: &Arc<CudaContext>) -> Outcome<Use> {
        let quiet = Quiet::of(driver, ctx)?;
        Ok(Use {
            key,
            ctx: ctx.clone(),
            quiet,
            stream: quiet.stream(key.raw),
            event: quiet.event()?,
            failures: AtomicU64::new(quiet.failures()),
            used: AtomicBool::new(false),
            wrote: AtomicBool::new(false),
            behind: AtomicBool::new(false),
        })
    }

    /// Orders a stream behind the use.
    fn order(&self, driver: &Driver, stream: Stream) -> Outcome<()> {
        let failures = self.quiet.failures();
        if failures == self.failures.load(Ordering::Acquire) {
            return waits::behind(driver, stream, Event::of(&self.event));
        }
        // The event may not have been recorded: then nothing less than the whole context is known to hold the use.
        driver.enter(Context::of(&self.ctx))?;
        driver.synchronize_context()?;
        self.failures.store(failures, Ordering::Release);
        Ok(())
    }
}

/// All uses of one life of an output.
#[derive(Debug, Default)]
pub(crate) struct Uses(Vec<Arc<Use>>);

impl Uses {
    /// Starts a new life of the output, without uses. No guard may live. Streams that did not use the last life are dropped.
    pub fn renew(&mut self) {
        self.0.retain(|used| used.used.load(Ordering::Relaxed));
        for used in &self.0 {
            used.used.store(false, Ordering::Relaxed);
            used.wrote.store(false, Ordering::Relaxed);
            used.behind.store(false, Ordering::Relaxed);
            used.failures.store(used.quiet.failures(), Ordering::Release);
        }
    }

    /// Orders a stream behind the uses by others: all of them before a write, writes alone before a read.
    pub fn order(
        &self,
        driver: &Driver,
        (stream, key): (Stream, Option<&StreamKey>),
        write: bool,
    ) -> Outcome<()> {
        self.0
            .iter()
            .filter(|other| other.used.load(Ordering::Relaxed))
            .filter(|other| write || other.wrote.load(Ordering::Relaxed))
            .filter(|other| !key.is_some_and(|key| key.is(&other.key)))
            .try_for_each(|other| other.order(driver, stream))
    }

    /// Returns the uses by a stream, which are added to those of the output.
    pub fn of(&mut self, driver: &Driver, key: StreamKey, ctx: &Arc<CudaContext>) -> Outcome<Arc<Use>> {
        if let Some(known) = self.0.iter().find(|known| known.key.is(&key)) {
            return Ok(known.clone());
        }
        let new = Arc::new(Use::new(driver, key, ctx)?);
        self.0.push(new.clone());
        Ok(new)
    }
}

impl Use {
    /// Notes a use that comes next in the stream; the guard records it when it is dropped. It may live until the output
    /// lives anew.
    pub fn note<'a>(self: &Arc<Use>, write: bool) -> SyncOnDrop<'a> {
        self.used.store(true, Ordering::Relaxed);
        self.wrote.fetch_or(write, Ordering::Relaxed);
        let held = cuda::held(self);
        SyncOnDrop::Record(Some((&held.event, &held.stream)))
    }

    /// True if the stream has waited for the launch.
    pub fn is_behind(&self) -> bool {
        self.behind.load(Ordering::Relaxed)
    }

    /// Notes that the stream has waited for the launch.
    pub fn set_behind(&self) {
        self.behind.store(true, Ordering::Relaxed);
    }
}
