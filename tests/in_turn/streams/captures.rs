//! Captures of the user's streams contain the user's work and nothing else.

use cudarc::driver::sys::CUstreamCaptureMode;
use cuweave_testkit::device::simulated_alone;

use super::{N, both, data, end_capture, made, taken};

const MODES: [CUstreamCaptureMode; 3] = [
    CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL,
    CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
    CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED,
];

/// Returns the number of nodes in all graphs of the process.
fn nodes() -> u64 {
    cuweave_sim::live_objects().expect("counts").nodes
}

/// Objects are read and dropped while a stream captures: the capture contains the user's work and nothing else.
#[test]
fn captures_are_left_alone() {
    let Some(device) = simulated_alone() else { return };
    let ctx = &device.ctx;
    for mode in MODES {
        for what in 0..8 {
            let [a, b] = [device.new_stream(), device.new_stream()];
            let x = data(&a, 1);
            let (mut out, mut host) = (data(&a, 0), [0; N as usize]);
            let graph = made(ctx, N, &x).expect("it builds");
            let mut producer = graph.instantiate().expect("it instantiates");
            let graph = taken(ctx, N, producer.output(), data(&b, 0)).expect("it builds");
            let mut consumer = graph.instantiate().expect("it instantiates");
            let pool = cuweave::ArenaPool::with_capacity(&a, 4096).expect("a pool");
            let graph = both(ctx, N, &x, data(&a, 1), &mut out, data(&a, 0)).expect("it builds");
            let mut exec = graph.instantiate().expect("it instantiates");
            exec.launch(&b).expect("it launches");
            let output = producer.launch(&a).expect("it launches");
            let before = nodes();
            a.begin_capture(mode).expect("a capture");
            let case = format!("{mode:?}, {what}");
            match what {
                0 => drop(output),
                1 => {
                    consumer.launch(&b, (output,)).expect("it takes over");
                    assert_eq!(nodes(), before, "{case}");
                }
                2 => {
                    let _ = exec.args_mut();
                    drop(output);
                }
                3 => {
                    drop(exec);
                    drop(output);
                }
                4 => {
                    drop(pool);
                    drop(output);
                }
                5 => {
                    // Either it is refused or it does not affect the capture.
                    let _ = exec.set_y(data(&b, 3));
                    drop(exec.into_args());
                    drop(output);
                }
                6 => {
                    std::mem::forget(output);
                    drop(producer.launch(&b).expect("it launches"));
                }
                _ => {
                    let read = b.clone_dtoh(&output).expect("a download");
                    assert_eq!(read, [1; N as usize]);
                    drop(output);
                    drop(producer);
                }
            }
            // The end of a broken capture returns its error.
            let ended = end_capture(&a);
            assert!(ended.is_ok(), "{case}: {:?}", ended.err());
            drop(ended);
            let _ = b.memcpy_dtoh(&x, &mut host);
            ctx.synchronize().expect("all is well");
            let kept = ctx.check_err();
            assert!(kept.is_ok(), "{case}: {kept:?}");
        }
    }
}
