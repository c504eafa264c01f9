//! Lets each call of the library fail in turn. The error names the call, nothing leaks, and the next build works.

use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaSlice, CudaStream};
use cuweave::Error;
use cuweave::nccl::{self, Communicator, Reduce, UniqueId, all_reduce, shift};
use cuweave::prelude::*;

use crate::library::{Control, devices, silent};

#[cuweave::graph(devices = 2)]
fn both(n: u32, comm: &Communicator, x: &[&mut [u32; n]], y: &[&mut [u32; n]]) {
    for i in 0..2 {
        #[on(i)]
        {
            all_reduce(&comm, &mut x[i], Reduce::Sum, n);
            shift(&comm, &x[i], &mut y[i], 1, n);
        }
    }
}

type Pair = [CudaSlice<u32>; 2];

/// Creates a communicator, builds, launches, and drops everything.
fn run_on(
    contexts: &[Arc<CudaContext>],
    stream: &Arc<CudaStream>,
    x: &mut Pair,
    y: &mut Pair,
) -> Result<(), String> {
    let comm = Communicator::of_all(contexts).map_err(|error| error.to_string())?;
    let graph = both(contexts, 8, &comm, x.iter_mut().collect::<Vec<_>>(), y.iter_mut().collect::<Vec<_>>());
    let exec = graph.and_then(cuweave::Graph::instantiate);
    let ran = exec.and_then(|mut exec| {
        exec.launch(stream)?;
        exec.synchronize()
    });
    ran.map_err(|error| error.to_string())
}

/// Returns x and y of both devices: 1 and 2, and 0 and 1.
fn pairs(streams: &[Arc<CudaStream>]) -> (Pair, Pair) {
    let new = |value: u32| [0, 1].map(|at| streams[at].clone_htod(&[value + at as u32; 8]).expect("ok"));
    (new(1), new(0))
}

fn run() -> Result<(), String> {
    let (contexts, streams) = devices(2).ok_or("no devices")?;
    let (mut x, mut y) = pairs(&streams);
    run_on(&contexts, &streams[0], &mut x, &mut y)?;
    assert_eq!(streams[0].clone_dtoh(&y[0]).expect("ok"), [3; 8]);
    Ok(())
}

#[test]
#[ignore = "run with the library of the tests"]
fn each_call_fails_in_turn() {
    let Some(control) = Control::open() else { return };
    run().expect("nothing fails");
    let counts = control.counts();
    println!("{counts:?}");
    assert!(counts.len() > 8, "{counts:?}");
    for (name, count) in counts {
        for nth in 1..=count {
            for status in [1, 3, 6] {
                control.fail(&name, nth, status);
                let result = run();
                control.fail("", 0, 0);
                let what = format!("call {nth} of {name}, {status}");
                assert_eq!(control.live(), 0, "{what}: {result:?}");
                match result {
                    // Its status would come too late to be returned.
                    Ok(()) => assert_eq!(name, "ncclCommAbort", "{what}"),
                    Err(error) => {
                        assert!(error.contains(&format!("`{name}` returned {status}, ")), "{what}: {error}");
                        if nth == 1 && status == 1 {
                            println!("{error}");
                        }
                    }
                }
                run().unwrap_or_else(|error| panic!("after {what}: {error}"));
                silent();
            }
        }
    }
}

/// Driver calls that capture and launch collectives, made by cuweave and by the library.
const DRIVER: &[&str] = &[
    "cuCtxSetCurrent",
    "cuStreamCreate",
    "cuStreamBeginCapture_v2",
    "cuStreamEndCapture",
    "cuStreamIsCapturing",
    "cuStreamGetCaptureInfo_v3",
    "cuStreamUpdateCaptureDependencies_v2",
    "cuStreamWaitEvent",
    "cuThreadExchangeStreamCaptureMode",
    "cuEventCreate",
    "cuEventRecord",
    "cuEventQuery",
    "cuUserObjectCreate",
    "cuGraphRetainUserObject",
    "cuGraphCreate",
    "cuGraphGetNodes",
    "cuGraphAddChildGraphNode",
    "cuGraphAddEventRecordNode",
    "cuGraphChildGraphNodeGetGraph",
    "cuGraphInstantiateWithParams",
    "cuGraphLaunch",
    "cuMemcpyDtoHAsync_v2",
];

#[test]
#[ignore = "run with the library of the tests"]
fn each_call_of_the_driver_fails_in_turn() {
    let Some(control) = Control::open() else { return };
    let Some((contexts, streams)) = devices(2) else { return };
    let mut failed = 0;
    for call in DRIVER {
        for nth in 1..300 {
            let (mut x, mut y) = pairs(&streams);
            cuweave_sim::inject_fault(call, nth, 801).expect("the simulated driver");
            let began = std::time::Instant::now();
            let result = run_on(&contexts, &streams[0], &mut x, &mut y);
            let left = cuweave_sim::clear_faults().expect("the simulated driver");
            let took = began.elapsed();
            assert!(took.as_secs() < 2, "{call} {nth}: {took:?}, {result:?}");
            contexts.iter().for_each(|ctx| ctx.check_err().unwrap_or_default());
            if let Err(error) = &result {
                failed += 1;
                let said =
                    ["801", "NOT_SUPPORTED", "unhandled cuda error"].iter().any(|text| error.contains(text));
                assert!(said, "{call} {nth}: {error}");
            }
            assert_eq!(control.live(), 0, "{call} {nth}: {result:?}");
            run().unwrap_or_else(|error| panic!("after {call} {nth} failed, {result:?}: {error}"));
            silent();
            if left > 0 {
                break;
            }
            assert!(nth < 299, "{call} is made too often");
        }
    }
    assert!(failed > 60, "{failed}");
}

#[test]
#[ignore = "run with the library of the tests"]
fn a_communicator_that_dies() {
    let Some(control) = Control::open() else { return };
    let Some((contexts, streams)) = devices(2) else { return };
    let comm = Communicator::of_all(&contexts).expect("a communicator");
    let new = |value: u32| [0, 1].map(|at| streams[at].clone_htod(&[value + at as u32; 8]).expect("ok"));
    let (mut x, mut y) = (new(1), new(0));
    let graph = both(&contexts, 8, &comm, x.iter_mut().collect::<Vec<_>>(), y.iter_mut().collect::<Vec<_>>());
    let mut exec = graph.expect("it builds").instantiate().expect("it instantiates");
    exec.launch(&streams[0]).expect("it launches");
    control.break_all(6);
    let error = exec.synchronize().expect_err("it is dead");
    assert!(matches!(error, Error::Communicator { .. }), "{error}");
    println!("{error}");
    assert!(error.to_string().contains("remote process exited"), "{error}");
    exec.launch(&streams[0]).expect_err("it stays dead");
    drop(exec);
    drop(comm);
    assert_eq!(control.live(), 0);
    // A communicator that the program aborts.
    let comm = Communicator::of_all(&contexts).expect("a communicator");
    let graph = both(&contexts, 8, &comm, x.iter_mut().collect::<Vec<_>>(), y.iter_mut().collect::<Vec<_>>());
    let mut exec = graph.expect("it builds").instantiate().expect("it instantiates");
    comm.abort();
    let error = exec.launch(&streams[0]).map(drop).expect_err("it is dead");
    assert_eq!(error.to_string(), "the communicator of `both` was aborted");
    drop(exec);
    silent();
}

/// Threads build with one communicator while one of them aborts it. No thread uses it after that, and no two at the
/// same time.
#[test]
#[ignore = "run with the library of the tests"]
fn threads_share_a_communicator() {
    let Some(control) = Control::open() else { return };
    let Some((contexts, streams)) = devices(2) else { return };
    for round in 0..20 {
        let comm = Communicator::of_all(&contexts).expect("a communicator");
        let results: Vec<Result<(), String>> = std::thread::scope(|scope| {
            let build = || {
                let (mut x, mut y) = pairs(&streams);
                for _ in 0..4 {
                    let lists = (x.iter_mut().collect::<Vec<_>>(), y.iter_mut().collect::<Vec<_>>());
                    let graph =
                        both(&contexts, 8, &comm, lists.0, lists.1).map_err(|error| error.to_string())?;
                    graph.instantiate().map(drop).map_err(|error| error.to_string())?;
                }
                Ok(())
            };
            let threads = [scope.spawn(build), scope.spawn(build)];
            if round % 2 > 0 {
                std::thread::sleep(std::time::Duration::from_micros(300 * round));
                comm.abort();
            }
            threads.into_iter().map(|thread| thread.join().expect("a thread")).collect()
        });
        for error in results.into_iter().filter_map(Result::err) {
            assert!(round % 2 > 0 && error.contains("was aborted"), "{error}");
        }
        drop(comm);
        assert_eq!(control.live(), 0);
        // Its lines contain no violations.
        control.counts();
        silent();
    }
}

#[test]
#[ignore = "run with the library of the tests"]
fn ranks_that_are_none() {
    if Control::open().is_none() {
        return;
    }
    let Some((contexts, streams)) = devices(3) else { return };
    let id = UniqueId::new().expect("an id");
    let error = Communicator::new(&contexts[0], id, 2, 2).expect_err("no rank");
    assert_eq!(error.to_string(), "rank 2 is out of range for 2 ranks");
    let error = Communicator::of_all(&[contexts[0].clone(), contexts[0].clone()]).expect_err("one device");
    assert!(matches!(error, nccl::Error::SameDevice(0)), "{error}");
    assert!(Communicator::of_all(&[]).is_err());
    // A statement on a device without a rank.
    let comm = Communicator::of_all(&contexts[1..]).expect("a communicator");
    let new = |value: u32| [0, 1].map(|at| streams[at].clone_htod(&[value; 8]).expect("ok"));
    let (mut x, mut y) = (new(1), new(0));
    let graph =
        both(&contexts[..2], 8, &comm, x.iter_mut().collect::<Vec<_>>(), y.iter_mut().collect::<Vec<_>>());
    let error = graph.map(drop).expect_err("no rank there").to_string();
    assert!(error.contains("the communicator has no rank on device 0 in this process"), "{error}");
    silent();
}
