//! Two buffers are returned, and one of them is freed.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn parts(x: &[f32; n], pos: &mut [MaybeUninit<f32>; n], neg: &mut [MaybeUninit<f32>; n], n: u32);
}

#[cuweave::graph]
fn f(n: u32, x: &[f32; n]) -> ([f32; n], [f32; n]) {
    let pos = alloc::<f32>(n);
    let neg = alloc::<f32>(n);
    parts[per_item(n)](&x, &mut pos, &mut neg, n);
    free(neg);
    (
        pos,
        neg, //~ CW105
    )
}

fn main() {}
