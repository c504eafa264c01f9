//! Execs that share an arena. Their results must be right when the arena grows, when members end, and when calls
//! fail.

use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaSlice, CudaStream, sys};
use cuweave::prelude::*;
use cuweave::{ArenaPool, Error};
use cuweave_testkit::device::{Device, alone};
use cuweave_testkit::faults::{GRAPH, NOT_SUPPORTED, OUT_OF_MEMORY};
use cuweave_testkit::process::apart;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn add(a: &[f32; n], b: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
}

/// out = 3 x, with one temporary.
#[cuweave::graph]
fn small(n: u32, a: f32, x: &[f32; n], out: &mut [f32; n]) {
    let t = alloc::<f32>(n);
    copy(&x, &mut t);
    scale[per_item(n)](&mut t, a, n);
    copy(&t, &mut out);
}

/// out = x + 2, with temporaries that every kind of node writes: a memset, a copy, kernels, and a fill that a
/// memset cannot do.
#[cuweave::graph(memory = "nodes")]
fn large(n: u32, x: &[f32; n], out: &mut [f32; n], ratio: &mut [f64; n]) {
    let a = alloc::<f32>(n);
    let b = alloc::<f32>(n);
    let sum = alloc::<f32>(n);
    let wide = alloc::<f64>(n);
    fill(&mut a, 2.0);
    copy(&x, &mut b);
    add[per_item(n)](&a, &b, &mut sum, n);
    fill(&mut wide, 0.1);
    copy(&sum, &mut out);
    copy(&wide, &mut ratio);
}

/// An output outside of the arena, computed from a temporary inside it.
#[cuweave::graph(memory = "owned")]
fn produce(n: u32, x: &[f32; n]) -> [f32; n] {
    let t = alloc::<f32>(n);
    let y = alloc::<f32>(n);
    copy(&x, &mut t);
    add[per_item(n)](&t, &t, &mut y, n);
    y
}

#[cuweave::graph]
fn consume(n: u32, y: [f32; n], out: &mut [f32; n]) {
    let t = alloc::<f32>(n);
    add[per_item(n)](&y, &y, &mut t, n);
    copy(&t, &mut out);
    free(y);
}

/// No temporaries.
#[cuweave::graph]
fn without_temporaries(n: u32, x: &mut [f32; n]) {
    scale[per_item(n)](&mut x, 2.0, n);
}

const N: u32 = 300;
/// The planned size of the temporary of `small` in bytes.
const SMALL: u64 = 4 * N as u64;
/// The granularity in which mapped memory grows.
const STEP: u64 = 2 << 20;
/// A length whose temporary takes more than one step.
const WIDE: u32 = (STEP / 4) as u32 + N;

/// Buffers of `N` elements.
trait Buffers {
    fn of(&self, value: f32) -> CudaSlice<f32>;
    fn wide(&self) -> CudaSlice<f64>;
    /// Returns the common value of all elements.
    fn value(&self, buffer: &CudaSlice<f32>) -> f32;
    /// On the simulated driver, runs under several schedules.
    fn under_schedules(&self, run: impl FnMut());
}

impl Buffers for Device {
    fn of(&self, value: f32) -> CudaSlice<f32> {
        self.upload(&[value; N as usize])
    }

    fn wide(&self) -> CudaSlice<f64> {
        self.zeros(N as usize)
    }

    fn value(&self, buffer: &CudaSlice<f32>) -> f32 {
        let all = self.download(buffer);
        assert!(all.iter().all(|value| *value == all[0]), "{all:?}");
        all[0]
    }

    fn under_schedules(&self, mut run: impl FnMut()) {
        for seed in 0..self.scaled(1, 8) {
            self.schedule(seed);
            run();
        }
        self.stream.synchronize().expect("all is well");
        self.nothing_reported();
    }
}

#[test]
fn members_share_the_bytes_of_the_largest() {
    let device = alone();
    let ctx = &device.ctx;
    device.under_schedules(|| {
        let (x, mut out, mut other, mut ratio) =
            (device.of(1.0), device.of(0.0), device.of(0.0), device.wide());
        let pool = ArenaPool::new(&device.stream).expect("a pool");
        assert_eq!(pool.bytes(), 0);
        let graph = large(ctx, N, &x, &mut out, &mut ratio).expect("it builds");
        assert!(graph.report().allocs > 0);
        let mut first = graph.instantiate_in(&pool).expect("it joins");
        let report = first.report();
        assert_eq!((report.allocs, report.frees), (0, 0));
        assert_eq!((pool.bytes(), report.reserved_bytes), (STEP, 0));
        assert!(report.planned_bytes > SMALL, "{report}");
        let before = device.live();

        let mut second =
            small(ctx, N, 3.0, &x, &mut other).expect("it builds").instantiate_in(&pool).expect("it joins");
        assert_eq!(pool.bytes(), STEP);
        if let (Some(before), Some(now)) = (before, device.live()) {
            assert_eq!((now.allocations, now.bytes), (before.allocations, before.bytes), "a second arena");
        }
        for _ in 0..3 {
            first.launch(pool.stream()).expect("it launches");
            second.launch(pool.stream()).expect("it launches");
        }
        drop((first, second));
        assert_eq!((device.value(&out), device.value(&other)), (3.0, 3.0));
        let ratio = device.stream.clone_dtoh(&ratio).expect("a download");
        assert!(ratio.iter().all(|ratio| *ratio == 0.1));
    });
}

fn changes(device: &Device) -> Option<[Option<u64>; 3]> {
    let calls = device.simulated.then(|| cuweave_sim::call_counts().expect("counts"))?;
    let of = ["Kernel", "Memset", "Memcpy"].map(|kind| {
        let name = format!("cuGraphExec{kind}NodeSetParams");
        calls.get(&format!("{name}_v2")).or(calls.get(&name)).copied()
    });
    Some(of)
}

/// The arena grows under members that have already been launched. They keep their addresses, and no node is
/// changed.
#[test]
fn a_larger_member_grows_the_arena_in_place() {
    let device = alone();
    let ctx = &device.ctx;
    device.under_schedules(|| {
        let (x, mut out, mut other, mut ratio) =
            (device.of(1.0), device.of(0.0), device.of(0.0), device.wide());
        let pool = ArenaPool::new(&device.stream).expect("a pool");
        let mut launched =
            small(ctx, N, 3.0, &x, &mut out).expect("it builds").instantiate_in(&pool).expect("it joins");
        assert_eq!(pool.bytes(), STEP);
        launched.launch(&device.stream).expect("it launches");
        let mut larger = large(ctx, N, &x, &mut other, &mut ratio)
            .expect("it builds")
            .instantiate_in(&pool)
            .expect("it joins");
        launched.set_a(4.0).expect("it can be set");
        larger.launch(&device.stream).expect("it launches");
        launched.launch(&device.stream).expect("it launches");
        assert_eq!(device.stream.clone_dtoh(&launched.args().out).expect("a download")[0], 4.0);

        // A member that does not fit into one step.
        let y = device.stream.alloc_zeros::<f32>(WIDE as usize).expect("an allocation");
        let before = changes(&device);
        let mut wider = produce(ctx, WIDE, &y).expect("it builds").instantiate_in(&pool).expect("it joins");
        assert!(pool.bytes() > STEP && pool.bytes().is_multiple_of(STEP), "it grew");
        drop(wider.launch(&device.stream).expect("it launches"));
        for _ in 0..2 {
            larger.launch(&device.stream).expect("it launches");
            launched.launch(&device.stream).expect("it launches");
        }
        assert_eq!(changes(&device), before, "no node was given another address");
        drop((launched, larger, wider));
        assert_eq!((device.value(&out), device.value(&other)), (4.0, 3.0));
        let ratio = device.stream.clone_dtoh(&ratio).expect("a download");
        assert!(ratio.iter().all(|ratio| *ratio == 0.1));
    });
}

#[test]
fn a_capacity_is_mapped_at_once() {
    let device = alone();
    let (x, mut out) = (device.of(1.0), device.of(0.0));
    let pool = ArenaPool::with_capacity(&device.stream, STEP + 1).expect("a pool");
    assert_eq!(pool.bytes(), 2 * STEP);
    let mut exec =
        small(&device.ctx, N, 3.0, &x, &mut out).expect("it builds").instantiate_in(&pool).expect("it joins");
    exec.launch(&device.stream).expect("it launches");
    assert_eq!(pool.bytes(), 2 * STEP);
    drop(exec);
    assert_eq!(device.value(&out), 3.0);
    let Err(error) = ArenaPool::with_capacity(&device.stream, 1 << 50) else { panic!("a petabyte") };
    assert!(
        matches!(&error, Error::Driver(failure) if failure.to_string().contains("OUT_OF_MEMORY")),
        "{error}"
    );
    device.nothing_reported();
}

/// Memory that is still in use by a launch is kept until a later call finds that the launch has ended.
#[test]
fn memory_in_use_is_unmapped_later() {
    let device = alone();
    if !device.simulated {
        return println!("not run: only the simulated driver says that work is still in flight");
    }
    const NOT_READY: u32 = 600;
    let live = || device.live().expect("the simulated driver").bytes;
    let (x, mut out) = (device.of(1.0), device.of(0.0));
    let before = live();
    for pooled in [true, false] {
        let graph = small(&device.ctx, N, 3.0, &x, &mut out).expect("it builds");
        let pool = ArenaPool::new(&device.stream).expect("a pool");
        let mut exec = if pooled { graph.instantiate_in(&pool) } else { graph.instantiate() }
            .expect("it is instantiated");
        let own = produce(&device.ctx, N, &x).expect("it builds").instantiate().expect("it is instantiated");
        let mut own = Some(own);
        exec.launch(&device.stream).expect("it launches");
        drop(own.as_mut().expect("it lives").launch(&device.stream).expect("it launches"));
        let held = live();
        assert!(held > before);
        (1..100).for_each(|nth| cuweave_sim::inject_fault("cuEventQuery", nth, NOT_READY).expect("a fault"));
        drop(own.take());
        drop((exec, pool));
        assert!(live() >= before + STEP, "unmapped under a launch");
        cuweave_sim::clear_faults().expect("the simulated driver");
        let mut next = without_temporaries(&device.ctx, N, device.of(1.0))
            .expect("it builds")
            .instantiate()
            .expect("it is instantiated");
        next.launch(&device.stream).expect("it launches");
        drop(next);
        assert_eq!(live(), before, "collected by the next launch");
    }
    device.nothing_reported();
}

#[test]
fn outputs_are_allocations_of_their_own() {
    let device = alone();
    let ctx = &device.ctx;
    device.under_schedules(|| {
        let (x, mut out) = (device.of(1.0), device.of(0.0));
        let pool = ArenaPool::new(&device.stream).expect("a pool");
        let mut first = produce(ctx, N, &x).expect("it builds").instantiate_in(&pool).expect("it joins");
        let mut second = consume(ctx, N, first.output(), &mut out)
            .expect("it builds")
            .instantiate_in(&pool)
            .expect("it joins");
        for _ in 0..2 {
            let y = first.launch(&device.stream).expect("it launches");
            assert_eq!(device.stream.clone_dtoh(&y).expect("a download"), [2.0; N as usize]);
            second.launch(&device.stream, (y,)).expect("it launches");
        }
        std::mem::forget(first.launch(&device.stream).expect("it launches"));
        drop((first, second));
        assert_eq!(device.value(&out), 4.0);
    });
}

#[test]
fn two_streams_need_two_pools() {
    let device = alone();
    let other = device.ctx.new_stream().expect("a stream");
    let (x, mut out, mut second_out) = (device.of(1.0), device.of(0.0), device.of(0.0));
    let pools = [&device.stream, &other].map(|stream| ArenaPool::new(stream).expect("a pool"));
    let graph = |out| small(&device.ctx, N, 3.0, &x, out).expect("it builds");
    let mut first = graph(&mut out).instantiate_in(&pools[0]).expect("it joins");
    let mut second = graph(&mut second_out).instantiate_in(&pools[1]).expect("it joins");
    let Err(error) = first.launch(&other) else { panic!("launched into another stream") };
    assert!(matches!(error, Error::StreamOfOtherPool { .. }), "{error:?}");
    assert_eq!(
        error.to_string(),
        "`small` shares the arena of a pool, and is launched into another stream than the pool's: two streams need \
         two pools"
    );
    first.launch(&device.stream).expect("it launches");
    second.launch(&other).expect("it launches");
    // The same stream through another cudarc handle.
    let pool = ArenaPool::new(&device.ctx.default_stream()).expect("a pool");
    let mut x = device.of(1.0);
    let mut third = without_temporaries(&device.ctx, N, &mut x)
        .expect("it builds")
        .instantiate_in(&pool)
        .expect("it joins");
    assert_eq!(pool.bytes(), 0);
    third.launch(&device.ctx.default_stream()).expect("it launches");
    assert!(matches!(third.launch(&other), Err(Error::StreamOfOtherPool { .. })));
    drop((first, second, third));
    assert_eq!([&out, &second_out, &x].map(|buffer| device.value(buffer)), [3.0, 3.0, 2.0]);
    device.nothing_reported();
}

#[test]
fn streams_that_can_have_no_pool() {
    let device = alone();
    let per_thread = device.ctx.per_thread_stream();
    let Err(error) = ArenaPool::new(&per_thread) else { panic!("a pool on another stream for each thread") };
    assert!(error.to_string().contains("per-thread default stream"), "{error}");

    let capturing = device.ctx.new_stream().expect("a stream");
    let pool = ArenaPool::new(&capturing).expect("a pool");
    let (x, mut out) = (device.of(1.0), device.of(0.0));
    capturing.begin_capture(sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED).expect("it captures");
    let graph = small(&device.ctx, N, 3.0, &x, &mut out).expect("it builds");
    // Joining enqueues nothing in the stream.
    let mut exec = graph.instantiate_in(&pool).expect("it joins");
    drop(ArenaPool::with_capacity(&capturing, 256).expect("a pool"));
    let Err(error) = exec.launch(&capturing) else { panic!("a launch was captured") };
    assert!(matches!(error, Error::StreamCapturing { .. }), "{error:?}");
    let flags = sys::CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    capturing.end_capture(flags).expect("it ends");
    device.nothing_reported();
}

/// A pool whose last owner is dropped while its stream captures is freed in another stream, and the capture stays
/// empty.
#[test]
fn the_end_of_a_pool_is_not_captured() {
    let device = alone();
    let before = device.live();
    {
        let (x, mut out) = (device.of(1.0), device.of(0.0));
        let pool = ArenaPool::new(&device.stream).expect("a pool");
        let mut exec = small(&device.ctx, N, 3.0, &x, &mut out)
            .expect("it builds")
            .instantiate_in(&pool)
            .expect("it joins");
        exec.launch(&device.stream).expect("it launches");
        let idle = device.ctx.new_stream().expect("a stream");
        let unused = ArenaPool::with_capacity(&idle, 4096).expect("a pool");
        device.stream.synchronize().expect("all is well");
        drop(exec);
        for stream in [&device.stream, &idle] {
            stream
                .begin_capture(sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED)
                .expect("it captures");
        }
        drop((pool, unused));
        let flags = sys::CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
        for stream in [&device.stream, &idle] {
            let graph = stream.end_capture(flags).expect("it ends");
            assert!(graph.is_none_or(|graph| graph.launch().is_ok()), "the free was captured");
        }
        assert_eq!(device.value(&out), 3.0);
    }
    device.ctx.synchronize().expect("all is well");
    if let (Some(before), Some(now)) = (before, device.live()) {
        assert_eq!((now.allocations, now.bytes), (before.allocations, before.bytes));
    }
    device.nothing_reported();
}

/// The order in which the pool and its members are dropped.
#[derive(Clone, Copy, Debug)]
enum End {
    PoolFirst,
    MembersFirst,
    OneMemberBetweenLaunches,
    Arguments,
}

#[test]
fn every_order_of_drops() {
    let device = alone();
    let ctx = &device.ctx;
    for end in [End::PoolFirst, End::MembersFirst, End::OneMemberBetweenLaunches, End::Arguments] {
        let before = device.live();
        device.under_schedules(|| {
            let (x, mut out, mut other, mut ratio) =
                (device.of(1.0), device.of(0.0), device.of(0.0), device.wide());
            let pool = ArenaPool::new(&device.stream).expect("a pool");
            let mut first =
                small(ctx, N, 3.0, &x, &mut out).expect("it builds").instantiate_in(&pool).expect("it joins");
            first.launch(&device.stream).expect("it launches");
            let mut second = large(ctx, N, &x, &mut other, &mut ratio)
                .expect("it builds")
                .instantiate_in(&pool)
                .expect("it joins");
            second.launch(&device.stream).expect("it launches");
            match end {
                End::PoolFirst => {
                    drop(pool);
                    first.launch(&device.stream).expect("it launches");
                    drop(first);
                    second.launch(&device.stream).expect("it launches");
                    drop(second);
                }
                End::MembersFirst => drop((second, first, pool)),
                End::OneMemberBetweenLaunches => {
                    drop(second);
                    first.launch(&device.stream).expect("it launches");
                    drop(first);
                    assert!(pool.bytes() > SMALL, "an arena stays as long as its pool");
                }
                End::Arguments => drop((first.into_args().out, pool.clone(), second.into_args().ratio, pool)),
            }
            assert_eq!((device.value(&out), device.value(&other)), (3.0, 3.0), "{end:?}");
        });
        if let (Some(before), Some(now)) = (before, device.live()) {
            assert_eq!(now, before, "{end:?} leaves something behind");
        }
    }
}

/// Members on two threads: one grows the arena while the other launches.
#[test]
fn threads_share_a_pool() {
    let device = alone();
    let pool = ArenaPool::new(&device.stream).expect("a pool");
    let mut exec = small(&device.ctx, N, 3.0, device.of(1.0), device.of(0.0))
        .expect("it builds")
        .instantiate_in(&pool)
        .expect("it joins");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..30 {
                exec.launch(pool.stream()).expect("it launches");
            }
        });
        for grown in 1..10 {
            let n = grown * N;
            let x = device.stream.clone_htod(&vec![1.0; n as usize]).expect("an upload");
            let mut member =
                produce(&device.ctx, n, &x).expect("it builds").instantiate_in(&pool).expect("it joins");
            let y = member.launch(pool.stream()).expect("it launches");
            assert_eq!(device.stream.clone_dtoh(&y).expect("a download"), vec![2.0; n as usize]);
        }
    });
    assert_eq!(device.stream.clone_dtoh(&exec.args().out).expect("a download"), [3.0; N as usize]);
    device.nothing_reported();
}

#[test]
fn a_broken_member_is_caught() {
    apart("arena_pool::with_a_broken_member", &[]);
}

/// The simulated driver also reports a deliberately broken plan in a pool after the arena has grown.
#[test]
#[ignore = "run by the test above, in a process of its own"]
fn with_a_broken_member() {
    let device = alone();
    if !device.simulated {
        return println!("not run: only the simulated driver says that a plan is broken");
    }
    let pool = ArenaPool::new(&device.stream).expect("a pool");
    let (x, mut out, mut ratio) = (device.of(1.0), device.of(0.0), device.wide());
    let graph = large(&device.ctx, N, &x, &mut out, &mut ratio).expect("it builds");
    // All temporaries overlap.
    cuweave::__private::change_next_plan(|_, operations| {
        for place in &mut operations.places {
            if let cuweave_core::operation::BufferPlacement::Inside { offset, .. } = place {
                *offset = 0;
            }
        }
    });
    let mut exec = graph.instantiate_in(&pool).expect("it joins");
    let y = device.stream.alloc_zeros::<f32>(WIDE as usize).expect("an allocation");
    let larger = produce(&device.ctx, WIDE, &y).expect("it builds").instantiate_in(&pool).expect("it joins");
    let _ = exec.launch(&device.stream);
    let reports = cuweave_sim::take_reports().expect("the simulated driver");
    assert!(reports.iter().any(|report| report.kind == "overlap"), "{reports:#?}");
    std::mem::forget((exec, larger, pool));
}

/// The scenario for the faults: a second and a third member grow the arena below the first.
fn scenario(ctx: &Arc<CudaContext>, stream: &Arc<CudaStream>, with: &mut Inputs) -> cuweave::Result<()> {
    let pool = ArenaPool::new(stream)?;
    let mut first = small(ctx, N, 3.0, &with.x, &mut with.out)?.instantiate_in(&pool)?;
    first.launch(stream)?;
    let second = large(ctx, N, &with.x, &mut with.other, &mut with.ratio)?.instantiate_in(&pool);
    // The first member must work whether or not the second was built. A failed launch succeeds when it is repeated.
    let launched = first.launch(stream);
    first.launch(stream)?;
    launched?;
    let mut second = second?;
    drop(produce(ctx, WIDE, &with.y)?.instantiate_in(&pool)?);
    let launched = second.launch(stream);
    second.launch(stream)?;
    first.launch(stream)?;
    launched
}

struct Inputs {
    x: CudaSlice<f32>,
    y: CudaSlice<f32>,
    out: CudaSlice<f32>,
    other: CudaSlice<f32>,
    ratio: CudaSlice<f64>,
}

#[test]
fn every_call_fails_once() {
    let device = alone();
    if !device.simulated {
        return println!("not run: only the simulated driver fails on request");
    }
    let ctx = &device.ctx;
    let inputs = || Inputs {
        x: device.of(1.0),
        y: device.stream.alloc_zeros(WIDE as usize).expect("an allocation"),
        out: device.of(0.0),
        other: device.of(0.0),
        ratio: device.wide(),
    };
    let others = [
        "cuDeviceTotalMem_v2",
        "cuMemGetAllocationGranularity",
        "cuMemAddressReserve",
        "cuMemCreate",
        "cuMemMap",
        "cuMemRelease",
        "cuMemSetAccess",
        "cuStreamIsCapturing",
        "cuGraphLaunch",
        "cuEventRecord",
        "cuMemUnmap",
        "cuMemAddressFree",
    ];
    // If memory runs out, growing is tried again.
    for error in [NOT_SUPPORTED, OUT_OF_MEMORY] {
        let mut told = 0;
        // No node is changed, so calls that set parameters are not used.
        for &call in GRAPH.iter().filter(|call| !call.contains("SetParams")).chain(&others) {
            for nth in 1.. {
                let before = cuweave_sim::live_objects().expect("counts");
                let mut with = inputs();
                cuweave_sim::inject_fault(call, nth, error).expect("a fault");
                let result = scenario(ctx, &device.stream, &mut with);
                if cuweave_sim::clear_faults().expect("faults") > 0 {
                    assert!(nth > 1, "`{call}` is never made");
                    assert!(result.is_ok(), "without a fault: {result:?}");
                    assert_eq!((device.value(&with.out), device.value(&with.other)), (3.0, 3.0));
                    break;
                }
                told += usize::from(result.is_err());
                let _ = ctx.check_err();
                let mut again = inputs();
                scenario(ctx, &device.stream, &mut again)
                    .unwrap_or_else(|error| panic!("after `{call}` {nth}: {error}"));
                assert_eq!((device.value(&again.out), device.value(&again.other)), (3.0, 3.0));
                drop((with, again));
                let _ = ctx.check_err();
                ctx.synchronize().expect("all is well");
                assert_eq!(
                    cuweave_sim::live_objects().expect("counts"),
                    before,
                    "`{call}` {nth} leaves something"
                );
            }
        }
        assert!(told > 20, "only {told} failures were told");
    }
    device.nothing_reported();
}
