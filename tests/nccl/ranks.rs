//! One rank per thread, in the same way as one per process: each builds its own graph.

use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use cuweave::nccl::{Communicator, Reduce, UniqueId, all_gather, all_reduce};
use cuweave::prelude::*;
use cuweave::{ArenaPool, Error};

use crate::library::{Control, devices, silent};

#[cuweave::graph]
fn step(n: u32, times: u32, ranks: u32, comm: &Communicator, x: &mut [f32; n], all: &mut [f32; ranks * n]) {
    for _ in 0..times {
        all_reduce(&comm, &mut x, Reduce::Sum, n);
    }
    all_gather(&comm, &x, &mut all, n);
}

/// Runs a function for each rank, each on its own thread.
pub fn each_rank<T: Send>(count: usize, run: impl Fn(Communicator, usize) -> T + Sync) -> Option<Vec<T>> {
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
#[ignore = "run with the library of the tests, or on real devices"]
fn each_rank_has_a_graph() {
    let _control = Control::of_simulated();
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
#[ignore = "run with the library of the tests, or on real devices"]
fn all_ranks_profile_together() {
    let control = Control::of_simulated();
    control.iter().for_each(|control| control.patience(2000));
    let results = each_rank(2, |comm, rank| {
        let ctx = cuweave::context(rank).expect("a context");
        let stream = ctx.new_stream().expect("a stream");
        let mut x = stream.clone_htod(&[rank as f32 + 1.0; 8]).expect("ok");
        let mut all = stream.alloc_zeros::<f32>(16).expect("ok");
        let graph = step(&ctx, 8, 1, 2, &comm, &mut x, &mut all).expect("it builds");
        let mut exec = graph.instantiate().expect("it instantiates");
        let profile = exec.profile(&stream, 2).expect("a profile").to_string();
        exec.launch(&stream).expect("it launches");
        exec.synchronize().expect("it ends");
        drop(exec);
        (profile, stream.clone_dtoh(&all).expect("ok"))
    });
    let Some(results) = results else { return };
    println!("{}", results[0].0);
    // All launches of a profile count, and so does the launch after it.
    assert_eq!(results[0].1, results[1].1);
    assert!(results.iter().all(|(profile, _)| profile.contains("all_gather")), "{}", results[0].0);
    silent();
}

/// Adds a temporary, so that a pool holds memory.
#[cuweave::graph]
fn pooled(n: u32, comm: &Communicator, x: &mut [f32; n]) {
    let t = alloc::<f32>(n);
    copy(&x, &mut t);
    all_reduce(&comm, &mut t, Reduce::Sum, n);
    copy(&t, &mut x);
}

/// If one rank adds its nodes again, the other does not wait for a second agreement.
#[test]
#[ignore = "run with the library of the tests, or on real devices"]
fn a_rank_adds_its_nodes_again_alone() {
    let control = Control::of_simulated();
    control.iter().for_each(|control| control.patience(2000));
    let results = each_rank(2, |comm, rank| {
        let ctx = cuweave::context(rank).expect("a context");
        let stream = ctx.new_stream().expect("a stream");
        let mut x = stream.clone_htod(&[rank as f32 + 1.0; 8]).expect("ok");
        let graph = pooled(&ctx, 8, &comm, &mut x).expect("it builds");
        let pool = ArenaPool::new(&stream).expect("a pool");
        let exec = if rank == 0 { graph.instantiate() } else { graph.instantiate_in(&pool) };
        let mut exec = exec.expect("it instantiates");
        exec.launch(&stream).expect("it launches");
        exec.synchronize().expect("it ends");
        drop(exec);
        stream.clone_dtoh(&x).expect("ok")
    });
    let Some(results) = results else { return };
    assert_eq!(results, [[3.0; 8], [3.0; 8]]);
    silent();
}

#[test]
#[ignore = "run with the library of the tests, or on real devices"]
fn a_rank_that_differs_is_an_error_on_all() {
    let control = Control::of_simulated();
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
        // More than fits into one exchange; only the last one differs.
        let long = build(&comm, rank, 8, if rank == 1 { 101 } else { 100 });
        let right = build(&comm, rank, 8, 1);
        [count, order, long, right]
    });
    let Some(results) = results else { return };
    for [count, order, long, right] in results {
        let [count, order, long] = [count, order, long].map(|result| result.expect_err("it differs"));
        println!("{count}\n{order}\n{long}");
        assert!(
            count.contains(
                "collective 0 of the communicator is `all_reduce sum of 8 f32` on rank 0, and \
            `all_reduce sum of 4 f32` on rank 1"
            ),
            "{count}"
        );
        assert!(count.starts_with("`all_reduce` (tests/nccl/ranks.rs:"), "{count}");
        assert!(
            order.contains(
                "collective 2 of the communicator is `all_gather of 8 f32 each` on rank 0, and \
            `all_reduce sum of 8 f32` on rank 1"
            ),
            "{order}"
        );
        assert!(
            long.contains("collective 100 of the communicator is `all_gather of 8 f32 each` on rank 0"),
            "{long}"
        );
        assert_eq!(right, Ok(2));
    }
    assert!(control.is_none_or(|control| control.live() == 0));
    silent();
}

/// Checks the error of a communicator with a missing rank. The stand-in detects it, whereas NCCL waits forever.
fn not_come(simulated: bool, error: &Error) {
    println!("{error}");
    assert!(matches!(error, Error::Communicator { .. }), "{error}");
    let reason =
        if simulated { "has failed on rank 0: " } else { "was aborted: a launch has taken longer than 1s" };
    assert!(error.to_string().starts_with(&format!("the communicator of `step` {reason}")), "{error}");
}

#[test]
#[ignore = "run with the library of the tests, or on real devices"]
fn a_rank_that_does_not_come_is_an_error() {
    let control = Control::of_simulated();
    control.iter().for_each(|control| control.patience(200));
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
        comm.set_timeout(Some(Duration::from_secs(1)));
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
    launched.as_ref().expect("the launch alone does not know");
    for result in [ended, again, built] {
        not_come(control.is_some(), result.as_ref().expect_err("the communicator is dead"));
    }
    if let Some(control) = control {
        let _ = cuweave_sim::take_reports();
        assert_eq!(control.live(), 0);
    }
}

/// The way in which the waiting rank ends its wait.
#[derive(Clone, Copy, Debug)]
enum End {
    Dropped,
    Aborted,
}

#[test]
#[ignore = "run with the library of the tests, or on real devices"]
fn a_launch_that_waits_for_a_rank_ends() {
    let control = Control::of_simulated();
    for end in [End::Dropped, End::Aborted] {
        // An abort ends the wait long before the limit.
        let patience = if matches!(end, End::Dropped) { 200 } else { 10_000 };
        control.iter().for_each(|control| control.patience(patience));
        let gone = Barrier::new(2);
        let results = each_rank(2, |comm, rank| {
            let ctx = cuweave::context(rank).expect("a context");
            let stream = ctx.new_stream().expect("a stream");
            let mut x = stream.clone_htod(&[1.0f32; 8]).expect("ok");
            let mut all = stream.alloc_zeros::<f32>(16).expect("ok");
            let graph = step(&ctx, 8, 2, 2, &comm, &mut x, &mut all).expect("it builds");
            let mut exec = graph.instantiate().expect("it instantiates");
            let began = Instant::now();
            if rank == 1 {
                gone.wait();
                return (began.elapsed(), None);
            }
            let mut error = None;
            match end {
                End::Dropped => {
                    comm.set_timeout(Some(Duration::from_secs(1)));
                    exec.launch(&stream).expect("it launches");
                    drop(exec);
                }
                End::Aborted => {
                    let other = comm.clone();
                    let aborts = std::thread::spawn(move || {
                        std::thread::sleep(Duration::from_millis(300));
                        other.abort();
                    });
                    error = Some(exec.launch(&stream).map(drop).and_then(|()| exec.synchronize()));
                    aborts.join().expect("it aborts");
                    drop(exec);
                }
            }
            let took = began.elapsed();
            stream.synchronize().expect("nothing is left behind");
            gone.wait();
            (took, error)
        });
        let Some(results) = results else { return };
        let (took, error) = &results[0];
        println!("{end:?}: {took:?}");
        assert!(*took < Duration::from_secs(5), "{took:?}");
        if let Some(error) = error {
            let error = error.as_ref().expect_err("it is aborted").to_string();
            assert_eq!(error, "the communicator of `step` was aborted");
        }
        if let Some(control) = &control {
            let _ = cuweave_sim::take_reports();
            assert_eq!(control.live(), 0);
        }
    }
}
