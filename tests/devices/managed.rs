//! Managed memory on several devices: graphs in any context, pages of peers and non-peers, and host access where it
//! requires idle devices.

use std::sync::Arc;

use cudarc::driver::{CudaContext, sys};
use cuweave::managed::{Attach, Location};
use cuweave::prelude::*;
use cuweave::{Error, Managed};
use cuweave_sim::PageCounts;

use crate::programs::kernels::scale;
use crate::support::{contexts, silent, streams, with_devices};

/// Two pages.
const LEN: usize = 2 * 1024;

#[cuweave::graph]
fn doubled(n: u32, x: &mut [f32; n]) {
    scale[per_item(n)](&mut x, 2.0, n);
}

fn counted(work: impl FnOnce()) -> PageCounts {
    let pages = || cuweave_sim::page_counts().expect("the simulated driver");
    let before = pages();
    work();
    pages() - before
}

#[test]
fn graphs_over_any_context_use_managed_memory() {
    with_devices("managed::everywhere", 3, &[]);
    with_devices("managed::everywhere", 3, &[("CUWEAVE_SIM_PEERS", "none")]);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn everywhere() {
    let contexts = contexts();
    let streams = streams(&contexts);
    let x = Managed::from_host(&streams[0], &[1.0_f32; LEN], Attach::Global).expect("managed memory");
    let mut execs: Vec<_> = contexts
        .iter()
        .map(|ctx| doubled(ctx, LEN as u32, &x).expect("it builds").instantiate().expect("an exec"))
        .collect();
    for turn in 0..2 {
        for (exec, stream) in execs.iter_mut().zip(&streams) {
            exec.launch(stream).expect("it launches");
        }
        assert_eq!(*x.host().expect("a view"), [f32::powi(8.0, turn + 1); LEN]);
    }
    // The memory outlives its owner while other contexts use it.
    for (exec, stream) in execs.iter_mut().zip(&streams) {
        exec.launch(stream).expect("it launches");
    }
    drop(x);
    drop(execs);
    contexts.iter().for_each(|ctx| ctx.check_err().expect("no error is kept"));
    silent();
}

#[test]
fn pages_are_mapped_by_peers_alone() {
    with_devices("managed::mapped", 2, &[]);
    with_devices("managed::mapped", 2, &[("CUWEAVE_SIM_PEERS", "none")]);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn mapped() {
    let are_peers = std::env::var("CUWEAVE_SIM_PEERS").as_deref() != Ok("none");
    let contexts = contexts();
    let streams = streams(&contexts);
    let x = Managed::<f32>::zeros(&streams[0], LEN, Attach::Global).expect("managed memory");
    let mut execs: Vec<_> = contexts
        .iter()
        .map(|ctx| doubled(ctx, LEN as u32, &x).expect("it builds").instantiate().expect("an exec"))
        .collect();
    let resident = |device: Option<u32>| cuweave_sim::resident_pages(device).expect("the simulated driver");
    x.prefetch(&streams[0], .., Location::Device(0)).expect("a prefetch");
    assert_eq!([Some(0), Some(1), None].map(resident), [2, 0, 0]);
    // If the devices are peers, the pages are mapped for device 1 in advance and stay in place.
    x.set_accessed_by(.., Location::Device(1)).expect("advice");
    let found = counted(|| execs[1].launch(&streams[1]).expect("it launches"));
    assert_eq!((found.device_faults, found.migrated), if are_peers { (0, 0) } else { (2, 2) });
    assert_eq!([Some(0), Some(1)].map(resident), if are_peers { [2, 0] } else { [0, 2] });
    // Pages whose preferred location is that device move there on a fault.
    x.prefetch(&streams[0], .., Location::Device(0)).expect("a prefetch");
    x.set_preferred_location(.., Location::Device(1)).expect("advice");
    let found = counted(|| execs[1].launch(&streams[1]).expect("it launches"));
    assert_eq!((found.device_faults, found.migrated), (2, 2));
    assert_eq!([Some(0), Some(1), None].map(resident), [0, 2, 0]);
    // If the pages are at their preferred location, a peer maps them.
    let found = counted(|| execs[0].launch(&streams[0]).expect("it launches"));
    assert_eq!((found.device_faults, found.migrated), if are_peers { (2, 0) } else { (2, 2) });
    drop(x.host().expect("a view"));
    assert_eq!([Some(0), Some(1), None].map(resident), [0, 0, 2]);
    silent();
}

#[test]
fn streams_of_other_contexts_use_it() {
    with_devices("managed::from_elsewhere", 2, &[]);
    with_devices("managed::from_elsewhere", 2, &[("CUWEAVE_SIM_PEERS", "none")]);
}

/// Returns a second context of device 0.
fn second_context() -> Arc<CudaContext> {
    let mut raw = std::ptr::null_mut();
    // SAFETY: the call writes the handle of a new context of device 0, which the returned object owns.
    unsafe {
        sys::cuCtxCreate_v4(&mut raw, std::ptr::null_mut(), 0, 0).result().expect("a context");
        CudaContext::from_raw_context(0, 0, raw).expect("a context")
    }
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn from_elsewhere() {
    let mut contexts = contexts();
    contexts.push(second_context());
    let streams = streams(&contexts);
    let (own, others) = (&streams[0], &streams[1..]);
    let x = Managed::from_host(own, &[1.0_f32; LEN], Attach::Global).expect("managed memory");
    let mut exec = doubled(&contexts[0], LEN as u32, &x).expect("it builds").instantiate().expect("an exec");
    let mut value = 1.0;
    for other in others.iter().chain([&contexts[1].default_stream(), &contexts[2].default_stream()]) {
        exec.launch(own).expect("it launches");
        value *= 2.0;
        // Copies and views, ordered after the launch in the other context and before the next one.
        let buffer = x.as_buffer();
        assert_eq!(buffer.to_host(other).expect("a copy"), [value; LEN]);
        buffer.copy_from_host(other, &[value + 1.0; LEN]).expect("a copy");
        exec.launch(own).expect("it launches");
        value = 2.0 * (value + 1.0);
        let read = buffer.with(other, |view| other.clone_dtoh(&view).expect("a copy")).expect("a view");
        assert_eq!(read, [value; LEN]);
        buffer
            .with_mut(other, |mut view| other.memcpy_htod(&[value; LEN], &mut view).expect("a copy"))
            .expect("a view");
        exec.launch(own).expect("it launches");
        value *= 2.0;
        assert_eq!(*x.host().expect("a view"), [value; LEN]);
    }
    for (device, other) in [(1, &others[0]), (0, &others[1])] {
        x.prefetch(other, .., Location::Device(device)).expect("a prefetch");
        assert_eq!(x.attributes(..).expect("attributes").last_prefetch, Some(Location::Device(device)));
        assert_eq!(x.discard(other, ..LEN / 2).expect("a discard"), 0..4 * LEN / 2);
        x.as_buffer().copy_from_host(other, &[1.0; LEN]).expect("a copy");
    }
    // It is attached to a stream of another context: only that stream uses it.
    for (ctx, other) in contexts[1..].iter().zip(others) {
        let mut there = doubled(ctx, LEN as u32, &x).expect("it builds").instantiate().expect("an exec");
        x.attach(other).expect("it is attached");
        let refused = exec.launch(own).map(drop).expect_err("attached to another stream");
        println!("{refused}");
        assert!(matches!(
            refused,
            Error::ManagedArgument { fault: cuweave::managed::ManagedFault::AttachedElsewhere, .. }
        ));
        there.launch(other).expect("it launches");
        assert_eq!(x.host().expect("a view")[0], 2.0);
        assert_eq!(x.as_buffer().to_host(other).expect("a copy"), [2.0; LEN]);
        x.detach().expect("it is detached");
        exec.launch(own).expect("it launches");
        x.as_buffer().copy_from_host(other, &[1.0; LEN]).expect("a copy");
    }
    // Other memory is used in streams of its own context only.
    let plain = cuweave::Buffer::from_host(own, &[1.0_f32; LEN]).expect("a buffer");
    assert!(matches!(plain.to_host(&others[0]), Err(Error::BufferOfOtherContext)));
    contexts.iter().for_each(|ctx| ctx.check_err().expect("no error is kept"));
    drop((exec, x, plain));
    silent();
}

#[test]
fn the_host_waits_for_all_devices_where_these_must_be_idle() {
    with_devices("managed::idle", 2, &[("CUWEAVE_SIM_CONCURRENT", "0")]);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn idle() {
    let contexts = contexts();
    let streams = streams(&contexts);
    let mut x = Managed::<f32>::zeros(&streams[0], LEN, Attach::Global).expect("managed memory");
    let mut other = streams[1].alloc_zeros::<f32>(LEN).expect("an allocation");
    let mut exec =
        doubled(&contexts[1], LEN as u32, &mut other).expect("it builds").instantiate().expect("an exec");
    exec.launch(&streams[1]).expect("it launches");
    let waits = || cuweave_sim::call_counts().expect("counts").get("cuCtxSynchronize").copied().unwrap_or(0);
    let before = waits();
    let view = x.host_mut().expect("a view");
    assert_eq!(waits() - before, 2, "both devices are waited for");
    // While the host has the memory, nothing may run on any of the devices.
    let told = exec.launch(&streams[1]).map(drop).expect_err("the host has the memory");
    println!("{told}");
    assert!(matches!(told, Error::Managed(cuweave::managed::ManagedFault::OfHost)), "{told}");
    drop(view);
    // Pages are not duplicated if a device does not have concurrent access.
    x.set_read_mostly(..).expect("advice");
    let mut reader =
        doubled(&contexts[1], LEN as u32, &x).expect("it builds").instantiate().expect("an exec");
    let found = counted(|| reader.launch(&streams[1]).expect("it launches"));
    assert_eq!(found.copied, 0);
    exec.launch(&streams[1]).expect("it launches");
    silent();
}
