//! Two outputs in one buffer.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn parts(x: &[f32; n], pos: &mut [MaybeUninit<f32>; n], neg: &mut [MaybeUninit<f32>; n], n: u32);
}

#[cuweave::graph]
fn f(n: u32, x: &[f32; n], out: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    parts[per_item(n)](
        &x,
        &mut h,
        &mut h, //~ CW201
        n,
    );
    copy(&h, &mut out);
}

fn main() {}
