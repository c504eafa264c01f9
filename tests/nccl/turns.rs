//! Several communicators in the graphs of ranks, which must run them in the same order. Also the number of ranks in
//! expressions, and roots.

use std::time::{Duration, Instant};

use cuweave::nccl::{
    Communicator, Reduce, UniqueId, all_gather, all_reduce, broadcast, reduce, reduce_scatter,
};
use cuweave::prelude::*;

use crate::library::{Control, devices, silent};
use crate::ranks::each_rank;

/// Collectives of two communicators, in an order that depends on the rank.
#[cuweave::graph]
fn both(n: u32, order: u32, one: &Communicator, two: &Communicator, x: &mut [f32; n], y: &mut [f32; n]) {
    if order == 1 {
        all_reduce(&two, &mut y, Reduce::Sum, n);
    }
    all_reduce(&one, &mut x, Reduce::Sum, n);
    if order == 2 {
        all_reduce(&two, &mut y, Reduce::Sum, n);
    }
    all_reduce(&one, &mut x, Reduce::Max, n);
    if order == 3 {
        all_reduce(&two, &mut y, Reduce::Sum, n);
    }
}

#[test]
#[ignore = "run with the library of the tests, or on real devices"]
fn ranks_with_other_turns_are_an_error_on_all() {
    let control = Control::of_simulated();
    if devices(2).is_none() {
        return;
    }
    let id = UniqueId::new().expect("an id");
    for (first, second) in [(1, 1), (2, 2), (1, 2), (2, 1), (2, 3), (1, 3)] {
        let began = Instant::now();
        let results = each_rank(2, |one, rank| {
            let ctx = cuweave::context(rank).expect("a context");
            let two = Communicator::new(&ctx, id, rank as u32, 2).expect("it joins");
            let stream = ctx.new_stream().expect("a stream");
            let new = |value: f32| stream.clone_htod(&[value; 8]).expect("ok");
            let (mut x, mut y) = (new(rank as f32), new(10.0 * rank as f32));
            let order = if rank == 0 { first } else { second };
            let mut exec = both(&ctx, 8, order, &one, &two, &mut x, &mut y)?.instantiate()?;
            exec.launch(&stream)?;
            exec.synchronize()?;
            drop(exec);
            Ok((stream.clone_dtoh(&x)?[0], stream.clone_dtoh(&y)?[0]))
        });
        let results: Vec<cuweave::Result<(f32, f32)>> = results.expect("there are devices");
        for result in results {
            match result {
                Ok(found) => assert_eq!((found, first), ((1.0, 10.0), second)),
                Err(error) => {
                    let error = error.to_string();
                    assert_ne!(first, second, "{error}");
                    assert!(error.contains("the ranks differ") && error.contains("comes behind"), "{error}");
                    assert!(error.contains("of another communicator on rank 0, and behind"), "{error}");
                }
            }
        }
        // Nothing has waited for the time limit.
        assert!(began.elapsed() < Duration::from_secs(10));
        silent();
    }
    assert!(control.is_none_or(|control| control.live() == 0));
}

#[cuweave::graph]
fn each(n: u32, one: &Communicator, two: &Communicator, x: &mut [f32; n], y: &mut [f32; n]) {
    all_reduce(&one, &mut x, Reduce::Sum, n);
    all_reduce(&two, &mut y, Reduce::Sum, n);
}

/// Each rank has two communicators, each shared with one other rank. No communicator is shared by all.
#[test]
#[ignore = "run with the library of the tests, or on real devices"]
fn communicators_of_some_ranks() {
    let _control = Control::of_simulated();
    if devices(3).is_none() {
        return;
    }
    let ids = [0, 1, 2].map(|_| UniqueId::new().expect("an id"));
    let sums = std::thread::scope(|scope| {
        let ranks = [0, 1, 2].map(|rank: usize| {
            scope.spawn(move || {
                let ctx = cuweave::context(rank).expect("a context");
                let stream = ctx.new_stream().expect("a stream");
                // Communicator i belongs to the ranks i and i + 1.
                let mut pairs = [(rank, 0), ((rank + 2) % 3, 1)];
                pairs.sort_unstable();
                let [one, two] =
                    pairs.map(|(pair, own)| Communicator::new(&ctx, ids[pair], own, 2).expect("it joins"));
                let new = || stream.clone_htod(&[rank as f32; 8]).expect("ok");
                let (mut x, mut y) = (new(), new());
                let graph = each(&ctx, 8, &one, &two, &mut x, &mut y).expect("it builds");
                let mut exec = graph.instantiate().expect("it instantiates");
                exec.launch(&stream).expect("it launches");
                exec.synchronize().expect("it ends");
                drop(exec);
                [x, y].map(|sum| stream.clone_dtoh(&sum).expect("ok")[0])
            })
        });
        ranks.map(|rank| rank.join().expect("a rank"))
    });
    // The pairs are (0, 1), (1, 2) and (2, 0). Each rank uses the one with the lower number first.
    assert_eq!(sums, [[1.0, 2.0], [1.0, 3.0], [3.0, 2.0]]);
    silent();
}

/// Each rank computes the sum of its part, and then all parts are gathered by all ranks.
#[cuweave::graph]
fn sharded(n: u32, comm: &Communicator, x: &mut [f32; n], own: &mut [f32; n / comm.ranks()]) {
    let part = n / comm.ranks();
    reduce_scatter(&comm, &x, &mut own, Reduce::Sum, part);
    let all = alloc::<f32>(part * comm.ranks());
    all_gather(&comm, &own, &mut all, part);
    copy(&all, &mut x[..part * comm.ranks()]);
    if comm.rank() == 0 {
        fill(&mut own, 0.0);
    }
}

#[cuweave::graph(devices = comm.ranks())]
fn on_all(n: u32, comm: &Communicator, parts: &[&mut [f32; n]]) {
    for i in 0..comm.ranks() {
        #[on(i)]
        all_reduce(&comm, &mut parts[i], Reduce::Sum, n);
    }
}

#[test]
#[ignore = "run with the library of the tests, or on real devices"]
fn expressions_know_the_number_of_ranks() {
    let _control = Control::of_simulated();
    let results = each_rank(2, |comm, rank| {
        let ctx = cuweave::context(rank).expect("a context");
        let stream = ctx.new_stream().expect("a stream");
        let mut x = stream.clone_htod(&[1.0f32, 2.0, 3.0, 4.0]).expect("ok");
        let mut own = stream.alloc_zeros::<f32>(2).expect("ok");
        let graph = sharded(&ctx, 4, &comm, &mut x, &mut own).expect("it builds");
        let mut exec = graph.instantiate().expect("it instantiates");
        exec.launch(&stream).expect("it launches");
        exec.synchronize().expect("it ends");
        drop(exec);
        (stream.clone_dtoh(&x).expect("ok"), stream.clone_dtoh(&own).expect("ok"))
    });
    let Some(results) = results else { return };
    let all = vec![2.0, 4.0, 6.0, 8.0];
    assert_eq!(results, [(all.clone(), vec![0.0, 0.0]), (all, vec![6.0, 8.0])]);
    let Some((contexts, streams)) = devices(2) else { return };
    let comm = Communicator::of_all(&contexts).expect("a communicator");
    let mut parts = [0, 1].map(|at| streams[at].clone_htod(&[at as f32 + 1.0; 4]).expect("ok"));
    let graph = on_all(&contexts, 4, &comm, parts.iter_mut().collect::<Vec<_>>()).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&streams[0]).expect("it launches");
    exec.synchronize().expect("it ends");
    drop(exec);
    assert_eq!(streams[1].clone_dtoh(&parts[1]).expect("ok"), [3.0; 4]);
    silent();
}

#[cuweave::graph]
fn rooted(n: u32, root: u32, comm: &Communicator, x: &mut [f32; n]) {
    broadcast(&comm, &mut x, root, n);
    reduce(&comm, &mut x, Reduce::Sum, root, n);
}

/// An invalid root is an error of all ranks, even if only one rank passes it.
#[test]
#[ignore = "run with the library of the tests, or on real devices"]
fn roots_that_are_no_ranks() {
    let _control = Control::of_simulated();
    for roots in [[0, 7], [7, 7]] {
        let began = Instant::now();
        let results = each_rank(2, |comm, rank| {
            let ctx = cuweave::context(rank).expect("a context");
            let stream = ctx.new_stream().expect("a stream");
            let mut x = stream.clone_htod(&[1.0f32; 8]).expect("ok");
            rooted(&ctx, 8, roots[rank], &comm, &mut x).map(drop).map_err(|error| error.to_string())
        });
        let Some(results) = results else { return };
        for result in results {
            let error = result.expect_err("no root");
            match roots {
                [7, 7] => assert!(error.ends_with("rank 7 is out of range for 2 ranks"), "{error}"),
                _ => assert!(
                    error.contains("from rank 0` on rank 0, and `broadcast of 8 f32 from rank 7`"),
                    "{error}"
                ),
            }
        }
        assert!(began.elapsed() < Duration::from_secs(10));
        silent();
    }
}
