//! A rank for each thread, as one for each process: each builds a graph of its own.

use std::sync::{Arc, Barrier};
use std::time::Duration;

use cuweave::Error;
use cuweave::nccl::{Communicator, Reduce, UniqueId, all_gather, all_reduce};
use cuweave::prelude::*;

use crate::library::{Control, devices, silent};

#[cuweave::graph]
fn step(n: u32, times: u32, ranks: u32, comm: &Communicator, x: &mut [f32; n], all: &mut [f32; ranks * n]) {
    for _ in 0..times {
        all_reduce(&comm, &mut x, Reduce::Sum, n);
    }
    all_gather(&comm, &x, &mut all, n);
}

/// Runs a function for each rank, on a thread of its own.
fn each_rank<T: Send>(count: usize, run: impl Fn(Communicator, usize) -> T + Sync) -> Option<Vec<T>> {
    let (contexts, _) = devices(count)?;
    let id = UniqueId::new().expect("an id");
    let id = UniqueId::from_bytes(id.to_bytes());
    Some(std::thread::scope(|scope| {
        let ranks: Vec<_> = (0..count)
            .map(|rank| {
                let (ctx, run) = (contexts[rank].clone(), &run);
                scope.spawn(move || {
                    let comm = Communicator::new(&ctx, id, rank as u32, count as u32).expect("it joins");
                    run(comm, rank)
                })
            })
            .collect();
        ranks.into_iter().map(|rank| rank.join().expect("a rank")).collect()
    }))
}

#[test]
#[ignore = "run with the library of the tests"]
fn each_rank_has_a_graph() {
    if Control::open().is_none() {
        return;
    }
    for count in [2, 4] {
        let results = each_rank(count, |comm, rank| {
            let ctx = cuweave::context(rank).expect("a context");
            let stream = ctx.new_stream().expect("a stream");
            let mut x = stream.clone_htod(&[rank as f32 + 1.0; 8]).expect("ok");
            let mut all = stream.alloc_zeros::<f32>(8 * count).expect("ok");
            let graph = step(&ctx, 8, 2, count as u32, Arc::new(comm), &mut x, &mut all).expect("it builds");
            assert_eq!(graph.collectives().len(), 3);
            let digest = graph.collectives().digest();
            let mut exec = graph.instantiate().expect("it instantiates");
            exec.launch(&stream).expect("it launches");
            exec.synchronize().expect("it ends");
            drop(exec);
            (digest, stream.clone_dtoh(&x).expect("ok"), stream.clone_dtoh(&all).expect("ok"))
        });
        let Some(results) = results else { return };
        let sum = (1..=count).sum::<usize>() * count;
        for result in &results {
            assert_eq!(result.0, results[0].0);
            assert_eq!(result.1, [sum as f32; 8]);
            assert_eq!(result.2, vec![sum as f32; 8 * count]);
        }
        silent();
    }
}

#[test]
#[ignore = "run with the library of the tests"]
fn a_rank_that_differs_is_an_error_on_all() {
    let Some(control) = Control::open() else { return };
    let build = |comm: &Communicator, rank: usize, n: u32, times: u32| {
        let ctx = cuweave::context(rank).expect("a context");
        let stream = ctx.new_stream().expect("a stream");
        let mut x = stream.clone_htod(&[1.0f32; 8]).expect("ok");
        let mut all = stream.alloc_zeros::<f32>(16).expect("ok");
        step(&ctx, n, times, 2, comm, &mut x, &mut all)
            .map(|graph| graph.collectives().len())
            .map_err(|error| error.to_string())
    };
    let results = each_rank(2, |comm, rank| {
        let count = build(&comm, rank, if rank == 1 { 4 } else { 8 }, 1);
        let order = build(&comm, rank, 8, if rank == 1 { 3 } else { 2 });
        // More than an exchange holds, and the last one differs.
        let long = build(&comm, rank, 8, if rank == 1 { 101 } else { 100 });
        let right = build(&comm, rank, 8, 1);
        [count, order, long, right]
    });
    let Some(results) = results else { return };
    for [count, order, long, right] in results {
        let [count, order, long] = [count, order, long].map(|result| result.expect_err("it differs"));
        println!("{count}\n{order}\n{long}");
        assert!(count.contains("collective 0 of the communicator is `all_reduce sum of 8 f32` on rank 0, and `all_reduce sum of 4 f32` on rank 1"), "{count}");
        assert!(count.starts_with("`all_reduce` (tests/nccl/ranks.rs:"), "{count}");
        assert!(order.contains("collective 2 of the communicator is `all_gather of 8 f32 each` on rank 0, and `all_reduce sum of 8 f32` on rank 1"), "{order}");
        assert!(
            long.contains("collective 100 of the communicator is `all_gather of 8 f32 each` on rank 0"),
            "{long}"
        );
        assert_eq!(right, Ok(2));
    }
    assert_eq!(control.live(), 0);
    silent();
}

#[test]
#[ignore = "run with the library of the tests"]
fn a_rank_that_does_not_come_is_an_error() {
    let Some(control) = Control::open() else { return };
    control.patience(200);
    let gone = Barrier::new(2);
    let results = each_rank(2, |comm, rank| {
        let ctx = cuweave::context(rank).expect("a context");
        let stream = ctx.new_stream().expect("a stream");
        let mut x = stream.clone_htod(&[1.0f32; 8]).expect("ok");
        let mut all = stream.alloc_zeros::<f32>(16).expect("ok");
        let mut exec = step(&ctx, 8, 1, 2, &comm, &mut x, &mut all)
            .expect("it builds")
            .instantiate()
            .expect("it instantiates");
        if rank == 1 {
            gone.wait();
            return Vec::new();
        }
        comm.set_timeout(Some(Duration::from_secs(5)));
        let launched = exec.launch(&stream).map(drop);
        let ended = exec.synchronize();
        let again = exec.launch(&stream).map(drop);
        drop(exec);
        let built = step(&ctx, 8, 1, 2, &comm, &mut x, &mut all).map(drop);
        gone.wait();
        vec![launched, ended, again, built]
    });
    let Some(results) = results else { return };
    let [launched, ended, again, built] = &results[0][..] else { panic!("four results") };
    println!("{ended:?}\n{again:?}\n{built:?}");
    launched.as_ref().expect("the launch alone does not know");
    for result in [ended, again] {
        let error = result.as_ref().expect_err("the communicator is dead");
        assert!(matches!(error, Error::Communicator { .. }), "{error}");
        assert!(
            error.to_string().starts_with("the communicator of `step` has failed on rank 0: "),
            "{error}"
        );
    }
    let built = built.as_ref().expect_err("the communicator is dead").to_string();
    assert!(built.contains("has failed on rank 0"), "{built}");
    let _ = cuweave_sim::take_reports();
    assert_eq!(control.live(), 0);
}
