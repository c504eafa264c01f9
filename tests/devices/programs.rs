//! Programs over several devices, as graph functions and with builders: results, memory, reports and pictures.

use cuweave::builder::Builder;
use cuweave::prelude::*;

use crate::support::{N, contexts, ramp, silent, streams, with_devices};

pub mod kernels {
    use cuweave::prelude::*;

    #[cuweave::kernels("tests/kernels/common.ptx")]
    unsafe extern "ptx-kernel" {
        pub fn scale(x: &mut [f32; n], a: f32, n: u32);
        pub fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
        pub fn add(a: &[f32; n], b: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
        pub fn set(out: &mut [MaybeUninit<f32>; n], value: f32, n: u32);
        pub fn copy_to(src: &[f32; n], dst: &mut [MaybeUninit<f32>; n], n: u32);
    }
}
use kernels::{axpy, scale};

/// A fill and a kernel on device 0, a copy to device 1, a kernel there, and a kernel that reads device 0's memory
/// as a peer.
#[cuweave::graph(devices = 2)]
fn across(n: u32, x: &[f32; n], out: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    fill(&mut h, 1.0);
    axpy[per_item(n)](2.0, &x, &mut h, n);
    #[on(1)]
    {
        let there = alloc::<f32>(n);
        copy(&h, &mut there);
        scale[per_item(n)](&mut there, 10.0, n);
        axpy[per_item(n)](1.0, &h, &mut there, n);
        copy(&there, &mut out);
    }
}

/// `11 * (1 + 2 * x)`.
fn expected() -> Vec<f32> {
    (0..N).map(|at| 11.0 * (1.0 + 2.0 * at as f32)).collect()
}

#[test]
fn a_graph_crosses_to_another_device() {
    with_devices("programs::crosses", 2, &[]);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn crosses() {
    let contexts = contexts();
    let streams = streams(&contexts);
    let x = ramp(&streams[0], N, 0.0);
    let mut out = ramp(&streams[1], N, 0.0);
    let graph = across(&contexts, N, &x, &mut out).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    for _ in 0..2 {
        exec.launch(&streams[0]).expect("it launches");
    }
    let report = exec.report().to_string();
    println!("{report}\n{}", exec.dot());
    assert!(report.contains("edges between devices"), "{report}");
    assert!(exec.dot().contains("cluster_device_1"), "{}", exec.dot());
    assert!(exec.memory_svg().expect("a picture").contains("there"));
    drop(exec);
    assert_eq!(streams[1].clone_dtoh(&out).expect("a download"), expected());
    silent();
}

/// The same as a single-device function that is called on each device.
#[cuweave::graph]
fn turn(n: u32, a: f32, h: &mut [f32; n]) {
    let t = alloc::<f32>(n);
    fill(&mut t, 1.0);
    axpy[per_item(n)](a, &h, &mut t, n);
    copy(&t, &mut h);
}

/// Each device has a part. The parts rotate by one device in each iteration.
#[cuweave::graph(devices = d)]
fn ring(d: u32, n: u32, parts: &[&mut [f32; n]]) {
    for (i, part) in parts.iter().enumerate() {
        #[on(i)]
        turn(n, 2.0, &mut part);
    }
    for i in 0..d - 1 {
        #[on(i + 1)]
        axpy[per_item(n)](1.0, &parts[i], &mut parts[i + 1], n);
    }
}

#[test]
fn loops_and_calls_are_on_the_devices_that_they_name() {
    with_devices("programs::goes_round", 4, &[]);
    with_devices("programs::goes_round", 8, &[("CUWEAVE_SIM_SEED", "7")]);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn goes_round() {
    let contexts = contexts();
    let streams = streams(&contexts);
    let d = contexts.len() as u32;
    let mut parts: Vec<_> = streams.iter().zip(0..).map(|(stream, at)| ramp(stream, N, at as f32)).collect();
    let graph = ring(&contexts, d, N, parts.iter_mut().collect());
    let mut exec = graph.expect("it builds").instantiate().expect("it instantiates");
    exec.launch(&streams[0]).expect("it launches");
    println!("{}", exec.report());
    drop(exec);
    let mut sum = vec![0.0f32; N as usize];
    for (at, (part, stream)) in parts.iter().zip(&streams).enumerate() {
        for (element, sum) in sum.iter_mut().enumerate() {
            *sum += 1.0 + 2.0 * (at + element) as f32;
        }
        assert_eq!(stream.clone_dtoh(part).expect("a download"), sum, "device {at}");
    }
    silent();
}

macro_rules! across {
    ($($name:ident: $memory:literal;)*) => {$(
        #[cuweave::graph(devices = 2, memory = $memory)]
        fn $name(n: u32, x: &[f32; n], out: &mut [f32; n]) {
            let h = alloc::<f32>(n);
            fill(&mut h, 1.0);
            #[on(1)]
            let there = alloc::<f32>(n);
            #[on(1)]
            fill(&mut there, 2.0);
            axpy[per_item(n)](2.0, &x, &mut h, n);
            #[on(1)]
            axpy[per_item(n)](1.0, &h, &mut there, n);
            copy(&there, &mut out);
        }
    )*};
}
across! {
    across_nodes: "nodes";
    across_owned: "owned";
}

#[test]
fn every_lowering_of_memory_has_memory_of_each_device() {
    with_devices("programs::lowered", 2, &[]);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn lowered() {
    let contexts = contexts();
    let streams = streams(&contexts);
    let x = ramp(&streams[0], N, 0.0);
    let expected: Vec<f32> = (0..N).map(|at| 3.0 + 2.0 * at as f32).collect();
    let mut out = ramp(&streams[0], N, 0.0);
    let mut exec =
        across_nodes(&contexts, N, &x, &mut out).expect("it builds").instantiate().expect("an exec");
    exec.launch(&streams[0]).expect("it launches");
    drop(exec);
    assert_eq!(streams[0].clone_dtoh(&out).expect("a download"), expected);
    let mut out = ramp(&streams[1], N, 0.0);
    let mut exec =
        across_owned(&contexts, N, &x, &mut out).expect("it builds").instantiate().expect("an exec");
    exec.launch(&streams[0]).expect("it launches");
    exec.launch(&streams[0]).expect("it launches");
    drop(exec);
    assert_eq!(streams[1].clone_dtoh(&out).expect("a download"), expected);
    silent();
}

#[test]
fn a_builder_puts_statements_on_devices() {
    with_devices("programs::built", 2, &[]);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn built() {
    let contexts = contexts();
    let streams = streams(&contexts);
    let x = ramp(&streams[0], N, 0.0);
    let mut out = ramp(&streams[1], N, 0.0);
    let mut b = Builder::over(&contexts, "across");
    let n = b.scalar("n", N);
    let (x, to) = (b.shared("x", n, &x), b.exclusive("out", n, &mut out));
    let h = b.named("h").alloc::<f32>(n);
    b.fill(h.write(), 1.0f32).expect("a fill");
    b.launch(axpy {}, per_item(n), (2.0, x, h.write(), n)).expect("a launch");
    let there = b.on(1).named("there").alloc::<f32>(n);
    b.on(1).copy(h.read(), there.write()).expect("a copy");
    b.on(1).launch(scale {}, per_item(n), (there.write(), 10.0, n)).expect("a launch");
    b.on(1).launch(axpy {}, per_item(n), (1.0, h.read(), there.write(), n)).expect("a launch");
    b.on(1).copy(there.read(), to.write()).expect("a copy");
    let mut exec = b.build().expect("it builds").instantiate().expect("it instantiates");
    exec.launch(&streams[0]).expect("it launches");
    drop(exec);
    assert_eq!(streams[1].clone_dtoh(&out).expect("a download"), expected());
    silent();
}
