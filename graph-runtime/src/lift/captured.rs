//! [`Captured`]: a graph of other code, with what keeps the memory that it uses alive.

// The constructor from a handle is unsafe: nothing can check the handle.
#![allow(unsafe_code)]

use std::any::Any;
use std::fmt;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::{CudaContext, CudaStream, sys};

use crate::context;
use crate::cuda::{self, Driver, RawGraph, Stream, during_foreign_capture, record};
use crate::error::{Error, LiftFault, Result};

/// A graph that other code has captured or built, for [`lift`](fn@crate::lift).
///
/// [`Captured::of`] captures what a closure enqueues in a stream, and keeps the closure's result, so that buffers that
/// it returns live as long as the graph. What the closure drops is gone: return it, or keep it elsewhere.
///
/// # Before a capture
///
/// - Call the closure once without a capture: libraries load modules and allocate workspaces at first use, which a
///   capture does not allow.
/// - cudarc waits for the events of its buffers if a context has several streams, and a capture cannot wait for an
///   event that was recorded outside of it. Allocate the buffers after `unsafe { ctx.disable_event_tracking() }`, or use
///   one stream for all.
/// - A guard of a borrowed buffer (`SyncOnDrop`) records an event when it is dropped: drop it before the closure ends.
/// - A fork by events (`other.wait(&stream.record_event(None)?)`) must be joined again in the closure.
pub struct Captured<R = ()> {
    pub(super) shared: Arc<CapturedGraph>,
    result: Arc<R>,
}

/// A raw graph and what it needs. Shared by execs of lifted graphs.
pub(crate) struct CapturedGraph {
    pub driver: &'static Driver,
    pub graph: RawGraph,
    /// The context of an owned graph. `None` for a graph that others destroy.
    owner: Option<Arc<CudaContext>>,
    /// Values that live as long as the graph.
    kept: Mutex<Vec<Box<dyn Any + Send>>>,
}

impl<R: Send + Sync + 'static> Captured<R> {
    /// Captures what `enqueue` enqueues in a stream, and in streams that it forks from it and joins. Nothing runs.
    ///
    /// # Errors
    ///
    /// The legacy default stream, which cannot capture; a stream that captures already; work that a capture cannot
    /// hold, such as an allocation that is not in stream order or a wait on the host; a failure of the driver.
    pub fn of(stream: &Arc<CudaStream>, enqueue: impl FnOnce() -> R) -> Result<Captured<R>> {
        let (driver, ctx) = (cuda::driver()?, stream.context());
        let raw = Stream::from_cudarc(stream);
        let fault = |fault| Error::Lift(Box::new(fault));
        if raw.is_legacy() {
            return Err(fault(LiftFault::DefaultStream));
        }
        context::enter(driver, ctx)?;
        let _capturing = during_foreign_capture();
        driver.begin_capture_alone(raw)?;
        let result = driver.capturing(|| catch_unwind(AssertUnwindSafe(enqueue)));
        let entered = context::enter(driver, ctx);
        let ended = driver.end_capture(raw);
        let result = match result? {
            Ok(result) => result,
            Err(panic) => {
                ended.map_or(Ok(()), |graph| driver.destroy_graph(graph))?;
                resume_unwind(panic)
            }
        };
        entered?;
        let graph =
            ended.map_err(|failure| fault(LiftFault::Capture { why: Error::from(failure).to_string() }))?;
        let result = Arc::new(result);
        let kept: Vec<Box<dyn Any + Send>> = vec![Box::new(result.clone())];
        let shared = CapturedGraph { driver, graph, owner: Some(ctx.clone()), kept: Mutex::new(kept) };
        Ok(Captured { shared: Arc::new(shared), result })
    }

    /// Like [`Captured::of`], for work that may fail: its error ends the capture.
    ///
    /// # Errors
    ///
    /// Those of [`Captured::of`]; the error of `enqueue`, as text.
    pub fn try_of<E: Display>(
        stream: &Arc<CudaStream>,
        enqueue: impl FnOnce() -> std::result::Result<R, E>,
    ) -> Result<Captured<R>> {
        let mut failed = None;
        let captured =
            Captured::of(stream, || enqueue().map_err(|error| failed = Some(error.to_string())).ok());
        if let Some(why) = failed {
            return Err(Error::Lift(Box::new(LiftFault::Closure { why })));
        }
        let Captured { shared, result } = captured?;
        shared.kept.lock().unwrap_or_else(PoisonError::into_inner).clear();
        let result = Arc::new(Arc::into_inner(result).flatten().ok_or_else(|| {
            Error::Lift(Box::new(LiftFault::Closure { why: "the result is used elsewhere".to_owned() }))
        })?);
        shared.keep(result.clone());
        Ok(Captured { shared, result })
    }

    /// Returns the result of the closure.
    pub fn result(&self) -> &R {
        &self.result
    }

    /// Keeps a value alive as long as the graph and all execs that are made of it, such as the buffers that it uses.
    #[must_use]
    pub fn keeping(self, value: impl Send + 'static) -> Captured<R> {
        self.shared.keep(value);
        self
    }
}

impl Captured {
    /// Returns a graph by its handle. It is not destroyed.
    ///
    /// # Safety
    ///
    /// The handle must be that of a graph that nobody changes, and that lives as long as this value and all execs that
    /// are made of it.
    ///
    /// # Errors
    ///
    /// No driver.
    pub unsafe fn from_raw(graph: sys::CUgraph) -> Result<Captured> {
        Ok(Captured::unowned(cuda::driver()?, RawGraph::from_raw(graph)))
    }

    /// Returns a graph that outlives this value and the execs that are made of it.
    pub(crate) fn unowned(driver: &'static Driver, graph: RawGraph) -> Captured {
        let shared = CapturedGraph { driver, graph, owner: None, kept: Mutex::default() };
        Captured { shared: Arc::new(shared), result: Arc::new(()) }
    }
}

impl<R> fmt::Debug for Captured<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Captured").field("graph", &self.shared.graph).finish_non_exhaustive()
    }
}

impl CapturedGraph {
    fn keep(&self, value: impl Send + 'static) {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(value));
    }
}

impl fmt::Debug for CapturedGraph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CapturedGraph").field("graph", &self.graph).finish_non_exhaustive()
    }
}

impl Drop for CapturedGraph {
    fn drop(&mut self) {
        if let Some(ctx) = &self.owner
            && let Err(failure) = self.driver.destroy_graph(self.graph)
        {
            record(ctx, failure);
        }
    }
}
