//! Collectives among other statements: in parts, loops and arms that scalars decide; next to batched or fused
//! kernels and library calls; with setters; and without elements.

use std::mem::MaybeUninit;

use cudarc::driver::{CudaSlice, DriverError};
use cuweave::__private::change_next_rules;
use cuweave::nccl::{Communicator, Reduce, all_gather, all_reduce};
use cuweave::prelude::*;
use cuweave::{CallStream, Error};

use crate::library::{devices, silent};

#[cuweave::kernels("tests/kernels/decide.ptx")]
unsafe extern "ptx-kernel" {
    fn mix(x: &mut [u32; n], by: u32, n: u32);
}

fn mixed(x: u32, by: u32) -> u32 {
    x.wrapping_mul(31).wrapping_add(by)
}

/// Two chains of kernels on one device, which may be batched or fused.
#[cuweave::graph]
fn work(n: u32, by: u32, x: &mut [u32; n], y: &mut [u32; n]) {
    mix[per_item(n)](&mut x, by, n);
    mix[per_item(n)](&mut y, by + 1, n);
    mix[per_item(n)](&mut x, by + 2, n);
    mix[per_item(n)](&mut y, by + 3, n);
}

/// A step of one rank: work, one or two collectives, work.
#[cuweave::graph]
fn exchange(n: u32, twice: u32, comm: &Communicator, x: &mut [u32; n], y: &mut [u32; n]) {
    work(n, 1, &mut x, &mut y);
    all_reduce(&comm, &mut x, Reduce::Sum, n);
    if twice > 0 {
        mix[per_item(n)](&mut y, 9, n);
        all_reduce(&comm, &mut y, Reduce::Max, n);
    }
    work(n, 5, &mut x, &mut y);
}

/// Each rank's step is written completely before that of the next rank, whose collectives it waits for.
#[cuweave::graph(devices = 2)]
fn steps(n: u32, times: u32, by: u32, comm: &Communicator, x: &[&mut [u32; n]], y: &[&mut [u32; n]]) {
    for t in 0..times {
        for i in 0..2 {
            #[on(i)]
            exchange(n, t % 2, &comm, &mut x[i], &mut y[i]);
        }
        for i in 0..2 {
            #[on(i)]
            mix[per_item(n)](&mut x[i], by + i, n);
        }
    }
}

/// The same on the host for one element: its values in x and y of both ranks.
fn model([mut x, mut y]: [[u32; 2]; 2], times: u32, by: u32) -> [[u32; 2]; 2] {
    let work = |x: &mut [u32; 2], y: &mut [u32; 2], by: u32| {
        *x = x.map(|x| mixed(mixed(x, by), by + 2));
        *y = y.map(|y| mixed(mixed(y, by + 1), by + 3));
    };
    for t in 0..times {
        work(&mut x, &mut y, 1);
        x = [x[0].wrapping_add(x[1]); 2];
        if t % 2 > 0 {
            y = y.map(|y| mixed(y, 9));
            y = [y[0].max(y[1]); 2];
        }
        work(&mut x, &mut y, 5);
        x = [mixed(x[0], by), mixed(x[1], by + 1)];
    }
    [x, y]
}

#[test]
#[ignore = "run with the library of the tests, or on real devices"]
fn parts_loops_and_arms() {
    let Some((contexts, streams)) = devices(2) else { return };
    let comm = Communicator::of_all(&contexts).expect("a communicator");
    let (n, times) = (600, 5);
    let first = |row: u32| (0..n).map(|at| at * 7 + row).collect::<Vec<u32>>();
    for fused in [true, false] {
        let on = |row: u32| [0, 1].map(|at| streams[at].clone_htod(&first(row + at as u32)).expect("ok"));
        let (mut x, mut y) = (on(0), on(10));
        if !fused {
            change_next_rules(|_, _, rules| rules.allowed.fuse = false);
        }
        let lists = (x.iter_mut().collect::<Vec<_>>(), y.iter_mut().collect::<Vec<_>>());
        let graph = steps(&contexts, n, times, 3, &comm, lists.0, lists.1).expect("it builds");
        assert_eq!(graph.collectives().len(), times as usize + times as usize / 2);
        assert_eq!(graph.report().fused.is_empty(), !fused, "{}", graph.report());
        let mut exec = graph.instantiate().expect("it instantiates");
        let refused = exec.verify(&streams[0]).expect_err("collectives are not verified");
        assert!(refused.to_string().contains("is a collective"), "{refused}");
        let other = contexts[0].new_stream().expect("a stream");
        let mut state: Vec<[[u32; 2]; 2]> =
            (0..n).map(|at| [0, 10].map(|row| [at * 7 + row, at * 7 + row + 1])).collect();
        for (launch, by) in [3, 3, 8, 8, 8, 4].into_iter().enumerate() {
            if by != 3 {
                exec.set_by(by).expect("it is set");
            }
            exec.launch(if launch % 2 == 0 { &streams[0] } else { &other }).expect("it launches");
            state.iter_mut().for_each(|element| *element = model(*element, times, by));
        }
        exec.synchronize().expect("it ends");
        drop(exec);
        let read = |row: usize, rank: usize| state.iter().map(|at| at[row][rank]).collect::<Vec<u32>>();
        for rank in 0..2 {
            assert_eq!(streams[rank].clone_dtoh(&x[rank]).expect("ok"), read(0, rank), "x {rank} {fused}");
            assert_eq!(streams[rank].clone_dtoh(&y[rank]).expect("ok"), read(1, rank), "y {rank} {fused}");
        }
        silent();
    }
}

/// Clears x.
#[cuweave::call]
unsafe fn cleared(stream: &CallStream, x: &mut [MaybeUninit<u32>; n], n: u32) -> Result<(), DriverError> {
    stream.memset_zeros(x)
}

/// Collectives of the first `m` elements (possibly none) between library calls. A temporary connects the two.
macro_rules! calls {
    ($($name:ident $test:ident: $memory:literal;)*) => {$(
        #[cuweave::graph(devices = 2, memory = $memory)]
        fn $name(n: u32, m: u32, comm: &Communicator, x: &[&mut [u32; n]], all: &[&mut [u32; 2 * n]]) {
            for i in 0..2 {
                #[on(i)]
                {
                    let t = alloc::<u32>(n);
                    cleared(&mut t, n);
                    mix[per_item(n)](&mut t, i + 1, n);
                    all_reduce(&comm, &mut t[0..m], Reduce::Sum, m);
                    all_gather(&comm, &t, &mut all[i], n);
                    cleared(&mut x[i][0..m], m);
                    all_reduce(&comm, &mut x[i], Reduce::Prod, n);
                }
            }
        }

        #[test]
        #[ignore = "run with the library of the tests, or on real devices"]
        fn $test() {
            let Some((contexts, streams)) = devices(2) else { return };
            let comm = Communicator::of_all(&contexts).expect("a communicator");
            for m in [0, 3, 8] {
                let new = |len: usize| {
                    [0, 1].map(|at| streams[at].clone_htod(&vec![7 + at as u32; len]).expect("ok"))
                };
                let (mut x, mut all) = (new(8), new(16));
                let lists = (x.iter_mut().collect::<Vec<_>>(), all.iter_mut().collect::<Vec<_>>());
                let graph = $name(&contexts, 8, m, &comm, lists.0, lists.1).expect("it builds");
                let mut exec = graph.instantiate().expect("it instantiates");
                for _ in 0..2 {
                    exec.launch(&streams[0]).expect("it launches");
                }
                exec.synchronize().expect("it ends");
                drop(exec);
                let gathered: Vec<u32> = (0..16).map(|at| if at % 8 < m { 3 } else { 1 + at / 8 }).collect();
                let product = |at: u32| if at < m { 0 } else { 56u32.pow(2) };
                for rank in 0..2 {
                    assert_eq!(streams[rank].clone_dtoh(&all[rank]).expect("ok"), gathered, "{m}");
                    let x = streams[rank].clone_dtoh(&x[rank]).expect("ok");
                    assert_eq!(x, (0..8).map(product).collect::<Vec<u32>>(), "{m}");
                }
                silent();
            }
        }
    )*};
}
calls! {
    in_nodes library_calls_and_no_elements_in_nodes: "nodes";
    in_arena library_calls_and_no_elements_in_arena: "arena";
    in_owned library_calls_and_no_elements_in_owned: "owned";
}

/// The second kernel of each device does not need the result of the collective before it.
#[cuweave::graph(devices = 2)]
fn beside(
    n: u32,
    comm: &Communicator,
    a: &mut [u32; n],
    b: &mut [u32; n],
    c: &mut [u32; n],
    d: &mut [u32; n],
) {
    all_reduce(&comm, &mut a, Reduce::Sum, n);
    mix[per_item(n)](&mut c, 1, n);
    #[on(1)]
    {
        all_reduce(&comm, &mut b, Reduce::Sum, n);
        mix[per_item(n)](&mut d, 1, n);
    }
}

#[test]
#[ignore = "run with the library of the tests, or on real devices"]
fn captured_arguments_stay() {
    let Some((contexts, streams)) = devices(2) else { return };
    let comm = Communicator::of_all(&contexts).expect("a communicator");
    let on = |at: usize| -> CudaSlice<u32> { streams[at].clone_htod(&[1u32; 8]).expect("ok") };
    let [mut a, mut b, mut c, mut d] = [on(0), on(1), on(0), on(1)];
    let (mut other, mut given) = (on(0), on(0));
    let graph = beside(&contexts, 8, &comm, &mut a, &mut b, &mut c, &mut d).expect("it builds");
    assert_eq!(graph.report().depth, 1);
    let mut exec = graph.instantiate().expect("it instantiates");
    let error = exec.set_a(&mut given).map(drop).expect_err("it is captured");
    println!("{error}");
    assert!(matches!(error, Error::BuildAgain { .. }), "{error}");
    exec.set_c(&mut other).expect("it is set");
    exec.launch(&streams[0]).expect("it launches");
    exec.synchronize().expect("it ends");
    drop(exec);
    assert_eq!(streams[0].clone_dtoh(&a).expect("ok"), [2; 8]);
    assert_eq!(streams[0].clone_dtoh(&c).expect("ok"), [1; 8]);
    assert_eq!(streams[0].clone_dtoh(&other).expect("ok"), [32; 8]);
    assert_eq!(streams[1].clone_dtoh(&d).expect("ok"), [32; 8]);
    silent();
}
