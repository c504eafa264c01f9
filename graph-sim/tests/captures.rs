//! Captures into existing graphs, the ids of captures, dependencies set by hand, and the objects that graphs keep
//! alive. Where there is a real driver, these tests run on it.

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use cudarc::driver::sys;
use cuweave_testkit::ok;
use cuweave_testkit::raw::*;

const MODE: sys::CUstreamCaptureMode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;

/// Returns the id of the capture of a stream.
fn number(stream: sys::CUstream) -> u64 {
    let (mut status, mut id) = (sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE, 0);
    let (none, edges) = (null_mut(), null_mut());
    ok!(sys::cuStreamGetCaptureInfo_v3(stream, &mut status, &mut id, null_mut(), none, edges, null_mut()));
    assert_eq!(status, sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE);
    id
}

#[test]
fn captures_into_one_graph_have_one_number() {
    let context = Context::new();
    let into = |graph: &Graph| {
        ok!(sys::cuStreamBeginCaptureToGraph(context.stream, graph.0, null(), null(), 0, MODE));
        let (found, mut ended) = (number(context.stream), null_mut());
        ok!(sys::cuStreamEndCapture(context.stream, &mut ended));
        assert_eq!(ended, graph.0);
        found
    };
    let (one, other) = (Graph::new(), Graph::new());
    let (first, of_other, second) = (into(&one), into(&other), into(&one));
    assert_eq!(first, second);
    assert_ne!(first, of_other);
    let mut alone = [0; 2];
    for number_of in &mut alone {
        ok!(sys::cuStreamBeginCapture_v2(context.stream, MODE));
        *number_of = number(context.stream);
        let mut graph = null_mut();
        ok!(sys::cuStreamEndCapture(context.stream, &mut graph));
        ok!(sys::cuGraphDestroy(graph));
    }
    assert_ne!(alone[0], alone[1]);
    assert!(!alone.contains(&first));
}

#[test]
fn what_a_stream_depends_on_by_hand_need_not_be_joined() {
    let context = Context::new();
    let (mut side, mut fork, mut out) = (null_mut(), null_mut(), 0);
    ok!(sys::cuStreamCreate(&mut side, 1));
    ok!(sys::cuEventCreate(&mut fork, 2));
    ok!(sys::cuMemAlloc_v2(&mut out, 32));
    ok!(sys::cuStreamBeginCapture_v2(context.stream, MODE));
    ok!(sys::cuEventRecord(fork, context.stream));
    ok!(sys::cuStreamWaitEvent(side, fork, 0));
    ok!(sys::cuMemsetD8Async(out, 2, 32, context.stream));
    let (mut status, mut id, mut graph) =
        (sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE, 0, null_mut());
    let (mut nodes, mut count) = (null(), 0);
    let (stream, mut edges) = (context.stream, null());
    ok!(sys::cuStreamGetCaptureInfo_v3(
        stream,
        &mut status,
        &mut id,
        &mut graph,
        &mut nodes,
        &mut edges,
        &mut count
    ));
    assert_eq!(count, 1);
    let (mut fill, mut record) = (unsafe { *nodes }, null_mut());
    ok!(sys::cuGraphAddEventRecordNode(&mut record, graph, &fill, 1, fork));
    ok!(sys::cuStreamUpdateCaptureDependencies_v2(side, &mut record, null(), 1, 1));
    ok!(sys::cuStreamUpdateCaptureDependencies_v2(context.stream, &mut fill, null(), 1, 1));
    let mut ended = null_mut();
    ok!(sys::cuStreamEndCapture(context.stream, &mut ended));
    let graph = Graph(ended);
    let exec = graph.exec();
    assert_eq!((exec.launch(&context), context.sync()), (OK, OK));
    assert_eq!(context.download::<u8>(out, 32), [2; 32]);
    drop((exec, graph));
    ok!(sys::cuStreamDestroy_v2(side));
    ok!(sys::cuEventDestroy_v2(fork));
    ok!(sys::cuMemFree_v2(out));
}

#[test]
fn an_exec_keeps_the_objects_of_child_graphs() {
    static DESTROYED: AtomicU32 = AtomicU32::new(0);
    unsafe extern "C" fn destroy(_: *mut c_void) {
        DESTROYED.fetch_add(1, Ordering::SeqCst);
    }
    let context = Context::new();
    let (parent, child) = (Graph::new(), Graph::new());
    child.empty(&[]);
    let mut object = null_mut();
    ok!(sys::cuUserObjectCreate(&mut object, null_mut(), Some(destroy), 1, 1));
    ok!(sys::cuGraphRetainUserObject(child.0, object, 1, 1));
    let mut node = null_mut();
    ok!(sys::cuGraphAddChildGraphNode(&mut node, parent.0, null(), 0, child.0));
    drop(child);
    let exec = parent.exec();
    drop(parent);
    assert_eq!((exec.launch(&context), context.sync()), (OK, OK));
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(DESTROYED.load(Ordering::SeqCst), 0, "the exec keeps it");
    drop(exec);
    // The real driver calls the destructor on a thread of its own.
    let began = Instant::now();
    while DESTROYED.load(Ordering::SeqCst) == 0 && began.elapsed() < Duration::from_secs(2) {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(DESTROYED.load(Ordering::SeqCst), 1);
}
