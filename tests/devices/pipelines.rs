//! Pieces of work that pass from device to device: launches that fill their device stay apart, so that the next
//! device begins with the first piece. Small ones are merged.

use cuweave::builder::Builder;
use cuweave::prelude::*;
use cuweave::report::{Report, UnbatchedReason};

use crate::programs::kernels::{add, axpy, copy_to, scale};
use crate::support::{N, contexts, ramp, silent, streams, with_devices};

/// The elements of a piece whose kernels have four waves of blocks.
const LARGE: u32 = 4 * 132 * 8 * 256;
const PIECES: u32 = 8;

/// Each device reads and writes the pieces in the memory of the first one.
#[cuweave::graph(devices = d)]
fn pipeline(d: u32, pieces: u32, n: u32, x: &mut [f32; pieces * n]) {
    for piece in 0..pieces {
        for i in 0..d {
            #[on(i)]
            scale[per_item(n)](&mut x[piece * n..(piece + 1) * n], 2.0, n);
        }
    }
}

/// Each device has a temporary for each piece, and copies it from the previous device.
#[cuweave::graph(devices = 3)]
fn handed(pieces: u32, n: u32, x: &[f32; pieces * n], out: &mut [f32; pieces * n]) {
    for piece in 0..pieces {
        let a = alloc::<f32>(n);
        copy_to[per_item(n)](&x[piece * n..(piece + 1) * n], &mut a, n);
        #[on(1)]
        {
            let b = alloc::<f32>(n);
            copy(&a, &mut b);
            scale[per_item(n)](&mut b, 3.0, n);
            #[on(2)]
            {
                let c = alloc::<f32>(n);
                copy(&b, &mut c);
                axpy[per_item(n)](2.0, &c, &mut out[piece * n..(piece + 1) * n], n);
            }
        }
    }
}

/// Two devices work on each piece of the first one, which adds their results.
#[cuweave::graph(devices = 3)]
fn diamond(pieces: u32, n: u32, x: &[f32; pieces * n], out: &mut [f32; pieces * n]) {
    for piece in 0..pieces {
        let a = alloc::<f32>(n);
        copy_to[per_item(n)](&x[piece * n..(piece + 1) * n], &mut a, n);
        #[on(1)]
        let b = alloc::<f32>(n);
        #[on(1)]
        copy_to[per_item(n)](&a, &mut b, n);
        #[on(2)]
        let c = alloc::<f32>(n);
        #[on(2)]
        copy_to[per_item(n)](&a, &mut c, n);
        add[per_item(n)](&b, &c, &mut out[piece * n..(piece + 1) * n], n);
    }
}

/// Checks that no launch is merged, and that the report says why.
fn is_apart(report: &Report, launches: u32) {
    assert_eq!((report.launches, report.kernels), (launches as usize, launches as usize), "{report}");
    let is_named = |reason: &UnbatchedReason| matches!(reason, UnbatchedReason::Devices);
    assert!(!report.unbatched.is_empty(), "{report}");
    assert!(report.unbatched.iter().all(|group| group.reasons.iter().all(is_named)), "{report}");
}

#[test]
fn a_device_begins_with_the_first_piece() {
    with_devices("pipelines::passes", 4, &[]);
    with_devices("pipelines::passes", 2, &[]);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn passes() {
    let contexts = contexts();
    let (streams, d) = (streams(&contexts), contexts.len() as u32);
    let mut x = streams[0].alloc_zeros::<f32>((PIECES * LARGE) as usize).expect("memory");
    let graph = pipeline(&contexts, d, PIECES, LARGE, &mut x).expect("it builds");
    is_apart(&graph.report(), PIECES * d);
    drop(graph);

    let mut x = ramp(&streams[0], PIECES * N, 1.0);
    let graph = pipeline(&contexts, d, PIECES, N, &mut x).expect("it builds");
    assert_eq!(graph.report().kernels, d as usize, "{}", graph.report());
    graph.instantiate().and_then(|mut exec| exec.launch(&streams[0])).expect("it launches");
    let expected: Vec<f32> = (0..PIECES * N).map(|at| (1u32 << d) as f32 * (1.0 + at as f32)).collect();
    assert_eq!(streams[0].clone_dtoh(&x).expect("a download"), expected);
    silent();
}

#[test]
fn pieces_are_copied_one_by_one() {
    with_devices("pipelines::copies", 3, &[]);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn copies() {
    let contexts = contexts();
    let streams = streams(&contexts);
    let zeros = |device: usize, len: u32| streams[device].alloc_zeros::<f32>(len as usize).expect("memory");
    let (x, mut out) = (zeros(0, PIECES * LARGE), zeros(2, PIECES * LARGE));
    is_apart(&handed(&contexts, PIECES, LARGE, &x, &mut out).expect("it builds").report(), 3 * PIECES);
    drop(out);
    let mut out = zeros(0, PIECES * LARGE);
    is_apart(&diamond(&contexts, PIECES, LARGE, &x, &mut out).expect("it builds").report(), 4 * PIECES);
    drop((x, out));

    let (x, mut out) = (ramp(&streams[0], PIECES * N, 1.0), zeros(2, PIECES * N));
    let graph = handed(&contexts, PIECES, N, &x, &mut out).expect("it builds");
    // Between copies, one launch would join the pieces and fork them again.
    assert_eq!(graph.report().kernels, 2 + PIECES as usize, "{}", graph.report());
    graph.instantiate().and_then(|mut exec| exec.launch(&streams[0])).expect("it launches");
    let expected: Vec<f32> = (0..PIECES * N).map(|at| 6.0 * (1.0 + at as f32)).collect();
    assert_eq!(streams[2].clone_dtoh(&out).expect("a download"), expected);
    let mut out = zeros(0, PIECES * N);
    let graph = diamond(&contexts, PIECES, N, &x, &mut out).expect("it builds");
    assert_eq!(graph.report().kernels, 4, "{}", graph.report());
    graph.instantiate().and_then(|mut exec| exec.launch(&streams[0])).expect("it launches");
    let expected: Vec<f32> = (0..PIECES * N).map(|at| 2.0 * (1.0 + at as f32)).collect();
    assert_eq!(streams[0].clone_dtoh(&out).expect("a download"), expected);
    silent();
}

#[test]
fn a_builder_passes_pieces_on() {
    with_devices("pipelines::built", 4, &[]);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn built() {
    let contexts = contexts();
    let streams = streams(&contexts);
    let build = |pieces: u32, len: u32| {
        let mut memory: Vec<_> =
            (0..pieces).map(|_| streams[0].alloc_zeros::<f32>(len as usize).expect("memory")).collect();
        let mut b = Builder::over(&contexts, "pipeline");
        let n = b.scalar("n", len);
        for (piece, memory) in memory.iter_mut().enumerate() {
            let x = b.exclusive(&format!("x{piece}"), n, memory);
            for device in 0..4 {
                b.on(device).launch(scale {}, per_item(n), (x.write(), 2.0, n)).expect("a launch");
            }
        }
        b.build().expect("it builds").report()
    };
    is_apart(&build(PIECES, LARGE), 4 * PIECES);
    assert_eq!(build(PIECES, N).kernels, 4);
    // A piece that follows another one anyway has nothing to wait for.
    assert_eq!(build(1, LARGE).kernels, 4);
}
