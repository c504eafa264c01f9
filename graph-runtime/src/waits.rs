//! Waits: every wait that safety depends on is a driver call of the runtime's own. Its failure is returned or, if that is
//! impossible, replaced by a wait on the host.
//!
//! No wait goes through cudarc, whose calls store their failures and do nothing while an earlier failure is stored. The
//! host waits for an event, else for the stream that recorded it, else for the whole context. If all of these fail, memory
//! is leaked instead of freed, and modules stay loaded.
//!
//! A capturing stream can neither wait nor record an event: both would become part of the capture, or invalidate it. Then
//! the host waits.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::ThreadId;

use cudarc::driver::{CudaContext, CudaStream};

use super::cuda::{Context, Driver, Event, Outcome, Stream, record};

/// An event that lives as long as someone may wait for it.
#[derive(Debug)]
pub struct OwnedEvent {
    driver: &'static Driver,
    ctx: Arc<CudaContext>,
    event: Event,
}

impl OwnedEvent {
    /// Creates an event in a context, which must be current.
    pub fn new(driver: &'static Driver, ctx: &Arc<CudaContext>) -> Outcome<OwnedEvent> {
        Ok(OwnedEvent { driver, ctx: ctx.clone(), event: driver.create_event()? })
    }

    /// Creates an event with timing in a context, which must be current.
    pub fn timing(driver: &'static Driver, ctx: &Arc<CudaContext>) -> Outcome<OwnedEvent> {
        Ok(OwnedEvent { driver, ctx: ctx.clone(), event: driver.create_timing_event()? })
    }

    /// Returns its handle.
    pub fn raw(&self) -> Event {
        self.event
    }
}

impl Drop for OwnedEvent {
    fn drop(&mut self) {
        enter(self.driver, &self.ctx);
        if let Err(failure) = self.driver.destroy_event(self.event) {
            record(&self.ctx, failure);
        }
    }
}

/// Makes the context current in a drop, which cannot return a failure. Returns true if it is current.
pub(crate) fn enter(driver: &Driver, ctx: &CudaContext) -> bool {
    let context = Context::of(ctx);
    // Tried a second time, since the handles of default streams refer to the current context.
    let entered = driver.enter(context).or_else(|_| driver.enter(context));
    entered.map_err(|failure| record(ctx, failure)).is_ok()
}

/// Orders later work on `stream` after `event`: on the device, or on the host if the stream is capturing.
pub(crate) fn order(driver: &Driver, stream: Stream, event: Event) -> Outcome<()> {
    match driver.is_capturing(stream) {
        Ok(false) => driver.wait(stream, event),
        // The query of the legacy default stream fails while a stream that it waits for is capturing.
        _ => driver.synchronize_event(event),
    }
}

/// Does the same as [`order`] for an event that others record, too: an event that was last recorded in a capture is not
/// waited for. Must be called in [`Driver::relaxed`].
pub(crate) fn order_used(driver: &Driver, stream: Stream, event: Event) -> Outcome<()> {
    match driver.is_over(event) {
        Ok(true) => Ok(()),
        Ok(false) => order(driver, stream, event),
        Err(failure) if failure.is_captured_event() => Ok(()),
        Err(failure) => Err(failure),
    }
}

/// Does the same as [`order`], and waits on the host if the device cannot.
pub(crate) fn behind(driver: &Driver, stream: Stream, event: Event) -> Outcome<()> {
    order(driver, stream, event).or_else(|_| on_host(driver, event, None))
}

/// Waits on the host for `event`, which was recorded in `stream`.
pub(crate) fn on_host(driver: &Driver, event: Event, stream: Option<Stream>) -> Outcome<()> {
    let waited = driver.synchronize_event(event).or_else(|failure| match stream {
        // On another thread the per-thread handle is another stream.
        Some(stream) if !stream.is_per_thread() && driver.is_capturing(stream) == Ok(false) => {
            driver.synchronize(stream).or_else(|_| driver.synchronize_context())
        }
        _ => driver.synchronize_context().map_err(|_| failure),
    });
    over(waited)
}

/// Converts the result of a wait on the host: in a context that a fault has ended, all work is complete.
pub(crate) fn over(waited: Outcome<()>) -> Outcome<()> {
    match waited {
        Err(failure) if failure.ends_the_context() => Ok(()),
        waited => waited,
    }
}

/// The identity of a stream for the lifetime of the process. Handles are not one: they are reused, and one of them is a
/// different stream on each thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StreamKey {
    pub raw: Stream,
    /// `None` if the driver does not support the query: such a key [is](StreamKey::is) no other.
    id: Option<u64>,
    thread: Option<ThreadId>,
}

impl StreamKey {
    /// Returns the key of a live stream on this thread.
    pub fn of(driver: &Driver, raw: Stream) -> StreamKey {
        let thread = raw.is_per_thread().then(|| std::thread::current().id());
        StreamKey { raw, id: driver.stream_id(raw).ok(), thread }
    }

    /// Returns true if both are known to be the same stream.
    pub fn is(&self, other: &StreamKey) -> bool {
        self.id.is_some() && self == other
    }
}

/// A stream that is kept alive, so that its handle is not reused. Compared without driver calls.
#[derive(Clone, Debug)]
pub(crate) struct HeldStream {
    stream: Arc<CudaStream>,
    /// The thread of a per-thread default stream, whose handle is a different stream on each thread.
    thread: Option<ThreadId>,
}

impl HeldStream {
    /// Keeps a stream alive, identified as on this thread.
    pub fn of(stream: &Arc<CudaStream>) -> HeldStream {
        let thread = Stream::of(stream).is_per_thread().then(|| std::thread::current().id());
        HeldStream { stream: stream.clone(), thread }
    }

    /// Returns the stream.
    pub fn stream(&self) -> &Arc<CudaStream> {
        &self.stream
    }

    /// Returns its handle.
    pub fn raw(&self) -> Stream {
        Stream::of(&self.stream)
    }

    /// Returns its context.
    pub fn context(&self) -> Context {
        Context::of(self.stream.context())
    }

    /// Returns true if both are the same stream. The handles of the default streams are those of every context.
    pub fn is(&self, other: &HeldStream) -> bool {
        self.raw() == other.raw() && self.thread == other.thread && self.context() == other.context()
    }

    /// Returns true unless it is the per-thread default stream of another thread.
    pub fn is_of_this_thread(&self) -> bool {
        self.thread.is_none_or(|thread| thread == std::thread::current().id())
    }

    /// Returns true if it is `stream` on this thread.
    pub fn is_here(&self, stream: &CudaStream) -> bool {
        self.raw() == Stream::of(stream)
            && self.is_of_this_thread()
            && **self.stream.context() == **stream.context()
    }
}

/// A stream of the runtime's own in a context, shared while someone holds it: for memory that no stream of the user owns,
/// and for frees that the user's stream cannot do. It is not created by cudarc, which would count it.
#[derive(Debug)]
pub(crate) struct SideStream {
    driver: &'static Driver,
    ctx: Arc<CudaContext>,
    raw: Stream,
}

impl SideStream {
    /// Returns the stream of a context, which must be current.
    pub fn of(driver: &'static Driver, ctx: &Arc<CudaContext>) -> Outcome<Arc<SideStream>> {
        static ALL: Mutex<Vec<(Context, Weak<SideStream>)>> = Mutex::new(Vec::new());
        let context = Context::of(ctx);
        let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        let known = all.iter().filter(|entry| entry.0 == context).find_map(|entry| entry.1.upgrade());
        if let Some(side) = known {
            // A wait for a captured event can have added the stream to a capture. Then it is abandoned.
            if !driver.is_capturing(side.raw)? {
                return Ok(side);
            }
        }
        all.retain(|entry| entry.0 != context && entry.1.strong_count() > 0);
        let side = Arc::new(SideStream { driver, ctx: ctx.clone(), raw: driver.create_stream()? });
        all.push((context, Arc::downgrade(&side)));
        Ok(side)
    }

    /// Returns its handle.
    pub fn raw(&self) -> Stream {
        self.raw
    }

    /// Returns its context.
    pub fn context(&self) -> Context {
        Context::of(&self.ctx)
    }
}

impl Drop for SideStream {
    fn drop(&mut self) {
        enter(self.driver, &self.ctx);
        if let Err(failure) = self.driver.destroy_stream(self.raw) {
            record(&self.ctx, failure);
        }
    }
}

/// Returns the stream that represents a stream beyond the current call: for the per-thread default stream, which is a
/// different stream on each thread, the legacy default stream, which is ordered with it on every thread.
pub(crate) fn home(stream: &Arc<CudaStream>) -> Arc<CudaStream> {
    if Stream::of(stream).is_per_thread() { stream.context().default_stream() } else { stream.clone() }
}
