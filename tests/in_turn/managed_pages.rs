//! Advice, prefetches and discards of `Managed` memory, by methods and by attributes of arguments.

use std::sync::Arc;

use cudarc::driver::CudaStream;
use cudarc::driver::sys::{CUgraphInstantiate_flags_enum, CUstreamCaptureMode};
use cuweave::managed::{Attach, Location, ManagedFault};
use cuweave::prelude::*;
use cuweave::{Buffer, Error, Managed};

use cuweave_sim::PageCounts;
use cuweave_testkit::device::{Device, alone as device, simulated_alone};
use cuweave_testkit::process::apart;

#[cuweave::kernels("examples/kernels/memory.ptx")]
unsafe extern "ptx-kernel" {
    fn shift(x: &mut [i32; n], by: i32, n: u32);
}

#[cuweave::kernels("tests/kernels/managed.ptx")]
unsafe extern "ptx-kernel" {
    /// x = value
    fn set(x: &mut [MaybeUninit<u32>; n], value: u32, n: u32);
}

/// The launch overwrites as many of the discarded values as it has threads.
#[cuweave::graph]
fn overwritten_by(n: u32, blocks: u32, #[discard] x: &mut [u32; n]) {
    set[(blocks, 256)](&mut x, 9, n);
}

/// x += by
#[cuweave::graph]
fn add(n: u32, by: i32, x: &mut [i32; n]) {
    shift[per_item(n)](&mut x, by, n);
}

/// out = x + 1; x is mostly read.
#[cuweave::graph]
fn step(
    n: u32,
    #[advise(read_mostly, accessed_by(host))] x: &[i32; n],
    #[advise(preferred_location(device))]
    #[prefetch(device)]
    out: &mut [i32; n],
) {
    copy(&x, &mut out);
    shift[per_item(n)](&mut out, 1, n);
}

/// x += 1; x is moved to the device before the graph runs.
#[cuweave::graph]
fn moved(n: u32, #[prefetch(device)] x: &mut [i32; n]) {
    shift[per_item(n)](&mut x, 1, n);
}

/// The previous values of `x` are discarded.
#[cuweave::graph]
fn overwritten(n: u32, #[discard] x: &mut [i32; n], out: &mut [i32; n]) {
    fill(&mut x, 3);
    shift[per_item(n)](&mut x, 1, n);
    copy(&x, &mut out);
}

#[cuweave::graph]
fn overwritten_there(
    n: u32,
    #[discard]
    #[prefetch(device)]
    x: &mut [i32; n],
) {
    fill(&mut x, 3);
}

/// The elements of one page, and of three pages.
const PAGE: usize = 1024;
const N: u32 = 3 * 1024;

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

/// Returns the page counts that some work adds.
fn counted<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<PageCounts, Error> {
    let pages = || cuweave_sim::page_counts().expect("the simulated driver");
    let before = pages();
    work()?;
    Ok(pages() - before)
}

#[test]
fn advice_is_for_whole_pages_and_reads_back() -> Outcome {
    let device = device();
    let x = managed(&device, 1);
    let none = x.attributes(..)?;
    assert!(!none.read_mostly && none.preferred_location.is_none() && none.accessed_by.is_empty());
    // An element of the second page stands for the complete page.
    assert_eq!(x.set_read_mostly(PAGE + 5..PAGE + 6)?, 4096..8192);
    assert!(x.attributes(PAGE..2 * PAGE)?.read_mostly && !x.attributes(..)?.read_mostly);
    assert!(!x.attributes(0..1)?.read_mostly && !x.attributes(2 * PAGE..)?.read_mostly);
    assert_eq!(x.set_read_mostly(PAGE - 1..=2 * PAGE)?, 0..12288);
    assert!(x.attributes(..)?.read_mostly);
    assert_eq!(x.unset_read_mostly(..)?, 0..12288);
    assert!(!x.attributes(0..1)?.read_mostly);
    for location in [Location::Device(0), Location::Host] {
        x.set_preferred_location(.., location)?;
        assert_eq!(x.attributes(..)?.preferred_location, Some(location));
    }
    x.set_preferred_location(.., Location::HostNuma(0))?;
    // A driver without a choice of NUMA nodes returns the host.
    let node = x.attributes(..)?.preferred_location;
    assert!(matches!(node, Some(Location::HostNuma(0) | Location::Host)), "{node:?}");
    x.set_preferred_location(.., Location::HostNumaCurrent)?;
    assert!(x.attributes(..)?.preferred_location.is_some());
    x.unset_preferred_location(0..1)?;
    assert_eq!(x.attributes(0..PAGE)?.preferred_location, None);
    assert_eq!(x.attributes(..)?.preferred_location, None);
    x.set_accessed_by(.., Location::Device(0))?;
    x.set_accessed_by(0..1, Location::Host)?;
    assert_eq!(x.attributes(..)?.accessed_by, [Location::Device(0)]);
    let mut both = x.attributes(0..PAGE)?.accessed_by;
    both.sort();
    assert_eq!(both, [Location::Device(0), Location::Host]);
    x.unset_accessed_by(.., Location::Device(0))?;
    assert!(x.attributes(PAGE..)?.accessed_by.is_empty());
    Ok(())
}

#[test]
fn what_the_driver_refuses_is_refused_before() -> Outcome {
    let Some(device) = simulated_alone() else { return Ok(()) };
    let x = managed(&device, 1);
    let calls = || cuweave_sim::call_counts().expect("the simulated driver").get("cuMemAdvise_v2").copied();
    let before = calls();
    for location in [Location::HostNuma(0), Location::HostNumaCurrent] {
        let found = fault(x.set_accessed_by(.., location));
        assert!(matches!(found, ManagedFault::NotAProcessor { .. }), "{found}");
        assert!(matches!(fault(x.unset_accessed_by(.., location)), ManagedFault::NotAProcessor { .. }));
    }
    let text = fault(x.set_accessed_by(.., Location::HostNuma(1))).to_string();
    assert_eq!(text, "NUMA node 1 of the host accesses no memory: `accessed_by` takes a device or the host");
    for ordinal in [1, 7, u32::MAX] {
        let location = Location::Device(ordinal);
        for refused in [x.set_preferred_location(.., location), x.set_accessed_by(.., location)] {
            assert!(matches!(refused, Err(Error::NoDevice { count: 1, .. })), "{refused:?}");
        }
        assert!(matches!(x.prefetch(&device.stream, .., location), Err(Error::NoDevice { .. })));
    }
    let found = fault(x.set_preferred_location(.., Location::HostNuma(4095)));
    assert!(matches!(found, ManagedFault::NoNode { node: 4095, .. }));
    assert_eq!(found.to_string(), "the host has no NUMA node 4095");
    assert_eq!(fault(x.set_read_mostly(3..3)), ManagedFault::EmptyRange);
    assert!(matches!(fault(x.set_read_mostly(..=N as usize)), ManagedFault::OutOfRange { len: 3072, .. }));
    #[allow(clippy::reversed_empty_ranges)]
    let reversed = x.attributes(5..4);
    assert!(matches!(fault(reversed), ManagedFault::OutOfRange { .. }));
    assert_eq!(calls(), before);
    Ok(())
}

#[test]
fn prefetches_avoid_faults() -> Outcome {
    let Some(device) = simulated_alone() else { return Ok(()) };
    let mut x = managed(&device, 1);
    let mut plain = add(&device.ctx, N, 1, &x)?.instantiate()?;
    let mut ahead = moved(&device.ctx, N, &x)?.instantiate()?;
    drop(x.host_mut()?);
    let found = counted(|| plain.launch(&device.stream))?;
    assert_eq!((found.device_faults, found.migrated, found.prefetched), (3, 3, 0));
    drop(x.host_mut()?);
    let found = counted(|| ahead.launch(&device.stream))?;
    assert_eq!((found.device_faults, found.migrated, found.prefetched), (0, 0, 3));
    // Pages that are already in place do not move.
    let found = counted(|| ahead.launch(&device.stream))?;
    assert_eq!((found.device_faults, found.prefetched), (0, 0));
    let found = counted(|| x.prefetch(&device.stream, 0..PAGE + 1, Location::Host))?;
    assert_eq!((found.host_faults, found.prefetched), (0, 2));
    assert_eq!(x.attributes(0..PAGE)?.last_prefetch, Some(Location::Host));
    let found = counted(|| x.host().map(drop))?;
    assert_eq!(found.host_faults, 1);
    assert_eq!(*x.host()?, [4; N as usize]);
    // The memory that a setter binds is moved, and the old memory no longer is.
    let other = managed(&device, 1);
    drop(other.host()?);
    ahead.set_x(&other)?;
    let found = counted(|| ahead.launch(&device.stream))?;
    assert_eq!((found.device_faults, found.prefetched), (0, 3));
    Ok(())
}

#[test]
fn read_mostly_memory_is_copied_to_its_readers() -> Outcome {
    let Some(device) = simulated_alone() else { return Ok(()) };
    let [x, out] = [managed(&device, 1), managed(&device, 0)];
    drop((x.host()?, out.host()?));
    let mut exec = step(&device.ctx, N, &x, &out)?.instantiate()?;
    let advice = x.attributes(..)?;
    assert!(advice.read_mostly);
    assert_eq!(advice.accessed_by, [Location::Host]);
    assert_eq!(out.attributes(..)?.preferred_location, Some(Location::Device(0)));
    let found = counted(|| exec.launch(&device.stream))?;
    assert_eq!((found.copied, found.migrated, found.prefetched), (3, 0, 3));
    let found = counted(|| {
        drop(x.host()?);
        exec.launch(&device.stream)
    })?;
    assert_eq!((found.device_faults, found.host_faults), (0, 0));
    assert_eq!(*out.host()?, [2; N as usize]);
    let plain = Buffer::from_host(&device.stream, &[1; N as usize])?;
    let refused = step(&device.ctx, N, &plain, &out).map(|_| ());
    let text = refused.as_ref().expect_err("refused").to_string();
    assert_eq!(fault(refused), ManagedFault::NotManaged);
    assert!(text.starts_with("`x` (tests/in_turn/managed_pages.rs:"), "{text}");
    assert!(text.ends_with("bound to memory that is not managed: bind a `Managed`"), "{text}");
    assert_eq!(fault(exec.set_x(&plain)), ManagedFault::NotManaged);
    let other = managed(&device, 5);
    exec.set_x(&other)?;
    assert!(other.attributes(..)?.read_mostly);
    exec.launch(&device.stream)?;
    assert_eq!(*out.host()?, [6; N as usize]);
    Ok(())
}

#[test]
fn discarded_memory_does_not_move() -> Outcome {
    let Some(device) = simulated_alone() else { return Ok(()) };
    let [mut x, out] = [managed(&device, 1), managed(&device, 0)];
    let mut exec = overwritten(&device.ctx, N, &x, &out)?.instantiate()?;
    for _ in 0..2 {
        drop((x.host_mut()?, out.host()?));
        let found = counted(|| exec.launch(&device.stream))?;
        assert_eq!((found.discarded, found.device_faults), (3, 3 + 3));
        assert_eq!(found.migrated, 3, "those of `out`");
        assert_eq!(*out.host()?, [4; N as usize]);
    }
    let mut there = overwritten_there(&device.ctx, N, &x)?.instantiate()?;
    drop(x.host_mut()?);
    let found = counted(|| there.launch(&device.stream))?;
    assert_eq!((found.discarded, found.prefetched, found.device_faults), (3, 3, 0));
    assert_eq!(*x.host()?, [3; N as usize]);
    // Pages that also hold other elements keep them.
    let long = Managed::from_host(&device.stream, &[7; 2 * PAGE], Attach::Global)?;
    let mut short = overwritten_there(&device.ctx, PAGE as u32 + 5, &long)?.instantiate()?;
    let found = counted(|| short.launch(&device.stream))?;
    assert_eq!((found.discarded, found.prefetched), (1, 2));
    assert_eq!(long.host()?[PAGE + 4..PAGE + 7], [3, 7, 7]);
    Ok(())
}

#[test]
fn discards_by_hand() -> Outcome {
    let Some(device) = simulated_alone() else { return Ok(()) };
    let x = managed(&device, 1);
    assert_eq!(x.discard(&device.stream, 1..2 * PAGE + 1)?, 4096..8192);
    assert_eq!(x.discard(&device.stream, 1..PAGE)?, 4096..4096);
    let view = x.host()?;
    assert!(view[..PAGE].iter().chain(&view[2 * PAGE..]).all(|&x| x == 1));
    assert!(view[PAGE..2 * PAGE].iter().all(|&x| x != 1));
    drop(view);
    assert_eq!(fault(x.discard(&device.ctx.default_stream(), ..)), ManagedFault::LegacyStream);
    x.prefetch(&device.ctx.default_stream(), .., Location::Device(0))?;
    // The memory does not share its pages.
    let small = Managed::from_host(&device.stream, &[1; 5], Attach::Host)?;
    assert_eq!(small.discard(&device.stream, ..)?, 0..4096);
    assert_eq!(small.discard(&device.stream, ..4)?, 0..0);
    Ok(())
}

#[test]
fn prologues_are_not_captured_and_know_their_stream() -> Outcome {
    let Some(device) = simulated_alone() else { return Ok(()) };
    let [x, out] = [managed(&device, 1), managed(&device, 0)];
    let mut exec = overwritten(&device.ctx, N, &x, &out)?.instantiate()?;
    let legacy = device.ctx.default_stream();
    let refused = exec.launch(&legacy);
    assert!(matches!(&refused, Err(Error::ManagedArgument { at, .. }) if at.name == "x"), "{refused:?}");
    assert_eq!(fault(refused), ManagedFault::LegacyStream);
    let mut ahead = moved(&device.ctx, N, &x)?.instantiate()?;
    let count = |name| cuweave_sim::call_counts().expect("simulated").get(name).copied().unwrap_or(0);
    let names = ["cuMemPrefetchAsync_v2", "cuMemPrefetchBatchAsync", "cuMemDiscardBatchAsync"];
    let before = names.map(count);
    ahead.launch(&legacy)?;
    assert_eq!(names.map(count), [before[0] + 1, before[1], before[2]]);
    ahead.launch(&device.stream)?;
    assert_eq!(names.map(count), [before[0] + 1, before[1] + 1, before[2]]);
    let a = stream(&device);
    a.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
    assert!(matches!(exec.launch(&a), Err(Error::StreamCapturing { .. })));
    assert!(matches!(ahead.launch(&a), Err(Error::StreamCapturing { .. })));
    assert!(matches!(x.prefetch(&a, .., Location::Host), Err(Error::BufferCapturing)));
    assert!(matches!(x.discard(&a, ..), Err(Error::BufferCapturing)));
    // Advice has no stream and does not affect the capture.
    x.set_read_mostly(..)?;
    a.end_capture(CUgraphInstantiate_flags_enum::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH)?;
    assert_eq!(names.map(count), [before[0] + 1, before[1] + 1, before[2]]);
    exec.launch(&a)?;
    assert_eq!(*out.host()?, [4; N as usize]);
    Ok(())
}

#[test]
fn a_failed_prologue_is_returned_and_the_next_launch_is_right() -> Outcome {
    let Some(device) = simulated_alone() else { return Ok(()) };
    let [x, out] = [managed(&device, 1), managed(&device, 0)];
    for call in ["cuMemPrefetchBatchAsync", "cuMemDiscardBatchAsync", "cuMemAdvise_v2", "cuGraphLaunch"] {
        let mut failed = 0;
        for nth in 1..4 {
            cuweave_sim::inject_fault(call, nth, 2)?;
            let ways = || -> Result<(), Error> {
                let mut a = step(&device.ctx, N, &x, &out)?.instantiate()?;
                a.launch(&device.stream)?;
                let mut b = overwritten(&device.ctx, N, &x, &out)?.instantiate()?;
                b.launch(&device.stream)
            };
            failed += u32::from(ways().is_err());
            let _ = cuweave_sim::clear_faults()?;
            let mut again = overwritten(&device.ctx, N, &x, &out)?.instantiate()?;
            again.launch(&device.stream)?;
            assert_eq!(*out.host()?, [4; N as usize], "{call} {nth}");
        }
        assert!(failed > 0, "{call}");
    }
    Ok(())
}

#[test]
fn older_drivers_and_devices() {
    if simulated_alone().is_some() {
        for version in ["12.4", "12.8"] {
            apart("managed_pages::before_13_0", &[("CUWEAVE_SIM_VERSION", version)]);
        }
        apart("managed_pages::without_concurrent_access", &[("CUWEAVE_SIM_CONCURRENT", "0")]);
        apart("managed_pages::two_devices", &[("CUWEAVE_SIM_DEVICES", "2")]);
    }
}

#[test]
#[ignore = "in a process of its own"]
fn before_13_0() -> Outcome {
    let device = device();
    let [x, out] = [managed(&device, 1), managed(&device, 0)];
    assert_eq!(fault(x.discard(&device.stream, ..)), ManagedFault::NoDiscard);
    assert_eq!(fault(overwritten(&device.ctx, N, &x, &out).map(|_| ())), ManagedFault::NoDiscard);
    let mut exec = step(&device.ctx, N, &x, &out)?.instantiate()?;
    exec.launch(&device.stream)?;
    assert_eq!(*out.host()?, [2; N as usize]);
    let calls = cuweave_sim::call_counts()?;
    assert_eq!(calls.get("cuMemPrefetchBatchAsync"), None);
    assert_eq!(calls.get("cuMemPrefetchAsync_v2"), Some(&1));
    assert!(x.attributes(..)?.read_mostly);
    Ok(())
}

#[test]
#[ignore = "in a process of its own"]
fn without_concurrent_access() -> Outcome {
    let device = device();
    let [x, out] = [managed(&device, 1), managed(&device, 0)];
    let on_device = Location::Device(0);
    let all = [x.set_preferred_location(.., on_device), x.set_accessed_by(.., on_device)];
    for refused in all.into_iter().chain([x.prefetch(&device.stream, .., Location::Host)]) {
        assert!(matches!(fault(refused), ManagedFault::NoConcurrentAccess { device: 0, .. }));
    }
    assert!(matches!(fault(x.discard(&device.stream, ..)), ManagedFault::NoConcurrentAccess { .. }));
    x.set_read_mostly(..)?;
    x.set_accessed_by(.., Location::Host)?;
    x.set_preferred_location(.., Location::Host)?;
    let refused = fault(step(&device.ctx, N, &x, &out).map(|_| ()));
    assert!(matches!(refused, ManagedFault::NoConcurrentAccess { device: 0, .. }));
    assert!(fault(moved(&device.ctx, N, &x).map(|_| ())).to_string().contains("no concurrent access"));
    Ok(())
}

#[test]
#[ignore = "in a process of its own"]
fn two_devices() -> Outcome {
    let device = device();
    let x = managed(&device, 1);
    x.set_preferred_location(.., Location::Device(1))?;
    x.set_accessed_by(.., Location::Device(1))?;
    x.set_accessed_by(.., Location::Device(0))?;
    x.prefetch(&device.stream, .., Location::Device(1))?;
    let found = x.attributes(..)?;
    assert_eq!(found.preferred_location, Some(Location::Device(1)));
    assert_eq!(found.last_prefetch, Some(Location::Device(1)));
    assert_eq!(found.accessed_by, [Location::Device(0), Location::Device(1)]);
    assert!(matches!(x.set_accessed_by(.., Location::Device(2)), Err(Error::NoDevice { count: 2, .. })));
    // It is mapped in place for device 0.
    let mut exec = add(&device.ctx, N, 1, &x)?.instantiate()?;
    let found = counted(|| exec.launch(&device.stream))?;
    assert_eq!((found.device_faults, found.migrated), (0, 0));
    Ok(())
}

/// A discard requires launches that write every element, which the build must prove for each.
#[test]
fn launches_that_leave_discarded_elements_are_refused() -> Outcome {
    let Some(device) = simulated_alone() else { return Ok(()) };
    let x = Managed::from_host(&device.stream, &[1_u32; N as usize], Attach::Global)?;
    let refused = overwritten_by(&device.ctx, N, 11, &x).map(|_| ());
    assert!(matches!(refused, Err(Error::Short(_))), "{refused:?}");
    let mut exec = overwritten_by(&device.ctx, N, 12, &x)?.instantiate()?;
    exec.launch(&device.stream)?;
    assert_eq!(*x.host()?, [9; N as usize]);
    let refused = exec.set_blocks(3);
    assert!(matches!(refused, Err(Error::Short(_))), "{refused:?}");
    exec.launch(&device.stream)?;
    assert_eq!(*x.host()?, [9; N as usize]);
    Ok(())
}
