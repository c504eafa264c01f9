//! [`RuntimeContext`]: the runtime's own cudarc context object.
//!
//! A `CudaContext` stores the last error that a drop or a wait could not return. Every later call through it
//! returns that error instead of acting. So calls that cudarc makes for the runtime go through a separate
//! object for the same context. It never holds errors of others, and its own are checked after each call.

use std::ptr::with_exposed_provenance_mut;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::{CudaContext, CudaEvent, CudaStream, DriverError, result};

use super::entry::Driver;
use super::failure::{Failure, Outcome, code_of};
use super::handles::Stream;

/// The runtime's own object for a context. It tracks events even if the user's object does not.
#[derive(Debug)]
pub struct RuntimeContext {
    ctx: Arc<CudaContext>,
    /// The number of its calls that have failed.
    failures: AtomicU64,
    /// The error code of the last failure.
    last: AtomicU32,
}

impl RuntimeContext {
    /// Returns the object for a context, which must be current. There is one for each context; it is never
    /// dropped.
    pub fn get(driver: &Driver, ctx: &CudaContext) -> Outcome<&'static RuntimeContext> {
        static ALL: Mutex<Vec<&'static RuntimeContext>> = Mutex::new(Vec::new());
        let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(runtime_context) = all.iter().find(|runtime_context| *runtime_context.ctx == *ctx) {
            return Ok(runtime_context);
        }
        let made = object(ctx).map_err(|error| Failure::from_cudarc("cuDevicePrimaryCtxRetain", error))?;
        // Never dropped, since a drop would end the user's context.
        let _ = Arc::into_raw(made.clone());
        let runtime_context =
            RuntimeContext { ctx: made, failures: AtomicU64::new(0), last: AtomicU32::new(0) };
        runtime_context.track(driver)?;
        let runtime_context = Box::leak(Box::new(runtime_context));
        all.push(runtime_context);
        Ok(runtime_context)
    }

    /// Makes cudarc record events, which it does only after it has counted a stream.
    fn track(&self, driver: &Driver) -> Outcome<()> {
        // SAFETY: no buffer is allocated through this object. Tracking is off only briefly: with tracking on,
        // cudarc waits for the whole context when the first stream is created.
        unsafe { self.ctx.disable_event_tracking() };
        let counted = self.ctx.new_stream().map_err(|error| Failure::from_cudarc("cuStreamCreate", error))?;
        // SAFETY: as above.
        unsafe { self.ctx.enable_event_tracking() };
        let raw = Stream::from_cudarc(&counted);
        std::mem::forget(counted);
        driver.destroy_stream(raw)
    }

    /// Returns a stream object for a handle, which must outlive it.
    pub fn stream(&self, raw: Stream) -> Arc<CudaStream> {
        // SAFETY: the runtime uses only handles of live streams.
        unsafe { self.ctx.wrap_borrowed_stream(with_exposed_provenance_mut(raw.0)) }
    }

    /// Creates an event.
    pub fn event(&self) -> Outcome<CudaEvent> {
        self.ctx.new_event(None).map_err(|error| {
            // The error may belong to an earlier call. Returning it clears it from the object, so count it
            // here.
            self.note(error);
            Failure::from_cudarc("cuEventCreate", error)
        })
    }

    fn note(&self, error: DriverError) {
        self.last.store(code_of(error.0), Ordering::Relaxed);
        self.failures.fetch_add(1, Ordering::SeqCst);
    }

    /// Returns the number of failed calls through this object. A call that leaves it unchanged has succeeded.
    pub fn failures(&self) -> u64 {
        if let Err(error) = self.ctx.check_err() {
            self.note(error);
        }
        self.failures.load(Ordering::SeqCst)
    }

    /// Makes a cudarc call through this object, and returns a failure that cudarc has only stored.
    pub fn watch<T>(&self, call: &'static str, work: impl FnOnce() -> T) -> Outcome<T> {
        let before = self.failures();
        let result = work();
        if self.failures() == before {
            return Ok(result);
        }
        Err(Failure { call, code: self.last.load(Ordering::Relaxed) })
    }
}

/// Returns a new object for a context. It must never be dropped, since that would end the context.
pub fn object(ctx: &CudaContext) -> std::result::Result<Arc<CudaContext>, DriverError> {
    if !ctx.is_primary() {
        // SAFETY: the context is live, and the object is never dropped.
        return unsafe { CudaContext::from_raw_context(ctx.ordinal(), ctx.cu_device(), ctx.cu_ctx()) };
    }
    let made = CudaContext::new(ctx.ordinal())?;
    // The object must not count as a user of the primary context, so that the context ends with the user's own
    // objects. SAFETY: this releases the count that the line above took, and the object is never dropped.
    let _ = unsafe { result::primary_ctx::release(ctx.cu_device()) };
    Ok(made)
}
