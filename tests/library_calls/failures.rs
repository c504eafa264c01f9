//! Lets each driver call of a build with library calls fail once. The build returns an error, and the next one
//! works.

use cudarc::driver::{CudaSlice, CudaStream};
use cuweave::Error;
use cuweave::prelude::*;
use cuweave_testkit::device::{Device, simulated_alone};

use crate::library::{Library, forked, sum};

#[cuweave::graph]
fn program(n: u32, library: &Library, x: &[f32; n], out: &mut [f32; n]) {
    let pos = alloc::<f32>(n);
    let neg = alloc::<f32>(n);
    forked(&library, &x, &mut pos, &mut neg, n);
    sum(&library, &pos, &neg, &mut out, n);
}

fn run(
    device: &Device,
    library: &Library,
    x: &CudaSlice<f32>,
    out: &mut CudaSlice<f32>,
    stream: &std::sync::Arc<CudaStream>,
) -> Result<(), Error> {
    let mut exec = program(&device.ctx, 3, library, x, out)?.instantiate()?;
    exec.launch(stream)
}

/// Calls with which the runtime or a call's body captures.
const CAPTURE: &[&str] = &[
    "cuStreamCreate",
    "cuStreamDestroy_v2",
    "cuStreamBeginCaptureToGraph",
    "cuStreamGetCaptureInfo_v3",
    "cuStreamEndCapture",
    "cuStreamIsCapturing",
    "cuThreadExchangeStreamCaptureMode",
    "cuGraphNodeGetType",
    "cuGraphNodeGetDependencies_v2",
    "cuCtxGetCurrent",
    "cuCtxSetCurrent",
    "cuLaunchKernel",
    "cuEventCreate",
    "cuEventRecord",
    "cuStreamWaitEvent",
    "cuGraphCreate",
    "cuGraphInstantiateWithParams",
    "cuGraphAddMemAllocNode",
    "cuGraphAddMemFreeNode",
];

#[test]
fn every_call_that_fails_is_an_error() {
    let Some(device) = simulated_alone() else { return };
    let library = Library::new(&device.ctx);
    let x = device.upload(&[1.0f32, -2.0, 3.0]);
    let mut out = device.upload(&[0.0f32; 3]);
    let stream = device.ctx.new_stream().expect("a stream");
    run(&device, &library, &x, &mut out, &stream).expect("the first run works");
    let mut failed = 0;
    for call in CAPTURE {
        for nth in 1..200 {
            cuweave_sim::inject_fault(call, nth, 999).expect("the simulated driver");
            let result = run(&device, &library, &x, &mut out, &stream);
            let left = cuweave_sim::clear_faults().expect("the simulated driver");
            let _ = device.ctx.check_err();
            if let Err(error) = &result {
                failed += 1;
                let text = error.to_string();
                assert!(
                    text.contains("999") || text.contains("UNKNOWN") || matches!(error, Error::Call { .. }),
                    "{call} {nth}: {text}"
                );
            }
            run(&device, &library, &x, &mut out, &stream)
                .unwrap_or_else(|error| panic!("after {call} {nth} failed, {result:?}: {error}"));
            assert_eq!(device.download(&out), [2.0, -4.0, 6.0], "{call} {nth}");
            if left > 0 {
                break;
            }
            assert!(nth < 199, "{call} is made too often");
        }
    }
    assert!(failed > 30, "{failed}");
    assert!(cuweave_sim::take_reports().expect("the simulated driver").is_empty());
}
