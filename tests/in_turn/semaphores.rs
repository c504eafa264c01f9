//! Semaphores of other APIs in graphs. The simulated driver imports them from any open file descriptor. On a GPU,
//! only refusals are tested, because no other API is available to create one.

use std::fs::File;
use std::os::fd::IntoRawFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use cudarc::driver::CudaContext;
use cuweave::prelude::*;
use cuweave::{Error, Semaphore, SemaphoreHandle};
use cuweave_testkit::device::{alone, simulated_alone};
use cuweave_testkit::process::apart;

#[cuweave::kernels("tests/kernels/decide.ptx")]
unsafe extern "ptx-kernel" {
    fn mix(x: &mut [u32; n], by: u32, n: u32);
}

const N: usize = 40;

fn descriptor() -> i32 {
    File::open("/dev/null").expect("a file").into_raw_fd()
}

#[allow(unsafe_code)]
fn timeline(ctx: &Arc<CudaContext>) -> cuweave::Result<Arc<Semaphore>> {
    // SAFETY: the simulated driver takes any open descriptor, and nothing else uses it.
    Semaphore::import(ctx, &unsafe { SemaphoreHandle::timeline_fd(descriptor()) })
}

#[allow(unsafe_code)]
fn binary(ctx: &Arc<CudaContext>) -> cuweave::Result<Arc<Semaphore>> {
    // SAFETY: as above.
    Semaphore::import(ctx, &unsafe { SemaphoreHandle::opaque_fd(descriptor()) })
}

#[cuweave::graph]
fn produce(n: u32, base: u64, drawn: &Semaphore, taken: &Semaphore, x: &mut [u32; n]) {
    mix[per_item(n)](&mut x, 1, n);
    signal(&drawn, base + 1, 2);
    wait_semaphore(&taken);
    mix[per_item(n)](&mut x, 2, n);
    signal(&drawn, base + 2, 2);
}

#[cuweave::graph]
fn consume(n: u32, base: u64, drawn: &Semaphore, taken: &Semaphore, x: &mut [u32; n]) {
    wait_semaphore(&drawn, base + 1, 2);
    mix[per_item(n)](&mut x, 1, n);
    signal(&taken);
    wait_semaphore(&drawn, base + 2, 2);
    mix[per_item(n)](&mut x, 2, n);
}

fn expected(launches: usize) -> u32 {
    (0..2 * launches).fold(7u32, |x, turn| x.wrapping_mul(31).wrapping_add(1 + turn as u32 % 2))
}

#[test]
fn two_execs_meet_at_semaphores() {
    let Some(device) = simulated_alone() else { return };
    for seed in 0..4 {
        device.schedule(seed);
        let (drawn, taken) =
            (timeline(&device.ctx).expect("a timeline"), binary(&device.ctx).expect("a semaphore"));
        assert!(drawn.counts() && !taken.counts());
        let (mut x, mut y) = (device.upload(&[7u32; N]), device.upload(&[7u32; N]));
        let graph =
            produce(&device.ctx, N as u32, 0, drawn.clone(), taken.clone(), &mut x).expect("it builds");
        assert_eq!(graph.report().syncs, 3);
        let mut one = graph.instantiate().expect("it instantiates");
        let graph =
            consume(&device.ctx, N as u32, 0, drawn.clone(), taken.clone(), &mut y).expect("it builds");
        let mut other = graph.instantiate().expect("it instantiates");
        let (first, second) = (device.new_stream(), device.new_stream());
        std::thread::scope(|scope| {
            let consuming = scope.spawn(|| {
                for launch in 0..4 {
                    if launch == 2 {
                        other.set_base(100).expect("it is set");
                    }
                    other.launch(&second).expect("it launches");
                }
            });
            for launch in 0..4 {
                if launch == 2 {
                    one.set_base(100).expect("it is set");
                }
                one.launch(&first).expect("it launches");
            }
            consuming.join().expect("no panic");
        });
        drop((one, other));
        assert_eq!((device.download(&x)[0], device.download(&y)[0]), (expected(4), expected(4)));
        assert_eq!(Arc::strong_count(&drawn), 1);
        device.nothing_reported();
    }
}

#[test]
fn the_last_that_keeps_a_semaphore_destroys_it() {
    let Some(device) = simulated_alone() else { return };
    let destroyed = || {
        let calls = cuweave_sim::call_counts().expect("counts");
        calls.get("cuDestroyExternalSemaphore").copied().unwrap_or(0)
    };
    let before = destroyed();
    let (drawn, taken) =
        (timeline(&device.ctx).expect("a timeline"), binary(&device.ctx).expect("a semaphore"));
    let mut x = device.upload(&[7u32; N]);
    let graph = produce(&device.ctx, N as u32, 0, drawn, taken, &mut x).expect("it builds");
    let exec = graph.instantiate().expect("it instantiates");
    assert_eq!(destroyed(), before);
    drop(exec);
    assert_eq!(destroyed(), before + 2);
    device.nothing_reported();
}

#[cuweave::graph]
fn again(n: u32, base: u64, drawn: &Semaphore, x: &mut [u32; n]) {
    mix[per_item(n)](&mut x, 1, n);
    signal(&drawn, base);
}

#[cuweave::graph]
fn still(n: u32, drawn: &Semaphore, x: &mut [u32; n]) {
    wait_semaphore(&drawn, 1, 0);
    mix[per_item(n)](&mut x, 1, n);
}

#[test]
fn a_timeline_goes_ahead_with_each_launch() {
    let Some(device) = simulated_alone() else { return };
    let mut x = device.upload(&[7u32; N]);
    let drawn = timeline(&device.ctx).expect("a timeline");
    let graph = again(&device.ctx, N as u32, 5, drawn.clone(), &mut x).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&device.stream).expect("it signals 5");
    exec.set_base(3).expect("it is set");
    let told = exec.launch(&device.stream).expect_err("4 is signalled");
    assert!(matches!(told, Error::ValueNotAhead { last: 5, next: 4, .. }), "{told}");
    exec.set_base(7).expect("it is set");
    exec.launch(&device.stream).expect("it signals 8");
    drop(exec);
    let told = still(&device.ctx, N as u32, drawn, &mut x).map(drop).expect_err("no step");
    assert!(told.to_string().contains("the step of `wait_semaphore` is 0"), "{told}");
    device.nothing_reported();
}

#[allow(unsafe_code)]
#[test]
fn what_is_no_semaphore_is_refused() {
    // Also on a GPU.
    let device = alone();
    // SAFETY: nothing is imported, since no such descriptor is open.
    for handle in unsafe { [SemaphoreHandle::opaque_fd(-1), SemaphoreHandle::timeline_fd(987_654)] } {
        let told = Semaphore::import(&device.ctx, &handle).map(drop).expect_err("no descriptor");
        assert!(told.to_string().contains("`cuImportExternalSemaphore` failed with"), "{told}");
    }
    // SAFETY: as above.
    let handle = unsafe { SemaphoreHandle::opaque_win32(std::ptr::null_mut()) };
    if cfg!(not(windows)) {
        assert!(Semaphore::import(&device.ctx, &handle).is_err());
    }
}

#[test]
fn a_device_without_timelines_refuses_them() {
    let settings = [("CUWEAVE_DRIVER", "sim"), ("CUWEAVE_SIM_CAPABILITY", "6.1")];
    apart("semaphores::on_an_older_device", &settings);
}

#[test]
#[ignore = "run by the test above, on an older device"]
fn on_an_older_device() {
    let device = alone();
    binary(&device.ctx).expect("a semaphore");
    let told = timeline(&device.ctx).map(drop).expect_err("no timelines");
    assert_eq!(told.to_string(), "this device has no timeline semaphores of other APIs");
}

#[test]
fn a_semaphore_of_another_context_is_refused() {
    let settings = [("CUWEAVE_DRIVER", "sim"), ("CUWEAVE_SIM_DEVICES", "2")];
    apart("semaphores::on_two_devices", &settings);
}

#[test]
#[ignore = "run by the test above, on two devices"]
fn on_two_devices() {
    let device = alone();
    let other = cuweave::context(1).expect("a context");
    let mut x = device.upload(&[7u32; N]);
    let foreign = timeline(&other).expect("a timeline");
    let told = again(&device.ctx, N as u32, 1, foreign, &mut x).map(drop).expect_err("another context");
    assert!(told.to_string().ends_with("is given a semaphore of another context"), "{told}");
}

const CALLS: [&str; 6] = [
    "cuImportExternalSemaphore",
    "cuGraphAddExternalSemaphoresSignalNode",
    "cuGraphAddExternalSemaphoresWaitNode",
    "cuGraphExecExternalSemaphoresSignalNodeSetParams",
    "cuGraphExecExternalSemaphoresWaitNodeSetParams",
    "cuGraphLaunch",
];

/// Waits for a value that the graph itself has signalled.
#[cuweave::graph]
fn alone_with_itself(n: u32, drawn: &Semaphore, taken: &Semaphore, x: &mut [u32; n]) {
    mix[per_item(n)](&mut x, 1, n);
    signal(&drawn);
    signal(&taken);
    wait_semaphore(&drawn);
    wait_semaphore(&taken);
    mix[per_item(n)](&mut x, 2, n);
}

#[test]
fn every_failing_call_is_an_error_and_leaves_nothing() {
    let Some(device) = simulated_alone() else { return };
    let run = |failing: bool| -> cuweave::Result<u32> {
        let mut x = device.upload(&[7u32; N]);
        let result = (|| {
            let (drawn, taken) = (timeline(&device.ctx)?, binary(&device.ctx)?);
            let mut exec = alone_with_itself(&device.ctx, N as u32, drawn, taken, &mut x)?.instantiate()?;
            for launch in 0..3 {
                let mut launched = exec.launch(&device.stream);
                if launched.is_err() && failing {
                    launched = exec.launch(&device.stream);
                }
                launched?;
                assert_eq!(exec.launches(), launch + 1);
            }
            exec.synchronize()
        })();
        result.map(|()| device.download(&x)[0])
    };
    assert_eq!(run(false).expect("no call fails"), expected(3));
    let live = device.live();
    for call in CALLS {
        let mut failed = 0;
        for nth in 1..6 {
            cuweave_sim::inject_fault(call, nth, 2).expect("the simulated driver");
            let result = catch_unwind(AssertUnwindSafe(|| run(true))).expect("no panic");
            failed += 1 - cuweave_sim::clear_faults().expect("the simulated driver");
            match result {
                Ok(result) => assert_eq!(result, expected(3), "{call}"),
                Err(error) => assert!(error.to_string().contains("OUT_OF_MEMORY"), "{error}"),
            }
            assert_eq!(device.live(), live, "{call}");
        }
        assert!(failed > 0, "{call} was not called");
    }
    device.nothing_reported();
}

#[test]
fn a_semaphore_that_nobody_signals_is_an_error_of_the_simulator() {
    apart("semaphores::nobody_signals", &[("CUWEAVE_DRIVER", "sim"), ("CUWEAVE_SIM_TIMEOUT", "50")]);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn nobody_signals() {
    let device = alone();
    let (drawn, taken) =
        (timeline(&device.ctx).expect("a timeline"), binary(&device.ctx).expect("a semaphore"));
    let mut x = device.upload(&[7u32; N]);
    let graph = consume(&device.ctx, N as u32, 0, drawn, taken, &mut x).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    let launched = exec.launch(&device.stream);
    let told = launched.and_then(|()| exec.synchronize()).expect_err("nobody signals");
    assert!(told.to_string().contains("LAUNCH_TIMEOUT"), "{told}");
    let reports = cuweave_sim::take_reports().expect("the simulated driver");
    assert_eq!(reports[0].kind, "deadlock");
    assert!(
        reports[0].text.contains("waits for a timeline to reach 1, which is at 0"),
        "{}",
        reports[0].text
    );
    std::thread::sleep(Duration::from_millis(1));
    std::mem::forget(exec);
}
