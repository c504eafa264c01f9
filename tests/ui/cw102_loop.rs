//! Every turn uses the buffer that was freed before the loop: one error.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn set(out: &mut [MaybeUninit<f32>; n], value: f32, n: u32);
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
}

#[cuweave::graph]
fn f(n: u32, out: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    set[per_item(n)](&mut h, 1.0, n);
    copy(&h, &mut out);
    free(h);
    for _i in 0..8 {
        axpy[per_item(n)](1.0, &h, &mut out, n); //~ CW102
    }
}

fn main() {}
