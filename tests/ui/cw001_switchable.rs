//! Only launches, fills and copies outside of the bodies that the device decides about are switchable.

use cuweave::cudarc::driver::CudaEvent;
use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::kernels("tests/kernels/conditions.ptx")]
unsafe extern "ptx-kernel" {
    fn decide_by(x: &[u32; 1], go: Condition);
}

#[cuweave::graph]
fn f(n: u32, x: &mut [f32; n], done: &CudaEvent, flag: &[u32; 1]) {
    #[switchable] //~ CW001
    let h = alloc::<f32>(n);
    copy(&x, &mut h);
    #[switchable(off)] //~ CW001
    let twice = scale[per_item(n)](&mut h, 2.0, n);
    #[switchable] //~ CW001
    record(&done);
    if flag {
        #[switchable] //~ CW001
        scale[per_item(n)](&mut h, 3.0, n);
    }
    copy(&h, &mut x);
}

#[cuweave::graph]
fn decided(n: u32, x: &mut [f32; n], flag: &[u32; 1]) {
    let go = condition();
    #[switchable] //~ CW001
    decide_by[(1, 1)](&flag, go);
    if go {
        scale[per_item(n)](&mut x, 3.0, n);
    }
}

#[cuweave::graph]
fn g(n: u32, #[switchable] x: &mut [f32; n]) { //~ CW001
    #[switchable] //~ CW001
    for i in 0..2 {
        scale[per_item(n)](&mut x, 2.0, n);
    }
}

fn main() {}
