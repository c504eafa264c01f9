//! Host nodes: the user's functions that they call, with their data and their panics.
//!
//! A host node keeps a pointer to a [`HostCall`]. The driver calls it on a thread of its own, once per launch,
//! and never concurrently; a lock ensures that. A panic does not unwind into the driver: it is kept, and the
//! exec's next call returns it.

use std::any::Any;
use std::ffi::c_void;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::entry::{Driver, call};
use super::failure::{Failure, Outcome};
use super::handles::{Node, RawExec, RawGraph};
use super::params::HostParams;

/// A range of elements in memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct ElementRange {
    /// The address of the first element.
    pub address: u64,
    /// The number of elements.
    pub len: u64,
}

/// The buffers of a host statement while it runs.
pub struct HostMemory<'m> {
    buffers: &'m [ElementRange],
}

impl fmt::Debug for HostMemory<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostMemory").field("buffers", &self.buffers.len()).finish()
    }
}

impl<'m> HostMemory<'m> {
    /// Returns the elements of a buffer that the statement reads. Generated code passes the declared element
    /// type as `T`.
    #[must_use]
    pub fn slice<T>(&self, index: u32) -> &'m [T] {
        let (address, len) = self.range(index);
        // SAFETY: the range is in an operand's pinned memory, which lives until the launch is over and has that
        // many elements of type `T`. The graph orders the statement after all writes of them and before the
        // next write.
        unsafe { std::slice::from_raw_parts(address, len) }
    }

    /// Returns the elements of a buffer that the statement writes. Must be called once per buffer and run.
    #[must_use]
    pub fn slice_mut<T>(&self, index: u32) -> &'m mut [T] {
        let (address, len) = self.range(index);
        // SAFETY: as above. The graph orders the statement with all other uses of these elements. If the
        // statement writes one of its buffers, they do not overlap (CW201).
        unsafe { std::slice::from_raw_parts_mut(address, len) }
    }

    fn range<T>(&self, index: u32) -> (*mut T, usize) {
        let found = usize::try_from(index).ok().and_then(|index| self.buffers.get(index));
        match found.map(|&ElementRange { address, len }| (usize::try_from(address), usize::try_from(len))) {
            Some((Ok(address), Ok(len))) if len > 0 => (std::ptr::with_exposed_provenance_mut(address), len),
            _ => (std::ptr::dangling_mut(), 0),
        }
    }
}

/// The function of a host statement.
pub type HostWork = Arc<Mutex<dyn FnMut(&HostMemory<'_>) + Send>>;

/// Returns the function of a host statement.
pub fn host_work(work: impl FnMut(&HostMemory<'_>) + Send + 'static) -> HostWork {
    Arc::new(Mutex::new(work))
}

/// The first unreported panic of a graph's host statements: the number of the statement, and the message.
#[derive(Debug, Default)]
pub struct HostFaults {
    any: AtomicBool,
    first: Mutex<Option<(u32, String)>>,
}

impl HostFaults {
    /// Returns the panic, and clears it.
    pub fn take(&self) -> Option<(u32, String)> {
        if !self.any.load(Ordering::Acquire) {
            return None;
        }
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        self.any.store(false, Ordering::Release);
        first.take()
    }

    fn note(&self, statement: u32, payload: Box<dyn Any + Send>) {
        let text = match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
            (Some(text), _) => (*text).to_owned(),
            (_, Some(text)) => text.clone(),
            _ => "a value that is not a string".to_owned(),
        };
        // Dropping the payload runs the user's code, which may panic again.
        std::mem::forget(payload);
        self.first.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert((statement, text));
        self.any.store(true, Ordering::Release);
    }
}

/// A function with its buffers: the data of a host node.
pub struct HostCall {
    work: HostWork,
    buffers: Vec<ElementRange>,
    statement: u32,
    faults: Arc<HostFaults>,
    begun: AtomicBool,
}

impl fmt::Debug for HostCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostCall").field("statement", &self.statement).finish_non_exhaustive()
    }
}

impl HostCall {
    /// Returns the call of a statement's function with these buffers.
    pub fn new(
        work: HostWork,
        buffers: Vec<ElementRange>,
        statement: u32,
        faults: Arc<HostFaults>,
    ) -> Arc<HostCall> {
        Arc::new(HostCall { work, buffers, statement, faults, begun: AtomicBool::new(false) })
    }

    /// Returns true once a launch has called it. Then all earlier launches of the exec are over.
    pub fn has_begun(&self) -> bool {
        self.begun.load(Ordering::Acquire)
    }

    fn run(&self) {
        self.begun.store(true, Ordering::Release);
        let run = || {
            let mut work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
            work(&HostMemory { buffers: &self.buffers });
        };
        if let Err(payload) = catch_unwind(AssertUnwindSafe(run)) {
            self.faults.note(self.statement, payload);
        }
    }
}

/// Returns the parameters of the node of a call.
fn host_params(call: &Arc<HostCall>) -> HostParams {
    HostParams { function: run, data: Arc::as_ptr(call).cast_mut().cast() }
}

unsafe extern "C" fn run(data: *mut c_void) {
    // SAFETY: the exec keeps the call of each of its nodes until no launch uses it.
    unsafe { &*data.cast::<HostCall>() }.run();
}

impl Driver {
    /// Adds a host node. The call must be kept until no launch uses it.
    pub fn add_host(&self, graph: RawGraph, after: &[Node], call: &Arc<HostCall>) -> Outcome<Node> {
        let mut node = Node::NONE;
        let params = host_params(call);
        call!(self, cuGraphAddHostNode(&mut node, graph, after.as_ptr(), after.len(), &params))?;
        Ok(node)
    }

    /// Updates a host node of an exec, and of its graph, which then needs no old call. The old call must be kept until
    /// the launches in flight are over.
    pub fn set_host(&self, exec: RawExec, node: Node, call: &Arc<HostCall>) -> Outcome<()> {
        let params = host_params(call);
        call!(self, cuGraphHostNodeSetParams(node, &params))?;
        call!(self, cuGraphExecHostNodeSetParams(exec, node, &params))
    }
}
