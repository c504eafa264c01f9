//! Waits. Every wait on which safety depends is a driver call of the runtime's own. Its failure is returned
//! or, where that is impossible, made up for by a wait on the host.
//!
//! No wait goes through cudarc, whose calls store their failures and do nothing while an earlier failure is
//! stored. The host waits for an event, or else for the stream that recorded it, or else for the whole
//! context. If all of these fail, memory is leaked instead of freed, and modules stay loaded.
//!
//! A capturing stream can neither wait for nor record an event: either would become part of the capture or
//! invalidate it. The host waits instead.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::ThreadId;

use cudarc::driver::{CudaContext, CudaStream};

use super::cuda::{Context, Driver, Event, Outcome, Stream, record};

/// An event that lives until nobody can wait for it any more.
#[derive(Debug)]
pub struct OwnedEvent {
    driver: &'static Driver,
    ctx: Arc<CudaContext>,
    event: Event,
}

impl OwnedEvent {
    /// Creates an event. `ctx` must be current.
    pub fn new(driver: &'static Driver, ctx: &Arc<CudaContext>) -> Outcome<OwnedEvent> {
        Ok(OwnedEvent { driver, ctx: ctx.clone(), event: driver.create_event()? })
    }

    /// Creates an event with timing. `ctx` must be current.
    pub fn timing(driver: &'static Driver, ctx: &Arc<CudaContext>) -> Outcome<OwnedEvent> {
        Ok(OwnedEvent { driver, ctx: ctx.clone(), event: driver.create_timing_event()? })
    }

    /// Returns its handle.
    pub fn raw(&self) -> Event {
        self.event
    }

    /// Returns true if the recorded work is known to be complete. The context must be current.
    pub fn is_over(&self) -> bool {
        self.driver.relaxed(|| self.driver.is_over(self.event)).unwrap_or(false)
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

/// Makes the context current in a drop, where a failure cannot be returned. Returns true if it is current.
pub(crate) fn enter(driver: &Driver, ctx: &CudaContext) -> bool {
    let context = Context::from_cudarc(ctx);
    // Tried a second time, because the handles of default streams refer to the current context.
    let entered = driver.enter(context).or_else(|_| driver.enter(context));
    entered.map_err(|failure| record(ctx, failure)).is_ok()
}

/// Orders later work on `stream` after `event`: on the device, or on the host if the stream is capturing.
pub(crate) fn order(driver: &Driver, stream: Stream, event: Event) -> Outcome<()> {
    match driver.is_capturing(stream) {
        Ok(false) => driver.wait(stream, event),
        // The query fails for the legacy default stream while a stream that synchronizes with it is capturing.
        _ => driver.synchronize_event(event),
    }
}

/// Like [`order`], for an event that others record, too. An event that was last recorded in a capture is
/// ignored. Must be called in [`Driver::relaxed`].
pub(crate) fn order_used(driver: &Driver, stream: Stream, event: Event) -> Outcome<()> {
    match driver.is_over(event) {
        Ok(true) => Ok(()),
        Ok(false) => order(driver, stream, event),
        Err(failure) if failure.is_captured_event() => Ok(()),
        Err(failure) => Err(failure),
    }
}

/// Like [`order`], but falls back to a wait on the host if the device cannot wait.
pub(crate) fn order_or_wait(driver: &Driver, stream: Stream, event: Event) -> Outcome<()> {
    order(driver, stream, event).or_else(|_| wait_on_host(driver, event, None))
}

/// Waits on the host for `event`, which was recorded in `stream`.
pub(crate) fn wait_on_host(driver: &Driver, event: Event, stream: Option<Stream>) -> Outcome<()> {
    let waited = driver.synchronize_event(event).or_else(|failure| match stream {
        // On another thread, the per-thread handle is a different stream.
        Some(stream) if !stream.is_per_thread() && driver.is_capturing(stream) == Ok(false) => {
            driver.synchronize(stream).or_else(|_| driver.synchronize_context())
        }
        _ => driver.synchronize_context().map_err(|_| failure),
    });
    ignore_ended_context(waited)
}

/// Converts the result of a wait on the host to success if a fault ended the context: all work is then complete.
pub(crate) fn ignore_ended_context(waited: Outcome<()>) -> Outcome<()> {
    match waited {
        Err(failure) if failure.ends_the_context() => Ok(()),
        waited => waited,
    }
}

/// The identity of a stream, unique in the process. Handles do not identify streams: they are reused, and the
/// per-thread handle is a different stream on each thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StreamKey {
    pub raw: Stream,
    /// `None` if the driver does not support the query. Such a key [is](StreamKey::is) not equal to any other.
    id: Option<u64>,
    thread: Option<ThreadId>,
}

impl StreamKey {
    /// Returns the key of a live stream on this thread.
    pub fn new(driver: &Driver, raw: Stream) -> StreamKey {
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
    /// Keeps a stream alive. A per-thread default stream is identified as this thread's.
    pub fn new(stream: &Arc<CudaStream>) -> HeldStream {
        let thread = Stream::from_cudarc(stream).is_per_thread().then(|| std::thread::current().id());
        HeldStream { stream: stream.clone(), thread }
    }

    /// Returns the stream.
    pub fn stream(&self) -> &Arc<CudaStream> {
        &self.stream
    }

    /// Returns its handle.
    pub fn raw(&self) -> Stream {
        Stream::from_cudarc(&self.stream)
    }

    /// Returns its context.
    pub fn context(&self) -> Context {
        Context::from_cudarc(self.stream.context())
    }

    /// Returns true if both are the same stream. Default streams have the same handle in every context.
    pub fn is(&self, other: &HeldStream) -> bool {
        self.raw() == other.raw() && self.thread == other.thread && self.context() == other.context()
    }

    /// Returns true unless it is the per-thread default stream of another thread.
    pub fn is_of_this_thread(&self) -> bool {
        self.thread.is_none_or(|thread| thread == std::thread::current().id())
    }

    /// Returns true if it is `stream` on this thread.
    pub fn is_here(&self, stream: &CudaStream) -> bool {
        self.raw() == Stream::from_cudarc(stream)
            && self.is_of_this_thread()
            && **self.stream.context() == **stream.context()
    }
}

/// An internal stream of a context, shared by all its holders. It serves memory that no stream of the user
/// owns, and frees that the user's stream cannot do. Not created by cudarc, which would count it.
#[derive(Debug)]
pub(crate) struct SideStream {
    driver: &'static Driver,
    ctx: Arc<CudaContext>,
    raw: Stream,
}

impl SideStream {
    /// Returns the internal stream of a context, which must be current.
    pub fn shared(driver: &'static Driver, ctx: &Arc<CudaContext>) -> Outcome<Arc<SideStream>> {
        static ALL: Mutex<Vec<(Context, Weak<SideStream>)>> = Mutex::new(Vec::new());
        let context = Context::from_cudarc(ctx);
        let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        let known = all.iter().filter(|entry| entry.0 == context).find_map(|entry| entry.1.upgrade());
        if let Some(side) = known {
            // A wait for a captured event may have added the stream to a capture. It is then abandoned.
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
        Context::from_cudarc(&self.ctx)
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

/// Returns a stream that can stand for `stream` after the current call. For the per-thread default stream, which
/// differs from thread to thread, this is the legacy default stream, which is ordered with it on every thread.
pub(crate) fn lasting_stream(stream: &Arc<CudaStream>) -> Arc<CudaStream> {
    if Stream::from_cudarc(stream).is_per_thread() {
        stream.context().default_stream()
    } else {
        stream.clone()
    }
}
