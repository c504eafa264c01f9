//! Host values by `&mut` and in an `Arc`: the order of their calls, drop orders, and forgotten execs.

use std::sync::Arc;

use cudarc::driver::{DriverError, PushKernelArg};
use cuweave::Error;
use cuweave::prelude::*;
use cuweave_testkit::device::alone;

use crate::library::{Library, scaled, threads};

/// A resource that numbers its calls.
struct Counter {
    library: Library,
    calls: Vec<u32>,
}

/// out = number of the call
#[cuweave::call]
unsafe fn numbered(
    stream: &CallStream,
    counter: &mut Counter,
    out: &mut [MaybeUninit<f32>; n],
    tag: u32,
    n: u32,
) -> Result<(), DriverError> {
    counter.calls.push(tag);
    let set = counter.library.function("set")?;
    let number = counter.calls.len() as f32;
    unsafe { stream.launch_builder(&set).arg(out).arg(&number).arg(&n).launch(threads(n)) }.map(drop)
}

#[cuweave::graph]
fn inner(n: u32, tag: u32, counter: &mut Counter, out: &mut [MaybeUninit<f32>; n]) {
    numbered(&mut counter, &mut out, tag, n);
}

#[cuweave::graph]
fn outer(n: u32, counter: &mut Counter, out: &mut [f32; 4 * n]) {
    numbered(&mut counter, &mut out[3 * n..], 7, n);
    for i in 0..n {
        inner(n, i, &mut counter, &mut out[i * n..(i + 1) * n]);
    }
    numbered(counter, &mut out[2 * n..3 * n], 9, n);
}

#[test]
fn the_calls_of_a_resource_stay_in_order() {
    let device = alone();
    let mut counter = Counter { library: Library::new(&device.ctx), calls: Vec::new() };
    let mut out = device.upload(&[0.0f32; 8]);
    let graph = outer(&device.ctx, 2, &mut counter, &mut out).expect("it builds");
    // Only the resource orders them.
    assert_eq!(graph.report().depth, 4);
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&device.stream).expect("it launches");
    drop(exec);
    assert_eq!(counter.calls, [7, 0, 1, 9]);
    assert_eq!(device.download(&out), [2.0, 2.0, 3.0, 3.0, 4.0, 4.0, 1.0, 1.0]);
}

#[cuweave::graph]
fn once(n: u32, a: f32, library: &Library, x: &[f32; n], out: &mut [f32; n]) {
    scaled(&library, &x, &mut out, a, n);
}

#[test]
fn an_exec_keeps_what_is_shared() {
    let device = alone();
    let library = Arc::new(Library::new(&device.ctx));
    let x = Arc::new(device.upload(&[1.0f32, 2.0]));
    let out = device.upload(&[0.0f32; 2]);
    let mut exec = once(&device.ctx, 2, 3.0, library.clone(), x, out).expect("ok").instantiate().expect("ok");
    exec.launch(&device.stream).expect("it launches");
    assert_eq!(Arc::strong_count(&library), 2);
    assert_eq!(exec.args().library.parts, 4);
    let args = exec.into_args();
    drop(args);
    assert_eq!(Arc::strong_count(&library), 1);
    let x = Arc::new(device.upload(&[1.0f32, 2.0]));
    let out = device.upload(&[0.0f32; 2]);
    let mut exec = once(&device.ctx, 2, 3.0, library.clone(), x, out).expect("ok").instantiate().expect("ok");
    exec.launch(&device.stream).expect("it launches");
    std::mem::forget(exec);
    assert_eq!(Arc::strong_count(&library), 2, "a forgotten exec keeps it");
    drop(library);
    device.stream.synchronize().expect("it runs");
}

#[test]
fn what_a_call_was_captured_with_cannot_be_set() {
    let device = alone();
    let library = Library::new(&device.ctx);
    let (x, other) = (device.upload(&[1.0f32, 2.0]), device.upload(&[5.0f32, 6.0]));
    let mut out = device.upload(&[0.0f32; 2]);
    let graph = once(&device.ctx, 2, 3.0, &library, &x, &mut out).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    // Scalars that affect a call have no setters.
    let error = exec.set_x(&other).expect_err("it is captured");
    assert!(matches!(error, Error::BuildAgain { .. }), "{error}");
    exec.launch(&device.stream).expect("it launches as it was");
    drop(exec);
    assert_eq!(device.download(&out), [3.0, 6.0]);
}

#[test]
fn threads_build_with_one_library() {
    let device = alone();
    let library = Library::new(&device.ctx);
    std::thread::scope(|scope| {
        for thread in 0..4u32 {
            let (device, library) = (device.clone(), &library);
            scope.spawn(move || {
                for turn in 0..5 {
                    let a = (thread * 10 + turn) as f32;
                    let x = device.upload(&[1.0f32, 2.0, 3.0]);
                    let mut out = device.upload(&[0.0f32; 3]);
                    let graph = once(&device.ctx, 3, a, library, &x, &mut out).expect("it builds");
                    let mut exec = graph.instantiate().expect("it instantiates");
                    exec.launch(&device.stream).expect("it launches");
                    drop(exec);
                    assert_eq!(device.download(&out), [a, 2.0 * a, 3.0 * a]);
                }
            });
        }
    });
}

#[cuweave::graph]
fn into(n: u32, a: f32, library: &Library, x: &[f32; n], out: &mut [MaybeUninit<f32>; n]) {
    scaled(&library, &x, &mut out, a, n);
}

/// Rows of a buffer: the row of the call is fixed, the row of the copy moves.
#[cuweave::graph]
fn into_rows(n: u32, called: u32, copied: u32, library: &Library, x: &[f32; n], rows: &mut [f32; 4 * n]) {
    into(n, 2.0, &library, &x, &mut rows[called * n..(called + 1) * n]);
    let h = alloc::<f32>(n);
    into(n, 3.0, &library, &x, &mut h);
    copy(&h, &mut rows[copied * n..(copied + 1) * n]);
}

#[test]
fn a_range_of_a_call_has_no_setter_and_the_error_names_the_call() {
    let device = alone();
    let library = Library::new(&device.ctx);
    let x = device.upload(&[1.0f32, 2.0]);
    let mut rows = device.upload(&[0.0f32; 8]);
    let graph = into_rows(&device.ctx, 2, 0, 1, &library, &x, &mut rows).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.set_copied(3).expect("a copy moves");
    let text = exec.set_called(2).expect_err("the address is captured").to_string();
    assert!(text.starts_with("`called` (tests/library_calls/resources.rs:"), "{text}");
    let why = [
        "moves a range of the library call `into:",
        ".scaled` (",
        "was captured with its address: build the graph again",
    ];
    assert!(why.iter().all(|part| text.contains(part)), "{text}");
    exec.launch(&device.stream).expect("it launches as it was");
    drop(exec);
    assert_eq!(device.download(&rows), [2.0, 4.0, 0.0, 0.0, 0.0, 0.0, 3.0, 6.0]);
}
