//! Builders call graph functions with host statements, events, host values and pinned memory.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use cudarc::driver::CudaEvent;
use cuweave::builder::Builder;
use cuweave::prelude::*;
use cuweave::{Error, Flag};
use cuweave_testkit::device::{Device, alone, pinned, simulated_alone};

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

/// One round of the device and the host.
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

/// The host value is passed on, the memory is only read.
#[cuweave::graph]
fn told(n: u32, log: &Arc<Log>, from: &Pinned<[u32; n]>, x: &mut [u32; n]) {
    copy(&from, &mut x);
    told_only(n, &log, &from);
}

#[cuweave::graph]
fn told_only(n: u32, log: &Log, from: &Pinned<[u32; n]>) {
    host(&log, &from, |log, from| log.0.lock().expect("no panic holds it").push(from[1]));
}

/// Its methods compute scalars.
struct Steps(Vec<u32>);

impl Steps {
    fn first(&self) -> u32 {
        self.0[0]
    }

    fn second(&self) -> u32 {
        self.0[1]
    }
}

#[cuweave::graph]
fn stepped(n: u32, steps: &Steps, x: &mut [u32; n]) {
    mix[per_item(n)](&mut x, steps.first(), n);
    mix[per_item(n)](&mut x, steps.second(), n);
}

/// Flags are host values.
#[cuweave::graph]
fn flagged(go: &Flag<u32>, done: &Flag<u32>) {
    wait_value(&go, 1);
    write_value(&done, 10);
}

fn event(device: &Device) -> Arc<CudaEvent> {
    Arc::new(device.ctx.new_event(None).expect("an event"))
}

#[test]
fn called_functions_have_host_statements_events_and_pinned_memory() {
    let device = alone();
    for seed in 0..4 {
        device.schedule(seed);
        let (mut x, mut y) = (device.upload(&[7u32; N]), device.zeros::<u32>(N));
        let mut both = pinned(&device.ctx, &[0u32; 2 * N]);
        let (log, done) = (Arc::new(Log::default()), event(&device));
        let mut b = Builder::new(&device.ctx);
        let n = b.scalar("n", N as u32);
        let mut x_in = b.exclusive("x", n, &mut x);
        let mut y_in = b.exclusive("y", n, &mut y);
        let both_in = b.pinned_mut("both", 2 * n, &mut both);
        let (mut seen, mut given) = both_in.split_at_mut(n);
        for by in [3u32, 5] {
            b.call(round::round {}, (n, by, &log, &done, &mut x_in, &mut seen, &mut given)).expect("a call");
        }
        // The exec shares the value, also if this is the last of the program's.
        let other = Arc::new(Log::default());
        b.call(told::told {}, (n, other.clone(), &given, &mut y_in)).expect("a call");
        let steps = Arc::new(Steps(vec![8, 9]));
        b.call(stepped::stepped {}, (n, steps, &mut y_in)).expect("a call");
        let graph = b.build().expect("a graph");
        let report = graph.report();
        assert_eq!((report.hosts, report.copies, report.events), (3, 5, 2), "{report}");
        let mut exec = graph.instantiate().expect("an exec");
        exec.launch(&device.stream).expect("a launch");
        done.synchronize().expect("it is recorded");
        exec.synchronize().expect("it is over");
        drop(exec);
        let first = step(7, 1);
        let second = step(first.wrapping_mul(3), 1);
        let last = second.wrapping_mul(5);
        assert_eq!((log.take(), other.take()), (vec![first, second], vec![last]));
        assert_eq!(device.download(&x), [last; N]);
        assert_eq!(device.download(&y), [step(step(last, 8), 9); N]);
        device.nothing_reported();
    }
    device.schedule(0);
}

static LIVE: AtomicU32 = AtomicU32::new(0);

struct Counted(u32);

impl Counted {
    fn new(value: u32) -> Arc<Counted> {
        LIVE.fetch_add(1, Ordering::SeqCst);
        Arc::new(Counted(value))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        LIVE.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cuweave::graph]
fn counts(by: &Counted, x: &mut Pinned<[u32; 1]>) {
    host(&by, &mut x, |by, x| x[0] += by.0);
}

/// The exec keeps host values alive, also one that is dropped while a launch is in flight, and no longer.
#[test]
fn host_values_live_as_long_as_the_exec() {
    let device = alone();
    let mut x = pinned(&device.ctx, &[0u32; 1]);
    let mut b = Builder::new(&device.ctx);
    let mut x_in = b.pinned_mut("x", 1, &mut x);
    for by in [3, 4] {
        b.call(counts::counts {}, (Counted::new(by), &mut x_in)).expect("a call");
    }
    let mut exec = b.build().expect("a graph").instantiate().expect("an exec");
    for _ in 0..3 {
        exec.launch(&device.stream).expect("a launch");
        assert_eq!(LIVE.load(Ordering::SeqCst), 2);
    }
    drop(exec);
    assert_eq!((x.as_slice().expect("elements")[0], LIVE.load(Ordering::SeqCst)), (21, 0));
    device.nothing_reported();
}

#[test]
fn flags_are_given_to_calls() {
    let Some(device) = simulated_alone() else { return };
    let flag = || Flag::<u32>::new(&device.ctx).expect("a flag");
    let (go, done) = (flag(), flag());
    let mut b = Builder::new(&device.ctx);
    b.call(flagged::flagged {}, (&go, &done)).expect("a call");
    let mut exec = b.build().expect("a graph").instantiate().expect("an exec");
    go.store(2);
    for expected in [10, 11] {
        exec.launch(&device.stream).expect("a launch");
        exec.synchronize().expect("it is over");
        assert_eq!(done.load(), expected);
    }
    device.nothing_reported();
}

/// Checks that a call is refused with this message.
fn refused<T: std::fmt::Debug>(called: cuweave::Result<T>, code: &str, message: &str) {
    match called {
        Err(Error::Refused(refusals)) => {
            assert_eq!((refusals.len(), refusals[0].code.name()), (1, code), "{refusals:?}");
            assert!(refusals[0].text.contains(message), "{}", refusals[0].text);
        }
        other => panic!("it does not fit: {other:?}"),
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let device = alone();
    let (mut x, memory) = (device.upload(&[7u32; N]), pinned(&device.ctx, &[0u32; N]));
    let (log, done, n) = (Arc::new(Log::default()), event(&device), N as u32);
    let mut b = Builder::new(&device.ctx);
    let mut x_in = b.exclusive("x", n, &mut x);
    let from = b.pinned("from", n, &memory);
    refused(
        b.call(told::told {}, (n, &done, &from, &mut x_in)),
        "CW401",
        "is of type `cudarc::driver::safe::core::CudaEvent`, and the parameter `log` of `told` is declared as",
    );
    refused(
        b.call(told::told {}, (n, 3, &from, &mut x_in)),
        "CW401",
        "`3` does not fit the parameter `log` of `told`",
    );
    refused(
        b.call(told::told {}, (&log, &log, &from, &mut x_in)),
        "CW401",
        "does not fit the parameter `n` of `told`",
    );
    refused(
        b.call(told::told {}, (n, &from, &from, &mut x_in)),
        "CW401",
        "`&from` does not fit the parameter `log` of `told`",
    );
    refused(
        b.call(told::told {}, (n, &log, &x_in, &mut x_in.range(0, n))),
        "CW401",
        "`x` is a device buffer, and the parameter `from` of `told` is pinned host memory\n= help: `copy` it to or \
         from an argument of `pinned` or `pinned_mut`",
    );
    refused(
        b.call(stepped::stepped {}, (n, Arc::new(Steps(vec![1, 2])), from)),
        "CW401",
        "`from` does not fit the parameter `x` of `stepped`, which is declared as `&mut [T; _]`",
    );
    refused(
        b.launch(mix {}, per_item(n), (&mut x_in, &log, n)),
        "CW401",
        "does not fit the parameter `by` of `mix`",
    );
    let seen = b.pinned_mut("seen", n, pinned(&device.ctx, &[0u32; N]));
    b.call(round::round {}, (n, 1, &log, &done, &mut x_in, seen.write(), seen.write())).expect("they fit");
    refused(b.build(), "CW201", "borrows `seen` mutably more than once");
}

/// Host statements are not allowed in the bodies of conditionals, also in called functions.
#[test]
fn a_body_has_no_host_statements() {
    let device = alone();
    let (memory, mut go) = (pinned(&device.ctx, &[0u32; N]), device.upload(&[1u32]));
    let log = Arc::new(Log::default());
    let mut b = Builder::new(&device.ctx);
    let from = b.pinned("from", N as u32, &memory);
    let go = b.exclusive("go", 1, &mut go);
    b.if_(&go, |b| b.call(told_only::told_only {}, (N as u32, &log, &from)).map(drop))
        .expect("a conditional");
    let error = b.build().map(drop).expect_err("the driver has no such node in a body");
    assert!(matches!(error, Error::InBody { .. }), "{error}");
}
