//! Work that looks pending until it is released.

use std::ptr::null_mut;
use std::time::{Duration, Instant};

use cudarc::driver::sys::{self, CUresult};
use cuweave_testkit::raw::{Context, OK};
use cuweave_testkit::{gives, ok};

#[test]
fn held_work_is_not_over_before_it_is_let_go() {
    let driver = cuweave_sim::load().unwrap();
    if !driver.is_simulated() {
        return;
    }
    let context = Context::new();
    let (mut memory, mut event) = (0, null_mut());
    ok!(sys::cuMemAlloc_v2(&mut memory, 4));
    ok!(sys::cuEventCreate(&mut event, 0));
    let held = cuweave_sim::hold_work().unwrap();
    ok!(sys::cuMemsetD32Async(memory, 7, 1, context.stream));
    ok!(sys::cuEventRecord(event, context.stream));
    gives!(CUresult::CUDA_ERROR_NOT_READY, sys::cuEventQuery(event));
    gives!(CUresult::CUDA_ERROR_NOT_READY, sys::cuStreamQuery(context.stream));
    let begin = Instant::now();
    let release = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(40));
        drop(held);
    });
    assert_eq!(context.sync(), OK);
    assert!(begin.elapsed() >= Duration::from_millis(40));
    release.join().unwrap();
    ok!(sys::cuEventQuery(event));
    ok!(sys::cuStreamQuery(context.stream));
    ok!(sys::cuEventDestroy_v2(event));
    ok!(sys::cuMemFree_v2(memory));
}

#[test]
fn nothing_is_held_without_a_context() {
    if cuweave_sim::load().is_ok_and(|driver| driver.is_simulated()) {
        let other = std::thread::spawn(|| cuweave_sim::hold_work().map(drop));
        assert!(other.join().unwrap().is_err());
    }
}
