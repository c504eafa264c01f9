//! Programs over two devices, which are real if there are two, and otherwise simulated: copies between devices,
//! records and loops on the second device, setters, pinned memory, and managed memory with advice and prefetches.

#![allow(unsafe_code)]

use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaEvent, CudaSlice, CudaStream, PinnedHostSlice};
use cuweave::managed::{Attach, Location, ManagedFault};
use cuweave::prelude::*;
use cuweave::{Buffer, Error, Managed};
use cuweave_testkit::device::driver;
use cuweave_testkit::process::apart;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn set(out: &mut [MaybeUninit<f32>; n], value: f32, n: u32);
    fn copy_to(src: &[f32; n], dst: &mut [MaybeUninit<f32>; n], n: u32);
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
}

#[cuweave::kernels("tests/kernels/decide.ptx")]
unsafe extern "ptx-kernel" {
    fn mix(x: &mut [u32; n], by: u32, n: u32);
    fn count_down(x: &mut [u32; 1]);
}

const N: u32 = 1 << 14;
const LEN: usize = N as usize;

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// The first two devices.
struct Two {
    contexts: Vec<Arc<CudaContext>>,
    streams: Vec<Arc<CudaStream>>,
}

/// Runs an ignored test with two devices in a separate process, if two devices are available.
fn with_two(test: &str) {
    apart(&format!("two_devices::{test}"), &[("CUWEAVE_SIM_DEVICES", "2")]);
}

fn two() -> Option<Two> {
    let driver = driver();
    if CudaContext::device_count().expect("a count") < 2 {
        println!("not run: it needs two devices, and the {driver} has one");
        return None;
    }
    let contexts: Vec<_> = (0..2).map(|device| cuweave::context(device).expect("a context")).collect();
    let streams = contexts.iter().map(|ctx| ctx.new_stream().expect("a stream")).collect();
    Some(Two { contexts, streams })
}

impl Two {
    fn ramp(&self, device: usize, first: f32) -> CudaSlice<f32> {
        self.streams[device].clone_htod(&ramp(1.0, first)).expect("an upload")
    }

    fn zeros(&self, device: usize) -> CudaSlice<f32> {
        self.streams[device].alloc_zeros(LEN).expect("an allocation")
    }

    fn pinned(&self, device: usize, values: &[f32]) -> PinnedHostSlice<f32> {
        // SAFETY: all elements are written before they are read.
        let mut memory = unsafe { self.contexts[device].alloc_pinned::<f32>(values.len()) }.expect("memory");
        memory.as_mut_slice().expect("elements").copy_from_slice(values);
        memory
    }
}

/// `a * (first + i)`
fn ramp(a: f32, first: f32) -> Vec<f32> {
    (0..N).map(|at| a * (first + at as f32)).collect()
}

#[cuweave::graph]
fn made(n: u32, x: &[f32; n]) -> [f32; n] {
    let h = alloc::<f32>(n);
    copy_to[per_item(n)](&x, &mut h, n);
    scale[per_item(n)](&mut h, 2.0, n);
    h
}

/// Copies an output to the second device.
#[cuweave::graph(devices = 2)]
fn fetched(n: u32, h: &[f32; n], out: &mut [f32; n]) {
    #[on(1)]
    {
        let here = alloc::<f32>(n);
        copy(&h, &mut here);
        axpy[per_item(n)](3.0, &here, &mut out, n);
    }
}

#[test]
fn outputs_are_copied_to_another_device() {
    with_two("outputs");
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn outputs() -> Outcome {
    let Some(two) = two() else { return Ok(()) };
    // Built for the second device, too, so that the copy is on one device.
    for device in 0..2 {
        let (x, mut out) = (two.ramp(device, 1.0), two.zeros(1));
        let mut maker = made(&two.contexts[device], N, &x)?.instantiate()?;
        for turn in 1..4 {
            let h = maker.launch(&two.streams[device])?;
            let mut taker = fetched(&two.contexts, N, &h, &mut out)?.instantiate()?;
            taker.launch(&two.streams[0])?;
            drop(taker);
            assert_eq!(two.streams[1].clone_dtoh(&out)?, ramp(6.0 * turn as f32, 1.0), "of device {device}");
        }
    }
    Ok(())
}

/// Returns an output, and writes arguments of both devices.
#[cuweave::graph(devices = 2)]
fn verified(n: u32, x: &mut [f32; n], y: &mut [f32; n]) -> [f32; n] {
    let h = alloc::<f32>(n);
    copy_to[per_item(n)](&x, &mut h, n);
    scale[per_item(n)](&mut h, 2.0, n);
    scale[per_item(n)](&mut h, 3.0, n);
    copy(&h, &mut x);
    #[on(1)]
    {
        let there = alloc::<f32>(n);
        copy(&h, &mut there);
        axpy[per_item(n)](3.0, &there, &mut y, n);
        scale[per_item(n)](&mut y, 2.0, n);
    }
    h
}

#[test]
fn both_devices_are_verified() {
    with_two("verifications");
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn verifications() -> Outcome {
    let Some(two) = two() else { return Ok(()) };
    let (mut x, mut y) = (two.ramp(0, 1.0), two.ramp(1, 2.0));
    let mut exec = verified(&two.contexts, N, &mut x, &mut y)?.instantiate()?;
    for _ in 0..2 {
        let verification = exec.verify(&two.streams[0])?;
        assert!(verification.is_equal(), "{verification}");
        assert_eq!(verification.compared(), 3 * 4 * u64::from(N), "{verification}");
    }
    drop(exec.launch(&two.streams[0])?);
    drop(exec);
    assert_eq!(two.streams[0].clone_dtoh(&x)?, ramp(6.0, 1.0));
    let expected: Vec<f32> = ramp(1.0, 2.0).iter().zip(ramp(18.0, 1.0)).map(|(y, h)| 2.0 * (y + h)).collect();
    assert_eq!(two.streams[1].clone_dtoh(&y)?, expected);
    Ok(())
}

/// A layer with memory on its device.
#[cuweave::arguments]
struct Layer {
    n: u32,
    w: &[f32; n],
    state: &mut [f32; n],
}

/// All layers are on the second device, and `x` is on the first.
#[cuweave::graph(devices = 2)]
fn layered(n: u32, turns: u32, layers: &[Layer<'_>], x: &mut [f32; n]) {
    #[on(1)]
    for _ in 0..turns {
        for layer in &layers {
            let h = alloc::<f32>(n);
            copy(&x, &mut h);
            axpy[per_item(n)](2.0, &layer.w, &mut h, n);
            axpy[per_item(n)](1.0, &h, &mut layer.state, n);
            copy(&h, &mut x);
        }
    }
}

#[test]
fn records_are_looped_over_on_the_second_device() {
    with_two("records");
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn records() -> Outcome {
    let Some(two) = two() else { return Ok(()) };
    let weights = [two.ramp(1, 1.0), two.ramp(1, 2.0), two.ramp(1, 3.0)];
    let mut states = [two.zeros(1), two.zeros(1), two.zeros(1)];
    let mut x = two.zeros(0);
    let layers = weights.iter().zip(&mut states).map(|(w, state)| Layer::new(N, w, state)).collect();
    let mut exec = layered(&two.contexts, N, 2, layers, &mut x)?.instantiate()?;
    exec.launch(&two.streams[0])?;
    let other = two.ramp(1, 10.0);
    exec.layers(1)?.set_w(other)?;
    exec.launch(&two.streams[0])?;
    drop(exec);
    let (mut expected, mut sums) = (vec![0.0_f32; LEN], vec![vec![0.0_f32; LEN]; 3]);
    for firsts in [[1.0_f32, 2.0, 3.0], [1.0, 10.0, 3.0]] {
        for _ in 0..2 {
            for (sum, first) in sums.iter_mut().zip(firsts) {
                expected.iter_mut().zip(ramp(1.0, first)).for_each(|(x, w)| *x += 2.0 * w);
                sum.iter_mut().zip(&expected).for_each(|(sum, x)| *sum += x);
            }
        }
    }
    assert_eq!(two.streams[0].clone_dtoh(&x)?, expected);
    for (state, sum) in states.iter().zip(sums) {
        assert_eq!(two.streams[1].clone_dtoh(state)?, sum);
    }
    Ok(())
}

/// Fills, copies and launches on the second device, all changed by setters.
#[cuweave::graph(devices = 2)]
fn set_there(n: u32, at: u32, value: f32, x: &mut [f32; n], from: &[f32; n]) {
    #[on(1)]
    {
        fill(&mut x, value);
        copy(&from[at..at + 2], &mut x[..2]);
        scale[per_item(n)](&mut x, value, n);
    }
}

#[test]
fn setters_change_nodes_of_the_second_device() {
    with_two("setters");
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn setters() -> Outcome {
    let Some(two) = two() else { return Ok(()) };
    let [x, y] = [0, 0].map(|_| Buffer::new(two.zeros(1)));
    let (x, y, from) = (x?, y?, two.ramp(1, 0.0));
    let mut exec = set_there(&two.contexts, N, 0, 2.0, &x, &from)?.instantiate()?;
    exec.launch(&two.streams[0])?;
    assert_eq!(x.to_host(&two.streams[1])?[..3], [0.0, 2.0, 4.0]);
    exec.set_value(3.0)?;
    exec.set_at(5)?;
    exec.set_x(&y)?;
    exec.launch(&two.streams[0])?;
    assert_eq!(y.to_host(&two.streams[1])?[..3], [15.0, 18.0, 9.0]);
    assert_eq!(x.to_host(&two.streams[1])?[..3], [0.0, 2.0, 4.0]);
    Ok(())
}

/// A loop that the second device decides, and an event of its context after it.
#[cuweave::graph(devices = 2)]
fn decided_there(n: u32, go: &mut [u32; 1], x: &mut [u32; n], done: &CudaEvent) {
    #[on(1)]
    {
        while go {
            mix[per_item(n)](&mut x, 1, n);
            count_down[(1, 1)](&mut go);
        }
        record(&done);
    }
}

#[test]
fn the_second_device_decides() {
    with_two("decisions");
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn decisions() -> Outcome {
    let Some(two) = two() else { return Ok(()) };
    let mut go = two.streams[1].clone_htod(&[3_u32])?;
    let mut x = two.streams[1].clone_htod(&vec![1_u32; LEN])?;
    let done = Arc::new(two.contexts[1].new_event(None)?);
    let mut exec = decided_there(&two.contexts, N, &mut go, &mut x, &done)?.instantiate()?;
    exec.launch(&two.streams[0])?;
    two.streams[1].wait(&done)?;
    done.synchronize()?;
    drop(exec);
    assert_eq!(two.streams[1].clone_dtoh(&x)?, vec![((31 + 1) * 31 + 1) * 31 + 1; LEN]);
    Ok(())
}

/// From pinned memory to both devices and back.
#[cuweave::graph(devices = 2)]
fn through_the_host(n: u32, from: &Pinned<[f32; n]>, back: &mut Pinned<[f32; n]>) {
    let h = alloc::<f32>(n);
    copy(&from, &mut h);
    scale[per_item(n)](&mut h, 2.0, n);
    #[on(1)]
    {
        let g = alloc::<f32>(n);
        copy(&from, &mut g);
        axpy[per_item(n)](1.0, &h, &mut g, n);
        copy(&g, &mut back);
    }
    host(&mut back, |back| back.iter_mut().for_each(|x| *x *= 10.0));
}

#[test]
fn pinned_memory_is_of_either_context() {
    with_two("pinned");
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn pinned() -> Outcome {
    let Some(two) = two() else { return Ok(()) };
    for (one, other) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let (from, mut back) = (two.pinned(one, &ramp(1.0, 1.0)), two.pinned(other, &vec![0.0; LEN]));
        let mut exec = through_the_host(&two.contexts, N, &from, &mut back)?.instantiate()?;
        for _ in 0..2 {
            exec.launch(&two.streams[0])?;
            // The memory's event orders a use in another stream with the launches.
            let copied = two.streams[other].clone_htod(exec.args().back)?;
            assert_eq!(two.streams[other].clone_dtoh(&copied)?, ramp(30.0, 1.0), "{one}, {other}");
        }
        std::mem::forget(exec);
        assert_eq!(back.as_slice()?, ramp(30.0, 1.0), "{one}, {other}");
    }
    Ok(())
}

/// Managed memory on both devices and the host.
#[cuweave::graph(devices = 2)]
fn shared_by_all(
    n: u32,
    #[advise(read_mostly, accessed_by(device(1)))] by: &[f32; n],
    #[advise(preferred_location(device(1)))]
    #[prefetch(device(1))]
    x: &mut [f32; n],
    #[prefetch(host)] out: &mut [f32; n],
) {
    axpy[per_item(n)](1.0, &by, &mut x, n);
    #[on(1)]
    {
        axpy[per_item(n)](10.0, &by, &mut x, n);
        copy(&x, &mut out);
    }
    host(&mut out, |out| out.iter_mut().for_each(|x| *x += 1.0));
}

#[test]
fn managed_memory_is_shared_by_both_devices() {
    with_two("managed");
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn managed() -> Outcome {
    let Some(two) = two() else { return Ok(()) };
    // 64 KiB each.
    let by = Managed::from_host(&two.streams[0], &ramp(1.0, 1.0), Attach::Global)?;
    for device in 0..2 {
        let mut x = Managed::<f32>::zeros(&two.streams[device], LEN, Attach::Global)?;
        let out = Managed::<f32>::zeros(&two.streams[1 - device], LEN, Attach::Global)?;
        let mut exec = shared_by_all(&two.contexts, N, &by, &x, &out)?.instantiate()?;
        assert!(by.attributes(..)?.read_mostly);
        assert_eq!(by.attributes(..)?.accessed_by, [Location::Device(1)]);
        assert_eq!(x.attributes(..)?.preferred_location, Some(Location::Device(1)));
        for turn in 1..4 {
            exec.launch(&two.streams[0])?;
            let expected: Vec<f32> = ramp(11.0 * turn as f32, 1.0).iter().map(|x| x + 1.0).collect();
            assert_eq!(*out.host()?, *expected, "turn {turn}");
            assert_eq!(x.attributes(..)?.last_prefetch, Some(Location::Device(1)));
        }
        x.host_mut()?.fill(0.0);
        exec.launch(&two.streams[0])?;
        assert_eq!(out.host()?[1], 23.0);
        // Another managed buffer is bound by a setter. Copy nodes keep the context in which the memory was
        // allocated.
        let other = Managed::from_host(&two.streams[1 - device], &ramp(1.0, 0.0), Attach::Global)?;
        let refused = exec.set_x(&other).expect_err("it was allocated for the other device");
        assert!(
            matches!(refused, Error::ManagedArgument { fault: ManagedFault::OfOtherDevice { .. }, .. }),
            "{refused}"
        );
        let other = Managed::from_host(&two.streams[device], &ramp(1.0, 0.0), Attach::Global)?;
        exec.set_x(&other)?;
        exec.launch(&two.streams[0])?;
        assert_eq!(out.host()?[1], 24.0);
    }
    // Graphs in either context can use it, wherever it was allocated.
    for (context, stream) in two.contexts.iter().zip(&two.streams) {
        let mut exec = made(context, N, &by)?.instantiate()?;
        let h = exec.launch(stream)?;
        assert_eq!(stream.clone_dtoh(&h)?, ramp(2.0, 1.0));
        drop(h);
        // Graphs with launches only can be bound to any managed memory.
        let x = Managed::from_host(&two.streams[0], &ramp(1.0, 1.0), Attach::Global)?;
        exec.set_x(&x)?;
        let h = exec.launch(stream)?;
        assert_eq!(stream.clone_dtoh(&h)?, ramp(2.0, 1.0));
    }
    Ok(())
}

/// Three temporaries per device, which the budget forces into sequence.
#[cuweave::graph(devices = 2, budget = 4 * u64::from(n), launches = "as-written")]
fn within(n: u32, outs: [&mut [f32; 3 * n]; 2]) {
    for i in 0..2 {
        for j in 0..3 {
            #[on(i)]
            {
                let h = alloc::<f32>(n);
                set[per_item(n)](&mut h, (3 * i + j) as f32, n);
                copy_to[per_item(n)](&h, &mut outs[i][j * n..(j + 1) * n], n);
            }
        }
    }
}

#[test]
fn a_budget_is_that_of_each_device() {
    with_two("budgets");
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn budgets() -> Outcome {
    let Some(two) = two() else { return Ok(()) };
    let mut outs = [two.streams[0].alloc_zeros(3 * LEN)?, two.streams[1].alloc_zeros(3 * LEN)?];
    let [a, b] = &mut outs;
    let graph = within(&two.contexts, N, [a, b])?;
    let plan = graph.report().plan.expect("there are temporaries");
    assert_eq!(plan.devices, [4 * u64::from(N); 2]);
    graph.instantiate()?.launch(&two.streams[0])?;
    for (device, out) in outs.iter().enumerate() {
        let values = two.streams[device].clone_dtoh(out)?;
        assert!(values.iter().enumerate().all(|(at, &value)| value == (3 * device + at / LEN) as f32));
    }
    Ok(())
}
