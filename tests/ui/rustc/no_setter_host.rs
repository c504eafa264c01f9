//! Events and values of the host have no setters.

use std::sync::Mutex;

use cuweave::cudarc::driver::CudaEvent;
use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph]
fn f(n: u32, x: &mut [f32; n], done: &CudaEvent, log: &Mutex<u32>) {
    scale[per_item(n)](&mut x, 2.0, n);
    record(&done);
    host(&log, |log: &Mutex<u32>| drop(log));
}

fn set(exec: &mut f::Exec<'_>, done: &std::sync::Arc<CudaEvent>, log: std::sync::Arc<Mutex<u32>>) {
    exec.set_done(done).unwrap(); //~ E0277
    exec.set_log(log).unwrap(); //~ E0277
}

fn main() {}
