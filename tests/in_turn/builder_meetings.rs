//! Host statements, events, flags and semaphores of builders: the same graphs as graph functions, and what is
//! refused.

use std::fs::File;
use std::os::fd::IntoRawFd;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cudarc::driver::CudaEvent;
use cuweave::builder::Builder;
use cuweave::prelude::*;
use cuweave::{Error, Flag, Graph, GraphFn, Semaphore, SemaphoreHandle};
use cuweave_testkit::device::{Device, alone, pinned, simulated_alone};

#[cuweave::kernels("tests/kernels/decide.ptx")]
unsafe extern "ptx-kernel" {
    fn mix(x: &mut [u32; n], by: u32, n: u32);
}

const N: usize = 40;

fn step(x: u32, by: u32) -> u32 {
    x.wrapping_mul(31).wrapping_add(by)
}

#[allow(unsafe_code)]
fn timeline(device: &Device) -> Arc<Semaphore> {
    let descriptor = File::open("/dev/null").expect("a file").into_raw_fd();
    // SAFETY: the simulated driver takes any open descriptor, and nothing else uses it.
    Semaphore::import(&device.ctx, &unsafe { SemaphoreHandle::timeline_fd(descriptor) }).expect("a timeline")
}

#[cuweave::graph(launches = "as-written")]
fn graph(
    n: u32,
    base: u32,
    half: &CudaEvent,
    go: &Flag<u32>,
    wide: &Flag<u64>,
    drawn: &Semaphore,
    log: &Mutex<Vec<u32>>,
    x: &mut [u32; n],
    number: &mut Pinned<[u32; 1]>,
    seen: &mut Pinned<[u32; n]>,
) {
    wait(&half);
    mix[per_item(n)](&mut x, 1, n);
    write_value(&mut number, base, 3);
    record(&half);
    write_value(&wide, 1, 2);
    signal(&drawn, 5, 1);
    wait_semaphore(&drawn, 5, 1);
    wait_value(&go, base);
    copy(&x, &mut seen);
    let told = host(&log, &mut seen[0..2], |log, seen| {
        log.lock().expect("no panic holds it").push(seen[0]);
        seen[0] = 0;
    });
    #[after(told)]
    mix[per_item(n)](&mut x, 2, n);
    wait_value(&number, base, 3);
}

fn texts<A: GraphFn>(graph: &Graph<A>) -> [String; 2] {
    // The line numbers of the two sources differ.
    let without_lines = |text: &String| -> String {
        let digits = |word: &str| word.chars().all(|c| c.is_ascii_digit());
        let words = text
            .split(' ')
            .map(|word| if digits(word.trim_end_matches([',', ')', ':'])) { "_" } else { word });
        words.collect::<Vec<_>>().join(" ")
    };
    let [checked, operations] = cuweave::__private::dump(graph);
    [without_lines(&checked), without_lines(&operations)]
}

#[test]
fn a_builder_makes_what_a_graph_function_makes() {
    let Some(device) = simulated_alone() else { return };
    let mut results = Vec::new();
    for built in [false, true] {
        let (mut x, mut number) = (device.upload(&[7u32; N]), pinned(&device.ctx, &[0u32; 1]));
        let mut seen = pinned(&device.ctx, &[0u32; N]);
        let half = Arc::new(device.ctx.new_event(None).expect("an event"));
        half.record(&device.stream).expect("it is recorded");
        let (go, wide) =
            (Flag::<u32>::new(&device.ctx).expect("a flag"), Flag::<u64>::new(&device.ctx).expect("a flag"));
        go.store(1000);
        let (drawn, log) = (timeline(&device), Arc::new(Mutex::new(Vec::new())));
        let (text, counts);
        if built {
            let mut b = Builder::with_name(&device.ctx, "graph");
            b.launches(cuweave::builder::Launches::AsWritten);
            let n = b.scalar("n", N as u32);
            let base = b.scalar("base", 10u32);
            let mut x = b.exclusive("x", n, &mut x);
            let mut number = b.pinned_mut("number", 1, &mut number);
            let mut seen = b.pinned_mut("seen", n, &mut seen);
            b.wait(&half).expect("it waits");
            b.launch(mix {}, per_item(n), (&mut x, 1, n)).expect("it launches");
            b.write_value(&mut number, base, 3).expect("it writes");
            b.record(&half).expect("it records");
            b.write_value(&wide, 1, 2).expect("it writes");
            b.signal(&drawn, 5, 1).expect("it signals");
            b.wait_semaphore(&drawn, 5, 1).expect("it waits");
            b.wait_value(&go, base, 1).expect("it waits");
            b.copy(&x, &mut seen).expect("it copies");
            let log = log.clone();
            let told = b
                .named("told")
                .host((seen.range(0, 2).writes::<u32>(),), move |seen: &mut [u32]| {
                    log.lock().expect("no panic holds it").push(seen[0]);
                    seen[0] = 0;
                })
                .expect("it runs");
            b.after(told).launch(mix {}, per_item(n), (&mut x, 2, n)).expect("it launches");
            b.wait_value(&number, base, 3).expect("it waits");
            let built = b.build().expect("it builds");
            (text, counts) = (texts(&built), built.report());
            let mut exec = built.instantiate().expect("it instantiates");
            assert_eq!(exec.launches(), 0);
            exec.launch(&device.stream).expect("it launches");
            exec.set_scalar(&base, 20).expect("it is set");
            exec.launch(&device.stream).expect("it launches");
            exec.set_scalar(&base, 2).expect("it is set");
            let told = exec.launch(&device.stream).map(drop).expect_err("4 lies behind 21");
            assert!(matches!(told, Error::ValueNotAhead { last: 21, next: 4, .. }), "{told}");
            assert!(
                told.to_string().starts_with("`wait_value` (tests/in_turn/builder_meetings.rs:"),
                "{told}"
            );
            assert_eq!(exec.launches(), 2);
        } else {
            let built = graph(
                &device.ctx,
                N as u32,
                10,
                half.clone(),
                go.clone(),
                wide.clone(),
                drawn.clone(),
                log.clone(),
                &mut x,
                &mut number,
                &mut seen,
            )
            .expect("it builds");
            (text, counts) = (texts(&built), built.report());
            let mut exec = built.instantiate().expect("it instantiates");
            exec.launch(&device.stream).expect("it launches");
            exec.set_base(20).expect("it is set");
            exec.launch(&device.stream).expect("it launches");
        }
        assert_eq!((counts.hosts, counts.events, counts.syncs), (1, 2, 6));
        let values = (
            device.download(&x)[0],
            number.as_slice().expect("its memory")[0],
            seen.as_slice().expect("its memory")[..3].to_vec(),
        );
        let log = log.lock().expect("no panic holds it").clone();
        assert_eq!((wide.load(), Arc::strong_count(&wide), Arc::strong_count(&drawn)), (3, 1, 1));
        results.push((text, values, log));
        device.nothing_reported();
    }
    assert_eq!(results[0].0, results[1].0);
    assert_eq!(results[0], results[1]);
    let first = step(7, 1);
    assert_eq!(results[0].2, [first, step(step(first, 2), 1)]);
    assert_eq!(results[0].1.1, 23);
}

#[test]
fn a_host_statement_keeps_its_function_as_long_as_launches_may_run() {
    let device = alone();
    let dropped = Arc::new(AtomicU32::new(0));
    struct Counts(Arc<AtomicU32>);
    impl Drop for Counts {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let mut seen = pinned(&device.ctx, &[0u32; 2]);
    let mut b = Builder::new(&device.ctx);
    let seen = b.pinned_mut("seen", 2, &mut seen);
    let counts = Counts(dropped.clone());
    b.host(
        (seen.range(0, 1).reads::<u32>(), seen.range(1, 2).writes::<u32>()),
        move |from: &[u32], to: &mut [u32]| {
            std::thread::sleep(Duration::from_millis(20));
            let _ = &counts;
            to[0] += from[0] + 1;
        },
    )
    .expect("it runs");
    let mut exec = b.build().expect("it builds").instantiate().expect("it instantiates");
    exec.launch(&device.stream).expect("it launches");
    exec.launch(&device.stream).expect("it launches");
    assert_eq!(dropped.load(Ordering::SeqCst), 0);
    drop(exec);
    assert_eq!(dropped.load(Ordering::SeqCst), 1);
    device.nothing_reported();
}

#[test]
fn a_panic_is_an_error_of_the_next_call() {
    let device = alone();
    let mut b = Builder::new(&device.ctx);
    b.named("bad").host((), || panic!("on purpose")).expect("it is written");
    let mut exec = b.build().expect("it builds").instantiate().expect("it instantiates");
    exec.launch(&device.stream).expect("it launches");
    device.stream.synchronize().expect("it is over");
    let told = exec.launch(&device.stream).map(drop).expect_err("the panic");
    assert!(told.to_string().contains("`bad`") && told.to_string().ends_with("on purpose"), "{told}");
}

#[test]
fn what_does_not_fit_is_refused() {
    let device = alone();
    let mut memory = pinned(&device.ctx, &[0.0f32]);
    let (mut x, mut seen) = (device.upload(&[7.0f32; N]), pinned(&device.ctx, &[0u32; N]));
    let (narrow, wide) =
        (Flag::<u32>::new(&device.ctx).expect("a flag"), Flag::<u64>::new(&device.ctx).expect("a flag"));
    let mut b = Builder::new(&device.ctx);
    let mut other = Builder::new(&device.ctx);
    let mut x = b.exclusive("x", N, &mut x);
    let seen = b.pinned_mut("seen", N, &mut seen);
    let mut floats = b.pinned_mut("floats", 1, &mut memory);
    let big = b.scalar("big", 1u64 << 40);
    let text = |result: cuweave::Result<cuweave::builder::Statement>| {
        result.expect_err("it does not fit").to_string()
    };
    let temporary = b.alloc::<f32>(N);
    let told = text(b.host((temporary.reads::<f32>(),), |_: &[f32]| {}));
    assert!(told.contains("is memory of the device, which the host statement cannot reach"), "{told}");
    assert!(told.contains("`copy` it to an argument of `pinned_mut` first"), "{told}");
    let told = text(b.host((seen.writes::<i32>(),), |_: &mut [i32]| {}));
    assert!(
        told.contains(
            "CW401: `seen` has elements of type `u32`, and the function is given elements of type `i32`"
        ),
        "{told}"
    );
    let told = text(other.host((seen.reads::<u32>(),), |_: &[u32]| {}));
    assert!(told.contains("CW402: a buffer of another builder is given to `host`"), "{told}");
    let told = text(b.write_value(&mut x, 1, 1));
    assert!(told.contains("CW001: `x` is memory of the device, where a graph neither waits"), "{told}");
    let told = text(b.write_value(&mut floats, 1, 1));
    assert!(told.contains("CW401: a flag has a value of type `u32` or `u64`, and not `f32`"), "{told}");
    let told = text(b.wait_value(&narrow, big, 1));
    assert!(told.contains("CW401") && told.contains("`big`"), "{told}");
    let told = text(b.wait_value(&narrow, 1, -1));
    assert!(told.contains("CW401") && told.contains("`step`"), "{told}");
    let told = text(other.wait_value(&wide, big, 1));
    assert!(told.contains("CW402"), "{told}");
    let told = text(b.write_value(&seen.range(0, 1), 1, 1));
    assert!(told.contains("CW001") && told.contains("`write_value` writes `&seen[0..1]`"), "{told}");
    b.wait_value(&wide, big, 0).expect("the build refuses it");
    let told = b.build().map(drop).expect_err("no step").to_string();
    assert!(told.contains("the step of `wait_value` is 0"), "{told}");
    // An argument may be bound to managed memory. In this case, the build sees that it is not.
    let mut elements = device.upload(&[7.0f32; N]);
    let mut b = Builder::new(&device.ctx);
    let elements = b.exclusive("elements", N, &mut elements);
    b.host((elements.reads::<f32>(),), |_: &[f32]| {}).expect("the build refuses it");
    let told = b.build().map(drop).expect_err("it is memory of the device").to_string();
    assert!(told.contains("`elements` is memory of the device alone"), "{told}");
    // Two parts that overlap, of which one is written.
    let mut seen = pinned(&device.ctx, &[0u32; N]);
    let mut b = Builder::new(&device.ctx);
    let seen = b.pinned_mut("seen", N, &mut seen);
    b.host(
        (seen.range(0, 3).reads::<u32>(), seen.range(2, 4).writes::<u32>()),
        |_: &[u32], _: &mut [u32]| {},
    )
    .expect("the build refuses it");
    let told = b.build().map(drop).expect_err("they overlap").to_string();
    assert!(told.contains("CW201"), "{told}");
}
