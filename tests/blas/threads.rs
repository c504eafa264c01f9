//! Handles that are created and dropped on one thread while another thread captures.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use cudarc::driver::DriverError;
use cuweave::blas::{Blas, gemm};
use cuweave::prelude::*;
use cuweave_testkit::device::alone;

use crate::support::blas;

/// Announces that a capture is in progress, and waits for an answer.
struct Meeting {
    capturing: Mutex<Sender<()>>,
    answered: Mutex<Receiver<()>>,
}

/// out = a, once another thread has answered.
#[cuweave::call]
unsafe fn meet(
    stream: &CallStream,
    meeting: &Meeting,
    a: &[f32; n],
    out: &mut [MaybeUninit<f32>; n],
    n: u32,
) -> Result<(), DriverError> {
    let _ = meeting.capturing.lock().expect("one user").send(());
    let _ = meeting.answered.lock().expect("one user").recv();
    stream.memcpy_dtod(a, out)
}

#[cuweave::graph]
fn meets(n: u32, meeting: &Meeting, blas: &Blas, a: &[f32; n * n], out: &mut [f32; n * n]) {
    let h = alloc::<f32>(n * n);
    meet(&meeting, &a, &mut h, n * n);
    gemm(&blas, &a, &h, &mut out, n, n, n);
}

#[test]
fn a_handle_that_is_dropped_disturbs_no_capture() {
    let device = alone();
    let products = blas(&device);
    let ((capturing, begun), (answer, answered)) = (channel(), channel());
    let meeting = Meeting { capturing: Mutex::new(capturing), answered: Mutex::new(answered) };
    let a = device.upload(&[0.0f32, 2.0, 3.0, 0.0]);
    let mut out = device.zeros::<f32>(4);
    let turns = 3;
    std::thread::scope(|scope| {
        let ctx = device.ctx.clone();
        scope.spawn(move || {
            for _ in 0..turns {
                let mut other = Some(Blas::new(&ctx).expect("products"));
                if begun.recv_timeout(Duration::from_secs(20)).is_err() {
                    return;
                }
                other.take();
                let _ = answer.send(());
            }
        });
        for turn in 0..turns {
            let graph = meets(&device.ctx, 2, &meeting, &products, &a, &mut out);
            let mut exec = graph.unwrap_or_else(|error| panic!("{turn}: {error}")).instantiate().expect("ok");
            exec.launch(&device.stream).expect("it launches");
        }
    });
    assert_eq!(device.download(&out), [6.0, 0.0, 0.0, 6.0]);
    device.nothing_reported();
}
