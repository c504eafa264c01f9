//! Missing ranks, for which NCCL waits forever. Whoever waits for such a launch gets an error when the time limit
//! is over.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use cuweave::managed::Attach;
use cuweave::nccl::{Communicator, Reduce, UniqueId, all_reduce};
use cuweave::prelude::*;
use cuweave::{Buffer, Error, Managed};

use crate::library::{Control, devices, silent};
use crate::ranks::each_rank;

/// The time limit of the communicators.
const LIMIT: Duration = Duration::from_millis(400);

#[cuweave::graph]
fn summed(n: u32, times: u32, comm: &Communicator, x: &mut [f32; n]) {
    for _ in 0..times {
        all_reduce(&comm, &mut x, Reduce::Sum, n);
    }
}

#[cuweave::graph]
fn filled(n: u32, x: &mut [f32; n]) {
    fill(&mut x, 3.0);
}

/// Opens the library, and lets its ranks wait until the abort as NCCL's ranks do.
fn waiting() -> Option<Control> {
    let control = Control::open()?;
    control.patience(50);
    control.hang(true);
    devices(4).map(|_| control)
}

/// Checks that a wait has ended by the limit, with the error of the communicator with the missing rank.
fn ended<T>(began: Instant, result: cuweave::Result<T>, reason: &str) {
    let took = began.elapsed();
    assert!(took > LIMIT && took < LIMIT + Duration::from_secs(3), "{took:?}");
    let error = result.map(drop).expect_err("a rank is gone");
    assert!(matches!(error, Error::Communicator { .. }), "{error}");
    let start = format!("the communicator of `summed` {reason}");
    assert!(error.to_string().starts_with(&start), "{error}");
}

const ABORTED: &str = "was aborted: a launch has taken longer than 400ms";

/// The work that waits for the launch or comes after it.
#[derive(Clone, Copy, Debug)]
enum Behind {
    ToHost,
    Host,
    HostMut,
    /// A build with another, unaffected communicator.
    Build,
    /// A launch with another, unaffected communicator.
    Launch,
    /// A launch without collectives.
    Plain,
}

#[test]
#[ignore = "run with the library of the tests"]
fn whoever_waits_behind_a_launch_ends() {
    let Some(control) = waiting() else { return };
    let all = [Behind::ToHost, Behind::Host, Behind::HostMut, Behind::Build, Behind::Launch, Behind::Plain];
    for behind in all {
        println!("{behind:?}");
        let gone = Barrier::new(2);
        each_rank(2, |comm, rank| {
            let ctx = cuweave::context(rank).expect("a context");
            let stream = ctx.new_stream().expect("a stream");
            comm.set_timeout(Some(LIMIT));
            let x = Buffer::from_host(&stream, &[1.0f32; 8]).expect("a buffer");
            let mut m = Managed::from_host(&stream, &[1.0f32; 8], Attach::Global).expect("managed memory");
            let graph = match behind {
                Behind::Host | Behind::HostMut => summed(&ctx, 8, 1, &comm, m.clone()),
                _ => summed(&ctx, 8, 1, &comm, x.clone()),
            };
            let mut exec = graph.expect("it builds").instantiate().expect("it instantiates");
            if rank == 1 {
                gone.wait();
                return;
            }
            let other = Communicator::of_all(std::slice::from_ref(&ctx)).expect("a communicator");
            other.set_timeout(Some(LIMIT / 2));
            let mut y = stream.clone_htod(&[1.0f32; 8]).expect("ok");
            let mut second = match behind {
                Behind::Launch => Some(
                    summed(&ctx, 8, 1, &other, &mut y)
                        .expect("it builds")
                        .instantiate()
                        .expect("it is ready"),
                ),
                _ => None,
            };
            exec.launch(&stream).expect("the launch alone does not know");
            let began = Instant::now();
            match behind {
                Behind::ToHost => ended(began, x.to_host(&stream), ABORTED),
                Behind::Host => ended(began, m.host().map(drop), ABORTED),
                Behind::HostMut => ended(began, m.host_mut().map(drop), ABORTED),
                Behind::Build => {
                    let mut y = stream.clone_htod(&[1.0f32; 8]).expect("ok");
                    summed(&ctx, 8, 1, &other, &mut y).map(drop).expect("its communicator is well");
                }
                Behind::Launch => {
                    let second = second.as_mut().expect("an exec");
                    second.launch(&stream).map(drop).expect("it launches");
                    second.synchronize().expect("its communicator is well");
                }
                Behind::Plain => {
                    let mut z = stream.clone_htod(&[1.0f32; 8]).expect("ok");
                    let graph = filled(&ctx, 8, &mut z).expect("it builds");
                    let mut plain = graph.instantiate().expect("it instantiates");
                    plain.launch(&stream).map(drop).expect("it launches");
                    plain.synchronize().expect("it has no communicator");
                }
            }
            ended(began, exec.synchronize(), ABORTED);
            drop((exec, second));
            gone.wait();
        });
        assert_eq!(control.live(), 0, "{behind:?}");
        silent();
    }
}

#[test]
#[ignore = "run with the library of the tests"]
fn a_rank_that_does_not_build_is_an_error_of_the_others() {
    let Some(control) = waiting() else { return };
    let gone = Barrier::new(4);
    each_rank(4, |comm, rank| {
        let ctx = cuweave::context(rank).expect("a context");
        let stream = ctx.new_stream().expect("a stream");
        let mut x = stream.clone_htod(&[1.0f32; 8]).expect("ok");
        comm.set_timeout(Some(LIMIT));
        let build = |times: u32, x: &mut _| summed(&ctx, 8, times, &comm, x).map(drop);
        // One rank has fewer collectives than the others.
        let error = build(if rank == 2 { 1 } else { 3 }, &mut x).expect_err("it differs").to_string();
        let said =
            "collective 1 of the communicator is `all_reduce sum of 8 f32` on rank 0, and rank 2 has no more";
        assert!(error.ends_with(said), "{error}");
        if rank != 2 {
            let began = Instant::now();
            ended(began, build(1, &mut x), "cannot compare its ranks: a rank has not answered within 400ms");
            // The error persists, without another wait.
            let began = Instant::now();
            let error = build(1, &mut x).expect_err("the communicator is aborted");
            assert!(
                error.to_string().contains("was aborted: a rank has not answered within 400ms"),
                "{error}"
            );
            assert!(began.elapsed() < LIMIT);
        }
        gone.wait();
    });
    assert_eq!(control.live(), 0);
    silent();
}

/// A rank launches once more than the other. The results of the first launch are right, and the second launch ends.
#[test]
#[ignore = "run with the library of the tests"]
fn a_rank_that_launches_once_more() {
    let Some(control) = waiting() else { return };
    let id = UniqueId::new().expect("an id");
    let gone = Barrier::new(2);
    each_rank(2, |comm, rank| {
        let ctx = cuweave::context(rank).expect("a context");
        // Both ranks have a second communicator, which they keep.
        let other = Communicator::new(&ctx, id, rank as u32, 2).expect("it joins");
        let stream = ctx.new_stream().expect("a stream");
        comm.set_timeout(Some(LIMIT));
        let mut x = stream.clone_htod(&[1.0f32; 8]).expect("ok");
        let graph = summed(&ctx, 8, 1, &comm, &mut x).expect("it builds");
        let mut exec = graph.instantiate().expect("it instantiates");
        exec.launch(&stream).expect("it launches");
        exec.synchronize().expect("all ranks have launched");
        if rank == 0 {
            let began = Instant::now();
            exec.launch(&stream).expect("the launch alone does not know");
            ended(began, exec.synchronize(), ABORTED);
        }
        drop(exec);
        drop(comm);
        assert_eq!(stream.clone_dtoh(&x).expect("ok"), [2.0; 8]);
        // The other communicator still works.
        gone.wait();
        let mut exec = summed(&ctx, 8, 1, &other, &mut x).expect("it builds").instantiate().expect("ok");
        exec.launch(&stream).expect("it launches");
        exec.synchronize().expect("it ends");
        drop(exec);
        assert_eq!(stream.clone_dtoh(&x).expect("ok"), [4.0; 8]);
    });
    assert_eq!(control.live(), 0);
    silent();
}
