//! The driver calls that the library makes, to the driver that the process has loaded.

use std::ffi::c_void;

use cuweave_testkit::driver_calls;

type Poll = extern "C" fn(*mut c_void) -> u32;

driver_calls! {
    copy_to_host = c"cuMemcpyDtoHAsync_v2"(to: *mut c_void, from: u64, bytes: usize, stream: u64);
    copy_to_device = c"cuMemcpyHtoDAsync_v2"(to: u64, from: *const c_void, bytes: usize, stream: u64);
    launch_rendezvous = c"cuweaveSimLaunchRendezvous"(stream: u64, poll: Poll, data: *mut c_void);
    hold_context = c"cuweaveSimHold"(context: u64, hold: u32);
    get_context = c"cuCtxGetCurrent"(context: *mut u64);
    set_context = c"cuCtxSetCurrent"(context: u64);
    create_stream = c"cuStreamCreate"(stream: *mut u64, flags: u32);
    destroy_stream = c"cuStreamDestroy_v2"(stream: u64);
    create_event = c"cuEventCreate"(event: *mut u64, flags: u32);
    destroy_event = c"cuEventDestroy_v2"(event: u64);
    record = c"cuEventRecord"(event: u64, stream: u64);
    wait = c"cuStreamWaitEvent"(stream: u64, event: u64, flags: u32);
    capture_info = c"cuStreamGetCaptureInfo_v3"(
        stream: u64, status: *mut u32, id: *mut u64, graph: *mut u64, nodes: *mut *const u64,
        edges: *mut *const c_void, count: *mut usize
    );
    set_dependencies = c"cuStreamUpdateCaptureDependencies_v2"(
        stream: u64, nodes: *const u64, edges: *const c_void, count: usize, flags: u32
    );
    add_record_node = c"cuGraphAddEventRecordNode"(
        node: *mut u64, graph: u64, dependencies: *const u64, count: usize, event: u64
    );
    create_object = c"cuUserObjectCreate"(
        object: *mut u64, data: *mut c_void, destroy: extern "C" fn(*mut c_void), references: u32, flags: u32
    );
    retain_object = c"cuGraphRetainUserObject"(graph: u64, object: u64, count: u32, flags: u32);
}

/// The capture that a stream is part of.
pub struct Capture {
    pub id: u64,
    pub graph: u64,
    /// The nodes that the next node depends on.
    pub last: Vec<u64>,
}

/// Returns the capture of a stream, if the stream is capturing.
pub fn capture_of(stream: u64) -> Result<Option<Capture>, u32> {
    let (mut status, mut id, mut graph, mut nodes, mut edges, mut count) =
        (0, 0, 0, std::ptr::null(), std::ptr::null(), 0);
    capture_info(stream, &mut status, &mut id, &mut graph, &mut nodes, &mut edges, &mut count)?;
    if status != 1 {
        return Ok(None);
    }
    // SAFETY: the driver's array has this length, and is valid until the thread's next query.
    let last = if nodes.is_null() {
        Vec::new()
    } else {
        unsafe { std::slice::from_raw_parts(nodes, count) }.to_vec()
    };
    Ok(Some(Capture { id, graph, last }))
}

/// Lets the next work of a capturing stream depend on exactly these nodes.
pub fn depend_on(stream: u64, nodes: &[u64]) -> Result<(), u32> {
    set_dependencies(stream, nodes.as_ptr(), std::ptr::null(), nodes.len(), 1)
}

/// Returns the current context of this thread.
pub fn context() -> u64 {
    let mut context = 0;
    let _ = get_context(&mut context);
    context
}

/// Makes a context current in this thread.
pub fn enter(context: u64) -> Result<(), u32> {
    set_context(context)
}

/// Makes the work of a context look unfinished, or undoes that.
pub fn hold(context: u64, hold: bool) {
    hold_context(context, u32::from(hold)).expect("the simulated driver");
}

/// Creates a stream that does not synchronize with the default stream.
pub fn stream() -> Result<u64, u32> {
    let mut stream = 0;
    create_stream(&mut stream, 1).map(|()| stream)
}

pub fn drop_stream(stream: u64) {
    let _ = destroy_stream(stream);
}

/// Creates an event without timing.
pub fn event() -> Result<u64, u32> {
    let mut event = 0;
    create_event(&mut event, 2).map(|()| event)
}

pub fn drop_event(event: u64) {
    let _ = destroy_event(event);
}

/// Lets a stream wait for all work of another stream.
pub fn follow(stream: u64, other: u64) -> Result<(), u32> {
    let scratch = event()?;
    let followed = record(scratch, other).and_then(|()| wait(stream, scratch, 0));
    drop_event(scratch);
    followed
}

/// Records an event in a stream that is not capturing.
pub fn note(event: u64, stream: u64) -> Result<(), u32> {
    record(event, stream)
}

/// Adds a node to the capture of a stream that waits for an external event.
pub fn wait_outside(stream: u64, event: u64) -> Result<(), u32> {
    wait(stream, event, 1)
}

/// Adds a node to a graph that records an external event.
pub fn record_node(graph: u64, after: &[u64], event: u64) -> Result<u64, u32> {
    let mut node = 0;
    add_record_node(&mut node, graph, after.as_ptr(), after.len(), event).map(|()| node)
}

/// Registers a function to call when the graph, its clones and its execs are all destroyed.
pub fn at_end_of(graph: u64, destroy: extern "C" fn(*mut c_void), data: *mut c_void) -> Result<(), u32> {
    let mut object = 0;
    create_object(&mut object, data, destroy, 1, 1)?;
    retain_object(graph, object, 1, 1)
}

pub fn to_host(to: *mut u8, from: u64, bytes: usize, stream: u64) -> Result<(), u32> {
    if bytes == 0 { Ok(()) } else { copy_to_host(to.cast(), from, bytes, stream) }
}

pub fn to_device(to: u64, from: *const u8, bytes: usize, stream: u64) -> Result<(), u32> {
    if bytes == 0 { Ok(()) } else { copy_to_device(to, from.cast(), bytes, stream) }
}

pub fn meet(stream: u64, poll: Poll, data: *mut c_void) -> Result<(), u32> {
    launch_rendezvous(stream, poll, data)
}
