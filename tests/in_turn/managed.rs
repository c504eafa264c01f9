//! `Managed` memory: bound to arguments, used on the host between launches and in host statements, and attached to
//! streams.

use std::sync::Arc;

use cudarc::driver::{CudaStream, DevicePtr};
use cuweave::builder::Builder;
use cuweave::managed::{Attach, ManagedFault};
use cuweave::prelude::*;
use cuweave::{Buffer, Error, Managed};

use cuweave_testkit::device::{Device, alone as device, simulated_alone};
use cuweave_testkit::process::apart;

#[cuweave::kernels("examples/kernels/memory.ptx")]
unsafe extern "ptx-kernel" {
    fn shift(x: &mut [i32; n], by: i32, n: u32);
}

#[cuweave::kernels("tests/kernels/managed.ptx")]
unsafe extern "ptx-kernel" {
    /// Counts its launches in a `__managed__` variable that starts at 0.
    fn tick(out: &mut [MaybeUninit<u32>; 1]);
}

/// Two of its launches, which share the variable.
#[cuweave::graph]
fn ticks(first: &mut [u32; 1], second: &mut [u32; 1]) {
    tick[(1, 1)](&mut first);
    tick[(1, 1)](&mut second);
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

/// The device, the host and the device again.
#[cuweave::graph]
fn through_the_host(n: u32, x: &mut [i32; n], out: &mut [i32; n]) {
    shift[per_item(n)](&mut x, 1, n);
    host(&mut x, |x| x.iter_mut().for_each(|x| *x *= 10));
    shift[per_item(n)](&mut x, 2, n);
    copy(&x, &mut out);
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
fn host_and_device_take_turns() -> Outcome {
    let device = device();
    let mut x = Managed::<i32>::zeros(&device.stream, N as usize, Attach::Global)?;
    let out = Managed::<i32>::zeros(&device.stream, N as usize, Attach::Host)?;
    assert_eq!((x.len(), x.num_bytes()), (8, 32));
    assert_eq!(*x.host()?, [0; 8]);
    assert_eq!(*out.host()?, [0; 8]);
    let mut both = step(&device.ctx, N, &x, &out)?.instantiate()?;
    for turn in 0..3 {
        x.host_mut()?.iter_mut().zip(turn..).for_each(|(x, value)| *x = value);
        both.launch(&device.stream)?;
        let expected: Vec<i32> = (turn + 1..).take(8).collect();
        assert_eq!(*out.host()?, expected[..]);
    }
    Ok(())
}

#[test]
fn execs_that_share_it_are_ordered_on_all_streams() -> Outcome {
    let device = device();
    let [a, b] = [stream(&device), stream(&device)];
    let x = managed(&device, 1);
    let out = managed(&device, 0);
    let mut more = add(&device.ctx, N, 5, &x)?.instantiate()?;
    let mut then = step(&device.ctx, N, &x, &out)?.instantiate()?;
    for _ in 0..4 {
        more.launch(&a)?;
        then.launch(&b)?;
    }
    assert_eq!(*out.host()?, [22; 8]);
    assert_eq!(x.as_buffer().to_host(&a)?, [21; 8]);
    drop((more, x));
    then.launch(&a)?;
    assert_eq!(*out.host()?, [22; 8]);
    Ok(())
}

#[test]
fn a_host_statement_reaches_it() -> Outcome {
    let device = device();
    let [x, out] = [managed(&device, 1), managed(&device, 0)];
    let mut exec = through_the_host(&device.ctx, N, &x, &out)?.instantiate()?;
    exec.launch(&device.stream)?;
    assert_eq!(*out.host()?, [22; 8]);
    let other = managed(&device, 4);
    exec.set_x(&other)?;
    exec.launch(&device.stream)?;
    assert_eq!((*out.host()?).to_vec(), [52; 8]);
    assert_eq!((*x.host()?).to_vec(), [22; 8]);
    Ok(())
}

#[test]
fn a_host_statement_refuses_memory_of_the_device() -> Outcome {
    let device = device();
    let (x, out) = (managed(&device, 1), managed(&device, 0));
    let plain = Buffer::from_host(&device.stream, &[1; N as usize])?;
    let refused = through_the_host(&device.ctx, N, &plain, &out);
    let text = refused.map(|_| ()).expect_err("refused").to_string();
    assert!(text.contains("`host` (tests/in_turn/managed.rs:"), "{text}");
    assert!(
        text.contains("`x` is memory of the device alone, and the host statement cannot reach it"),
        "{text}"
    );
    let slice = device.stream.clone_htod(&[1; N as usize])?;
    assert!(through_the_host(&device.ctx, N, slice, &out).is_err());
    // The setter refuses it, too, and the exec is unchanged.
    let mut exec = through_the_host(&device.ctx, N, &x, &out)?.instantiate()?;
    assert!(matches!(fault(exec.set_x(&plain)), ManagedFault::NotForHost { .. }));
    exec.launch(&device.stream)?;
    assert_eq!(*out.host()?, [22; 8]);
    Ok(())
}

#[test]
fn launches_and_other_loans_are_refused_while_the_host_has_it() -> Outcome {
    let device = device();
    let mut x = managed(&device, 1);
    let clone = x.clone();
    let mut exec = add(&device.ctx, N, 1, &x)?.instantiate()?;
    {
        let view = x.host_mut()?;
        assert_eq!(fault(exec.launch(&device.stream)), ManagedFault::Lent);
        assert!(matches!(clone.host(), Err(Error::BufferLentTwice)));
        assert!(matches!(clone.as_buffer().with(&device.stream, |_| ()), Err(Error::BufferLentTwice)));
        assert!(matches!(clone.attach(&stream(&device)), Err(Error::BufferLentTwice)));
        assert_eq!(view.len(), 8);
    }
    exec.launch(&device.stream)?;
    assert_eq!(*clone.host()?, [2; 8]);
    // A forgotten view locks the memory forever, but nothing worse.
    std::mem::forget(x.host_mut()?);
    assert_eq!(fault(exec.launch(&device.stream)), ManagedFault::Lent);
    drop((exec, x));
    assert!(clone.host().is_err());
    Ok(())
}

#[test]
fn an_exec_binds_it_once_if_it_writes() -> Outcome {
    let device = device();
    let x = managed(&device, 1);
    let refused = step(&device.ctx, N, &x, &x).map(|_| ());
    assert!(matches!(refused, Err(Error::Overlap { .. })), "{refused:?}");
    Ok(())
}

#[test]
fn sizes_that_cannot_be_allocated_are_refused() -> Outcome {
    let device = device();
    let zeros = |len| fault(Managed::<i32>::zeros(&device.stream, len, Attach::Global));
    assert_eq!(zeros(0), ManagedFault::Empty);
    assert!(matches!(zeros(usize::MAX), ManagedFault::TooLarge { .. }));
    assert!(matches!(zeros(usize::MAX / 4), ManagedFault::TooLarge { .. }));
    assert_eq!(fault(Managed::<i32>::from_host(&device.stream, &[], Attach::Host)), ManagedFault::Empty);
    let text = zeros(usize::MAX / 4).to_string();
    assert_eq!(
        text,
        "managed memory of 4611686018427387903 elements of 4 bytes is larger than the address space"
    );
    Ok(())
}

#[test]
fn attached_memory_is_for_one_stream() -> Outcome {
    let device = device();
    let [a, b] = [stream(&device), stream(&device)];
    let x = managed(&device, 1);
    let mut exec = add(&device.ctx, N, 1, &x)?.instantiate()?;
    exec.launch(&b)?;
    x.attach(&a)?;
    let refused = exec.launch(&b);
    let text = refused.as_ref().expect_err("refused").to_string();
    assert_eq!(fault(refused), ManagedFault::AttachedElsewhere);
    assert!(text.starts_with("`x` (tests/in_turn/managed.rs:"), "{text}");
    assert!(text.ends_with("managed memory that is attached to one stream is used in another one"), "{text}");
    exec.launch(&a)?;
    assert_eq!(fault(x.as_buffer().to_host(&b)), ManagedFault::AttachedElsewhere);
    assert_eq!(x.as_buffer().to_host(&a)?, [3; 8]);
    // The address of a view that another stream uses is 0.
    x.as_buffer().with(&a, |view| assert_eq!(view.device_ptr(&b).0, 0))?;
    assert!(device.ctx.check_err().is_err());
    assert_eq!(*x.host()?, [3; 8]);
    // After it is attached again, only the new stream may use it.
    x.attach(&b)?;
    assert!(exec.launch(&a).is_err());
    exec.launch(&b)?;
    x.detach()?;
    exec.launch(&a)?;
    assert_eq!(*x.host()?, [5; 8]);
    x.detach()?;
    Ok(())
}

#[test]
fn memory_cannot_be_attached_to_default_streams_or_captures() -> Outcome {
    let device = device();
    let x = managed(&device, 1);
    assert_eq!(fault(x.attach(&device.ctx.default_stream())), ManagedFault::DefaultStream);
    assert_eq!(fault(x.attach(&device.ctx.per_thread_stream())), ManagedFault::DefaultStream);
    let a = stream(&device);
    a.begin_capture(cudarc::driver::sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
    assert!(matches!(x.attach(&a), Err(Error::BufferCapturing)));
    let made = Managed::<i32>::zeros(&a, 4, Attach::Global);
    assert!(matches!(made, Err(Error::BufferCapturing)), "{made:?}");
    // Host access does not disturb the capture.
    assert_eq!(*x.host()?, [1; 8]);
    a.end_capture(
        cudarc::driver::sys::CUgraphInstantiate_flags_enum::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH,
    )?;
    Ok(())
}

#[test]
fn memory_outlives_all_launches() -> Outcome {
    let Some(device) = simulated_alone() else { return Ok(()) };
    let before = cuweave_sim::live_objects().expect("the simulated driver").allocations;
    for forget in [false, true] {
        let x = managed(&device, 1);
        let mut exec = add(&device.ctx, N, 1, &x)?.instantiate()?;
        exec.launch(&device.stream)?;
        drop(x);
        exec.launch(&device.stream)?;
        if forget { std::mem::forget(exec) } else { drop(exec) }
    }
    let after = cuweave_sim::live_objects().expect("the simulated driver").allocations;
    assert_eq!(after - before, 1, "that of the forgotten exec");
    Ok(())
}

#[test]
fn every_failure_is_returned_or_leaks() -> Outcome {
    let Some(device) = simulated_alone() else { return Ok(()) };
    let calls = [
        "cuMemAllocManaged",
        "cuMemsetD8Async",
        "cuEventCreate",
        "cuEventRecord",
        "cuStreamAttachMemAsync",
        "cuStreamWaitEvent",
        "cuStreamSynchronize",
        "cuEventSynchronize",
        "cuDeviceGetAttribute",
        "cuMemFree_v2",
    ];
    let ways = || -> Result<Vec<i32>, Error> {
        let [a, b] = [device.ctx.new_stream()?, device.ctx.new_stream()?];
        let mut x = Managed::<i32>::zeros(&a, N as usize, Attach::Global)?;
        let mut exec = add(&device.ctx, N, 1, &x)?.instantiate()?;
        exec.launch(&b)?;
        x.attach(&a)?;
        exec.launch(&a)?;
        x.host_mut()?.iter_mut().for_each(|x| *x += 1);
        exec.launch(&a)?;
        x.detach()?;
        exec.launch(&b)?;
        Ok(x.host()?.to_vec())
    };
    assert_eq!(ways()?, [5; 8]);
    let mut failed = 0;
    for call in calls {
        for nth in 1..12 {
            cuweave_sim::inject_fault(call, nth, 2).expect("a known call");
            // Each use either gives the right result or returns an error.
            match ways() {
                Ok(values) => assert_eq!(values, [5; 8], "{call} {nth}"),
                Err(_) => failed += 1,
            }
            let _ = cuweave_sim::clear_faults();
            let _ = device.ctx.check_err();
        }
    }
    assert!(failed > 20, "{failed} failures");
    assert_eq!(ways()?, [5; 8]);
    Ok(())
}

#[test]
fn devices_without_concurrent_access() {
    if simulated_alone().is_some() {
        apart("managed::without_concurrent_access", &[("CUWEAVE_SIM_CONCURRENT", "0")]);
        apart("managed::without_managed_memory", &[("CUWEAVE_SIM_MANAGED", "0")]);
    }
}

#[test]
#[ignore = "in a process of its own"]
fn without_concurrent_access() -> Outcome {
    let device = device();
    let [a, b] = [stream(&device), stream(&device)];
    let mut x = managed(&device, 1);
    let other = Buffer::from_host(&a, &[1; N as usize])?;
    let mut exec = add(&device.ctx, N, 1, &x)?.instantiate()?;
    let mut apart = add(&device.ctx, N, 1, &other)?.instantiate()?;
    let slice = a.clone_htod(&[1; N as usize])?;
    let mut plain = add(&device.ctx, N, 1, slice)?.instantiate()?;
    exec.launch(&a)?;
    {
        let mut view = x.host_mut()?;
        view[0] = 7;
        // Nothing may run on the device while the host has the memory.
        assert_eq!(fault(exec.launch(&a)), ManagedFault::Lent);
        for refused in [apart.launch(&a), apart.launch(&b), plain.launch(&a)] {
            assert_eq!(fault(refused), ManagedFault::OfHost);
        }
    }
    apart.launch(&b)?;
    plain.launch(&b)?;
    exec.launch(&a)?;
    assert_eq!(x.host()?[..2], [8, 3]);
    // Memory that is attached to one stream belongs to the host once that stream has finished.
    x.attach(&a)?;
    exec.launch(&a)?;
    {
        let view = x.host()?;
        apart.launch(&b)?;
        plain.launch(&b)?;
        assert_eq!(view[1], 4);
    }
    // No device may use memory that is attached to the host until it is attached to a stream.
    let x = Managed::from_host(&a, &[1; N as usize], Attach::Host)?;
    let mut exec = add(&device.ctx, N, 1, &x)?.instantiate()?;
    assert!(matches!(fault(exec.launch(&a)), ManagedFault::AttachedToHost { device: 0, .. }));
    {
        let _view = x.host()?;
        apart.launch(&b)?;
    }
    x.attach(&a)?;
    exec.launch(&a)?;
    assert_eq!(*x.host()?, [2; 8]);
    x.detach()?;
    assert!(matches!(fault(exec.launch(&a)), ManagedFault::AttachedToHost { device: 0, .. }));
    assert_eq!(*x.host()?, [2; 8]);
    // Host statements need concurrent access.
    let (x, out) = (managed(&device, 1), managed(&device, 0));
    let refused = through_the_host(&device.ctx, N, &x, &out).map(|_| ());
    assert!(matches!(fault(refused), ManagedFault::NotConcurrent { device: 0, .. }));
    Ok(())
}

#[test]
#[ignore = "in a process of its own"]
fn without_managed_memory() {
    let device = device();
    let refused = Managed::<i32>::zeros(&device.stream, 8, Attach::Global);
    assert!(matches!(fault(refused), ManagedFault::Unsupported { device: 0, .. }));
}

/// All streams share a `__managed__` variable. It is state that launches share, so they are ordered as written.
#[test]
fn managed_variables_are_shared_state() -> Outcome {
    let device = device();
    let [a, b] = [stream(&device), stream(&device)];
    let out: Vec<Buffer<u32>> = (0..4).map(|_| Buffer::zeros(&a, 1)).collect::<Result<_, _>>()?;
    let mut one = ticks(&device.ctx, &out[0], &out[1])?.instantiate()?;
    let mut other = ticks(&device.ctx, &out[2], &out[3])?.instantiate()?;
    for turn in 0..3 {
        one.launch(&a)?;
        other.launch(&b)?;
        let found: Vec<u32> = out.iter().map(|out| Ok(out.to_host(&b)?[0])).collect::<Result<_, Error>>()?;
        assert_eq!(found, [0, 1, 2, 3].map(|at| 4 * turn + at));
    }
    Ok(())
}

#[test]
fn it_binds_in_builders_and_by_their_setters() -> Outcome {
    let device = device();
    let [x, out, other] = [managed(&device, 1), managed(&device, 0), managed(&device, 7)];
    let mut b = Builder::with_name(&device.ctx, "built");
    let n = b.scalar("n", N);
    let from = b.shared("x", N, &x);
    let to = b.exclusive("out", N, &out);
    b.copy(&from, to.write())?;
    b.launch(shift {}, per_item(n), (to.write(), 1, n))?;
    let mut exec = b.build()?.instantiate()?;
    exec.launch(&device.stream)?;
    assert_eq!(*out.host()?, [2; 8]);
    exec.set_buffer(&from, &other)?;
    exec.launch(&device.stream)?;
    assert_eq!(*out.host()?, [8; 8]);
    let _view = out.host()?;
    assert_eq!(fault(exec.launch(&device.stream).map(|_| ())), ManagedFault::Lent);
    Ok(())
}
