//! The host's work for launches and setters: driver calls, allocations, and evaluated expressions.
//!
//! The simulated driver is a library with its own allocator, so its allocations are not counted.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};

use cuweave::Buffer;
use cuweave::prelude::*;
use cuweave_testkit::device::{ExclusiveDevice, alone};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: all requests are forwarded to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn set(out: &mut [MaybeUninit<f32>; n], value: f32, n: u32);
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
}

type Calls = BTreeMap<String, u64>;

/// Returns the driver calls and the number of allocations during some work.
fn work(mut work: impl FnMut()) -> (Calls, u64) {
    let calls = cuweave_sim::call_counts().expect("the simulated driver");
    let allocations = ALLOCATIONS.get();
    work();
    let allocations = ALLOCATIONS.get() - allocations;
    let mut made = cuweave_sim::call_counts().expect("the simulated driver");
    made.retain(|name, count| {
        *count -= calls.get(name).copied().unwrap_or(0);
        *count > 0
    });
    (made, allocations)
}

fn calls(made: &[(&str, u64)]) -> Calls {
    made.iter().map(|&(name, count)| (name.to_owned(), count)).collect()
}

fn simulated() -> Option<ExclusiveDevice> {
    let device = alone();
    if device.simulated { Some(device) } else { None }
}

/// The calls of a launch that waits for nothing.
const PLAIN: [(&str, u64); 4] =
    [("cuCtxGetCurrent", 1), ("cuStreamIsCapturing", 1), ("cuGraphLaunch", 1), ("cuEventRecord", 1)];

#[cuweave::graph]
fn sums(n: u32, xs: &[&[f32; n]], y: &mut [f32; n]) {
    for x in &xs {
        axpy[per_item(n)](1.0, &x, &mut y, n);
    }
}

/// With shared buffers on one stream, or on two alternating streams, a launch makes the same calls for any number
/// of buffers, and allocates nothing.
#[test]
fn a_launch_does_not_depend_on_the_number_of_buffers() {
    let Some(device) = simulated() else {
        return println!("not run: only the simulated driver counts calls");
    };
    let other = device.ctx.new_stream().expect("a stream");
    for count in [3, 60] {
        let xs: Vec<Buffer<f32>> =
            (0..count).map(|_| Buffer::new(device.upload(&[1.0f32; 8])).expect("a buffer")).collect();
        let y = Buffer::new(device.zeros::<f32>(8)).expect("a buffer");
        let bound = || xs.iter().collect::<Vec<_>>();
        let mut one = sums(&device.ctx, 8, bound(), &y).expect("it builds").instantiate().expect("an exec");
        let mut two = sums(&device.ctx, 8, bound(), &y).expect("it builds").instantiate().expect("an exec");
        for _ in 0..3 {
            one.launch(&device.stream).expect("it launches");
            two.launch(&other).expect("it launches");
        }
        one.launch(&device.stream).expect("it launches");
        let made = work(|| one.launch(&device.stream).expect("it launches"));
        assert_eq!(made, (calls(&PLAIN), 0), "{count} buffers on one stream");
        // Each waits for the other's launch, which writes the same sums.
        let turns = work(|| {
            two.launch(&other).expect("it launches");
            one.launch(&device.stream).expect("it launches");
        });
        let waits = turns.0.get("cuStreamWaitEvent").copied();
        assert_eq!((waits, turns.0.get("cuEventRecord")), (Some(2), Some(&2)), "{count}: {:?}", turns.0);
        assert!(turns.1 <= 12, "{} allocations for {count} buffers", turns.1);
        let sum = y.to_host(&device.stream).expect("the sums");
        assert_eq!(sum, [10.0 * count as f32; 8]);
    }
}

/// An exec that is launched on two alternating streams, with buffers that nothing else uses, adds no waits.
#[test]
fn an_exec_on_two_streams_waits_for_nothing_of_its_own() {
    let Some(device) = simulated() else {
        return println!("not run: only the simulated driver counts calls");
    };
    let other = device.ctx.new_stream().expect("a stream");
    let xs: Vec<Buffer<f32>> =
        (0..40).map(|_| Buffer::new(device.upload(&[1.0f32; 8])).expect("a buffer")).collect();
    let y = Buffer::new(device.zeros::<f32>(8)).expect("a buffer");
    let graph = sums(&device.ctx, 8, xs.iter().collect(), &y).expect("it builds");
    let mut exec = graph.instantiate().expect("an exec");
    for stream in [&device.stream, &other, &device.stream, &other] {
        exec.launch(stream).expect("it launches");
    }
    for stream in [&device.stream, &other] {
        let (made, _) = work(|| exec.launch(stream).expect("it launches"));
        assert_eq!(made, calls(&PLAIN));
    }
}

#[cuweave::graph]
fn made(n: u32) -> [f32; n] {
    let x = alloc::<f32>(n);
    set[per_item(n)](&mut x, 2.0, n);
    x
}

/// An output that was freed in the stream of the next launch needs no wait.
#[test]
fn a_launch_with_an_output_waits_only_for_a_free_in_another_stream() {
    let Some(device) = simulated() else {
        return println!("not run: only the simulated driver counts calls");
    };
    let other = device.ctx.new_stream().expect("a stream");
    let mut exec = made(&device.ctx, 8).expect("it builds").instantiate().expect("an exec");
    drop(exec.launch(&device.stream).expect("it launches"));
    let (same, _) = work(|| std::mem::forget(exec.launch(&device.stream).expect("it launches")));
    assert_eq!(same.get("cuStreamWaitEvent"), None, "{same:?}");
    assert_eq!(same.get("cuStreamGetId"), None, "{same:?}");
    let out = exec.launch(&device.stream).expect("it launches");
    drop(out);
    let (elsewhere, _) = work(|| drop(exec.launch(&other).expect("it launches")));
    assert!(elsewhere.get("cuStreamWaitEvent") >= Some(&1), "{elsewhere:?}");
}

static EVALUATED: AtomicU32 = AtomicU32::new(0);

fn counted(n: u32) -> u32 {
    EVALUATED.fetch_add(1, Ordering::Relaxed);
    n
}

/// A row of a cache for each of 20 layers, and a kernel that gets the position.
#[cuweave::graph]
fn rows(d: u32, most: u32, pos: u32, x: &[f32; d], cache: &mut [f32; 20 * most * d], out: &mut [f32; d]) {
    for i in 0..20 {
        axpy[per_item(counted(d))](
            1.0,
            &x,
            &mut cache[i * most * d + pos * d..i * most * d + pos * d + d],
            d,
        );
    }
    axpy[per_item(d)](pos as f32, &x, &mut out, d);
}

/// A setter of a position evaluates only expressions that mention it. If only ranges move, only the addresses of
/// launches change, without allocations.
#[test]
fn a_setter_evaluates_only_what_mentions_its_scalar() {
    let Some(device) = simulated() else {
        return println!("not run: only the simulated driver counts calls");
    };
    let x = device.upload(&[1.0f32; 4]);
    let (mut cache, mut out) = (device.zeros::<f32>(20 * 8 * 4), device.zeros::<f32>(4));
    let graph = rows(&device.ctx, 4, 8, 0, &x, &mut cache, &mut out).expect("it builds");
    let nodes = graph.report().nodes();
    let mut exec = graph.instantiate().expect("an exec");
    exec.set_pos(1).expect("it is set");
    let before = EVALUATED.load(Ordering::Relaxed);
    let (made, allocations) = work(|| exec.set_pos(5).expect("it is set"));
    assert_eq!(EVALUATED.load(Ordering::Relaxed), before, "no configuration mentions the position");
    assert_eq!(made.get("cuGraphExecKernelNodeSetParams_v2"), Some(&(nodes as u64)), "{made:?}");
    assert!(allocations <= 8, "{allocations} allocations");
    let refused = exec.set_pos(8).expect_err("the range ends behind its buffer");
    assert!(matches!(refused, cuweave::Error::Range { .. }), "{refused}");
    exec.launch(&device.stream).expect("it launches");
    drop(exec);
    let expected: Vec<f32> = (0..20 * 8 * 4).map(|at| if at / 4 % 8 == 5 { 1.0 } else { 0.0 }).collect();
    assert_eq!(device.download(&cache), expected);
    assert_eq!(device.download(&out), [5.0; 4]);
    device.nothing_reported();
}
