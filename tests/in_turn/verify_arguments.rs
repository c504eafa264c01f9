//! Verifications of graphs with all kinds of arguments, and of execs in the middle of a program.

use std::fs::File;
use std::os::fd::IntoRawFd;

use cuweave::error::{VerificationFault, VerificationObstacle};
use cuweave::managed::Attach;
use cuweave::prelude::*;
use cuweave::verify::Verification;
use cuweave::{Error, Managed, Semaphore, SemaphoreHandle};
use cuweave_testkit::device::{alone, ramp, simulated_alone};
use cuweave_testkit::process::apart;

#[cuweave::kernels("tests/kernels/pointers.ptx")]
unsafe extern "ptx-kernel" {
    fn scaled(xs: &[PtrMut<[f32; len]>; n], by: f32, n: u32, len: u32);
    fn squares(xs: &[Ptr<[f32; len]>; n], ys: &[PtrMut<[f32; len]>; n], n: u32, len: u32);
}

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

const LEN: usize = 100;

fn equal(verification: cuweave::Result<Verification>, bytes: usize) {
    let verification = verification.expect("a verification");
    assert!(verification.is_equal(), "{verification}");
    assert_eq!(verification.compared(), bytes as u64, "{verification}");
}

#[cuweave::graph]
fn through_tables(n: u32, len: u32, by: f32, xs: &[&mut [f32; len]], ys: [&mut [f32; len]; 2]) {
    scaled[per_item(len)](&mut xs, by, n, len);
    squares[per_item(len)](&xs, &mut ys, 2, len);
}

/// The buffers that a table points to are compared and restored.
#[test]
fn tables_of_pointers() {
    let device = alone();
    let ramps = || -> [_; 2] { std::array::from_fn(|at| device.upload(&ramp(LEN + at)[at..])) };
    let (mut xs, mut ys) = (ramps(), ramps());
    let lists = (xs.iter_mut().collect(), ys.each_mut());
    let graph = through_tables(&device.ctx, 2, LEN as u32, 3.0, lists.0, lists.1).expect("a graph");
    let mut exec = graph.instantiate().expect("an exec");
    equal(exec.verify(&device.stream), 4 * 4 * LEN);
    exec.launch(&device.stream).expect("a launch");
    exec.set_by(0.5).expect("it is set");
    equal(exec.verify(&device.stream), 4 * 4 * LEN);
    drop(exec);
    let tripled: Vec<f32> = ramp(LEN).iter().map(|x| 3.0 * x).collect();
    assert_eq!(device.download(&xs[0]), tripled, "of the launch alone");
    device.nothing_reported();
}

/// A step: y += by * x. The history keeps the new y.
#[cuweave::arguments]
struct Step {
    n: u32,
    by: f32,
    x: &[f32; n],
    history: &mut [f32; 2 * n],
}

#[cuweave::graph]
fn steps(n: u32, y: &mut [f32; n], steps: &[Step<'_>]) {
    for step in &steps {
        axpy[per_item(n)](step.by, &step.x, &mut y, n);
        copy(&y, &mut step.history[step.n..2 * step.n]);
    }
}

#[test]
fn records() {
    let device = alone();
    let n = LEN as u32;
    let mut y = device.upload(&ramp(LEN));
    let step = || Step::new(n, 2.0, device.upload(&ramp(LEN)), device.zeros::<f32>(2 * LEN));
    let graph = steps(&device.ctx, n, &mut y, vec![step(), step(), step()]).expect("a graph");
    let mut exec = graph.instantiate().expect("an exec");
    // `y`, and half of each history.
    equal(exec.verify(&device.stream), 4 * 4 * LEN);
    exec.launch(&device.stream).expect("a launch");
    equal(exec.verify(&device.stream), 4 * 4 * LEN);
    drop(exec);
    let expected: Vec<f32> = ramp(LEN).iter().map(|x| 7.0 * x).collect();
    assert_eq!(device.download(&y), expected);
    device.nothing_reported();
}

#[cuweave::graph]
fn doubled(n: u32, x: &mut [f32; n]) {
    scale[per_item(n)](&mut x, 2.0, n);
}

#[test]
fn managed_memory_that_only_one_side_may_use() {
    if simulated_alone().is_some() {
        apart("verify_arguments::without_concurrent_access", &[("CUWEAVE_SIM_CONCURRENT", "0")]);
    }
}

/// While a host view of managed memory exists, nothing may run on the device.
#[test]
#[ignore = "in a process of its own"]
fn without_concurrent_access() {
    let device = alone();
    let mut x = Managed::from_host(&device.stream, &ramp(LEN), Attach::Global).expect("managed memory");
    let graph = doubled(&device.ctx, LEN as u32, x.clone()).expect("a graph");
    let mut exec = graph.instantiate().expect("an exec");
    equal(exec.verify(&device.stream), 4 * LEN);
    exec.launch(&device.stream).expect("a launch");
    {
        let mut view = x.host_mut().expect("a view");
        view[0] = 7.0;
        let error = exec.verify(&device.stream).expect_err("the host has the memory");
        assert!(error.to_string().contains("`x`") && error.to_string().contains("lent"), "{error}");
    }
    equal(exec.verify(&device.stream), 4 * LEN);
    let view = x.host().expect("a view");
    assert_eq!(view[..2], [7.0, 2.0 * ramp(LEN)[1]]);
    drop(view);
    device.nothing_reported();
}

#[cuweave::graph]
fn signalling(n: u32, done: &Semaphore, x: &mut [f32; n]) {
    scale[per_item(n)](&mut x, 2.0, n);
    signal(&done);
}

#[test]
#[allow(unsafe_code)]
fn a_semaphore_is_refused_by_name() {
    let Some(device) = simulated_alone() else { return };
    let descriptor = File::open("/dev/null").expect("a file").into_raw_fd();
    // SAFETY: the simulated driver takes any open descriptor, and nothing else uses it.
    let semaphore = Semaphore::import(&device.ctx, &unsafe { SemaphoreHandle::opaque_fd(descriptor) });
    let semaphore = semaphore.expect("a semaphore");
    let mut x = device.upload(&ramp(LEN));
    let graph = signalling(&device.ctx, LEN as u32, &semaphore, &mut x).expect("a graph");
    let mut exec = graph.instantiate().expect("an exec");
    match exec.verify(&device.stream) {
        Err(Error::Verification(fault)) => match *fault {
            VerificationFault::Refused { obstacle: VerificationObstacle::Semaphore(at), .. } => {
                assert_eq!(at.name, "signal");
            }
            other => panic!("{other}"),
        },
        other => panic!("{other:?}"),
    }
    exec.launch(&device.stream).expect("a launch");
    drop(exec);
    device.nothing_reported();
}
