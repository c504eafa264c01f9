//! Memory of other allocators: bound in execs and builders, ordered by its addresses and by events, and dropped after
//! the last launch.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::ThreadId;
use std::time::Duration;

use cudarc::driver::{CudaSlice, CudaStream, DevicePtr, sys};
use cuweave::builder::Builder;
use cuweave::error::ForeignFault;
use cuweave::prelude::*;
use cuweave::{Error, Foreign};
use cuweave_testkit::device::{Device, alone, ramp, simulated_alone};
use cuweave_testkit::timeline::{named, trace};

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
}

#[cuweave::graph]
fn add(n: u32, a: f32, x: &[f32; n], y: &mut [f32; n]) {
    axpy[per_item(n)](a, &x, &mut y, n);
}

#[cuweave::graph]
fn scaled(n: u32, a: f32, x: &mut [f32; n]) {
    scale[per_item(n)](&mut x, a, n);
}

/// Memory that tells when it is dropped, and on which thread.
struct Owner {
    _memory: CudaSlice<f32>,
    dropped: Sender<ThreadId>,
}

impl Drop for Owner {
    fn drop(&mut self) {
        let _ = self.dropped.send(std::thread::current().id());
    }
}

fn address(device: &Device, slice: &CudaSlice<f32>) -> u64 {
    let (address, _guard) = slice.device_ptr(&device.stream);
    address
}

/// Returns memory with these elements, and what tells of its drop.
fn foreign(device: &Device, elements: &[f32]) -> (Foreign<f32>, Receiver<ThreadId>) {
    let slice = device.upload(elements);
    device.stream.synchronize().expect("all is well");
    let (at, (dropped, receiver)) = (address(device, &slice), channel());
    // SAFETY: the owner keeps the memory, and nothing else uses it.
    let foreign = unsafe { Foreign::new(at, elements.len(), Owner { _memory: slice, dropped }) };
    (foreign.expect("it is memory of the device"), receiver)
}

/// Returns elements of memory after all launches.
fn read(device: &Device, at: u64, len: usize) -> Vec<f32> {
    device.ctx.synchronize().expect("all is well");
    // SAFETY: the elements are alive, and nothing runs.
    let slice = unsafe { device.stream.upgrade_device_ptr::<f32>(at, len) };
    let elements = device.download(&slice);
    slice.leak();
    elements
}

#[test]
fn it_binds_where_buffers_bind_and_is_dropped_after_the_last_launch() {
    let device = alone();
    let (x, dropped) = foreign(&device, &ramp(1000));
    let (y, y_dropped) = foreign(&device, &[1.0; 1000]);
    let mut first = add(&device.ctx, 1000, 2.0, &x, &y).expect("it builds").instantiate().expect("an exec");
    let mut second = scaled(&device.ctx, 1000, 3.0, &y).expect("it builds").instantiate().expect("an exec");
    let other = device.ctx.new_stream().expect("a stream");
    let at = {
        let mut b = Builder::new(&device.ctx);
        let (from, to) = (b.shared("x", 1000, x.clone()), b.exclusive("y", 1000, y.clone()));
        b.copy(from.read(), to.write()).expect("a copy");
        let mut third = b.build().expect("it builds").instantiate().expect("an exec");
        for (stream, other) in [(&device.stream, &other), (&other, &device.stream)] {
            first.launch(stream).expect("it launches");
            second.launch(other).expect("it launches");
        }
        let (keep, _) = foreign(&device, &[0.0; 1000]);
        let mut kept =
            add(&device.ctx, 1000, 1.0, &y, &keep).expect("it builds").instantiate().expect("an exec");
        kept.launch(&other).expect("it launches");
        third.launch(&device.stream).expect("it launches");
        drop((third, kept));
        device.ctx.synchronize().expect("all is well");
        keep.event().expect("an event")
    };
    assert!(!at.is_null());
    assert_eq!((x.len(), x.is_empty()), (1000, false));
    drop((x, y, first));
    assert!(y_dropped.try_recv().is_err(), "an exec still binds it");
    let own = std::thread::current().id();
    let seconds = Duration::from_secs(20);
    assert_ne!(dropped.recv_timeout(seconds).expect("it is dropped"), own);
    drop(second);
    assert_ne!(y_dropped.recv_timeout(seconds).expect("it is dropped"), own);
    device.nothing_reported();
}

#[test]
fn launches_compute_what_they_should() {
    let device = alone();
    let slice = device.upload(&ramp(512));
    let at = address(&device, &slice);
    device.stream.synchronize().expect("all is well");
    let memory = Arc::new(slice);
    // SAFETY: the memory lives, and is used by cuweave alone meanwhile.
    let part =
        |first: usize, len: usize| unsafe { Foreign::<f32>::new(at + 4 * first as u64, len, memory.clone()) };
    let (low, high, all) =
        (part(0, 300).expect("a part"), part(200, 312).expect("a part"), part(0, 512).expect("all"));
    let streams: Vec<Arc<CudaStream>> = (0..3).map(|_| device.ctx.new_stream().expect("a stream")).collect();
    let mut execs: Vec<_> = [(&low, 300, 2.0), (&high, 312, 3.0), (&all, 512, 0.5)]
        .into_iter()
        .map(|(x, n, a)| scaled(&device.ctx, n, a, x).expect("it builds").instantiate().expect("an exec"))
        .collect();
    let mut expected = ramp(512);
    for round in 0..12 {
        let which = round % 3;
        execs[which].launch(&streams[(round / 2) % 3]).expect("it launches");
        let (range, a) = [(0..300, 2.0), (200..512, 3.0), (0..512, 0.5)][which].clone();
        expected[range].iter_mut().for_each(|x| *x *= a);
    }
    assert_eq!(read(&device, at, 512), expected);
    drop((execs, low, high, all));
    device.nothing_reported();
}

/// As the driver calls show, not by the results.
#[test]
fn overlapping_memory_and_events_order_launches() {
    let Some(device) = simulated_alone() else { return };
    let slice = device.upload(&ramp(400));
    let at = address(&device, &slice);
    device.stream.synchronize().expect("all is well");
    let memory = Arc::new(slice);
    // SAFETY: as above.
    let part =
        |first: u64| unsafe { Foreign::<f32>::new(at + 4 * first, 200, memory.clone()) }.expect("a part");
    let (low, middle, high) = (part(0), part(100), part(200));
    let exec = |x: &Foreign<f32>| {
        scaled(&device.ctx, 200, 2.0, x).expect("it builds").instantiate().expect("an exec")
    };
    let (mut first, mut second, mut third) = (exec(&low), exec(&middle), exec(&high));
    let streams: Vec<Arc<CudaStream>> = (0..3).map(|_| device.ctx.new_stream().expect("a stream")).collect();
    let ((), work) = trace(|| {
        first.launch(&streams[0]).expect("it launches");
        third.launch(&streams[1]).expect("it launches");
        second.launch(&streams[2]).expect("it launches");
        first.launch(&streams[0]).expect("it launches");
    });
    let launches = named(&work, "cuGraphLaunch");
    assert!(!launches[1].is_after(launches[0]), "they share no byte");
    assert!(launches[2].is_after(launches[0]) && launches[2].is_after(launches[1]));
    assert!(launches[3].is_after(launches[2]));

    // Work of other code comes before and after.
    let (before, other) =
        (device.ctx.new_event(None).expect("an event"), device.ctx.new_stream().expect("a stream"));
    let mut scratch = device.zeros::<f32>(8);
    let mut late = device.zeros::<f32>(8);
    let ((), work) = trace(|| {
        other.memset_zeros(&mut scratch).expect("other work");
        before.record(&other).expect("it is recorded");
        low.after(before.cu_event()).expect("it comes after");
        first.launch(&streams[0]).expect("it launches");
        let after = low.event().expect("an event");
        // SAFETY: the event is alive.
        let waited = unsafe { sys::cuStreamWaitEvent(streams[1].cu_stream(), after, 0) };
        waited.result().expect("it waits");
        streams[1].memset_zeros(&mut late).expect("other work");
    });
    let (fills, launches) = (named(&work, "cuMemsetD8Async"), named(&work, "cuGraphLaunch"));
    assert!(launches[0].is_after(fills[0]) && fills[1].is_after(launches[0]), "{work:#?}");
    // The event of a part comes after launches that use another part of its bytes, and an event that others come after
    // forgets no launch, also not one of an exec that is gone.
    let another = device.ctx.new_event(None).expect("an event");
    let ((), work) = trace(|| {
        first.launch(&streams[0]).expect("it launches");
        let after = middle.event().expect("an event");
        // SAFETY: the event is alive.
        let waited = unsafe { sys::cuStreamWaitEvent(streams[1].cu_stream(), after, 0) };
        waited.result().expect("it waits");
        streams[1].memset_zeros(&mut late).expect("other work");
        drop(first);
        for event in [&before, &another] {
            other.memset_zeros(&mut scratch).expect("other work");
            event.record(&other).expect("it is recorded");
            middle.after(event.cu_event()).expect("it comes after");
        }
        second.launch(&streams[2]).expect("it launches");
    });
    let (fills, launches) = (named(&work, "cuMemsetD8Async"), named(&work, "cuGraphLaunch"));
    assert!(fills[0].is_after(launches[0]), "{work:#?}");
    assert!(
        launches[1].is_after(launches[0]) && launches[1].is_after(fills[1]) && launches[1].is_after(fills[2])
    );
    drop((second, third));
    device.nothing_reported();
}

#[test]
fn what_is_no_memory_of_the_device_is_refused() {
    let device = alone();
    let slice = device.upload(&ramp(10));
    let at = address(&device, &slice);
    let pinned = cuweave_testkit::device::pinned(&device.ctx, &[0.0_f32; 4]);
    let host = pinned.as_ptr().expect("an address").addr() as u64;
    // SAFETY: nothing is launched.
    let fault = |at: u64, len: usize| match unsafe { Foreign::<f32>::new(at, len, ()) } {
        Err(Error::Foreign(fault)) => *fault,
        other => panic!("{other:?}"),
    };
    assert!(matches!(fault(at, 0), ForeignFault::Empty));
    assert!(matches!(fault(at + 2, 1), ForeignFault::Misaligned { align: 4, .. }));
    assert!(matches!(fault(0, 1), ForeignFault::Unknown { address: 0, .. }));
    assert!(matches!(fault(host, 4), ForeignFault::OfHost { .. }));
    let past = fault(at + 8, 1 << 40);
    assert!(matches!(past, ForeignFault::PastEnd { .. }), "{past}");
    drop(slice);
}
