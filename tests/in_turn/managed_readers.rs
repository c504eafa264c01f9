//! Views of `Managed` memory for the host: several at once, and beside launches and copies that only read.

use std::sync::Arc;
use std::sync::Barrier;

use cudarc::driver::CudaStream;
use cuweave::managed::{Attach, Location, ManagedFault};
use cuweave::prelude::*;
use cuweave::{Buffer, Error, Managed};

use cuweave_testkit::device::{Device, alone as device, simulated_alone};
use cuweave_testkit::process::apart;

#[cuweave::kernels("examples/kernels/memory.ptx")]
unsafe extern "ptx-kernel" {
    fn shift(x: &mut [i32; n], by: i32, n: u32);
}

/// x += by
#[cuweave::graph]
fn add(n: u32, by: i32, x: &mut [i32; n]) {
    shift[per_item(n)](&mut x, by, n);
}

/// out = x + 1
#[cuweave::graph]
fn step(n: u32, x: &[i32; n], out: &mut [i32; n]) {
    copy(&x, &mut out);
    shift[per_item(n)](&mut out, 1, n);
}

/// As `step`, and the pages of `x` are moved before it runs.
#[cuweave::graph]
fn step_there(
    n: u32,
    #[advise(read_mostly)]
    #[prefetch(device)]
    x: &[i32; n],
    out: &mut [i32; n],
) {
    copy(&x, &mut out);
    shift[per_item(n)](&mut out, 1, n);
}

const N: u32 = 8;

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn stream(device: &Device) -> Arc<CudaStream> {
    device.ctx.new_stream().expect("a stream")
}

fn managed(device: &Device, value: i32) -> Managed<i32> {
    Managed::from_host(&device.stream, &[value; N as usize], Attach::Global).expect("managed memory")
}

fn fault(result: Result<impl std::fmt::Debug, Error>) -> ManagedFault {
    match result.expect_err("refused") {
        Error::Managed(fault) | Error::ManagedArgument { fault, .. } => fault,
        error => panic!("another error: {error}"),
    }
}

#[test]
fn several_threads_read_at_once() -> Outcome {
    let device = device();
    let x = managed(&device, 3);
    let mut exec = add(&device.ctx, N, 1, &x)?.instantiate()?;
    exec.launch(&device.stream)?;
    let all = Barrier::new(4);
    let sums: Vec<i32> = std::thread::scope(|scope| {
        let read = || {
            let clone = x.clone();
            let view = clone.host().expect("a view");
            // All views exist at this point.
            all.wait();
            view.iter().sum()
        };
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(read)).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    assert_eq!(sums, [32; 4]);
    // All views have ended, so the memory can be written again.
    exec.launch(&device.stream)?;
    assert_eq!(*x.host()?, [5; 8]);
    Ok(())
}

#[test]
fn launches_and_copies_that_read_run_beside_views() -> Outcome {
    let device = device();
    let [a, b] = [stream(&device), stream(&device)];
    let [x, out, there] = [managed(&device, 1), managed(&device, 0), managed(&device, 0)];
    let mut read = step(&device.ctx, N, &x, &out)?.instantiate()?;
    let mut moved = step_there(&device.ctx, N, &x, &there)?.instantiate()?;
    let mut write = add(&device.ctx, N, 1, &x)?.instantiate()?;
    write.launch(&a)?;
    let mut clone = x.clone();
    let (first, second) = (x.host()?, x.host()?);
    for stream in [&a, &b] {
        read.launch(stream)?;
        moved.launch(stream)?;
        assert_eq!(*out.host()?, [3; 8]);
        assert_eq!(*there.host()?, [3; 8]);
    }
    assert_eq!(x.as_buffer().to_host(&b)?, [2; 8]);
    x.as_buffer().with(&b, |view| assert_eq!(b.clone_dtoh(&view).expect("a copy"), [2; 8]))?;
    x.prefetch(&b, .., Location::Device(0))?;
    // What writes is refused, as long as any view exists.
    for view in [first, second] {
        assert_eq!(fault(write.launch(&a)), ManagedFault::Lent);
        assert!(matches!(clone.host_mut().map(drop), Err(Error::BufferLentTwice)));
        let copied = x.as_buffer().copy_from_host(&a, &[1]);
        assert!(matches!(copied, Err(Error::BufferLentTwice)), "{copied:?}");
        assert!(matches!(x.as_buffer().with_mut(&a, |_| ()), Err(Error::BufferLentTwice)));
        assert!(matches!(x.attach(&a), Err(Error::BufferLentTwice)));
        assert_eq!(*view, [2; 8]);
    }
    write.launch(&a)?;
    // The launches of other streams that read the memory come before the host writes it.
    clone.host_mut()?.fill(7);
    read.launch(&b)?;
    assert_eq!(*out.host()?, [8; 8]);
    Ok(())
}

#[test]
fn views_begin_inside_uses_that_read() -> Outcome {
    let device = device();
    let x = managed(&device, 1);
    x.as_buffer().with(&device.stream, |view| {
        assert_eq!(*x.host().expect("a view"), [1; 8]);
        assert_eq!(device.stream.clone_dtoh(&view).expect("a copy"), [1; 8]);
    })?;
    x.as_buffer().with_mut(&device.stream, |_| {
        assert!(matches!(x.host().map(drop), Err(Error::BufferLentTwice)));
    })?;
    let mut exec = add(&device.ctx, N, 1, &x)?.instantiate()?;
    exec.launch(&stream(&device))?;
    assert_eq!(*x.host()?, [2; 8]);
    Ok(())
}

/// A view waits for the last writes only, whatever else reads the memory.
#[test]
fn views_wait_for_writes() -> Outcome {
    let Some(device) = simulated_alone() else { return Ok(()) };
    let mut x = managed(&device, 1);
    let outs: Vec<Managed<i32>> = (0..6).map(|_| managed(&device, 0)).collect();
    let mut execs = Vec::new();
    for out in &outs {
        execs.push(step(&device.ctx, N, &x, out)?.instantiate()?);
    }
    let waits = || cuweave_sim::call_counts().expect("counts").get("cuStreamWaitEvent").copied().unwrap_or(0);
    let host = |x: &Managed<i32>| -> Result<u64, Error> {
        let before = waits();
        drop(x.host()?);
        Ok(waits() - before)
    };
    let without = host(&x)?;
    let streams: Vec<_> = execs.iter().map(|_| stream(&device)).collect();
    for (exec, stream) in execs.iter_mut().zip(&streams) {
        exec.launch(stream)?;
    }
    assert_eq!(host(&x)?, without, "not for launches that read");
    let before = waits();
    drop(x.host_mut()?);
    assert!(waits() - before >= without + 6, "each stream is waited for");
    Ok(())
}

/// Threads that read on the host and on the device, and one that writes now and then.
#[test]
fn many_readers_and_a_writer() -> Outcome {
    let device = device();
    let x = managed(&device, 0);
    std::thread::scope(|scope| -> Outcome {
        let (ctx, x) = (&device.ctx, &x);
        let constant = |values: &[i32]| {
            assert!(values.iter().all(|value| *value == values[0]), "{values:?}");
        };
        for _ in 0..2 {
            scope.spawn(move || {
                for _ in 0..200 {
                    // `Err` while the writer has it.
                    if let Ok(view) = x.host() {
                        constant(&view);
                    }
                }
            });
            scope.spawn(move || {
                let stream = ctx.new_stream().expect("a stream");
                let out = Managed::<i32>::zeros(&stream, N as usize, Attach::Global).expect("memory");
                let mut exec = step(ctx, N, x, &out).expect("a graph").instantiate().expect("an exec");
                for _ in 0..100 {
                    if exec.launch(&stream).is_ok() {
                        constant(&out.host().expect("a view"));
                    }
                }
            });
        }
        let (mut writer, mut exec) = (x.clone(), add(ctx, N, 1, x)?.instantiate()?);
        let mut written = 0;
        while written < 20 {
            if let Ok(mut view) = writer.host_mut() {
                view.iter_mut().for_each(|x| *x += 1);
            }
            written += i32::from(exec.launch(&device.stream).is_ok());
            std::thread::yield_now();
        }
        Ok(())
    })
}

#[test]
fn devices_without_concurrent_access() {
    if simulated_alone().is_some() {
        apart("managed_readers::without_concurrent_access", &[("CUWEAVE_SIM_CONCURRENT", "0")]);
    }
}

#[test]
#[ignore = "in a process of its own"]
fn without_concurrent_access() -> Outcome {
    let device = device();
    let [a, b] = [stream(&device), stream(&device)];
    let [x, out] = [managed(&device, 1), managed(&device, 0)];
    let other = Buffer::from_host(&a, &[1; N as usize])?;
    let mut read = step(&device.ctx, N, &x, &out)?.instantiate()?;
    let mut apart = add(&device.ctx, N, 1, &other)?.instantiate()?;
    {
        let (view, both) = (x.host()?, out.host()?);
        let again = x.host()?;
        assert_eq!(view[..], again[..]);
        drop((view, again));
        // Another view of the host still exists.
        assert_eq!(fault(apart.launch(&b)), ManagedFault::OfHost);
        assert_eq!(fault(read.launch(&b)), ManagedFault::Lent);
        drop(both);
    }
    apart.launch(&b)?;
    read.launch(&a)?;
    let view = x.host()?;
    assert_eq!(fault(read.launch(&a)), ManagedFault::Lent);
    assert!(matches!(x.as_buffer().with(&a, |_| ()), Err(Error::BufferLentTwice)));
    drop(view);
    // The stream that the memory is attached to runs nothing while the host has it. Others do.
    x.attach(&a)?;
    {
        let view = x.host()?;
        assert_eq!(fault(apart.launch(&a)), ManagedFault::OfHost);
        apart.launch(&b)?;
        assert_eq!(*view, [1; 8]);
    }
    apart.launch(&a)?;
    assert_eq!(other.to_host(&a)?, [4; N as usize]);
    Ok(())
}
