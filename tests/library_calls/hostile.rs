//! More bodies that misbehave. Each leads to an error at the call's place or to the right result, and the next
//! build works.

use std::panic::panic_any;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use cudarc::driver::{CudaSlice, CudaStream, DevicePtr, sys};
use cuweave::Error;
use cuweave::error::CallFault;
use cuweave::prelude::*;
use cuweave_testkit::device::{Device, alone, simulated_alone};

use crate::library::{Library, scale};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Well,
    FailsAfterWork,
    FailsForked,
    PanicsForked,
    PanicsWithAPayloadThatPanics,
    DestroysTheStream,
    LegacyStream,
    KeepsTheStream,
    DropsWhatItUses,
    Builds,
    Recurses,
    OtherThread,
    OtherThreadPanics,
    Events,
    EventOfTheCaller,
    LaunchesAnExec,
    LaunchesAnExecIntoItself,
    SecondRun,
    ChangesTheMode,
    LeavesACaptureOpen,
    LosesANode,
    AddsANode,
}

/// The host value of a body that misbehaves.
struct Bad {
    way: Way,
    library: Mutex<Option<Library>>,
    kept: Mutex<Vec<Arc<CudaStream>>>,
    user: Arc<CudaStream>,
    memory: Mutex<Option<CudaSlice<f32>>>,
    runs: AtomicU32,
    depth: AtomicU32,
}

impl Bad {
    fn new(device: &Device, way: Way) -> Bad {
        Bad {
            way,
            library: Mutex::new(Some(Library::new(&device.ctx))),
            kept: Mutex::default(),
            user: device.stream.clone(),
            memory: Mutex::new(Some(device.upload(&[7.0f32; 3]))),
            runs: AtomicU32::new(0),
            depth: AtomicU32::new(0),
        }
    }
}

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("a payload that panics when it is dropped");
        }
    }
}

fn failed(text: &str) -> Box<dyn std::error::Error> {
    text.into()
}

#[cuweave::call]
unsafe fn misbehave(
    stream: &CallStream,
    bad: &Bad,
    x: &[f32; n],
    out: &mut [f32; n],
    n: u32,
) -> Result<(), Box<dyn std::error::Error>> {
    let first = bad.runs.fetch_add(1, Ordering::Relaxed) == 0;
    if bad.way == Way::DropsWhatItUses {
        let library = bad.library.lock().expect("one user").take().ok_or_else(|| failed("no library"))?;
        library.copies(stream, x, out, n)?;
        drop(library);
        return Ok(());
    }
    let guard = bad.library.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let library = guard.as_ref().ok_or_else(|| failed("no library"))?;
    match bad.way {
        Way::Well | Way::DropsWhatItUses => library.copies(stream, x, out, n)?,
        Way::FailsAfterWork => {
            library.copies(stream, x, out, n)?;
            return Err(failed("LIBRARY_STATUS_TOO_LATE"));
        }
        Way::FailsForked => {
            library.copies(&*stream.fork()?, x, out, n)?;
            return Err(failed("LIBRARY_STATUS_FORKED"));
        }
        Way::PanicsForked => {
            let other = stream.fork()?;
            library.copies(&other, x, out, n)?;
            panic!("forked");
        }
        Way::PanicsWithAPayloadThatPanics => panic_any(Bomb),
        Way::DestroysTheStream => {
            library.copies(stream, x, out, n)?;
            unsafe { sys::cuStreamDestroy_v2(stream.cu_stream()) }.result()?;
        }
        Way::LegacyStream => {
            let memory = bad.memory.lock().expect("one user");
            let memory = memory.as_ref().ok_or_else(|| failed("no memory"))?;
            let (address, _guard) = memory.device_ptr(&bad.user);
            unsafe { sys::cuMemsetD32Async(address, 0, 3, std::ptr::null_mut()) }.result()?;
            library.copies(stream, x, out, n)?;
        }
        Way::KeepsTheStream => {
            bad.kept.lock().expect("one user").push((**stream).clone());
            library.copies(stream, x, out, n)?;
        }
        Way::Builds | Way::Recurses => {
            let inner = Bad {
                way: if bad.way == Way::Recurses && bad.depth.load(Ordering::Relaxed) < 4 {
                    bad.way
                } else {
                    Way::Well
                },
                library: Mutex::new(Some(Library { module: library.module.clone(), parts: 1 })),
                kept: Mutex::default(),
                user: bad.user.clone(),
                memory: Mutex::default(),
                runs: AtomicU32::new(0),
                depth: AtomicU32::new(bad.depth.load(Ordering::Relaxed) + 1),
            };
            let mut memory = bad.user.clone_htod(&[1.0f32, 2.0, 3.0])?;
            let y = bad.user.clone_htod(&[1.0f32, 2.0, 3.0])?;
            // It may be refused, but it must neither hang nor break this capture.
            let built =
                with(bad.user.context(), 3, &inner, &y, &mut memory).and_then(cuweave::Graph::instantiate);
            println!("built within: {:?}", built.as_ref().map(drop));
            drop(built);
            library.copies(stream, x, out, n)?;
        }
        Way::OtherThread => std::thread::scope(|scope| {
            scope.spawn(|| library.copies(stream, x, out, n)).join().expect("it does not panic")
        })?,
        Way::OtherThreadPanics => {
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    library.copies(stream, x, out, n).expect("it is enqueued");
                    panic!("in a thread");
                });
            });
        }
        Way::Events => {
            let event = stream.context().new_event(None)?;
            event.record(stream)?;
            library.copies(stream, x, out, n)?;
            stream.wait(&event)?;
            event.record(stream)?;
            stream.wait(&event)?;
        }
        Way::EventOfTheCaller => {
            let event = bad.user.record_event(None)?;
            stream.wait(&event)?;
            library.copies(stream, x, out, n)?;
        }
        Way::LaunchesAnExec | Way::LaunchesAnExecIntoItself => {
            let into = if bad.way == Way::LaunchesAnExec { &bad.user } else { &**stream };
            let mut memory = bad.memory.lock().expect("one user");
            let memory = memory.as_mut().ok_or_else(|| failed("no memory"))?;
            let mut exec = tripled(bad.user.context(), 3, memory)?.instantiate()?;
            exec.launch(into)?;
            library.copies(stream, x, out, n)?;
        }
        Way::SecondRun if first => {}
        Way::SecondRun => library.copies(stream, x, out, n)?,
        Way::ChangesTheMode => {
            let mut mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
            unsafe { sys::cuThreadExchangeStreamCaptureMode(&mut mode) }.result()?;
            library.copies(stream, x, out, n)?;
        }
        Way::LeavesACaptureOpen => {
            let other = stream.context().new_stream()?;
            other.begin_capture(sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
            bad.kept.lock().expect("one user").push(other);
            library.copies(stream, x, out, n)?;
        }
        Way::LosesANode => {
            let (mut graph, mut nodes, mut count) = (std::ptr::null_mut(), std::ptr::null(), 0);
            let (mut status, mut id) = (sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE, 0);
            unsafe {
                let (stream, edges) = (stream.cu_stream(), std::ptr::null_mut());
                sys::cuStreamGetCaptureInfo_v3(
                    stream,
                    &mut status,
                    &mut id,
                    &mut graph,
                    &mut nodes,
                    edges,
                    &mut count,
                )
            }
            .result()?;
            let mut before = unsafe { std::slice::from_raw_parts(nodes, count) }.to_vec();
            library.copies(stream, x, out, n)?;
            // From here on, the work depends on the nodes before the call, not on the copy.
            let set =
                sys::CUstreamUpdateCaptureDependencies_flags_enum::CU_STREAM_SET_CAPTURE_DEPENDENCIES as u32;
            unsafe {
                let (nodes, none) = (before.as_mut_ptr(), std::ptr::null());
                sys::cuStreamUpdateCaptureDependencies_v2(stream.cu_stream(), nodes, none, count, set)
            }
            .result()?;
        }
        Way::AddsANode => {
            let (mut graph, mut node) = (std::ptr::null_mut(), std::ptr::null_mut());
            let (mut status, mut id) = (sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE, 0);
            let (none, edges) = (std::ptr::null_mut(), std::ptr::null_mut());
            unsafe {
                let stream = stream.cu_stream();
                sys::cuStreamGetCaptureInfo_v3(
                    stream,
                    &mut status,
                    &mut id,
                    &mut graph,
                    none,
                    edges,
                    std::ptr::null_mut(),
                )
                .result()?;
                sys::cuGraphAddEmptyNode(&mut node, graph, std::ptr::null(), 0).result()?;
            }
            library.copies(stream, x, out, n)?;
        }
    }
    Ok(())
}

#[cuweave::graph]
fn with(n: u32, bad: &Bad, x: &[f32; n], out: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    copy(&x, &mut h);
    misbehave(&bad, &h, &mut out, n);
    scale[per_item(n)](&mut out, 2.0, n);
}

#[cuweave::graph]
fn tripled(n: u32, x: &mut [f32; n]) {
    scale[per_item(n)](&mut x, 3.0, n);
}

fn build(device: &Device, bad: &Bad) -> Result<Vec<f32>, Error> {
    let x = device.upload(&[1.0f32, 2.0, 3.0]);
    let mut out = device.upload(&[0.5f32; 3]);
    let mut exec = with(&device.ctx, 3, bad, &x, &mut out)?.instantiate()?;
    exec.launch(&device.stream)?;
    drop(exec);
    Ok(device.download(&out))
}

/// Returns the outcome of a build. Asserts that a build with a correct body works afterwards.
fn outcome(device: &Device, way: Way) -> Result<Vec<f32>, CallFault> {
    let bad = Bad::new(device, way);
    let result = build(device, &bad);
    let well = Bad::new(device, Way::Well);
    assert_eq!(build(device, &well).expect("a later build works"), [2.0, 4.0, 6.0], "{way:?}");
    drop(bad);
    assert_eq!(build(device, &well).expect("and one after that"), [2.0, 4.0, 6.0], "{way:?}");
    result.map_err(|error| {
        let text = error.to_string();
        println!("{way:?}: {text}");
        assert!(text.starts_with("`misbehave` (tests/library_calls/hostile.rs:"), "{text}");
        match error {
            Error::Call { fault, .. } => fault,
            other => panic!("{way:?}: {other:?}"),
        }
    })
}

fn right() -> Result<Vec<f32>, CallFault> {
    Ok(vec![2.0, 4.0, 6.0])
}

#[test]
fn work_that_was_enqueued_before_a_failure_is_dropped_with_the_graph() {
    let device = alone();
    let returned = |text: &str| Err(CallFault::Returned(text.into()));
    assert_eq!(outcome(&device, Way::FailsAfterWork), returned("LIBRARY_STATUS_TOO_LATE"));
    assert_eq!(outcome(&device, Way::FailsForked), returned("LIBRARY_STATUS_FORKED"));
    assert_eq!(outcome(&device, Way::PanicsForked), Err(CallFault::Panicked("forked".into())));
    let text = "a value that is not a string";
    assert_eq!(outcome(&device, Way::PanicsWithAPayloadThatPanics), Err(CallFault::Panicked(text.into())));
    let text = "a scoped thread panicked";
    assert_eq!(outcome(&device, Way::OtherThreadPanics), Err(CallFault::Panicked(text.into())));
}

#[test]
fn nodes_beside_the_stream_are_told() {
    let device = alone();
    for way in [Way::LosesANode, Way::AddsANode] {
        assert_eq!(outcome(&device, way), Err(CallFault::Dangling), "{way:?}");
    }
    device.nothing_reported();
}

#[test]
fn what_disturbs_no_capture_is_allowed() {
    let device = alone();
    for way in [Way::LegacyStream, Way::KeepsTheStream, Way::OtherThread, Way::Events, Way::ChangesTheMode] {
        assert_eq!(outcome(&device, way), right(), "{way:?}");
    }
    // A driver may refuse the allocations and loads of these while the thread captures.
    for way in [Way::LaunchesAnExec, Way::LeavesACaptureOpen, Way::Builds, Way::Recurses] {
        if device.simulated {
            assert_eq!(outcome(&device, way), right(), "{way:?}");
        }
    }
    device.nothing_reported();
}

#[test]
fn what_is_launched_or_waited_for_outside_is_told() {
    let Some(device) = simulated_alone() else { return };
    let text = "`tripled` is launched into a stream that is capturing";
    assert_eq!(outcome(&device, Way::LaunchesAnExecIntoItself), Err(CallFault::Returned(text.into())));
    let waits = outcome(&device, Way::EventOfTheCaller);
    assert!(matches!(waits, Err(CallFault::Invalidated { said: Some(_) })), "{waits:?}");
}

/// Like `with`, after two launches, the second of which starts early.
#[cuweave::graph]
fn behind_launches(n: u32, bad: &Bad, x: &[f32; n], out: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    copy(&x, &mut h);
    scale[per_item(n)](&mut h, 4.0, n);
    scale[per_item(n)](&mut h, 0.5, n);
    misbehave(&bad, &h, &mut out, n);
}

/// If the driver refuses the changed launches, the bodies run again, and the nodes of the second capture are
/// launched.
#[test]
fn a_body_that_captures_in_its_second_run_alone() {
    let Some(device) = simulated_alone() else { return };
    let x = device.upload(&[1.0f32, 2.0, 3.0]);
    for refused in [false, true] {
        let bad = Bad::new(&device, Way::SecondRun);
        let mut out = device.upload(&[0.5f32; 3]);
        cuweave::__private::change_next_rules(|_, _, rules| rules.allowed.fuse = false);
        let graph = behind_launches(&device.ctx, 3, &bad, &x, &mut out).expect("it builds");
        assert_eq!(graph.report().overlapped, 1);
        if refused {
            cuweave_sim::inject_fault("cuGraphInstantiateWithParams", 1, 801).expect("the simulated driver");
        }
        let mut exec = graph.instantiate().expect("it instantiates");
        assert_eq!(cuweave_sim::clear_faults().expect("the simulated driver"), 0);
        assert_eq!(exec.report().captured, usize::from(refused));
        exec.launch(&device.stream).expect("it launches");
        drop(exec);
        assert_eq!(device.download(&out), if refused { [2.0, 4.0, 6.0] } else { [0.5; 3] });
    }
    device.nothing_reported();
}

/// Drivers may report a destroyed stream in different ways.
#[test]
fn a_stream_that_was_destroyed_is_told() {
    let Some(device) = simulated_alone() else { return };
    assert_eq!(outcome(&device, Way::DestroysTheStream), Err(CallFault::Invalidated { said: None }));
    // The captured kernels vanish with their module, and the body behaves differently when it runs again.
    assert_eq!(outcome(&device, Way::DropsWhatItUses), Err(CallFault::Returned("no library".into())));
}
