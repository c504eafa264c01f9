//! Streams, events, captures, and stream callbacks.

#![allow(missing_docs, clippy::missing_safety_doc)]

use std::ffi::{c_int, c_uint, c_void};
use std::sync::MutexGuard;
use std::time::Instant;

use crate::base::log;
use crate::base::pointer::{read_array, write_optional, write_result};
use crate::base::status::{Result, Status};
use crate::base::types::{
    CUcontext, CUdevice, CUevent, CUgraph, CUgraphEdgeData, CUgraphNode, CUhostFn, CUstream, STREAM_LEGACY,
    STREAM_PER_THREAD,
};
use crate::call::driver_calls;
use crate::graph::capture;
use crate::state::capture::{ACTIVE, exchange_mode};
use crate::state::graph::full;
use crate::state::operation::Operation;
use crate::state::{Event, State, Stream, state};
use crate::stream::enqueue;
use crate::work::waits::poll_until;

fn create(stream: *mut CUstream, flags: c_uint, priority: c_int) -> Result {
    if stream.is_null() || flags & !1 != 0 {
        return Err(Status::INVALID_VALUE);
    }
    let mut state = state();
    let context = state.current()?;
    let priority = priority.clamp(-5, 0);
    write_result(stream, state.streams.insert(Stream { context, flags, priority }))
}

/// Waits until a context is no longer held.
pub(super) fn wait_until_released(state: MutexGuard<'static, State>, context: u64) -> Result {
    let (_state, over) = poll_until(state, |state| !state.held.contains(&context));
    if over { Ok(()) } else { Err(Status::LAUNCH_TIMEOUT) }
}

fn record(state: &mut State, event: CUevent, stream: CUstream) -> Result {
    let context = state.stream_context(stream)?;
    if state.events.get(event).ok_or(Status::INVALID_HANDLE)?.context != context {
        return Err(log::log_error(
            Status::INVALID_HANDLE,
            "an event is recorded in a stream of another context",
        ));
    }
    let captured = state.captures.record(stream);
    let entry = state.events.get_mut(event).ok_or(Status::INVALID_HANDLE)?;
    if captured.is_none() {
        entry.recorded = Some(Instant::now());
    }
    entry.captured = captured;
    Ok(())
}

fn elapsed(milliseconds: *mut f32, start: CUevent, end: CUevent) -> Result {
    const NO_TIMING: u32 = 2;
    let state = state();
    let (start, end) = (state.events.get(start), state.events.get(end));
    let (start, end) = (start.ok_or(Status::INVALID_HANDLE)?, end.ok_or(Status::INVALID_HANDLE)?);
    if (start.flags | end.flags) & NO_TIMING != 0 {
        return Err(Status::INVALID_HANDLE);
    }
    let (Some(start), Some(end)) = (start.recorded, end.recorded) else { return Err(Status::INVALID_HANDLE) };
    let seconds = if end >= start { (end - start).as_secs_f32() } else { -(start - end).as_secs_f32() };
    write_result(milliseconds, seconds * 1000.0)
}

/// Writes the results of a capture query, in the order of `cuStreamGetCaptureInfo_v3`.
fn capture_info(
    stream: CUstream,
    status: *mut c_uint,
    id: *mut u64,
    graph: *mut CUgraph,
    nodes: *mut *const CUgraphNode,
    edges: *mut *const CUgraphEdgeData,
    count: *mut usize,
) -> Result {
    thread_local! {
        // The driver owns these arrays. They stay valid until the thread's next query.
        static ARRAYS: std::cell::RefCell<(Vec<u64>, Vec<CUgraphEdgeData>)> =
            const { std::cell::RefCell::new((Vec::new(), Vec::new())) };
    }
    let mut state = state();
    state.stream_context(stream)?;
    let (code, number) = state.captures.status(stream);
    write_result(status, code)?;
    // Measured: the id of an invalidated capture is not reported.
    if code != ACTIVE {
        return Ok(());
    }
    write_optional(id, number);
    let Some(capture) = state.captures.of_stream(stream) else { return Ok(()) };
    write_optional(graph, capture.graph);
    let last = capture.streams.get(&stream).cloned().unwrap_or_default();
    write_optional(count, last.len());
    ARRAYS.with_borrow_mut(|arrays| {
        *arrays = last.into_iter().unzip();
        write_optional(nodes, arrays.0.as_ptr());
        write_optional(edges, arrays.1.as_ptr());
    });
    Ok(())
}

fn update_capture(stream: CUstream, nodes: *mut CUgraphNode, count: usize, flags: c_uint) -> Result {
    let nodes = read_array(nodes, count)?;
    let mut state = state();
    let graph = state.captures.of_stream(stream).ok_or(Status::ILLEGAL_STATE)?.graph;
    for &node in &nodes {
        if state.definitions.node(node)?.graph != graph {
            return Err(Status::INVALID_VALUE);
        }
    }
    let capture = state.captures.of_stream(stream).ok_or(Status::ILLEGAL_STATE)?;
    capture.manual_dependencies.extend(&nodes);
    let last = capture.streams.get_mut(&stream).ok_or(Status::ILLEGAL_STATE)?;
    if flags == 1 {
        last.clear();
    }
    for node in full(&nodes) {
        if !last.iter().any(|known| known.0 == node.0) {
            last.push(node);
        }
    }
    Ok(())
}

driver_calls! {
    Call fn cuStreamCreate(stream: *mut CUstream, flags: c_uint) { create(stream, flags, 0) }

    Call fn cuStreamCreateWithPriority(stream: *mut CUstream, flags: c_uint, priority: c_int) {
        create(stream, flags, priority)
    }

    Release fn cuStreamDestroy_v2(stream: CUstream) {
        let mut state = state();
        if matches!(stream, 0 | STREAM_LEGACY | STREAM_PER_THREAD) {
            return Err(Status::INVALID_HANDLE);
        }
        state.streams.remove(stream).ok_or(Status::INVALID_HANDLE)?;
        // The work of the stream is done, so managed memory returns to its default association at once.
        state.memory.detach(stream);
        // A stream that joined another stream's capture may be destroyed.
        if let Some(capture) = state.captures.of_stream(stream).filter(|capture| capture.origin == stream) {
            capture.invalidated = true;
        }
        Ok(())
    }

    Call fn cuStreamSynchronize(stream: CUstream) {
        let mut state = state();
        let context = state.stream_context(stream)?;
        state.captures.refuse(stream)?;
        wait_until_released(state, context)
    }

    Call fn cuStreamQuery(stream: CUstream) {
        let mut state = state();
        let context = state.stream_context(stream)?;
        state.captures.refuse(stream)?;
        if state.held.contains(&context) { Err(Status::NOT_READY) } else { Ok(()) }
    }

    Call fn cuStreamWaitEvent(stream: CUstream, event: CUevent, flags: c_uint) {
        if flags & !1 != 0 {
            return Err(Status::INVALID_VALUE);
        }
        let mut state = state();
        state.stream_context(stream)?;
        let entry = state.events.get(event).ok_or(Status::INVALID_HANDLE)?;
        let (captured, recorded) = (entry.captured.clone(), entry.recorded.is_some());
        if flags & 1 != 0 && state.captures.of_stream(stream).is_some() {
            return capture::capture(&mut state, stream, &Operation::WaitEvent(event)).map(drop);
        }
        if !recorded && captured.is_none() {
            // A wait for an event that was never recorded does nothing.
            return Ok(());
        }
        state.captures.wait(stream, captured).map(drop)
    }

    Call fn cuStreamGetFlags(stream: CUstream, flags: *mut c_uint) {
        let state = state();
        state.stream_context(stream)?;
        write_result(flags, state.streams.get(stream).map_or(0, |stream| stream.flags))
    }

    Call fn cuStreamGetPriority(stream: CUstream, priority: *mut c_int) {
        let state = state();
        state.stream_context(stream)?;
        write_result(priority, state.streams.get(stream).map_or(0, |stream| stream.priority))
    }

    Call fn cuStreamGetId(stream: CUstream, id: *mut u64) {
        state().stream_context(stream)?;
        write_result(id, stream)
    }

    Call fn cuStreamGetCtx(stream: CUstream, pctx: *mut CUcontext) {
        let context = state().stream_context(stream)?;
        write_result(pctx, context)
    }

    Call fn cuStreamGetDevice(stream: CUstream, device: *mut CUdevice) {
        let state = state();
        let context = state.stream_context(stream)?;
        write_result(device, state.context(context)?.device as CUdevice)
    }

    Call fn cuStreamAddCallback(
        stream: CUstream, callback: Option<unsafe extern "C" fn(CUstream, c_uint, *mut c_void)>,
        data: *mut c_void, flags: c_uint
    ) {
        let callback = callback.ok_or(Status::INVALID_VALUE)?;
        let mut state = state();
        state.stream_context(stream)?;
        state.captures.refuse(stream)?;
        if flags != 0 {
            return Err(Status::INVALID_VALUE);
        }
        drop(state);
        // SAFETY: the program passed the callback to be called with this data.
        crate::base::callback::call_program(|| unsafe { callback(stream, 0, data) });
        Ok(())
    }

    Call fn cuLaunchHostFunc(stream: CUstream, function: CUhostFn, data: *mut c_void) {
        let function = function.ok_or(Status::INVALID_VALUE)?;
        enqueue(stream, &Operation::Host { function, data: data as usize, touched: Vec::new() })
    }

    Call fn cuLaunchHostFunc_v2(stream: CUstream, function: CUhostFn, data: *mut c_void, mode: c_uint) {
        let function = function.ok_or(Status::INVALID_VALUE)?;
        if mode > 1 {
            return Err(Status::INVALID_VALUE);
        }
        enqueue(stream, &Operation::Host { function, data: data as usize, touched: Vec::new() })
    }

    Call fn cuEventCreate(event: *mut CUevent, flags: c_uint) {
        if event.is_null() || flags & !7 != 0 || (flags & 4 != 0 && flags & 2 == 0) {
            return Err(Status::INVALID_VALUE);
        }
        let mut state = state();
        let context = state.current()?;
        write_result(event, state.events.insert(Event { context, flags, recorded: None, captured: None }))
    }

    Release fn cuEventDestroy_v2(event: CUevent) {
        state().events.remove(event).map(drop).ok_or(Status::INVALID_HANDLE)
    }

    Call fn cuEventRecord(event: CUevent, stream: CUstream) {
        record(&mut state(), event, stream)
    }

    Call fn cuEventRecordWithFlags(event: CUevent, stream: CUstream, flags: c_uint) {
        let mut state = state();
        if flags & !1 != 0 {
            return Err(Status::INVALID_VALUE);
        }
        if flags & 1 != 0 && state.captures.of_stream(stream).is_some() {
            state.events.get(event).ok_or(Status::INVALID_HANDLE)?;
            return capture::capture(&mut state, stream, &Operation::RecordEvent(event)).map(drop);
        }
        record(&mut state, event, stream)
    }

    Call fn cuEventQuery(event: CUevent) {
        let state = state();
        let entry = state.events.get(event).ok_or(Status::INVALID_HANDLE)?;
        match entry.captured {
            Some(_) => Err(Status::CAPTURED_EVENT),
            None if entry.recorded.is_some() && state.held.contains(&entry.context) => Err(Status::NOT_READY),
            None => Ok(()),
        }
    }

    Call fn cuEventSynchronize(event: CUevent) {
        let state = state();
        let entry = state.events.get(event).ok_or(Status::INVALID_HANDLE)?;
        match (&entry.captured, entry.recorded) {
            (Some(_), _) => Err(Status::CAPTURED_EVENT),
            (None, None) => Ok(()),
            (None, Some(_)) => {
                let context = entry.context;
                wait_until_released(state, context)
            }
        }
    }

    Call fn cuEventElapsedTime(milliseconds: *mut f32, start: CUevent, end: CUevent) {
        elapsed(milliseconds, start, end)
    }

    Call fn cuEventElapsedTime_v2(milliseconds: *mut f32, start: CUevent, end: CUevent) {
        elapsed(milliseconds, start, end)
    }

    Call fn cuThreadExchangeStreamCaptureMode(mode: *mut c_uint) {
        let wanted = crate::base::pointer::read_argument(mode)?;
        if wanted > 2 {
            return Err(Status::INVALID_VALUE);
        }
        write_result(mode, exchange_mode(wanted))
    }

    Call fn cuStreamBeginCapture_v2(stream: CUstream, mode: c_uint) {
        if mode > 2 {
            return Err(Status::INVALID_VALUE);
        }
        capture::begin(&mut state(), stream, mode, None, Vec::new())
    }

    Call fn cuStreamBeginCaptureToGraph(
        stream: CUstream, graph: CUgraph, nodes: *const CUgraphNode, data: *const CUgraphEdgeData, count: usize,
        mode: c_uint
    ) {
        let nodes = read_array(nodes, count)?;
        if mode > 2
            || !data.is_null()
                && read_array(data, count)?.iter().any(|data| *data != CUgraphEdgeData::default())
        {
            return Err(Status::INVALID_VALUE);
        }
        let mut state = state();
        for &node in &nodes {
            if state.definitions.node(node)?.graph != graph {
                return Err(Status::INVALID_VALUE);
            }
        }
        capture::begin(&mut state, stream, mode, Some(graph), full(&nodes))
    }

    Call fn cuStreamEndCapture(stream: CUstream, graph: *mut CUgraph) {
        let ended = capture::end(&mut state(), stream);
        if ended.is_err() {
            write_optional(graph, 0);
        }
        write_result(graph, ended?)
    }

    Call fn cuStreamIsCapturing(stream: CUstream, status: *mut c_uint) {
        let mut state = state();
        state.stream_context(stream)?;
        let (code, _) = state.captures.status(stream);
        write_result(status, code)
    }

    Call fn cuStreamGetCaptureInfo(stream: CUstream, status: *mut c_uint, id: *mut u64) {
        capture_info(
            stream, status, id, std::ptr::null_mut(), std::ptr::null_mut(), std::ptr::null_mut(),
            std::ptr::null_mut()
        )
    }

    Call fn cuStreamGetCaptureInfo_v2(
        stream: CUstream, status: *mut c_uint, id: *mut u64, graph: *mut CUgraph,
        nodes: *mut *const CUgraphNode, count: *mut usize
    ) {
        capture_info(stream, status, id, graph, nodes, std::ptr::null_mut(), count)
    }

    Call fn cuStreamGetCaptureInfo_v3(
        stream: CUstream, status: *mut c_uint, id: *mut u64, graph: *mut CUgraph,
        nodes: *mut *const CUgraphNode, edges: *mut *const CUgraphEdgeData, count: *mut usize
    ) {
        capture_info(stream, status, id, graph, nodes, edges, count)
    }

    Call fn cuStreamUpdateCaptureDependencies(stream: CUstream, nodes: *mut CUgraphNode, count: usize, flags: c_uint) {
        update_capture(stream, nodes, count, flags)
    }

    Call fn cuStreamUpdateCaptureDependencies_v2(
        stream: CUstream, nodes: *mut CUgraphNode, _data: *const CUgraphEdgeData, count: usize, flags: c_uint
    ) {
        update_capture(stream, nodes, count, flags)
    }
}
