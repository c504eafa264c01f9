//! Graphs that use multicast objects and their memory, on simulated drivers with 2 and 4 devices. Each test runs in a
//! separate process.

use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaStream};
use cuweave::multicast::{Binding, Complete, Forming, Mapping, Memory, MulticastFault, all_reduce};
use cuweave::prelude::*;
use cuweave::{Buffer, Error, Result};

use super::support::{contexts, silent, streams, with_devices};

const STEP: u64 = 2 << 20;
const N: u32 = 100;

#[cuweave::kernels("examples/kernels/multicast.ptx")]
unsafe extern "ptx-kernel" {
    fn reduce(all: &mut [Multimem<f32>; n], n: u32);
    fn gather(all: &[Multimem<f32>; n], y: &mut [MaybeUninit<f32>; n], n: u32);
    fn spread(y: &[f32; n], all: &mut [Multimem<f32>; n], n: u32);
    fn accumulate(y: &[f32; n], all: &mut [Multimem<f32>; n], n: u32);
    fn raise(x: &mut [f32; n], by: f32, n: u32);
    fn take(x: &[f32; n], y: &mut [MaybeUninit<f32>; n], n: u32);
}

/// An object of all devices, with memory of each device bound to all of it.
struct Team {
    contexts: Vec<Arc<CudaContext>>,
    streams: Vec<Arc<CudaStream>>,
    memory: Vec<Arc<Memory>>,
    object: Complete,
    bound: Vec<Binding>,
    all: Mapping,
}

impl Team {
    fn new() -> Team {
        let contexts = contexts();
        let streams = streams(&contexts);
        let memory: Vec<_> = streams.iter().map(|stream| Memory::zeros(stream, STEP).unwrap()).collect();
        let mut forming = Forming::new(&contexts, STEP).unwrap();
        forming.add_own().unwrap();
        let object = forming.complete().unwrap();
        let bound = memory.iter().map(|memory| object.bind(0, memory, 0, STEP).unwrap()).collect();
        let all = object.map().unwrap();
        Team { contexts, streams, memory, object, bound, all }
    }

    fn devices(&self) -> u32 {
        u32::try_from(self.contexts.len()).unwrap()
    }

    /// Returns the first elements of each device.
    fn read(&self, len: usize) -> Vec<Vec<f32>> {
        let pairs = self.memory.iter().zip(&self.streams);
        pairs.map(|(memory, stream)| memory.read::<f32>(stream, 0, len).unwrap()).collect()
    }

    /// Writes `values(device, element)` to each device.
    fn write(&self, len: u32, value: impl Fn(usize, u32) -> f32) {
        for (device, (memory, stream)) in self.memory.iter().zip(&self.streams).enumerate() {
            let values: Vec<f32> = (0..len).map(|at| value(device, at)).collect();
            memory.write(stream, 0, &values).unwrap();
        }
    }
}

fn fault<T: std::fmt::Debug>(result: Result<T>) -> MulticastFault {
    match result {
        Err(Error::Multicast(fault) | Error::MulticastArgument { fault, .. }) => fault,
        other => panic!("no fault of a multicast object: {other:?}"),
    }
}

/// Each device raises its part, all parts are reduced, and each device takes the result.
#[cuweave::graph(devices = d)]
fn step(d: u32, n: u32, parts: &[&mut [f32; n]], all: &mut [Multimem<f32>; n], results: &[&mut [f32; n]]) {
    for i in 0..d {
        #[on(i)]
        raise[per_item(n)](&mut parts[i], 1.0, n);
    }
    all_reduce(d, n, &mut all);
    for i in 0..d {
        #[on(i)]
        take[per_item(n)](&parts[i], &mut results[i], n);
    }
}

#[test]
fn the_order_knows_both_views() {
    with_devices("multicast_graphs::both_views", 2, &[("CUWEAVE_CHECK", "1")]);
    with_devices("multicast_graphs::both_views", 4, &[("CUWEAVE_CHECK", "1")]);
}

#[test]
#[ignore = "run by another test, with several devices"]
fn both_views() {
    let team = Team::new();
    let d = team.devices();
    team.write(N, |device, at| (device as u32 * 1000 + at) as f32);
    let results: Vec<Buffer<f32>> =
        team.streams.iter().map(|stream| Buffer::zeros(stream, N as usize).unwrap()).collect();
    let parts: Vec<Buffer<f32>> =
        team.memory.iter().map(|memory| memory.slice(0, N as usize).unwrap()).collect();
    let graph = step(&team.contexts, d, N, parts, &team.all, results.iter().collect::<Vec<_>>()).unwrap();
    // Each part of the reduction comes after all raises and before all takes; nothing else is ordered.
    let report = graph.report();
    let d = d as usize;
    assert_eq!(report.launches, 3 * d, "{report}");
    assert!(d > 2 || (report.edges, report.hubs) == (8, 0), "{report}");
    let certificate = graph.certificate();
    assert_eq!(cuweave::certificate::check(&certificate), Ok(()));
    // The checker sees each of these edges.
    for at in 0..certificate.plan.edges.len() {
        let mut fewer = certificate.clone();
        fewer.plan.edges.remove(at);
        assert!(cuweave::certificate::check(&fewer).is_err(), "without edge {at}");
    }
    let mut exec = graph.instantiate().unwrap();
    exec.launch(&team.streams[0]).unwrap();
    let sum = |at: u32| (0..d).map(|device| (device as u32 * 1000 + at) as f32 + 1.0).sum::<f32>();
    let expected: Vec<f32> = (0..N).map(sum).collect();
    for device in team.read(N as usize) {
        assert_eq!(device, expected);
    }
    for (result, stream) in results.iter().zip(&team.streams) {
        assert_eq!(result.to_host(stream).unwrap(), expected);
    }
    silent();
}

#[cuweave::graph(devices = 2)]
fn chain(n: u32, x: &mut [f32; n], all: &mut [Multimem<f32>; n], y: &mut [f32; n]) {
    spread[per_item(n)](&y, &mut all, n);
    raise[per_item(n)](&mut x, 0.5, n);
    gather[per_item(n)](&all, &mut y, n);
    accumulate[per_item(n)](&y, &mut all, n);
    raise[per_item(n)](&mut x, 0.25, n);
}

#[cuweave::graph(devices = 2)]
fn disjoint(n: u32, x: &mut [f32; n], all: &mut [Multimem<f32>; 2 * n]) {
    reduce[per_item(n)](&mut all[n..2 * n], n);
    raise[per_item(n)](&mut x, 1.0, n);
    #[on(1)]
    reduce[per_item(n)](&mut all[0..n], n);
}

#[test]
fn uses_of_one_memory_run_in_program_order() {
    with_devices("multicast_graphs::program_order", 2, &[("CUWEAVE_CHECK", "1")]);
}

#[test]
#[ignore = "run by another test, with several devices"]
fn program_order() {
    let team = Team::new();
    let y = Buffer::from_host(&team.streams[0], &vec![2.0_f32; N as usize]).unwrap();
    let graph = chain(&team.contexts, N, &team.memory[1], &team.all, &y).unwrap();
    assert_eq!(graph.report().edges, 4, "{}", graph.report());
    let mut exec = graph.instantiate().unwrap();
    exec.launch(&team.streams[0]).unwrap();
    // Device 0: 2, then 2 + 4.5. Device 1: 2, 2.5, 2.5 + 4.5, 7.25.
    assert_eq!(y.to_host(&team.streams[0]).unwrap(), vec![4.5; N as usize]);
    let read = team.read(N as usize + 1);
    assert_eq!((read[0][0], read[1][0]), (6.5, 7.25));
    assert_eq!((read[0][N as usize], read[1][N as usize]), (0.0, 0.0));

    // Only bytes that are in both are ordered.
    let (parts, all) = (team.memory[0].slice::<f32>(0, 8).unwrap(), team.all.slice::<f32>(0, 16).unwrap());
    let graph = disjoint(&team.contexts, 8, &parts, &all).unwrap();
    assert_eq!(graph.report().edges, 1, "{}", graph.report());
    // At another place of the object, the same elements are in the other half of the mapping.
    let all = team.all.slice::<f32>(64, 16).unwrap();
    let parts = team.memory[0].slice::<f32>(64 + 32, 8).unwrap();
    let graph = disjoint(&team.contexts, 8, &parts, &all).unwrap();
    assert_eq!(graph.report().edges, 1, "{}", graph.report());
    let parts = team.memory[0].slice::<f32>(0, 8).unwrap();
    let graph = disjoint(&team.contexts, 8, &parts, &all).unwrap();
    assert_eq!(graph.report().edges, 0, "{}", graph.report());
    silent();
}

#[cuweave::graph(devices = 2)]
fn raised(n: u32, x: &mut [f32; n]) {
    raise[per_item(n)](&mut x, 1.0, n);
}

#[cuweave::graph(devices = 2)]
fn gathered(n: u32, all: &[Multimem<f32>; n], y: &mut [f32; n]) {
    gather[per_item(n)](&all, &mut y, n);
}

#[cuweave::graph(devices = 2)]
fn spread_out(n: u32, y: &[f32; n], all: &mut [Multimem<f32>; n]) {
    spread[per_item(n)](&y, &mut all, n);
}

#[test]
fn execs_share_the_memory_in_order() {
    with_devices("multicast_graphs::several_execs", 2, &[]);
}

#[test]
#[ignore = "run by another test, with several devices"]
fn several_execs() {
    let Team { contexts, streams, memory, all, object, bound } = Team::new();
    let other = contexts[0].new_stream().unwrap();
    let y = Buffer::from_host(&streams[0], &vec![3.0_f32; N as usize]).unwrap();
    let sum = Buffer::<f32>::zeros(&other, N as usize).unwrap();
    let mut spread = spread_out(&contexts, N, &y, &all).unwrap().instantiate().unwrap();
    let mut raise = raised(&contexts, N, memory[0].clone()).unwrap().instantiate().unwrap();
    let mut gather = gathered(&contexts, N, &all, &sum).unwrap().instantiate().unwrap();
    for round in 0..10 {
        // All three in other streams, with copies by the host in between.
        spread.launch(&streams[0]).unwrap();
        raise.launch(&other).unwrap();
        gather.launch(&streams[0]).unwrap();
        assert_eq!(sum.to_host(&other).unwrap(), vec![7.0; N as usize], "round {round}");
        memory[1].write(&streams[1], 0, &[10.0_f32]).unwrap();
        gather.launch(&other).unwrap();
        assert_eq!(sum.to_host(&streams[0]).unwrap()[..2], [14.0, 7.0]);
        all.write(&streams[1], 4, &[1.0_f32]).unwrap();
        raise.launch(&streams[0]).unwrap();
        gather.launch(&other).unwrap();
        assert_eq!(sum.to_host(&streams[0]).unwrap()[..3], [15.0, 3.0, 8.0]);
        let read = memory[0].read::<f32>(&streams[0], 0, 3).unwrap();
        assert_eq!(read, [5.0, 2.0, 5.0]);
        // A copy on the device, from ordinary memory.
        let from = streams[1].clone_htod(&[8.0_f32, 9.0]).unwrap();
        memory[1].copy_from(&streams[1], 4, &from).unwrap();
        gather.launch(&streams[0]).unwrap();
        assert_eq!(sum.to_host(&other).unwrap()[..3], [15.0, 10.0, 14.0]);
    }
    // The devices' memory that is no argument could not be restored.
    let refused = gather.verify(&streams[0]).unwrap_err().to_string();
    assert!(refused.contains("`all` (") && refused.contains("is a mapped multicast object"), "{refused}");
    // A view of the memory is an access to what the mapping reaches.
    let part = memory[1].slice::<f32>(0, 4).unwrap();
    let launched = part.with(&streams[1], |_| spread.launch(&streams[0])).unwrap();
    assert!(matches!(launched, Err(Error::BufferLent { .. })), "{launched:?}");
    let written = part.with(&streams[1], |_| all.write(&streams[0], 0, &[0.0_f32])).unwrap();
    assert!(matches!(written, Err(Error::BufferLentTwice)), "{written:?}");
    spread.launch(&streams[0]).unwrap();
    drop((spread, raise, gather, object, bound, all));
    assert_eq!(memory[1].read::<f32>(&streams[1], 0, 1).unwrap(), [3.0]);
    silent();
}

#[test]
fn what_a_graph_uses_stays_bound() {
    with_devices("multicast_graphs::lifetimes", 2, &[]);
}

#[test]
#[ignore = "run by another test, with several devices"]
fn lifetimes() {
    let Team { contexts, streams, memory, all, object, mut bound } = Team::new();
    let y = Buffer::from_host(&streams[0], &vec![3.0_f32; N as usize]).unwrap();
    let mut exec = spread_out(&contexts, N, &y, &all).unwrap().instantiate().unwrap();
    assert!(matches!(fault(bound.remove(1).unbind()), MulticastFault::InUse { offset: 0, bytes: STEP, .. }));
    drop((all, object));
    // The exec keeps the bindings and the mapping.
    drop(bound);
    exec.launch(&streams[0]).unwrap();
    assert_eq!(memory[1].read::<f32>(&streams[1], 0, 1).unwrap(), [3.0]);
    // Without a wait in between.
    exec.launch(&streams[0]).unwrap();
    drop(exec);
    assert_eq!(Arc::strong_count(&memory[0]), 1);

    // Unbound by the drop of the exec, so that another object can take the place.
    let Team { contexts, streams, memory, all, object, mut bound } = Team::new();
    let y = Buffer::from_host(&streams[0], &vec![4.0_f32; N as usize]).unwrap();
    let mut exec = spread_out(&contexts, N, &y, &all).unwrap().instantiate().unwrap();
    exec.launch(&streams[0]).unwrap();
    drop(bound.remove(0));
    let occupied = fault(object.bind(0, &memory[0], 0, STEP));
    assert!(matches!(occupied, MulticastFault::Overlap { device: 0, .. }), "{occupied}");
    drop(exec);
    bound.push(object.bind(0, &memory[0], 0, STEP).unwrap());
    // Unbinding waits for a launch in flight.
    let mut exec = spread_out(&contexts, N, &y, &all).unwrap().instantiate().unwrap();
    exec.launch(&streams[0]).unwrap();
    drop(exec);
    bound.pop().unwrap().unbind().unwrap();
    let unbound = fault(spread_out(&contexts, N, &y, &all));
    assert!(matches!(unbound, MulticastFault::Unbound { device: 0, offset: 0, .. }), "{unbound}");
    // A forgotten exec keeps everything alive.
    bound.push(object.bind(0, &memory[0], 0, STEP).unwrap());
    let exec = spread_out(&contexts, N, &y, &all).unwrap().instantiate().unwrap();
    std::mem::forget(exec);
    drop((object, all, bound));
    assert!(Arc::strong_count(&memory[0]) > 1);
    silent();
}

#[cuweave::graph(devices = 2)]
fn copies(n: u32, all: &mut [Multimem<f32>; n], other: &mut [Multimem<f32>; n]) {
    copy(&all, &mut other);
}

#[cuweave::graph(devices = 2)]
fn both(n: u32, y: &mut [f32; n], all: &mut [Multimem<f32>; n]) {
    spread[per_item(n)](&y, &mut all, n);
}

#[cuweave::graph(devices = 2)]
fn both_read(n: u32, x: &[f32; n], all: &[Multimem<f32>; n], y: &mut [f32; n], z: &mut [f32; n]) {
    take[per_item(n)](&x, &mut y, n);
    gather[per_item(n)](&all, &mut z, n);
}

#[cuweave::graph(devices = 2, order = "explicit")]
fn unordered(n: u32, x: &mut [f32; n], all: &mut [Multimem<f32>; n]) {
    raise[per_item(n)](&mut x, 1.0, n);
    reduce[per_item(n)](&mut all, n);
}

#[cuweave::graph(devices = 3)]
fn on_the_third(n: u32, all: &mut [Multimem<f32>; n]) {
    #[on(2)]
    reduce[per_item(n)](&mut all, n);
}

#[test]
fn wrong_uses_are_refused() {
    with_devices("multicast_graphs::refused", 3, &[]);
}

#[test]
#[ignore = "run by another test, with several devices"]
fn refused() {
    let contexts = contexts();
    let streams = streams(&contexts);
    let memory: Vec<_> = streams.iter().map(|stream| Memory::zeros(stream, STEP).unwrap()).collect();
    let mut forming = Forming::new(&contexts[..2], 2 * STEP).unwrap();
    forming.add_own().unwrap();
    let object = forming.complete().unwrap();
    let _bound = [0, 1].map(|at| object.bind(0, &memory[at], 0, STEP).unwrap());
    let all = object.map().unwrap();
    let two = &contexts[..2];
    let slice = |offset, len| all.slice::<f32>(offset, len).unwrap();

    // Lengths and places.
    let small = spread_out(two, N, memory[0].slice::<f32>(0, N as usize).unwrap(), slice(0, N as usize - 1));
    assert!(matches!(small, Err(Error::TooShort { len: 99, needed: 100, .. })), "{small:?}");
    assert!(matches!(fault(all.slice::<f32>(2, 1)), MulticastFault::Misaligned { bytes: 2, .. }));
    assert!(matches!(fault(all.slice::<f32>(2 * STEP - 4, 2)), MulticastFault::Outside { .. }));
    assert!(matches!(fault(memory[0].slice::<u64>(STEP, 1)), MulticastFault::Outside { .. }));
    assert!(matches!(fault(memory[0].slice::<u64>(0, 0)), MulticastFault::Empty { .. }));
    let y = Buffer::<f32>::zeros(&streams[0], N as usize).unwrap();
    let unbound = fault(spread_out(two, N, &y, slice(STEP - 8, N as usize)));
    assert!(matches!(unbound, MulticastFault::Unbound { device: 0, offset: STEP, .. }), "{unbound}");
    // Only what the argument needs must be bound.
    drop(spread_out(two, 2, &y, slice(STEP - 8, N as usize)).unwrap());
    drop(spread_out(two, N, &y, &all).unwrap());

    // Kinds of statements and of memory.
    let copied = fault(copies(two, N, slice(0, N as usize), slice(1024, N as usize)));
    assert!(matches!(copied, MulticastFault::NotByKernel { .. }), "{copied}");
    assert!(matches!(fault(slice(0, 4).with(&streams[0], |_| ())), MulticastFault::NotForCopies));
    // SAFETY: it is bound, and never dropped.
    let plain = unsafe { streams[0].upgrade_device_ptr::<Multimem<f32>>(memory[0].address(), N as usize) };
    let mut plain = std::mem::ManuallyDrop::new(plain);
    let plain = fault(spread_out(two, N, &y, &mut *plain));
    assert!(matches!(&plain, MulticastFault::NotMapped { buffer, .. } if buffer == "all"), "{plain}");

    // Both views in one launch, and in one graph.
    let first = || memory[0].slice::<f32>(0, N as usize).unwrap();
    let twice = fault(both(two, N, first(), &all));
    let names = match &twice {
        MulticastFault::SameMemory { first, second, .. } => [first.as_str(), second.as_str()],
        _ => ["", ""],
    };
    assert_eq!(names, ["y", "all"], "{twice}");
    drop(both(two, N, first(), slice(u64::from(N) * 4, N as usize)).unwrap());
    let (y, z) =
        (Buffer::<f32>::zeros(&streams[0], 100).unwrap(), Buffer::<f32>::zeros(&streams[0], 100).unwrap());
    let graph = both_read(two, N, first(), &all, &y, &z).unwrap();
    assert_eq!(graph.report().edges, 0, "{}", graph.report());
    let unordered = unordered(two, N, first(), &all);
    let expected =
        matches!(&unordered, Err(Error::MulticastArgument { fault: MulticastFault::Unordered { .. }, .. }));
    assert!(expected, "{unordered:?}");

    // Devices that the object does not have.
    let third = fault(on_the_third(&contexts, N, &all));
    assert!(matches!(third, MulticastFault::NotInTeam { device: 2, .. }), "{third}");
    let none = spread_out(&contexts[1..], N, memory[1].slice::<f32>(1024, N as usize).unwrap(), &all);
    drop(none.unwrap());
    silent();
}

#[test]
fn setters_keep_the_common_bytes() {
    with_devices("multicast_graphs::setters", 2, &[]);
}

#[test]
#[ignore = "run by another test, with several devices"]
fn setters() {
    let team = Team::new();
    let y = Buffer::from_host(&team.streams[0], &vec![2.0_f32; N as usize]).unwrap();
    let part = |device: usize, at: u64| team.memory[device].slice::<f32>(at, N as usize).unwrap();
    let slice = |at| team.all.slice::<f32>(at, N as usize).unwrap();
    let mut exec = chain(&team.contexts, N, part(1, 0), slice(0), &y).unwrap().instantiate().unwrap();
    let other_views = |result: Result<()>| {
        let expected =
            matches!(&result, Err(Error::BuildAgain { reason: cuweave::error::SetterFault::OtherViews, .. }));
        assert!(expected, "{result:?}");
    };
    other_views(exec.set_x(part(1, 1024)));
    other_views(exec.set_all(slice(1024)));
    let plain = Buffer::<f32>::zeros(&team.streams[1], N as usize).unwrap();
    let moved = exec.set_x(&plain);
    assert!(moved.is_err(), "{moved:?}");
    // Other ordinary memory, and the same bytes by another mapping.
    let other = Buffer::from_host(&team.streams[0], &vec![1.0_f32; N as usize]).unwrap();
    exec.set_y(&other).unwrap();
    let again = team.object.map().unwrap();
    exec.set_all(&again).unwrap();
    exec.launch(&team.streams[0]).unwrap();
    let read = team.read(1);
    assert_eq!((read[0][0], read[1][0]), (1.0 + 2.5, 1.5 + 2.5 + 0.25));
    // Without a common argument, both move freely.
    let mut alone = spread_out(&team.contexts, N, &y, slice(0)).unwrap().instantiate().unwrap();
    alone.set_all(slice(4096)).unwrap();
    alone.launch(&team.streams[0]).unwrap();
    assert_eq!(team.memory[1].read::<f32>(&team.streams[1], 4096, 1).unwrap(), [2.0]);
    drop((exec, alone));
    drop(team.bound);
    silent();
}

#[test]
fn all_reduces_of_any_length() {
    with_devices("multicast_graphs::lengths", 2, &[("CUWEAVE_CHECK", "1")]);
    with_devices("multicast_graphs::lengths", 4, &[("CUWEAVE_CHECK", "1")]);
}

#[test]
#[ignore = "run by another test, with several devices"]
fn lengths() {
    let team = Team::new();
    let d = team.devices();
    for (n, offset) in [(1, 0), (2, 4), (3, 0), (7, 8), (16, 0), (17, 12), (64, 4), (1001, 0), (4096, 16)] {
        let len = n as usize + offset as usize / 4 + 1;
        team.write(len as u32, |device, at| (at + 1) as f32 * (device + 1) as f32);
        let all = team.all.slice::<f32>(offset, n as usize).unwrap();
        let graph = all_reduce(&team.contexts, d, n, &all).unwrap();
        // The parts are not ordered.
        assert_eq!(graph.report().edges, 0, "{n}");
        graph.instantiate().unwrap().launch(&team.streams[0]).unwrap();
        let factor = (d * (d + 1) / 2) as f32;
        for (device, read) in team.read(len).into_iter().enumerate() {
            for (at, value) in read.into_iter().enumerate() {
                let inside = (offset as usize / 4..offset as usize / 4 + n as usize).contains(&at);
                let expected = (at + 1) as f32 * if inside { factor } else { (device + 1) as f32 };
                assert_eq!(value, expected, "{n} from {offset}: element {at} of device {device}");
            }
        }
    }
    silent();
}

#[cfg(feature = "half")]
#[test]
fn all_reduces_of_pairs() {
    with_devices("multicast_graphs::pairs", 2, &[("CUWEAVE_CHECK", "1")]);
    with_devices("multicast_graphs::pairs", 4, &[("CUWEAVE_CHECK", "1")]);
}

#[cfg(feature = "half")]
#[test]
#[ignore = "run by another test, with several devices"]
fn pairs() {
    use cuweave::multicast::{all_reduce_bf16, all_reduce_f16};
    use half::{bf16, f16};
    let team = Team::new();
    let d = team.devices();
    for (pairs, offset) in [(1, 0), (3, 4), (4, 0), (9, 8), (500, 16)] {
        let len = 2 * pairs as usize;
        let value = |device: usize, at: usize| ((at % 60 + 1) * (device + 1)) as f32;
        let sum = |at: usize| (0..d as usize).map(|device| value(device, at)).sum::<f32>();
        for (device, (memory, stream)) in team.memory.iter().zip(&team.streams).enumerate() {
            let values: Vec<f16> = (0..len).map(|at| f16::from_f32(value(device, at))).collect();
            memory.write(stream, offset, &values).unwrap();
            let values: Vec<bf16> = (0..len).map(|at| bf16::from_f32(value(device, at))).collect();
            memory.write(stream, offset + STEP / 2, &values).unwrap();
        }
        let all = team.all.slice::<f16>(offset, len).unwrap();
        let mut exec = all_reduce_f16(&team.contexts, d, pairs, &all).unwrap().instantiate().unwrap();
        exec.launch(&team.streams[0]).unwrap();
        let all = team.all.slice::<bf16>(offset + STEP / 2, len).unwrap();
        let mut exec = all_reduce_bf16(&team.contexts, d, pairs, &all).unwrap().instantiate().unwrap();
        exec.launch(&team.streams[0]).unwrap();
        for (memory, stream) in team.memory.iter().zip(&team.streams) {
            let read = memory.read::<f16>(stream, offset, len).unwrap();
            let expected: Vec<f16> = (0..len).map(|at| f16::from_f32(sum(at))).collect();
            assert_eq!(read, expected, "{pairs} pairs from {offset}");
            let read = memory.read::<bf16>(stream, offset + STEP / 2, len).unwrap();
            let expected: Vec<bf16> = (0..len).map(|at| bf16::from_f32(sum(at))).collect();
            assert_eq!(read, expected, "{pairs} pairs from {offset}");
        }
    }
    silent();
}
