//! A single graph over all devices of a process.

use std::sync::Arc;

use cuweave::Error;
use cuweave::error::CallFault;
use cuweave::nccl::{
    Communicator, Reduce, all_gather, all_reduce, all_reduce_to, broadcast, reduce, reduce_scatter, shift,
};
use cuweave::prelude::*;

use crate::library::{devices, silent};

#[cuweave::kernels("tests/kernels/decide.ptx")]
unsafe extern "ptx-kernel" {
    fn mix(x: &mut [u32; n], by: u32, n: u32);
}

/// x = x * 3 + by, the same as the kernel `mix`.
fn mixed(x: u32, by: u32) -> u32 {
    x.wrapping_mul(31).wrapping_add(by)
}

#[cuweave::graph(devices = d)]
fn sums(d: u32, n: u32, times: u32, comm: &Communicator, parts: &[&mut [u32; n]]) {
    for _ in 0..times {
        for i in 0..d {
            #[on(i)]
            mix[per_item(n)](&mut parts[i], i, n);
        }
        for i in 0..d {
            #[on(i)]
            all_reduce(&comm, &mut parts[i], Reduce::Sum, n);
        }
    }
}

#[test]
#[ignore = "run with the library of the tests, or on real devices"]
fn all_ranks_in_one_graph() {
    for d in [2, 4] {
        let Some((contexts, streams)) = devices(d) else { continue };
        let (n, times) = (100, 3);
        let comm = Communicator::of_all(&contexts).expect("a communicator");
        assert_eq!((comm.ranks(), comm.rank()), (d as u32, 0));
        let first = |device: usize| (0..n).map(|at| at * 7 + device as u32).collect::<Vec<u32>>();
        let mut parts: Vec<_> = streams
            .iter()
            .enumerate()
            .map(|(at, stream)| stream.clone_htod(&first(at)).expect("ok"))
            .collect();
        let graph = sums(&contexts, d as u32, n, times, &comm, parts.iter_mut().collect::<Vec<_>>())
            .expect("it builds");
        let list = graph.collectives();
        assert_eq!(list.len(), times as usize);
        assert!(list.iter().all(|one| one.operation == "all_reduce sum of 100 u32"), "{list}");
        // Each device has its own chain.
        assert_eq!(graph.report().depth, 2 * times as usize);
        let mut exec = graph.instantiate().expect("it instantiates");
        assert_eq!(exec.collectives().digest(), list.digest());
        let error = exec.profile(&streams[0], 1).map(drop).expect_err("its devices run at the same time");
        assert!(matches!(error, Error::Profile { .. }), "{error}");
        exec.launch(&streams[0]).expect("it launches");
        exec.launch(&streams[0]).expect("it launches again");
        exec.synchronize().expect("it ends");
        drop(exec);
        let mut model: Vec<Vec<u32>> = (0..d).map(first).collect();
        let mut check: Vec<Vec<u32>> = Vec::new();
        for stream_of in 0..d {
            check.push(streams[stream_of].clone_dtoh(&parts[stream_of]).expect("ok"));
        }
        for _ in 0..2 * times {
            let steps: Vec<Vec<u32>> = model
                .iter()
                .enumerate()
                .map(|(device, part)| part.iter().map(|&x| mixed(x, device as u32)).collect())
                .collect();
            let sum: Vec<u32> = (0..n as usize)
                .map(|at| steps.iter().fold(0u32, |sum, part| sum.wrapping_add(part[at])))
                .collect();
            model = vec![sum; d];
        }
        assert_eq!(check, model);
        silent();
    }
}

#[cuweave::graph(devices = 2)]
fn every(
    n: u32,
    comm: &Communicator,
    x: &[&[f32; 2 * n]],
    gathered: &[&mut [f32; 4 * n]],
    scattered: &[&mut [f32; n]],
    shifted: &[&mut [f32; 2 * n]],
    sent: &[&mut [f32; n]],
    least: &[&mut [f32; 2 * n]],
    total: &[&mut [f32; n]],
) {
    for i in 0..2 {
        #[on(i)]
        {
            all_gather(&comm, &x[i], &mut gathered[i], 2 * n);
            reduce_scatter(&comm, &x[i], &mut scattered[i], Reduce::Avg, n);
            shift(&comm, &x[i], &mut shifted[i], 1, 2 * n);
            broadcast(&comm, &mut sent[i], 1, n);
            all_reduce_to(&comm, &x[i], &mut least[i], Reduce::Min, 2 * n);
            reduce(&comm, &mut total[i], Reduce::Prod, 0, n);
        }
    }
}

#[test]
#[ignore = "run with the library of the tests, or on real devices"]
fn every_collective() {
    let Some((contexts, streams)) = devices(2) else { return };
    let comm = Communicator::of_all(&contexts).expect("a communicator");
    let on = |values: [&[f32]; 2]| [0, 1].map(|at| streams[at].clone_htod(values[at]).expect("ok"));
    let x = on([&[1.0, 2.0, 3.0, 4.0], &[5.0, 6.0, 7.0, 0.5]]);
    let zeros = |len: usize| on([&vec![0.0; len], &vec![0.0; len]]);
    let (mut gathered, mut scattered, mut shifted) = (zeros(8), zeros(2), zeros(4));
    let (mut sent, mut least, mut total) =
        (on([&[1.0, 2.0], &[8.0, 9.0]]), zeros(4), on([&[2.0, 3.0], &[4.0, 5.0]]));
    let graph = every(
        &contexts,
        2,
        &comm,
        x.iter().collect::<Vec<_>>(),
        gathered.iter_mut().collect::<Vec<_>>(),
        scattered.iter_mut().collect::<Vec<_>>(),
        shifted.iter_mut().collect::<Vec<_>>(),
        sent.iter_mut().collect::<Vec<_>>(),
        least.iter_mut().collect::<Vec<_>>(),
        total.iter_mut().collect::<Vec<_>>(),
    );
    let mut exec = graph.expect("it builds").instantiate().expect("it instantiates");
    println!("{}", exec.collectives());
    exec.launch(&streams[0]).expect("it launches");
    exec.synchronize().expect("it ends");
    drop(exec);
    let read = |parts: &[cudarc::driver::CudaSlice<f32>; 2]| {
        [0, 1].map(|at| streams[at].clone_dtoh(&parts[at]).expect("ok"))
    };
    let all = vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 0.5];
    assert_eq!(read(&gathered), [all.clone(), all]);
    assert_eq!(read(&scattered), [vec![3.0, 4.0], vec![5.0, 2.25]]);
    assert_eq!(read(&shifted), [vec![5.0, 6.0, 7.0, 0.5], vec![1.0, 2.0, 3.0, 4.0]]);
    assert_eq!(read(&sent), [vec![8.0, 9.0], vec![8.0, 9.0]]);
    assert_eq!(read(&least), [vec![1.0, 2.0, 3.0, 0.5], vec![1.0, 2.0, 3.0, 0.5]]);
    assert_eq!(read(&total)[0], [8.0, 15.0]);
    silent();
}

/// The second collective of the second device has another count.
#[cuweave::graph(devices = 2)]
fn differs(n: u32, other: u32, comm: &Communicator, a: &mut [u32; n], b: &mut [u32; n]) {
    all_reduce(&comm, &mut a, Reduce::Sum, n);
    #[on(1)]
    all_reduce(&comm, &mut b, Reduce::Sum, n);
    all_reduce(&comm, &mut a, Reduce::Max, n);
    #[on(1)]
    all_reduce(&comm, &mut b[0..other], Reduce::Max, other);
}

/// Each device waits for the result of the other, which is a deadlock.
#[cuweave::graph(devices = 2)]
fn crossed(n: u32, comm: &Communicator, a: &mut [u32; n], b: &mut [u32; n]) {
    all_reduce(&comm, &mut a, Reduce::Sum, n);
    copy(&a, &mut b);
    #[on(1)]
    all_reduce(&comm, &mut b, Reduce::Sum, n);
}

/// One device has no collective.
#[cuweave::graph(devices = 2)]
fn alone(n: u32, comm: &Communicator, a: &mut [u32; n], b: &mut [u32; n]) {
    all_reduce(&comm, &mut a, Reduce::Sum, n);
    #[on(1)]
    mix[per_item(n)](&mut b, 1, n);
}

/// A collective in a body that the device decides.
#[cuweave::graph(devices = 2)]
fn decided(n: u32, comm: &Communicator, flag: &[u32; 1], a: &mut [u32; n], b: &mut [u32; n]) {
    if flag {
        all_reduce(&comm, &mut a, Reduce::Sum, n);
    }
    #[on(1)]
    all_reduce(&comm, &mut b, Reduce::Sum, n);
}

#[test]
#[ignore = "run with the library of the tests, or on real devices"]
fn what_would_hang_is_refused() {
    let Some((contexts, streams)) = devices(2) else { return };
    let comm = Communicator::of_all(&contexts).expect("a communicator");
    let mut a = streams[0].clone_htod(&[1u32; 8]).expect("ok");
    let mut b = streams[1].clone_htod(&[1u32; 8]).expect("ok");
    let flag = streams[0].clone_htod(&[1u32]).expect("ok");
    let text = |error: Error| {
        println!("{error}");
        assert!(matches!(error, Error::Call { .. }), "{error}");
        error.to_string()
    };
    let error = text(differs(&contexts, 8, 4, &comm, &mut a, &mut b).map(drop).expect_err("it differs"));
    assert!(
        error.contains(
            "collective 1 of the communicator device 0 has `all_reduce max of 8 u32`, and device 1 has \
            `all_reduce max of 4 u32`"
        ),
        "{error}"
    );
    assert!(error.starts_with("`all_reduce` (tests/nccl/programs.rs:"), "{error}");
    let error = crossed(&contexts, 8, &comm, &mut a, &mut b).map(drop).expect_err("it is crossed");
    assert!(matches!(error, Error::Call { fault: CallFault::Crossed { device: 0, .. }, .. }), "{error}");
    text(error);
    let error = text(alone(&contexts, 8, &comm, &mut a, &mut b).map(drop).expect_err("it is alone"));
    assert!(error.contains("2 ranks in this process, and the graph has collectives on 1 device"), "{error}");
    let error =
        text(decided(&contexts, 8, &comm, &flag, &mut a, &mut b).map(drop).expect_err("it is decided"));
    assert!(error.contains("a collective cannot be in the body `if flag`"), "{error}");
    // The communicator still works.
    let graph = differs(&contexts, 8, 8, Arc::new(comm), &mut a, &mut b).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&streams[0]).expect("the exec keeps the communicator");
    exec.synchronize().expect("it ends");
    drop(exec);
    assert_eq!(streams[1].clone_dtoh(&b).expect("ok"), [2; 8]);
    silent();
}

/// Two communicators are used alternately, in program order on each device.
#[cuweave::graph(devices = 2)]
fn interleaved(n: u32, one: &Communicator, two: &Communicator, x: &[&mut [u32; n]], y: &[&mut [u32; n]]) {
    for i in 0..2 {
        #[on(i)]
        {
            all_reduce(&one, &mut x[i], Reduce::Sum, n);
            all_reduce(&two, &mut y[i], Reduce::Sum, n);
            all_reduce(&one, &mut y[i], Reduce::Max, n);
            all_reduce(&two, &mut x[i], Reduce::Max, n);
        }
    }
}

#[test]
#[ignore = "run with the library of the tests, or on real devices"]
fn two_communicators_and_two_execs() {
    let Some((contexts, streams)) = devices(2) else { return };
    let one = Communicator::of_all(&contexts).expect("a communicator");
    let two = Communicator::of_all(&contexts).expect("a communicator");
    let new = |value: u32| [0, 1].map(|at| streams[at].clone_htod(&[value + at as u32; 8]).expect("ok"));
    let (mut x, mut y, mut z) = (new(1), new(10), new(100));
    let graph = interleaved(
        &contexts,
        8,
        &one,
        &two,
        x.iter_mut().collect::<Vec<_>>(),
        y.iter_mut().collect::<Vec<_>>(),
    );
    let graph = graph.expect("it builds");
    assert_eq!(graph.report().depth, 4);
    assert_eq!(graph.collectives().iter().map(|one| one.communicator).collect::<Vec<_>>(), [0, 1, 0, 1]);
    let mut first = graph.instantiate().expect("it instantiates");
    let graph = sums(&contexts, 2, 8, 1, &one, z.iter_mut().collect::<Vec<_>>()).expect("it builds");
    let mut second = graph.instantiate().expect("it instantiates");
    let other = contexts[0].new_stream().expect("a stream");
    for _ in 0..5 {
        first.launch(&streams[0]).expect("it launches");
        second.launch(&other).expect("it launches in another stream");
    }
    first.synchronize().expect("it ends");
    second.synchronize().expect("it ends");
    drop((first, second));
    assert_eq!(streams[0].clone_dtoh(&x[0]).expect("ok"), [3 << 4; 8]);
    assert_eq!(streams[1].clone_dtoh(&y[1]).expect("ok"), [21 << 4; 8]);
    silent();
}
