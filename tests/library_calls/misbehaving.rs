//! Bodies that do what a library call must not do. The errors have the call's name and line, and later builds work.

use std::sync::Arc;

use cudarc::driver::{CudaSlice, CudaStream, DevicePtr, DriverError, sys};
use cuweave::Error;
use cuweave::error::CallFault;
use cuweave::prelude::*;
use cuweave_testkit::device::{Device, alone};

use crate::library::{Library, scale};

/// The ways to misbehave.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Well,
    Fails,
    Panics,
    PanicsAfterWork,
    Nothing,
    OtherStream,
    Forks,
    Allocates,
    AllocatesAtOnce,
    Synchronises,
    SynchronisesSilently,
    WaitsForTheContext,
    Ends,
    EndsAndBegins,
    Begins,
    BeginsElsewhere,
    Drops,
    WaitsForWorkOutside,
    LeavesNoContext,
    Detaches,
}

/// The host value of a body that misbehaves.
struct Bad {
    library: Library,
    way: Way,
    other: Arc<CudaStream>,
    own: (sys::CUdeviceptr, CudaSlice<u8>),
}

impl Bad {
    fn new(device: &Device, way: Way) -> Bad {
        let other = device.ctx.new_stream().expect("a stream");
        let memory = other.alloc_zeros::<u8>(16).expect("an allocation");
        let address = memory.device_ptr(&other).0;
        Bad { library: Library::new(&device.ctx), way, other, own: (address, memory) }
    }
}

#[derive(Debug)]
struct Status(&'static str);

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

impl From<DriverError> for Status {
    fn from(error: DriverError) -> Status {
        println!("{error:?}");
        Status("LIBRARY_STATUS_EXECUTION_FAILED")
    }
}

#[cuweave::call]
unsafe fn misbehave(
    stream: &CallStream,
    bad: &Bad,
    x: &[f32; n],
    out: &mut [MaybeUninit<f32>; n],
    n: u32,
) -> Result<(), Status> {
    match bad.way {
        Way::Well => bad.library.copies(stream, x, out, n)?,
        Way::Fails => return Err(Status("LIBRARY_STATUS_NOT_INITIALIZED")),
        Way::Panics => panic!("no plan for {n} elements"),
        Way::PanicsAfterWork => {
            bad.library.copies(stream, x, out, n)?;
            panic!("too late");
        }
        Way::Nothing => {}
        Way::OtherStream => {
            // The work runs now, with its own memory. An allocation or a kernel load would be refused.
            unsafe { sys::cuMemsetD8Async(bad.own.0, 1, 16, bad.other.cu_stream()) }.result()?;
        }
        Way::Forks => {
            let other = stream.fork()?;
            bad.library.copies(&other, x, out, n)?;
        }
        Way::Allocates => {
            let own = unsafe { stream.alloc::<f32>(n as usize) }?;
            bad.library.copies(stream, x, out, n)?;
            drop(own);
        }
        Way::AllocatesAtOnce => {
            let mut address = 0;
            let code = unsafe { sys::cuMemAlloc_v2(&mut address, 64) };
            code.result()?;
        }
        Way::Synchronises => {
            bad.library.copies(stream, x, out, n)?;
            stream.synchronize()?;
        }
        Way::SynchronisesSilently => {
            bad.library.copies(stream, x, out, n)?;
            let _ = stream.synchronize();
        }
        Way::WaitsForTheContext => {
            bad.library.copies(stream, x, out, n)?;
            stream.context().synchronize()?;
        }
        Way::Ends => {
            bad.library.copies(stream, x, out, n)?;
            let mut graph = std::ptr::null_mut();
            unsafe { sys::cuStreamEndCapture(stream.cu_stream(), &mut graph) }.result()?;
        }
        Way::EndsAndBegins => {
            let mut graph = std::ptr::null_mut();
            unsafe { sys::cuStreamEndCapture(stream.cu_stream(), &mut graph) }.result()?;
            let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
            unsafe { sys::cuStreamBeginCapture_v2(stream.cu_stream(), mode) }.result()?;
            bad.library.copies(stream, x, out, n)?;
        }
        Way::Begins => {
            let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
            stream.begin_capture(mode)?;
        }
        Way::BeginsElsewhere => {
            let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
            let other = stream.context().new_stream()?;
            other.begin_capture(mode)?;
            let mut graph = std::ptr::null_mut();
            unsafe { sys::cuStreamEndCapture(other.cu_stream(), &mut graph) }.result()?;
            unsafe { sys::cuGraphDestroy(graph) }.result()?;
            bad.library.copies(stream, x, out, n)?;
        }
        Way::Drops => {
            bad.library.copies(stream, x, out, n)?;
            // The context object keeps a failure in a drop.
            stream.context().record_err::<()>(Err(DriverError(sys::CUresult::CUDA_ERROR_INVALID_HANDLE)));
        }
        Way::WaitsForWorkOutside => {
            stream.join(&bad.other)?;
            bad.library.copies(stream, x, out, n)?;
        }
        Way::LeavesNoContext => {
            bad.library.copies(stream, x, out, n)?;
            unsafe { sys::cuCtxSetCurrent(std::ptr::null_mut()) }.result()?;
        }
        Way::Detaches => {
            let set =
                sys::CUstreamUpdateCaptureDependencies_flags_enum::CU_STREAM_SET_CAPTURE_DEPENDENCIES as u32;
            let none = std::ptr::null_mut();
            unsafe {
                sys::cuStreamUpdateCaptureDependencies_v2(stream.cu_stream(), none, std::ptr::null(), 0, set)
            }
            .result()?;
            bad.library.copies(stream, x, out, n)?;
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

fn build(device: &Device, bad: &Bad) -> Result<Vec<f32>, Error> {
    let x = device.upload(&[1.0f32, 2.0, 3.0]);
    let mut out = device.upload(&[0.0f32; 3]);
    let mut exec = with(&device.ctx, 3, bad, &x, &mut out)?.instantiate()?;
    exec.launch(&device.stream)?;
    drop(exec);
    Ok(device.download(&out))
}

fn fault(device: &Device, way: Way) -> (CallFault, String) {
    let mut bad = Bad::new(device, way);
    let error = build(device, &bad).expect_err("it misbehaves");
    bad.way = Way::Well;
    assert_eq!(build(device, &bad).expect("a later build works"), [2.0, 4.0, 6.0], "{way:?}");
    let text = error.to_string();
    println!("{text}");
    assert!(text.starts_with("`misbehave` (tests/library_calls/misbehaving.rs:"), "{text}");
    match error {
        Error::Call { fault, .. } => (fault, text),
        other => panic!("{way:?}: {other:?}"),
    }
}

#[test]
fn errors_of_the_body_are_those_of_the_build() {
    let device = alone();
    let (found, text) = fault(&device, Way::Fails);
    assert_eq!(found, CallFault::Returned("LIBRARY_STATUS_NOT_INITIALIZED".into()));
    assert!(text.ends_with("the library call failed: LIBRARY_STATUS_NOT_INITIALIZED"), "{text}");
    let (found, _) = fault(&device, Way::Begins);
    assert_eq!(found, CallFault::Returned("LIBRARY_STATUS_EXECUTION_FAILED".into()));
}

#[test]
fn panics_are_errors() {
    let device = alone();
    assert_eq!(fault(&device, Way::Panics).0, CallFault::Panicked("no plan for 3 elements".into()));
    assert_eq!(fault(&device, Way::PanicsAfterWork).0, CallFault::Panicked("too late".into()));
}

#[test]
fn a_call_that_captures_nothing_writes_nothing() {
    let device = alone();
    for way in [Way::Nothing, Way::OtherStream] {
        assert_eq!(fault(&device, way).0, CallFault::Nothing { parameter: "out".into() }, "{way:?}");
    }
}

#[test]
fn memory_of_a_call_is_scratch() {
    let device = alone();
    let (found, text) = fault(&device, Way::Allocates);
    assert_eq!(found, CallFault::Allocates);
    assert!(text.contains("`scratch: [T; len]`"), "{text}");
}

#[test]
fn streams_that_are_not_joined_are_told() {
    assert_eq!(fault(&alone(), Way::Forks).0, CallFault::Unjoined);
}

#[test]
fn what_cannot_be_captured_is_told() {
    let device = alone();
    let said = Some("LIBRARY_STATUS_EXECUTION_FAILED".to_owned());
    for way in [Way::AllocatesAtOnce, Way::Synchronises, Way::WaitsForTheContext, Way::WaitsForWorkOutside] {
        assert_eq!(fault(&device, way).0, CallFault::Invalidated { said: said.clone() }, "{way:?}");
    }
    assert_eq!(fault(&device, Way::SynchronisesSilently).0, CallFault::Invalidated { said: None });
}

#[test]
fn captures_that_the_body_ends_are_told() {
    let device = alone();
    for way in [Way::Ends, Way::EndsAndBegins] {
        assert_eq!(fault(&device, way).0, CallFault::Ended, "{way:?}");
    }
}

#[test]
fn a_capture_of_another_stream_is_the_body_s_own() {
    let device = alone();
    let bad = Bad::new(&device, Way::BeginsElsewhere);
    assert_eq!(build(&device, &bad).expect("it builds"), [2.0, 4.0, 6.0]);
}

#[test]
fn what_a_drop_kept_is_told() {
    let device = alone();
    let bad = Bad::new(&device, Way::Drops);
    let error = build(&device, &bad).expect_err("a drop failed");
    let text = error.to_string();
    assert!(text.contains("`misbehave` (") && text.contains("CUDA_ERROR_INVALID_HANDLE"), "{text}");
}

#[test]
fn the_current_context_and_the_order_are_kept() {
    let device = alone();
    assert_eq!(fault(&device, Way::LeavesNoContext).0, CallFault::OtherContext);
    assert_eq!(fault(&device, Way::Detaches).0, CallFault::Detached);
}
