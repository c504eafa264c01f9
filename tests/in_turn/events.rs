//! Events in graphs: other streams synchronize with the middle of a launch.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cudarc::driver::CudaEvent;
use cuweave::Error;
use cuweave::prelude::*;
use cuweave_core::index::Index;
use cuweave_core::operation::Operations;
use cuweave_testkit::device::{Device, alone, pinned, simulated_alone};

#[cuweave::kernels("tests/kernels/decide.ptx")]
unsafe extern "ptx-kernel" {
    fn mix(x: &mut [u32; n], by: u32, n: u32);
    fn mixed(x: &[u32; n], y: &mut [MaybeUninit<u32>; n], by: u32, n: u32);
}

const N: usize = 40;

fn event(device: &Device) -> Arc<CudaEvent> {
    Arc::new(device.ctx.new_event(None).expect("an event"))
}

#[cuweave::graph(launches = "as-written")]
fn halves(n: u32, half: &CudaEvent, go: &CudaEvent, x: &mut [u32; n], y: &mut [u32; n], flag: &[u32; 1]) {
    mix[per_item(n)](&mut x, 1, n);
    mix[per_item(n)](&mut y, 2, n);
    if flag {
        let h = alloc::<u32>(n);
        mixed[per_item(n)](&x, &mut h, 1, n);
        mixed[per_item(n)](&h, &mut y, 1, n);
    }
    let done = record(&half);
    let before = mix[per_item(n)](&mut x, 3, n);
    let waiting = wait(&go);
    let behind = mix[per_item(n)](&mut y, 4, n);
    record(&half);
}

/// Takes its time in the middle of a launch.
#[cuweave::graph]
fn slow(n: u32, half: &CudaEvent, done: &AtomicBool, x: &mut [u32; n], seen: &mut Pinned<[u32; n]>) {
    mix[per_item(n)](&mut x, 1, n);
    copy(&x, &mut seen);
    record(&half);
    host(&done, &mut seen, |done, seen| {
        std::thread::sleep(Duration::from_millis(200));
        seen[0] += 1;
        done.store(true, Ordering::SeqCst);
    });
}

/// Records whether it ran after the event.
#[cuweave::graph]
fn behind(go: &CudaEvent, done: &AtomicBool, found: &AtomicBool) {
    wait(&go);
    host(&done, &found, |done, found| found.store(done.load(Ordering::SeqCst), Ordering::SeqCst));
}

#[test]
fn other_streams_meet_the_middle_of_a_launch() {
    let device = alone();
    let flag = || Arc::new(AtomicBool::new(false));
    let (half, go, done, found) = (event(&device), event(&device), flag(), flag());
    let (mut x, mut seen) = (device.upload(&[7u32; N]), pinned(&device.ctx, &[0u32; N]));
    let graph =
        slow(&device.ctx, N as u32, half.clone(), done.clone(), &mut x, &mut seen).expect("it builds");
    let mut first = graph.instantiate().expect("it instantiates");
    let graph = behind(&device.ctx, go.clone(), done.clone(), found.clone()).expect("it builds");
    let mut second = graph.instantiate().expect("it instantiates");
    let streams = [device.new_stream(), device.new_stream(), device.new_stream()];
    // The first launches of a process may take longer than the host statement.
    first.launch(&streams[0]).expect("it launches");
    first.synchronize().expect("nothing panicked");
    second.launch(&streams[1]).expect("it launches");
    second.synchronize().expect("nothing panicked");
    for _ in 0..2 {
        done.store(false, Ordering::SeqCst);
        found.store(false, Ordering::SeqCst);
        first.launch(&streams[0]).expect("it launches");
        streams[2].wait(&half).expect("it waits");
        streams[2].synchronize().expect("the work is over");
        // The simulated driver completes a launch before `launch` returns.
        assert_eq!(
            done.load(Ordering::SeqCst),
            device.simulated,
            "the event is recorded before the host statement"
        );
        go.record(&streams[0]).expect("it is recorded");
        second.launch(&streams[1]).expect("it launches");
        second.synchronize().expect("nothing panicked");
        assert!(found.load(Ordering::SeqCst), "the launch waits for the event");
    }
    // The drop waits for the launch, so the memory remains valid until then.
    done.store(false, Ordering::SeqCst);
    first.launch(&streams[0]).expect("it launches");
    drop(first);
    assert!(done.load(Ordering::SeqCst));
    assert_eq!(Arc::strong_count(&half), 1);
    assert_eq!(seen.as_slice().expect("its memory")[1..], device.download(&x)[1..]);
    device.nothing_reported();
}

/// Returns the names of the predecessors of an operation, over any path.
fn before(operations: &Operations, name: &str) -> BTreeSet<String> {
    let list = operations.list.as_slice();
    let at = list.iter().position(|operation| operation.name == name).expect("it is there");
    let (mut found, mut work) = (BTreeSet::new(), vec![at]);
    while let Some(at) = work.pop() {
        for before in &list[at].after {
            found.insert(list[before.index()].name.to_string());
            work.push(before.index());
        }
    }
    found
}

#[test]
fn a_record_comes_after_all_before_it_and_a_wait_before_all_behind_it() {
    let device = alone();
    let (mut x, mut y, flag) = (device.upload(&[7u32; N]), device.upload(&[7u32; N]), device.upload(&[1u32]));
    for seed in 0..6 {
        device.schedule(seed);
        let (half, go) = (event(&device), event(&device));
        go.record(&device.new_stream()).expect("it is recorded");
        let graph =
            halves(&device.ctx, N as u32, half.clone(), &go, &mut x, &mut y, &flag).expect("it builds");
        let report = graph.report();
        assert_eq!((report.events, report.conditions), (3, 1));
        let operations = cuweave::__private::operations(&graph);
        assert!(before(operations, "done").contains("mix") && before(operations, "done").contains("if"));
        assert!(!before(operations, "before").contains("waiting"));
        assert!(!before(operations, "waiting").contains("mix"), "a wait waits for nothing of the graph");
        assert!(before(operations, "behind").contains("waiting"));
        let last = before(operations, "record");
        assert!(["before", "behind", "waiting", "done"].iter().all(|name| last.contains(*name)), "{last:?}");
        let mut exec = graph.instantiate().expect("it instantiates");
        exec.launch(&device.stream).expect("it launches");
        // A stream that waits for the event sees all that was done before its last record.
        let other = device.new_stream();
        other.wait(&half).expect("it waits");
        other.synchronize().expect("the work is over");
        assert!(half.is_complete());
        drop(exec);
        device.nothing_reported();
    }
}

#[cuweave::graph(order = "explicit", launches = "as-written")]
fn explicit(n: u32, half: &CudaEvent, x: &mut [u32; n], y: &mut [u32; n]) {
    let first = mix[per_item(n)](&mut x, 1, n);
    let other = mix[per_item(n)](&mut y, 1, n);
    #[after(first)]
    let done = record(&half);
}

#[test]
fn explicit_order_is_what_after_says() {
    let device = alone();
    let (mut x, mut y) = (device.upload(&[7u32; N]), device.upload(&[7u32; N]));
    let graph = explicit(&device.ctx, N as u32, event(&device), &mut x, &mut y).expect("it builds");
    let done = before(cuweave::__private::operations(&graph), "done");
    assert_eq!(done.into_iter().collect::<Vec<_>>(), ["first"]);
}

#[test]
fn an_event_of_another_context_is_refused() {
    let Some(device) = simulated_alone() else { return };
    let Ok(other) = cudarc::driver::CudaContext::new(1) else { return };
    let foreign = Arc::new(other.new_event(None).expect("an event"));
    let (mut x, mut y) = (device.upload(&[7u32; N]), device.upload(&[7u32; N]));
    let told = explicit(&device.ctx, N as u32, foreign, &mut x, &mut y).expect_err("another context");
    assert!(matches!(told, Error::EventOfOtherContext { .. }), "{told}");
    assert!(told.to_string().ends_with("is given an event of another context"), "{told}");
}

#[test]
fn the_exec_keeps_its_events() {
    let device = alone();
    let (mut x, mut y) = (device.upload(&[7u32; N]), device.upload(&[7u32; N]));
    let half = event(&device);
    let mut exec = explicit(&device.ctx, N as u32, half.clone(), &mut x, &mut y)
        .expect("it builds")
        .instantiate()
        .expect("it instantiates");
    assert_eq!(Arc::strong_count(&half), 2);
    exec.launch(&device.stream).expect("it launches");
    let kept = exec.into_args();
    assert!(Arc::ptr_eq(&kept.half, &half));
    drop(kept);
    assert_eq!(Arc::strong_count(&half), 1);
    device.nothing_reported();
}
