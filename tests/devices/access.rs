//! Access between the memories of devices, and the checks of which statement may be on which device.

use cuweave::Error;
use cuweave::prelude::*;

use crate::programs::kernels::{axpy, scale};
use crate::support::{N, contexts, ramp, silent, streams, with_devices};

/// Reads `x` on device 1, wherever it is stored.
#[cuweave::graph(devices = 2)]
fn reads(n: u32, x: &[f32; n], out: &mut [f32; n]) {
    #[on(1)]
    axpy[per_item(n)](2.0, &x, &mut out, n);
}

/// Copies `x` to device 1 before reading it.
#[cuweave::graph(devices = 2)]
fn fetches(n: u32, x: &[f32; n], out: &mut [f32; n]) {
    #[on(1)]
    {
        let here = alloc::<f32>(n);
        copy(&x, &mut here);
        axpy[per_item(n)](2.0, &here, &mut out, n);
    }
}

#[test]
fn a_kernel_reads_memory_of_a_peer() {
    with_devices("access::read_through", 2, &[]);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn read_through() {
    let contexts = contexts();
    let streams = streams(&contexts);
    // Memory from a pool, and memory that belongs to the context.
    let x = ramp(&streams[0], N, 0.0);
    let mut out = ramp(&streams[1], N, 0.0);
    let mut exec = reads(&contexts, N, &x, &mut out).expect("it builds").instantiate().expect("an exec");
    exec.launch(&streams[0]).expect("it launches");
    drop(exec);
    let expected: Vec<f32> = (0..N).map(|at| 3.0 * at as f32).collect();
    assert_eq!(streams[1].clone_dtoh(&out).expect("a download"), expected);
    silent();
}

#[test]
fn a_kernel_reads_no_memory_of_a_device_that_is_no_peer() {
    with_devices("access::not_peers", 2, &[("CUWEAVE_SIM_PEERS", "none")]);
    with_devices("access::not_peers", 3, &[("CUWEAVE_SIM_PEERS", "0-2,1-2")]);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn not_peers() {
    let contexts = contexts();
    let streams = streams(&contexts);
    let two = &contexts[..2];
    let x = ramp(&streams[0], N, 0.0);
    let mut out = ramp(&streams[1], N, 0.0);
    let error = reads(two, N, &x, &mut out).map(drop).expect_err("device 1 cannot read `x`");
    println!("{error}");
    let text = error.to_string();
    assert!(
        text.contains("`axpy`") && text.contains("uses `x`, which is memory of device 0, on device 1"),
        "{text}"
    );
    assert!(text.contains("device 1 has no access to memory of device 0"), "{text}");
    // The driver copies by way of the host.
    let mut exec = fetches(two, N, &x, &mut out).expect("it builds").instantiate().expect("an exec");
    exec.launch(&streams[0]).expect("it launches");
    drop(exec);
    let expected: Vec<f32> = (0..N).map(|at| 3.0 * at as f32).collect();
    assert_eq!(streams[1].clone_dtoh(&out).expect("a download"), expected);
    silent();
}

#[cuweave::graph(devices = 2)]
fn in_a_body(n: u32, flag: &[u32; 1], x: &mut [f32; n]) {
    if flag {
        #[on(1)]
        scale[per_item(n)](&mut x, 2.0, n);
    }
}

#[cuweave::graph(devices = 2)]
fn around_a_body(n: u32, flag: &[u32; 1], x: &mut [f32; n]) {
    #[on(1)]
    if flag {
        scale[per_item(n)](&mut x, 2.0, n);
    }
}

#[cuweave::graph(devices = 2)]
fn leaves(n: u32) -> [f32; n] {
    #[on(1)]
    let h = alloc::<f32>(n);
    #[on(1)]
    fill(&mut h, 1.0);
    h
}

#[cuweave::graph(devices = 3)]
fn three(n: u32, i: u32, x: &mut [f32; n]) {
    #[on(i)]
    scale[per_item(n)](&mut x, 2.0, n);
}

#[test]
fn what_no_device_can_do_is_an_error() {
    with_devices("access::refused", 3, &[]);
}

fn text<T>(result: cuweave::Result<T>) -> String {
    let error = result.map(drop).expect_err("it is refused");
    assert!(matches!(error, Error::Devices(_)), "{error}");
    println!("{error}");
    error.to_string()
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn refused() {
    let contexts = contexts();
    let streams = streams(&contexts);
    let two = &contexts[..2];
    let flag = streams[1].clone_htod(&[1u32]).expect("an upload");
    let mut x = ramp(&streams[1], N, 0.0);
    let body = text(in_a_body(two, N, &flag, &mut x));
    assert!(
        body.contains("`scale`") && body.contains("is on device 1") && body.contains("runs on device 0"),
        "{body}"
    );
    let mut exec = around_a_body(two, N, &flag, &mut x).expect("it builds").instantiate().expect("an exec");
    exec.launch(&streams[0]).expect("it launches");
    drop(exec);
    assert_eq!(streams[1].clone_dtoh(&x).expect("a download")[3], 6.0);
    assert!(text(leaves(two, N)).contains("`h`"));
    let given = text(three(two, N, 0, &mut x));
    assert!(given.contains("declared for 3 devices, and 2 contexts are given"), "{given}");
    let beyond = text(three(&contexts, N, 3, &mut x));
    assert!(beyond.contains("is on device 3, and the graph has 3 devices"), "{beyond}");
    let other = ramp(&streams[0], N, 0.0);
    let mut out = ramp(&streams[1], N, 0.0);
    let y = ramp(&streams[1], N, 0.0);
    let mut exec = reads(two, N, &other, &mut out).expect("it builds").instantiate().expect("an exec");
    let moved = text(exec.set_x(&y));
    assert!(moved.contains("built with memory of device 0"), "{moved}");
    drop(exec);
    silent();
}
