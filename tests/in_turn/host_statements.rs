//! Host statements: host functions in the middle of a launch, on pinned memory.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use cudarc::driver::CudaEvent;
use cuweave::Error;
use cuweave::prelude::*;
use cuweave_core::ir::StatementKind;
use cuweave_core::operation::OperationKind;
use cuweave_testkit::device::{alone, pinned, simulated_alone};
use cuweave_testkit::process::apart;

#[cuweave::kernels("tests/kernels/decide.ptx")]
unsafe extern "ptx-kernel" {
    fn mix(x: &mut [u32; n], by: u32, n: u32);
}

const N: usize = 40;

fn step(x: u32, by: u32) -> u32 {
    x.wrapping_mul(31).wrapping_add(by)
}

/// The values that host statements have seen.
#[derive(Default)]
struct Log(Mutex<Vec<u32>>);

impl Log {
    fn take(&self) -> Vec<u32> {
        std::mem::take(&mut *self.0.lock().expect("no panic holds it"))
    }
}

/// The device, the host and the device again, with an unrelated concurrent branch.
#[cuweave::graph]
fn there_and_back(
    n: u32,
    by: u32,
    log: &Log,
    x: &mut [u32; n],
    beside: &mut [u32; n],
    seen: &mut Pinned<[u32; n]>,
    given: &mut Pinned<[u32; n]>,
) {
    mix[per_item(n)](&mut x, 1, n);
    mix[per_item(n)](&mut beside, 5, n);
    copy(&x, &mut seen);
    let turn = host(&log, &seen, &mut given, move |log, seen, given| {
        assert_eq!(seen.len(), n as usize);
        log.0.lock().expect("no panic holds it").push(seen[0]);
        for (to, from) in given.iter_mut().zip(seen) {
            *to = from.wrapping_mul(by);
        }
    });
    copy(&given, &mut x);
    mix[per_item(n)](&mut x, 2, n);
    mix[per_item(n)](&mut beside, 6, n);
    #[after(turn)]
    copy(&x, &mut seen);
}

/// One round of the device and the host, as a function of its own.
#[cuweave::graph]
fn round(
    n: u32,
    by: u32,
    log: &Log,
    done: &CudaEvent,
    x: &mut [u32; n],
    seen: &mut Pinned<[u32; n]>,
    given: &mut Pinned<[u32; n]>,
) {
    mix[per_item(n)](&mut x, 1, n);
    copy(&x, &mut seen);
    host(&log, &seen, &mut given, move |log, seen, given| {
        log.0.lock().expect("no panic holds it").push(seen[0]);
        for (to, from) in given.iter_mut().zip(seen) {
            *to = from.wrapping_mul(by);
        }
    });
    copy(&given, &mut x);
    record(&done);
}

/// The shared memory of a round is a part of what the rounds have.
#[cuweave::graph]
fn outer_round(
    n: u32,
    log: &Arc<Log>,
    done: &Arc<CudaEvent>,
    x: &mut [u32; n],
    both: &mut Pinned<[u32; 2 * n]>,
) {
    let (seen, given) = both.split_at_mut(n);
    round(n, 3, &log, &done, &mut x, &mut seen, &mut given);
}

#[cuweave::graph]
fn rounds(n: u32, log: &Log, done: &CudaEvent, x: &mut [u32; n], both: &mut Pinned<[u32; 2 * n]>) {
    for _ in 0..2 {
        outer_round(n, &log, &done, &mut x, &mut both);
    }
    let (seen, given) = both.split_at_mut(n);
    round(n, 5, &log, &done, &mut x, &mut seen, &mut given);
    host(&log, |log| log.0.lock().expect("no panic holds it").push(0));
    record(&done);
}

#[test]
fn called_functions_have_host_statements_events_and_pinned_memory() {
    let device = alone();
    for seed in 0..4 {
        device.schedule(seed);
        let (mut x, mut both) = (device.upload(&[7u32; N]), pinned(&device.ctx, &[0u32; 2 * N]));
        let log = Arc::new(Log::default());
        let done = Arc::new(device.ctx.new_event(None).expect("an event"));
        let graph = rounds(&device.ctx, N as u32, log.clone(), done, &mut x, &mut both).expect("it builds");
        let report = graph.report();
        assert_eq!((report.hosts, report.copies, report.kernels), (4, 6, 3), "{report}");
        let mut exec = graph.instantiate().expect("it instantiates");
        exec.launch(&device.stream).expect("it launches");
        exec.synchronize().expect("it is over");
        drop(exec);
        let (mut value, mut expected) = (7u32, Vec::new());
        for by in [3, 3, 5] {
            value = step(value, 1);
            expected.push(value);
            value = value.wrapping_mul(by);
        }
        // Nothing orders the last statement of `rounds`, which has no buffer.
        let mut seen = log.take();
        assert!(seen.contains(&0), "{seen:?}");
        seen.retain(|&value| value != 0);
        assert_eq!((device.download(&x), seen), (vec![value; N], expected));
        device.nothing_reported();
    }
}

#[test]
fn the_host_stands_between_what_comes_before_it_and_behind() {
    let device = alone();
    for seed in 0..12 {
        device.schedule(seed);
        let (mut x, mut beside) = (device.upload(&[7u32; N]), device.upload(&[7u32; N]));
        let (mut seen, mut given) = (pinned(&device.ctx, &[0u32; N]), pinned(&device.ctx, &[0u32; N]));
        let log = Arc::new(Log::default());
        let graph =
            there_and_back(&device.ctx, N as u32, 3, &log, &mut x, &mut beside, &mut seen, &mut given)
                .expect("it builds");
        assert_eq!(graph.report().hosts, 1);
        assert!(graph.dot().contains("turn"), "{}", graph.dot());
        let mut exec = graph.instantiate().expect("it instantiates");
        let (mut value, mut other, mut logged) = (7, 7, Vec::new());
        for _ in 0..3 {
            exec.launch(&device.stream).expect("it launches");
            logged.push(step(value, 1));
            value = step(step(value, 1).wrapping_mul(3), 2);
            other = step(step(other, 5), 6);
        }
        // The expression of the function is evaluated again with the new scalar.
        exec.set_by(11).expect("it is set");
        exec.launch(&device.stream).expect("it launches");
        logged.push(step(value, 1));
        value = step(step(value, 1).wrapping_mul(11), 2);
        other = step(step(other, 5), 6);
        exec.synchronize().expect("nothing panicked");
        assert_eq!(log.take(), logged, "seed {seed}");
        drop(exec);
        assert_eq!(device.download(&x), [value; N], "seed {seed}");
        assert_eq!(device.download(&beside), [other; N], "seed {seed}");
        assert_eq!(seen.as_slice().expect("its memory"), [value; N], "seed {seed}");
        device.nothing_reported();
    }
}

/// A profile runs the graph twice per launch: the graph itself, and its nodes in series.
#[test]
fn profiles_run_the_functions_of_both_graphs() {
    let device = alone();
    let (mut x, mut beside) = (device.upload(&[7u32; N]), device.upload(&[7u32; N]));
    let (mut seen, mut given) = (pinned(&device.ctx, &[0u32; N]), pinned(&device.ctx, &[0u32; N]));
    let log = Arc::new(Log::default());
    let graph = there_and_back(&device.ctx, N as u32, 3, &log, &mut x, &mut beside, &mut seen, &mut given);
    let mut exec = graph.and_then(|graph| graph.instantiate()).expect("it builds");
    let profile = exec.profile(&device.stream, 3).expect("it runs");
    assert!(profile.entries.iter().any(|entry| entry.name.contains("turn")), "{profile}");
    let mut value = 7;
    let runs = (0..6).map(|_| {
        let logged = step(value, 1);
        value = step(logged.wrapping_mul(3), 2);
        logged
    });
    assert_eq!(log.take(), runs.collect::<Vec<u32>>());
}

/// The reports break the context, as a fault on a GPU does, so this runs in a separate process.
#[test]
fn the_simulated_driver_sees_what_the_host_touches() {
    for behind in ["0", "1"] {
        apart("host_statements::with_host_statements_out_of_order", &[("BEHIND", behind)]);
    }
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn with_host_statements_out_of_order() {
    let Some(device) = simulated_alone() else { return };
    let behind = std::env::var("BEHIND").is_ok_and(|behind| behind == "1");
    let (mut x, mut beside) = (device.upload(&[7u32; N]), device.upload(&[7u32; N]));
    let (mut seen, mut given) = (pinned(&device.ctx, &[0u32; N]), pinned(&device.ctx, &[0u32; N]));
    cuweave::__private::change_next_plan(move |_, operations| {
        let host = |what: &OperationKind| *what == OperationKind::Statement(StatementKind::Host(()));
        let at = operations.list.position(|operation| host(&operation.kind)).expect("it is there");
        if behind {
            let behind = operations.list.iter_mut().filter(|operation| operation.after.contains(&at));
            behind.for_each(|operation| operation.after.retain(|&before| before != at));
        } else {
            operations.list[at].after.clear();
        }
    });
    let graph = there_and_back(
        &device.ctx,
        N as u32,
        3,
        Arc::new(Log::default()),
        &mut x,
        &mut beside,
        &mut seen,
        &mut given,
    );
    let mut exec = graph.expect("it builds").instantiate().expect("it instantiates");
    let _ = exec.launch(&device.stream);
    let reports = cuweave_sim::take_reports().expect("the simulated driver");
    let races = reports.iter().filter(|report| report.kind == "race" && report.text.contains("`turn`"));
    assert!(races.count() > 0, "{reports:#?}");
    drop(exec);
    let _ = device.ctx.check_err();
}

/// Uses a part of the memory, with a function whose state persists between launches.
#[cuweave::graph]
fn parts(n: u32, k: u32, x: &mut Pinned<[u32; n]>, out: &mut [u32; n]) {
    let (low, high) = x.split_at_mut(k);
    host(&low, &mut high, {
        let mut launches = 0;
        move |low: &[u32], high: &mut [u32]| {
            launches += 1;
            assert_eq!((low.len(), high.len()), (k as usize, (n - k) as usize));
            high.fill(low.iter().sum::<u32>() + launches);
        }
    });
    host(&mut x[..1], |first| first[0] += 1);
    copy(&x, &mut out);
}

#[test]
fn parts_of_memory_move_with_scalars_and_with_buffers() {
    let device = alone();
    let (mut x, mut other, mut out) =
        (pinned(&device.ctx, &[0u32; 8]), pinned(&device.ctx, &[0u32; 8]), device.zeros::<u32>(8));
    x.as_mut_slice().expect("its memory").copy_from_slice(&[1, 2, 3, 4, 5, 6, 7, 8]);
    other.as_mut_slice().expect("its memory").fill(100);
    let graph = parts(&device.ctx, 8, 3, &mut x, &mut out).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&device.stream).expect("it launches");
    exec.set_k(4).expect("it is set");
    // 2 + 2 + 3 + 7: the new function has not run yet.
    exec.launch(&device.stream).expect("it launches");
    exec.launch(&device.stream).expect("it launches");
    exec.set_x(&mut other).expect("it is set");
    // The function has not changed, so this is its third launch.
    exec.launch(&device.stream).expect("it launches");
    exec.synchronize().expect("nothing panicked");
    drop(exec);
    assert_eq!(x.as_slice().expect("its memory"), [4, 2, 3, 7, 17, 17, 17, 17]);
    assert_eq!(other.as_slice().expect("its memory"), [101, 100, 100, 100, 403, 403, 403, 403]);
    assert_eq!(device.download(&out), [101, 100, 100, 100, 403, 403, 403, 403]);
    device.nothing_reported();
}

static ANGRY: AtomicU32 = AtomicU32::new(0);

/// A value whose drop panics.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

#[cuweave::graph]
fn may_panic(n: u32, x: &mut Pinned<[u32; n]>) {
    let check = host(&mut x, |x| {
        match ANGRY.load(Ordering::SeqCst) {
            1 => panic!("the first element is {}", x[0]),
            2 => std::panic::panic_any(Bomb),
            3 => assert_eq!(x.len(), 0),
            _ => x[0] += 1,
        };
    });
    #[after(check)]
    host(&x, |_| assert!(ANGRY.load(Ordering::SeqCst) < 3, "not told: the first one is"));
}

#[test]
fn a_panic_is_the_error_of_the_next_call() {
    let device = alone();
    let line = line!() - 15;
    let (mut x, mut other) = (pinned(&device.ctx, &[0u32; 4]), pinned(&device.ctx, &[0u32; 4]));
    let graph = may_panic(&device.ctx, 4, &mut x).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    ANGRY.store(1, Ordering::SeqCst);
    exec.launch(&device.stream).expect("the launch itself succeeds");
    device.stream.synchronize().expect("and so does the stream");
    let told = exec.launch(&device.stream).expect_err("the panic");
    assert!(matches!(told, Error::HostPanicked { .. }), "{told}");
    let text = told.to_string();
    assert!(text.starts_with(&format!("`check` (tests/in_turn/host_statements.rs:{line})")), "{text}");
    assert!(text.ends_with("panicked in an earlier launch: the first element is 0"), "{text}");
    // The next call returns the panic, exactly once.
    ANGRY.store(0, Ordering::SeqCst);
    exec.launch(&device.stream).expect("it launches");
    exec.synchronize().expect("nothing panicked");
    for (how, text) in [(2, "a value that is not a string"), (3, "assertion `left == right` failed")] {
        ANGRY.store(how, Ordering::SeqCst);
        exec.launch(&device.stream).expect("it launches");
        let told = exec.synchronize().expect_err("the panic").to_string();
        assert!(told.contains("`check`") && told.contains(text), "{told}");
        exec.synchronize().expect("it is told once");
    }
    ANGRY.store(1, Ordering::SeqCst);
    exec.launch(&device.stream).expect("it launches");
    device.stream.synchronize().expect("the work is over");
    assert!(matches!(exec.set_x(&mut other), Err(Error::HostPanicked { .. })));
    ANGRY.store(0, Ordering::SeqCst);
    exec.launch(&device.stream).expect("it launches");
    exec.synchronize().expect("nothing panicked");
    drop(exec);
    assert_eq!(x.as_slice().expect("its memory")[0], 2);
}

static LIVE: AtomicU32 = AtomicU32::new(0);

/// A value that a function owns. Live values are counted.
struct Counted;

impl Counted {
    fn new() -> Counted {
        LIVE.fetch_add(1, Ordering::SeqCst);
        Counted
    }

    fn touch(&self) {}
}

impl Drop for Counted {
    fn drop(&mut self) {
        LIVE.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cuweave::graph]
fn owns(n: u32, add: u32, x: &mut Pinned<[u32; n]>) {
    host(&mut x, {
        let counted = Counted::new();
        move |x| {
            counted.touch();
            x[0] += add;
        }
    });
}

#[test]
fn functions_live_as_long_as_a_launch_may_call_them() {
    let device = alone();
    assert_eq!(LIVE.load(Ordering::SeqCst), 0);
    let mut x = pinned(&device.ctx, &[0u32; 4]);
    {
        let graph = owns(&device.ctx, 4, 1, &mut x).expect("it builds");
        assert!(LIVE.load(Ordering::SeqCst) > 0);
        let mut exec = graph.instantiate().expect("it instantiates");
        for add in 0..40 {
            exec.set_add(add).expect("it is set");
            exec.launch(&device.stream).expect("it launches");
            exec.synchronize().expect("nothing panicked");
            // The function of the build, the latest one, and the previous one, which the last launch may have run.
            assert!(LIVE.load(Ordering::SeqCst) <= 4, "{}", LIVE.load(Ordering::SeqCst));
        }
        // In flight while another thread drops it.
        exec.launch(&device.stream).expect("it launches");
        let stream = device.new_stream();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                exec.launch(&stream).expect("it launches");
                drop(exec);
            });
        });
    }
    assert_eq!(LIVE.load(Ordering::SeqCst), 0);
    assert_eq!(x.as_slice().expect("its memory")[0], (0..40).sum::<u32>() + 39 + 39);
    // A graph that is never instantiated, and one that cannot be built.
    drop(owns(&device.ctx, 4, 1, &mut x).expect("it builds"));
    assert!(owns(&device.ctx, 5, 1, &mut x).is_err());
    assert_eq!(LIVE.load(Ordering::SeqCst), 0);
    // A forgotten exec keeps its function.
    let shared = pinned(&device.ctx, &[0u32; 4]);
    let mut exec = owns(&device.ctx, 4, 5, shared).expect("it builds").instantiate().expect("an exec");
    exec.launch(&device.stream).expect("it launches");
    std::mem::forget(exec);
    device.stream.synchronize().expect("the work is over");
    assert!(LIVE.load(Ordering::SeqCst) > 0);
    LIVE.store(0, Ordering::SeqCst);
    device.nothing_reported();
}

/// A function that takes a while.
#[cuweave::graph]
fn sleeps(log: &Log, x: &mut Pinned<[u32; 1]>) {
    host(&log, &mut x, |log, x| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        x[0] += 1;
        log.0.lock().expect("no panic holds it").push(x[0]);
    });
}

#[test]
fn a_drop_in_flight_waits_for_the_function() {
    let device = alone();
    for forgotten in [false, true] {
        let (log, memory) = (Arc::new(Log::default()), pinned(&device.ctx, &[0u32; 1]));
        let mut exec =
            sleeps(&device.ctx, log.clone(), memory).expect("it builds").instantiate().expect("an exec");
        for _ in 0..4 {
            exec.launch(&device.stream).expect("it launches");
        }
        if forgotten {
            // It keeps its memory, its function and the log alive.
            std::mem::forget(exec);
            device.stream.synchronize().expect("the work is over");
        } else {
            drop(exec);
            assert_eq!(Arc::strong_count(&log), 1);
        }
        assert_eq!(log.take(), [1, 2, 3, 4]);
    }
    // Memory that is borrowed is freed behind the launches of a forgotten exec.
    let (log, mut memory) = (Arc::new(Log::default()), pinned(&device.ctx, &[0u32; 1]));
    let mut exec =
        sleeps(&device.ctx, log.clone(), &mut memory).expect("it builds").instantiate().expect("an exec");
    exec.launch(&device.stream).expect("it launches");
    std::mem::forget(exec);
    drop(memory);
    assert_eq!(log.take(), [1]);
    device.nothing_reported();
}

#[cuweave::graph]
fn alone_in_it(log: &Log, x: &Pinned<[u32; 1]>) {
    host(&log, &x, |log, x| log.0.lock().expect("no panic holds it").push(x[0]));
}

#[test]
fn execs_share_values_and_memory_that_they_read() {
    let device = alone();
    let (log, mut x) = (Arc::new(Log::default()), pinned(&device.ctx, &[0u32; 1]));
    x.as_mut_slice().expect("its memory")[0] = 9;
    let x = Arc::new(x);
    let exec = || {
        let graph = alone_in_it(&device.ctx, log.clone(), x.clone()).expect("it builds");
        graph.instantiate().expect("it instantiates")
    };
    let (mut one, mut other, streams) = (exec(), exec(), [device.new_stream(), device.new_stream()]);
    for _ in 0..5 {
        one.launch(&streams[0]).expect("it launches");
        other.launch(&streams[1]).expect("it launches");
    }
    drop((one, other));
    assert_eq!(log.take(), [9; 10]);
    device.nothing_reported();
}

#[cuweave::graph]
fn tick() {
    host(|| {
        LIVE_TICKS.fetch_add(1, Ordering::SeqCst);
    });
}

static LIVE_TICKS: AtomicU32 = AtomicU32::new(0);

#[cuweave::graph]
fn ticks(turns: u32) {
    tick();
    for _ in 0..turns {
        tick();
    }
}

#[test]
fn functions_without_memory_may_be_called() {
    let device = alone();
    let mut exec = ticks(&device.ctx, 3).expect("it builds").instantiate().expect("it instantiates");
    assert_eq!(exec.report().hosts, 4);
    exec.launch(&device.stream).expect("it launches");
    exec.launch(&device.stream).expect("it launches");
    exec.synchronize().expect("nothing panicked");
    assert_eq!(LIVE_TICKS.load(Ordering::SeqCst), 8);
}

#[test]
fn a_failed_call_leaves_the_exec_as_it_was() {
    let Some(device) = simulated_alone() else { return };
    let live = device.live();
    let mut x = pinned(&device.ctx, &[0u32; 4]);
    cuweave_sim::inject_fault("cuGraphAddHostNode", 1, 2).expect("a call");
    let told = owns(&device.ctx, 4, 1, &mut x).expect_err("a failure").to_string();
    assert!(told.starts_with("`cuGraphAddHostNode` for `host` (tests/in_turn/host_statements.rs:"), "{told}");
    assert_eq!(LIVE.load(Ordering::SeqCst), 0);
    let mut exec = owns(&device.ctx, 4, 1, &mut x).expect("it builds").instantiate().expect("an exec");
    exec.launch(&device.stream).expect("it launches");
    cuweave_sim::inject_fault("cuGraphExecHostNodeSetParams", 1, 2).expect("a call");
    let told = exec.set_add(100).expect_err("a failure").to_string();
    assert!(told.starts_with("`cuGraphExecHostNodeSetParams` for `host`"), "{told}");
    exec.launch(&device.stream).expect("it launches");
    exec.set_add(10).expect("it is set");
    exec.launch(&device.stream).expect("it launches");
    drop(exec);
    assert_eq!(x.as_slice().expect("its memory")[0], 12);
    assert_eq!(LIVE.load(Ordering::SeqCst), 0);
    drop(x);
    let now =
        device.live().zip(live).map(|(now, before)| (now.graphs, now.execs) == (before.graphs, before.execs));
    assert_eq!(now, Some(true));
    device.nothing_reported();
}

/// Calls the driver and records the result.
#[derive(Default)]
struct Caller(Mutex<Option<(Arc<cudarc::driver::CudaStream>, bool)>>);

#[cuweave::graph]
fn calls(caller: &Caller) {
    host(&caller, |caller| {
        let mut call = caller.0.lock().expect("no panic holds it");
        let (stream, failed) = call.as_mut().expect("a stream");
        *failed = catch_unwind(AssertUnwindSafe(|| stream.synchronize())).map_or(true, |done| done.is_err());
    });
}

#[test]
fn the_function_cannot_call_the_driver() {
    let Some(device) = simulated_alone() else { return };
    let caller = Arc::new(Caller::default());
    *caller.0.lock().expect("free") = Some((device.new_stream(), false));
    let mut exec = calls(&device.ctx, caller.clone()).expect("it builds").instantiate().expect("an exec");
    exec.launch(&device.stream).expect("it launches");
    exec.synchronize().expect("nothing panicked");
    assert!(caller.0.lock().expect("free").take().expect("a stream").1);
    let _ = device.ctx.check_err();
    let _ = cuweave_sim::take_reports();
}
