//! Contexts that keep an error, and contexts that the user's code makes current.

use std::sync::{Arc, OnceLock};

use cudarc::driver::CudaContext;
use cuweave::prelude::*;
use cuweave_testkit::device::simulated_alone;
use cuweave_testkit::process::apart;
use cuweave_testkit::timeline::{named, trace};

use super::{N, assert_after, data, down, keep_an_error, shift, state_set};

/// Borrowed pinned memory is freed after the launch, even if the context keeps an error, because of which cudarc
/// skips its wait.
#[test]
fn pinned_memory_outlives_the_launch_with_an_error_kept() {
    let Some(device) = simulated_alone() else { return };
    let [a, b] = [device.new_stream(), device.new_stream()];
    let x = data(&a, 1);
    for replaced in [false, true] {
        // SAFETY: it is written before it is read.
        #[allow(unsafe_code)]
        let [mut first, mut second] =
            [(); 2].map(|()| unsafe { device.ctx.alloc_pinned::<i32>(N as usize) }.expect("pinned memory"));
        device.ctx.synchronize().expect("all is well");
        let (_, work) = trace(|| {
            let graph = down(&device.ctx, N, &x, &mut first).expect("it builds");
            let mut exec = graph.instantiate().expect("it instantiates");
            exec.launch(&b).expect("it launches");
            if replaced {
                exec.set_out(&mut second).expect("it is set");
            }
            drop(exec);
            keep_an_error(&device.ctx);
            drop(first);
            let _ = device.ctx.check_err();
        });
        let freed = named(&work, "cuMemFreeHost");
        assert_after(freed[0], named(&work, "cuGraphLaunch")[0], "the free of pinned memory");
    }
}

/// Makes the context of another device current, if there is one.
fn elsewhere(value: u32) -> u32 {
    if let Some(other) = OTHER.get() {
        other.bind_to_thread().expect("a context");
    }
    value
}

static OTHER: OnceLock<Arc<CudaContext>> = OnceLock::new();

#[cuweave::graph(memory = "owned")]
fn switched(n: u32, by: i32, x: &[i32; elsewhere(n)], out: &mut [i32; n]) {
    let h = alloc::<i32>(elsewhere(n));
    copy(&x, &mut h);
    shift[(elsewhere(1), 32)](&mut h, by, n);
    state_set[(elsewhere(1), 1)](3);
    copy(&h, &mut out);
}

/// The user's expressions make another context current between the runtime's calls.
#[test]
fn expressions_may_switch_contexts() {
    if simulated_alone().is_some() {
        apart("streams::contexts::with_two_contexts", &[("CUWEAVE_SIM_DEVICES", "2")]);
    }
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn with_two_contexts() {
    let Some(device) = simulated_alone() else { return };
    let other = CudaContext::new(1).expect("a second device");
    let _ = OTHER.set(other);
    let stream = device.new_stream();
    let (x, mut out) = (data(&stream, 1), data(&stream, 0));
    let graph = switched(&device.ctx, N, 4, &x, &mut out).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&stream).expect("it launches");
    exec.set_by(7).expect("it is set");
    exec.launch(&stream).expect("it launches");
    drop(exec);
    assert_eq!(stream.clone_dtoh(&out).expect("a download"), [8; N as usize]);
    assert!(cuweave_sim::take_reports().expect("reports").is_empty());
}
