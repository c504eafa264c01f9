//! The mutable borrow comes first; the second argument is the one that is refused.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn parts(x: &[f32; n], pos: &mut [MaybeUninit<f32>; n], neg: &mut [MaybeUninit<f32>; n], n: u32);
}

#[cuweave::graph]
fn f(n: u32, h: &mut [f32; 2 * n]) {
    parts[per_item(n)](
        &h[n..2 * n],
        &mut h[0..n],
        &mut h[n..2 * n], //~ CW201
        n,
    );
}

fn main() {}
