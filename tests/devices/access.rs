//! Access between the memories of devices, and the checks of which statement may be on which device.

use cuweave::Error;
use cuweave::builder::Builder;
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

/// Device `at` uses it in other graphs.
#[cuweave::graph(devices = 2)]
fn opened(n: u32, at: u32) -> [f32; n] {
    #[access(at)]
    let h = alloc::<f32>(n);
    fill(&mut h, 3.0);
    h
}

/// Device 1 uses it here, and so may do so elsewhere.
#[cuweave::graph(devices = 2, memory = "nodes")]
fn used_there(n: u32) -> [f32; n] {
    let h = alloc::<f32>(n);
    fill(&mut h, 1.5);
    #[on(1)]
    scale[per_item(n)](&mut h, 2.0, n);
    h
}

/// Takes `h` over, and reads it on device 1.
#[cuweave::graph(devices = 2)]
fn takes(n: u32, h: [f32; n], out: &mut [f32; n]) {
    #[on(1)]
    axpy[per_item(n)](2.0, &h, &mut out, n);
}

#[test]
fn an_output_is_used_on_the_devices_that_its_alloc_names() {
    with_devices("access::opened_outputs", 2, &[]);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn opened_outputs() {
    let contexts = contexts();
    let streams = streams(&contexts);
    let expected: Vec<f32> = (0..N).map(|at| 6.0 + at as f32).collect();
    // The own device is no other device.
    let mut closed = opened(&contexts, N, 0).expect("it builds").instantiate().expect("an exec");
    let mut out = ramp(&streams[1], N, 0.0);
    let error = text(takes(&contexts, N, closed.output(), &mut out));
    assert!(error.contains("`h` was allocated without access for device 1"), "{error}");
    {
        let h = closed.launch(&streams[0]).expect("it launches");
        let error = text(reads(&contexts, N, h.as_view(), &mut out));
        assert!(error.contains("was allocated without access for device 1"), "{error}");
    }
    // Taken over, again and again.
    let mut open = opened(&contexts, N, 1).expect("it builds").instantiate().expect("an exec");
    let graph = takes(&contexts, N, open.output(), &mut out).expect("it builds");
    let mut exec = graph.instantiate().expect("an exec");
    let h = open.launch(&streams[0]).expect("it launches");
    exec.launch(&streams[0], (h,)).expect("it launches");
    drop(exec);
    assert_eq!(streams[1].clone_dtoh(&out).expect("a download"), expected);
    // Borrowed.
    let mut out = ramp(&streams[1], N, 0.0);
    let h = open.launch(&streams[0]).expect("it launches");
    let mut exec =
        reads(&contexts, N, h.as_view(), &mut out).expect("it builds").instantiate().expect("an exec");
    exec.launch(&streams[0]).expect("it launches");
    drop(exec);
    drop(h);
    assert_eq!(streams[1].clone_dtoh(&out).expect("a download"), expected);
    // A copy needs no access, and a setter follows the same rule.
    let mut out = ramp(&streams[1], N, 0.0);
    let h = open.launch(&streams[0]).expect("it launches");
    let mut exec =
        fetches(&contexts, N, h.as_view(), &mut out).expect("it builds").instantiate().expect("an exec");
    exec.launch(&streams[0]).expect("it launches");
    drop(exec);
    drop(h);
    assert_eq!(streams[1].clone_dtoh(&out).expect("a download"), expected);
    let mut there = used_there(&contexts, N).expect("it builds").instantiate().expect("an exec");
    let mut out = ramp(&streams[1], N, 0.0);
    let graph = takes(&contexts, N, there.output(), &mut out).expect("it builds");
    let mut exec = graph.instantiate().expect("an exec");
    let h = there.launch(&streams[0]).expect("it launches");
    exec.launch(&streams[0], (h,)).expect("it launches");
    drop(exec);
    assert_eq!(streams[1].clone_dtoh(&out).expect("a download"), expected);
    silent();
}

/// Counts its devices from the device of the call.
#[cuweave::graph(devices = 2)]
fn inner(n: u32, x: &mut [f32; n]) {
    #[access(1)]
    let h = alloc::<f32>(n);
    copy(&x, &mut h);
    scale[per_item(n)](&mut h, 2.0, n);
    copy(&h, &mut x);
}

#[cuweave::graph(devices = d)]
fn outer(d: u32, n: u32, at: u32, x: &mut [f32; n]) {
    #[on(at)]
    inner(n, &mut x);
}

#[test]
fn access_is_for_peers_that_exist() {
    with_devices("access::granted", 3, &[("CUWEAVE_SIM_PEERS", "0-1,1-2")]);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn granted() {
    let contexts = contexts();
    let streams = streams(&contexts);
    let mut x = ramp(&streams[0], N, 0.0);
    let mut exec = outer(&contexts, 3, N, 1, &mut x).expect("it builds").instantiate().expect("an exec");
    exec.launch(&streams[0]).expect("it launches");
    drop(exec);
    assert_eq!(streams[0].clone_dtoh(&x).expect("a download")[3], 6.0);
    let beyond = text(outer(&contexts[..2], 2, N, 1, &mut x));
    assert!(beyond.contains("`inner.h`") && beyond.contains("to be accessible from device 2"), "{beyond}");
    assert!(beyond.contains("the graph has 2 devices"), "{beyond}");
    // Devices 0 and 2 are no peers.
    let two = [contexts[0].clone(), contexts[2].clone()];
    let strangers = text(opened(&two, N, 1));
    assert!(strangers.contains("device 1, which has no access to memory of device 0"), "{strangers}");
    // A builder says the same.
    let mut b = Builder::over(&two, "opened");
    let h = b.access([1]).named("h").alloc::<f32>(N);
    b.fill(h.write(), 3.0f32).expect("a fill");
    b.output(h).expect("an output");
    let built = text(b.build());
    assert!(built.contains("device 1, which has no access to memory of device 0"), "{built}");
    let mut b = Builder::over(&contexts, "opened");
    let h = b.access([1]).named("h").alloc::<f32>(N);
    b.fill(h.write(), 3.0f32).expect("a fill");
    b.output(h).expect("an output");
    drop(b.build().expect("it builds"));
    let mut b = Builder::over(&contexts, "filled");
    let h = b.named("h").alloc::<f32>(N);
    let error = b.access([1]).fill(h.write(), 3.0f32).expect_err("a fill allocates nothing");
    assert!(error.to_string().contains("call `access` before `alloc`"), "{error}");
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
