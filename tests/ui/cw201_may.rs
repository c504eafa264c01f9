//! Nothing proves that `k` is not below `n`: the slices may overlap.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn copy_to(src: &[f32; n], dst: &mut [MaybeUninit<f32>; n], n: u32);
}

#[cuweave::graph]
fn f(n: u32, k: u32, x: &mut [f32; n + k]) {
    copy_to[per_item(n)](
        &x[0..n],
        &mut x[k..n + k], //~ CW201
        n,
    );
}

fn main() {}
