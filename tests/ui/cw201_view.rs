//! A view and the whole buffer.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn copy_to(src: &[f32; n], dst: &mut [MaybeUninit<f32>; n], n: u32);
}

#[cuweave::graph]
fn f(n: u32, x: &mut [f32; 2 * n]) {
    let (lo, _hi) = x.split_at_mut(n);
    copy_to[per_item(n)](
        &x,
        &mut lo, //~ CW201
        n,
    );
}

fn main() {}
