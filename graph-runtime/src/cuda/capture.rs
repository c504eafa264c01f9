//! Driver calls for stream captures and captured graphs, and the stream and buffers that the body of a library
//! call receives.

use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr::{null, null_mut, with_exposed_provenance_mut};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, TryLockError};
use std::time::{Duration, Instant};

use cudarc::driver::{CudaContext, CudaSlice, CudaStream, CudaView, CudaViewMut};

use super::collective::Collective;
use super::entry::{Driver, call, driver};
use super::failure::{Failure, NOT_FOUND, Outcome, code_of, record};
use super::handles::{Context, Node, RawGraph, Stream};
use super::params::{EdgeData, host_size};
use super::runtime_context::object;

/// `CU_STREAM_CAPTURE_MODE_THREAD_LOCAL`: only the capturing thread must not make calls that cannot be
/// captured.
const THREAD_LOCAL: u32 = 1;
/// `CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC`.
const PROGRAMMATIC: u8 = 1;

/// Read-locked while one of cuweave's streams is capturing.
static CAPTURES: RwLock<()> = RwLock::new(());

/// Returns the guard to hold during a capture.
pub fn during_capture() -> RwLockReadGuard<'static, ()> {
    CAPTURES.read().unwrap_or_else(PoisonError::into_inner)
}

/// Runs work that waits for a whole context. Drivers refuse such a wait while any stream of the context
/// captures, on any thread. Returns `None` without running it if a capture is in progress; a capture that
/// begins meanwhile waits for its end.
pub fn between_captures<T>(work: impl FnOnce() -> T) -> Option<T> {
    let _guard = match CAPTURES.try_write() {
        Ok(guard) => guard,
        Err(TryLockError::Poisoned(guard)) => guard.into_inner(),
        Err(TryLockError::WouldBlock) => return None,
    };
    Some(work())
}

/// Locked while values of other code are dropped.
static DROPS: Mutex<()> = Mutex::new(());
/// The time after which a drop no longer waits for captures, and a capture no longer for drops.
const MAX_WAIT_FOR_CAPTURES: Duration = Duration::from_secs(60);
const MAX_WAIT_FOR_DROPS: Duration = Duration::from_secs(1);

/// Returns the guard to hold during a capture of other code, once no value is being dropped.
pub fn during_foreign_capture() -> RwLockReadGuard<'static, ()> {
    let guard = during_capture();
    wait_for(MAX_WAIT_FOR_DROPS, || !matches!(DROPS.try_lock(), Err(TryLockError::WouldBlock)));
    guard
}

/// Drops a value of other code. Memory of cudarc is freed in its stream, which must not capture then, so this waits for
/// captures that are in progress, and captures that begin wait for it. Neither waits for ever, since the drop or the
/// capture may itself wait for the other thread.
pub fn drop_outside_captures(value: impl Sized) {
    let mut drops = None;
    wait_for(MAX_WAIT_FOR_CAPTURES, || {
        let guard = DROPS.lock().unwrap_or_else(PoisonError::into_inner);
        let is_free = !matches!(CAPTURES.try_write(), Err(TryLockError::WouldBlock));
        drops = is_free.then_some(guard);
        is_free
    });
    drop(value);
    drop(drops);
}

/// Asks until the answer is true, or for the maximum time.
fn wait_for(most: Duration, mut is_done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_done() && begun.elapsed() < most {
        std::thread::sleep(Duration::from_micros(50));
    }
}

/// The state of a stream's capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaptureStatus {
    /// The stream is not capturing.
    None,
    /// The stream is capturing.
    Active,
    /// The stream is capturing, but the capture has been invalidated.
    Invalidated,
}

/// A stream's capture.
#[derive(Clone, Debug)]
pub struct CaptureInfo {
    pub status: CaptureStatus,
    /// The id of the capture. Unique in the process.
    pub id: u64,
    /// The nodes that the next captured node would depend on.
    pub frontier: Vec<Node>,
}

/// The kinds of captured nodes that a build distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// A memory alloc node.
    Alloc,
    /// A memory free node.
    Free,
    /// A kernel node.
    Kernel,
    /// A node that the body of a conditional node cannot contain: a host function, an event, a semaphore, or a
    /// batch of memory operations.
    Outside,
    /// Any other.
    Other,
}

impl Driver {
    /// Begins a capture into a graph, after some of its nodes. Meanwhile, this thread must not make calls that
    /// cannot be captured.
    pub fn begin_capture(&self, stream: Stream, graph: RawGraph, after: &[Node]) -> Outcome<()> {
        let nodes = if after.is_empty() { null() } else { after.as_ptr() };
        call!(self, cuStreamBeginCaptureToGraph(stream, graph, nodes, null(), after.len(), THREAD_LOCAL))
    }

    /// Begins a capture into a new graph. Meanwhile, this thread must not make calls that cannot be captured.
    pub fn begin_capture_alone(&self, stream: Stream) -> Outcome<()> {
        call!(self, cuStreamBeginCapture(stream, THREAD_LOCAL))
    }

    /// Ends a capture, and returns its graph.
    pub fn end_capture(&self, stream: Stream) -> Outcome<RawGraph> {
        let mut graph = RawGraph::NONE;
        call!(self, cuStreamEndCapture(stream, &mut graph))?;
        Ok(graph)
    }

    /// Runs `work` in thread-local capture mode, whatever mode the thread is in. Calls that cannot be captured
    /// then only fail because of captures of this thread.
    pub fn capturing<T>(&self, work: impl FnOnce() -> T) -> Outcome<T> {
        let mut mode = THREAD_LOCAL;
        call!(self, cuThreadExchangeStreamCaptureMode(&mut mode))?;
        let result = work();
        if call!(self, cuThreadExchangeStreamCaptureMode(&mut mode)).is_err() {
            // Try again: a thread left in another mode would get failures that its program does not expect.
            call!(self, cuThreadExchangeStreamCaptureMode(&mut mode))?;
        }
        Ok(result)
    }

    /// Returns the capture of a stream.
    pub fn capture_info(&self, stream: Stream) -> Outcome<CaptureInfo> {
        let (mut status, mut id, mut graph, mut nodes, mut count) = (0, 0, RawGraph::NONE, null(), 0);
        // v2 fails for programmatic edges, since it has no buffer for edge data. So v3 is preferred.
        let (name, code) = match (self.cuStreamGetCaptureInfo_v3, self.cuStreamGetCaptureInfo_v2) {
            (Some(ask), _) => {
                let mut edges = null();
                // SAFETY: the stream is live; the pointers are to locals.
                let code = unsafe {
                    ask(stream, &mut status, &mut id, &mut graph, &mut nodes, &mut edges, &mut count)
                };
                ("cuStreamGetCaptureInfo_v3", code)
            }
            (None, Some(ask)) => {
                // SAFETY: as above.
                let code = unsafe { ask(stream, &mut status, &mut id, &mut graph, &mut nodes, &mut count) };
                ("cuStreamGetCaptureInfo_v2", code)
            }
            (None, None) => ("cuStreamGetCaptureInfo_v2", NOT_FOUND),
        };
        if code != 0 {
            return Err(Failure { call: name, code });
        }
        let status = match status {
            0 => CaptureStatus::None,
            1 => CaptureStatus::Active,
            _ => CaptureStatus::Invalidated,
        };
        let frontier = if status != CaptureStatus::Active || nodes.is_null() {
            Vec::new()
        } else {
            // SAFETY: the driver's list has `count` nodes, and is valid until the next call about the stream.
            unsafe { std::slice::from_raw_parts(nodes, count) }.to_vec()
        };
        Ok(CaptureInfo { status, id, frontier })
    }

    /// Returns the number of nodes of a graph.
    pub fn node_count(&self, graph: RawGraph) -> Outcome<usize> {
        let mut count = 0;
        call!(self, cuGraphGetNodes(graph, null_mut(), &mut count))?;
        Ok(count)
    }

    /// Returns the nodes of a graph, up to `count`.
    pub fn graph_nodes(&self, graph: RawGraph, mut count: usize) -> Outcome<Vec<Node>> {
        // The driver rejects a request for zero nodes.
        if count == 0 {
            return Ok(Vec::new());
        }
        let mut nodes = vec![Node::NONE; count];
        call!(self, cuGraphGetNodes(graph, nodes.as_mut_ptr(), &mut count))?;
        nodes.truncate(count);
        Ok(nodes)
    }

    /// Returns the kind of a node.
    pub fn node_kind(&self, node: Node) -> Outcome<NodeKind> {
        let mut kind = 0;
        call!(self, cuGraphNodeGetType(node, &mut kind))?;
        // CU_GRAPH_NODE_TYPE_KERNEL, CU_GRAPH_NODE_TYPE_MEM_ALLOC, CU_GRAPH_NODE_TYPE_MEM_FREE
        Ok(match kind {
            0 => NodeKind::Kernel,
            10 => NodeKind::Alloc,
            11 => NodeKind::Free,
            // HOST, WAIT_EVENT, EVENT_RECORD, EXT_SEMAS_SIGNAL, EXT_SEMAS_WAIT, BATCH_MEM_OP
            3 | 6 | 7 | 8 | 9 | 12 => NodeKind::Outside,
            _ => NodeKind::Other,
        })
    }

    /// Returns the predecessors of a node. True for programmatic edges.
    pub fn dependencies(&self, node: Node) -> Outcome<Vec<(Node, bool)>> {
        const CALL: &str = "cuGraphNodeGetDependencies_v2";
        let ask = self.cuGraphNodeGetDependencies_v2.ok_or(Failure { call: CALL, code: NOT_FOUND })?;
        let mut count = 0;
        // SAFETY: the node belongs to a live graph. Without a buffer the call returns the count.
        match unsafe { ask(node, null_mut(), null_mut(), &mut count) } {
            0 => {}
            code => return Err(Failure { call: CALL, code }),
        }
        let none = EdgeData { from_port: 0, to_port: 0, kind: 0, reserved: [0; 5] };
        let (mut nodes, mut edges) = (vec![Node::NONE; count], vec![none; count]);
        if count == 0 {
            return Ok(Vec::new());
        }
        // SAFETY: as above, with buffers for `count` entries.
        match unsafe { ask(node, nodes.as_mut_ptr(), edges.as_mut_ptr(), &mut count) } {
            0 => {}
            code => return Err(Failure { call: CALL, code }),
        }
        let programmatic = edges.iter().map(|edge| edge.kind == PROGRAMMATIC);
        Ok(nodes.into_iter().zip(programmatic).take(count).collect())
    }

    /// Returns the current context of this thread.
    pub fn current_context(&self) -> Outcome<Context> {
        let mut current = Context::NONE;
        call!(self, cuCtxGetCurrent(&mut current))?;
        Ok(current)
    }
}

/// The stream that the body of a library call (`#[cuweave::call]`) receives. All work of the call must be
/// enqueued in it.
///
/// It is a cudarc stream, created by cuweave, that captures while the body runs. `stream.launch_builder(&f)`
/// launches a kernel, `stream.cu_stream()` returns the handle for a library, and `stream.clone()` the
/// `Arc<CudaStream>` that cudarc's types take. Its context object records no events.
pub struct CallStream {
    driver: &'static Driver,
    stream: Arc<CudaStream>,
    /// The collective that the body has described.
    described: Mutex<Option<Collective>>,
    /// True if sizes reach the call, and the nodes of its graph, if it has one.
    sized: Mutex<(bool, Option<CallNodes>)>,
}

/// Nodes that a call of a library captures one after the other: a fill, if there is one, and kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CallNodes {
    /// True for a fill before the kernels.
    pub fill: bool,
    /// The number of kernels.
    pub kernels: usize,
    /// The number of blocks of the largest cluster of a kernel, 1 without clusters.
    pub cluster: u32,
}

impl CallStream {
    /// Returns true if sizes of the graph reach the call, `#[at_most(max)]`. Its body runs again for other values, and
    /// a setter replaces the nodes: as many as before, or the graph must be built again.
    #[must_use]
    pub fn has_sizes(&self) -> bool {
        self.sized().0
    }

    /// Returns the nodes that the graph of a call with sizes has. `None` before it has a graph, and if it has others.
    #[doc(hidden)]
    #[must_use]
    pub fn sized_nodes(&self) -> Option<CallNodes> {
        self.sized().1
    }

    fn sized(&self) -> (bool, Option<CallNodes>) {
        *self.sized.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs work that a capture on this thread would forbid, such as loading a module. It must not use the stream.
    #[doc(hidden)]
    pub fn relaxed<T>(&self, work: impl FnOnce() -> T) -> T {
        self.driver.relaxed(work)
    }

    /// Describes the collective of a `#[call(collective)]`. It is enqueued later, together with the
    /// collectives of the other ranks.
    #[doc(hidden)]
    pub fn collective(&self, collective: Collective) {
        *self.described.lock().unwrap_or_else(PoisonError::into_inner) = Some(collective);
    }

    /// Takes the collective that the body has described.
    pub(crate) fn take_collective(&self) -> Option<Collective> {
        self.described.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Deref for CallStream {
    type Target = Arc<CudaStream>;

    fn deref(&self) -> &Arc<CudaStream> {
        &self.stream
    }
}

impl fmt::Debug for CallStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallStream").finish_non_exhaustive()
    }
}

/// The context objects without event tracking. True while a build uses the object. Never dropped, since a drop
/// would end the user's context.
static OBJECTS: Mutex<Vec<(Arc<CudaContext>, bool)>> = Mutex::new(Vec::new());

/// Returns an object of a context that no other build uses.
fn unused(ctx: &CudaContext) -> Outcome<Arc<CudaContext>> {
    let mut objects = OBJECTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((object, used)) = objects.iter_mut().find(|(object, used)| !used && **object == *ctx) {
        *used = true;
        return Ok(object.clone());
    }
    let made = object(ctx).map_err(|error| Failure::from_cudarc("cuDevicePrimaryCtxRetain", error))?;
    // SAFETY: buffers made through this object are only at addresses whose uses the graph itself orders.
    unsafe { made.disable_event_tracking() };
    objects.push((made.clone(), true));
    Ok(made)
}

/// A stream for the captures of one graph.
#[derive(Debug)]
pub struct CaptureStream {
    raw: Stream,
    object: Arc<CudaContext>,
    stream: CallStream,
    /// The user's object of the context.
    ctx: Arc<CudaContext>,
    /// True if one of its captures could not be ended.
    lost: bool,
}

impl CaptureStream {
    /// Creates a stream in a context, which must be current. Other streams never wait for it implicitly.
    pub fn new(driver: &'static Driver, ctx: &Arc<CudaContext>) -> Outcome<CaptureStream> {
        let raw = driver.create_stream()?;
        let object = match unused(ctx) {
            Ok(object) => object,
            Err(failure) => {
                driver.destroy_stream(raw)?;
                return Err(failure);
            }
        };
        // SAFETY: the stream is destroyed only when nobody else holds this object.
        let stream = unsafe { object.wrap_borrowed_stream(with_exposed_provenance_mut(raw.0)) };
        Ok(CaptureStream {
            raw,
            object,
            stream: CallStream { driver, stream, described: Mutex::default(), sized: Mutex::default() },
            ctx: ctx.clone(),
            lost: false,
        })
    }

    pub fn raw(&self) -> Stream {
        self.raw
    }

    /// Returns the stream that bodies receive.
    pub fn stream(&self) -> &CallStream {
        &self.stream
    }

    /// Makes bodies see that sizes reach their call, with the nodes of its graph, or that none do.
    pub fn set_sizes(&self, has_sizes: bool, nodes: Option<CallNodes>) {
        *self.stream.sized.lock().unwrap_or_else(PoisonError::into_inner) = (has_sizes, nodes);
    }

    /// Returns and clears the failure of a call that could not report it, such as one in a drop.
    pub fn take_failure(&self) -> Option<Failure> {
        self.object
            .check_err()
            .err()
            .map(|error| Failure { call: "a call in a drop", code: code_of(error.0) })
    }

    /// Marks the stream to be leaked. For a stream that may never stop capturing.
    pub fn lose(&mut self) {
        self.lost = true;
    }
}

impl Drop for CaptureStream {
    fn drop(&mut self) {
        // A body may have kept a clone of the stream.
        if !self.lost
            && Arc::strong_count(&self.stream.stream) == 1
            && let Ok(driver) = driver()
            && let Err(failure) = driver.destroy_stream(self.raw)
        {
            record(&self.ctx, failure);
        }
        let _ = self.take_failure();
        let mut objects = OBJECTS.lock().unwrap_or_else(PoisonError::into_inner);
        let own = objects.iter_mut().find(|(object, _)| Arc::ptr_eq(object, &self.object));
        own.into_iter().for_each(|(_, used)| *used = false);
    }
}

/// The memory of a library call's parameter, as a cudarc buffer without events.
pub struct CallBuffer<T>(ManuallyDrop<CudaSlice<T>>);

impl<T> CallBuffer<T> {
    /// Returns a buffer of `len` elements that the graph owns or borrows.
    pub(crate) fn new(stream: &CaptureStream, address: u64, len: u64) -> CallBuffer<T> {
        // SAFETY: its uses are captured and run while the allocation lives, and it never frees the allocation.
        let buffer = unsafe { stream.stream.upgrade_device_ptr(address, host_size(len)) };
        CallBuffer(ManuallyDrop::new(buffer))
    }

    /// Returns the view that the body receives.
    pub fn view(&self) -> CudaView<'_, T> {
        self.0.as_view()
    }

    /// Returns the mutable view that the body receives.
    pub fn view_mut(&mut self) -> CudaViewMut<'_, T> {
        self.0.as_view_mut()
    }
}

impl<T> fmt::Debug for CallBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallBuffer").field("len", &self.0.len()).finish_non_exhaustive()
    }
}

impl<T> Drop for CallBuffer<T> {
    fn drop(&mut self) {
        // SAFETY: in the drop of its only owner.
        let buffer = unsafe { ManuallyDrop::take(&mut self.0) };
        let _ = buffer.leak();
    }
}
