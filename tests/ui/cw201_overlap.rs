//! Slices that overlap in half.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn copy_to(src: &[f32; n], dst: &mut [MaybeUninit<f32>; n], n: u32);
}

#[cuweave::graph]
fn f(n: u32, x: &mut [f32; 3 * n]) {
    copy_to[per_item(2 * n)](
        &x[0..2 * n],
        &mut x[n..3 * n], //~ CW201
        2 * n,
    );
}

fn main() {}
