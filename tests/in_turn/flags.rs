//! Flags in graphs: values that advance with each launch. Graphs, the host and other launches wait for them and
//! write them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cuweave::prelude::*;
use cuweave::{Error, Flag};
use cuweave_core::index::Index;
use cuweave_core::operation::Operations;
use cuweave_testkit::device::{alone, pinned, simulated_alone};
use cuweave_testkit::process::apart;

#[cuweave::kernels("tests/kernels/decide.ptx")]
unsafe extern "ptx-kernel" {
    fn mix(x: &mut [u32; n], by: u32, n: u32);
    fn mixed(x: &[u32; n], y: &mut [MaybeUninit<u32>; n], by: u32, n: u32);
}

const N: usize = 40;

fn step(x: u32, by: u32) -> u32 {
    x.wrapping_mul(31).wrapping_add(by)
}

/// Shortens the patience of the simulated driver while it lives.
struct Impatient;

impl Impatient {
    fn new() -> Impatient {
        cuweave_sim::set_wait_timeout(50).expect("the simulated driver");
        Impatient
    }
}

impl Drop for Impatient {
    fn drop(&mut self) {
        cuweave_sim::set_wait_timeout(10_000).expect("the simulated driver");
    }
}

/// Asks the host in the middle of each launch.
#[cuweave::graph(launches = "as-written")]
fn asked(
    n: u32,
    first: u32,
    half: &Flag<u32>,
    go: &Flag<u32>,
    log: &Mutex<Vec<u32>>,
    x: &mut [u32; n],
    y: &mut [u32; n],
    seen: &mut Pinned<[u32; n]>,
) {
    mix[per_item(n)](&mut x, 1, n);
    mix[per_item(n)](&mut y, 2, n);
    let asks = write_value(&half, first);
    let waits = wait_value(&go, first);
    let behind = mix[per_item(n)](&mut x, 3, n);
    copy(&x, &mut seen);
    host(&log, &seen, |log, seen| log.lock().expect("no panic holds it").push(seen[0]));
    write_value(&half, 12_345, 0);
}

/// Returns the names of the predecessors of an operation, over any path.
fn before(operations: &Operations, name: &str) -> Vec<String> {
    let list = operations.list.as_slice();
    let at = list.iter().position(|operation| operation.name == name).expect("it is there");
    let (mut found, mut work) = (Vec::new(), vec![at]);
    while let Some(at) = work.pop() {
        for before in &list[at].after {
            found.push(list[before.index()].name.to_string());
            work.push(before.index());
        }
    }
    found
}

#[test]
fn the_host_answers_each_launch() {
    let device = alone();
    for (seed, first) in [(0, 1u32), (1, 7), (2, u32::MAX - 1), (3, 1 << 31)] {
        device.schedule(seed);
        let (mut x, mut y) = (device.upload(&[7u32; N]), device.upload(&[7u32; N]));
        let (half, go) = (Flag::new(&device.ctx).expect("a flag"), Flag::new(&device.ctx).expect("a flag"));
        // Both sides start with the value before the first.
        go.store(first.wrapping_sub(1));
        half.store(first.wrapping_sub(1));
        let (log, mut seen) = (Arc::new(Mutex::new(Vec::new())), pinned(&device.ctx, &[0u32; N]));
        let graph = asked(
            &device.ctx,
            N as u32,
            first,
            half.clone(),
            go.clone(),
            log.clone(),
            &mut x,
            &mut y,
            &mut seen,
        )
        .expect("it builds");
        assert_eq!((graph.report().syncs, graph.report().hosts), (3, 1));
        assert!(graph.report().to_string().contains("3 of flags and semaphores"));
        assert!(graph.dot().contains("wait_value"), "{}", graph.dot());
        let operations = cuweave::__private::operations(&graph);
        assert_eq!(before(operations, "asks").iter().filter(|name| *name == "mix").count(), 2);
        assert!(
            before(operations, "waits").contains(&"asks".to_owned()),
            "an answer comes to what was asked"
        );
        assert!(before(operations, "behind").contains(&"waits".to_owned()));
        let mut exec = graph.instantiate().expect("it instantiates");
        let answered = AtomicU32::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for launch in 0..4u32 {
                    let value = first.wrapping_add(launch);
                    while half.load() != value {
                        std::thread::yield_now();
                    }
                    answered.fetch_add(1, Ordering::SeqCst);
                    go.store(value);
                }
            });
            for launch in 0..4u64 {
                assert_eq!(exec.launches(), launch);
                exec.launch(&device.stream).expect("it launches");
                exec.synchronize().expect("nothing panicked");
                assert_eq!(
                    u64::from(answered.load(Ordering::SeqCst)),
                    launch + 1,
                    "each launch waits for its own"
                );
            }
        });
        drop(exec);
        let mut expected = 7;
        let wanted: Vec<u32> = (0..4)
            .map(|_| {
                expected = step(step(expected, 1), 3);
                expected
            })
            .collect();
        assert_eq!(*log.lock().expect("no panic holds it"), wanted);
        assert_eq!((half.load(), Arc::strong_count(&half)), (12_345, 1));
        device.nothing_reported();
    }
}

#[cuweave::graph]
fn gives(n: u32, go: &Flag<u64>, x: &mut [u32; n]) {
    mix[per_item(n)](&mut x, 1, n);
    write_value(&go, 1);
}

#[cuweave::graph]
fn takes(n: u32, go: &Flag<u64>, x: &mut [u32; n]) {
    wait_value(&go, 1);
    mix[per_item(n)](&mut x, 1, n);
}

#[test]
fn one_exec_answers_another_in_another_stream() {
    let device = alone();
    let (mut x, mut y) = (device.upload(&[7u32; N]), device.upload(&[7u32; N]));
    let go = Flag::new(&device.ctx).expect("a flag");
    let graph = gives(&device.ctx, N as u32, go.clone(), &mut x).expect("it builds");
    let mut giver = graph.instantiate().expect("it instantiates");
    let graph = takes(&device.ctx, N as u32, go.clone(), &mut y).expect("it builds");
    let mut taker = graph.instantiate().expect("it instantiates");
    let (one, other) = (device.new_stream(), device.new_stream());
    // The one that answers first.
    for _ in 0..3 {
        giver.launch(&one).expect("it launches");
        taker.launch(&other).expect("it launches");
    }
    // The one that waits first runs on another thread, because the simulated driver completes a launch before it
    // returns.
    std::thread::scope(|scope| {
        let taking = scope.spawn(|| (0..3).try_for_each(|_| taker.launch(&other)));
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(go.load(), 3, "nobody has answered");
        (0..3).for_each(|_| giver.launch(&one).expect("it launches"));
        taking.join().expect("no panic").expect("it launches");
    });
    giver.synchronize().expect("it is over");
    taker.synchronize().expect("it is over");
    assert_eq!((go.load(), giver.launches(), taker.launches()), (6, 6, 6));
    drop((giver, taker));
    let expected = (0..6).fold(7, |x, _| step(x, 1));
    assert_eq!(device.download(&x), device.download(&y));
    assert_eq!(device.download(&x), [expected; N]);
    device.nothing_reported();
}

#[test]
fn a_launch_that_nobody_answers_is_an_error_of_the_simulator() {
    let Some(device) = simulated_alone() else { return };
    let _impatient = Impatient::new();
    let go = Flag::<u64>::new(&device.ctx).expect("a flag");
    // The error breaks the context, so this runs in a separate process.
    apart("flags::in_a_process_of_its_own", &[("CUWEAVE_DRIVER", "sim"), ("CUWEAVE_SIM_TIMEOUT", "50")]);
    assert!(!go.wait_for(1, Duration::from_millis(5)) && go.has_reached(0));
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn in_a_process_of_its_own() {
    let device = alone();
    let mut x = device.upload(&[7u32; N]);
    let go = Flag::new(&device.ctx).expect("a flag");
    let graph = takes(&device.ctx, N as u32, go.clone(), &mut x).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    // The simulated driver has completed the launch when it returns, so the next call returns the error.
    let launched = exec.launch(&device.stream);
    let told = launched.and_then(|()| exec.synchronize()).expect_err("nobody answers");
    assert!(told.to_string().contains("LAUNCH_TIMEOUT"), "{told}");
    let reports = cuweave_sim::take_reports().expect("the simulated driver");
    assert_eq!(reports[0].kind, "deadlock");
    let text = &reports[0].text;
    assert!(
        text.contains("`wait_value`")
            && text.contains("waits for the value 1 in")
            && text.contains("which is 0"),
        "{text}"
    );
    std::mem::forget(exec);
}

/// Waits for the same flag twice in each launch.
#[cuweave::graph]
fn twice(n: u32, by: u32, go: &Flag<u32>, x: &mut [u32; n]) {
    wait_value(&go, 1, by);
    mix[per_item(n)](&mut x, 1, n);
    let second = wait_value(&go, 2, by);
    mix[per_item(n)](&mut x, 2, n);
}

#[test]
fn a_launch_never_takes_the_signal_of_an_earlier_one() {
    let device = alone();
    let mut x = device.upload(&[7u32; N]);
    let go = Flag::new(&device.ctx).expect("a flag");
    go.store(100);
    // Launch 1 would wait for 2 and 3, but launch 0 has already waited for 2.
    let mut exec = twice(&device.ctx, N as u32, 1, go.clone(), &mut x)
        .expect("it builds")
        .instantiate()
        .expect("it instantiates");
    exec.launch(&device.stream).expect("it launches");
    let told = exec.launch(&device.stream).expect_err("the signal of the first launch");
    assert!(matches!(told, Error::ValueNotAhead { last: 2, next: 2, .. }), "{told}");
    let text =
        "would use the value 2 in this launch, which is not ahead of 2, its value in the previous launch";
    assert!(
        told.to_string().ends_with(text)
            && told.to_string().starts_with("`wait_value` (tests/in_turn/flags.rs:"),
        "{told}"
    );
    assert_eq!(exec.launches(), 1, "nothing was launched");
    // A setter changes the step, starting with the next launch.
    exec.set_by(2).expect("it is set");
    exec.launch(&device.stream).expect("it waits for 3 and 4");
    exec.set_by(1).expect("it is set");
    let told = exec.launch(&device.stream).expect_err("3 and 4 again");
    assert!(matches!(told, Error::ValueNotAhead { last: 4, next: 3, .. }), "{told}");
    exec.set_by(2).expect("it is set");
    exec.launch(&device.stream).expect("it waits for 5 and 6");
    drop(exec);
    assert_eq!(device.download(&x), [[1, 2, 1, 2, 1, 2].into_iter().fold(7, step); N]);
    // A step of 0, and a step of half the range.
    for by in [0, 1 << 31, u32::MAX] {
        let told = twice(&device.ctx, N as u32, by, go.clone(), &mut x).map(drop).expect_err("no step ahead");
        let text = match by {
            0 => "the step of `wait_value` is 0, so a launch would mistake the previous launch's signal for its own"
                .to_owned(),
            _ => format!(
                "the step of `wait_value` is {by}, which is at least half of the range of its values: the next \
                 value would count as an earlier one"
            ),
        };
        assert!(told.to_string().ends_with(&text), "{told}");
    }
    device.nothing_reported();
}

#[cuweave::graph]
fn from(n: u32, base: u32, go: &Flag<u32>, x: &mut [u32; n]) {
    wait_value(&go, base + 1);
    mix[per_item(n)](&mut x, 1, n);
}

#[test]
fn a_setter_moves_the_values_ahead_and_not_back() {
    let device = alone();
    let mut x = device.upload(&[7u32; N]);
    let go = Flag::new(&device.ctx).expect("a flag");
    go.store(1000);
    let mut exec = from(&device.ctx, N as u32, 0, go.clone(), &mut x)
        .expect("it builds")
        .instantiate()
        .expect("it instantiates");
    exec.launch(&device.stream).expect("1 is reached");
    exec.set_base(500).expect("it is set");
    exec.launch(&device.stream).expect("502 is reached");
    exec.set_base(0).expect("it is set");
    let told = exec.launch(&device.stream).expect_err("3 lies behind 502");
    assert!(matches!(told, Error::ValueNotAhead { last: 502, next: 3, .. }), "{told}");
    exec.set_base(500).expect("it is set");
    exec.launch(&device.stream).expect("503 is reached");
    assert_eq!(exec.launches(), 3);
    drop(exec);
    device.nothing_reported();
}

/// Passes the number of the launch to a kernel, through the graph's own pinned memory.
#[cuweave::graph]
fn numbered(
    n: u32,
    number: &mut Pinned<[u32; 1]>,
    wide: &mut Pinned<[u64; 4]>,
    seen: &mut Pinned<[u32; n]>,
    x: &mut [u32; n],
) {
    write_value(&mut number, 3, 2);
    let given = alloc::<u32>(1);
    copy(&number, &mut given);
    let (one, rest) = x.split_at_mut(1);
    mixed[per_item(1)](&given, &mut one, 1, 1);
    wait_value(&number, 3, 2);
    write_value(&mut wide[2..3], 1 << 40, 7);
    write_value(&mut seen[n - 1..n], 9);
    host(&mut number, |number| number[0] += 100);
    mix[per_item(n - 1)](&mut rest, 1, n - 1);
}

#[test]
fn a_buffer_is_a_flag_of_the_graphs_own() {
    let device = alone();
    for seed in 0..8 {
        device.schedule(seed);
        let (mut x, mut wide) = (device.upload(&[7u32; N]), pinned(&device.ctx, &[0u64; 4]));
        let (mut number, mut seen) = (pinned(&device.ctx, &[0u32; 1]), pinned(&device.ctx, &[0u32; N]));
        let mut exec = numbered(&device.ctx, N as u32, &mut number, &mut wide, &mut seen, &mut x)
            .expect("it builds")
            .instantiate()
            .expect("it instantiates");
        for _ in 0..3 {
            exec.launch(&device.stream).expect("it launches");
        }
        drop(exec);
        assert_eq!(device.download(&x)[..2], [step(7, 1), [1, 1, 1].into_iter().fold(7, step)]);
        assert_eq!(number.as_slice().expect("its memory"), [107]);
        assert_eq!(wide.as_slice().expect("its memory"), [0, 0, (1 << 40) + 14, 0]);
        assert_eq!(seen.as_slice().expect("its memory")[N - 2..], [0, 11]);
        device.nothing_reported();
    }
}

#[cuweave::graph]
fn all(n: u32, x: &mut [u32; n], y: &mut Pinned<[u32; n]>) {
    mix[per_item(n)](&mut x, 1, n);
    write_value(&mut y[0..n], 1);
}

#[test]
fn a_part_of_more_elements_is_refused() {
    let device = alone();
    let (mut x, mut y) = (device.upload(&[7u32; N]), pinned(&device.ctx, &[0u32; N]));
    let told = all(&device.ctx, N as u32, &mut x, &mut y).map(drop).expect_err("40 elements");
    assert!(
        told.to_string().ends_with("`write_value` takes one element, but this part of `y` has 40"),
        "{told}"
    );
}

#[test]
fn a_device_without_values_of_64_bits_refuses_them() {
    let settings = [("CUWEAVE_DRIVER", "sim"), ("CUWEAVE_SIM_CAPABILITY", "6.1")];
    apart("flags::on_an_older_device", &settings);
}

#[cuweave::graph]
fn narrow(n: u32, go: &Flag<u32>) {
    write_value(&go, n);
}

#[cuweave::graph]
fn wide(n: u64, go: &Flag<u64>) {
    write_value(&go, n);
}

#[test]
#[ignore = "run by the test above, on an older device"]
fn on_an_older_device() {
    let device = alone();
    let go = Flag::new(&device.ctx).expect("a flag");
    let mut exec =
        narrow(&device.ctx, 3, go.clone()).expect("it builds").instantiate().expect("it instantiates");
    exec.launch(&device.stream).expect("it launches");
    exec.synchronize().expect("it is over");
    assert_eq!(go.load(), 3);
    let told =
        wide(&device.ctx, 3, Flag::new(&device.ctx).expect("a flag")).map(drop).expect_err("no 64 bits");
    assert_eq!(told.to_string(), "this device has no waits for values of 64 bits and their writes");
}

#[test]
fn profiles_are_launches_with_numbers_of_their_own() {
    let device = alone();
    let (mut x, mut y) = (device.upload(&[7u32; N]), device.upload(&[7u32; N]));
    let (half, go) = (Flag::new(&device.ctx).expect("a flag"), Flag::new(&device.ctx).expect("a flag"));
    let (log, mut seen) = (Arc::new(Mutex::new(Vec::new())), pinned(&device.ctx, &[0u32; N]));
    let graph =
        asked(&device.ctx, N as u32, 1, half.clone(), go.clone(), log.clone(), &mut x, &mut y, &mut seen)
            .expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for launch in 1..=6u32 {
                while half.load() != launch {
                    std::thread::yield_now();
                }
                go.store(launch);
            }
        });
        exec.launch(&device.stream).expect("it launches");
        let profile = exec.profile(&device.stream, 2).expect("it is profiled");
        assert!(profile.to_string().contains("waits"), "{profile}");
        assert_eq!(exec.launches(), 5);
        exec.launch(&device.stream).expect("it launches");
        exec.synchronize().expect("nothing panicked");
    });
    assert_eq!(log.lock().expect("no panic holds it").len(), 6);
    drop(exec);
    device.nothing_reported();
}

#[test]
fn a_forgotten_exec_keeps_its_flags() {
    let device = alone();
    let mut x = device.upload(&[7u32; N]);
    let go = Flag::new(&device.ctx).expect("a flag");
    go.store(5);
    let mut exec = takes(&device.ctx, N as u32, go.clone(), &mut x)
        .expect("it builds")
        .instantiate()
        .expect("it instantiates");
    exec.launch(&device.stream).expect("it launches");
    std::mem::forget(exec);
    assert_eq!(Arc::strong_count(&go), 2);
    device.stream.synchronize().expect("it is over");
    let mut exec = takes(&device.ctx, N as u32, go.clone(), &mut x)
        .expect("it builds")
        .instantiate()
        .expect("it instantiates");
    exec.launch(&device.stream).expect("it launches");
    let kept = exec.into_args();
    assert!(Arc::ptr_eq(&kept.go, &go));
}

/// Calls of graphs with flags: the second launch sets new values in the nodes.
const CALLS: [&str; 6] = [
    "cuMemHostAlloc",
    "cuGraphAddBatchMemOpNode",
    "cuGraphExecBatchMemOpNodeSetParams",
    "cuGraphLaunch",
    "cuGraphInstantiateWithParams",
    "cuGraphAddKernelNode_v2",
];

#[test]
fn every_failing_call_is_an_error_and_leaves_nothing() {
    let Some(device) = simulated_alone() else { return };
    let run = |failing: bool| -> cuweave::Result<u32> {
        let mut x = device.upload(&[7u32; N]);
        let result = (|| {
            let go = Flag::new(&device.ctx)?;
            go.store(100);
            let mut exec = twice(&device.ctx, N as u32, 2, go, &mut x)?.instantiate()?;
            for launch in 0..3 {
                let before = exec.launches();
                let mut launched = exec.launch(&device.stream);
                if launched.is_err() && failing {
                    assert_eq!(exec.launches(), before, "a launch that fails does not count");
                    launched = exec.launch(&device.stream);
                }
                launched?;
                assert_eq!(exec.launches(), launch + 1);
            }
            exec.synchronize()
        })();
        result.map(|()| device.download(&x)[0])
    };
    let right = run(false).expect("no call fails");
    let live = device.live();
    for call in CALLS {
        let mut failed = 0;
        for nth in 1..8 {
            cuweave_sim::inject_fault(call, nth, 2).expect("the simulated driver");
            let result = catch_unwind(AssertUnwindSafe(|| run(true))).expect("no panic");
            let left = cuweave_sim::clear_faults().expect("the simulated driver");
            match result {
                Ok(result) => assert_eq!(result, right, "{call}"),
                Err(error) => assert!(error.to_string().contains("OUT_OF_MEMORY"), "{error}"),
            }
            failed += 1 - left;
            assert_eq!(device.live(), live, "{call}");
        }
        assert!(failed > 0, "{call} was not called");
    }
    device.nothing_reported();
}

#[cuweave::graph(order = "explicit", launches = "as-written")]
fn explicit(n: u32, half: &Flag<u32>, x: &mut [u32; n], y: &mut [u32; n]) {
    let first = mix[per_item(n)](&mut x, 1, n);
    let other = mix[per_item(n)](&mut y, 1, n);
    #[after(first)]
    let done = write_value(&half, 1);
}

#[test]
fn explicit_order_is_what_after_says() {
    let device = alone();
    let (mut x, mut y) = (device.upload(&[7u32; N]), device.upload(&[7u32; N]));
    let half = Flag::new(&device.ctx).expect("a flag");
    let graph = explicit(&device.ctx, N as u32, half, &mut x, &mut y).expect("it builds");
    assert_eq!(before(cuweave::__private::operations(&graph), "done"), ["first"]);
}
