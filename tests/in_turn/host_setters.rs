//! Setters of events, flags, and of what host statements are given.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cudarc::driver::{CudaEvent, sys};
use cuweave::builder::Builder;
use cuweave::prelude::*;
use cuweave::{Error, Flag};
use cuweave_testkit::device::{Device, alone, pinned, simulated_alone};

#[cuweave::kernels("tests/kernels/decide.ptx")]
unsafe extern "ptx-kernel" {
    fn mix(x: &mut [u32; n], by: u32, n: u32);
}

const N: usize = 8;

fn step(x: u32, by: u32) -> u32 {
    x.wrapping_mul(31).wrapping_add(by)
}

fn event(device: &Device) -> Arc<CudaEvent> {
    // With times, which only recorded events have.
    Arc::new(device.ctx.new_event(Some(sys::CUevent_flags::CU_EVENT_DEFAULT)).expect("an event"))
}

fn is_recorded(event: &CudaEvent) -> bool {
    event.elapsed_ms(event).is_ok()
}

/// The function that a host statement calls.
struct Sink(Box<Work>);

type Work = dyn Fn(&[u32]) + Send + Sync;

impl Sink {
    fn into_list(list: &Arc<Mutex<Vec<u32>>>) -> Arc<Sink> {
        let list = list.clone();
        Arc::new(Sink(Box::new(move |seen| list.lock().expect("no panic holds it").push(seen[0]))))
    }
}

/// One host statement has a sink that is set, the other one has state of its own.
#[cuweave::graph]
fn reported(
    n: u32,
    sink: &Sink,
    count: &AtomicU32,
    half: &CudaEvent,
    x: &mut [u32; n],
    seen: &mut Pinned<[u32; n]>,
) {
    mix[per_item(n)](&mut x, 1, n);
    copy(&x, &mut seen);
    record(&half);
    host(&sink, &seen, |sink, seen| (sink.0)(seen));
    host(&count, {
        let mut own = 0;
        move |sink| {
            own += 1;
            sink.store(own, Ordering::SeqCst);
        }
    });
}

#[test]
fn events_and_functions_change_between_launches() {
    let device = alone();
    let lists = [(); 2].map(|()| Arc::new(Mutex::new(Vec::new())));
    let sinks = lists.each_ref().map(Sink::into_list);
    let events = [event(&device), event(&device)];
    let count = Arc::new(AtomicU32::new(0));
    let (mut x, mut seen) = (device.upload(&[7u32; N]), pinned(&device.ctx, &[0u32; N]));
    let graph = reported(
        &device.ctx,
        N as u32,
        sinks[0].clone(),
        count.clone(),
        events[0].clone(),
        &mut x,
        &mut seen,
    );
    let mut exec = graph.expect("it builds").instantiate().expect("it instantiates");
    exec.launch(&device.stream).expect("it runs");
    exec.synchronize().expect("it ends");
    assert_eq!(events.each_ref().map(|event| is_recorded(event)), [true, false]);
    exec.set_half(&events[1]).expect("it is set");
    exec.set_sink(&sinks[1]).expect("it is set");
    for _ in 0..2 {
        exec.launch(&device.stream).expect("it runs");
    }
    exec.synchronize().expect("it ends");
    assert!(is_recorded(&events[1]));
    let first = step(7, 1);
    let second = step(first, 1);
    let lists = lists.map(|list| list.lock().expect("no panic holds it").clone());
    assert_eq!(lists, [vec![first], vec![second, step(second, 1)]]);
    // The other function is the one of the build.
    assert_eq!(count.load(Ordering::SeqCst), 3);
    // Replaced values are gone.
    let kept = |of: usize| (Arc::strong_count(&events[of]), Arc::strong_count(&sinks[of]));
    assert_eq!(kept(0), (1, 1));
    assert!(kept(1).0 > 1 && kept(1).1 > 1);
    drop(exec);
    assert_eq!(kept(1), (1, 1));
}

#[cuweave::graph]
fn inner(n: u32, sink: &Sink, x: &mut [u32; n], seen: &mut Pinned<[u32; n]>) {
    copy(&x, &mut seen);
    host(&sink, &seen, |sink, seen| (sink.0)(seen));
    mix[per_item(n)](&mut x, 2, n);
}

#[cuweave::graph]
fn outer(n: u32, first: &Arc<Sink>, second: &Arc<Sink>, x: &mut [u32; n], seen: &mut Pinned<[u32; 2 * n]>) {
    inner(n, &first, &mut x, &mut seen[..n]);
    for i in 0..2 {
        inner(n, &second, &mut x, &mut seen[n..]);
    }
}

#[test]
fn called_functions_get_the_new_value() {
    let device = alone();
    let lists = [(); 3].map(|()| Arc::new(Mutex::new(Vec::new())));
    let sinks = lists.each_ref().map(Sink::into_list);
    let (x, seen) = (device.upload(&[7u32; N]), pinned(&device.ctx, &[0u32; 2 * N]));
    let graph = outer(&device.ctx, N as u32, &sinks[0], &sinks[1], x, seen).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.set_second(&sinks[2]).expect("it is set");
    exec.launch(&device.stream).expect("it runs");
    exec.synchronize().expect("it ends");
    let values: Vec<u32> = std::iter::successors(Some(7), |&x| Some(step(x, 2))).take(3).collect();
    let lists = lists.map(|list| list.lock().expect("no panic holds it").clone());
    assert_eq!(lists, [vec![values[0]], vec![], vec![values[1], values[2]]]);
}

#[cuweave::graph]
fn waits(go: &CudaEvent, flag: &Flag<u32>, done: &Flag<u64>, ready: &AtomicBool, found: &AtomicBool) {
    wait(&go);
    wait_value(&flag, 5);
    host(&ready, &found, |ready, found| found.store(ready.load(Ordering::SeqCst), Ordering::SeqCst));
    write_value(&done, 1);
}

#[test]
fn another_event_and_other_flags_are_waited_for() {
    let device = alone();
    let flags = [(); 2].map(|()| Flag::<u32>::new(&device.ctx).expect("a flag"));
    let done = [(); 2].map(|()| Flag::<u64>::new(&device.ctx).expect("a flag"));
    let (ready, found) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let go = [event(&device), event(&device)];
    let graph = waits(&device.ctx, &go[0], &flags[0], &done[0], &ready, &found).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.set_go(&go[1]).expect("it is set");
    exec.set_flag(&flags[1]).expect("it is set");
    exec.set_done(&done[1]).expect("it is set");
    go[1].record(&device.new_stream()).expect("it is recorded");
    let (flag, now) = (flags[1].clone(), ready.clone());
    let opens = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(20));
        now.store(true, Ordering::SeqCst);
        flag.store(5);
    });
    exec.launch(&device.stream).expect("it runs");
    exec.synchronize().expect("it ends");
    opens.join().expect("it ends");
    assert!(found.load(Ordering::SeqCst));
    assert_eq!([done[0].load(), done[1].load()], [0, 1]);
}

#[test]
fn a_value_of_another_context_is_refused() {
    let Some(device) = simulated_alone() else { return };
    let Ok(other) = cudarc::driver::CudaContext::new(1) else { return };
    let list = Arc::new(Mutex::new(Vec::new()));
    let half = event(&device);
    let (x, seen) = (device.upload(&[7u32; N]), pinned(&device.ctx, &[0u32; N]));
    let count = Arc::new(AtomicU32::new(0));
    let graph = reported(&device.ctx, N as u32, Sink::into_list(&list), count, half.clone(), x, seen)
        .expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    let foreign = Arc::new(other.new_event(None).expect("an event"));
    let refused = exec.set_half(foreign).expect_err("another context");
    assert!(matches!(refused, Error::EventOfOtherContext { .. }), "{refused}");
    exec.launch(&device.stream).expect("it runs");
    exec.synchronize().expect("it ends");
    assert!(Arc::strong_count(&half) > 1);
}

/// The replaced function may still be running.
#[test]
fn a_launch_in_flight_keeps_its_function() {
    let device = alone();
    let (began, may_end) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let dropped = Arc::new(AtomicBool::new(false));
    struct Dropped(Arc<AtomicBool>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }
    let (guard, running) = (Dropped(dropped.clone()), (began.clone(), may_end.clone()));
    let slow = Arc::new(Sink(Box::new(move |_| {
        let _guard = &guard;
        running.0.store(true, Ordering::SeqCst);
        while !running.1.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(1));
        }
    })));
    let list = Arc::new(Mutex::new(Vec::new()));
    let count = Arc::new(AtomicU32::new(0));
    let (x, seen) = (device.upload(&[7u32; N]), pinned(&device.ctx, &[0u32; N]));
    let graph = reported(&device.ctx, N as u32, slow, count, event(&device), x, seen).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    let end = may_end.clone();
    let ends = std::thread::spawn(move || {
        while !began.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(30));
        end.store(true, Ordering::SeqCst);
    });
    exec.launch(&device.stream).expect("it runs");
    exec.set_sink(Sink::into_list(&list)).expect("it is set");
    assert!(may_end.load(Ordering::SeqCst) || !dropped.load(Ordering::SeqCst));
    exec.launch(&device.stream).expect("it runs");
    exec.synchronize().expect("it ends");
    ends.join().expect("it ends");
    assert_eq!(list.lock().expect("no panic holds it").len(), 1);
    drop(exec);
    assert!(dropped.load(Ordering::SeqCst));
}

#[test]
fn builders_set_events_and_functions_of_statements() {
    let device = alone();
    let events = [event(&device), event(&device)];
    let lists = [(); 2].map(|()| Arc::new(Mutex::new(Vec::new())));
    let pushes = |of: usize| {
        let list = lists[of].clone();
        move |seen: &[u32]| list.lock().expect("no panic holds it").push(seen[0])
    };
    let mut b = Builder::with_name(&device.ctx, "reported");
    let n = b.scalar("n", N as u32);
    let x = b.exclusive("x", n, device.upload(&[7u32; N]));
    let seen = b.pinned_mut("seen", n, pinned(&device.ctx, &[0u32; N]));
    b.launch(mix {}, per_item(n), (x.write(), 1u32, n)).expect("a launch");
    let copied = b.copy(&x, seen.write()).expect("a copy");
    let half = b.record(&events[0]).expect("a record");
    let told = b.host((seen.reads::<u32>(),), pushes(0)).expect("a host statement");
    let graph = b.build().expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&device.stream).expect("it runs");
    exec.set_event(half, &events[1]).expect("it is set");
    exec.set_host(told, (seen.reads::<u32>(),), pushes(1)).expect("it is set");
    exec.launch(&device.stream).expect("it runs");
    exec.synchronize().expect("it ends");
    assert!(events.iter().all(|event| is_recorded(event)));
    let lists = lists.each_ref().map(|list| list.lock().expect("no panic holds it").len());
    assert_eq!(lists, [1, 1]);

    let refused = |result: Result<(), Error>| result.expect_err("it is refused").to_string();
    let texts = [
        refused(exec.set_event(copied, &events[0])),
        refused(exec.set_host(half, (seen.reads::<u32>(),), |_: &[u32]| {})),
        refused(exec.set_host(told, (seen.writes::<u32>(),), |_: &mut [u32]| {})),
        refused(exec.set_host(told, (), || {})),
    ];
    for (text, part) in
        texts.iter().zip(["has no event", "is no host statement", "other buffers", "other buffers"])
    {
        assert!(text.contains(part), "{text}");
    }
    let mut other = Builder::with_name(&device.ctx, "other");
    let foreign = other.record(&events[0]).expect("a record");
    let _ = other.record(&events[0]).expect("a record");
    assert!(refused(exec.set_event(foreign, &events[0])).contains("another builder"));
    exec.launch(&device.stream).expect("it runs");
    exec.synchronize().expect("it ends");
}

#[test]
fn the_simulated_driver_sees_no_misuse() {
    let Some(device) = simulated_alone() else { return };
    let events = [event(&device), event(&device)];
    let list = Arc::new(Mutex::new(Vec::new()));
    let (x, seen) = (device.upload(&[7u32; N]), pinned(&device.ctx, &[0u32; N]));
    let count = Arc::new(AtomicU32::new(0));
    let sink = Sink::into_list(&list);
    let graph = reported(&device.ctx, N as u32, sink.clone(), count, events[0].clone(), x, seen);
    let mut exec = graph.expect("it builds").instantiate().expect("it instantiates");
    for turn in 0..6 {
        exec.launch(&device.stream).expect("it runs");
        exec.set_half(&events[(turn + 1) % 2]).expect("it is set");
        exec.set_sink(&sink).expect("it is set");
    }
    exec.synchronize().expect("it ends");
    assert_eq!(list.lock().expect("no panic holds it").len(), 6);
    device.nothing_reported();
}
